"""Functions in a running Home Assistant: written, tried, imported and called as a person would."""

from collections.abc import AsyncIterator

import pytest

from .client import Client
from .conftest import complaints
from .instance import HomeAssistantInstance

LIGHTS = """# Which lights are on.
spec:
  name: lights
  description: Count lights.
  parameters:
    type: object
    properties:
      state: {type: string, enum: [on, off]}
    required: [state]
function:
  type: template
  value_template: "{{ states.light | selectattr('state', 'eq', state) | list | count }} {{ state }}"
"""
LIST = """
- spec: {name: past, parameters: {properties: {entity_ids: {type: array}}}}
  function: {type: native, name: get_history}
- spec: {name: wrong}
  function: {type: template, value_template: "{{"}
- spec: {name: rows, parameters: {properties: {entity_id: {type: string}}}}
  function:
    type: sqlite
    single: true
    query: >-
      SELECT count(*) AS n FROM states JOIN states_meta USING (metadata_id) WHERE entity_id = '{{ entity_id }}'
- spec: {name: switch, parameters: {properties: {entity_id: {type: string}}}}
  function: {type: script, sequence: [{action: light.toggle, target: {entity_id: "{{ entity_id }}"}}]}
"""
FORM = {"function": LIGHTS, "tier": "by_type", "enabled": True}
LIGHT = "light.kitchen_light"


@pytest.fixture
async def entry_id(client: Client, agent: str) -> AsyncIterator[str]:
    """The entry, whose functions are taken away afterwards."""
    (entry,) = await client.config_entries("extended_assist")
    yield entry["entry_id"]
    for subentry in await client.subentries(entry["entry_id"]):
        if subentry["subentry_type"] == "function":
            await client.call(
                "config_entries/subentries/delete", entry_id=entry["entry_id"], subentry_id=subentry["subentry_id"]
            )


async def called(client: Client, function: str, **arguments: object) -> object:
    """Return the result of a function."""
    data = {"function": function, "arguments": arguments}
    answer = await client.perform_action("extended_assist.call_function", data, response=True)
    return answer["result"]


async def test_write_try_and_call(client: Client, entry_id: str) -> None:
    """A function is tried before it is saved, and works at once."""
    result = await client.subentry_flow(
        entry_id,
        "function",
        {"next_step_id": "edit"},
        {**FORM, "function": LIGHTS.replace("count }}", "count }"), "then": "save"},
        {**FORM, "then": "try"},
        {"arguments": "state: on", "then": "try"},
    )
    assert result["step_id"] == "try", result
    assert result["description_placeholders"]["result"].endswith(" on")
    assert result["data_schema"][0]["selector"] == {"template": {}}
    result = await client.continue_flow("subentries/flow", result["flow_id"], {"then": "save"})
    assert result["type"] == "create_entry", result
    on, off = [int(str(await called(client, "lights", state=state)).split()[0]) for state in ("on", "off")]
    states = [state["state"] for entity_id, state in (await client.states()).items() if entity_id.startswith("light.")]
    assert (on, off) == (states.count("on"), states.count("off"))


async def test_import_and_call(client: Client, entry_id: str) -> None:
    """What can be taken of a list is taken, and each type does its work."""
    result = await client.subentry_flow(entry_id, "function", {"next_step_id": "import_list"}, {"functions": LIST})
    assert result["errors"] == {"base": "partly_imported"}
    assert result["description_placeholders"]["count"] == "3"
    assert result["description_placeholders"]["problem"].startswith("Line 2: The template is wrong")
    (states,) = await called(client, "past", entity_ids=[LIGHT])
    assert states[-1]["entity_id"] == LIGHT
    assert (await called(client, "rows", entity_id=LIGHT))["n"] > 0
    before = (await client.state(LIGHT))["state"]
    await called(client, "switch", entity_id=LIGHT)
    assert (await client.state(LIGHT))["state"] != before
    await called(client, "switch", entity_id=LIGHT)


async def test_requests(home: HomeAssistantInstance, client: Client, entry_id: str) -> None:
    """Requests and pages are read, here from Home Assistant itself."""
    functions = f"""
- spec: {{name: app, parameters: {{properties: {{key: {{type: string}}}}}}}}
  function: {{type: rest, resource: "{home.url}/manifest.json", value_template: "{{{{ value_json[key] }}}}"}}
- spec: {{name: title}}
  function: {{type: scrape, resource: "{home.url}/", sensor: [{{select: title}}]}}
"""
    result = await client.subentry_flow(entry_id, "function", {"next_step_id": "import_list"}, {"functions": functions})
    assert result["reason"] == "imported", result
    assert await called(client, "app", key="short_name") == "Home Assistant"
    assert await called(client, "title") == "Home Assistant"


async def test_nothing_was_logged(home: HomeAssistantInstance, client: Client, entry_id: str) -> None:
    """No warning, error or deprecation names the integration."""
    assert complaints(home) == []

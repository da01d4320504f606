"""Tests of the editor for functions."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.functions.yaml_source import parse_yaml
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import llm

pytestmark = pytest.mark.usefixtures("no_deprecations")

DOUBLE = """# Doubles things.
spec:
  name: double
  description: Doubles a number.   # said to the model
  parameters:
    type: object
    properties:
      number: {type: number}
    required: [number]
function:
  type: template
  value_template: "{{ number * 2 }}"
"""
LIST = """# My list.
- spec:
    name: one
    description: First.
  function: {type: template, value_template: "1"}

# The second has a wrong template.
- spec:
    name: two
  function:
    type: template
    value_template: "{{ 1 | nothing }}"
- spec:
    name: one
  function: {type: template, value_template: "again"}
- spec:
    name: three
    # A comment that stays.
    description: Third.
  function:
    type: template
    value_template: >-
      {% if true %}
        3
      {% endif %}
"""


async def step(hass: HomeAssistant, flow: Any, user_input: dict[str, Any]) -> Any:
    """Submit a form or choose from a menu."""
    result = await hass.config_entries.subentries.async_configure(flow["flow_id"], user_input)
    await hass.async_block_till_done()
    return result


async def begin(hass: HomeAssistant, entry: MockConfigEntry, choice: str) -> Any:
    """Open the flow and choose from its menu."""
    flow = await hass.config_entries.subentries.async_init((entry.entry_id, "function"), context={"source": "user"})
    return await step(hass, flow, {"next_step_id": choice})


async def reconfigure(hass: HomeAssistant, entry: MockConfigEntry, title: str, choice: str) -> Any:
    """Open the flow of a function and choose from its menu."""
    flow = await entry.start_subentry_reconfigure_flow(hass, functions(entry)[title].subentry_id)
    return await step(hass, flow, {"next_step_id": choice})


def functions(entry: MockConfigEntry) -> dict[str, Any]:
    """Return the functions of an entry."""
    return {subentry.title: subentry for subentry in entry.subentries.values() if subentry.subentry_type == "function"}


def form(text: str, **more: Any) -> dict[str, Any]:
    """Return the input of the editor."""
    return {"function": text, "tier": "by_type", "enabled": True, "then": "save", **more}


def suggested(result: Any, key: str) -> Any:
    """Return what a form shows in a field."""
    return next((name.description or {}).get("suggested_value") for name in result["data_schema"].schema if name == key)


async def tools(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> dict[str, Any]:
    """Return the tools of the entry."""
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    return {tool.name: tool for tool in instance.tools}


async def test_write(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """A function is kept as it was written, and served at once, without a reload of the agent."""
    agent_before = hass.states.get("conversation.claude").last_changed
    shown = await begin(hass, entry, "edit")
    assert parse_yaml(suggested(shown, "function")).value["spec"]["name"]
    result = await step(hass, shown, form(DOUBLE))
    assert result["type"] is FlowResultType.CREATE_ENTRY
    subentry = functions(entry)["double"]
    assert dict(subentry.data) == {"function": DOUBLE, "enabled": True}
    assert (await tools(hass, entry, llm_context))["double"].description == "Doubles a number."
    assert hass.states.get("conversation.claude").last_changed == agent_before


async def test_what_is_wrong_is_told_with_its_line(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """A wrong function is shown again, as it was written."""
    wrong = DOUBLE.replace("number * 2", "number |")
    result = await step(hass, await begin(hass, entry, "edit"), form(wrong, then="try"))
    assert result["errors"] == {"function": "invalid_function"}
    assert result["description_placeholders"]["problem"].startswith("Line 12: The template is wrong in its line 1")
    assert suggested(result, "function") == wrong
    assert suggested(result, "then") == "try"
    result = await step(hass, result, form(DOUBLE, name="Twice"))
    assert result["title"] == "Twice"


async def test_try_before_saving(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Result or error is shown; then it can be changed or saved."""
    result = await step(hass, await begin(hass, entry, "edit"), form(DOUBLE, then="try"))
    assert result["step_id"] == "try"
    assert suggested(result, "arguments") == "number:"
    result = await step(hass, result, {"arguments": "number: 21", "then": "try"})
    assert result["description_placeholders"]["result"] == "42"
    assert suggested(result, "arguments") == "number: 21"
    for arguments, words in (
        ("number: many", "is not of type 'number'"),
        ("", "'number' is a required property"),
    ):
        result = await step(hass, result, {"arguments": arguments, "then": "try"})
        assert words in result["description_placeholders"]["result"]
    for arguments, words in (
        ("number: [", "Line 2: This is not YAML"),
        ("- 1", "Write the arguments"),
        ("number:3", "Write the arguments"),
        ("nummer: 3", "double has no argument nummer; it takes number"),
    ):
        result = await step(hass, result, {"arguments": arguments, "then": "try"})
        assert result["errors"] == {"arguments": "invalid_function"}
        assert words in result["description_placeholders"]["problem"]
        assert suggested(result, "arguments") == arguments
    assert functions(entry) == {}
    result = await step(hass, result, {"then": "edit"})
    assert result["step_id"] == "edit"
    assert suggested(result, "function") == DOUBLE
    result = await step(hass, result, form(DOUBLE, then="try"))
    assert (await step(hass, result, {"then": "save"}))["type"] is FlowResultType.CREATE_ENTRY


async def test_try_as_nobody_who_is_asked(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """The editor is an administrator's: what asks first, or who may, does not stand in the way."""
    hass.config_entries.async_update_entry(entry, options={"who_may_read": "admin", "ask_first": ["double"]})
    await hass.async_block_till_done()
    result = await step(hass, await begin(hass, entry, "edit"), form(DOUBLE, then="try"))
    result = await step(hass, result, {"arguments": "number: 2", "then": "try"})
    assert result["description_placeholders"]["result"] == "4"


async def test_reconfigure_disable_and_remove(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext
) -> None:
    """A function can be changed, raised, turned off and on, and removed."""
    await step(hass, await begin(hass, entry, "edit"), form(DOUBLE))
    result = await reconfigure(hass, entry, "double", "edit")
    assert suggested(result, "function") == DOUBLE
    result = await step(hass, result, form(DOUBLE.replace("* 2", "+ number"), tier="administer", name="Twice"))
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    assert (await tools(hass, entry, llm_context))["double"].tier.name == "ADMINISTER"
    result = await step(
        hass, await reconfigure(hass, entry, "Twice", "edit"), form(DOUBLE, name="Twice", enabled=False)
    )
    assert "double" not in await tools(hass, entry, llm_context)
    assert not functions(entry)["Twice"].data["enabled"]
    await step(hass, await reconfigure(hass, entry, "Twice", "edit"), form(DOUBLE, name="Twice"))
    assert (await tools(hass, entry, llm_context))["double"].tier.name == "READ"
    hass.config_entries.async_remove_subentry(entry, functions(entry)["Twice"].subentry_id)
    await hass.async_block_till_done()
    assert "double" not in await tools(hass, entry, llm_context)


async def test_copy(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """A copy has a name of its own, and is otherwise as it was written."""
    await step(hass, await begin(hass, entry, "edit"), form(DOUBLE))
    result = await reconfigure(hass, entry, "double", "copy")
    text = suggested(result, "function")
    assert text == DOUBLE.replace("name: double", "name: double_2")
    result = await step(hass, result, form(text))
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "copied")
    assert functions(entry).keys() == {"double", "double_2"}
    result = await reconfigure(hass, entry, "double", "copy")
    assert suggested(result, "function") == DOUBLE.replace("name: double", "name: double_3")
    assert {"double", "double_2"} <= (await tools(hass, entry, llm_context)).keys()


async def test_names(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """A name that is taken, by whomever, is refused."""
    await step(hass, await begin(hass, entry, "edit"), form(DOUBLE))
    result = await begin(hass, entry, "edit")
    for name, words in (
        ("double", "already"),
        ("llm__GetDateTime", "Assist has a tool"),
        ("extended_assist__get_history", "own tools"),
        ("extended_assist__anything", "own tools"),
        ("two words", "is no name"),
        ("web_search", "Providers of models have a tool"),
    ):
        result = await step(hass, result, form(DOUBLE.replace("name: double", f"name: {name}")))
        assert words in result["description_placeholders"]["problem"]
    result = await step(hass, result, form(DOUBLE.replace("name: double", "name: size").replace("number:", "Größe:")))
    assert "'Größe' cannot be the name of a parameter" in result["description_placeholders"]["problem"]
    assert result["description_placeholders"]["problem"].startswith("Line ")


async def test_import_and_export(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """What can be taken is taken; the rest is shown with line and reason; the list comes back as it was written."""
    result = await step(hass, await begin(hass, entry, "import_list"), {"functions": LIST})
    assert result["errors"] == {"base": "partly_imported"}
    assert result["description_placeholders"]["count"] == "2"
    problems = result["description_placeholders"]["problem"].split("; ")
    left = suggested(result, "functions")
    lines = [int(problem.removeprefix("Line ").partition(":")[0]) for problem in problems]
    assert "The template is wrong" in problems[0]
    assert "nothing" in left.splitlines()[lines[0] - 1]
    assert problems[1].endswith("There is a function named 'one' already")
    assert "name: one" in "\n".join(left.splitlines()[lines[1] - 1 : lines[1] + 1])
    assert "# The second has a wrong template." in left
    mended = left.replace("| nothing", "+ 1").replace("name: one", "name: four")
    result = await step(hass, result, {"functions": mended})
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "imported")
    assert functions(entry).keys() == {"one", "two", "three", "four"}
    assert {"one", "two", "three", "four"} <= (await tools(hass, entry, llm_context)).keys()

    result = await begin(hass, entry, "export_list")
    exported = suggested(result, "functions")
    assert [item["spec"]["name"] for item in parse_yaml(exported).value] == ["one", "three", "two", "four"]
    assert "# My list." in exported
    assert "    # A comment that stays." in exported
    assert (await step(hass, result, {"functions": ""}))["reason"] == "exported"


async def test_import_of_nothing(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """What is no list is told so."""
    result = await begin(hass, entry, "import_list")
    for text in ("", "just words", "[]", "- spec: [", "3"):
        result = await step(hass, result, {"functions": text or " "})
        assert result["errors"] == {"base": "invalid_list"}
        assert result["description_placeholders"]["problem"]
    assert functions(entry) == {}


async def test_import_of_one(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """A function alone is a list of one."""
    result = await step(hass, await begin(hass, entry, "import_list"), {"functions": DOUBLE})
    assert result["description_placeholders"] == {"count": "1"}
    assert functions(entry)["double"].data["function"] == DOUBLE


async def test_menu_without_functions(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """There is nothing to export before there is a function."""
    flow = await hass.config_entries.subentries.async_init((entry.entry_id, "function"), context={"source": "user"})
    assert flow["menu_options"] == ["edit", "import_list"]


async def test_entry_not_loaded(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Without a loaded entry nothing can be checked."""
    await step(hass, await begin(hass, entry, "edit"), form(DOUBLE))
    assert await hass.config_entries.async_unload(entry.entry_id)
    flow = await hass.config_entries.subentries.async_init((entry.entry_id, "function"), context={"source": "user"})
    assert flow["reason"] == "entry_not_loaded"
    flow = await entry.start_subentry_reconfigure_flow(hass, functions(entry)["double"].subentry_id)
    assert flow["reason"] == "entry_not_loaded"


async def test_tools_without_an_agent(hass: HomeAssistant, assist: None, llm_context: llm.LLMContext) -> None:
    """Entries without a connection have functions too."""
    entry = MockConfigEntry(domain="extended_assist", title="Tools", data={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await step(hass, await begin(hass, entry, "edit"), form(DOUBLE))
    assert "double" in await tools(hass, entry, llm_context)

"""Nothing of a user's function at info or above in the log: neither its text nor what it is given, does, answers or fails with."""

from contextlib import suppress
from datetime import timedelta
import json
import re
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.functions import script
from custom_components.extended_assist.functions.manager import async_validate_function
from custom_components.extended_assist.functions.yaml_source import FunctionError
from custom_components.extended_assist.registry import FunctionTool, async_register_tool
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from tests.claude_server import Turn, text, tool_use
from tests.conftest import Converse, expose
from tests.helpers.logged import CANARY, Heard, heard

from .broken import SCHEMA, SETTINGS, SHAPE, YAML
from .conftest import Ask, Install, Site

__all__ = ["heard"]

NAME = f"{CANARY}_function"
LAMP = f"light.{CANARY}"


def named(settings: dict[str, Any], number: str = "") -> str:
    """Return a function that takes x, and whose name is a canary."""
    properties = {"type": "object", "properties": {"x": {"description": CANARY}}}
    name = f"{NAME}_{number}" if number else NAME
    spec = {"name": name, "description": f"A {CANARY}.", "parameters": properties}
    return json.dumps({"spec": spec, "function": settings})


def template(text: str) -> dict[str, Any]:
    """Return a template."""
    return {"type": "template", "value_template": text}


def steps(*sequence: dict[str, Any]) -> dict[str, Any]:
    """Return a script."""
    return {"type": "script", "sequence": list(sequence)}


LIGHT = {"action": "light.turn_on", "alias": CANARY, "target": {"entity_id": "{{ x }}"}, "data": {"effect": CANARY}}
WAIT = {"timeout": {"milliseconds": 20}}
TRIGGERS: list[dict[str, Any]] = [
    {"trigger": "template", "value_template": f"{{{{ 1 / (0 if '{CANARY}' else 1) }}}}"},
    {"trigger": "template", "value_template": f"{{{{ {CANARY} }}}}"},
    {"trigger": "numeric_state", "entity_id": LAMP, "above": 3},
    {"trigger": "numeric_state", "entity_id": LAMP, "above": 3, "value_template": f"{{{{ '{CANARY}' | int }}}}"},
    {"trigger": "numeric_state", "entity_id": LAMP, "above": f"input_number.{CANARY}"},
    {"trigger": "state", "entity_id": f"light.no_{CANARY}", "for": {"seconds": 5}},
    {"trigger": "state", "entity_id": LAMP, "for": f"{{{{ '{CANARY}' }}}}"},
    {"trigger": "event", "event_type": CANARY, "event_data": {CANARY: f"{{{{ {CANARY} }}}}"}},
]
CONDITIONS: list[dict[str, Any]] = [
    {"condition": "numeric_state", "entity_id": LAMP, "above": 3, "alias": CANARY},
    {"condition": "numeric_state", "entity_id": f"light.no_{CANARY}", "above": 3},
    {"condition": "template", "value_template": f"{{{{ 1 / (0 if '{CANARY}' else 1) }}}}"},
    {"condition": "state", "entity_id": f"light.no_{CANARY}", "state": CANARY},
]
FUNCTIONS: list[dict[str, Any]] = [
    template("{{ x }}"),
    template(f"{{{{ {CANARY} }}}}"),
    template(f"{{{{ '{CANARY}' | int }}}}"),
    template(f"{{{{ '{CANARY}' | float }}}} {{{{ {{'a': 1}}.{CANARY}.b }}}}"),
    template(f"{{{{ as_datetime('{CANARY}') }}}} {{{{ states('{LAMP}') | from_json }}}}"),
    template(f"{{{{ pack('{CANARY}', '>I') }}}} {{{{ unpack('{CANARY}', '>I') }}}}"),
    template(f"{{{{ distance('{LAMP}') }}}} {{{{ distance('{CANARY}', 'x') }}}} {{{{ closest('{CANARY}', states) }}}}"),
    template(f"{{{{ raise('{CANARY}') }}}}"),
    template(f"{{{{ states['{LAMP}'].attributes.{CANARY}.x }}}}"),
    template(f"{{% for i in range(10 ** 9) %}}{{% if '{CANARY}' == i %}}x{{% endif %}}{{% endfor %}}"),
    steps(LIGHT),
    steps({**LIGHT, "target": {"entity_id": f"light.no_{CANARY}"}}),
    steps({**LIGHT, "target": {"area_id": CANARY, "device_id": CANARY, "label_id": CANARY}}),
    steps({"action": f"{CANARY}.{CANARY}", "data": {CANARY: CANARY}}),
    steps({"action": "light.toggle", "target": {"entity_id": LAMP}, "alias": CANARY}),
    steps({"action": "light.turn_off", "target": {"entity_id": LAMP}, "data": {CANARY: CANARY}}),
    steps({"stop": CANARY, "error": True}),
    steps({"stop": CANARY}),
    steps({"variables": {"_function_result": CANARY}}),
    steps({"variables": {CANARY: f"{{{{ {CANARY} }}}} {{{{ '{CANARY}' | int }}}}"}}),
    steps({"delay": f"{{{{ '{CANARY}' }}}}"}),
    steps({"event": CANARY, "event_data": {CANARY: CANARY}}),
    steps({"repeat": {"count": f"{{{{ '{CANARY}' }}}}", "sequence": []}}),
    steps({"repeat": {"for_each": f"{{{{ '{CANARY}' }}}}", "sequence": [{"stop": CANARY}]}}),
    steps({"wait_template": f"{{{{ 1 / (0 if '{CANARY}' else 1) }}}}", **WAIT}),
    *(steps({"wait_for_trigger": [trigger], **WAIT}) for trigger in TRIGGERS),
    *(steps(condition) for condition in CONDITIONS),
    *(steps({"if": [condition], "then": [{"stop": CANARY}]}) for condition in CONDITIONS),
    *(steps({"choose": [{"conditions": [condition], "sequence": []}]}) for condition in CONDITIONS),
    *(steps({"repeat": {"while": [condition], "sequence": []}}) for condition in CONDITIONS),
    *(
        steps(
            {
                "repeat": {
                    "until": [condition, {"condition": "template", "value_template": "true"}],
                    "sequence": [{"stop": CANARY}],
                }
            }
        )
        for condition in CONDITIONS[:2]
    ),
    steps({"parallel": [[{"stop": CANARY, "error": True}], [{**LIGHT, "target": {"entity_id": LAMP}}]]}),
    {"type": "native", "name": "execute_service_single"},
    {"type": "native", "name": "get_history"},
    {"type": "native", "name": "add_automation"},
    {"type": "native", "name": "get_statistics"},
    {
        "type": "composite",
        "sequence": [template("{{ x }}") | {"response_variable": CANARY}, template(f"{{{{ {CANARY} | int }}}}")],
    },
    {"type": "composite", "sequence": [template("{{ x }}"), steps({"stop": CANARY, "error": True})]},
]
"""Functions that succeed and that fail; what they say is a canary."""


async def try_all(install: Install, ask: Ask, heard: Heard, every: list[dict[str, Any]], *given: Any) -> None:
    """Save and call functions; some of both fail, which is as good."""
    for index, settings in enumerate(every):
        with suppress(FunctionError):
            await install(named(settings, str(index)))
        for x in given:
            with suppress(AssertionError, StopIteration):
                await ask(f"{NAME}_{index}", {"x": x}, invents=True)
        assert heard() == [], settings


async def test_functions(hass: HomeAssistant, install: Install, ask: Ask, heard: Heard) -> None:
    """What a function is given, does and answers stays out of the log."""

    async def work(call: ServiceCall) -> None:
        if call.service == "toggle":
            raise ValueError(f"{CANARY} of {call.data}")
        if call.service == "turn_off":
            raise HomeAssistantError(f"{CANARY} of {call.data}")

    for service in ("turn_on", "turn_off", "toggle"):
        hass.services.async_register("light", service, work)
    hass.states.async_set(LAMP, CANARY, {"friendly_name": CANARY})
    expose(hass, LAMP)
    await try_all(install, ask, heard, FUNCTIONS, LAMP, {CANARY: CANARY})


REQUESTS: list[dict[str, Any]] = [
    {"type": "rest", "resource": f"SITE/page?{CANARY}={CANARY}"},
    {
        "type": "rest",
        "resource_template": f"SITE/{CANARY}/{{{{ x }}}}",
        "value_template": f"{{{{ value_json.{CANARY} }}}}",
    },
    {
        "type": "rest",
        "resource": "SITE/page",
        "value_template": f"{{{{ value_json['{CANARY}']['x'] }}}}{{{{ value | int }}}}",
    },
    {"type": "rest", "resource": "SITE/xml", "value_template": f"{{{{ value_json.{CANARY}.x }}}}"},
    {"type": "rest", "resource": "SITE/page", "method": "post", "payload_template": f'{{"{CANARY}": "{{{{ x }}}}"}}'},
    {"type": "rest", "resource": "SITE/page", "headers": {CANARY: CANARY}, "username": CANARY, "password": CANARY},
    {"type": "rest", "resource": f"http://{CANARY}.invalid/{CANARY}", "params": {CANARY: CANARY}},
    {"type": "rest", "resource": f"http://127.0.0.1:1/{CANARY}"},
    {"type": "rest", "resource_template": f"http://[{CANARY}/{{{{ x }}}}"},
    {"type": "scrape", "resource": "SITE/html", "sensor": [{"name": CANARY, "select": "p"}]},
    {"type": "scrape", "resource": "SITE/html", "sensor": [{"name": CANARY, "select": f".{CANARY}"}]},
    {"type": "scrape", "resource": "SITE/html", "sensor": [{"select": "p", "value_template": "{{ value | int }}"}]},
    {"type": "scrape", "resource": "SITE/nonsense", "sensor": [{"select": "p", "index": 7}]},
    {"type": "scrape", "resource": f"http://{CANARY}.invalid/", "sensor": [{"select": "p"}]},
]
"""Requests that are answered, and such as are not."""
ANSWERS = {
    "page": (json.dumps({CANARY: CANARY}), "application/json"),
    "xml": (f"<{CANARY}>{CANARY}", "text/xml"),
    "html": (f"<title>{CANARY}</title><p id='{CANARY}'>{CANARY}<p>", "text/html"),
    "nonsense": (f"\x00\ufffd{CANARY}://<<", "text/html"),
}


@pytest.mark.parametrize("status", [200, 500])
async def test_requests(install: Install, ask: Ask, site: Site, heard: Heard, status: int) -> None:
    """Neither an address nor what is sent, answered or missing is told."""
    site.answers, site.status = ANSWERS, status
    await try_all(install, ask, heard, json.loads(json.dumps(REQUESTS).replace("SITE", site.url)), CANARY)


QUERIES = (
    f"SELECT '{CANARY}' AS {CANARY}",
    "SELECT canary FROM states",
    "SELECT * FROM canary",
    "SELECT state FROM states WHERE state = '{{ x }}'",
    f"DROP TABLE {CANARY}",
)


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
async def test_queries(recorder_mock: Recorder, hass: HomeAssistant, install: Install, ask: Ask, heard: Heard) -> None:
    """Neither a query nor what the database says of it is told."""
    hass.states.async_set(LAMP, CANARY)
    expose(hass, LAMP)
    await async_wait_recording_done(hass)
    await try_all(install, ask, heard, [{"type": "sqlite", "query": query} for query in QUERIES], CANARY)


async def test_broken(hass: HomeAssistant, entry: MockConfigEntry, heard: Heard) -> None:
    """What is wrong with a function is told to who writes it."""
    for name, broken in {**YAML, **SHAPE, **SCHEMA, **SETTINGS}.items():
        text = re.sub("broken|sparkle|sparkling|fly|perhaps|long|few", CANARY, broken.text)
        with suppress(FunctionError):
            await async_validate_function(hass, entry, text)
        assert heard() == [], name


@pytest.mark.parametrize(
    "settings",
    [template("{{ x }}"), steps({"stop": CANARY, "error": True}), template("{{ x | int }}")],
    ids=json.dumps,
)
async def test_called_without_a_chat(
    hass: HomeAssistant, entry: MockConfigEntry, install: Install, heard: Heard, settings: dict[str, Any]
) -> None:
    """Nor is a call by an action, one with wrong arguments, or one of a function that there is not."""
    await install(named(settings).replace('"x": {', '"x": {"type": "string", '))
    for name, arguments in ((NAME, {"x": CANARY}), (NAME, {"x": [CANARY]}), (CANARY, {})):
        data = {"function": name, "arguments": arguments}
        with suppress(HomeAssistantError):
            await hass.services.async_call(
                "extended_assist", "call_function", data, blocking=True, return_response=True
            )
    assert heard() == []
    # One that cannot be used any more is left out, and a repair tells of it.
    (subentry,) = [one for one in entry.subentries.values() if one.subentry_type == "function"]
    hass.config_entries.async_update_subentry(entry, subentry, data={**subentry.data, "function": f"{CANARY}: ["})
    await hass.async_block_till_done()
    assert heard() == []


async def test_later(
    hass: HomeAssistant, install: Install, ask: Ask, heard: Heard, freezer: FrozenDateTimeFactory
) -> None:
    """Nor is one that fails when its time has come."""
    delayed = json.loads(named(template("{{ x | int }}")))
    delayed["spec"]["parameters"]["properties"]["delay"] = {
        "type": "object",
        "properties": {"minutes": {"type": "integer"}},
    }
    await install(json.dumps(delayed))
    assert (await ask(NAME, {"x": CANARY, "delay": {"minutes": 1}})) == "Scheduled"
    freezer.tick(timedelta(minutes=2))
    async_fire_time_changed(hass)
    await hass.async_block_till_done()


async def test_slow(
    hass: HomeAssistant, install: Install, ask: Ask, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is a script that goes on, and then fails."""
    monkeypatch.setattr(script, "WAIT", 0.02)
    await install(named(steps({"delay": {"milliseconds": 100}, "alias": CANARY}, {"stop": CANARY, "error": True})))
    assert "goes on" in await ask(NAME)
    await hass.async_block_till_done()


async def test_names_that_are_taken(hass: HomeAssistant, converse: Converse, install: Install, heard: Heard) -> None:
    """Nor is a function whose name a tool has that came later."""
    await install(named(template("{{ x }}")))

    def late() -> dict[str, Any]:
        return {}

    tool = FunctionTool(late)
    tool.name = NAME
    async_register_tool(hass, tool)
    await converse(CANARY, Turn([tool_use(NAME, {"x": CANARY})]), Turn([text(CANARY)]))

"""Tests of what a reader may hear: whatever is a secret in one place is one in every other."""

from typing import Any

import pytest

from custom_components.extended_assist.automations.secret_values import SecretValues
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.tools.automations import GetAutomationsTool
from homeassistant.core import HomeAssistant
from homeassistant.util.yaml import dump
from tests.conftest import CallTool, expose
from tests.helpers.automating import FREE, MOTION, PORCH, REMOVE, UPDATE, StartHome, start_home

__all__ = ["start_home"]

GET = GetAutomationsTool(FREE)
CODE = "4711"
PLACES: dict[str, Any] = {
    "nested": {"actions": [{"event": "x", "event_data": {"a": [{"b": {"code": CODE}}]}}]},
    "a number": {"actions": [{"event": "x", "event_data": {"pin": 4711}}]},
    "a variable": {"variables": {"code": CODE}},
    "a variable beside": {"variables": {"alarm_code": CODE, "typed": CODE, "both": f"x {CODE} y"}},
    "a template": {"variables": {"code": CODE}, "conditions": [f"{{{{ trigger.id == '{CODE}' }}}}"]},
    "a template as code": {"actions": [{"event": "x", "event_data": {"code": f"{{{{ '{CODE}' }}}}"}}]},
    "a title": {
        "variables": {"code": CODE},
        "actions": [{"action": "notify.x", "data": {"title": f"Code {CODE}", "message": "x"}}],
    },
    "an address": {"actions": [{"event": "x", "event_data": {"url": f"https://example.com/?token={CODE}"}}]},
    "a user's address": {"actions": [{"event": "x", "event_data": {"url": f"https://me:{CODE}@example.com/"}}]},
    "a payload": {"actions": [{"action": "rest_command.x", "data": {"payload": {"password": CODE, "again": [CODE]}}}]},
    "recipients": {"actions": [{"action": "notify.sms", "data": {"message": "x", "target": [CODE]}}]},
    "an older step": {"actions": [{"service": "lock.unlock", "data": {"code": CODE}}]},
    "a trigger": {"triggers": [{"trigger": "event", "event_type": "x", "event_data": {"pin": CODE}}]},
    "in a choice": {
        "actions": [{"choose": [{"conditions": [], "sequence": [{"event": "x", "event_data": {"code": CODE}}]}]}]
    },
}
SECRETS = {
    "as it is": {"actions": [{"action": "notify.x", "data": {"message": "SECRET"}}]},
    "in a list": {"triggers": [{"trigger": "state", "entity_id": MOTION, "to": ["SECRET"]}]},
    "as a variable": {"variables": {"word": "SECRET"}},
    "in a condition": {"conditions": [{"condition": "state", "entity_id": MOTION, "state": "SECRET"}]},
}


async def told(hass: HomeAssistant, call_tool: CallTool) -> str:
    """Return all that is told of the one automation."""
    await hass.services.async_call("automation", "trigger", {"entity_id": "automation.a"}, blocking=True)
    listed, details = await call_tool(GET), await call_tool(GET, name="A", details=True)
    changed = await call_tool(UPDATE, automation="A", changes={"description": "x"})
    return (
        f"{listed}{details}{changed if 'sms' not in str(details) else ''}{await call_tool(GET, name='A', details=True)}"
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("expected_lingering_timers", [True])
async def test_codes(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, place: str) -> None:
    """A code is told in no list, details, last run or answer to a change."""
    await start_home(dump([{"id": "1", "alias": "A", "triggers": [], "actions": [], **PLACES[place]}]))
    expose(hass, "automation.a")
    assert CODE not in await told(hass, call_tool)


@pytest.mark.parametrize("place", SECRETS)
async def test_secrets_of_the_file(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, place: str) -> None:
    """What a tag stands for is told nowhere, also when the automation is removed."""
    text = dump([{"id": "1", "alias": "A", "triggers": [], "actions": [], **SECRETS[place]}])
    await start_home(text.replace("SECRET", "!secret word"), secrets="word: narwhal\n")
    expose(hass, "automation.a")
    everything = await told(hass, call_tool)
    assert "narwhal" not in f"{everything}{await call_tool(REMOVE, automation='A')}"
    assert "!secret word" in everything


async def test_what_is_none(hass: HomeAssistant, start_home: StartHome) -> None:
    """The id of an exposed entity is told, also where it is in secrets.yaml; short secrets hide no other texts."""
    await start_home()
    config = {
        "a": PORCH,
        "code": "12",
        "b": "12 lamps at 4711 and 47110",
        "c": 12,
        "d": True,
        "e": None,
        "f": {4711: "x"},
    }
    secrets = SecretValues(Exposure(hass, "conversation"), config, [PORCH, CODE, "True", "x"])
    assert secrets.without(config) == {
        "a": PORCH,
        "code": "(secret)",
        "b": "12 lamps at (secret) and 47110",
        "c": 12,
        "d": True,
        "e": None,
        "f": {4711: "(secret)"},
    }
    assert secrets.error("http://me:4711@example.com") == "(secret)"
    assert secrets.error("It is 4711.") == "It is (secret)."


ROTATED = """\
- id: '1'
  alias: A
  triggers: [{trigger: state, entity_id: input_boolean.motion}]
  actions:
  - action: input_boolean.turn_on
    target: {entity_id: !secret lamp}
  - action: persistent_notification.create
    data: {message: !secret pin}
"""


async def test_secrets_changed_since(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """The old one is a secret until nothing runs with it, and what will be loaded is told, not what was."""
    path = await start_home(ROTATED, secrets=f"lamp: {PORCH}\npin: 4711\n")
    expose(hass, "automation.a")
    path.with_name("secrets.yaml").write_text("lamp: input_boolean.zebra\npin: 9999\n")
    told = str(await call_tool(GET, name="automation.a", details=True))
    assert "4711" not in told
    changed = str(await call_tool(UPDATE, automation="automation.a", changes={"description": "Words"}))
    assert "Porch light" not in changed
    assert "something not exposed" in changed
    assert "4711" not in changed
    assert "9999" not in changed
    path.with_name("secrets.yaml").write_text("lamp: input_boolean.zebra\n")
    before = path.read_text()
    error = str(await call_tool(UPDATE, automation="automation.a", changes={"mode": "queued"}, error=True))
    assert "put back" in error
    assert "9999" not in error
    assert path.read_text() == before

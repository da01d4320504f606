"""Tests of telling which automations there are, what they do and how they ran."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.extended_assist.tools.automations import GetAutomationsTool
from homeassistant.components.trace.const import DATA_TRACE
from homeassistant.components.trace.models import RestoredTrace
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.json import ExtendedJSONEncoder, json_dumps
from homeassistant.util.yaml import dump
from tests.conftest import CallTool, expose
from tests.helpers.automating import CONFIGURATION, FREE, UPDATE, StartHome, start_home

__all__ = ["start_home"]

GET = GetAutomationsTool(FREE)

AUTOMATIONS = """\
- id: porch
  alias: Porch light
  description: Only when it is dark
  triggers:
  - trigger: state
    entity_id: input_boolean.motion
    to: 'on'
    for: {minutes: 5}
  conditions:
  - condition: numeric_state
    entity_id: input_number.level
    below: 20
  - condition: state
    entity_id: input_boolean.lamp
    state: 'off'
  actions:
  - action: input_boolean.turn_on
    target: {entity_id: input_boolean.porch}
    data: {}
- id: mixed
  alias: Mixed
  triggers:
  - trigger: state
    entity_id: [input_boolean.zebra, input_boolean.motion]
    to: 'on'
  actions:
  - action: input_boolean.turn_on
    target: {entity_id: input_boolean.zebra, area_id: axolotl_room}
  - action: persistent_notification.create
    data: {message: The Zebra mode is on, code: !secret code}
- id: hidden
  alias: Zebra only
  triggers: []
  actions: []
- id: broken
  alias: Broken
  triggers: [{trigger: state}]
  actions: []
"""
OTHERS = """
automation others:
- id: inline
  alias: Inline
  triggers: []
  actions:
  - action: persistent_notification.create
    data: {message: hello, code: !secret code, pin: !secret pin}
- alias: Without id
  triggers: []
  actions: []
"""


@pytest.fixture
async def home(hass: HomeAssistant, start_home: StartHome) -> None:
    """Start a home with automations of all kinds, of which one is hidden."""
    ar.async_get(hass).async_create("Axolotl room")
    await start_home(AUTOMATIONS, CONFIGURATION + OTHERS, secrets="code: narwhal\npin: 31415926\n")
    shown = ("porch_light", "mixed", "broken", "inline", "without_id")
    expose(hass, *(f"automation.{name}" for name in shown))


def rows(data: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the lines of an answer by the name of the automation."""
    return {row["name"]: row for row in csv.DictReader(io.StringIO(data.get("automations", "")))}


async def test_list(home: None, call_tool: CallTool) -> None:
    """All that are exposed, wherever they are written, with what each does and whether it can be changed."""
    data = await call_tool(GET)
    found = rows(data)
    assert list(found) == ["Broken", "Inline", "Mixed", "Porch light", "Without id"]
    assert found["Porch light"] == {
        "name": "Porch light",
        "entity_id": "automation.porch_light",
        "id": "porch",
        "state": "on",
        "last_triggered": "never",
        "can_be_changed": "yes",
        "what": "When Motion turns on for 5 minutes, if Level is below 20 and Lamp is off, turn on Porch light "
        "(input_boolean.turn_on)",
    }
    assert found["Broken"]["state"] == "invalid"
    assert {name for name, row in found.items() if row["can_be_changed"] == "no"} == {"Inline", "Without id"}
    assert "only the user can change it there" in data["note"]
    assert "something not exposed" in found["Mixed"]["what"]
    assert not [word for word in ("zebra", "axolotl", "narwhal") if word in json_dumps(data).lower()]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"name": "porch"}, ["Porch light"]),
        ({"name": "inline"}, ["Inline"]),
        ({"entity": "Motion"}, ["Mixed", "Porch light"]),
        ({"entity": "input_boolean.porch"}, ["Porch light"]),
        ({"area": "kitchen"}, ["Porch light"]),
        ({"name": "zebra only"}, []),
        ({"offset": 3}, ["Porch light", "Without id"]),
    ],
)
async def test_filters(home: None, call_tool: CallTool, wanted: dict[str, Any], names: list[str]) -> None:
    """By name, by what they use, and by area."""
    assert list(rows(await call_tool(GET, **wanted))) == names


async def test_hidden_and_unknown_look_the_same(home: None, call_tool: CallTool) -> None:
    """What is hidden cannot be asked for."""
    for key in ("entity", "area"):
        errors = [
            (await call_tool(GET, error=True, **{key: name}))["error"].replace(name, "")
            for name in (
                ("input_boolean.zebra", "input_boolean.zebxx") if key == "entity" else ("Axolotl room", "Attic")
            )
        ]
        assert errors[0] == errors[1]
    for name in ("Zebra only", "automation.zebra_only", "hidden", "Unknown"):
        error = await call_tool(GET, name=name, details=True, error=True)
        assert error["error"].startswith(f"No automation '{name}' was found or is exposed.")


async def test_details(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """The full configuration of one, and why it did not run."""
    await hass.services.async_call("input_number", "set_value", {"entity_id": "input_number.level", "value": 5})
    await hass.services.async_call("input_boolean", "turn_on", {"entity_id": "input_boolean.lamp"}, blocking=True)
    run = {"entity_id": "automation.porch_light", "skip_condition": False}
    await hass.services.async_call("automation", "trigger", run, blocking=True)
    await hass.services.async_call("input_boolean", "turn_off", {"entity_id": "input_boolean.lamp"}, blocking=True)
    await hass.services.async_call("automation", "trigger", run, blocking=True)
    data = await call_tool(GET, name="porch light", details=True)
    assert [found["result"] for found in data["last_runs"]] == ["ran", "did not run: condition 2 was false"]
    assert data["configuration"]["triggers"][0]["for"] == {"minutes": 5}
    assert list(data["configuration"]) == ["alias", "description", "triggers", "conditions", "actions"]
    assert "note" not in data
    assert hass.states.get("input_boolean.porch").state == "on"


async def test_runs_before_a_restart(
    hass: HomeAssistant, home: None, call_tool: CallTool, freezer: FrozenDateTimeFactory
) -> None:
    """When a run was that Home Assistant read back from its file is told in local time, as of any other."""
    await hass.config.async_set_time_zone("Asia/Tokyo")
    freezer.move_to("2026-11-20 17:04:59.9996+00:00")
    await hass.services.async_call("automation", "trigger", {"entity_id": "automation.porch_light"}, blocking=True)
    (runs,) = (runs for key, runs in hass.data[DATA_TRACE].items() if key == "automation.porch")
    ((run_id, trace),) = runs.runs.items()
    before = (await call_tool(GET, name="porch light", details=True))["last_runs"]
    runs.runs[run_id] = RestoredTrace(json.loads(json.dumps(trace.as_dict(), cls=ExtendedJSONEncoder)))
    assert (await call_tool(GET, name="porch light", details=True))["last_runs"] == before
    assert before[0]["at"] == "2026-11-21 02:05:00"


async def test_details_without_what_is_hidden_or_secret(home: None, call_tool: CallTool) -> None:
    """Names, ids and rooms of hidden things are left out, and secrets are never told."""
    data = await call_tool(GET, name="mixed", details=True)
    assert "left out" in data["note"]
    assert data["configuration"]["actions"][1]["data"] == {"message": "(not exposed)", "code": "!secret code"}
    assert data["configuration"]["triggers"][0]["entity_id"] == ["(not exposed)", "input_boolean.motion"]
    assert data["configuration"]["triggers"][0]["to"] == "(not exposed)"
    inline = await call_tool(GET, name="inline", details=True)
    assert inline["configuration"]["actions"][0]["data"] == {"message": "hello", "code": "(secret)", "pin": "(secret)"}
    for answer in (data, inline):
        assert not [word for word in ("zebra", "axolotl", "narwhal", "31415926") if word in json_dumps(answer).lower()]


async def test_what_a_reader_may_hear(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """Codes and who gets a message are for nobody who asks, and what stands in their place is never written."""
    steps = [
        {"action": "alarm_control_panel.alarm_disarm", "data": {"code": "4711", "deep": {"api_token": ["4711"]}}},
        {"action": "notify.sms", "data": {"message": "Home", "target": ["+4930123456"]}},
    ]
    path = await start_home(dump([{"id": "off", "alias": "Off", "triggers": [], "actions": steps}]))
    expose(hass, "automation.off")
    listed, details = await call_tool(GET), await call_tool(GET, name="Off", details=True)
    assert "sms (secret) (notify.sms) with message Home" in rows(listed)["Off"]["what"]
    config = details["configuration"]
    assert config["actions"][0]["data"] == {"code": "(secret)", "deep": {"api_token": "(secret)"}}
    assert config["actions"][1]["data"] == {"message": "Home", "target": "(secret)"}
    assert not [told for told in ("4711", "4930123456") if told in f"{listed}{details}"]
    before = path.read_bytes()
    config["actions"][0]["data"]["more"] = True
    refused = await call_tool(UPDATE, error=True, automation="Off", changes={"actions": config["actions"]})
    assert "actions[0].data.code: '(secret)' stands in the place of what is not told" in refused["error"]
    assert path.read_bytes() == before


async def test_details_of_the_only_one(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """What is found by what it uses is told in full where it is the only one, also without an id."""
    data = await call_tool(GET, entity="Porch light", details=True)
    assert data["id"] == "porch"
    assert data["configuration"]["alias"] == "Porch light"
    without_id = await call_tool(GET, name="without id", details=True)
    assert (without_id["id"], without_id["can_be_changed"]) == ("", "no")
    assert "last_runs" not in without_id


async def test_registry_ids_of_hidden_things(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """The registry id of a hidden entity, as the editor writes it for devices, is not told."""
    registry = er.async_get(hass)
    zebra = registry.async_get_or_create("light", "demo", "zebra")
    await start_home(
        "- id: '1'\n  alias: A\n  triggers: []\n  actions:\n  - type: turn_on\n    domain: light\n"
        f"    device_id: gone\n    entity_id: {zebra.id}\n"
    )
    expose(hass, "automation.a")
    data = await call_tool(GET, name="A", details=True)
    assert data["configuration"]["actions"][0]["entity_id"] == "(not exposed)"
    assert zebra.id not in json_dumps(data)


async def test_runs(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """What set an automation off, where it failed and why is told, unless that names what is hidden."""
    await start_home(
        """\
- id: '1'
  alias: Failing
  triggers:
  - {trigger: state, entity_id: input_boolean.motion, to: 'on'}
  - {trigger: state, entity_id: input_boolean.zebra, to: 'on'}
  actions:
  - action: input_number.set_value
    target: {entity_id: input_number.level}
    data: {value: 999}
- id: '2'
  alias: Unsure
  triggers: [{trigger: state, entity_id: input_boolean.motion, to: 'on'}]
  conditions: [{condition: numeric_state, entity_id: sensor.gone, above: 3}]
  actions: []
"""
    )
    expose(hass, "automation.failing", "automation.unsure")
    for name in ("motion", "zebra"):
        await hass.services.async_call(
            "input_boolean", "turn_on", {"entity_id": f"input_boolean.{name}"}, blocking=True
        )
        await hass.async_block_till_done()
    by_zebra, by_motion = (await call_tool(GET, name="failing", details=True))["last_runs"]
    assert by_motion["trigger"] == "state of input_boolean.motion"
    assert by_motion["error"].startswith("Invalid value for input_number.level: 999")
    assert by_motion["last_step"] == "action/0"
    assert by_zebra["trigger"] == "(not exposed)"
    (run,) = (await call_tool(GET, name="unsure", details=True))["last_runs"]
    assert run["result"] == "did not run: a condition was false"


async def test_anchors(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """What shares a part with another automation is told in full, but cannot be changed."""
    await start_home(
        "- {id: a, alias: A, triggers: &x [], actions: []}\n- {id: b, alias: B, triggers: *x, actions: []}\n"
    )
    expose(hass, "automation.b")
    data = await call_tool(GET, name="B", details=True)
    assert data["can_be_changed"] == "no: it uses parts of other automations (anchors)"
    assert data["configuration"]["triggers"] == []
    error = await call_tool(UPDATE, automation="B", changes={"alias": "C"}, error=True)
    assert "it uses parts of other automations (anchors)" in error["error"]


async def test_unreadable_file(home: None, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Where the file cannot be read, what is loaded is told all the same, and nothing can be changed."""
    Path(hass.config.path("automations.yaml")).write_text("hello\n")  # noqa: ASYNC240 - a test
    data = await call_tool(GET)
    assert {row["can_be_changed"] for row in rows(data).values()} == {"no"}
    assert "it is not a list" in data["note"]
    error = await call_tool(UPDATE, automation="porch", changes={"alias": "C"}, error=True)
    assert error["error"] == data["note"]


async def test_no_automations(hass: HomeAssistant, assist: None, call_tool: CallTool) -> None:
    """In a home without automations, none is found."""
    assert not await GetAutomationsTool.async_available(hass)
    assert (await call_tool(GET))["count"] == 0


async def test_several_or_none(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """A name that means several is refused with their ids."""
    er.async_get(hass).async_update_entity("automation.mixed", name="Night light")
    await hass.async_block_till_done()
    error = await call_tool(GET, name="light", details=True, error=True)
    assert error["error"].startswith("'light' means 2 automations: Night light (automation.mixed), Porch light")


async def test_long_list(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """What does not fit is said, and can be had."""
    from homeassistant.util.yaml import dump  # noqa: PLC0415
    from tests.automations.files import automation  # noqa: PLC0415

    await start_home(dump([automation(number) for number in range(60)]))
    expose(hass, *hass.states.async_entity_ids("automation"))
    tool = GetAutomationsTool()
    seen: list[str] = []
    data: dict[str, Any] = {"more": "0."}
    while "more" in data:
        data = await call_tool(tool, offset=len(seen))
        assert len(json_dumps(data)) <= 4_000
        seen += rows(data)
    assert len(set(seen)) == 60

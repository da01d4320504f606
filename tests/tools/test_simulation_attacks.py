"""Tests of rehearsals that were told wrongly once."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from homeassistant.components.recorder import Recorder
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.json import json_dumps
from homeassistant.setup import async_setup_component
from tests.conftest import CallTool, expose
from tests.helpers.automating import StartHome, start_home
from tests.tools.test_history import House
from tests.tools.test_simulation import (
    ABOVE,
    DAMP,
    EXPOSED,
    FAN,
    FAN_CONFIG,
    LAMP,
    REHEARSE,
    TURN_OFF,
    TURN_ON,
    fill,
    rehearsed,
    week,
)

__all__ = ["start_home", "week"]

MORNING = """\
- id: morning
  alias: Morning
  triggers:
  - {trigger: time, at: '06:30:00'}
  actions:
  - {action: light.turn_on, target: {entity_id: light.lamp}}
"""
AT = {"trigger": "time", "at": "06:30:00"}
LAMP_ON = {"action": "light.turn_on", "target": {"entity_id": LAMP}}


@pytest.fixture
async def mornings(
    hass: HomeAssistant, recorder_mock: Recorder, start_home: StartHome, freezer: FrozenDateTimeFactory
) -> AsyncGenerator[None]:
    """Set up a home in which an automation turned on the lamp every morning, a tenth of a second after its time."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    house = House(hass, freezer)
    house.set("2026-11-10 00:00:01", LAMP, "off")
    house.set("2026-11-10 00:00:01", DAMP, "5")
    for day in range(11, 18):
        house.set(f"2026-11-{day} 06:00:00", DAMP, "15")
        house.at(f"2026-11-{day} 06:30:00.100000")
        hass.states.async_set(LAMP, "on", context=Context(parent_id="01JCX00000000000000000000A"))
        house.set(f"2026-11-{day} 07:00:00", DAMP, "25")
        house.set(f"2026-11-{day} 08:30:00", LAMP, "off")
        house.set(f"2026-11-{day} 20:00:00", DAMP, "5")
    house.at("2026-11-18 06:00:00")
    await async_wait_recording_done(hass)
    await start_home(MORNING)
    assert await async_setup_component(hass, "light", {})
    expose(hass, LAMP, DAMP, "automation.morning")
    yield
    await hass.services.async_call("automation", "turn_off", {"entity_id": "all"}, blocking=True)


async def test_what_it_did_itself_was_not_so_already(mornings: None, call_tool: CallTool) -> None:
    """What an automation that is there really switched, it would have switched, however soon after the second that was."""
    answer = await rehearsed(call_tool, automation="Morning")
    assert answer["runs"] == 7
    assert "already" not in answer
    assert answer["on_for"] == {"lamp": "14:00:00"}


@pytest.mark.parametrize(
    ("trigger", "first", "on_for"),
    [
        ({**AT, "at": "06:20:00"}, "2026-11-11 06:20", "15:10:00"),
        ({"trigger": "sun", "event": "sunrise", "offset": "-00:10:00"}, "2026-11-11 ", None),
        ({"trigger": "numeric_state", "entity_id": DAMP, "above": 10}, "2026-11-11 06:00", "17:30:00"),
    ],
)
async def test_earlier(
    mornings: None, call_tool: CallTool, trigger: dict[str, Any], first: str, on_for: str | None
) -> None:
    """What would have been, had it started earlier."""
    answer = await rehearsed(call_tool, automation="Morning", changes={"triggers": [trigger]})
    assert answer["runs"] == 7
    assert answer["first"].startswith(first)
    if on_for:
        assert answer["on_for"] == {"lamp": on_for}


async def test_later(mornings: None, call_tool: CallTool) -> None:
    """Where it had begun earlier, it is said whose doing it is that all was so already."""
    answer = await rehearsed(call_tool, automation="Morning", changes={"triggers": [{**AT, "at": "06:40:00"}]})
    assert answer["already"] == "7 times what it switches first was so already"
    assert answer["recorded_with"].startswith("What is recorded holds what it did as it is now")
    assert "recorded_with" not in await rehearsed(call_tool, automation="Morning")


async def test_all_of_what_is_switched_first(week: None, call_tool: CallTool) -> None:
    """It was so already where all that the first step switches was so."""
    both = {"action": "homeassistant.turn_off", "target": {"entity_id": [LAMP, FAN]}}
    first = {"trigger": "state", "entity_id": FAN, "to": "on"}
    config = {"triggers": [first], "actions": [both]}
    assert "already" not in await rehearsed(call_tool, config=config)
    config["triggers"] = [{**first, "to": "off"}]
    assert (await rehearsed(call_tool, config=config))["already"].startswith("6 times")


async def test_chance(week: None, call_tool: CallTool) -> None:
    """What would have been drawn is not guessed."""
    for template in (
        "{{ [1, 2] | random == 1 }}",
        "{{ shuffle([1, 2])[0] == 1 }}",
        "{{ [1, 2] | shuffle | first == 1 }}",
    ):
        config = {"triggers": [ABOVE], "conditions": [template], "actions": [TURN_ON]}
        answer = await call_tool(REHEARSE, error=True, config=config, start="2026-11-11")
        assert "which is left to chance" in answer["error"]


def _append(path: str, config: dict[str, Any]) -> None:
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"- {json_dumps(config)}\n")


async def test_areas(hass: HomeAssistant, week: None, start_home: StartHome, call_tool: CallTool) -> None:
    """What an automation that is there sets by an area is followed as well."""
    bath = ar.async_get(hass).async_get_or_create("Bath")
    state = hass.states.get(FAN)
    assert state
    hass.states.async_remove(FAN)
    entry = er.async_get(hass).async_get_or_create("switch", "test", "fan", suggested_object_id="fan")
    er.async_get(hass).async_update_entity(entry.entity_id, area_id=bath.id)
    hass.states.async_set(FAN, state.state, state.attributes)
    expose(hass, FAN)
    in_area = {"action": "switch.turn_on", "target": {"area_id": "bath"}}
    config = {
        "alias": "Bath",
        "triggers": [ABOVE],
        "actions": [in_area, {"delay": "00:10:00"}, TURN_OFF],
    }
    await asyncio.to_thread(_append, hass.config.path("automations.yaml"), {"id": "bath", **config})
    await hass.services.async_call("automation", "reload", blocking=True)
    expose(hass, "automation.bath")
    answer = await rehearsed(call_tool, automation="Bath")
    assert answer["on_for"] == {"Fan": "1:10:00"}


async def test_what_it_makes_of_what_it_reads(
    week: None, call_tool: CallTool, hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    """What nobody knows of an entity that it reads is named."""
    house = House(hass, freezer)
    house.set("2026-11-10 00:00:02", "counter.runs", "1")
    house.at("2026-11-18 12:00:00")
    await async_wait_recording_done(hass)
    config: dict[str, Any] = {"triggers": [ABOVE]}
    assert await async_setup_component(hass, "counter", {"counter": {"runs": {}}})
    expose(hass, "counter.runs")
    await async_wait_recording_done(hass)
    config["conditions"] = [{"condition": "numeric_state", "entity_id": "counter.runs", "below": 3}]
    config["actions"] = [{"action": "counter.increment", "target": {"entity_id": "counter.runs"}}]
    answer = await rehearsed(call_tool, config=config)
    assert answer["not_replayed"] == "actions[0]: what 'counter.increment' makes of counter.runs, which is read too"


async def test_scripts_take_time(week: None, call_tool: CallTool, hass: HomeAssistant) -> None:
    """How long a script takes is not known, so that is named where it decides."""
    sequence = [{"delay": "01:00:00"}]
    scripts = {"long": {"sequence": sequence}, "short": {"sequence": [TURN_ON]}}
    assert await async_setup_component(hass, "script", {"script": scripts})
    expose(hass, "script.long", "script.short")
    config = {"triggers": [{"trigger": "state", "entity_id": DAMP}], "actions": [{"action": "script.short"}]}
    assert "not_replayed" not in await rehearsed(call_tool, config=config)
    config["actions"] = [{"action": "script.long"}]
    answer = await call_tool(REHEARSE, error=True, config=config, start="2026-11-11")
    assert "how long script.long takes" in answer["error"]
    config["actions"] = [{"action": "script.turn_on", "target": {"entity_id": "script.long"}}]
    assert "not_replayed" not in await rehearsed(call_tool, config=config)


async def test_never_of_many(
    hass: HomeAssistant,
    recorder_mock: Recorder,
    start_home: StartHome,
    call_tool: CallTool,
    freezer: FrozenDateTimeFactory,
) -> None:
    """Many that never run leave room for the answer, and names that are the same are counted each."""
    await fill(hass, freezer)
    one = f"""\
- id: a0
  alias: {"A long name of an automation " * 3}
  triggers: [{{trigger: numeric_state, entity_id: {DAMP}, above: 170}}]
  actions: []
"""
    await start_home("".join(one.replace("a0", f"a{number}") for number in range(60)))
    expose(hass, DAMP, *hass.states.async_entity_ids("automation"))
    answer = await rehearsed(call_tool)
    shown = answer["never"].count("A long name of an automation A long")
    assert answer["never"].endswith(f"{60 - shown} more")


async def test_never_is_said_of_what_is_known(
    hass: HomeAssistant,
    recorder_mock: Recorder,
    start_home: StartHome,
    call_tool: CallTool,
    freezer: FrozenDateTimeFactory,
) -> None:
    """One of which a trigger is left out may run; one that is off does not."""
    await fill(hass, freezer)
    await start_home(f"""\
- id: some
  alias: Some
  triggers:
  - {{trigger: numeric_state, entity_id: {DAMP}, above: 170}}
  - {{trigger: conversation, command: open sesame}}
  actions: []
- id: still
  alias: Still
  initial_state: false
  triggers: [{{trigger: numeric_state, entity_id: {DAMP}, above: 70}}]
  actions: []
""")
    expose(hass, *EXPOSED, "automation.some", "automation.still")
    answer = await rehearsed(call_tool)
    assert "never" not in answer
    assert answer["runs"] == "Still (is turned off): 7"
    assert answer["not_rehearsed"].startswith("1, ")
    alone = await rehearsed(call_tool, automation="Some")
    assert alone["looks_wrong"] == "never, as far as it could be replayed"


async def test_recorded_later(
    week: None, call_tool: CallTool, hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    """It is not said that one never runs that reads what is recorded since a part of the time only, or not at all."""
    house = House(hass, freezer)
    house.set("2026-11-17 18:00:00", "light.new", "on", friendly_name="New")
    house.at("2026-11-18 12:00:00")
    hass.states.async_set("light.newer", "on")
    await async_wait_recording_done(hass)
    expose(hass, "light.new", "light.newer")
    new = {"condition": "state", "entity_id": "light.new", "state": "on"}
    answer = await rehearsed(call_tool, config={**FAN_CONFIG, "conditions": [new]})
    assert answer["looks_wrong"].startswith("never, as far as it could be replayed")
    assert answer["recorded_later"].startswith("New since 2026-11-17 18:00; ")
    config = {**FAN_CONFIG, "conditions": [{**new, "entity_id": "light.newer"}]}
    error = await call_tool(REHEARSE, error=True, config=config, start="2026-11-11", end="2026-11-18 12:00")
    assert "light.newer, of which nothing is recorded" in error["error"]

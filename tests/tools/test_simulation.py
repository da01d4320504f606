"""Tests of rehearsing automations."""

import asyncio
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.confirmation.untrusted_text import MARK
from custom_components.extended_assist.simulation import calendars, replay
from custom_components.extended_assist.tools import simulation
from custom_components.extended_assist.tools.simulation import RehearseAutomationTool
from homeassistant.components.calendar.const import DATA_COMPONENT
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.local_calendar.calendar import LocalCalendarEntity
from homeassistant.components.recorder import Recorder
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.json import json_dumps
from homeassistant.setup import async_setup_component
from tests.conftest import ASSISTANT, CallTool, expose
from tests.helpers.automating import StartHome, start_home
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.one_home import in_one_home
from tests.tools.test_history import House

__all__ = ["start_home"]

DAMP, FAN, LAMP, DOOR, ZEBRA = (
    "sensor.bathroom",
    "switch.fan",
    "light.lamp",
    "binary_sensor.door",
    "binary_sensor.zebra",
)
MAIL = "sensor.mail"
REHEARSE = RehearseAutomationTool(ToolboxOptions())
PARENT = "01JCX00000000000000000000A"
TURN_ON = {"action": "switch.turn_on", "target": {"entity_id": FAN}}
HUMIDITY = {"device_class": "humidity", "state_class": "measurement", "unit_of_measurement": "%"}
TURN_OFF = {"action": "switch.turn_off", "target": {"entity_id": FAN}}
ABOVE = {"trigger": "numeric_state", "entity_id": DAMP, "above": 70}
FAN_CONFIG = {"triggers": [ABOVE], "actions": [TURN_ON]}
AUTOMATIONS = f"""\
- id: fan
  alias: Fan
  triggers:
  - {{trigger: numeric_state, entity_id: {DAMP}, above: 70}}
  actions:
  - {{action: switch.turn_on, target: {{entity_id: {FAN}}}}}
- id: never
  alias: Never
  triggers:
  - {{trigger: numeric_state, entity_id: {DAMP}, above: 170}}
  actions: []
- id: dark
  alias: Dark
  triggers:
  - {{trigger: state, entity_id: {DOOR}, to: 'on'}}
  conditions:
  - {{condition: state, entity_id: {FAN}, state: unavailable}}
  actions: []
- id: mixed
  alias: Mixed
  triggers:
  - {{trigger: state, entity_id: [{DOOR}, {ZEBRA}], to: 'on'}}
  actions: []
- id: chatty
  alias: Heard
  triggers:
  - {{trigger: conversation, command: open sesame}}
  actions: []
"""
EXPOSED = (DAMP, FAN, LAMP, DOOR, *(f"automation.{name}" for name in ("fan", "never", "dark", "mixed", "heard")))


async def fill(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """Let a week pass in which the bathroom is damp every morning, and once at night."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    house = House(hass, freezer)
    house.at("2026-11-10 00:00:00")
    for entity_id, state in ((DAMP, "50"), (FAN, "off"), (LAMP, "off"), (DOOR, "off"), (ZEBRA, "off")):
        house.set("2026-11-10 00:00:01", entity_id, state, friendly_name=entity_id.partition(".")[2].title())
    for day in range(12, 18):
        house.set(f"2026-11-{day} 07:00:00", DAMP, "75", friendly_name="Bathroom", **HUMIDITY)
        if day == 15:
            house.at(f"2026-11-{day} 07:00:20")
            hass.states.async_set(FAN, "on", {"friendly_name": "Fan"}, context=Context(parent_id=PARENT))
        house.set(f"2026-11-{day} 07:20:00", DAMP, "76", friendly_name="Bathroom", **HUMIDITY)
        house.set(f"2026-11-{day} 07:30:00", DAMP, "60", friendly_name="Bathroom", **HUMIDITY)
        house.set(f"2026-11-{day} 08:00:00", FAN, "on", friendly_name="Fan")
        house.set(f"2026-11-{day} 08:00:01", FAN, "off", friendly_name="Fan")
        house.set(f"2026-11-{day} 09:00:00", DOOR, "on", friendly_name="Door")
        house.set(f"2026-11-{day} 09:00:05", DOOR, "off", friendly_name="Door")
    house.set("2026-11-17 03:12:00", DAMP, "80", friendly_name="Bathroom", **HUMIDITY)
    house.set("2026-11-17 03:40:00", DAMP, "60", friendly_name="Bathroom", **HUMIDITY)
    house.at("2026-11-18 12:00:00")
    await async_wait_recording_done(hass)


@pytest.fixture
async def week(
    hass: HomeAssistant, recorder_mock: Recorder, start_home: StartHome, freezer: FrozenDateTimeFactory
) -> None:
    """Set up a home with a week behind it."""
    await fill(hass, freezer)
    await start_home(AUTOMATIONS)
    for domain in ("switch", "light"):
        assert await async_setup_component(hass, domain, {})
    expose(hass, *EXPOSED)


async def rehearsed(call_tool: CallTool, **arguments: Any) -> dict[str, Any]:
    """Return the answer about the time from November 11 on."""
    answer: dict[str, Any] = await call_tool(REHEARSE, **{"start": "2026-11-11"} | arguments)
    assert len(json_dumps(answer)) <= 1_500
    return answer


@EVERY_ENGINE
async def test_new(week: None, call_tool: CallTool) -> None:
    """How often, when, for how long, what was so already, and what looks wrong."""
    assert await rehearsed(call_tool, config=FAN_CONFIG) == {
        "start": "2026-11-11 00:00",
        "end": "2026-11-18 12:00",
        "runs": 7,
        "first": "2026-11-12 07:00",
        "last": "2026-11-17 07:00",
        "by_hour": "3: 1, 7: 6",
        "by_weekday": "mon: 1, tue: 2, thu: 1, fri: 1, sat: 1, sun: 1",
        "on_for": {"Fan": "9:48:06"},
        "already": "once what it switches first was so already",
        "also_automated": "once another automation or script did the same within a minute",
        "looks_wrong": "once in the night, such as 2026-11-17 03:12",
    }


async def test_conditions_and_length(week: None, call_tool: CallTool) -> None:
    """What was held back is told, and what it would have set is followed where it is read."""
    config = {
        "triggers": [{"trigger": "state", "entity_id": DAMP}],
        "conditions": [{"condition": "state", "entity_id": FAN, "state": "off"}],
        "actions": [TURN_ON, {"delay": "01:00:00"}, TURN_OFF],
    }
    answer = await rehearsed(call_tool, config=config)
    assert (answer["runs"], answer["held_back"]) == (7, "13 times a condition was false")
    assert answer["note"].startswith("Nothing was done. It reads what it sets")
    answer = await rehearsed(call_tool, config={**config, "conditions": []})
    assert answer["held_back"] == "13 times it was still running"


async def test_existing(week: None, call_tool: CallTool) -> None:
    """One that is there, also with changes; few runs are told one by one."""
    assert (await rehearsed(call_tool, automation="Fan"))["runs"] == 7
    changed = await rehearsed(call_tool, automation="fan", changes={"triggers": [{**ABOVE, "above": 78}]})
    assert (changed["runs"], changed["all"]) == (1, "2026-11-17 03:12")
    assert (await rehearsed(call_tool, automation="Never"))["looks_wrong"] == "never"
    assert "always false" in (await rehearsed(call_tool, automation="Dark"))["looks_wrong"]


async def test_all(week: None, call_tool: CallTool) -> None:
    """Which never run; those that use something hidden, or that nothing can be told about, are counted."""
    assert await rehearsed(call_tool) == {
        "start": "2026-11-11 00:00",
        "end": "2026-11-18 12:00",
        "never": "Dark (a condition was always false), Never",
        "runs": "Fan: 7",
        "not_rehearsed": "2, for what they use, or what cannot be replayed: Mixed, Heard",
    }


async def test_often(week: None, call_tool: CallTool) -> None:
    """What runs every few seconds looks wrong; of many runs, the answer has room."""
    pattern = {"triggers": [{"trigger": "time_pattern", "seconds": "/5"}], "actions": []}
    answer = await rehearsed(call_tool, config=pattern, start="2026-11-17")
    assert answer["runs"] == 36 * 720
    assert answer["looks_wrong"].startswith("every few seconds; ")


@in_one_home(
    ("config", "error"),
    [
        ({"triggers": [{"trigger": "state", "entity_id": ZEBRA}]}, "not found or is not exposed"),
        ({"triggers": [{"trigger": "state", "entity_id": DAMP, "attribute": "attribution"}]}, "is not recorded"),
        ({"triggers": [{"trigger": "conversation", "command": "open sesame"}]}, "of the type 'conversation'"),
        (
            {"triggers": [{"trigger": "template", "value_template": "{{ states.sensor | list | count > 1 }}"}]},
            "going through states",
        ),
        (
            {
                "triggers": [ABOVE],
                "conditions": ["{{ state_attr('sensor.bathroom', 'supported_features') }}"],
            },
            "'supported_features', which is not recorded",
        ),
        (
            {"triggers": [ABOVE], "conditions": [f"{{{{ relative_time(states.{DAMP}.last_changed) == '5' }}}}"]},
            "'relative_time' in a template",
        ),
        ({"triggers": [ABOVE], "actions": [{"parallel": [TURN_ON, {"delay": 5}]}]}, "steps side by side"),
    ],
)
async def test_not_told(week: None, call_tool: CallTool, config: dict[str, Any], error: str) -> None:
    """What cannot be replayed is named, and nothing is told."""
    answer = await call_tool(REHEARSE, error=True, config={"actions": [], **config}, start="2026-11-11")
    assert error in answer["error"]
    assert "zebra" not in answer["error"].lower() or ZEBRA in str(config)


async def test_told_of_the_rest(week: None, call_tool: CallTool) -> None:
    """A trigger that cannot be replayed is named beside what the others would have done."""
    config = {**FAN_CONFIG, "triggers": [ABOVE, {"trigger": "conversation", "command": "open sesame"}]}
    answer = await rehearsed(call_tool, config=config)
    assert answer["runs"] == 7
    assert answer["not_replayed"] == "triggers[1]: a trigger of the type 'conversation'"


async def test_mixed_arguments(week: None, call_tool: CallTool) -> None:
    """Arguments that do not belong together are refused; so is what uses something hidden, without its name."""
    for arguments in ({"config": FAN_CONFIG, "automation": "fan"}, {"changes": {}}, {"automation": "Mixed"}):
        answer = await call_tool(REHEARSE, error=True, **arguments)
        assert "zebra" not in answer["error"].lower()
    nothing = await call_tool(REHEARSE, error=True, config=FAN_CONFIG, start="2026-11-01", end="2026-11-02")
    assert "Nothing is recorded of that time" in nothing["error"]


async def test_hidden_members(
    hass: HomeAssistant, week: None, call_tool: CallTool, freezer: FrozenDateTimeFactory
) -> None:
    """Whether an attribute names something hidden cannot be found out by guessing."""
    for number in (1, 2):
        freezer.tick(60)
        hass.states.async_set(LAMP, "off", {"entity_id": [ZEBRA, FAN], "number": number})
        freezer.tick(60)
        hass.states.async_set(LAMP, "off", {"entity_id": [], "number": number})
    await async_wait_recording_done(hass)
    freezer.tick(60)
    for guess, runs in (([ZEBRA, FAN], 0), ([FAN], 2)):
        condition = {"condition": "state", "entity_id": LAMP, "attribute": "entity_id", "state": [guess]}
        trigger = {"trigger": "state", "entity_id": LAMP}
        config = {"triggers": [trigger], "conditions": [condition], "actions": []}
        if ZEBRA in guess:
            await call_tool(REHEARSE, error=True, config=config)
        else:
            assert (await rehearsed(call_tool, config=config))["runs"] == runs


async def test_no_time_left(week: None, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch) -> None:
    """How far it came is told where it takes too long, and how many were not looked at."""
    monkeypatch.setattr(simulation, "_ALL", 0.0)
    answer = await rehearsed(call_tool)
    assert answer["note"] == "5 more were not looked at. Ask for a shorter time."
    monkeypatch.setattr(simulation, "_ALL", 40.0)
    monkeypatch.setattr(simulation, "_ONE", -1.0)  # The clock stands still here.
    answer = await call_tool(REHEARSE, error=True, config=FAN_CONFIG, start="2026-11-11")
    assert answer["error"] == "It took too long. Ask for a shorter time."
    # It is not said that one never runs of which a part was gone through.
    seconds = count(monotonic(), 6)
    monkeypatch.setattr(replay, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(simulation, "_ONE", 15.0)
    answer = await rehearsed(call_tool)
    assert (answer["note"][:6], "never" in answer) == ("3 more", False)
    seconds = count(monotonic(), 14)
    answer = await call_tool(REHEARSE, config=FAN_CONFIG, start="2026-11-11")
    assert "it took too long. Ask for a shorter time." in answer["only_until"], answer


async def test_wrong_changes(week: None, call_tool: CallTool) -> None:
    """What is wrong in changes is told as when it is written."""
    changes = {"triggers": [{"trigger": "state", "entity_id": "sensor.nowhere"}]}
    answer = await call_tool(REHEARSE, error=True, automation="Fan", changes=changes)
    assert "'sensor.nowhere' was not found or is not exposed" in answer["error"]


async def test_not_recorded(
    week: None, recorder_mock: Recorder, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What reads an entity that the recorder leaves out is not rehearsed."""
    monkeypatch.setattr(recorder_mock, "entity_filter", lambda entity_id: entity_id != DAMP)
    answer = await call_tool(REHEARSE, error=True, config=FAN_CONFIG, start="2026-11-11")
    assert "excluded from the recorder" in answer["error"]


async def test_only_one_that_never_runs(hass: HomeAssistant, week: None, call_tool: CallTool) -> None:
    """Without any that runs, those that never do are told alone; without any exposed, that is said."""
    for name in ("fan", "dark", "mixed", "heard"):
        async_expose_entity(hass, ASSISTANT, f"automation.{name}", False)
    answer = await rehearsed(call_tool)
    assert (answer["never"], "runs" in answer) == ("Never", False)
    async_expose_entity(hass, ASSISTANT, "automation.never", False)
    assert "No automation is exposed." in (await call_tool(REHEARSE, error=True))["error"]


async def test_many_automations(
    hass: HomeAssistant,
    recorder_mock: Recorder,
    start_home: StartHome,
    call_tool: CallTool,
    freezer: FrozenDateTimeFactory,
) -> None:
    """Of many that run, those are told that run least."""
    await fill(hass, freezer)
    one = AUTOMATIONS.partition("- id: never")[0]
    many = [one.replace("id: fan", f"id: fan{n}").replace("alias: Fan", f"alias: {'Fan' * 12} {n}") for n in range(40)]
    await start_home("".join(many))
    assert await async_setup_component(hass, "switch", {})
    expose(hass, DAMP, FAN, *hass.states.async_entity_ids("automation"))
    answer = await rehearsed(call_tool)
    assert answer["runs"].endswith("more, which run more often")


CALENDAR = "calendar.home"
EVENTS = (
    ("2026-11-12 09:00", "2026-11-12 10:00", "Dentist"),
    ("2026-11-14 09:00", "2026-11-14 10:00", "Waste"),
    ("2026-11-16", "2026-11-18", "Holiday"),
    ("2026-11-18 15:00", "2026-11-18 16:00", "To come"),
)


@pytest.fixture
async def calendar(hass: HomeAssistant, week: None, recorder_mock: Recorder) -> LocalCalendarEntity:
    """Set up Home Assistant's own calendar, with some events; its states are not recorded."""
    recorder_mock.set_enable(False)
    assert await async_setup_component(hass, "http", {})
    entry = MockConfigEntry(
        domain="local_calendar",
        data={"calendar_name": "Home", "storage_key": "home"},
        pref_disable_polling=True,
    )
    entry.add_to_hass(hass)
    await hass.async_add_executor_job(Path(hass.config.path(".storage")).mkdir)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    for start, end, summary in EVENTS:
        kind = "date_time" if ":" in start else "date"
        times = {f"start_{kind}": start, f"end_{kind}": end}
        data = {"entity_id": CALENDAR, "summary": summary, **times}
        await hass.services.async_call("calendar", "create_event", data, blocking=True)
    expose(hass, CALENDAR)
    found = hass.data[DATA_COMPONENT].get_entity(CALENDAR)
    assert isinstance(found, LocalCalendarEntity)
    return found


@pytest.mark.parametrize(
    ("trigger", "runs"),
    [
        ({}, "2026-11-12 09:00, 2026-11-14 09:00, 2026-11-16 00:00"),
        ({"event": "end"}, "2026-11-12 10:00, 2026-11-14 10:00, 2026-11-18 00:00"),
        ({"offset": "-04:00:00"}, "2026-11-12 05:00, 2026-11-14 05:00, 2026-11-15 20:00, 2026-11-18 11:00"),
        ({"event": "end", "offset": "13:00:00"}, "2026-11-12 23:00, 2026-11-14 23:00"),
    ],
)
async def test_calendar(calendar: LocalCalendarEntity, call_tool: CallTool, trigger: dict[str, str], runs: str) -> None:
    """The calendar tells which events there were; offsets bring in some that are still to come."""
    config = {"triggers": [{"trigger": "calendar", "entity_id": CALENDAR, **trigger}], "actions": [TURN_ON]}
    answer = await rehearsed(call_tool, config=config)
    found = answer.get("all") or f"{answer['first']} … {answer['last']}"
    assert found == (runs if runs.count(",") < 3 else f"{runs[:16]} … {runs[-16:]}")
    assert answer["calendars"] == "Events as they are kept today; what was deleted or moved since is not known."


async def test_what_a_calendar_says(calendar: LocalCalendarEntity, call_tool: CallTool) -> None:
    """Conditions read the event; a condition on the calendar itself needs its states, which are not recorded here."""
    trigger = {"trigger": "calendar", "entity_id": CALENDAR}
    waste = "{{ 'Waste' in trigger.calendar_event.summary }}"
    answer = await rehearsed(call_tool, config={"triggers": [trigger], "conditions": [waste], "actions": []})
    assert (answer["runs"], answer["all"]) == (1, "2026-11-14 09:00")
    busy = {"condition": "state", "entity_id": CALENDAR, "state": "on"}
    reading = {"triggers": [trigger], "conditions": [busy], "actions": []}
    error = await call_tool(REHEARSE, error=True, config=reading)
    assert "calendar.home, of which nothing is recorded" in error["error"]


async def test_a_calendar_that_keeps_nothing(
    hass: HomeAssistant, calendar: LocalCalendarEntity, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That nothing is kept is told apart from nothing having been; so is one that fails, is late, is hidden or has too much."""
    config = {"triggers": [{"trigger": "calendar", "entity_id": CALENDAR}], "actions": []}
    answer = await call_tool(REHEARSE, config=config, start="2026-11-17", end="2026-11-17 12:00")
    assert "None of that time" not in answer["calendars"]
    answer = await call_tool(REHEARSE, config=config, start="2026-11-18 09:00")
    assert answer["calendars"].endswith("None of that time: Home; some calendars forget what is over.")

    async def fail(*_: Any) -> Any:
        raise HomeAssistantError("secret")

    async def wait(*_: Any) -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(calendars, "MAX_EVENTS", 2)
    error = await call_tool(REHEARSE, error=True, config=config, start="2026-11-11")
    assert "more than 2 events" in error["error"]
    monkeypatch.setattr(calendar, "async_get_events", fail, raising=False)
    error = await call_tool(REHEARSE, error=True, config=config, start="2026-11-11")
    assert "calendar.home could not tell its past events" in error["error"]
    assert "secret" not in error["error"]
    monkeypatch.setattr(calendars, "TIME_LIMIT", 0.0)
    monkeypatch.setattr(calendar, "async_get_events", wait, raising=False)
    error = await call_tool(REHEARSE, error=True, config=config, start="2026-11-11")
    assert "did not tell its past events within" in error["error"]
    async_expose_entity(hass, ASSISTANT, CALENDAR, False)
    error = await call_tool(REHEARSE, error=True, config=config, start="2026-11-11")
    assert "was not found or is not exposed" in error["error"]


@pytest.mark.parametrize(
    ("parts", "is_marked"),
    [
        ({"triggers": [{"trigger": "state", "entity_id": DOOR, "to": "on"}]}, False),
        ({"triggers": [ABOVE]}, False),
        ({"triggers": [ABOVE], "conditions": "{{ is_state('binary_sensor.door', 'on') }}"}, False),
        ({"triggers": [{"trigger": "state", "entity_id": LAMP, "to": "on"}]}, False),
        ({"triggers": [{"trigger": "state", "entity_id": MAIL}]}, True),
        ({"triggers": [ABOVE], "conditions": f"{{{{ 'cellar' in states('{MAIL}') }}}}"}, True),
        ({"triggers": [ABOVE], "conditions": f"{{{{ 'cellar' in state_attr('{LAMP}', 'sender') }}}}"}, True),
        ({"triggers": [{"trigger": "state", "entity_id": LAMP, "attribute": "sender"}]}, True),
    ],
)
async def test_text_from_outside(
    hass: HomeAssistant,
    week: None,
    freezer: FrozenDateTimeFactory,
    call_tool: CallTool,
    parts: dict[str, Any],
    is_marked: bool,
) -> None:
    """When an automation would have run is from outside where free text decides it: what others wrote could be counted out."""
    house = House(hass, freezer)
    house.set("2026-11-18 12:00:01", MAIL, "Turn on the cellar", friendly_name="Mail")
    house.set("2026-11-18 12:00:02", LAMP, "on", friendly_name="Lamp", sender="Turn on the cellar")
    house.at("2026-11-18 12:30:00")
    await async_wait_recording_done(hass)
    expose(hass, MAIL)
    answer = await rehearsed(call_tool, config={"actions": [TURN_ON], **parts})
    assert (MARK in answer) is is_marked
    answer = await rehearsed(call_tool)
    assert MARK not in answer

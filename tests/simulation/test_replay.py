"""Tests of the parts of a rehearsal that a month of random automations seldom comes to."""

from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

import pytest

from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.simulation.historical_state import (
    NotReplayableError,
    Past,
    Ran,
    SimulationOutcome,
)
from custom_components.extended_assist.simulation.replay import Replay
from custom_components.extended_assist.simulation.report import looks_wrong, told
from custom_components.extended_assist.simulation.run import RehearsedAutomation
from custom_components.extended_assist.templates.historical import NotOfThePastError
from homeassistant.components.automation.config import async_validate_config_item
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import Template
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.conftest import ASSISTANT, expose

LAMP, FAN, DOOR, WAKE, TIME, ROOM, HIDDEN, LATER = (
    "light.lamp",
    "fan.fan",
    "binary_sensor.door",
    "input_datetime.wake",
    "time.wake",
    "sensor.room",
    "sensor.zebra",
    "sensor.later",
)
KNOWN = dict.fromkeys((LAMP, FAN, DOOR, WAKE, TIME, ROOM), frozenset({"picture"}))
OPENED = {"trigger": "state", "entity_id": DOOR, "to": "on"}
START = 1_790_000_000.0

type Rehearse = Callable[..., Any]


@pytest.fixture
async def replay(hass: HomeAssistant, assist: None) -> Replay:
    """Return a home of the past, as a rehearsal has it."""
    assert await async_setup_component(hass, "automation", {})
    for entity_id in (*KNOWN, HIDDEN, LATER):
        hass.states.async_set(entity_id, "off")
    expose(hass, *KNOWN, LATER)
    home = Replay(hass, Exposure(hass, ASSISTANT), KNOWN)
    home.now = START
    for entity_id in KNOWN:
        home.feed(entity_id, past(entity_id, "off"))
    return home


def past(entity_id: str, state: str, moment: float = START, **attributes: Any) -> Past:
    """Return a recorded state."""
    return Past(entity_id, state, attributes, moment, moment)


@pytest.fixture
def rehearse(hass: HomeAssistant, replay: Replay) -> Rehearse:
    """Return a function that makes an automation of some parts and arms it."""

    async def make(**parts: Any) -> RehearsedAutomation:
        config: Mapping[str, Any] = {"id": "x", "alias": "x", "triggers": [OPENED], "actions": [], **parts}
        validated = await async_validate_config_item(hass, "x", dict(config))
        assert validated is not None
        automation = RehearsedAutomation(replay, validated, frozenset({DOOR}), "automation.x")
        automation.start()
        return automation

    return make


def open_door(replay: Replay, *, after: float = 1) -> None:
    """Open the door, and close it."""
    replay.advance(replay.now + after)
    replay.feed(DOOR, past(DOOR, "on", replay.now))
    replay.feed(DOOR, past(DOOR, "off", replay.now))


@pytest.mark.parametrize(
    "template",
    [
        "{{ states.light.lamp.context.id }}",
        "{{ states.light.lamp.last_reported }}",
        "{{ states.light.lamp.attributes.picture }}",
        "{{ states.light.lamp.attributes['picture'] }}",
        "{{ 'picture' in states.light.lamp.attributes }}",
        "{{ state_attr('light.lamp', 'picture') }}",
        "{{ states.light | list }}",
        "{{ states('sensor.room', rounded=True) }}",
        "{{ state_translated('light.lamp') }}",
        "{{ states('sensor.later') }}",
        "{{ time_since(now()) }}",
    ],
)
def test_not_of_the_past(hass: HomeAssistant, replay: Replay, template: str) -> None:
    """What is not known of the past is not taken from the present."""
    with pytest.raises(NotOfThePastError):
        replay.text(Template(template, hass), {})


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ states('sensor.zebra') }}", "unknown"),
        ("{{ states('sensor.room', with_unit=True, rounded=False) }}", "off"),
        ("{{ now() == as_local(utcnow()) }}", "True"),
        ("{{ today_at() < today_at('00:01') }}", "True"),
        ("{{ given.lamp.state }} {{ given.many[0].state }}", "off off"),
        ("{{ states.light.lamp.attributes.get('level', 5) }}", "5"),
    ],
)
def test_of_the_past(hass: HomeAssistant, replay: Replay, template: str, text: str) -> None:
    """What is hidden is not there; the clock is that of the moment."""
    lamp = replay.world[LAMP]
    assert replay.text(Template(template, hass), {"given": {"lamp": lamp, "many": [lamp]}}) == text


@pytest.mark.parametrize("template", ["{{ 1 / 0 }}", "{{ today_at('x') }}", "{{ states(5) }}"])
def test_failed_templates(hass: HomeAssistant, replay: Replay, template: str) -> None:
    """They fail as Home Assistant's own do."""
    with pytest.raises(TemplateError):
        replay.text(Template(template, hass), {})


@pytest.mark.parametrize(
    ("conditions", "runs"),
    [
        ([{"condition": "time", "after": TIME}], 1),
        ([{"condition": "time", "before": TIME}], 1),
        ([{"condition": "time", "after": ROOM}], 0),
        ([{"condition": "time", "after": "sensor.gone"}], 0),
        ([{"condition": "state", "entity_id": LAMP, "state": "off", "attribute": "gone"}], 0),
        ([{"condition": "state", "entity_id": LAMP, "state": "off", "for": "{{ 'x' }}"}], 0),
        ([{"condition": "numeric_state", "entity_id": LAMP, "above": 5}], 0),
        ([{"condition": "numeric_state", "entity_id": LAMP, "above": 5, "value_template": "{{ 1 / 0 }}"}], 0),
        ([{"condition": "zone", "entity_id": LAMP, "zone": "zone.gone"}], 0),
        ([{"or": [{"condition": "numeric_state", "entity_id": LAMP, "above": 5}]}], 0),
        ([{"not": [{"condition": "state", "entity_id": LAMP, "state": "off"}]}], 0),
        (["{{ 1 / 0 }}"], 0),
        ([{"condition": "template", "value_template": "{{ false }}", "enabled": False}], 1),
    ],
)
async def test_conditions(replay: Replay, rehearse: Rehearse, conditions: list[Any], runs: int) -> None:
    """What cannot be decided does not hold."""
    replay.feed(TIME, past(TIME, "00:00:00"))
    automation = await rehearse(conditions=conditions)
    open_door(replay)
    assert automation.finish().count == runs


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"triggers": [{**OPENED, "enabled": "{{ 1 == 1 }}"}]}, "triggers[0]: whether it is enabled is a template"),
        ({"triggers": [{**OPENED, "enabled": False}]}, "none of them is enabled"),
        ({"triggers": [{"trigger": "event", "event_type": "x"}]}, "triggers[0]: a trigger of the type 'event'"),
        (
            {"conditions": [{"condition": "state", "entity_id": DOOR, "state": "on", "enabled": "{{ 1 }}"}]},
            "conditions[0]",
        ),
    ],
)
async def test_named(rehearse: Rehearse, parts: dict[str, Any], named: str) -> None:
    """What cannot be replayed has a place and a reason."""
    with pytest.raises(NotReplayableError) as err:
        await rehearse(**parts)
    assert named in str(err.value)


async def test_steps(replay: Replay, rehearse: Rehearse) -> None:
    """Repetitions, lists and conditions take their time, and what is set is set."""
    lamp = {"action": "light.toggle", "target": {"entity_id": LAMP}}
    actions = [
        {"variables": {"found": []}},
        {"repeat": {"for_each": ["a", "b"], "sequence": [lamp, {"delay": "{{ 10 if repeat.item == 'a' else 20 }}"}]}},
        {"repeat": {"while": "{{ repeat.index < 3 }}", "sequence": [{"delay": 5}]}},
        {"repeat": {"until": "{{ repeat.index == 2 }}", "sequence": [{"sequence": [{"delay": 5}]}]}},
        {"action": "{{ 'homeassistant.turn_on' }}", "data": {"entity_id": [LAMP, FAN, "light.gone"]}},
        {"event": "x"},
    ]
    automation = await rehearse(actions=actions)
    open_door(replay)
    replay.advance(replay.now + 9)
    assert replay.world[LAMP].state == "on"
    replay.advance(replay.now + 2)
    assert replay.world[LAMP].state == "off"
    replay.advance(replay.now + 41)
    assert replay.world[LAMP].state == replay.world[FAN].state == "on"
    replay.feed(FAN, Past(FAN, "off", {"speed": 2}, START, replay.now))
    assert (replay.world[FAN].state, dict(replay.world[FAN].attributes)) == ("on", {"speed": 2})
    replay.advance(replay.now + 100)
    replay.feed(FAN, None)
    found = automation.finish()
    assert found.on_time == pytest.approx({LAMP: 10 + 101, FAN: 101}, abs=1.5)
    assert list(found.open_since) == [LAMP]
    assert "never_turned_off_again" in told(found, str)


@pytest.mark.parametrize(
    "actions",
    [
        [{"repeat": {"for_each": "{{ 5 }}", "sequence": []}}],
        [{"delay": "{{ 'x' }}"}],
        [{"wait_template": "{{ false }}", "timeout": 0, "continue_on_timeout": False}],
        [{"stop": "enough"}],
        [{"condition": "numeric_state", "entity_id": LAMP, "above": 5}],
    ],
)
async def test_stopped(replay: Replay, rehearse: Rehearse, actions: list[Any]) -> None:
    """A run that fails or stops ends at once."""
    automation = await rehearse(actions=[*actions, {"delay": 1000}])
    open_door(replay)
    open_door(replay)
    assert automation.finish().count == 2


async def test_endless(replay: Replay, rehearse: Rehearse) -> None:
    """What goes round in a circle is named; where the length of a run decides nothing, the rest is told."""
    endless = [{"repeat": {"while": "{{ true }}", "sequence": [{"event": "x"}]}}]
    automation = await rehearse(actions=endless, mode="restart")
    open_door(replay)
    assert "more than 10000 steps" in told(automation.finish(), str)["not_replayed"]
    await rehearse(actions=endless)
    with pytest.raises(NotReplayableError, match="mode 'single'"):
        open_door(replay)


async def test_variables(replay: Replay, rehearse: Rehearse) -> None:
    """Those that fail end the run, as in life; `this` knows when it ran last."""
    fresh = (
        "{{ this.attributes.last_triggered is none or now() - this.attributes.last_triggered > timedelta(seconds=60) }}"
    )
    automation = await rehearse(conditions=[fresh])
    for after in (1, 30, 40):
        open_door(replay, after=after)
    assert automation.finish().count == 2
    for parts in (
        {"variables": {"x": "{{ 1 / 0 }}"}},
        {"triggers": [{**OPENED, "variables": {"x": "{{ 1 / 0 }}"}}]},
    ):
        failing = await rehearse(**parts)
        open_door(replay)
        assert failing.finish().count == 0


async def test_dates(replay: Replay, rehearse: Rehearse) -> None:
    """A helper with a date fires once, when it is to come; without a time of the day it is midnight.

    Home Assistant does not arm a trigger whose helper tells no time yet.
    """
    replay.feed(WAKE, past(WAKE, "unavailable", restored=True))
    unarmed = await rehearse(triggers=[{"trigger": "time", "at": WAKE}])
    replay.feed(WAKE, past(WAKE, "x", has_date=False, has_time=False))
    automation = await rehearse(triggers=[{"trigger": "time", "at": WAKE}])
    moment = dt_util.as_local(dt_util.utc_from_timestamp(START + 3600))
    day = {"year": moment.year, "month": moment.month, "day": moment.day, "has_date": True}
    clock = {"hour": moment.hour, "minute": moment.minute, "second": 0, "has_time": True}
    replay.feed(WAKE, past(WAKE, "x", **day, **clock))
    replay.advance(START + 7200)
    replay.feed(WAKE, past(WAKE, "x", **day, has_time=False))
    replay.feed(WAKE, past(WAKE, "x", has_date=False, has_time=False))
    replay.feed(WAKE, None)
    replay.advance(START + 200_000)
    assert automation.finish().count == 1
    assert unarmed.finish().count == 0


async def test_start(replay: Replay, rehearse: Rehearse) -> None:
    """The start of Home Assistant sets off where it is seen."""
    replay.is_starting = True
    automation = await rehearse(triggers=[{"trigger": "homeassistant", "event": "start"}])
    replay.advance(START + 1)
    assert automation.finish().count == 1


def test_looks_wrong() -> None:
    """Runs that follow each other too soon are counted."""
    day = dt_util.as_utc(dt_util.now().replace(hour=12)).timestamp()
    outcome = SimulationOutcome([Ran(day + gap, 0, "") for gap in (0, 5, 100, 1000)], 4)
    assert looks_wrong(outcome) == ["once within 10 seconds of the run before"]


def test_room() -> None:
    """What says least goes first where an answer is too long."""
    outcome = SimulationOutcome([Ran(START + hour * 3600, 0, "") for hour in range(60)], 60)
    outcome.not_replayed = dict.fromkeys(f"{number}: {'x' * 280}" for number in range(9))
    answer = told(outcome, str)
    assert "by_weekday" not in answer
    assert answer["runs"] == 60


@pytest.mark.parametrize(
    ("parts", "runs"),
    [
        ({"trigger_variables": {"t": "{{ 5 }}"}, "triggers": [{**OPENED, "for": "{{ t }}"}]}, 0),
        ({"trigger_variables": {"t": "{{ 1 / 0 }}"}}, 0),
        ({"triggers": [{**OPENED, "for": "{{ 'x' }}"}]}, 0),
        ({"triggers": [{"trigger": "numeric_state", "entity_id": ROOM, "above": 5, "for": "{{ 'x' }}"}]}, 0),
        ({"triggers": [{"trigger": "numeric_state", "entity_id": ROOM, "above": 5}]}, 1),
        ({"triggers": [{"trigger": "template", "value_template": "{{ is_state('sensor.room', '7') }}"}]}, 1),
        (
            {
                "triggers": [
                    {"trigger": "template", "value_template": "{{ is_state('sensor.room', '7') }}", "for": "{{ [] }}"}
                ]
            },
            0,
        ),
        ({"triggers": [{"trigger": "template", "value_template": "{{ 1 / (states('sensor.room') | int(0)) }}"}]}, 0),
        ({"triggers": [{"trigger": "time_pattern", "seconds": "*"}]}, 20),
        ({"triggers": [{"trigger": "time_pattern", "hours": "/2"}]}, 0),
        ({"triggers": [{"trigger": "numeric_state", "entity_id": ROOM, "above": 5, "for": 5}]}, 0),
        ({"triggers": [{"trigger": "state", "entity_id": ROOM, "from": "1", "for": 5}]}, 1),
        ({"actions": [{"action": "{{ 5 }}"}, {"action": "homeassistant.turn_on", "target": {"entity_id": LAMP}}]}, 1),
        (
            {"actions": [{"repeat": {"count": 2, "sequence": [{"repeat": {"count": 2, "sequence": [{"delay": 1}]}}]}}]},
            1,
        ),
        ({"triggers": [{"trigger": "time", "at": "{{ '23:00:00' }}"}]}, 0),
        ({"triggers": [{"trigger": "time", "at": "{{ 'sensor.room' }}"}]}, 0),
    ],
)
async def test_triggers(replay: Replay, rehearse: Rehearse, parts: dict[str, Any], runs: int) -> None:
    """Those whose templates fail do nothing, as in life."""
    replay.feed(ROOM, past(ROOM, "1"))
    automation = await rehearse(**parts)
    open_door(replay)
    replay.feed(ROOM, past(ROOM, "7", replay.now))
    replay.feed(ROOM, past(ROOM, "unavailable", replay.now))
    replay.feed(ROOM, past(ROOM, "broken", replay.now))
    replay.advance(START + 20.5)
    assert automation.finish().count == runs


async def test_many(replay: Replay, rehearse: Rehearse) -> None:
    """Timers that were cancelled do not pile up, and neither do runs."""
    waiting = await rehearse(triggers=[{**OPENED, "for": {"hours": 10_000}}])
    for _ in range(3_000):
        open_door(replay)
    assert waiting.finish().count == 0
    assert len(replay._timers) < 2_500
    await rehearse(mode="parallel", max=2_000, actions=[{"delay": {"hours": 10}}])
    for _ in range(1_000):
        open_door(replay)
    with pytest.raises(NotReplayableError, match="1000 runs at the same time"):
        open_door(replay)


async def test_sensor_with_a_time(replay: Replay, rehearse: Rehearse) -> None:
    """One that is to come sets off, and one that is over, or that says none, does not."""
    automation = await rehearse(triggers=[{"trigger": "time", "at": [ROOM, {"entity_id": ROOM, "offset": "00:00:10"}]}])
    for state in (dt_util.utc_from_timestamp(START + 60).isoformat(), "soon", "unknown"):
        replay.feed(ROOM, past(ROOM, state, device_class="timestamp"))
        replay.advance(replay.now + 65)
    assert automation.finish().count == 1


async def test_what_is_gone(replay: Replay, rehearse: Rehearse) -> None:
    """What ceases to be there is not as it was for any time, and nobody comes into a zone that is not there."""
    waiting = await rehearse(triggers=[{"trigger": "state", "entity_id": LAMP, "to": "on", "for": 10}])
    coming = await rehearse(triggers=[{"trigger": "zone", "entity_id": LAMP, "zone": "zone.gone", "event": "enter"}])
    replay.feed(LAMP, past(LAMP, "on", latitude=1.0, longitude=1.0))
    replay.advance(START + 5)
    replay.feed(LAMP, past(LAMP, "on", latitude=2.0, longitude=2.0))
    replay.feed(LAMP, None)
    replay.advance(START + 20)
    assert (waiting.finish().count, coming.finish().count) == (0, 0)


async def test_time_with_an_offset(replay: Replay, rehearse: Rehearse) -> None:
    """A helper's time of the day counts with its offset, and as it was set last."""

    def set_to(seconds: float) -> None:
        moment = dt_util.as_local(dt_util.utc_from_timestamp(START + seconds))
        clock = {"hour": moment.hour, "minute": moment.minute, "second": moment.second, "has_time": True}
        replay.feed(WAKE, past(WAKE, "x", has_date=False, **clock))

    set_to(7200)
    at = {"entity_id": WAKE, "offset": "-00:30:00"}
    automation = await rehearse(triggers=[{"trigger": "time", "at": at}])
    set_to(3600)
    replay.advance(START + 1790)
    assert automation.outcome.count == 0
    replay.advance(START + 1810)
    replay.advance(START + 6000)
    assert automation.finish().count == 1


async def test_no_sun(hass: HomeAssistant, replay: Replay, rehearse: Rehearse) -> None:
    """Where the sun does not rise, nothing is after its rise."""
    hass.config.latitude = 89.0
    replay.advance(START + 90 * 86_400)
    automation = await rehearse(conditions=[{"condition": "sun", "after": "sunrise"}])
    open_door(replay)
    assert automation.finish().count == 0


async def test_stopped_while_it_waits(replay: Replay, rehearse: Rehearse) -> None:
    """What was armed is let go when Home Assistant stops."""
    template = {"trigger": "template", "value_template": "{{ is_state('sensor.room', '7') }}", "for": 10}
    automation = await rehearse(triggers=[template, {"trigger": "sun", "event": "sunset"}])
    replay.feed(ROOM, past(ROOM, "7", replay.now))
    automation.stop()
    replay.stop()
    replay.advance(START + 86_400)
    assert automation.finish().count == 0


async def test_at_once(replay: Replay, rehearse: Rehearse) -> None:
    """Of what is due at the same moment, triggers fire before runs go on, and a run ends before its own changes are heard."""
    own = {"trigger": "state", "entity_id": LAMP, "to": "on", "for": 7}
    switch = [{"action": f"light.turn_{state}", "target": {"entity_id": LAMP}} for state in ("on", "off")]
    lasting = await rehearse(triggers=[OPENED, own], mode="parallel", actions=[switch[0], {"delay": 7}, switch[1]])
    open_door(replay)
    replay.advance(START + 8.5)
    assert lasting.finish().count == 2
    replay.advance(START + 60)
    again = await rehearse(triggers=[OPENED, {**own, "for": 0}], actions=[switch[0]])
    open_door(replay)
    assert again.finish().count == 2


async def test_no_end(replay: Replay, rehearse: Rehearse) -> None:
    """What sets itself off without any time in between is not gone through for ever."""
    toggle = {"action": "light.toggle", "target": {"entity_id": LAMP}}
    await rehearse(triggers=[OPENED, {"trigger": "state", "entity_id": LAMP}], actions=[toggle])
    with pytest.raises(NotReplayableError, match="again and again"):
        open_door(replay)


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        ({"condition": "trigger", "id": "opened"}, 1),
        ({"condition": "trigger", "id": "closed"}, 0),
        ({"condition": "state", "entity_id": [ROOM, LAMP], "match": "any", "state": "on"}, 1),
        ({"condition": "state", "entity_id": [ROOM, FAN], "match": "any", "state": "on"}, 0),
        ({"condition": "state", "entity_id": FAN, "state": WAKE}, 1),
        ({"condition": "state", "entity_id": LAMP, "state": WAKE}, 0),
        ({"condition": "numeric_state", "entity_id": LAMP, "attribute": "level", "above": 4}, 1),
        ({"condition": "numeric_state", "entity_id": LAMP, "attribute": "level", "below": ROOM}, 0),
        ({"condition": "numeric_state", "entity_id": LAMP, "attribute": "colour", "above": 4}, 0),
        ({"condition": "time", "after": "00:00:00"}, 1),
        ({"condition": "time", "after": "23:59:59"}, 0),
        ({"condition": "time", "after": TIME}, 0),
        ({"condition": "time", "before": ROOM}, 0),
        ({"condition": "time", "weekday": "mon"}, 1),
        ({"condition": "time", "weekday": ["tue", "wed"]}, 0),
    ],
)
async def test_conditions_of_the_past(replay: Replay, rehearse: Rehearse, condition: dict[str, Any], runs: int) -> None:
    """What has no value holds nothing, as in life; the door opens on a Monday."""
    assert dt_util.as_local(dt_util.utc_from_timestamp(START)).weekday() == 0
    replay.feed(ROOM, past(ROOM, "unknown", device_class="timestamp"))
    replay.feed(TIME, past(TIME, "unknown"))
    replay.feed(LAMP, past(LAMP, "on", level=5))
    automation = await rehearse(triggers=[{**OPENED, "id": "opened"}], conditions=[condition])
    open_door(replay)
    assert automation.finish().count == runs


async def test_condition_of_another_kind(rehearse: Rehearse) -> None:
    """What cannot be asked of the past is named."""
    device = {"condition": "device", "device_id": "x", "domain": "light", "type": "is_on"}
    unchanged = patch(
        "homeassistant.helpers.condition.async_validate_condition_config", side_effect=lambda _, config: config
    )
    with unchanged, pytest.raises(NotReplayableError, match="a condition of the type 'device'"):
        await rehearse(conditions=[device])

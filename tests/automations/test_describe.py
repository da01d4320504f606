"""Tests of what is said of an automation in words."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.automations.describe import MAX_DIFF, MAX_IN_SHORT, AutomationDescriber, diff
from custom_components.extended_assist.automations.describe_values import SAYS_NOTHING
from custom_components.extended_assist.exposure.entities import Exposure
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from tests.helpers.automating import MOTION, PORCH, StartHome, start_home

__all__ = ["start_home"]

LEVEL, HIDDEN = "input_number.level", "input_boolean.zebra"
STATE = {"condition": "state", "entity_id": MOTION, "state": "on"}
DO = {"action": "input_boolean.turn_on", "target": {"entity_id": PORCH}}
DONE = "turn on Porch light (input_boolean.turn_on)"

TRIGGERS: list[tuple[dict[str, Any], str]] = [
    ({"trigger": "state", "entity_id": [MOTION, PORCH]}, "Motion and Porch light changes"),
    ({"trigger": "state", "entity_id": MOTION, "to": None, "not_from": "x"}, "Motion changes its state (not from x)"),
    ({"trigger": "state", "entity_id": MOTION, "from": "off", "to": ["on", "x"]}, "Motion turns on or x from off"),
    (
        {"platform": "state", "entity_id": MOTION, "to": "on", "for": "00:05:00", "id": "a"},
        "Motion turns on for 00:05:00 (id a)",
    ),
    ({"trigger": "state", "entity_id": MOTION, "to": "on", "for": "{{ 5 }}"}, "Motion turns on for {{ 5 }}"),
    ({"trigger": "state", "entity_id": MOTION, "to": True, "for": 90}, "Motion turns on for 90 s"),
    (
        {"trigger": "state", "entity_id": PORCH, "attribute": "icon", "from": None, "to": "b"},
        "the icon of Porch light turns b from nothing",
    ),
    ({"trigger": "numeric_state", "entity_id": LEVEL, "above": 5, "below": 9}, "Level is above 5 and below 9"),
    (
        {"trigger": "numeric_state", "entity_id": LEVEL, "value_template": "{{ 5 }}", "above": LEVEL},
        "Level is above Level (value template {{ 5 }})",
    ),
    ({"trigger": "time", "at": "{{ 5 }}"}, "it is {{ 5 }}"),
    (
        {"trigger": "time", "at": ["6:30:00", {"entity_id": LEVEL, "offset": {"hours": 1}}], "weekday": ["mon", "sun"]},
        "it is 6:30:00 or (entity id Level, offset 1 hours) (weekday mon and sun)",
    ),
    ({"trigger": "sun", "event": "sunset", "offset": "-00:30:00"}, "it is sunset (offset -00:30:00)"),
    ({"trigger": "time_pattern", "minutes": "/5"}, "the clock shows (minutes /5)"),
    ({"trigger": "zone", "entity_id": MOTION, "zone": LEVEL, "event": "leave"}, "Motion leaves Level"),
    ({"trigger": "template", "value_template": "{{ x }}"}, "{{ x }} becomes true"),
    ({"trigger": "homeassistant", "event": "start"}, "Home Assistant goes through start"),
    (
        {"trigger": "calendar", "entity_id": MOTION, "event": "end", "offset": "1:00"},
        "Motion calendar (event end, offset 1:00)",
    ),
    ({"trigger": "device", "type": "turned_on", "device_id": "x"}, "a device device (type turned_on)"),
    (
        {"trigger": "light.turned_on", "target": {"entity_id": PORCH}, "options": {"behavior": "first"}},
        "Porch light light: turned on (behavior first)",
    ),
    (
        {"triggers": [{"trigger": "homeassistant", "event": "start"}, {"trigger": "sun", "event": "sunset"}]},
        "(Home Assistant goes through start or it is sunset)",
    ),
    ({"trigger": "sun", "event": "sunset", "enabled": False}, "[switched off: it is sunset]"),
    ({"trigger": "sun", "event": "sunset", "enabled": "{{ x }}"}, "[only where {{ x }}: it is sunset]"),
    ({"trigger": "state", "entity_id": [MOTION, HIDDEN], "to": "secret"}, "something not exposed"),
    ({"trigger": "numeric_state", "entity_id": LEVEL, "above": HIDDEN}, "something not exposed"),
]
CONDITIONS: list[tuple[Any, str]] = [
    (STATE, "Motion is on"),
    (STATE | {"for": {"minutes": 5, "seconds": 0}}, "Motion is on for 5 minutes"),
    (STATE | {"entity_id": [MOTION, PORCH], "match": "any"}, "any of Motion and Porch light is on"),
    (STATE | {"attribute": "icon", "state": ["a", "b"]}, "the icon of Motion is a or b"),
    ("{{ x }}", "{{ x }} is true"),
    ({"condition": "template", "value_template": "{{ x }}"}, "{{ x }} is true"),
    ({"condition": "numeric_state", "entity_id": LEVEL, "below": 5}, "Level is below 5"),
    ({"condition": "numeric_state", "entity_id": LEVEL}, "Level is a number"),
    ({"condition": "time", "after": "1:00", "weekday": ["mon", "tue"]}, "it is after 1:00 and on mon or tue"),
    (
        {"condition": "sun", "before": "sunrise", "before_offset": "-1:00"},
        "it is before sunrise (before offset -1:00)",
    ),
    ({"condition": "zone", "entity_id": MOTION, "zone": LEVEL}, "Motion is in Level"),
    ({"condition": "trigger", "id": ["x", "y"]}, "it was set off by x or y"),
    ({"or": [STATE, {"not": [STATE]}]}, "(Motion is on or not (Motion is on))"),
    ({"condition": "and", "conditions": [STATE, STATE]}, "(Motion is on and Motion is on)"),
    ({"condition": "light.is_on", "target": {"area_id": "attic"}}, "an area light: is on"),
    (STATE | {"entity_id": HIDDEN}, "something not exposed"),
]
STEPS: list[tuple[dict[str, Any], str]] = [
    (DO, DONE),
    ({"service": "light.turn_off", "entity_id": PORCH}, "turn off Porch light (light.turn_off)"),
    (
        {"action": "climate.set_temperature", "target": "{{ x }}", "data": {"temperature": 35, "entity_id": PORCH}},
        "set temperature Porch light and {{ x }} (climate.set_temperature) with temperature 35",
    ),
    (
        {
            "action": "light.turn_on",
            "target": {"label_id": "x", "floor_id": "y", "device_id": "{{ z }}", "entity_id": "all"},
        },
        "turn on all, a floor, a label and {{ z }} (light.turn_on)",
    ),
    ({"action": "notify.phone", "data": {"message": "Tea"}}, "phone (notify.phone) with message Tea"),
    ({"action": "notify.phone", "data": "{{ x }}"}, "phone (notify.phone) with {{ x }}"),
    ({"action": "{{ x }}"}, "{{ x }} ({{ x }})"),
    ({"delay": {"hours": 1, "minutes": 30}}, "wait 1 hours 30 minutes"),
    ({"delay": {"hours": 0}}, "wait no time"),
    ({"delay": "{{ x }}"}, "wait {{ x }}"),
    ({"wait_template": "{{ x }}", "timeout": 5}, "wait until {{ x }} (timeout 5 s)"),
    (
        {"wait_for_trigger": [{"trigger": "sun", "event": "sunset"}], "continue_on_timeout": False},
        "wait until it is sunset (continue on timeout no)",
    ),
    ({"variables": {"a": [], "b": None}}, "set (a nothing, b nothing)"),
    ({"stop": "Enough", "error": True}, "stop with 'Enough' (error yes)"),
    ({"set_conversation_response": "Hello"}, "answer Hello"),
    ({"event": "knock", "event_data": {"how": "often"}}, "fire the event knock (event data (how often))"),
    (
        {
            "choose": [{"conditions": STATE, "sequence": DO}, {"conditions": "{{ x }}", "sequence": [], "y": 1}],
            "default": [{"delay": 1}],
        },
        f"choose (if Motion is on, {DONE}; if {{{{ x }}}} is true, , y 1, else (wait 1 s))",
    ),
    (
        {"if": [STATE], "then": [DO], "else": [{"stop": "x"}]},
        f"if Motion is on, then ({DONE}), else (stop with 'x')",
    ),
    ({"sequence": [{"delay": 5}, DO]}, f"(wait 5 s, then {DONE})"),
    ({"parallel": [DO, {"sequence": [DO]}]}, f"at the same time ({DONE}; ({DONE}))"),
    ({"repeat": {"count": 3, "sequence": DO}}, f"repeat 3 times: ({DONE})"),
    ({"repeat": {"while": STATE, "sequence": DO}}, f"repeat while Motion is on: ({DONE})"),
    ({"repeat": {"until": [STATE], "sequence": DO}}, f"repeat until Motion is on: ({DONE})"),
    ({"repeat": {"for_each": ["a", "b"], "sequence": DO}}, f"repeat for each of a and b: ({DONE})"),
    (STATE, "go on if Motion is on"),
    ({"scene": PORCH}, "turn on Porch light"),
    ({"device_id": "x", "domain": "light", "type": "turn_on"}, "turn on a device (domain light)"),
    (DO | {"enabled": False, "continue_on_error": True}, f"[switched off: {DONE} (continue on error yes)]"),
    (DO | {"target": {"entity_id": HIDDEN}, "data": {"code": 1}}, "something not exposed"),
    ({"action": HIDDEN}, "something not exposed"),
    (
        {"if": [STATE | {"entity_id": HIDDEN}], "then": [DO]},
        f"if something not exposed, then ({DONE})",
    ),
]
HIDES = ("something not exposed", "an area", "a label", "a device")
SEEN_TRIGGERS, SEEN_CONDITIONS, SEEN_STEPS = (
    [part for part, words in parts if not any(told in words for told in HIDES)]
    for parts in (TRIGGERS, CONDITIONS, STEPS)
)
"""Parts of which nothing is left out."""


@pytest.mark.parametrize(
    ("config", "words"),
    [
        *(({"triggers": [part]}, f"When {words}, nothing") for part, words in TRIGGERS),
        *(({"conditions": [part]}, f"When it is run, if {words}, nothing") for part, words in CONDITIONS),
        *(({"actions": [part]}, f"When it is run, {words}") for part, words in STEPS),
        ({"trigger": [], "action": DO}, f"When it is run, {DONE}"),
        (
            {"actions": [{"delay": number} for number in range(1, 6)], "mode": "queued", "max": 3},
            "When it is run, wait 1 s, then wait 2 s, then wait 3 s, then wait 4 s, then wait 5 s, mode queued, max 3",
        ),
    ],
)
async def test_account(hass: HomeAssistant, start_home: StartHome, config: dict[str, Any], words: str) -> None:
    """Each part is said in words, with names, and without what is hidden."""
    await start_home()
    assert AutomationDescriber(hass, Exposure(hass, "conversation")).describe(config) == words


async def test_places(hass: HomeAssistant, start_home: StartHome) -> None:
    """A place is named where it holds something exposed; what has a name twice is told with its id."""
    await start_home()
    registry = er.async_get(hass)
    floor, label = fr.async_get(hass).async_create("Upstairs"), lr.async_get(hass).async_create("Evening")
    room = ar.async_get(hass).async_create("Attic Room", floor_id=floor.floor_id)
    entry = MockConfigEntry(domain="test")
    entry.add_to_hass(hass)
    devices = [
        dr.async_get(hass).async_get_or_create(
            config_entry_id=entry.entry_id, identifiers={("test", str(number))}, name="Box"
        )
        for number in range(2)
    ]
    for number, device in enumerate(devices):
        added = registry.async_get_or_create(
            "light", "test", str(number), suggested_object_id=f"box_{number}", device_id=device.id, original_name="Box"
        )
        dr.async_get(hass).async_update_device(device.id, area_id=room.id)
        registry.async_update_entity(added.entity_id, labels={label.label_id})
        hass.states.async_set(added.entity_id, "on", {"friendly_name": "Box"})
        async_expose_entity(hass, "conversation", added.entity_id, True)
    target = {
        "area_id": room.id,
        "floor_id": floor.floor_id,
        "label_id": label.label_id,
        "device_id": devices[0].id,
        "entity_id": ["light.box_0", "light.box_1"],
    }
    words = AutomationDescriber(hass, Exposure(hass, "conversation")).describe(
        {"actions": [{"action": "light.turn_on", "target": target}]}
    )
    assert words == (
        "When it is run, turn on Box (light.box_0), Box (light.box_1), all of Attic Room, all of the floor Upstairs, all that is "
        f"labelled Evening and the device Box ({devices[0].id}) (light.turn_on)"
    )


async def test_whole(hass: HomeAssistant, start_home: StartHome) -> None:
    """Whatever value of an automation changes, its words change, or it is known to change nothing of what it does."""
    await start_home()
    describer = AutomationDescriber(hass, Exposure(hass, "conversation"))
    for seed in range(200):
        config = varied(Random(seed))
        words = describer.describe(config)
        assert "something not exposed" not in words
        changed = list(_with_one_change(config))
        assert len(changed) > 5
        assert [path for path, other in changed if describer.describe(other) == words] == [], seed


def varied(random: Random) -> dict[str, Any]:
    """Return an automation of random parts, in one another."""
    return {
        "triggers": random.choices(SEEN_TRIGGERS, k=random.randint(1, 2)),
        "conditions": random.choices(SEEN_CONDITIONS, k=random.randint(0, 2)),
        "actions": [_step(random, 2)],
        "mode": random.choice(["single", "restart", "queued"]),
        "max": 4,
        "max_exceeded": "silent",
        "initial_state": True,
        "variables": {"a": {"b": [1, {"c": 2.5}]}, "d": "{{ 5 }}"},
    }


def _step(random: Random, depth: int) -> dict[str, Any]:
    """Return a random step with steps in it."""
    if not depth or random.random() < 0.4:
        return random.choice(SEEN_STEPS) | random.choice([{}, {}, {"enabled": "{{ x }}"}, {"continue_on_error": True}])
    inner = [_step(random, depth - 1) for _ in range(random.randint(1, 2))]
    more = [_step(random, depth - 1)]
    conditions = random.choices(SEEN_CONDITIONS, k=2)
    return random.choice(
        [
            {"if": conditions, "then": inner, "else": more},
            {
                "choose": [{"conditions": conditions, "sequence": inner}, {"conditions": [], "sequence": more}],
                "default": inner,
            },
            {"repeat": {"count": 4, "sequence": inner}},
            {"repeat": {"while": conditions, "sequence": inner}},
            {"repeat": {"until": conditions, "sequence": more}},
            {"repeat": {"for_each": ["a", {"b": 5}], "sequence": inner}},
            {"parallel": [{"sequence": inner}, *more]},
            {"sequence": inner},
            {
                "wait_for_trigger": random.choices(SEEN_TRIGGERS, k=2),
                "timeout": {"minutes": 5},
                "continue_on_timeout": False,
            },
        ]
    )


def _with_one_change(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Return a value once for each leaf in it, which is changed, with the path of that leaf."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in SAYS_NOTHING or (key == "id" and path):
                yield from ((at, {**value, key: other}) for at, other in _with_one_change(item, f"{path}/{key}"))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            for at, other in _with_one_change(item, f"{path}/{index}"):
                yield at, [*value[:index], other, *value[index + 1 :]]
    elif isinstance(value, bool):
        yield path, not value
    elif isinstance(value, int | float):
        yield path, value + 1
    elif value in (MOTION, PORCH, LEVEL):
        yield path, "input_boolean.lamp"
    else:
        yield path, f"{value}x"


async def test_secrets(hass: HomeAssistant, start_home: StartHome) -> None:
    """Codes and passwords are no words."""
    await start_home()
    data = {"code": "4711", "nested": [{"api_password": "4711"}]}
    config = {"actions": [{"action": "alarm_control_panel.alarm_disarm", "data": data}]}
    assert AutomationDescriber(hass, Exposure(hass, "conversation")).describe(config) == (
        "When it is run, alarm disarm (alarm_control_panel.alarm_disarm) with code (secret), nested (api password (secret))"
    )


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            {"variables": {"scenes": {1: "a", 2: {3: "b"}}}},
            "When it is run, nothing, variables (scenes (1 a, 2 (3 b)))",
        ),
        ({"actions": [{"choose": [1, {"conditions": []}]}]}, "When it is run, choose (1; if , )"),
        ({"triggers": [{1: 2}], "actions": "x"}, "When something (1 2), x is true"),
        (
            {"actions": [{"repeat": "x"}, {"parallel": [[{"delay": 1}]]}]},
            "When it is run, repeat x, then at the same time (wait 1 s)",
        ),
    ],
)
async def test_as_people_write(hass: HomeAssistant, start_home: StartHome, config: Any, words: str) -> None:
    """Numbers as names, and what Home Assistant would not load, keep no automation from being told."""
    await start_home()
    assert AutomationDescriber(hass, Exposure(hass, "conversation")).describe(config) == words


async def test_long_ones(hass: HomeAssistant, start_home: StartHome) -> None:
    """In a list it is cut, and so is what is shown; in a question it is whole."""
    await start_home()
    config = {"triggers": [{"trigger": "state", "entity_id": MOTION, "to": "x" * 1000}]}
    describer = AutomationDescriber(hass, Exposure(hass, "conversation"))
    assert len(describer.in_short(config)) == MAX_IN_SHORT
    assert "x" * 1000 in describer.describe(config)
    text = diff(None, {"alias": "A", "variables": {"x": "long " * 2000}})
    assert text.startswith("+alias: A\n+variables:\n+  x: 'long")
    assert text.endswith(" more characters)")
    assert len(text) < MAX_DIFF + 50


def test_prose_pushes_nothing_out() -> None:
    """Long names and descriptions, the automation's and its steps', leave room for what is done, and say what is left out."""
    prose = "sweet words " * 2_000
    steps = [{"alias": prose, "action": "light.turn_on"}, {"action": "lock.unlock"}]
    text = diff(None, {"alias": "A", "description": prose, "actions": steps})
    assert "+- action: lock.unlock" in text
    assert text.count("[cut: 23800 more characters;") == 2
    assert len(text) < MAX_DIFF

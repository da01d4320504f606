"""Tests of what is said of an automation in one line."""

from typing import Any

import pytest

from custom_components.extended_assist.automations.describe import MAX_DESCRIPTION, MAX_DIFF, AutomationDescriber, diff
from custom_components.extended_assist.exposure import Exposure
from homeassistant.core import HomeAssistant
from tests.automating import MOTION, PORCH, StartHome, start_home

__all__ = ["start_home"]

LEVEL, HIDDEN = "input_number.level", "input_boolean.zebra"
STATE = {"condition": "state", "entity_id": MOTION, "state": "on"}
DO = {"action": "input_boolean.turn_on", "target": {"entity_id": PORCH}}

TRIGGERS: list[tuple[dict[str, Any], str]] = [
    ({"trigger": "state", "entity_id": [MOTION, PORCH]}, "Motion and Porch light changes"),
    ({"trigger": "state", "entity_id": MOTION, "from": "off", "to": ["on", "x"]}, "Motion turns on or x from off"),
    ({"platform": "state", "entity_id": MOTION, "to": "on", "for": "00:05:00"}, "Motion turns on for 00:05:00"),
    ({"trigger": "state", "entity_id": MOTION, "to": "on", "for": "{{ 5 }}"}, "Motion turns on for a computed time"),
    ({"trigger": "state", "entity_id": MOTION, "to": True, "for": 90}, "Motion turns on for 90 s"),
    ({"trigger": "numeric_state", "entity_id": LEVEL, "above": 5, "below": 9}, "Level is above 5 and below 9"),
    ({"trigger": "time", "at": "{{ 5 }}"}, "it is a computed value"),
    ({"trigger": "time", "at": ["6:30:00", {"entity_id": "x.y"}]}, "it is 6:30:00 or a time of an entity"),
    ({"trigger": "time", "at": {"entity_id": "input_datetime.x", "offset": "1:00"}}, "it is a time of an entity"),
    ({"trigger": "sun", "event": "sunset", "offset": "-00:30:00"}, "it is sunset (-00:30:00)"),
    ({"trigger": "time_pattern", "minutes": "/5"}, "the clock shows minutes /5"),
    ({"trigger": "zone", "entity_id": MOTION, "event": "leave"}, "Motion leaves a zone"),
    ({"trigger": "template", "value_template": "{{ x }}"}, "a template becomes true"),
    ({"trigger": "homeassistant", "event": "start"}, "Home Assistant goes through start"),
    ({"trigger": "device", "type": "turned_on", "device_id": "x"}, "a device reports turned on"),
    ({"trigger": "light.turned_on", "target": {"entity_id": PORCH}}, "Porch light light: turned on"),
    ({"trigger": "state", "entity_id": [MOTION, HIDDEN], "to": "secret"}, "something not exposed"),
    ({"trigger": "numeric_state", "entity_id": LEVEL, "above": HIDDEN}, "something not exposed"),
]
CONDITIONS: list[tuple[Any, str]] = [
    (STATE, "Motion is on"),
    (STATE | {"for": {"minutes": 5, "seconds": 0}}, "Motion is on for 5 minutes"),
    ("{{ x }}", "a template is true"),
    ({"condition": "template", "value_template": "{{ x }}"}, "a template is true"),
    ({"condition": "numeric_state", "entity_id": LEVEL, "below": 5}, "Level is below 5"),
    ({"condition": "time", "after": "1:00", "weekday": ["mon", "tue"]}, "it is after 1:00 and on mon or tue"),
    ({"condition": "zone", "entity_id": MOTION, "zone": "zone.home"}, "Motion is in a zone"),
    ({"condition": "trigger", "id": "x"}, "a certain trigger set it off"),
    ({"or": [STATE, {"not": [STATE]}]}, "(Motion is on or not (Motion is on))"),
    ({"condition": "and", "conditions": [STATE, STATE]}, "(Motion is on and Motion is on)"),
    ({"condition": "light.is_on", "target": {"area_id": "kitchen"}}, "all of Kitchen light: is on"),
    (STATE | {"entity_id": HIDDEN}, "something not exposed"),
]
STEPS: list[tuple[dict[str, Any], str]] = [
    (DO, "turn on Porch light (input_boolean.turn_on)"),
    ({"service": "light.turn_off", "entity_id": PORCH}, "turn off Porch light (light.turn_off)"),
    (
        {"action": "light.turn_on", "target": {"area_id": ["kitchen", "attic"]}},
        "turn on all of Kitchen and an area (light.turn_on)",
    ),
    (
        {"action": "light.turn_on", "target": {"label_id": "x", "floor_id": "y"}},
        "turn on a floor and a label (light.turn_on)",
    ),
    ({"action": "notify.phone", "data": {"message": "secret"}}, "phone (notify.phone)"),
    ({"delay": {"hours": 1, "minutes": 30}}, "wait 1 hours 30 minutes"),
    ({"wait_template": "{{ x }}"}, "wait until a template is true"),
    ({"choose": [{}, {}]}, "choose one of 2 ways"),
    ({"if": [STATE], "then": [DO]}, "if Motion is on, turn on Porch light (input_boolean.turn_on)"),
    ({"sequence": [{"delay": 5}, DO]}, "wait 5 s, then turn on Porch light (input_boolean.turn_on)"),
    (STATE, "go on if Motion is on"),
    ({"scene": PORCH}, "turn on Porch light"),
    ({"device_id": "x", "type": "turn_on"}, "turn on with a device"),
    (DO | {"target": {"entity_id": HIDDEN}}, "something not exposed"),
    ({"action": HIDDEN}, "something not exposed"),
]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        *(({"triggers": [part]}, f"When {words}, nothing") for part, words in TRIGGERS),
        *(({"conditions": [part]}, f"When it is run, if {words}, nothing") for part, words in CONDITIONS),
        *(({"actions": [part]}, f"When it is run, {words}") for part, words in STEPS),
        ({"trigger": [], "action": DO}, f"When it is run, {STEPS[0][1]}"),
        (
            {"actions": [{"delay": number} for number in range(1, 7)]},
            "When it is run, wait 1 s, then wait 2 s, then wait 3 s, then 3 more",
        ),
    ],
)
async def test_account(hass: HomeAssistant, start_home: StartHome, config: dict[str, Any], words: str) -> None:
    """Each part is said in words, with names, and without what is hidden."""
    await start_home()
    assert AutomationDescriber(Exposure(hass, "conversation")).describe(config) == words


async def test_long_ones(hass: HomeAssistant, start_home: StartHome) -> None:
    """What is too long to be heard or shown is cut."""
    await start_home()
    config = {"triggers": [{"trigger": "state", "entity_id": MOTION, "to": "x" * 1000}]}
    assert len(AutomationDescriber(Exposure(hass, "conversation")).describe(config)) == MAX_DESCRIPTION
    text = diff(None, {"alias": "A", "description": "long " * 2000})
    assert text.startswith("+alias: A\n+description: 'long")
    assert text.endswith(" more characters)")
    assert len(text) < MAX_DIFF + 50

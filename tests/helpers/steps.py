"""Steps of scripts for the house in acting.py."""

from typing import Any

PARTY, LEVEL, NOTE, BED = "input_boolean.party", "input_number.level", "input_text.note", "light.bed_light"
ON = {PARTY: "on"}
OFF = {PARTY: "off"}
SHORT = {"milliseconds": 5}


def act(action: str, entity_id: Any = None, /, **data: Any) -> dict[str, Any]:
    """Return a step that performs an action."""
    step: dict[str, Any] = {"action": action}
    return step | ({"target": {"entity_id": entity_id}} if entity_id else {}) | ({"data": data} if data else {})


def level(value: Any) -> dict[str, Any]:
    """Return a step that sets the number."""
    return act("input_number.set_value", LEVEL, value=value)


def answer(value: Any) -> list[dict[str, Any]]:
    """Return the steps that return a value."""
    return [{"variables": {"answer": {"value": value}}}, {"stop": "Done", "response_variable": "answer"}]


PARTY_ON = act("input_boolean.turn_on", PARTY)
ADD = level("{{ states('input_number.level') | float + 1 }}")
IS_ON = {"condition": "state", "entity_id": PARTY, "state": "on"}
IS_OFF = {"condition": "state", "entity_id": PARTY, "state": "off"}
TRIGGERS = [
    {"platform": "numeric_state", "entity_id": LEVEL, "above": 5, "id": "high"},
    {"triggers": [{"trigger": "light.turned_on", "target": {"entity_id": BED}, "id": "lit"}]},
    {
        "trigger": "template",
        "value_template": "{{ is_state('input_boolean.party', 'on') }}",
    },
    {"trigger": "time_pattern", "hours": "/5"},
    {"trigger": "time", "at": "03:04:05"},
    {"trigger": "sun", "event": "sunset"},
]

"""The entities that a habit can control or follow, and the action for each state."""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.core import State

OFF: Final = "off"
CLOSED: Final = "closed"
_ON_OFF: Final = {"on": "on", OFF: OFF}
_STATES: Final[Mapping[str, Mapping[str, str]]] = {
    "binary_sensor": _ON_OFF,
    "cover": {"open": "open", "opening": "open", CLOSED: CLOSED, "closing": CLOSED},
    "fan": _ON_OFF,
    "input_boolean": _ON_OFF,
    "light": _ON_OFF,
    "media_player": {
        OFF: OFF,
        "standby": OFF,
        **dict.fromkeys(("on", "idle", "playing", "paused", "buffering"), "on"),
    },
    "switch": _ON_OFF,
}
"""The meaning of each state; others are ignored."""
_MODES: Final = frozenset({"off", "heat", "cool", "heat_cool", "auto", "dry", "fan_only"})
SETTABLE: Final = frozenset({"climate", "cover", "fan", "input_boolean", "light", "media_player", "switch"})
"""Domains that people control."""
LEADING: Final = SETTABLE - {"climate"} | {"binary_sensor"}
"""Domains of events before an action."""
LEFT_ON: Final = frozenset({"light", "media_player", "switch"})
"""Domains that nobody needs while everybody sleeps; a fan or a heater may be meant for the night."""
_PRESENCE: Final = frozenset({"motion", "moving", "occupancy", "presence"})
_NOISE: Final = frozenset({"battery", "connectivity", "update"})
"""Device classes of sensors that report on devices and not on people."""


def meant(domain: str, state: str | None) -> str | None:
    """Return the plain meaning of a state, or None if it is ignored."""
    if domain == "climate":
        return state if state in _MODES else None
    return _STATES[domain].get(state or "")


def is_leading(state: State, *, presence: bool) -> bool:
    """Return whether a change of an entity may be the event before a habit."""
    kind = state.attributes.get("device_class")
    return state.domain in LEADING and kind not in _NOISE and (presence or kind not in _PRESENCE)


def states_of(entity_id: str) -> frozenset[str]:
    """Return the states of an entity that a habit can set."""
    domain = entity_id.partition(".")[0]
    return _MODES if domain == "climate" else frozenset(_STATES[domain].values())


def action(entity_id: str, state: str) -> dict[str, Any]:
    """Return the step that sets an entity."""
    domain, target = entity_id.partition(".")[0], {"entity_id": entity_id}
    if domain == "climate":
        return {"action": "climate.set_hvac_mode", "target": target, "data": {"hvac_mode": state}}
    verb = {"open": "open_cover", "closed": "close_cover"}.get(state, f"turn_{state}")
    return {"action": f"{domain}.{verb}", "target": target}


def raw_states(domain: str, state: str) -> list[str] | str:
    """Return the recorded states with a plain meaning, for a trigger."""
    if domain == "media_player":
        return [raw for raw, counted in _STATES[domain].items() if counted == state]
    return state


def words(name: str, domain: str, state: str) -> str:
    """Return the words for an action on an entity."""
    if domain == "climate":
        return f"set {name} to {state}"
    if domain == "binary_sensor":
        return f"{name} became {state}"
    return {"open": f"opened {name}", "closed": f"closed {name}"}.get(state, f"turned {state} {name}")

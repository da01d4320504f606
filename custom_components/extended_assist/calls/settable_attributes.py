"""The table of the settable aspects of entities, and the one action that sets each.

Recording, outcomes and undo use this table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.components.cover import CoverEntityFeature
from homeassistant.components.valve.const import ValveEntityFeature
from homeassistant.const import ATTR_SUPPORTED_FEATURES, STATE_OFF, STATE_ON, STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import State

from ..exposure.domains import NUMBERS

STATE = "state"
"""The key for an entity's state among its attribute names."""
POSITION = "current_position"
TILT = "current_tilt_position"
NOT_KNOWN = frozenset({STATE_UNAVAILABLE, STATE_UNKNOWN})

type Values = Mapping[str, Any]
type Step = tuple[str, dict[str, Any]]
"""An action of the entity's domain, and its data."""
type Setter = Callable[[Values, State], Step | None]
"""Returns the step that sets values, for an entity in its current state; None if no action does."""

_COLOURS = {
    "color_temp": "color_temp_kelvin",
    "hs": "hs_color",
    "rgb": "rgb_color",
    "rgbw": "rgbw_color",
    "rgbww": "rgbww_color",
    "xy": "xy_color",
}
"""For each colour mode, the attribute that sets it; the other colour attributes follow from it."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """A property of an entity that one action sets: its state, or attributes that belong together."""

    name: str
    reads: tuple[str, ...]
    setter: Setter
    tolerance: float = 0
    """The difference from the set value that counts as equal."""
    only_on: bool = False
    """True if the values have no meaning while the entity is off."""

    def read(self, state: State) -> dict[str, Any]:
        """Return the aspect's values in a state; of colours, only the value of the current mode."""
        if self.only_on and state.state == STATE_OFF:
            return dict.fromkeys(self.reads)
        values = {name: value_of(state, name) for name in self.reads}
        if self.name == _COLOUR:
            mode = values["color_mode"]
            return {"color_mode": mode, **({name: values[name]} if (name := _COLOURS.get(mode)) else {})}
        return values

    def same(self, one: Values, other: Values) -> bool:
        """Return whether values are equal within the tolerance."""
        return _same(one, other, self.tolerance)


def value_of(state: State, name: str) -> Any:
    """Return an attribute, or the state; the state of a numeric domain as a number."""
    if name != STATE:
        return state.attributes.get(name)
    if state.domain in NUMBERS and state.state not in NOT_KNOWN:
        return _number(state.state)
    return state.state


def is_empty(values: Values) -> bool:
    """Return whether all values are missing, unavailable or unknown."""
    return all(value is None or value in NOT_KNOWN for value in values.values() if not isinstance(value, list | tuple))


def _number(text: str) -> Any:
    """Return a text as a number if possible, otherwise the text."""
    try:
        return float(text)
    except ValueError:
        return text


def _same(one: Any, other: Any, tolerance: float) -> bool:
    """Return whether two values are equal within a tolerance, also inside lists and mappings."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(_same(one.get(key), other.get(key), tolerance) for key in one.keys() | other.keys())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(_same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= tolerance + 1e-9
    return bool(one == other)


def _puts(service: str, **fields: str) -> Setter:
    """Return a setter that passes values to the fields of one action, without missing values."""

    def put(values: Values, _: State) -> Step | None:
        data = {field: value for field, name in fields.items() if (value := values.get(name)) is not None}
        return (service, data) if data else None

    return put


def _by(**services: str) -> Setter:
    """Return a setter that calls the action for each state."""

    def put(values: Values, _: State) -> Step | None:
        service = services.get(values[STATE])
        return (service, {}) if service else None

    return put


def _colour(values: Values, _: State) -> Step | None:
    name = _COLOURS.get(values["color_mode"])
    return ("turn_on", {name: values[name]}) if name and values.get(name) is not None else None


def _effect(values: Values, now: State) -> Step | None:
    """Return the step that sets an effect; None if the light does not list it."""
    effect = values["effect"]
    return ("turn_on", {"effect": effect}) if effect in (now.attributes.get("effect_list") or ()) else None


def _positions(service: str, opens: str, closes: str, feature: int) -> Setter:
    """Return a setter for a position; an entity without positions can only open or close fully."""

    def put(values: Values, now: State) -> Step | None:
        position = values[POSITION]
        if now.attributes.get(ATTR_SUPPORTED_FEATURES, 0) & feature and position is not None:
            return service, {"position": position}
        return {0: (closes, {}), 100: (opens, {})}.get(position)

    return put


def _player(values: Values, now: State) -> Step | None:
    """Return the step that sets a player's state; a player that is off is only turned on first."""
    wanted = values[STATE]
    if now.state in (STATE_OFF, "standby") and wanted not in (STATE_OFF, "standby"):
        return "turn_on", {}
    return _by(off="turn_off", standby="turn_off", playing="media_play", paused="media_pause", idle="media_stop")(
        values, now
    )


def _members(values: Values, now: State) -> Step | None:
    """Return the step that removes a player from a group if it was alone before; a former leader is unknown."""
    alone = not set(values["group_members"] or ()) - {now.entity_id}
    return ("unjoin", {}) if alone else None


def _timer(values: Values, now: State) -> Step | None:
    """Return the step that sets a timer's state if its remaining time is known."""
    return {
        ("idle", "active"): ("cancel", {}),
        ("idle", "paused"): ("cancel", {}),
        ("active", "paused"): ("start", {}),
        ("paused", "active"): ("pause", {}),
    }.get((values[STATE], now.state))


def _moment(values: Values, now: State) -> Step | None:
    """Return the step that sets a date, a time or both, by the helper's kind."""
    has = bool(now.attributes.get("has_date")), bool(now.attributes.get("has_time"))
    field = {(True, True): "datetime", (True, False): "date", (False, True): "time"}.get(has)
    return ("set_datetime", {field: values[STATE]}) if field else None


def _away(values: Values, _: State) -> Step | None:
    away = values["away_mode"]
    return ("set_away_mode", {"away_mode": away == STATE_ON}) if away else None


def _motion(values: Values, _: State) -> Step | None:
    return ("enable_motion_detection" if values["motion_detection"] else "disable_motion_detection"), {}


def _skipped(values: Values, now: State) -> Step | None:
    """Return the step that skips the latest version again, or clears the skipped version."""
    skipped = values["skipped_version"]
    if skipped is None:
        return "clear_skipped", {}
    return ("skip", {}) if skipped == now.attributes.get("latest_version") else None


def _one(name: str, setter: Setter, tolerance: float = 0, *, only_on: bool = False) -> Aspect:
    return Aspect(name, (name,), setter, tolerance, only_on)


_COLOUR = "colour"
_ON_OFF = _one(STATE, _by(on="turn_on", off="turn_off"))
_TEMPERATURES = ("temperature", "target_temp_low", "target_temp_high")
_TEMPERATURE = Aspect(
    "temperature", _TEMPERATURES, _puts("set_temperature", **{name: name for name in _TEMPERATURES}), 0.5
)

ASPECTS: Final[Mapping[str, tuple[Aspect, ...]]] = {
    **dict.fromkeys(("automation", "input_boolean", "remote", "siren", "switch"), (_ON_OFF,)),
    **dict.fromkeys(("input_number", "number"), (_one(STATE, _puts("set_value", value=STATE), 1e-6),)),
    **dict.fromkeys(("input_select", "select"), (_one(STATE, _puts("select_option", option=STATE)),)),
    **dict.fromkeys(("input_text", "text"), (_one(STATE, _puts("set_value", value=STATE)),)),
    **{kind: (_one(STATE, _puts("set_value", **{kind: STATE})),) for kind in ("date", "datetime", "time")},
    "alarm_control_panel": (
        _one(
            STATE,
            _by(
                disarmed="alarm_disarm",
                **{
                    f"armed_{how}": f"alarm_arm_{how}" for how in ("away", "custom_bypass", "home", "night", "vacation")
                },
            ),
        ),
    ),
    "camera": (_one("motion_detection", _motion),),
    "climate": (
        _one(STATE, _puts("set_hvac_mode", hvac_mode=STATE)),
        _TEMPERATURE,
        _one("humidity", _puts("set_humidity", humidity="humidity"), 1),
        *(
            _one(name, _puts(f"set_{name}", **{name: name}))
            for name in ("preset_mode", "fan_mode", "swing_mode", "swing_horizontal_mode")
        ),
    ),
    "counter": (_one(STATE, lambda values, _: ("set_value", {"value": int(values[STATE])})),),
    "cover": (
        _one(
            POSITION, _positions("set_cover_position", "open_cover", "close_cover", CoverEntityFeature.SET_POSITION), 5
        ),
        _one(STATE, _by(open="open_cover", closed="close_cover")),
        _one("current_tilt_position", _puts("set_cover_tilt_position", tilt_position="current_tilt_position"), 5),
    ),
    "fan": (
        _ON_OFF,
        _one("percentage", _puts("set_percentage", percentage="percentage"), 1, only_on=True),
        _one("preset_mode", _puts("set_preset_mode", preset_mode="preset_mode"), only_on=True),
        _one("direction", _puts("set_direction", direction="direction")),
        _one("oscillating", _puts("oscillate", oscillating="oscillating")),
    ),
    "humidifier": (
        _ON_OFF,
        _one("humidity", _puts("set_humidity", humidity="humidity"), 1),
        _one("mode", _puts("set_mode", mode="mode")),
    ),
    "input_datetime": (_one(STATE, _moment),),
    "lawn_mower": (_one(STATE, _by(mowing="start_mowing", docked="dock", returning="dock", paused="pause")),),
    "light": (
        _ON_OFF,
        _one("brightness", _puts("turn_on", brightness="brightness"), 3),
        Aspect(_COLOUR, ("color_mode", *_COLOURS.values()), _colour, 3),
        _one("effect", _effect),
    ),
    "lock": (_one(STATE, _by(locked="lock", unlocked="unlock", open="open")),),
    "media_player": (
        _one(STATE, _player),
        _one("volume_level", _puts("volume_set", volume_level="volume_level"), 0.02),
        _one("is_volume_muted", _puts("volume_mute", is_volume_muted="is_volume_muted")),
        _one("shuffle", _puts("shuffle_set", shuffle="shuffle")),
        _one("repeat", _puts("repeat_set", repeat="repeat")),
        _one("source", _puts("select_source", source="source")),
        _one("sound_mode", _puts("select_sound_mode", sound_mode="sound_mode")),
        _one("group_members", _members),
    ),
    "timer": (_one(STATE, _timer),),
    "update": (_one("skipped_version", _skipped),),
    "vacuum": (
        _one(
            STATE,
            _by(cleaning="start", docked="return_to_base", returning="return_to_base", paused="pause", idle="stop"),
        ),
        _one("fan_speed", _puts("set_fan_speed", fan_speed="fan_speed")),
    ),
    "valve": (
        _one(
            POSITION, _positions("set_valve_position", "open_valve", "close_valve", ValveEntityFeature.SET_POSITION), 5
        ),
        _one(STATE, _by(open="open_valve", closed="close_valve")),
    ),
    "water_heater": (
        _one(STATE, _puts("set_operation_mode", operation_mode=STATE)),
        _TEMPERATURE,
        _one("away_mode", _away),
    ),
}
"""The aspects of each domain's entities, in the order in which undo restores them."""


def aspects_of(state: State) -> tuple[Aspect, ...]:
    """Return the aspects of an entity; the position replaces the state if the entity reports one."""
    aspects = ASPECTS.get(state.domain, ())
    if aspects and aspects[0].name == POSITION:
        left_out = STATE if state.attributes.get(POSITION) is not None else POSITION
        return tuple(aspect for aspect in aspects if aspect.name != left_out)
    return aspects

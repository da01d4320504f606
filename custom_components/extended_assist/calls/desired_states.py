"""Map actions to the desired state of an entity, and compare it with the current state."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from homeassistant.const import ATTR_ASSUMED_STATE, STATE_OFF, STATE_ON
from homeassistant.core import State

from ..exposure.domains import ONLY_RUN
from .settable_attributes import NOT_KNOWN, POSITION, STATE, aspects_of, value_of

ANOTHER: Final = object()
"""Any value other than the one before."""
LASTING: Final = "what it did cannot be taken back"
SLOW: Final = frozenset({"climate", "cover", "humidifier", "lawn_mower", "update", "vacuum", "valve", "water_heater"})
"""Domains with slow entities: once one is seen to move, its status is reported without waiting."""


class Status(StrEnum):
    """The status of an entity after an action."""

    REACHED = "reached"
    UNDER_WAY = "under_way"
    NOT_REACHED = "not_reached"
    CANNOT_BE_KNOWN = "cannot_be_known"


_ON_OFF_DOMAINS = (*("automation", "fan", "humidifier", "input_boolean", "light", "remote", "siren", "switch"),)
_SWITCHED = {STATE_ON: STATE_OFF, STATE_OFF: STATE_ON}
_OPENED = {"open": "closed", "opening": "closed", "closed": "open", "closing": "open"}
_ARMED = ("away", "custom_bypass", "home", "night", "vacation")

_STATES: Final[Mapping[str, Any]] = {
    **{f"{domain}.turn_on": STATE_ON for domain in _ON_OFF_DOMAINS},
    **{f"{domain}.turn_off": STATE_OFF for domain in _ON_OFF_DOMAINS},
    **{f"{domain}.toggle": _SWITCHED for domain in _ON_OFF_DOMAINS},
    **{f"alarm_control_panel.alarm_arm_{how}": f"armed_{how}" for how in _ARMED},
    "alarm_control_panel.alarm_disarm": "disarmed",
    "alarm_control_panel.alarm_trigger": "triggered",
    **dict.fromkeys(("climate.turn_off", "media_player.turn_off", "water_heater.turn_off"), STATE_OFF),
    "cover.open_cover": "open",
    "cover.close_cover": "closed",
    "cover.toggle": _OPENED,
    "fan.set_preset_mode": STATE_ON,
    "lawn_mower.dock": "docked",
    "lawn_mower.pause": "paused",
    "lawn_mower.start_mowing": "mowing",
    "lock.lock": "locked",
    "lock.open": frozenset({"open", "unlocked"}),
    "lock.unlock": frozenset({"open", "unlocked"}),
    "media_player.media_pause": "paused",
    "media_player.media_play": "playing",
    "media_player.media_stop": frozenset({"idle", STATE_OFF, STATE_ON, "standby"}),
    "timer.cancel": "idle",
    "timer.finish": "idle",
    "timer.pause": "paused",
    "timer.start": "active",
    "update.install": STATE_OFF,
    **dict.fromkeys(("vacuum.clean_area", "vacuum.clean_spot", "vacuum.start"), "cleaning"),
    "vacuum.pause": "paused",
    "vacuum.return_to_base": "docked",
    "valve.open_valve": "open",
    "valve.close_valve": "closed",
    "valve.toggle": _OPENED,
    # The resulting state depends on the device.
    **dict.fromkeys(("climate.toggle", "climate.turn_on", "media_player.toggle", "media_player.turn_on"), ANOTHER),
    **dict.fromkeys(("media_player.media_play_pause", "vacuum.stop", "water_heater.turn_on"), ANOTHER),
    **{f"counter.{how}": ANOTHER for how in ("decrement", "increment", "reset")},
    **{f"input_number.{how}": ANOTHER for how in ("decrement", "increment")},
    **{
        f"{domain}.select_{which}": ANOTHER
        for domain in ("input_select", "select")
        for which in ("first", "last", "next", "previous")
    },
}
"""The state that each action leads to; a mapping gives it by the state before."""

_AT_REST: Final = ("off", "closed", "locked", "docked", "paused", "idle")
_BEGIN: Final = frozenset({"timer.finish", "update.install"})
"""Actions that lead to an off or idle state but do more than end something."""
_SAME = ["brightness", "color_temp_kelvin", "effect", "hs_color", "rgb_color", "rgbw_color", "rgbww_color", "xy_color"]
_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "climate.set_fan_mode": {"fan_mode": "fan_mode"},
    "climate.set_humidity": {"humidity": "humidity"},
    "climate.set_hvac_mode": {"hvac_mode": STATE},
    "climate.set_preset_mode": {"preset_mode": "preset_mode"},
    "climate.set_swing_horizontal_mode": {"swing_horizontal_mode": "swing_horizontal_mode"},
    "climate.set_swing_mode": {"swing_mode": "swing_mode"},
    "climate.set_temperature": {
        "hvac_mode": STATE,
        **{name: name for name in ("temperature", "target_temp_low", "target_temp_high")},
    },
    "counter.set_value": {"value": STATE},
    "cover.set_cover_position": {"position": "current_position"},
    "cover.set_cover_tilt_position": {"tilt_position": "current_tilt_position"},
    "date.set_value": {"date": STATE},
    "fan.oscillate": {"oscillating": "oscillating"},
    "fan.set_direction": {"direction": "direction"},
    "fan.set_percentage": {"percentage": "percentage"},
    "fan.set_preset_mode": {"preset_mode": "preset_mode"},
    "fan.turn_on": {"percentage": "percentage", "preset_mode": "preset_mode"},
    "humidifier.set_humidity": {"humidity": "humidity"},
    "humidifier.set_mode": {"mode": "mode"},
    "input_number.set_value": {"value": STATE},
    "input_select.select_option": {"option": STATE},
    "input_text.set_value": {"value": STATE},
    "light.turn_on": {name: name for name in _SAME},
    "media_player.repeat_set": {"repeat": "repeat"},
    "media_player.select_sound_mode": {"sound_mode": "sound_mode"},
    "media_player.select_source": {"source": "source"},
    "media_player.shuffle_set": {"shuffle": "shuffle"},
    "media_player.volume_mute": {"is_volume_muted": "is_volume_muted"},
    "media_player.volume_set": {"volume_level": "volume_level"},
    "number.set_value": {"value": STATE},
    "select.select_option": {"option": STATE},
    "text.set_value": {"value": STATE},
    "time.set_value": {"time": STATE},
    "vacuum.set_fan_speed": {"fan_speed": "fan_speed"},
    "valve.set_valve_position": {"position": "current_position"},
    "water_heater.set_operation_mode": {"operation_mode": STATE},
    "water_heater.set_temperature": {"temperature": "temperature", "operation_mode": STATE},
}
"""For each action, the attribute (or STATE) that each data field sets."""

_OTHERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "camera.disable_motion_detection": {"motion_detection": False},
    "camera.enable_motion_detection": {"motion_detection": True},
    "cover.close_cover_tilt": {"current_tilt_position": 0},
    "cover.open_cover_tilt": {"current_tilt_position": 100},
    "cover.toggle_cover_tilt": {"current_tilt_position": ANOTHER},
    "fan.decrease_speed": {"percentage": ANOTHER},
    "fan.increase_speed": {"percentage": ANOTHER},
    "media_player.join": {"group_members": ANOTHER},
    "media_player.unjoin": {"group_members": ANOTHER},
    "media_player.volume_down": {"volume_level": ANOTHER},
    "media_player.volume_up": {"volume_level": ANOTHER},
    "update.clear_skipped": {"skipped_version": None},
    "update.skip": {"skipped_version": ANOTHER},
    "water_heater.set_away_mode": {"away_mode": ANOTHER},
    # The data can give the time in several forms; a stop leaves an unknown position.
    "datetime.set_value": {STATE: ANOTHER},
    "input_datetime.set_datetime": {STATE: ANOTHER},
    "cover.stop_cover": {},
    "cover.stop_cover_tilt": {},
    "valve.stop_valve": {},
}
"""The attributes that further actions lead to."""

_LASTING: Final[Mapping[str, str]] = {
    **{
        f"media_player.{name}": "what was playing and where in it cannot be brought back"
        for name in (
            "clear_playlist",
            "media_next_track",
            "media_previous_track",
            "media_seek",
            "media_stop",
            "play_media",
        )
    },
    **dict.fromkeys(("timer.cancel", "timer.change", "timer.finish"), "how long it had run cannot be brought back"),
    **dict.fromkeys(("vacuum.clean_area", "vacuum.clean_spot"), "where it had been cannot be brought back"),
    **dict.fromkeys(("camera.turn_off", "camera.turn_on"), "whether it was on before is not known"),
    "update.install": "an update that was installed cannot be taken back",
    "input_select.set_options": "the options it had cannot be brought back",
}
"""The effects of actions that undo cannot restore."""

_MOVES: Final[Mapping[str, frozenset[str]]] = {
    "arming": frozenset(f"armed_{how}" for how in _ARMED),
    "buffering": frozenset({"playing"}),
    "closing": frozenset({"closed", "open"}),
    "locking": frozenset({"locked"}),
    "opening": frozenset({"open"}),
    "pending": frozenset({"triggered"}),
    "returning": frozenset({"docked"}),
    "unlocking": frozenset({"unlocked", "open"}),
}
"""The final states of each transitional state."""
_BUSY: Final = frozenset({"heating", "preheating", "cooling", "defrosting", "drying", "humidifying"})
_AIMED_BY_WORK = frozenset({STATE, "temperature", "target_temp_low", "target_temp_high", "humidity"})
_POSITIONS = frozenset({POSITION, "current_tilt_position"})
ENDS: Final[Mapping[str, int]] = {"open": 100, "closed": 0}
"""The end positions of covers and valves, by state."""

TARGETS: Final = ("entity_id", "device_id", "area_id", "floor_id", "label_id")
"""Fields of an action's data that select its target."""

type Wanted = dict[str, Any]


def wanted_of(action: str, data: Mapping[str, Any], before: State) -> Wanted | None:
    """Return the desired values of an entity after an action; None if they are unknown."""
    if before.domain in ONLY_RUN and action not in _STATES:
        return None
    if action in _OTHERS:
        return dict(_OTHERS[action])
    if action not in _STATES and action not in _FIELDS:
        return None
    wanted: Wanted = {}
    if (state := _STATES.get(action)) is not None:
        wanted[STATE] = state.get(before.state, ANOTHER) if isinstance(state, Mapping) else state
    fields = _FIELDS.get(action, {})
    wanted |= {name: _plain(data[field]) for field, name in fields.items() if data.get(field) is not None}
    if (percent := data.get("brightness_pct")) is not None:
        wanted["brightness"] = round(float(percent) * 2.55)
    if wanted.get("brightness") == 0 or wanted.get("percentage") == 0:
        return {STATE: STATE_OFF}
    if before.attributes.get(POSITION) is not None and wanted.get(STATE) in ENDS:
        return {POSITION: ENDS[wanted[STATE]]}
    return wanted


def is_all_known(action: str, data: Mapping[str, Any]) -> bool:
    """Return whether the desired state covers all that the action's data asks for."""
    known = {*TARGETS, *_FIELDS.get(action, ()), *(("brightness_pct",) if action == "light.turn_on" else ())}
    return data.keys() <= known


def lasting_of(action: str, before: State) -> str | None:
    """Return the effect of an action on an entity that undo cannot restore; None if undo can restore everything."""
    if action in _LASTING:
        return _LASTING[action]
    return LASTING if wanted_of(action, {}, before) is None or not aspects_of(before) else None


def status_of(before: State, now: State | None, wanted: Wanted | None) -> Status:
    """Return the status of an entity from its states before and now and the desired values."""
    if wanted is None or before.attributes.get(ATTR_ASSUMED_STATE):
        return Status.CANNOT_BE_KNOWN
    if now is None or now.state in NOT_KNOWN:
        return Status.NOT_REACHED
    if now.attributes.get(ATTR_ASSUMED_STATE):
        return Status.CANNOT_BE_KNOWN
    missing = {name: value for name, value in wanted.items() if not _is(before, now, name, value)}
    if not missing:
        return Status.UNDER_WAY if _is_at_work(now, wanted) else Status.REACHED
    if all(is_coming(before, now, name, value) for name, value in missing.items()):
        return Status.UNDER_WAY
    # A value that should only differ may have been at its limit already. An attribute that is missing cannot be
    # checked.
    if all(value is ANOTHER or (value_of(now, name) is None and value is not None) for name, value in missing.items()):
        return Status.CANNOT_BE_KNOWN
    return Status.NOT_REACHED


def is_set(before: State, now: State | None, wanted: Wanted | None) -> bool:
    """Return whether an entity has all desired values, even if it still works towards them, such as heating."""
    return now is not None and wanted is not None and all(_is(before, now, *item) for item in wanted.items())


def brings_to_rest(action: str) -> bool:
    """Return whether an action only turns off, closes, locks, stops or pauses."""
    return action == "homeassistant.turn_off" or (_STATES.get(action) in _AT_REST and action not in _BEGIN)


def is_settled(before: State, now: State | None, wanted: Wanted | None, status: Status | None = None) -> bool:
    """Return whether longer waiting would not change the entity's status; pass `status` if it is known."""
    match status or status_of(before, now, wanted):
        case Status.UNDER_WAY:
            return before.domain in SLOW
        case Status.CANNOT_BE_KNOWN:
            assumed = before.attributes.get(ATTR_ASSUMED_STATE) or (now and now.attributes.get(ATTR_ASSUMED_STATE))
            return bool(assumed) or ANOTHER not in (wanted or {}).values()
        case status:
            return status is Status.REACHED


def is_seen(before: State, now: State | None, wanted: Wanted | None, status: Status | None = None) -> bool:
    """Return whether the entity's state shows all desired values, so that no further check is needed."""
    if not wanted or now is None or (status or status_of(before, now, wanted)) is not Status.REACHED:
        return False
    # An entity that is off may accept settings without any effect.
    if now.state == STATE_OFF and STATE not in wanted:
        return False
    return all(_is(before, now, name, value, strictly=True) for name, value in wanted.items())


def is_passed(state: Any) -> bool:
    """Return whether a state is transitional, so that no action restores it; docking restores `returning`."""
    return state in _MOVES and state != "returning"


def passes(state: str, wanted: str) -> bool:
    """Return whether a transitional state can lead to another state."""
    return wanted in _MOVES.get(state, ())


def _is(before: State, now: State, name: str, value: Any, *, strictly: bool = False) -> bool:
    """Return whether an entity has a value.

    Without `strictly`, an attribute that the entity does not report in this form, such as a colour in another mode,
    counts as equal.
    """
    have = value_of(now, name)
    if value is ANOTHER:
        return bool(have != value_of(before, name))
    if isinstance(value, frozenset):
        return have in value
    if name == STATE and isinstance(have, float):
        value = float(value)
    aspect = next((aspect for aspect in aspects_of(now) if name in aspect.reads), None)
    if aspect and not strictly and name not in aspect.read(now):
        return True  # A colour in another mode than the one that the light reports.
    return aspect.same({name: have}, {name: value}) if aspect else bool(have == value)


def is_coming(before: State, now: State, name: str, value: Any) -> bool:
    """Return whether an entity is moving towards a value."""
    if name in _POSITIONS:
        was, have = before.attributes.get(name), now.attributes.get(name)
        if now.state in ("opening", "closing"):
            is_known = name == POSITION and isinstance(value, int | float) and isinstance(have, int | float)
            return not is_known or (value != have and (value > have) is (now.state == "opening"))
        positions = [one for one in (value, was, have) if isinstance(one, int | float)]
        return len(positions) == 3 and abs(value - have) < abs(value - was)
    if now.attributes.get("in_progress"):
        return True
    if name != STATE or value is ANOTHER:
        return False
    return any(passes(now.state, one) for one in (value if isinstance(value, frozenset) else {value}))


def _is_at_work(now: State, wanted: Wanted) -> bool:
    """Return whether an entity has its desired settings and still works towards them, such as heating."""
    at_work = now.attributes.get("hvac_action") or (
        now.attributes.get("action") if now.domain == "humidifier" else None
    )
    return at_work in _BUSY and bool(_AIMED_BY_WORK & wanted.keys()) and wanted.get(STATE) != STATE_OFF


def _plain(value: Any) -> Any:
    return str(value) if not isinstance(value, str | int | float | list | tuple | bool) else value

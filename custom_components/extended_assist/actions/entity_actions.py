"""The reviewed table of the actions of Home Assistant's entity components, with the kind of each field.

Actions that are not in it may be used only if the options list them. The test of this table reads both supported versions
of Home Assistant and fails for an action or a field that nobody has reviewed.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN


class Kind(StrEnum):
    """The kind of value that a field of an action takes."""

    BOOLEAN = "boolean"
    CHOICE = "choice"
    """One of a list that the entity or the action defines."""
    CODE = "code"
    """A code that unlocks or disarms."""
    COLOR = "color"
    NUMBER = "number"
    TIME = "time"
    """A time or a duration."""
    TEXT = "text"
    """A text to say, show, store or search; nothing reads entity ids in it."""

    AREA = "area"
    ENTITY = "entity"
    OBJECT = "object"
    """Any value, nested ones too."""

    ADDRESS = "address"
    COMMAND = "command"
    """A command that a device runs unchanged; some devices run it in a shell."""
    FILE = "file"
    MEDIA = "media"
    """A name or id of media; some players also accept an address."""
    SOURCE = "source"
    """A source of a player; some players also run any other text."""


PLAIN: Final = frozenset({Kind.BOOLEAN, Kind.CHOICE, Kind.CODE, Kind.COLOR, Kind.NUMBER, Kind.TIME, Kind.TEXT})
"""Kinds whose values name no entity and no address."""
ONLY_LISTED_KINDS: Final = frozenset({Kind.ADDRESS, Kind.COMMAND, Kind.FILE})
"""Kinds whose values reach beyond the target."""
OFFERED: Final[Mapping[str, str]] = {"source": "source_list", "sound_mode": "sound_mode_list"}
"""The attribute that lists the allowed values of a field."""

type Fields = Mapping[str, Kind]


def _of(names: str, **fields: Kind) -> dict[str, Fields]:
    return dict.fromkeys(names.split(), fields)


_CODE = {"code": Kind.CODE}
_MEDIA = {"media_content_id": Kind.MEDIA, "media_content_type": Kind.CHOICE}
_MESSAGE = {"message": Kind.TEXT, "title": Kind.TEXT}
_LIGHT = {
    **dict.fromkeys(("brightness", "brightness_pct", "brightness_step", "brightness_step_pct"), Kind.NUMBER),
    **dict.fromkeys(("hs_color", "rgb_color", "rgbw_color", "rgbww_color", "xy_color", "white"), Kind.COLOR),
    **dict.fromkeys(("color_name", "effect", "flash", "profile"), Kind.CHOICE),
    **dict.fromkeys(("color_temp_kelvin", "transition"), Kind.NUMBER),
}
_ITEM = {
    **dict.fromkeys(("description", "item"), Kind.TEXT),
    **dict.fromkeys(("due_date", "due_datetime"), Kind.TIME),
}
_EVENT_TIMES = ("end_date", "end_date_time", "in", "start_date", "start_date_time")

_TABLE: Final[Mapping[str, Mapping[str, Fields]]] = {
    "alarm_control_panel": _of(
        "alarm_arm_away alarm_arm_custom_bypass alarm_arm_home alarm_arm_night alarm_arm_vacation alarm_disarm "
        "alarm_trigger",
        **_CODE,
    ),
    "alert": _of("toggle turn_off turn_on"),
    "assist_satellite": _of(
        "announce",
        message=Kind.TEXT,
        media_id=Kind.MEDIA,
        preannounce=Kind.BOOLEAN,
        preannounce_media_id=Kind.MEDIA,
    ),
    "automation": {
        **_of("toggle turn_on"),
        **_of("trigger", skip_condition=Kind.BOOLEAN, variables=Kind.OBJECT),
        **_of("turn_off", stop_actions=Kind.BOOLEAN),
    },
    "button": _of("press"),
    "calendar": {
        **_of(
            "create_event",
            **dict.fromkeys(("description", "location", "summary"), Kind.TEXT),
            **dict.fromkeys(_EVENT_TIMES, Kind.TIME),
        ),
        **_of("get_events", **dict.fromkeys(("duration", "end_date_time", "start_date_time"), Kind.TIME)),
    },
    "camera": {
        **_of("disable_motion_detection enable_motion_detection turn_off turn_on"),
        **_of("play_stream", format=Kind.CHOICE, media_player=Kind.ENTITY),
        **_of("record", filename=Kind.FILE, duration=Kind.NUMBER, lookback=Kind.NUMBER),
        **_of("snapshot", filename=Kind.FILE),
    },
    "climate": {
        **_of("toggle turn_off turn_on"),
        **_of("set_fan_mode", fan_mode=Kind.CHOICE),
        **_of("set_humidity", humidity=Kind.NUMBER),
        **_of("set_hvac_mode", hvac_mode=Kind.CHOICE),
        **_of("set_preset_mode", preset_mode=Kind.CHOICE),
        **_of("set_swing_horizontal_mode", swing_horizontal_mode=Kind.CHOICE),
        **_of("set_swing_mode", swing_mode=Kind.CHOICE),
        **_of(
            "set_temperature",
            hvac_mode=Kind.CHOICE,
            **dict.fromkeys(("target_temp_high", "target_temp_low", "temperature"), Kind.NUMBER),
        ),
    },
    "counter": {**_of("decrement increment reset"), **_of("set_value", value=Kind.NUMBER)},
    "cover": {
        **_of("close_cover open_cover", speed=Kind.CHOICE),
        **_of("close_cover_tilt open_cover_tilt stop_cover stop_cover_tilt toggle toggle_cover_tilt"),
        **_of("set_cover_position", position=Kind.NUMBER, speed=Kind.CHOICE),
        **_of("set_cover_tilt_position", tilt_position=Kind.NUMBER),
    },
    "date": _of("set_value", date=Kind.TIME),
    "datetime": _of("set_value", datetime=Kind.TIME),
    "fan": {
        **_of("decrease_speed increase_speed", percentage_step=Kind.NUMBER),
        **_of("oscillate", oscillating=Kind.BOOLEAN),
        **_of("set_direction", direction=Kind.CHOICE),
        **_of("set_percentage", percentage=Kind.NUMBER),
        **_of("set_preset_mode", preset_mode=Kind.CHOICE),
        **_of("toggle turn_off"),
        **_of("turn_on", percentage=Kind.NUMBER, preset_mode=Kind.CHOICE),
    },
    "humidifier": {
        **_of("set_humidity", humidity=Kind.NUMBER),
        **_of("set_mode", mode=Kind.CHOICE),
        **_of("toggle turn_off turn_on"),
    },
    "image": _of("snapshot", filename=Kind.FILE),
    "image_processing": _of("scan"),
    "input_boolean": _of("toggle turn_off turn_on"),
    "input_button": _of("press"),
    "input_datetime": _of("set_datetime", **dict.fromkeys(("date", "datetime", "time", "timestamp"), Kind.TIME)),
    "input_number": {**_of("decrement increment"), **_of("set_value", value=Kind.NUMBER)},
    "input_select": {
        **_of("select_first select_last"),
        **_of("select_next select_previous", cycle=Kind.BOOLEAN),
        **_of("select_option", option=Kind.CHOICE),
        **_of("set_options", options=Kind.TEXT),
    },
    "input_text": _of("set_value", value=Kind.TEXT),
    "lawn_mower": _of("dock pause start_mowing stop"),
    "light": {
        **_of("toggle turn_on", **_LIGHT),
        **_of("turn_off", flash=Kind.CHOICE, transition=Kind.NUMBER),
    },
    "lock": _of("lock open unlock", **_CODE),
    "media_player": {
        **_of("browse_media", **_MEDIA),
        **_of(
            "clear_playlist media_next_track media_pause media_play media_play_pause media_previous_track media_stop "
            "toggle turn_off turn_on unjoin volume_down volume_up"
        ),
        **_of("join", group_members=Kind.ENTITY),
        **_of("media_seek", seek_position=Kind.NUMBER),
        **_of(
            "play_media",
            **_MEDIA,
            media=Kind.MEDIA,
            announce=Kind.BOOLEAN,
            enqueue=Kind.CHOICE,
            extra=Kind.ADDRESS,
        ),
        **_of("repeat_set", repeat=Kind.CHOICE),
        **_of("search_media", **_MEDIA, media_filter_classes=Kind.CHOICE, search_query=Kind.TEXT),
        **_of("select_sound_mode", sound_mode=Kind.SOURCE),
        **_of("select_source", source=Kind.SOURCE),
        **_of("shuffle_set", shuffle=Kind.BOOLEAN),
        **_of("volume_mute", is_volume_muted=Kind.BOOLEAN),
        **_of("volume_set", volume_level=Kind.NUMBER),
    },
    # It has no target, so the options must list it; each legacy notifier is an action like this one.
    "notify": {**_of("notify", **_MESSAGE), **_of("send_message", **_MESSAGE)},
    "number": _of("set_value", value=Kind.NUMBER),
    "persistent_notification": _of("create", **_MESSAGE, notification_id=Kind.CHOICE),
    "remote": {
        **_of("delete_command", command=Kind.CHOICE, device=Kind.CHOICE),
        **_of(
            "learn_command",
            **dict.fromkeys(("command", "command_type", "device"), Kind.CHOICE),
            alternative=Kind.BOOLEAN,
            timeout=Kind.NUMBER,
        ),
        **_of(
            "send_command",
            command=Kind.COMMAND,
            device=Kind.CHOICE,
            **dict.fromkeys(("delay_secs", "hold_secs", "num_repeats"), Kind.NUMBER),
        ),
        **_of("toggle turn_off turn_on", activity=Kind.MEDIA),
    },
    "scene": {
        **_of("apply", entities=Kind.OBJECT, transition=Kind.NUMBER),
        **_of("delete"),
        **_of("turn_on", transition=Kind.NUMBER),
    },
    "schedule": _of("get_schedule"),
    "script": _of("toggle turn_off turn_on", variables=Kind.OBJECT),
    "select": {
        **_of("select_first select_last"),
        **_of("select_next select_previous", cycle=Kind.BOOLEAN),
        **_of("select_option", option=Kind.CHOICE),
    },
    "siren": {
        **_of("toggle turn_off"),
        **_of("turn_on", duration=Kind.TIME, tone=Kind.CHOICE, volume_level=Kind.NUMBER),
    },
    "switch": _of("toggle turn_off turn_on"),
    "text": _of("set_value", value=Kind.TEXT),
    "time": _of("set_value", time=Kind.TIME),
    "timer": {**_of("cancel finish pause"), **_of("change start", duration=Kind.TIME)},
    "todo": {
        **_of("add_item", **_ITEM),
        **_of("get_items", status=Kind.CHOICE),
        **_of("remove_completed_items"),
        **_of("remove_item", item=Kind.TEXT),
        **_of("update_item", **_ITEM, rename=Kind.TEXT, status=Kind.CHOICE),
    },
    "tts": _of(
        "speak",
        message=Kind.TEXT,
        cache=Kind.BOOLEAN,
        language=Kind.CHOICE,
        media_player_entity_id=Kind.ENTITY,
        options=Kind.OBJECT,
    ),
    "update": {
        **_of("clear_skipped skip"),
        **_of("install", backup=Kind.BOOLEAN, version=Kind.CHOICE),
    },
    "vacuum": {
        **_of("clean_area", cleaning_area_id=Kind.AREA),
        **_of("clean_spot locate pause return_to_base start stop"),
        **_of("send_command", command=Kind.COMMAND, params=Kind.OBJECT),
        **_of("set_fan_speed", fan_speed=Kind.CHOICE),
    },
    "valve": {
        **_of("close_valve open_valve stop_valve toggle"),
        **_of("set_valve_position", position=Kind.NUMBER),
    },
    "water_heater": {
        **_of("set_away_mode", away_mode=Kind.BOOLEAN),
        **_of("set_operation_mode", operation_mode=Kind.CHOICE),
        **_of("set_temperature", operation_mode=Kind.CHOICE, temperature=Kind.NUMBER),
        **_of("turn_off turn_on"),
    },
    "weather": _of("get_forecasts", type=Kind.CHOICE),
}


def _of_any(name: str) -> Fields:
    """Return the fields of homeassistant.turn_on and its like, which accept those of every domain."""
    return {key: kind for actions in _TABLE.values() for key, kind in actions.get(name, {}).items()}


ACTIONS: Final[Mapping[str, Fields]] = {
    f"{domain}.{name}": fields
    for domain, actions in {
        **_TABLE,
        HOMEASSISTANT_DOMAIN: {
            **{name: _of_any(name) for name in ("toggle", "turn_off", "turn_on")},
            "update_entity": {},
        },
    }.items()
    for name, fields in actions.items()
}
"""The fields of each action."""


def kind_of(action: str, field: str) -> Kind | None:
    """Return the kind of a field, or None; legacy notify actions take the fields of notify.notify."""
    if action.startswith("notify."):
        action = action if action in ACTIONS else "notify.notify"
    return ACTIONS.get(action, {}).get(field)


def offered_by(attributes: Iterable[Mapping[str, Any]], field: str) -> set[str] | None:
    """Return the values that all of some entities list for a field; None if one of them lists none."""
    lists = [each.get(OFFERED[field]) for each in attributes]
    return None if not all(lists) else set.intersection(*(set(map(str, each or ())) for each in lists))

"""The allowed constructs of templates that are stored to run later: the form of each name, and the allowed calls.

Such templates run in Home Assistant's full environment, which can read the whole home. Anything that is not in these tables
is refused, also what a later version of Home Assistant adds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


def _words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Form:
    """The kind of an expression: a plain value with any use, or an object with some allowed parts."""

    what: str
    parts: Mapping[str, Form] = field(default_factory=dict)
    any_part: bool = False
    """True if every part is a value, as in a namespace."""
    constant: str = ""
    """The constant text of a value, if it is known."""
    attributes_of: frozenset[str] | None = None
    """For the attributes of a state, the possible entities; empty if they are unknown."""


PLAIN: Final = Form("a value")
"""Texts, numbers, times, and lists and mappings of these: no part of them leads to the home."""
OPAQUE: Final = Form("an id")
"""A value that may be tested for existence only."""
NAMESPACE: Final = Form("a namespace", any_part=True)

STATE_PARTS = _words("domain entity_id last_changed last_reported last_updated name object_id state state_with_unit")
_CONTEXT: Final = Form("a context", dict.fromkeys(("id", "parent_id", "user_id"), OPAQUE))


def state_form(entity_ids: frozenset[str]) -> Form:
    """Return the form of a state of some entities; empty means an unknown entity."""
    attributes = Form("all attributes", attributes_of=entity_ids)
    return Form("a whole state", dict.fromkeys(STATE_PARTS, PLAIN) | {"attributes": attributes, "context": _CONTEXT})


# What each kind of trigger hands over, beside what all do. A kind that is open may hand over more, which is not known.
TRIGGER_PARTS = _words("alias description id idx platform")
_CHANGE = _words("entity_id for from_state to_state")
TRIGGERS: Mapping[str, frozenset[str]] = {
    "calendar": _words("calendar_event entity_id event offset"),
    "conversation": _words("sentence slots"),
    "device": _CHANGE,
    "event": _words("event"),
    "homeassistant": _words("event"),
    "mqtt": _words("payload payload_json qos topic"),
    "numeric_state": _CHANGE | _words("above attribute below"),
    "state": _CHANGE | _words("attribute"),
    "sun": _words("event offset"),
    "template": _CHANGE,
    "time": _words("entity_id now"),
    "time_pattern": _words("now"),
    "webhook": _words("data json query"),
    "zone": _words("entity_id event from_state to_state zone"),
}
DESCRIBED = _CHANGE
"""The trigger data of triggers with a target, such as light.turned_on."""
_OPEN = frozenset({"device"})
_STATES = _words("from_state to_state zone")
_EVENT: Final = Form(
    "a whole event",
    {"data": Form("all data of the event", any_part=True), "event_type": PLAIN, "time_fired": PLAIN},
)
"""Only events without data of the home, or listed by the user, can trigger."""


def trigger_form(kinds: frozenset[str], entity_ids: frozenset[str]) -> Form:
    """Return the form of `trigger` for some kinds of triggers; a part is allowed if it is plain in all of them."""
    known = {kind: TRIGGERS.get(kind, DESCRIBED) for kind in kinds}
    state = state_form(entity_ids)
    parts = dict.fromkeys(TRIGGER_PARTS, PLAIN)
    for name in frozenset[str]().union(*known.values()):
        if all(name in known[kind] or (kind in TRIGGERS and kind not in _OPEN) for kind in kinds):
            parts[name] = _EVENT if name == "event" and "event" in kinds else state if name in _STATES else PLAIN
    return Form("all that set it off", parts)


def run_names(trigger: Form) -> dict[str, Form]:
    """Return the variables that Home Assistant defines in automations."""
    automation = Form("all attributes", dict.fromkeys(_words("current friendly_name last_triggered max mode"), PLAIN))
    parts = _words("entity_id last_changed last_updated state")
    wait = dict.fromkeys(_words("completed remaining"), PLAIN)
    return {
        "context": _CONTEXT,
        "repeat": Form("all of the repetition", dict.fromkeys(_words("first index item last"), PLAIN)),
        "trigger": trigger,
        "this": Form("all of the automation", dict.fromkeys(parts, PLAIN) | {"attributes": automation}),
        "wait": Form("all that was waited for", wait | {"trigger": trigger}),
    }


LOOP: Final = Form(
    "all of the loop",
    dict.fromkeys(_words("depth depth0 first index index0 last length nextitem previtem revindex revindex0"), PLAIN),
)
RESPONSES = _words("calendar.get_events todo.get_items weather.get_forecasts")
"""Actions whose whole response is plain: data of exposed entities without credentials."""

ENTITY_FUNCTIONS = _words("area_id area_name floor_id floor_name has_value is_state state_translated states")
"""Functions of one entity; the first argument is its id as a constant, or the entity_id of the trigger."""
ATTRIBUTE_FUNCTIONS = _words("is_state_attr state_attr state_attr_translated")
"""Functions of one attribute; the second argument is its name as a constant."""
ENTITY_OPTIONS = _words("rounded with_unit")

CONSTANTS = _words("e pi tau")
"""Values that have a name, which may also be given to others."""
FUNCTIONS = _words("""
    acos as_datetime as_local as_timedelta as_timestamp asin atan atan2 average bitwise_and bitwise_or bitwise_xor bool
    clamp combine cos dict difference flatten float iif int intersect is_number log max md5 median min namespace now
    range relative_time remap set sha1 sha256 sha512 shuffle sin slugify sqrt statistical_mode strptime
    symmetric_difference tan time_since time_until timedelta timedelta_string today_at tuple union urlencode utcnow
    version wrap zip
""")
ITEM_FILTERS = _words("""
    abs add as_datetime as_local as_timedelta as_timestamp base64_decode base64_encode bitwise_and bitwise_or
    bitwise_xor bool capitalize center clamp contains d default e escape filesizeformat first float format from_hex
    from_json iif indent int is_defined is_number items join last length list log lower max md5 min multiply ord ordinal
    regex_findall regex_findall_index regex_match regex_replace regex_search relative_time remap replace reverse round
    sha1 sha256 sha512 slugify sqrt string striptags sum time_since time_until timedelta_string timestamp_custom
    timestamp_local timestamp_utc title to_json today_at tojson trim truncate upper urlencode version wordcount wordwrap
    wrap
""")
"""Filters that `map` may name as well."""
FILTERS = ITEM_FILTERS | _words("""
    acos asin atan atan2 average batch combine cos count dictsort difference flatten intersect median random shuffle sin
    slice sort statistical_mode symmetric_difference tan union unique
""")
TESTS = _words("""
    != < <= == > >= boolean contains datetime defined divisibleby eq equalto even false float ge greaterthan gt in integer
    is_number iterable le lessthan list lower lt mapping match ne none number odd search sequence set string string_like
    true tuple undefined upper
""")
PRESENT = _words("defined none undefined")
"""Tests that may be asked of any object."""
# These take a filter, a test or an attribute that an argument names: whether the first names an attribute, and what may be named.
NAMING: Mapping[str, tuple[bool, frozenset[str]]] = {
    "map": (False, ITEM_FILTERS),
    "reject": (False, TESTS),
    "rejectattr": (True, TESTS),
    "select": (False, TESTS),
    "selectattr": (True, TESTS),
}
METHODS = _words("""
    capitalize casefold count date endswith find format get index isalnum isalpha isdecimal isdigit isnumeric isoformat
    isoweekday items join keys lower lstrip removeprefix removesuffix replace rfind rsplit rstrip split splitlines
    startswith strftime strip time timestamp timetuple title total_seconds upper values weekday zfill
""")
"""Methods of values."""

FLAT_ATTRIBUTES = _words("""
    action activity_list all_day app_name apparent_temperature assumed_state attribution auto_update available_tones
    away_mode azimuth battery battery_icon battery_level brightness changed_by cloud_coverage code_arm_required code_format
    color_mode color_temp_kelvin current current_activity current_humidity current_position current_temperature
    current_tilt_position day description device_class dew_point direction display_precision duration editable effect
    effect_list elevation end_time event_type event_types fan_mode fan_modes fan_speed fan_speed_list finishes_at
    friendly_name gps_accuracy has_date has_time hour hs_color humidity hvac_action hvac_modes icon in_progress initial
    installed_version is_closed is_volume_muted last_reset last_triggered latest_version latitude location longitude max
    max_color_temp_kelvin max_humidity max_temp maximum media_album_artist media_album_name media_artist media_channel
    media_content_type media_duration media_episode media_playlist media_position media_position_updated_at media_season
    media_series_title media_title media_track message min min_color_temp_kelvin min_humidity min_temp minimum minute mode
    month motion_detection next_dawn next_dusk next_event next_midnight next_noon next_rising next_setting operation_list
    operation_mode options oscillating ozone passive pattern percentage percentage_step precipitation_unit preset_mode
    preset_modes pressure pressure_unit radius release_summary remaining repeat restored rgb_color rgbw_color rgbww_color
    rising second shuffle skipped_version sound_mode sound_mode_list source_list source_type start_time state_class step
    supported_color_modes supported_features swing_horizontal_mode swing_horizontal_modes swing_mode swing_modes
    target_temp_high target_temp_low target_temp_step temperature temperature_unit timestamp title unit_of_measurement
    update_percentage uv_index visibility visibility_unit volume_level wind_bearing wind_gust_speed wind_speed
    wind_speed_unit xy_color year
""")
"""Attributes that Home Assistant defines as texts, numbers, moments or lists of these, and that name no entities."""

_ONE_BY_ONE = "Name the entities themselves, each as a constant: what it finds may change after it is written."
INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(
        _words(
            "area_devices area_entities areas closest device_entities expand floor_areas floor_entities floors "
            "integration_entities label_areas label_devices label_entities labels"
        ),
        _ONE_BY_ONE,
    ),
    **dict.fromkeys(
        ENTITY_FUNCTIONS | ATTRIBUTE_FUNCTIONS, "Write it out, such as [states('light.a'), states('light.b')]."
    ),
    "attr": "Write the part with a dot.",
    "groupby": "Use selectattr for each group.",
    "pprint": "Use to_json.",
    "typeof": "Use a test, such as `is string`.",
}
"""What to write instead of what is refused."""

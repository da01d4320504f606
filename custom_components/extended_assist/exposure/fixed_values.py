"""Decide whether a value of the home is fixed, or free text that somebody outside may have written.

A value is fixed if it is a number, a time, a word of a set that Home Assistant or the integration's own translation defines
for that kind of entity, or a name that an administrator gave. Every other text is free, whatever it looks like.
`fixed_values.json` has Home Assistant's sets: per domain the states, the attributes with their values, and the device
classes, as `entity_component` of its translations names them.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
import json
from pathlib import Path
import re
from typing import Any, Final

from homeassistant import const
from homeassistant.components.sensor.const import DEVICE_CLASS_UNITS
from homeassistant.const import ATTR_FRIENDLY_NAME, ATTR_UNIT_OF_MEASUREMENT, EntityStateAttribute
from homeassistant.core import HomeAssistant, State, callback, valid_entity_id
from homeassistant.generated.currencies import ACTIVE_CURRENCIES, HISTORIC_CURRENCIES
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.helpers.entity import entity_sources
from homeassistant.helpers.translation import async_get_cached_translations
from homeassistant.loader import IntegrationNotLoaded, async_get_loaded_integration

from ..const import DOMAIN

_TABLE: Final[Mapping[str, Mapping[str, Any]]] = json.loads(
    (Path(__file__).parent / "fixed_values.json").read_text(encoding="utf-8")
)
_NUMBER: Final = re.compile(r"[-+]?\d{1,30}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?", re.ASCII)
_TIME: Final = re.compile(
    r"(?:\d{4}-\d\d-\d\d)?(?:(?:^|[T ])\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:Z|[-+]\d\d:?\d\d))?)?"
    r"|\d{1,6} days?, \d{1,2}:\d\d:\d\d",
    re.ASCII,
)
_NO_VALUE: Final = frozenset({"", "unknown", "unavailable", "none", "None", "null", "true", "false", "True", "False"})
_PLAIN_TYPES: Final = (bool, int, float, Decimal, date, time, timedelta, type(None))
_MORE_ATTRIBUTES: Final[Mapping[str, frozenset[str]]] = {
    "climate": frozenset({"hvac_mode"}),
    "cover": frozenset({"is_closed"}),
    "light": frozenset({"color_temp", "hs_color", "rgb_color", "rgbw_color", "rgbww_color", "xy_color"}),
    "sun": frozenset(
        {
            *("azimuth", "elevation", "next_dawn", "next_dusk", "next_midnight", "next_noon", "next_rising"),
            *("next_setting", "rising"),
        }
    ),
    "vacuum": frozenset({"battery_level", "fan_speed", "fan_speed_list"}),
    "zone": frozenset({"passive", "persons", "radius"}),
}
"""Attributes that Home Assistant's components set but do not translate."""
_SHARED_ATTRIBUTES: Final = frozenset({*EntityStateAttribute, "editable", "entity_id", "group_members", "state_class"})
_IDS: Final = frozenset({"entity_id", "group_members", "persons", "device_trackers"})
"""Attributes that list entities."""
_STATES_IN: Final = {"hvac_mode", "hvac_modes", "current_operation", "operation_list"}
"""Attributes whose values are states of the same domain."""
_LISTS: Final = {
    "available_modes": "mode",
    "event_types": "event_type",
    "fan_modes": "fan_mode",
    "preset_modes": "preset_mode",
    "swing_horizontal_modes": "swing_horizontal_mode",
    "swing_modes": "swing_mode",
}
"""Attributes that list the possible values of another attribute."""
_UNITS_BESIDE: Final = frozenset(
    {"precipitation_unit", "pressure_unit", "temperature_unit", "visibility_unit", "wind_speed_unit"}
)
_WEATHER: Final = frozenset({"condition", "datetime", "is_daytime", "templow", "wind_bearing"})
_CLOSED: Final = frozenset(
    {
        *("automation", "binary_sensor", "button", "calendar", "counter", "date", "datetime", "event", "fan"),
        *("humidifier", "image", "input_boolean", "input_button", "input_datetime", "input_number", "light"),
        *("notify", "number", "remote", "scene", "schedule", "script", "siren", "switch", "tag", "time"),
        *("todo", "update", "zone"),
    }
)
"""Domains whose states are on and off, numbers or times."""
_MONEY: Final = frozenset(
    {
        *("€", "$", "£", "¥", "₹", "₩", "₺", "₽", "zł", "Kč", "Ft", "kr", "Kr", "lei", "лв", "ct", "cent", "c"),
        *("p", "gr", "øre", "öre"),
    }
)
"""Currency signs and codes, also of subunits."""
_COUNTS: Final = frozenset({"bpm", "steps", "pcs", "times", "people", "items", "devices", "pages", "kcal/d"})
"""Units of counts that integrations use beside Home Assistant's own units."""
_PLATFORMS_OF_OTHERS: Final = frozenset(
    {
        *("bluetooth_le_tracker", "bluetooth_tracker", "bluetooth", "dlna_dmr", "mobile_app", "mqtt", "nmap_tracker"),
        *(
            "bring",
            "caldav",
            "google",
            "google_tasks",
            "habitica",
            "imap",
            "microsoft_365",
            "remote_calendar",
            "todoist",
        ),
        *("homekit_controller", "private_ble_device", "steam_online", "xbox"),
    }
)
"""Integrations that are no hubs but take names from nearby devices or from accounts."""
_SAMPLES: Final = frozenset({"demo", "kitchen_sink"})
"""Demo integrations, whose names Home Assistant defines."""
NAMED_BY_OTHERS: Final = frozenset({"device_tracker", "geo_location", "media_player"})
"""Domains whose entities can appear by themselves, with names that others chose."""


def is_plain(value: Any) -> bool:
    """Return whether a value is a number, time, boolean or None, as such or as text."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return value in _NO_VALUE or _NUMBER.fullmatch(value) is not None or is_time(value)
    return isinstance(value, _PLAIN_TYPES)


def is_time(text: str) -> bool:
    """Return whether a text is a time or date in Home Assistant's format."""
    return _TIME.fullmatch(text) is not None


def is_fixed_word(domain: str, value: str) -> bool:
    """Return whether a state of a domain is fixed for every entity of it."""
    return is_plain(value) or value in _states_of(domain)


@callback
def is_fixed_state(hass: HomeAssistant, state: State, value: str | None = None) -> bool:
    """Return whether a state of an entity, by default the current one, is fixed."""
    value = state.state if value is None else value
    if is_fixed_word(state.domain, value):
        return True
    if state.domain in ("device_tracker", "person"):
        return any(zone.name == value for zone in hass.states.async_all("zone"))
    return _is_translated(hass, state, f"state.{value}")


@callback
def may_have_free_states(hass: HomeAssistant, state: State) -> bool:
    """Return whether an entity of this kind can have free states, now or in the past."""
    if state.domain in ("device_tracker", "person"):
        return True
    if {ATTR_UNIT_OF_MEASUREMENT, "state_class"} & state.attributes.keys() or _states_of(state.domain) - {"on", "off"}:
        return not is_fixed_state(hass, state)
    return not ((state.domain in _CLOSED or _has_translated_states(hass, state)) and is_fixed_state(hass, state))


@callback
def is_fixed_attribute(hass: HomeAssistant, state: State, name: str, value: Any) -> bool:
    """Return whether the name and a value of an attribute are fixed."""
    if isinstance(value, str) and _is_known_value(state.domain, name, str.__str__(value)):
        return True
    if not is_fixed_attribute_name(state, name):
        return False
    if isinstance(value, list | tuple | set | frozenset):
        single = _LISTS.get(name, name)
        return all(is_fixed_attribute(hass, state, single, one) for one in value)
    if not isinstance(value, str):
        return is_plain(value)
    if name == ATTR_FRIENDLY_NAME:
        return is_fixed_name(hass, state)
    if name in _IDS:
        member = hass.states.get(value) if valid_entity_id(value) else None
        return member is not None and is_fixed_name(hass, member)
    if name == "options":
        return is_fixed_state(hass, state, value)
    return _is_translated(hass, state, f"state_attributes.{name}.state.{value}")


@lru_cache(16_384)
def _is_known_value(domain: str, name: str, value: str) -> bool:
    """Return whether a value of an attribute is fixed for all entities of a domain."""
    if name not in _SHARED_ATTRIBUTES and name not in _attributes_of(domain):
        return False
    if is_plain(value):
        return True
    if name == ATTR_UNIT_OF_MEASUREMENT or name in _UNITS_BESIDE:
        return is_fixed_unit(value)
    known = _TABLE.get(domain, {})
    if name == EntityStateAttribute.DEVICE_CLASS:
        return value in known.get("device_classes", ())
    return (name in _STATES_IN and value in _states_of(domain)) or value in known.get("attributes", {}).get(name, ())


@callback
def is_fixed_name(hass: HomeAssistant, state: State) -> bool:
    """Return whether an administrator named an entity, assigned its area, or set it up individually.

    Entities that appear by themselves, such as players, trackers and devices of a hub or broker, bring their own names.
    """
    entry = er.async_get(hass).async_get(state.entity_id)
    device = dr.async_get(hass).async_get(entry.device_id) if entry and entry.device_id else None
    if entry is not None and (entry.name is not None or entry.area_id is not None):
        return True
    if device is not None and (device.name_by_user is not None or device.area_id is not None):
        return True
    source = entity_sources(hass).get(state.entity_id)
    platform = entry.platform if entry else source["domain"] if source else None
    if platform in _SAMPLES:
        return True
    if platform is None or state.domain in NAMED_BY_OTHERS or platform in _PLATFORMS_OF_OTHERS:
        return platform is None and state.domain not in NAMED_BY_OTHERS
    owner = entry.config_entry_id if entry else source.get("config_entry") if source else None
    config_entry = hass.config_entries.async_get_entry(owner) if owner else None
    if config_entry is None or config_entry.title in (state.name, device and device.name):
        return True
    match _kind_of(hass, platform):
        case "hub":
            return False
        case "service":
            owned = dr.async_entries_for_config_entry(dr.async_get(hass), config_entry.entry_id)
            return len(owned) == 1 and device is not None and state.domain not in ("calendar", "todo")
        case _:
            return True


@callback
def _kind_of(hass: HomeAssistant, platform: str) -> str:
    """Return the kind of an integration by its manifest: whether one set-up is a device, a service, or a hub of any number."""
    if platform == DOMAIN:
        return "device"
    try:
        return str(async_get_loaded_integration(hass, platform).integration_type)
    except IntegrationNotLoaded:
        return "hub"


@callback
def free_names(hass: HomeAssistant) -> set[str]:
    """Return the names and ids of entities whose names are not fixed, but those that something else has by right."""
    free, fixed = set[str](), {area.name for area in ar.async_get(hass).async_list_areas()}
    for state in hass.states.async_all():
        (fixed if is_fixed_name(hass, state) else free).update((str(state.name), state.entity_id))
    return free - fixed


@callback
def has_free_name(hass: HomeAssistant, entity_ids: Iterable[str]) -> bool:
    """Return whether the name of any of some entities is not fixed."""
    return any((state := hass.states.get(one)) and not is_fixed_name(hass, state) for one in entity_ids)


@callback
def is_fixed_attribute_name(state: State, name: str) -> bool:
    """Return whether Home Assistant defines an attribute of that name for the kind of an entity."""
    return name in _SHARED_ATTRIBUTES or name in _attributes_of(state.domain)


def is_fixed_unit(unit: str) -> bool:
    """Return whether a unit is one of Home Assistant's, or a currency for such a unit."""
    first, _, second = unit.partition("/")
    is_currency = first in _MONEY or first in ACTIVE_CURRENCIES or first in HISTORIC_CURRENCIES
    return not unit or unit in _units() or (is_currency and (second in _units() if second else first == unit))


@callback
def free_texts(hass: HomeAssistant, state: State) -> Iterator[str]:
    """Yield the values of an entity that are not fixed, as texts."""
    if not is_fixed_state(hass, state):
        yield state.state
    for name, value in state.attributes.items():
        if not is_fixed_attribute(hass, state, name, value):
            yield f"{name}: {value}"


def has_free_text(value: Any, names: Iterable[str] = ()) -> bool:
    """Return whether data that no entity explains, such as the response of an action, holds any free text.

    Names are texts that are fixed beside numbers, times and words of Home Assistant's sets: those of entities and areas.
    """
    known = _words() | {*names}
    return any(not (is_plain(text) or text in known) for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in data; a key is one too, but where it is of Home Assistant's own."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if str(key) not in _keys():
                yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item)
    elif not isinstance(value, _PLAIN_TYPES):
        yield str(value)


@cache
def _states_of(domain: str) -> frozenset[str]:
    """Return the states that Home Assistant defines for a domain."""
    states: Iterable[str] = _TABLE.get(domain, {}).get("states", ())
    return frozenset(states)


@cache
def _attributes_of(domain: str) -> frozenset[str]:
    """Return the names of the attributes that Home Assistant defines for a domain."""
    known: Iterable[str] = _TABLE.get(domain, {}).get("attributes", ())
    return frozenset(known) | _MORE_ATTRIBUTES.get(domain, frozenset())


@cache
def _words() -> frozenset[str]:
    """Return all states and values of attributes that Home Assistant defines."""
    rows = _TABLE.values()
    values = (value for row in rows for known in row["attributes"].values() for value in known)
    return frozenset({*(state for row in rows for state in row["states"]), *values, *_units()})


@cache
def _keys() -> frozenset[str]:
    """Return the keys of responses and attributes that Home Assistant defines."""
    names = (name for domain in _TABLE for name in _attributes_of(domain))
    return frozenset(
        {*names, *_SHARED_ATTRIBUTES, *_WEATHER, "forecast", "events", "items", "result", "state", "start", "end"}
    )


@cache
def _units() -> frozenset[str]:
    """Return the units that Home Assistant defines."""
    found = {str(unit) for units in DEVICE_CLASS_UNITS.values() for unit in units if unit}
    for name, value in vars(const).items():
        if name.startswith("UnitOf"):
            found |= {str(unit) for unit in value}
    return frozenset({*found, const.DEGREE, const.PERCENTAGE, const.REVOLUTIONS_PER_MINUTE, const.UV_INDEX, *_COUNTS})


@callback
def _is_translated(hass: HomeAssistant, state: State, key: str) -> bool:
    """Return whether the integration of an entity has a text for a state or the value of an attribute of it."""
    texts, start = _translations_of(hass, state)
    return f"{start}{key}" in texts


@callback
def _has_translated_states(hass: HomeAssistant, state: State) -> bool:
    """Return whether the integration of an entity names the states that it can have."""
    texts, start = _translations_of(hass, state)
    return any(key.startswith(f"{start}state.") for key in texts)


@callback
def _translations_of(hass: HomeAssistant, state: State) -> tuple[Mapping[str, str], str]:
    """Return the texts of the integration of an entity, and how the keys of those for it begin; none where it has none."""
    entry = er.async_get(hass).async_get(state.entity_id)
    if entry is None or entry.translation_key is None:
        return {}, ""
    texts = async_get_cached_translations(hass, hass.config.language, "entity", entry.platform)
    return texts, f"component.{entry.platform}.entity.{state.domain}.{entry.translation_key}."

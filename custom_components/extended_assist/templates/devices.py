"""Devices and integrations in templates, as far as they have exposed entities."""

from enum import Enum
from typing import Any

from homeassistant.core import callback
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.entity import entity_sources

from .location import Home, TemplateFunction

# Others identify a device outside of the home, such as its serial number, network address or credentials in a URL.
_ATTRIBUTES = frozenset(
    {
        "area_id",
        "entry_type",
        "hw_version",
        "id",
        "labels",
        "manufacturer",
        "model",
        "model_id",
        "name",
        "name_by_user",
        "sw_version",
        "via_device_id",
    }
)
_FIXED_ATTRIBUTES = frozenset({"entry_type", "id", "name_by_user"})
"""Attributes that Home Assistant or an administrator sets."""
_ENTRY_ATTRIBUTES = frozenset({"disabled_by", "domain", "pref_disable_polling", "source", "state", "title"})


@callback
def device_entities(home: Home, device_id: Any) -> list[str]:
    """Return the entities of a device."""
    if not isinstance(device_id, str):
        return []
    return home.exposed(entry.entity_id for entry in er.async_entries_for_device(er.async_get(home.hass), device_id))


@callback
def device_id(home: Home, entity_id_or_device_name: Any) -> str | None:
    """Return the id of the device of an entity, or of a device by name."""
    if entry := home.entry(entity_id_or_device_name):
        return entry.device_id
    registry = dr.async_get(home.hass)
    return next(
        (
            device.id
            for devices in (registry.devices, registry.child_devices)
            for device in devices
            if _name(device) and _name(device) == str(entity_id_or_device_name) and home.device(device.id)
        ),
        None,
    )


def _name(device: dr.AnyDeviceEntry) -> str | None:
    """Return the name of a device."""
    return device.name_by_user or device.name


@callback
def _device(home: Home, lookup_value: Any) -> dr.AnyDeviceEntry | None:
    """Return a device by its id or by one of its entities."""
    if device := home.device(lookup_value):
        return device
    entry = home.entry(lookup_value)
    return home.device(entry.device_id) if entry else None


@callback
def device_name(home: Home, lookup_value: Any) -> str | None:
    """Return the name of a device, or of the device of an entity."""
    device = _device(home, lookup_value)
    return home.read_text(_name(device), is_fixed=device.name_by_user is not None) if device else None


@callback
def device_attr(home: Home, device_or_entity_id: Any, attr_name: Any) -> Any:
    """Return an attribute of a device, or of the device of an entity; None for one that is not available here."""
    if not isinstance(device_or_entity_id, str):
        raise TemplateError("Must provide a device or entity ID")
    device = _device(home, device_or_entity_id)
    if not device or attr_name not in _ATTRIBUTES:
        return None
    value = getattr(device, attr_name, None)
    if attr_name == "area_id":
        return value if home.area(value) else None
    if attr_name == "via_device_id":
        return value if home.device(value) else None
    if attr_name == "labels":
        return {label_id for label_id in device.labels if home.label(label_id)}
    return home.read_text(value, is_fixed=attr_name in _FIXED_ATTRIBUTES)


def is_device_attr(home: Home, device_or_entity_id: Any, attr_name: Any, attr_value: Any) -> bool:
    """Return whether a device has an attribute with a value."""
    return bool(home.ask(device_attr, device_or_entity_id, attr_name) == attr_value)


@callback
def integration_entities(home: Home, entry_name: Any) -> list[str]:
    """Return the entities of an integration, by its domain or by the title of one of its entries."""
    if not entry_name:
        return []
    registry = er.async_get(home.hass)
    titled = home.exposed(
        entity.entity_id
        for entry in home.hass.config_entries.async_entries()
        if entry.title == entry_name
        for entity in er.async_entries_for_config_entry(registry, entry.entry_id)
    )
    return titled or home.exposed(
        entity_id for entity_id, source in entity_sources(home.hass).items() if source["domain"] == entry_name
    )


@callback
def config_entry_id(home: Home, entity_id: Any) -> str | None:
    """Return the id of the configuration entry of an entity."""
    entry = home.entry(entity_id)
    return entry.config_entry_id if entry else None


@callback
def config_entry_attr(home: Home, config_entry_id: Any, attr_name: Any) -> Any:
    """Return an attribute of a configuration entry that has an exposed entity."""
    if not isinstance(config_entry_id, str):
        raise TemplateError("Must provide a config entry ID")
    if attr_name not in _ENTRY_ATTRIBUTES:
        raise TemplateError("Invalid config entry attribute")
    entities = er.async_entries_for_config_entry(er.async_get(home.hass), config_entry_id)
    entry = home.hass.config_entries.async_get_entry(config_entry_id)
    if entry is None or not home.exposed(entity.entity_id for entity in entities):
        return None
    value = getattr(entry, attr_name)
    return value.value if isinstance(value, Enum) else home.read_text(value, is_fixed=attr_name != "title")


FUNCTIONS = (
    TemplateFunction(device_entities),
    TemplateFunction(device_id),
    TemplateFunction(device_name),
    TemplateFunction(device_attr),
    TemplateFunction(is_device_attr, is_filter=False, is_test=True, on_loop=False),
    TemplateFunction(integration_entities),
    TemplateFunction(config_entry_id),
    TemplateFunction(config_entry_attr),
)

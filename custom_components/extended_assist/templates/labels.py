"""Labels in templates, as far as exposed entities, or their devices and areas, carry them."""

from typing import Any

from homeassistant.core import callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)

from .location import Home, TemplateFunction


@callback
def labels(home: Home, lookup_value: Any = None) -> list[str]:
    """Return the ids of all labels, or of those of an entity, device or area."""
    if lookup_value is None:
        return [label_id for label_id in lr.async_get(home.hass).labels if home.label(label_id)]
    text = str(lookup_value)
    carrier = home.entry(text) or home.device(text) or home.area(text)
    return [label_id for label_id in carrier.labels if home.label(label_id)] if carrier else []


@callback
def label_id(home: Home, lookup_value: Any) -> str | None:
    """Return the id of a label by name."""
    named = lr.async_get(home.hass).async_get_label_by_name(str(lookup_value))
    return named.label_id if named and home.label(named.label_id) else None


@callback
def label_name(home: Home, lookup_value: Any) -> str | None:
    """Return the name of a label by id."""
    label = home.label(lookup_value)
    return label.name if label else None


@callback
def label_description(home: Home, lookup_value: Any) -> str | None:
    """Return the description of a label by id."""
    label = home.label(lookup_value)
    return label.description if label else None


@callback
def label_areas(home: Home, label_id_or_name: Any) -> list[str]:
    """Return the ids of the areas that carry a label."""
    if not (found := _label(home, label_id_or_name)):
        return []
    return [area.id for area in ar.async_entries_for_label(ar.async_get(home.hass), found) if home.area(area.id)]


@callback
def label_devices(home: Home, label_id_or_name: Any) -> list[str]:
    """Return the ids of the devices that carry a label."""
    if not (found := _label(home, label_id_or_name)):
        return []
    devices = dr.async_entries_for_label(dr.async_get(home.hass), found)
    return [device.id for device in devices if home.device(device.id)]


@callback
def label_entities(home: Home, label_id_or_name: Any) -> list[str]:
    """Return the entities that carry a label themselves."""
    if not (found := _label(home, label_id_or_name)):
        return []
    return home.exposed(entry.entity_id for entry in er.async_entries_for_label(er.async_get(home.hass), found))


@callback
def _label(home: Home, label_id_or_name: Any) -> str | None:
    """Return the id of a label by id or name."""
    return label_id_or_name if home.label(label_id_or_name) else label_id(home, label_id_or_name)


FUNCTIONS = (
    TemplateFunction(labels),
    TemplateFunction(label_id),
    TemplateFunction(label_name),
    TemplateFunction(label_description),
    TemplateFunction(label_areas),
    TemplateFunction(label_devices),
    TemplateFunction(label_entities),
)

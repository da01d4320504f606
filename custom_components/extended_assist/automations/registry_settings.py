"""What the user has set of an automation, script or scene in the entity registry, which goes with it when it is removed."""

from collections.abc import Mapping
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    category_registry as cr,
    entity_registry as er,
    label_registry as lr,
)


@callback
def registered(hass: HomeAssistant, entity_id: str) -> dict[str, Any] | None:
    """Return the settings of an entity, in a form that can be stored; None where it has none."""
    if (entry := er.async_get(hass).async_get(entity_id)) is None:
        return None
    return {
        "entity_id": entity_id,
        "name": entry.name,
        "icon": entry.icon,
        "area_id": entry.area_id,
        "labels": sorted(entry.labels),
        "categories": dict(entry.categories),
        "aliases": [None if alias is er.COMPUTED_NAME else alias for alias in entry.aliases],
        "disabled_by": entry.disabled_by,
        "hidden_by": entry.hidden_by,
        "options": {domain: dict(options) for domain, options in entry.options.items()},
    }


@callback
def register(hass: HomeAssistant, entity_id: str, settings: Mapping[str, Any]) -> str:
    """Give an entity the settings that it had, exposure included, as far as what they name is still there; return its id then."""
    entities = er.async_get(hass)
    if (entry := entities.async_get(entity_id)) is None:
        return entity_id
    labels, categories = lr.async_get(hass), cr.async_get(hass)
    wanted: dict[str, Any] = {
        "name": settings["name"],
        "icon": settings["icon"],
        "area_id": settings["area_id"] if ar.async_get(hass).async_get_area(settings["area_id"] or "") else None,
        "labels": {label for label in settings["labels"] if labels.async_get_label(label)},
        "categories": {
            scope: category
            for scope, category in settings["categories"].items()
            if categories.async_get_category(scope=scope, category_id=category)
        },
        "aliases": [er.COMPUTED_NAME if alias is None else alias for alias in settings["aliases"]],
        "disabled_by": settings["disabled_by"] and er.RegistryEntryDisabler(settings["disabled_by"]),
        "hidden_by": settings["hidden_by"] and er.RegistryEntryHider(settings["hidden_by"]),
    }
    former = settings["entity_id"]
    if former != entity_id and entities.async_get(former) is None and hass.states.get(former) is None:
        wanted["new_entity_id"] = former
    changes = {key: value for key, value in wanted.items() if getattr(entry, key, None) != value}
    if changes:
        entity_id = entities.async_update_entity(entity_id, **changes).entity_id
    for domain, options in settings["options"].items():
        if dict(entry.options.get(domain, {})) != options:
            entities.async_update_entity_options(entity_id, domain, options)
    return entity_id

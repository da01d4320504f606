"""Areas and floors in templates, as far as they have exposed entities."""

from typing import Any

from homeassistant.core import callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, floor_registry as fr

from .location import Home, TemplateFunction


@callback
def areas(home: Home) -> list[str]:
    """Return the ids of all areas."""
    return [area_id for area_id in ar.async_get(home.hass).areas if home.area(area_id)]


@callback
def area_id(home: Home, lookup_value: Any) -> str | None:
    """Return the id of an area by name or alias, or of the area of a device or entity."""
    registry, text = ar.async_get(home.hass), str(lookup_value)
    named = registry.async_get_area_by_name(text)
    found = [*([named] if named else []), *registry.async_get_areas_by_alias(text)]
    return next((area.id for area in found if home.area(area.id)), None) or _area_of(home, lookup_value)


@callback
def _area_of(home: Home, lookup_value: Any) -> str | None:
    """Return the id of the area of an entity or device."""
    if entry := home.entry(lookup_value):
        return home.area_of(entry)
    device = home.device(lookup_value)
    area = home.area(dr.async_get_effective_area_id(home.hass, device)) if device else None
    return area.id if area else None


@callback
def area_name(home: Home, lookup_value: Any) -> str | None:
    """Return the name of an area by id, or of the area of a device or entity."""
    area = home.area(lookup_value) or home.area(_area_of(home, lookup_value))
    return area.name if area else None


@callback
def area_entities(home: Home, area_id_or_name: Any) -> list[str]:
    """Return the entities of an area."""
    found = _area(home, area_id_or_name)
    return home.area_entities(found.id) if found else []


@callback
def area_devices(home: Home, area_id_or_name: Any) -> list[str]:
    """Return the ids of the devices of an area."""
    if not (found := _area(home, area_id_or_name)):
        return []
    devices = dr.async_entries_for_area(dr.async_get(home.hass), found.id)
    return [device.id for device in devices if home.device(device.id)]


@callback
def _area(home: Home, area_id_or_name: Any) -> ar.AreaEntry | None:
    """Return an area by id, name or alias.

    As in Home Assistant, a device or entity does not stand for its area here.
    """
    return home.area(area_id_or_name if area_name(home, area_id_or_name) else area_id(home, area_id_or_name))


@callback
def floors(home: Home) -> list[str]:
    """Return the ids of all floors."""
    return [floor.floor_id for floor in fr.async_get(home.hass).async_list_floors() if _floor(home, floor.floor_id)]


@callback
def _floor(home: Home, floor_id: str | None) -> fr.FloorEntry | None:
    """Return a floor by id, if one of its areas has an exposed entity."""
    floor = fr.async_get(home.hass).async_get_floor(floor_id) if isinstance(floor_id, str) else None
    return floor if floor and _areas_of(home, floor.floor_id) else None


@callback
def _areas_of(home: Home, floor_id: str) -> list[str]:
    """Return the ids of the areas of a floor."""
    return [area.id for area in ar.async_entries_for_floor(ar.async_get(home.hass), floor_id) if home.area(area.id)]


@callback
def floor_id(home: Home, lookup_value: Any) -> str | None:
    """Return the id of a floor by name or alias, or of the floor of an area, device or entity."""
    registry, text = fr.async_get(home.hass), str(lookup_value)
    named = registry.async_get_floor_by_name(text)
    found = [*([named] if named else []), *registry.async_get_floors_by_alias(text)]
    if floor := next((floor for floor in found if _floor(home, floor.floor_id)), None):
        return floor.floor_id
    area = home.area(area_id(home, lookup_value))
    return area.floor_id if area else None


@callback
def floor_name(home: Home, lookup_value: Any) -> str | None:
    """Return the name of a floor by id, or of the floor of an area, device or entity."""
    floor = _floor(home, lookup_value)
    if not floor and (area := home.area(area_id(home, lookup_value))):
        floor = _floor(home, area.floor_id)
    return floor.name if floor else None


@callback
def floor_areas(home: Home, floor_id_or_name: Any) -> list[str]:
    """Return the ids of the areas of a floor."""
    # As in Home Assistant, an area, device or entity does not stand for its floor here.
    found = floor_id_or_name if floor_name(home, floor_id_or_name) else floor_id(home, floor_id_or_name)
    return _areas_of(home, found) if found else []


@callback
def floor_entities(home: Home, floor_id_or_name: Any) -> list[str]:
    """Return the entities of the areas of a floor."""
    return [entity_id for area in floor_areas(home, floor_id_or_name) for entity_id in home.area_entities(area)]


FUNCTIONS = (
    TemplateFunction(areas, is_filter=False),
    TemplateFunction(area_id),
    TemplateFunction(area_name),
    TemplateFunction(area_entities),
    TemplateFunction(area_devices),
    TemplateFunction(floors, is_filter=False),
    TemplateFunction(floor_id),
    TemplateFunction(floor_name),
    TemplateFunction(floor_areas),
    TemplateFunction(floor_entities),
)

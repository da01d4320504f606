"""Distances between places, and the closest entity, in templates."""

from typing import Any

from homeassistant.const import UnitOfLength
from homeassistant.core import valid_entity_id
from homeassistant.exceptions import TemplateError
from homeassistant.util import location

from .location import HOME_ZONE, TemplateFunction
from .state_proxies import TemplateHome, TemplateState
from .states import expand

type _Place = tuple[float, float]


def distance(home: TemplateHome, *args: Any) -> float | None:
    """Return the distance from home, or between two places, given as entities or as latitude and longitude."""
    places: list[_Place] = []
    given = list(args)
    while given:
        value = given.pop(0)
        is_entity = isinstance(value, TemplateState) or (isinstance(value, str) and valid_entity_id(value))
        place = _place(home, value) if is_entity else None
        # As in Home Assistant: what is no entity is a number, with the next one.
        if place is None and (not _state(home, value) if is_entity else True) and given:
            place = _point(value, given.pop(0))
        if place is None:
            return None
        places.append(place)
    if len(places) == 1:
        places.append(_home(home))
    meters = location.distance(*places[0], *places[1])
    return None if meters is None else home.hass.config.units.length(meters, UnitOfLength.METERS)


def closest(home: TemplateHome, *args: Any) -> TemplateState | None:
    """Return the entity closest to home, to an entity or to a latitude and longitude; the entities come last."""
    match args:
        case [entities]:
            place: _Place | None = _home(home)
        case [near, entities]:
            place = _place(home, near)
        case [latitude, longitude, entities]:
            place = _point(latitude, longitude)
        case _:
            raise TemplateError("closest takes entities, after a place if it is not home")
    if place is None:
        return None
    far = {state: _distance(place, there) for state in expand(home, entities) if (there := _place(home, state))}
    return min(far, key=far.__getitem__, default=None)


def closest_filter(home: TemplateHome, entities: Any, *place: Any) -> TemplateState | None:
    """Return the closest entity, as `closest` does; as a filter, the entities come first."""
    return closest(home, *place, entities)


def _home(home: TemplateHome) -> _Place:
    """Return the location of the home zone, if it is exposed."""
    if home.find(HOME_ZONE) is None:
        raise TemplateError(f"Where the home is is not exposed: name another place first, or have {HOME_ZONE} exposed")
    return home.hass.config.latitude, home.hass.config.longitude


def _state(home: TemplateHome, value: Any) -> TemplateState | None:
    """Return a state, given as state or id."""
    return value if isinstance(value, TemplateState) else home.find(value) if isinstance(value, str) else None


def _place(home: TemplateHome, value: Any) -> _Place | None:
    """Return the location of an entity."""
    if (state := _state(home, value)) is None:
        return None
    latitude, longitude = (home.number(state, name) for name in ("latitude", "longitude"))
    return None if latitude is None or longitude is None else (latitude, longitude)


def _point(latitude: Any, longitude: Any) -> _Place | None:
    """Return a location from two numbers, or None."""
    try:
        return float(latitude), float(longitude)
    except TypeError, ValueError:
        return None


def _distance(here: _Place, there: _Place) -> float:
    """Return the meters between two locations."""
    return location.distance(*here, *there) or 0.0


FUNCTIONS = (
    TemplateFunction(distance, is_filter=False, on_loop=False),
    TemplateFunction(closest, is_filter=False, on_loop=False),
    TemplateFunction(closest_filter, "closest", is_global=False, on_loop=False),
)

"""References of facts: the entities and areas that a fact is about, resolved when it is said."""

import asyncio
from collections.abc import Iterable, Iterator
import re
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er

from ..exposure.entities import Exposure, NotExposedError, normalize
from ..exposure.fixed_values import is_fixed_name
from ..exposure.name_index import async_get_names
from .fact import Fact, one_line

_LONGEST: Final = 6
"""The most words of a name."""
_TELLING: Final = 5
"""The least letters of a name of one word, since shorter words occur in any sentence."""
_PERSON: Final = "person."
"""What is told of persons by their names is the household's own knowledge; where they are stays hidden."""
_WORD = re.compile(r"[\w'\u2019]+")

SLICE: Final = 100
"""Facts that are checked at a time, which takes some milliseconds."""

type Subjects = tuple[list[str], list[str]]
"""Ids of entities and of areas."""


@callback
def look_up(hass: HomeAssistant, exposure: Exposure, words: str, about: Iterable[str] = ()) -> Subjects:
    """Return the subjects of a fact: those it is said to be about, which must be exposed, and those that its words name, hidden or not.

    Raises NotExposedError for a name of nothing that is exposed.
    """
    registry = ar.async_get(hass)
    names, entities, areas = async_get_names(hass), dict[str, None](), dict[str, None]()
    for name in about:
        if found := [entity_id for entity_id in names.named(normalize(name)) if entity_id.startswith(_PERSON)]:
            entities |= dict.fromkeys(found)
        elif called := [one for one in _areas(registry, name) if is_area_told(hass, exposure, one)]:
            areas |= dict.fromkeys(called)
        elif len(one := exposure.resolve(name)) == 1:
            entities[one[0].entity_id] = None
        else:
            listed = ", ".join(entity.entity_id for entity in one[:4])
            raise NotExposedError(f"about: '{name}' may be several: {listed}. Give the id of one.")
    for label in _labels(words):
        if called := _areas(registry, label):
            areas |= dict.fromkeys(called)
        else:
            found = sorted(names.named(label))
            is_telling = " " in label or len(label) >= _TELLING
            entities |= dict.fromkeys(one for one in found if is_telling or one.startswith(_PERSON))
    return list(entities), list(areas)


def _areas(registry: ar.AreaRegistry, name: str) -> list[str]:
    if area := registry.async_get_area_by_name(name):
        return [area.id]
    return [area.id for area in registry.async_get_areas_by_alias(name)]


@callback
def is_fact_visible(hass: HomeAssistant, exposure: Exposure, fact: Fact, areas: dict[str, bool] | None = None) -> bool:
    """Return whether nothing that a fact is about is hidden now, nor named in it by its id.

    areas keeps which areas are told, for many facts that are looked at in one go.
    """
    things = [entity_id for entity_id in fact.entities if not entity_id.startswith(_PERSON)]
    if any(exposure.visible_value(text) is None for text in (fact.words, *things)):
        return False
    areas = {} if areas is None else areas
    for area_id in fact.areas:
        if area_id not in areas:
            areas[area_id] = is_area_told(hass, exposure, area_id)
    return all(areas[area_id] for area_id in fact.areas)


async def async_visible_facts(hass: HomeAssistant, exposure: Exposure, facts: Iterable[Fact]) -> list[Fact]:
    """Return those of many facts that may be shown, in slices that let the event loop run."""
    areas: dict[str, bool] = {}
    told = []
    for number, fact in enumerate(facts, 1):
        if is_fact_visible(hass, exposure, fact, areas):
            told.append(fact)
        if number % SLICE == 0:
            await asyncio.sleep(0)
    return told


@callback
def is_area_told(hass: HomeAssistant, exposure: Exposure, area_id: str) -> bool:
    """Return whether an area is empty or has an exposed entity."""
    entities, devices = er.async_get(hass), dr.async_get(hass)
    found = [*er.async_entries_for_area(entities, area_id)]
    for device in dr.async_entries_for_area(devices, area_id):
        found += er.async_entries_for_device(entities, device.id)
    return not found or any(exposure.is_exposed(entry.entity_id) for entry in found)


@callback
def names_now(hass: HomeAssistant, exposure: Exposure, fact: Fact) -> str:
    """Return the current names of what a fact is about, if its words do not have them and the names are fixed."""
    found = [
        one_line(entity.name)
        for one in fact.entities
        if (entity := exposure.entity(one)) and is_fixed_name(hass, entity.state)
    ]
    return ", ".join(name for name in found if name.casefold() not in fact.words.casefold())


def _labels(words: str) -> Iterator[str]:
    """Yield the parts of a sentence that could be names, longest first, without parts of found ones."""
    parts = [normalize(part) for part in _WORD.findall(words)]
    for length in range(_LONGEST, 0, -1):
        for start in range(len(parts) - length + 1):
            if all(parts[start : start + length]):
                yield " ".join(parts[start : start + length])

"""Names of entities and areas in lists for models."""

from collections import defaultdict
from collections.abc import Iterable
import re

from homeassistant.core import HomeAssistant

from .entities import ExposedEntity
from .name_index import aliases_of

_NO_AREA = "no area"
_MARKS = re.compile(r"[;:=()\[\]]")

type InArea = tuple[tuple[str, ...], list[ExposedEntity]]
"""The names of an area and its entities; no names for entities without an area."""


def in_areas(entities: Iterable[ExposedEntity]) -> list[InArea]:
    """Return entities by area, those without an area last."""
    areas: defaultdict[tuple[str, ...], list[ExposedEntity]] = defaultdict(list)
    for entity in entities:
        areas[entity.area_names].append(entity)
    return sorted(areas.items(), key=lambda item: (not item[0], item[0]))


def place(names: Iterable[str]) -> str:
    """Return the names of an area, or the words for no area."""
    return joined_names(names) or _NO_AREA


def spoken_name(hass: HomeAssistant, entity: ExposedEntity) -> str:
    """Return the first name of an entity, or its id if it has none."""
    return next((told for name in assist_names(hass, entity) if (told := joined_names((name,)))), entity.entity_id)


def assist_names(hass: HomeAssistant, entity: ExposedEntity) -> list[str]:
    """Return exactly the names that Assist's tools accept: the id if the user gave no name."""
    return [name for name in aliases_of(hass, entity.state) if line_of(name)]


def joined_names(names: Iterable[str]) -> str:
    """Return the names of one entity in one text; a name with a separator in it is quoted."""
    lines = [line for name in names if (line := line_of(name))]
    return " = ".join(f'"{line}"' if _MARKS.search(line) else line for line in lines)


def line_of(text: str) -> str:
    """Return a text with its line breaks replaced by spaces."""
    return " ".join(text.splitlines()).strip()

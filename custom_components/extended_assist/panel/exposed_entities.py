"""The entities as an assistant sees them, with the reasons why some are not found."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import batched
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.recorder import DATA_INSTANCE

from ..const import CONF_FAMILIES
from ..exposure.domains import WITH_ENTITIES
from ..exposure.name_index import async_get_names, normalize
from ..ha_compat.energy import async_preferences
from ..ha_compat.exposed_entities import async_should_expose
from ..results import texts_in
from ..tools import DEFAULT_FAMILIES, FAMILIES

MAX_ROWS: Final = 100
"""The most entities of one response."""
_SLICE: Final = 200
"""The entities that are read before the event loop gets a turn."""
_ALL: Final = frozenset({"entities", "templates"})
_ACT: Final = frozenset({"actions", "wishes"})
_RECORDED: Final = frozenset({"history", "database"})
_WRITTEN: Final = frozenset({"automation", "scene", "script"})


@dataclass(frozen=True, slots=True)
class _Seen:
    """An entity, visible to the assistant or not."""

    entity_id: str
    names: tuple[str, ...]
    area: str = ""
    exposed: bool = False
    state: State | None = None
    entry: er.RegistryEntry | None = None

    def holds(self, words: list[str]) -> bool:
        """Return whether all words are in its id, its names or its area."""
        text = f"{self.entity_id} {' '.join(map(normalize, (*self.names, self.area)))}"
        return all(word in text for word in words)


async def async_visible(
    hass: HomeAssistant, entries: list[ConfigEntry], search: str, offset: int, assistant: str = "conversation"
) -> dict[str, Any]:
    """Return the entities whose id, name or area contains some words, from an offset, and their number."""
    words, found, count = normalize(search).split(), list[_Seen](), Counter[str]()
    for some in batched(_all_ids(hass), _SLICE, strict=False):
        for one in (_seen(hass, entity_id, assistant) for entity_id in some):
            count.update(["exposed"] if one.exposed else [])
            count.update(normalize(name) for name in one.names[:1] if one.exposed)
            if one.holds(words):
                found.append(one)
        await asyncio.sleep(0)
    found.sort(key=lambda one: (not one.exposed, one.entity_id))
    on = {family for entry in entries for family in entry.options.get(CONF_FAMILIES, DEFAULT_FAMILIES)}
    preferences = await async_preferences(hass) if "energy" in on else None
    measured = {text for text, _ in texts_in(preferences)} if preferences else set()
    rows = [
        {
            "entity_id": one.entity_id,
            "name": one.names[0],
            "aliases": one.names[1:],
            "area": one.area,
            "exposed": one.exposed,
            "families": [family for family in FAMILIES if family in on & _families(hass, one, measured)],
            "reasons": list(_reasons(hass, one, count)),
        }
        for one in found[offset : offset + MAX_ROWS]
    ]
    return {"rows": rows, "found": len(found), "exposed": count["exposed"]}


@callback
def _all_ids(hass: HomeAssistant) -> list[str]:
    """Return the ids of all entities, also those without a state."""
    return sorted({*hass.states.async_entity_ids(), *er.async_get(hass).entities})


@callback
def _seen(hass: HomeAssistant, entity_id: str, assistant: str) -> _Seen:
    """Return an entity with its names and area."""
    state, entry = hass.states.get(entity_id), er.async_get(hass).async_get(entity_id)
    if state is None:
        name = (entry.name or entry.original_name) if entry else None
        return _Seen(entity_id, (name or entity_id,), entry=entry)
    names, area_names = async_get_names(hass).names(state)
    exposed = async_should_expose(hass, assistant, entity_id)
    return _Seen(entity_id, names, area_names[0] if area_names else "", exposed, state, entry)


@callback
def _families(hass: HomeAssistant, one: _Seen, measured: set[str]) -> frozenset[str]:
    """Return the families of tools that read or control an entity."""
    if not one.exposed or one.state is None:
        return frozenset()
    found, domain = _ALL, one.state.domain
    if domain in WITH_ENTITIES and hass.services.async_services_for_domain(domain):
        found |= _ACT
    if _is_recorded(hass, one.entity_id):
        found |= _RECORDED
    if domain in _WRITTEN:
        found |= {"automations"}
    if domain == "script":
        found |= {"scripts"}
    if domain == "automation":
        found |= {"rehearsal"}
    return found | ({"energy"} if one.entity_id in measured else frozenset())


@callback
def _reasons(hass: HomeAssistant, one: _Seen, count: Counter[str]) -> Iterator[str]:
    """Yield the reasons why an entity, or some of its data, is not found."""
    if one.state is None:
        yield "disabled" if one.entry and one.entry.disabled_by else "no_state"
        return
    if not one.exposed:
        yield "not_exposed"
        return
    if one.state.state == STATE_UNAVAILABLE:
        yield "unavailable"
    if count[normalize(one.names[0])] > 1:
        yield "same_name"
    if not _is_recorded(hass, one.entity_id):
        yield "not_recorded"


@callback
def _is_recorded(hass: HomeAssistant, entity_id: str) -> bool:
    """Return whether the recorder stores the history of an entity."""
    if (instance := hass.data.get(DATA_INSTANCE)) is None:
        return False
    return instance.entity_filter is None or bool(instance.entity_filter(entity_id))

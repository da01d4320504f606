"""An index of all entity names that follows the registries, so that finding a name need not read the whole home."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from difflib import SequenceMatcher

from homeassistant.const import ATTR_FRIENDLY_NAME, EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, State, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er, intent
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN

_INDEX: HassKey[NameIndex] = HassKey(f"{DOMAIN}_names")
_SLICE = 100
"""The entities that are read before the event loop gets a turn."""
_LIKE = 0.5
"""The least similarity of a name to be suggested."""

type Names = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of an entity, the display name first, and those of its area."""


def normalize(text: str) -> str:
    """Return a text for comparing names: without case, underscores and extra spaces."""
    return " ".join(text.casefold().replace("_", " ").split())


def labels_of(names: Names) -> set[str]:
    """Return all texts that name exactly this entity."""
    own, areas = ({normalize(name) for name in part} for part in names)
    return own | {f"{area} {name}" for area in areas for name in own}


def name_of(state: State) -> str:
    """Return the display name of an entity as text: a state can have any value as its name."""
    return str(state.name).strip()


@callback
def aliases_of(hass: HomeAssistant, state: State, *, allow_empty: bool = True) -> list[str]:
    """Return the names by which Assist knows an entity."""
    if (entry := er.async_get(hass).async_get(state.entity_id)) is None:
        return [name_of(state)]
    return intent.async_get_entity_aliases(hass, entry, state=state, allow_empty=allow_empty)


@callback
def names_of(hass: HomeAssistant, state: State) -> Names:
    """Return the names and aliases of an entity and of its area."""
    entry = er.async_get(hass).async_get(state.entity_id)
    names = aliases_of(hass, state, allow_empty=False)
    area_id = entry.area_id if entry else None
    if entry and not area_id and entry.device_id and (device := dr.async_get(hass).async_get(entry.device_id)):
        area_id = dr.async_get_effective_area_id(hass, device)
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    return (
        tuple(dict.fromkeys((name_of(state), *names))),
        (area.name, *sorted(area.aliases)) if area else (),
    )


class NameIndex:
    """Finds entities by text, hidden ones too: callers must only show exposed ones."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Start to follow changes of names."""
        self._hass = hass
        self._names: dict[str, Names] = {}
        self._labels: dict[str, set[str]] = {}
        self._texts: dict[str, str] = {}
        self._ids: defaultdict[str, set[str]] = defaultdict(set)
        self._waiting = dict.fromkeys(hass.states.async_entity_ids())
        """Entities that are not indexed yet."""
        bus = hass.bus
        bus.async_listen(EVENT_STATE_CHANGED, self._async_state_changed, event_filter=_is_renamed)
        bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._async_entity_updated)
        bus.async_listen(dr.EVENT_DEVICE_REGISTRY_UPDATED, self._async_device_updated)
        bus.async_listen(ar.EVENT_AREA_REGISTRY_UPDATED, self._async_area_updated)

    async def async_fill(self) -> None:
        """Index all entities, in slices."""
        while self._waiting:
            self._look(list(self._waiting)[:_SLICE])
            await asyncio.sleep(0)

    @callback
    def names(self, state: State) -> Names:
        """Return the names of an entity."""
        return self._names.get(state.entity_id) or names_of(self._hass, state)

    @callback
    def named(self, label: str) -> set[str]:
        """Return the ids of the entities that a normalized text names exactly."""
        self._look(list(self._waiting))
        return self._ids.get(label) or set()

    @callback
    def containing(self, words: list[str]) -> list[str]:
        """Return the ids of the entities with all words in their id, names or area."""
        self._look(list(self._waiting))
        first, *others = words
        found = [entity_id for entity_id, text in self._texts.items() if first in text]
        return [entity_id for entity_id in found if all(word in self._texts[entity_id] for word in others)]

    def like(self, text: str) -> list[str]:
        """Return the ids of the entities with a similar name or id, best first; slow, and callable from any thread."""
        matcher = SequenceMatcher(b=text)
        nearest: dict[str, float] = {}
        for entity_id, labels in list(self._labels.items()):
            for label in (*labels, entity_id):
                matcher.set_seq1(label)
                # Cheap bounds first, as in difflib.
                if matcher.real_quick_ratio() >= _LIKE and matcher.quick_ratio() >= _LIKE:
                    ratio = matcher.ratio()
                    if ratio >= max(_LIKE, nearest.get(entity_id, 0)):
                        nearest[entity_id] = ratio
        return sorted(nearest, key=lambda entity_id: (-nearest[entity_id], entity_id))

    def _look(self, entity_ids: Iterable[str]) -> None:
        """Update the index for some entities."""
        for entity_id in entity_ids:
            self._waiting.pop(entity_id, None)
            for label in self._labels.pop(entity_id, ()):
                self._ids[label].discard(entity_id)
                if not self._ids[label]:
                    del self._ids[label]
            self._names.pop(entity_id, None)
            self._texts.pop(entity_id, None)
            if (state := self._hass.states.get(entity_id)) is None:
                continue
            self._names[entity_id] = names = names_of(self._hass, state)
            self._labels[entity_id] = labels = labels_of(names)
            self._texts[entity_id] = f" {' '.join(labels)} {entity_id}"
            for label in labels:
                self._ids[label].add(entity_id)

    @callback
    def _async_state_changed(self, event: Event[EventStateChangedData]) -> None:
        """Follow new, removed and renamed states."""
        self._look((event.data["entity_id"],))

    @callback
    def _async_entity_updated(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        """Follow names, aliases, areas and devices of entities."""
        self._look({event.data["entity_id"], str(event.data.get("old_entity_id", event.data["entity_id"]))})

    @callback
    def _async_device_updated(self, event: Event[dr.EventDeviceRegistryUpdatedData]) -> None:
        """Follow names and areas of devices, which their entities can use."""
        device_id = event.data["device_id"]
        parts = dr.async_entries_for_parent_device(dr.async_get(self._hass), device_id)
        self._look_at_devices({device_id, *(part.id for part in parts)})

    @callback
    def _async_area_updated(self, event: Event[ar.EventAreaRegistryUpdatedData]) -> None:
        """Follow names and aliases of areas."""
        if area_id := event.data["area_id"]:
            self._look(entry.entity_id for entry in er.async_entries_for_area(er.async_get(self._hass), area_id))
            self._look_at_devices(
                {device.id for device in dr.async_entries_for_area(dr.async_get(self._hass), area_id)}
            )

    def _look_at_devices(self, device_ids: set[str]) -> None:
        """Update the index for the entities of devices."""
        for device_id in device_ids:
            self._look(entry.entity_id for entry in er.async_entries_for_device(er.async_get(self._hass), device_id))


@callback
def _is_renamed(data: EventStateChangedData) -> bool:
    """Return whether a state change can be a new name."""
    old, new = data["old_state"], data["new_state"]
    return (
        old is None or new is None or old.attributes.get(ATTR_FRIENDLY_NAME) != new.attributes.get(ATTR_FRIENDLY_NAME)
    )


@callback
def async_get_names(hass: HomeAssistant) -> NameIndex:
    """Return the name index."""
    if _INDEX not in hass.data:
        hass.data[_INDEX] = NameIndex(hass)
    return hass.data[_INDEX]

"""Resolve the target of an action to exposed entities."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from homeassistant.const import (
    ATTR_AREA_ID,
    ATTR_DEVICE_CLASS,
    ATTR_DEVICE_ID,
    ATTR_ENTITY_ID,
    ATTR_FLOOR_ID,
    ATTR_LABEL_ID,
    ATTR_SUPPORTED_FEATURES,
    CONF_EXCLUDE,
    ENTITY_MATCH_ALL,
    ENTITY_MATCH_NONE,
)
from homeassistant.core import HomeAssistant, State, callback, split_entity_id
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.helpers.target import TargetSelection, async_extract_referenced_entity_ids

from ..exposure.entities import Exposure, NotExposedError, normalize
from ..exposure.groups import listed_members, members_of, moves_others
from ..results import ToolError

PLACES = {ATTR_DEVICE_ID: "device", ATTR_AREA_ID: "area", ATTR_FLOOR_ID: "floor", ATTR_LABEL_ID: "label"}
"""The keys of a target that name a place, with the noun for that place."""
REFERENCES = frozenset({ATTR_ENTITY_ID, *PLACES})
"""The keys that refer to entities, in targets and in data."""

_MAX_NAMED = 6
_MAX_PARTS = 100
_GROUP_DOMAIN = "group"
# Actions that affect one speaker only, even if it is in a group.
_ALONE = frozenset(
    f"media_player.{name}" for name in ("unjoin", "volume_set", "volume_up", "volume_down", "volume_mute")
)


@dataclass(frozen=True, slots=True)
class Fits:
    """The entities that an action accepts, from its description."""

    action: str
    domains: frozenset[str] | None = None
    """The accepted domains; None for all."""
    filters: tuple[Mapping[str, Any], ...] = ()
    """Filters of the target selector, of which one must match; empty for no filter."""
    is_primary: bool = True
    """True if a place stands for its entities without configuration and diagnostic entities."""

    def accepts(self, hass: HomeAssistant, state: State, *, by_name: bool = True) -> bool:
        """Return whether the action accepts an entity.

        An entity that is named itself only needs the right domain and integration; Home Assistant reports anything else.
        """
        if self.domains is not None and state.domain not in self.domains:
            return False
        return not self.filters or any(_matches(hass, state, wanted, by_name=by_name) for wanted in self.filters)


@dataclass(slots=True)
class Expansion:
    """The result of resolving a target."""

    entity_ids: dict[str, None] = field(default_factory=dict)
    """The exposed entities, in the order of the target."""
    hidden: set[str] = field(default_factory=set)
    """Entities of the target that are not exposed; only their number may be shown."""
    shared: set[str] = field(default_factory=set)
    """Exposed groups and scenes in a place that would also change hidden entities; they are left out."""


class Expander:
    """Resolves targets to the exposed entities that an action accepts."""

    def __init__(self, hass: HomeAssistant, exposure: Exposure, fits: Fits) -> None:
        """Store the exposure and the entities that the action accepts."""
        self._hass = hass
        self._exposure = exposure
        self._fits = fits

    @callback
    def expand(self, target: Mapping[str, Any], place: str = "target") -> Expansion:
        """Return the entities of a target, which may be named by id, name or alias.

        Raises ToolError with the place and the reason.
        """
        found = Expansion()
        for key, value in target.items():
            if key == CONF_EXCLUDE:
                continue
            if key not in REFERENCES:
                raise ToolError(f"{place}: '{key}' is no part of a target. Use {', '.join(sorted(REFERENCES))}.")
            for text in texts(value, f"{place}.{key}"):
                if key == ATTR_ENTITY_ID:
                    self._add_named(text, found)
                else:
                    self._add_all(self._in_place(key, text), found)
        if (exclude := target.get(CONF_EXCLUDE)) is not None:
            if not isinstance(exclude, Mapping):
                raise ToolError(
                    f"{place}.{CONF_EXCLUDE}: this must be an object, such as {{'entity_id': ['light.lamp']}}."
                )
            excluded = Expander(self._hass, self._exposure, Fits(self._fits.action)).expand(
                exclude, f"{place}.{CONF_EXCLUDE}"
            )
            found.entity_ids = {key: None for key in found.entity_ids if key not in excluded.entity_ids}
            found.hidden -= excluded.hidden
        return found

    def _add_named(self, text: str, found: Expansion) -> None:
        """Add entities given by id, registry id or name, several separated by commas."""
        if text in (ENTITY_MATCH_ALL, ENTITY_MATCH_NONE):
            if text == ENTITY_MATCH_ALL:
                domains = self._fits.domains
                self._add_all((state.entity_id for state in self._hass.states.async_all(domains)), found)
            return
        if "," in text and not self._exposure.is_exposed(text.strip().lower()):
            parts = dict.fromkeys(filter(None, map(str.strip, text.split(","))))
            if len(parts) > _MAX_PARTS:
                raise ToolError(f"{len(parts):,} entities in one text; at most {_MAX_PARTS} are allowed. Name an area.")
            for part in parts:
                self._add_named(part, found)
            return
        entity_id = self._find(text)
        self._settle(entity_id, found, self._refuse)

    def _find(self, text: str) -> str:
        """Return the one exposed and accepted entity that a text names."""
        entity_id = text.strip().lower()
        if (entry := er.async_get(self._hass).entities.get_entry(text)) is not None:
            entity_id = entry.entity_id
        if self._exposure.is_exposed(entity_id):
            return entity_id
        named = self._exposure.resolve(text)
        fitting = [found for found in named if found.domain == _GROUP_DOMAIN or self._accepts(found.entity_id)]
        if len(fitting) == 1:
            return fitting[0].entity_id
        if not fitting:
            raise ToolError(
                f"{_some(found.entity_id for found in named)} cannot do {self._fits.action}. Choose other entities."
            )
        raise ToolError(
            f"'{text}' means {len(fitting)} entities: {_some(found.entity_id for found in fitting)}. Name the ones to "
            "act on by entity id, or all of an area with area_id."
        )

    def _add_all(self, entity_ids: Iterable[str], found: Expansion) -> None:
        """Add the exposed and accepted entities of a place."""
        for entity_id in entity_ids:
            state = self._hass.states.get(entity_id)
            if state is None or not self._fits.accepts(self._hass, state, by_name=False):
                continue
            if not self._exposure.is_exposed(entity_id):
                found.hidden.add(entity_id)
            elif moves_others(self._hass, state):
                self._settle(entity_id, found, lambda entity_id, _: found.shared.add(entity_id))
            else:
                found.entity_ids[entity_id] = None

    def _settle(self, entity_id: str, found: Expansion, refuse: Callable[[str, str], None]) -> None:
        """Add an exposed entity; a group with hidden members is replaced by its exposed members."""
        members = members_of(self._hass, entity_id)
        together = entity_id in listed_members(self._hass, entity_id)
        if together and self._fits.action in _ALONE:
            members = []
        hidden = {member for member in members if not self._exposure.is_exposed(member)}
        domain = split_entity_id(entity_id)[0]
        if domain != _GROUP_DOMAIN and not hidden:
            if not self._accepts(entity_id):
                refuse(entity_id, f"{entity_id} cannot do {self._fits.action}.")
            else:
                found.entity_ids[entity_id] = None
            return
        visible = [
            member
            for member in members
            if member not in hidden
            and not members_of(self._hass, member)
            and (domain in (_GROUP_DOMAIN, split_entity_id(member)[0]))
            and self._accepts(member)
        ]
        # A scene cannot be applied in part, and a speaker in a group affects the whole group.
        if visible and domain != "scene" and not together:
            found.entity_ids.update(dict.fromkeys(visible))
            found.hidden |= {member for member in hidden if self._accepts(member)}
            return
        refuse(
            entity_id,
            f"{entity_id} cannot be used with {self._fits.action}: "
            + (f"it would also move {count(hidden)} not exposed." if hidden else "nothing in it can do that."),
        )

    @staticmethod
    def _refuse(_: str, reason: str) -> None:
        raise ToolError(f"{reason} Choose other entities.")

    def _accepts(self, entity_id: str) -> bool:
        state = self._hass.states.get(entity_id)
        return state is not None and self._fits.accepts(self._hass, state)

    def _in_place(self, key: str, text: str) -> list[str]:
        """Return all entities of a device, area, floor or label, given by id or name.

        Raises NotExposedError when it holds nothing exposed.
        """
        ids = place_ids(self._hass, key, text)
        selected = async_extract_referenced_entity_ids(
            self._hass, TargetSelection({key: ids}), primary_entities_only=self._fits.is_primary
        )
        entity_ids = sorted(selected.indirectly_referenced)
        if not any(map(self._exposure.is_exposed, entity_ids)):
            if key == ATTR_AREA_ID:
                self._exposure.in_area(text)  # Raises, naming the areas there are.
            raise NotExposedError(f"No {PLACES[key]} named '{text}' has exposed entities. Name the entities instead.")
        return entity_ids


@callback
def place_ids(hass: HomeAssistant, key: str, text: str) -> list[str]:
    """Return the ids of the devices, areas, floors or labels that a text means: an id, a name or an alias."""
    wanted = normalize(text)
    named: dict[str, tuple[str, ...]]
    match key:
        case "area_id":
            named = {area.id: (area.name, *area.aliases) for area in ar.async_get(hass).async_list_areas()}
        case "floor_id":
            named = {floor.floor_id: (floor.name, *floor.aliases) for floor in fr.async_get(hass).async_list_floors()}
        case "label_id":
            named = {label.label_id: (label.name,) for label in lr.async_get(hass).async_list_labels()}
        case _:
            if dr.async_get(hass).async_get(text) is not None:
                return [text]
            named = {
                device.id: tuple(filter(None, (device.name_by_user or device.name,)))
                for device in dr.async_get(hass).devices
            }
    return [text] if text in named else [key for key, names in named.items() if wanted in map(normalize, names)]


@callback
def check_whole(hass: HomeAssistant, exposure: Exposure, key: str, text: str, place: str) -> str:
    """Return the id of a device, area, floor or label whose entities are all exposed.

    Use it where the id itself is passed on, so that everything in the place may change. Raises ToolError otherwise.
    """
    expansion = Expander(hass, exposure, Fits(place)).expand({key: text}, place)
    if expansion.hidden or expansion.shared:
        raise ToolError(
            f"{place}: '{text}' holds {count(expansion.hidden | expansion.shared)} not exposed, so it cannot be used as a "
            "whole. Name entities instead."
        )
    return place_ids(hass, key, text)[0]


@callback
def check_device(hass: HomeAssistant, exposure: Exposure, device_id: str, place: str) -> None:
    """Raise ToolError for a device with a hidden entity or no exposed one; a remote may only expose its battery."""
    registry = er.async_get(hass)
    entries = [
        entry
        for entry in er.async_entries_for_device(registry, device_id)
        if hass.states.get(entry.entity_id) is not None
    ]
    hidden = {entry.entity_id for entry in entries if not exposure.is_exposed(entry.entity_id)}
    if len(hidden) == len(entries):
        raise NotExposedError(
            f"{place}: No device '{device_id}' has exposed entities. Use an entity, or tell the user to expose one of the device."
        )
    if main := {item.entity_id for item in entries if not (item.entity_category or item.hidden_by)} & hidden:
        raise ToolError(
            f"{place}: '{device_id}' holds {count(main)} not exposed, so it cannot be used as a whole. Name entities instead."
        )


def texts(value: Any, place: str) -> list[str]:
    """Return one or several references as a list without duplicates; raises ToolError for anything but texts."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    for item in values:
        if not isinstance(item, str) or not item.strip():
            raise ToolError(f"{place}: this must be a name or id, or a list of them. Write it so.")
    return list(dict.fromkeys(values))


def count(entity_ids: set[str]) -> str:
    """Return a number of entities in words, to be followed by 'not exposed'."""
    return f"{len(entity_ids)} entit{'y that is' if len(entity_ids) == 1 else 'ies that are'}"


def _some(entity_ids: Iterable[str]) -> str:
    listed = list(entity_ids)
    more = f" and {len(listed) - _MAX_NAMED} more" if len(listed) > _MAX_NAMED else ""
    return ", ".join(listed[:_MAX_NAMED]) + more


def _matches(hass: HomeAssistant, state: State, wanted: Mapping[str, Any], *, by_name: bool) -> bool:
    """Return whether an entity matches one filter of a target selector."""
    if "domain" in wanted and state.domain not in wanted["domain"]:
        return False
    if "integration" in wanted:
        entry = er.async_get(hass).async_get(state.entity_id)
        if entry is None or entry.platform != wanted["integration"]:
            return False
    if by_name:
        return True
    if "device_class" in wanted and state.attributes.get(ATTR_DEVICE_CLASS) not in wanted["device_class"]:
        return False
    features = wanted.get("supported_features")
    supported = state.attributes.get(ATTR_SUPPORTED_FEATURES, 0)
    return not features or any(supported & needed == needed for needed in features)

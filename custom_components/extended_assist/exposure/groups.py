"""Groups: the entities that an action on an entity also affects."""

from collections.abc import Iterable

from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er, group

from .entities import Exposure

# Where entities tell which others they move: groups and scenes, groups of integrations, speakers that play together.
_MEMBERS = ("entity_id", "group_entities", "group_members")
_MEMBERS_SET = frozenset(_MEMBERS)


@callback
def members_of(hass: HomeAssistant, entity_id: str) -> list[str]:
    """Return all existing entities that an action on an entity also affects, through nested groups."""
    members: dict[str, None] = {}
    if (state := hass.states.get(entity_id)) is None or not moves_others(hass, state):
        return []
    waiting = [entity_id]
    while waiting:
        for member in listed_members(hass, waiting.pop()):
            if member not in members and member != entity_id and hass.states.get(member) is not None:
                members[member] = None
                waiting.append(member)
    return list(members)


@callback
def is_group(hass: HomeAssistant, entity_id: str) -> bool:
    """Return whether an entity represents its members; a speaker that plays together with others does not."""
    if (state := hass.states.get(entity_id)) is None or not moves_others(hass, state):
        return False
    members = set(listed_members(hass, entity_id))
    return bool(members) and entity_id not in members


@callback
def moves_others(hass: HomeAssistant, state: State) -> bool:
    """Return whether an entity may have members; a fast check for many entities."""
    return not _MEMBERS_SET.isdisjoint(state.attributes) or (
        (entity := group.get_group_entities(hass).get(state.entity_id)) is not None and entity.group is not None
    )


@callback
def listed_members(hass: HomeAssistant, entity_id: str) -> Iterable[str]:
    """Yield the members that an entity lists."""
    if (state := hass.states.get(entity_id)) is None:
        return
    for attribute in _MEMBERS:
        if isinstance(listed := state.attributes.get(attribute), list | tuple | set | frozenset):
            yield from (member for member in listed if isinstance(member, str))
    entity = group.get_group_entities(hass).get(entity_id)
    if entity is not None and entity.group is not None:
        yield from entity.group.member_entity_ids


@callback
def hidden_beside(hass: HomeAssistant, exposure: Exposure, entity_id: str) -> set[str]:
    """Return the hidden entities of the same device, including its configuration entities."""
    registry = er.async_get(hass)
    entry = registry.async_get(entity_id)
    if entry is None or entry.device_id is None:
        return set()
    return {
        sibling.entity_id
        for sibling in er.async_entries_for_device(registry, entry.device_id)
        if hass.states.get(sibling.entity_id) is not None and not exposure.is_exposed(sibling.entity_id)
    }

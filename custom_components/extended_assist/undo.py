"""Bring back the states that entities had before a change."""

import asyncio
from types import ModuleType
from typing import TYPE_CHECKING, Any

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, State, split_entity_id
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.state import async_reproduce_state
from homeassistant.loader import IntegrationNotFound, async_get_integration
from homeassistant.util.json import JsonObjectType

from .actions.members import members_of
from .actions.perform import ChangeWatch, describe_change, safe_reason
from .journal import Change
from .results import ToolError

if TYPE_CHECKING:
    from .call import ToolCall

# Having been run or pressed is nothing to bring back; what it changed is recorded for each entity.
_ONLY_RAN = frozenset({"automation", "button", "event", "input_button", "scene", "script"})
_LIMITS = {
    "media_player": "what was playing and where in it",
    "vacuum": "where it had been",
}


async def async_undo_states(call: ToolCall, change: Change) -> JsonObjectType:
    """Bring states back as far as the entities are still exposed and can take a state."""
    before = {
        entity_id: State(entity_id, kept["state"], kept["attributes"])
        for entity_id, kept in change.details["states"].items()
    }
    exposed = {entity_id: state for entity_id, state in before.items() if call.exposure.is_exposed(entity_id)}
    wanted: list[State] = []
    not_undone: JsonObjectType = {}
    for entity_id, state in exposed.items():
        if reason := await _async_hindrance(call, state):
            if state.domain not in _ONLY_RAN or len(exposed) == 1:
                not_undone[entity_id] = reason
        else:
            wanted.append(state)
    answer: JsonObjectType = {}
    if wanted:
        answer["undone"] = await _async_restore(call, wanted, not_undone)
    if not_undone:
        answer["cannot_be_undone"] = not_undone
    if limits := sorted({_LIMITS[state.domain] for state in wanted if state.domain in _LIMITS}):
        answer["not_restored"] = f"This cannot be brought back: {'; '.join(limits)}."
    if hidden := len(before) - len(exposed):
        answer["note"] = f"{hidden} more of that change cannot be reached any more, and stayed as they are."
    if not answer.get("undone") and not answer.get("cannot_be_undone"):
        raise ToolError("Nothing of the last change can be reached any more, so nothing was undone.")
    return answer


async def _async_hindrance(call: ToolCall, state: State) -> str | None:
    """Return why a state cannot be brought back, or None."""
    if any(not call.exposure.is_exposed(member) for member in members_of(call.hass, state.entity_id)):
        return "it would also move what is not exposed"
    if await _async_platform(call.hass, state.domain) is None:
        return f"what was done to a {state.domain} cannot be taken back"
    if state.state in (STATE_UNAVAILABLE, STATE_UNKNOWN):
        return f"it was {state.state} before"
    return None


async def _async_platform(hass: HomeAssistant, domain: str) -> ModuleType | None:
    """Return what brings states of a domain back, if it can."""
    try:
        return await (await async_get_integration(hass, domain)).async_get_platform("reproduce_state")
    except ImportError, IntegrationNotFound:
        return None


async def _async_restore(call: ToolCall, wanted: list[State], not_undone: JsonObjectType) -> JsonObjectType:
    """Bring states back side by side and say what each became; failures are added to not_undone."""
    entity_ids = [state.entity_id for state in wanted]
    with ChangeWatch(call.hass, entity_ids) as watch:
        outcomes: list[Any] = await asyncio.gather(
            *(async_reproduce_state(call.hass, state, context=call.llm_context.context) for state in wanted),
            return_exceptions=True,
        )
        failed = dict(zip(entity_ids, outcomes, strict=True))
        await watch.async_settle(
            {state.entity_id for state in wanted if failed[state.entity_id] is None and not _is_back(call.hass, state)}
        )
    done: JsonObjectType = {}
    for state in wanted:
        entity_id = state.entity_id
        if isinstance(error := failed[entity_id], HomeAssistantError):
            not_undone[entity_id] = safe_reason(call.exposure, error)
        elif isinstance(error, BaseException):
            not_undone[entity_id] = f"the {split_entity_id(entity_id)[0]} refused"
        else:
            done[entity_id] = describe_change(call, watch.before[entity_id], call.hass.states.get(entity_id))
            if not _is_back(call.hass, state):
                done[entity_id] = f"{done[entity_id]}; it was {state.state} before"
    return done


def _is_back(hass: HomeAssistant, wanted: State) -> bool:
    """Return whether an entity has a state again."""
    state = hass.states.get(wanted.entity_id)
    return state is not None and state.state == wanted.state

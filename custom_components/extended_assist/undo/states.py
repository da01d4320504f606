"""Bring back the states that entities had before a change."""

import asyncio
from types import ModuleType

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, State, split_entity_id
from homeassistant.exceptions import HomeAssistantError, Unauthorized
from homeassistant.helpers.state import async_reproduce_state
from homeassistant.loader import IntegrationNotFound, async_get_integration
from homeassistant.util.json import JsonObjectType

from ..actions.perform import ACTION_TIME, ChangeWatch, describe_change, fitting, safe_reason
from ..domains import ONLY_RUN
from ..groups import members_of
from ..results import ToolError
from ..toolbox.call import ToolCall
from ..toolbox.journal import Change

_NOTES = 250
"""Characters kept free for what is said besides, of each half of an answer."""
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
    not_undone: dict[str, str] = {}
    for entity_id, state in exposed.items():
        if reason := await _async_hindrance(call, state):
            # Having been run is nothing to bring back; what it changed is recorded for each entity.
            if state.domain not in ONLY_RUN or len(exposed) == 1:
                not_undone[entity_id] = reason
        else:
            wanted.append(state)
    answer: JsonObjectType = {}
    undone = await _async_restore(call, wanted, not_undone) if wanted else {}
    room = call.budget // 2 - _NOTES
    for key, reports in (("undone", undone), ("cannot_be_undone", not_undone)):
        if reports:
            answer[key] = told = fitting(reports, room)
            if more := len(reports) - len(told):
                answer[f"more_{key}"] = more
    if limits := sorted({_LIMITS[state.domain] for state in wanted if state.domain in _LIMITS}):
        answer["not_restored"] = f"This cannot be brought back: {'; '.join(limits)}."
    if hidden := len(before) - len(exposed) + change.details.get("more", 0):
        answer["note"] = f"{hidden} more of that change cannot be reached any more, and stayed as they are."
    if not undone and not not_undone:
        raise ToolError("Nothing of the last change can be reached any more, so nothing was undone.")
    return answer


async def _async_hindrance(call: ToolCall, state: State) -> str | None:
    """Return why a state cannot be brought back, or None."""
    if any(not call.exposure.is_exposed(member) for member in members_of(call.hass, state.entity_id)):
        return "it would also move what is not exposed"
    if await _async_platform(call.hass, state.domain) is None:
        return "what it did cannot be taken back"
    if state.state in (STATE_UNAVAILABLE, STATE_UNKNOWN):
        return f"it was {state.state} before"
    return None


async def _async_platform(hass: HomeAssistant, domain: str) -> ModuleType | None:
    """Return what brings states of a domain back, if it can."""
    try:
        return await (await async_get_integration(hass, domain)).async_get_platform("reproduce_state")
    except ImportError, IntegrationNotFound:
        return None


async def _async_restore(call: ToolCall, wanted: list[State], not_undone: dict[str, str]) -> dict[str, str]:
    """Bring states back side by side and say what each became; failures are added to not_undone."""
    entity_ids = [state.entity_id for state in wanted]
    with ChangeWatch(call.hass, entity_ids) as watch:
        tasks = {
            state.entity_id: call.hass.async_create_task(
                async_reproduce_state(call.hass, state, context=call.llm_context.context)
            )
            for state in wanted
        }
        # What takes longer goes on by itself, and is reported as not back yet.
        await asyncio.wait(tasks.values(), timeout=ACTION_TIME)
        failed = {entity_id: task.exception() if task.done() else None for entity_id, task in tasks.items()}
        await watch.async_settle(
            {state.entity_id for state in wanted if failed[state.entity_id] is None and not _is_back(call.hass, state)}
        )
    done: dict[str, str] = {}
    for state in wanted:
        entity_id = state.entity_id
        if isinstance(error := failed[entity_id], Unauthorized):
            not_undone[entity_id] = "the user who speaks may not do this"
        elif isinstance(error, HomeAssistantError):
            not_undone[entity_id] = safe_reason(call.exposure, error)
        elif isinstance(error, BaseException):
            not_undone[entity_id] = f"the {split_entity_id(entity_id)[0]} refused"
        else:
            report = describe_change(call, watch.before[entity_id], call.hass.states.get(entity_id))
            done[entity_id] = report if _is_back(call.hass, state) else f"{report}; it was {state.state} before"
    return done


def _is_back(hass: HomeAssistant, wanted: State) -> bool:
    """Return whether an entity has a state again."""
    state = hass.states.get(wanted.entity_id)
    return state is not None and state.state == wanted.state

"""Perform an action and report the resulting states; list a sequence's actions for its plan."""

import re

import voluptuous as vol

from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.core import ServiceResponse, SupportsResponse
from homeassistant.exceptions import HomeAssistantError, Unauthorized
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.outcome import describe_change, fitting
from ..calls.plan import Frame, Step
from ..confirmation.wording import step_for
from ..exposure.entities import Exposure
from ..exposure.responses import safe_reason, visible_response
from ..results import FreeTextError, ToolError, format_duration, size
from ..worker.interruptible import async_pause
from .check import ResolvedAction
from .run import ENDING_DOMAINS, async_not_finished
from .sequences import Delay, SequenceWalker

_NOTES = 1_000
"""Characters that are reserved for the notes and the outcome."""
_NOT_ALLOWED = "The user who speaks may not do this in Home Assistant. Tell them to ask an administrator."


async def async_perform(call: ToolCall, action: ResolvedAction) -> JsonObjectType:
    """Perform an action in the call's context; return its response, or the old and new state of each entity.

    Raises ToolError if Home Assistant refuses it or it fails.
    """
    asks = action.supports_response is not SupportsResponse.NONE
    changes = action.supports_response is not SupportsResponse.ONLY
    call.recording.what = action.name
    answer: JsonObjectType = {"action": action.name}
    before = {entity_id: call.hass.states.get(entity_id) for entity_id in action.entity_ids}
    if response := await _async_call(call, action, return_response=asks):
        answer["response"] = visible_response(Exposure(call.hass, call.llm_context.assistant), response)
    if action.domain in ENDING_DOMAINS and (ended := await async_not_finished(call)):
        scripts = (ended[one] for one in action.entity_ids if one in ended and action.domain == SCRIPT_DOMAIN)
        if why := next(scripts, None):
            raise ToolError(f"{action.name} failed: it {why}. What it did before that is done.")
        answer["failures"] = {**ended}
    if changes:
        await call.recording.async_settle(call.hass)
        await async_pause(len(before))
        asked = {name.removesuffix("_pct") for name in action.data}
        reports = {
            entity_id: describe_change(call.hass, call.exposure, was, now, asked)
            for entity_id, was in before.items()
            # With a response, unchanged entities are left out.
            if (now := call.hass.states.get(entity_id)) is not was or (now and not asks)
        }
        if reports:
            answer["entities"] = told = fitting(reports, call.budget - size(answer) - _NOTES)
            if more := len(reports) - len(told):
                answer["more"] = f"{more} more entities were acted on."
    is_whole = changes and not (response or action.left_out) and bool(action.entity_ids)
    call.recording.is_complete = is_whole and call.recording.acts.keys() >= {*action.entity_ids}
    if action.left_out:
        answer["left_out"] = f"{action.left_out} more in this target not touched: not exposed, or moving what is not."
    return answer


async def _async_call(call: ToolCall, action: ResolvedAction, *, return_response: bool) -> ServiceResponse:
    """Call the action and return its response."""
    try:
        return await call.hass.services.async_call(
            action.domain,
            action.service,
            dict(action.data),
            blocking=True,
            context=call.llm_context.context,
            target=action.target,
            return_response=return_response,
        )
    except vol.Invalid as err:
        raise ToolError(
            f"{action.name} does not take this data: {safe_reason(call.exposure, err)}. Correct it and call again."
        ) from err
    except Unauthorized as err:
        raise ToolError(_NOT_ALLOWED) from err
    except (HomeAssistantError, NotImplementedError) as err:
        raise FreeTextError(f"{action.name} failed: {safe_reason(call.exposure, err)}") from err


def planned_steps(call: ToolCall, walker: SequenceWalker, frame: Frame = ()) -> tuple[Step, ...]:
    """Return every action that a walker found, also those in branches, with the delays before them."""
    return tuple(
        step_for(call, one.name, one.entity_ids, one.data, (*_time_frame(delay, frame, index), *_place_frame(place)))
        for index, (one, place, delay) in enumerate(zip(walker.actions, walker.places, walker.delays, strict=True))
    )


def _time_frame(delay: Delay, frame: Frame, index: int) -> Frame:
    """Return the words for an action's time: relative to the whole sequence, or to the action before it."""
    begin: Frame = () if delay.is_later and index else frame
    if not delay.seconds and not delay.is_open:
        return begin
    most = "\u2264 " if delay.can_be_shorter else ""
    return (*begin, ("then", "?" if delay.is_open else f"{most}{format_duration(delay.seconds)}"))


def _place_frame(place: str) -> Frame:
    depends = re.search(r"\.(then|else|choose|default)\b", place)
    return (*((("maybe", ""),) if depends else ()), *((("repeated", ""),) if ".repeat." in place else ()))

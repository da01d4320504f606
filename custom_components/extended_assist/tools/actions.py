"""Perform any action on exposed entities, and undo what was changed."""

from typing import override

import voluptuous as vol

from homeassistant.helpers import config_validation as cv, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import JsonObjectType

from ..actions.check import ResolvedAction, async_check_action
from ..actions.perform import async_perform
from ..calls.activity import ActivityKind
from ..calls.background_calls import check_nothing_goes_on
from ..calls.call import ToolCall
from ..calls.journal import PRIVATE, Change, async_get_journal
from ..calls.plan import Plan
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked, marked_answer
from ..confirmation.wording import step_for
from ..llm_tools.extended_tool import ExtendedTool
from ..results import ToolError, format_time
from ..undo.undoers import async_plan_undo, async_undo, undo_lock
from ..worker.interruptible import async_pause

_NOTHING = "This assistant has changed nothing in this conversation, or for this user, that is not undone already."


class PerformActionTool(ExtendedTool):
    """Perform an action, such as light.turn_on, on exposed entities."""

    name = "extended_assist__perform_action"
    title = "Perform action"
    description = (
        "Perform any action on exposed entities, e.g. light.turn_on, weather.get_forecasts. Returns the response, or what "
        "each entity was and is, and the outcome: report that, not what was wanted."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=True)
    family = "actions"
    tier = Tier.CONTROL
    deadline = 8.0
    shows_success = True
    parameters = vol.Schema(
        {
            vol.Required("action", description="domain.action"): cv.string,
            vol.Optional(
                "target",
                description="entity_id, area_id, floor_id, label_id, device_id: ids or names.",
            ): dict,
            vol.Optional("data", description="Fields, e.g. {'brightness_pct': 50}. No templates."): dict,
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Perform the action."""
        action = await _async_checked(call)
        answer = await async_perform(call, action)
        return marked_answer(call.hass, call.exposure, action.name, answer)

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of the action on the entities of its target."""
        action = await _async_checked(call)
        await async_pause(len(action.entity_ids))
        step = step_for(call, action.name, action.entity_ids, action.data)
        return Plan((step,), step.words)


class UndoLastChangeTool(ExtendedTool):
    """Undo the last change of this assistant in this conversation or for this user."""

    name = "extended_assist__undo_last_change"
    title = "Undo last change"
    description = (
        "Undo your last change, by any tool, in this conversation or for this user; call again for the one before. Tell "
        "what came back and what did not."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=False)
    family = "actions"
    tier = Tier.CONTROL
    can_be_undone = False
    happens = ActivityKind.UNDONE
    parameters = vol.Schema({})

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Undo the last change."""
        journal = await async_get_journal(call.hass)
        async with undo_lock(call.hass):
            check_nothing_goes_on(call.hass, call.caller)
            if (change := journal.last(call.caller)) is None:
                raise ToolError(_NOTHING)
            about: JsonObjectType = {"change": _what(call, change), "made_at": format_time(change.time)}
            answer = about | await async_undo(call, journal, change)
        return marked(answer, when=" failed: " in json_dumps(answer))

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of undoing the change that is the last one now."""
        check_nothing_goes_on(call.hass, call.caller)
        if (change := (await async_get_journal(call.hass)).last(call.caller)) is None:
            raise ToolError(_NOTHING)
        call.recording.is_told = change.kind not in PRIVATE
        spoken = f"Undo {_what(call, change)} of {format_time(change.time)}"
        return await async_plan_undo(call, change, spoken)


def _what(call: ToolCall, change: Change) -> str:
    """Return the name of the performed action; a script's own action is the script's id, which may be hidden now."""
    return call.exposure.visible_value(change.what) or "running a script"


async def _async_checked(call: ToolCall) -> ResolvedAction:
    """Return the checked action of the arguments."""
    arguments = call.arguments
    return await async_check_action(call, arguments["action"], arguments.get("target"), arguments.get("data"))

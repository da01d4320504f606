"""Perform any action on exposed entities, now or later, and undo what was changed."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import override

import voluptuous as vol

from homeassistant.core import SupportsResponse
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..actions.check import ResolvedAction, async_check_action
from ..actions.perform import async_perform
from ..actions.schedule import MAX_DELAY, Schedule, async_get_schedule, async_schedule
from ..actions.scheduled import ScheduledAction
from ..const import DOMAIN
from ..results import ToolError, format_duration, format_time
from ..toolbox.call import ToolCall
from ..toolbox.journal import CANCELLED, Change, async_get_journal
from ..toolbox.outside import marked, response_tells
from ..toolbox.plan import Frame, Plan, Step
from ..toolbox.policy import Tier
from ..toolbox.telling import step_for
from ..toolbox.tool import ExtendedTool
from ..toolbox.unfinished import check_nothing_goes_on
from ..undo.plan import async_plan_undo
from ..undo.undoers import async_undo, undo_lock

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
            vol.Optional("delay", description="Seconds to wait first."): vol.Coerce(float),
            vol.Optional("at", description="Local time to wait for: 17:30 or 2026-03-01 17:30."): cv.string,
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Perform the action, or schedule it."""
        action = await _async_checked(call)
        if (due := _due(call)) is None:
            answer = await async_perform(call, action)
            return marked(answer, when=response_tells(action.name, answer.get("response")))
        item = await async_schedule(
            call,
            due,
            action.name,
            action.data,
            name=action.name,
            entity_ids=action.entity_ids,
            targeted=action.targeted,
        )
        call.recording.is_complete = not action.left_out
        answer = {"scheduled": item.id, "at": format_time(due), "what": item.describe(call.exposure)}
        if action.left_out:
            answer["left_out"] = f"{action.left_out} more in this target will not be touched: not exposed."
        return answer

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the action on the entities that the target means now."""
        action = await _async_checked(call)
        frame: Frame = ()
        if (due := _due(call)) is not None:
            # What is to come after a delay comes later, the later the user agrees.
            delay = call.arguments.get("delay")
            frame = (("at", format_time(due)),) if delay is None else (("in", format_duration(delay)),)
        step = step_for(call, action.name, action.entity_ids, action.data, frame)
        return Plan((step,), step.words)


class ScheduledActionsTool(ExtendedTool):
    """List what is scheduled, or cancel some of it."""

    name = "extended_assist__scheduled_actions"
    title = "Scheduled actions"
    description = "List what perform_action scheduled and what became of it, or cancel one."
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=True, open_world=False)
    family = "actions"
    tier = Tier.CONTROL
    shows_success = True
    parameters = vol.Schema({vol.Optional("cancel", description="Its id."): cv.string})

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Cancel, or list."""
        schedule = await async_get_schedule(call.hass)
        if (item := _to_cancel(call, schedule)) is not None:
            await schedule.async_cancel(item.id)
            call.recording.changes.append(Change(CANCELLED, item.action, asdict(item)))
            call.recording.is_complete = True
            return {"cancelled": item.id, "what": item.describe(call.exposure)}
        answer: JsonObjectType = {
            "scheduled": [
                {"id": item.id, "at": format_time(item.due), "what": item.describe(call.exposure)}
                for item in schedule.waiting
                if item.is_visible(call.exposure)
            ]
        }
        if ended := [outcome for outcome in schedule.outcomes if outcome.scheduled.is_visible(call.exposure)]:
            answer["ended"] = [
                {
                    "at": format_time(outcome.scheduled.due),
                    "what": outcome.scheduled.describe(call.exposure),
                    "result": call.exposure.visible_value(outcome.result)
                    or "no longer told: something in it is hidden now",
                }
                for outcome in reversed(ended)
            ]
        # What a device said when it failed is told here, too.
        return marked(answer, when=any(" failed: " in outcome.result for outcome in ended))

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return what would be cancelled; nothing where it only lists."""
        if (item := _to_cancel(call, await async_get_schedule(call.hass))) is None:
            return Plan((), "List what is scheduled")
        words = f"Cancel: {item.describe(call.exposure)}"
        return Plan((Step(f"{DOMAIN}.cancel", tuple(item.entity_ids), {"id": item.id}, words),), words)


class UndoLastChangeTool(ExtendedTool):
    """Undo what this assistant changed last, in this conversation or for this user."""

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
        """Return what would be brought back of the very change that is the last one now."""
        check_nothing_goes_on(call.hass, call.caller)
        if (change := (await async_get_journal(call.hass)).last(call.caller)) is None:
            raise ToolError(_NOTHING)
        spoken = f"Undo {_what(call, change)} of {format_time(change.time)}"
        return await async_plan_undo(call, change, spoken)


def _what(call: ToolCall, change: Change) -> str:
    """Return what was done; the action of a script has the script's own id, which may be hidden by now."""
    return call.exposure.visible_value(change.what) or "running a script"


async def _async_checked(call: ToolCall) -> ResolvedAction:
    """Return the action that the arguments mean."""
    arguments = call.arguments
    action = await async_check_action(call, arguments["action"], arguments.get("target"), arguments.get("data"))
    if {"delay", "at"} & arguments.keys() and action.supports_response is SupportsResponse.ONLY:
        raise ToolError(f"{action.name} only answers, so it cannot be scheduled. Call without delay and at.")
    return action


def _due(call: ToolCall) -> datetime | None:
    """Return when an action is to be performed; None for now."""
    now = dt_util.now()
    if {"delay", "at"} <= call.arguments.keys():
        raise ToolError("Give either delay or at, not both.")
    if (delay := call.arguments.get("delay")) is not None:
        if not 1 <= delay <= MAX_DELAY.total_seconds():
            raise ToolError(
                f"delay must be from 1 second to {MAX_DELAY.total_seconds():.0f}, which is {MAX_DELAY.days} days."
            )
        return now + timedelta(seconds=delay)
    if (at := call.arguments.get("at")) is None:
        return None
    if (due := _moment(at, now)) is None:
        raise ToolError(f"at '{at}' is not a time. Write it like 17:30 or 2026-03-01 17:30, in local time.")
    if not now < due <= now + MAX_DELAY:
        raise ToolError(
            f"{format_time(due)} is not within the next {MAX_DELAY.days} days; it is now {format_time(now)}."
        )
    return due


def _moment(text: str, now: datetime) -> datetime | None:
    """Return the moment that a text means, a clock time being the next one; None for anything else."""
    try:
        if (moment := dt_util.parse_datetime(text)) is not None:
            return dt_util.as_local(moment)
    except ValueError:  # A date such as 2026-02-30.
        return None
    if (clock := dt_util.parse_time(text)) is None:
        return None
    day = now.date() + timedelta(days=int(datetime.combine(now, clock, now.tzinfo) <= now))
    return datetime.combine(day, clock, now.tzinfo)


def _to_cancel(call: ToolCall, schedule: Schedule) -> ScheduledAction | None:
    """Return the scheduled action to cancel, or None."""
    if (wanted := call.arguments.get("cancel")) is None:
        return None
    for item in schedule.waiting:
        if item.id == wanted and item.is_visible(call.exposure):
            return item
    raise ToolError(f"Nothing with id '{wanted}' is scheduled. Call without cancel to see what is.")

"""The tools for later: schedule, list, end and postpone tasks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.core import SupportsResponse
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.util.json import JsonObjectType

from ..actions.check import async_check_action
from ..actions.data import refuse_templates
from ..actions.sequences import SequenceWalker
from ..calls.call import ToolCall
from ..calls.caller import is_asked_later
from ..calls.change_recorder import Due
from ..calls.journal import WISH_CHANGED, Change
from ..calls.options import WISHES
from ..calls.plan import Plan, Step
from ..calls.policy import Tier
from ..confirmation.consequential import is_consequential
from ..confirmation.recheck import agreed_acts, things_of
from ..confirmation.untrusted_text import async_are_others, marked
from ..const import CONF_FAMILIES, DOMAIN
from ..llm_tools.extended_tool import ExtendedTool
from ..results import ToolError
from ..scheduled.creation import async_keep, owner_of
from ..scheduled.description import async_plan_task, async_prepare, describe_task, entity_ids_of, short_description
from ..scheduled.manager import async_get_scheduled_tasks
from ..scheduled.ownership import async_check_change
from ..scheduled.parser import async_read_audience, async_read_conditions, async_read_until, async_read_when
from ..scheduled.parts import chained
from ..scheduled.phrases import full_weekday_and_time
from ..scheduled.run import describe_started
from ..scheduled.scheduled_task import MAX_WORDS, ScheduledTask, What
from ..scheduled.store import async_take_turn
from .scheduled_answers import MAX_NAME, async_listed, async_visible, told

MAX_SNOOZE = 24 * 3600
_LIKE_NOW: Final[Mapping[type, str]] = {list: "execute_script", dict: "perform_action"}
"""The tools that do the same now: if the options ask before these, they also ask before doing it later."""
_WHAT: Final = ("say", "ask", "action")


def _action_or_steps(value: Any) -> Any:
    """Return one action, or the steps of a script; raises vol.Invalid for anything else."""
    if isinstance(value, dict) or (isinstance(value, list) and value and all(isinstance(one, dict) for one in value)):
        return value
    raise vol.Invalid("give {action, target, data}, or a list of the steps of a script")


class DoLaterTool(ExtendedTool):
    """Schedule an action, a message or a question at a time, by a rule or by a trigger."""

    name = "extended_assist__do_later"
    title = "Do later"
    description = "Reminders, alarms, delayed actions, 'when …, then …, once'. Local times. Plain timers: HassStartTimer, if offered."
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=True)
    family = WISHES
    tier = Tier.CONTROL
    shows_success = True
    parameters = vol.Schema(
        {
            vol.Required(
                "when",
                description="{after: seconds}, {at: 07:00 or 2026-03-01 17:30}, {repeat: RRULE, at: 07:00}, or {triggers: "
                "[as in automations], wait: seconds after}.",
            ): dict,
            vol.Optional("say", description="Words; with action: said at its end, if all of it worked."): cv.string,
            vol.Optional("ask", description="A question to answer then."): cv.string,
            # No type: one action, or several steps.
            vol.Optional(
                "action",
                description="{action: light.turn_on, target: {entity_id}, data}, or steps of a script, with fixed delays between "
                "them up to a day.",
            ): _action_or_steps,
            vol.Optional("for", description="Who hears it, if not here: everyone, a person, an area."): cv.string,
            vol.Optional(
                "until",
                description="'done': say it again until the user did it. Or times, or a local time. Triggers: once.",
            ): cv.string,
            # No type: a list of objects or templates, or a single one.
            vol.Optional("while", description="Conditions, as in automations."): cv.ensure_list,
            vol.Optional("name", description="Short."): cv.string,
        }
    )

    @override
    def asks_first(self, call: ToolCall) -> bool:
        """Ask before actions if the options ask before doing them now."""
        like_now = _LIKE_NOW.get(type(call.arguments.get("action")))
        return like_now in call.options.policy.ask_first or super().asks_first(call)

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Check and store the task; return its description."""
        task, left_out = await _async_task(call)
        if any(part.actions for part in task.what.parts):
            plan = await async_plan_task(call, task)
            task.what.things = things_of(call.hass, plan)
            task.agreed_to = agreed_acts(call.hass, plan)
        await async_keep(call, task)
        call.recording.is_complete = not left_out
        call.recording.due = Due(task.next_moment)
        answer = {"id": task.id} | told(call, task)
        if left_out:
            answer["left_out"] = f"{left_out} more in this target will not be touched: not exposed."
        return answer

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of the task: its actions, time and audience."""
        task, _ = await _async_task(call)
        after = call.arguments["when"].get("after")
        return await async_plan_task(call, task, delay=float(after) if after else None)


class PendingTool(ExtendedTool):
    """List tasks and their results; end, complete or postpone one."""

    name = "extended_assist__pending"
    title = "Pending"
    description = "List scheduled items and their results; cancel, complete or snooze one."
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=False)
    family = WISHES
    tier = Tier.CONTROL
    shows_success = True
    parameters = vol.Schema(
        {
            vol.Optional("cancel", description="Id."): cv.string,
            vol.Optional("done", description="Id: the user did it."): cv.string,
            vol.Optional("snooze", description="{id, seconds}"): dict,
            vol.Optional("about", description="Words in it."): cv.string,
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """End, complete, postpone or list."""
        if (asked := await _async_asked(call)) is None:
            return await async_listed(call)
        verb, task, seconds = asked
        tasks = await async_get_scheduled_tasks(call.hass)
        later = tasks.parts_of(task.id) if verb == "cancel" else []
        before = [one.stored() for one in (task, *later) if one.is_standing or verb == "snooze"]
        runs, earlier = tasks.runs_of(task.id), tasks.find(task.after) if task.after else task if later else None
        match verb:
            case "cancel":
                changed = await tasks.async_end(task.id, "cancelled")
            case "done":
                changed = await tasks.async_done(task.id)
            case _:
                changed = await tasks.async_snooze(task.id, seconds)
        if changed is None:
            raise ToolError(_UNCHANGED[verb == "snooze"])
        what = f"{verb}: something for later"
        if before:
            call.recording.changes.append(Change(WISH_CHANGED, what, before[0] | {"later_parts": before[1:]}))
        begun = {} if changed.is_standing else describe_started(runs, changed, call.exposure, earlier)
        # Prepared words say nothing of what had begun.
        call.recording.is_complete = not begun
        answer: JsonObjectType = begun | {
            _CHANGED[verb]: task.id,
            "what": describe_task(call.hass, call.exposure, task),
        }
        if changed.is_standing and (moment := changed.next_moment) is not None:
            answer["next"] = full_weekday_and_time(moment)
            call.recording.due = Due(moment)
        is_other = await async_are_others(call.hass, call.caller.user_id, [task.author])
        return marked(answer, when=is_other)

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of ending or postponing a task; an empty plan for a list."""
        if (asked := await _async_asked(call)) is None:
            return Plan((), "List what is pending")
        verb, task, seconds = asked
        words = f"{verb.capitalize()}: {describe_task(call.hass, call.exposure, task)}"
        data = {"id": task.id} | ({"seconds": seconds} if verb == "snooze" else {})
        steps: tuple[Step, ...] = (Step(f"{DOMAIN}.{verb}", tuple(entity_ids_of(task)), data, words),)
        if verb == "snooze" and task.agreed and task.is_standing and not task.progress.times and task.progress.due:
            # Its time was part of what was agreed to.
            when = replace(task.when, moment=task.progress.due + seconds, rule=None, triggers=[], watch=None)
            later = await async_plan_task(call, replace(task, when=when))
            steps += tuple(step for step in later.steps if is_consequential(call.hass, step))
        has_free_text = await async_are_others(call.hass, call.caller.user_id, [task.author])
        return Plan(steps, words, has_free_text=has_free_text)


_UNCHANGED: Final = (
    "It has just ended. Call without arguments to see what is pending.",
    "There is no moment to put off, and nothing of it was said. Cancel it where it is pending, and make it anew with do_later.",
)
_CHANGED: Final = {"cancel": "cancelled", "done": "done", "snooze": "snoozed"}


async def _async_task(call: ToolCall) -> tuple[ScheduledTask, int]:
    """Return the task that the arguments mean, and how many entities its target also means that are not exposed."""
    await async_take_turn(call.hass)
    given, owner = call.arguments, owner_of(call)
    if "action" in given:
        _check_actions(call, owner.entry_id)
    what, left_out = await _async_what(call)
    when = await async_read_when(call, given["when"])
    task = ScheduledTask(
        name=given.get("name", "").strip()[:MAX_NAME],
        owner=owner,
        when=when,
        what=what,
        audience=await async_read_audience(call, given),
        until=await async_read_until(given),
        conditions=await async_read_conditions(call, {"conditions": given.get("while")}),
    )
    if when.triggers and when.rule is None and task.until.moment is None and task.until.times is None:
        task.until.times = 1  # What is to happen each time, for good, is an automation.
    task.name = task.name or short_description(what)[:MAX_NAME]
    if task.until.done and not any(part.say or part.ask for part in what.parts):
        raise ToolError("until: nothing is said that could be done. Give say as well.")
    await async_prepare(call.exposure, task)
    return task, left_out


def _check_actions(call: ToolCall, entry_id: str) -> None:
    """Refuse actions while their family is off."""
    entry = call.hass.config_entries.async_get_entry(entry_id)
    if entry is not None and "actions" not in entry.options.get(CONF_FAMILIES, ("actions",)):
        raise ToolError("Actions are turned off in the options of Extended Assist. Give say or ask, or tell the user.")


async def _async_what(call: ToolCall) -> tuple[What, int]:
    """Return the checked content of a task, and how many entities its target also means that are not exposed."""
    given = call.arguments
    if not any(given.get(key) for key in _WHAT):
        raise ToolError(f"Say what is to happen then: give {', '.join(_WHAT[:-1])} or {_WHAT[-1]}.")
    # Each answer could ask for the next one, without an end and without anybody there.
    if given.get("ask") and is_asked_later(call.hass, call.caller.llm_context.context):
        raise ToolError("This is itself the answer to something that was asked for later. Give say, or answer now.")
    for key in ("say", "ask"):
        if len(given.get(key, "")) > MAX_WORDS:
            raise ToolError(f"{key} has more than {MAX_WORDS} characters. Say it shorter.")
        try:
            refuse_templates(given.get(key, ""))
        except ToolError as err:
            raise ToolError(f"{key}: {err} With ask, what is so at that time is looked up then.") from err
    what, left_out = What(say=given.get("say") or None, ask=given.get("ask") or None), 0
    one = given.get("action")
    if isinstance(one, list):
        what = chained(await SequenceWalker(call).async_actions(one, "action"), what.say, what.ask, "action")
    elif one:
        if unknown := [str(key) for key in one if key not in ("action", "target", "data")]:
            raise ToolError(f"action: unknown here: {', '.join(unknown)}. Give action, target and data.")
        if not all(isinstance(one.get(key) or {}, dict) for key in ("target", "data")):
            raise ToolError("action: target and data must be objects.")
        action = await async_check_action(call, str(one.get("action", "")), one.get("target"), one.get("data"))
        if action.supports_response is SupportsResponse.ONLY:
            raise ToolError(f"{action.name} only answers. Give ask instead, which is answered then.")
        what.actions, left_out = (
            [
                {
                    "action": action.name,
                    "entity_ids": list(action.entity_ids),
                    "data": action.data,
                    "targeted": action.targeted,
                }
            ],
            action.left_out,
        )
    return what, left_out


async def _async_asked(call: ToolCall) -> tuple[str, ScheduledTask, float] | None:
    """Return the verb, its task, and the seconds for which it is put off; None where tasks are only listed."""
    given = [key for key in _CHANGED if key in call.arguments]
    if len(given) > 1:
        raise ToolError(f"Give one of {', '.join(given)} at a time.")
    if not given:
        return None
    (verb,), seconds = given, 0.0
    wanted = call.arguments[verb]
    if verb == "snooze":
        try:
            seconds = float(wanted["seconds"])
            wanted = str(wanted["id"])
        except (KeyError, TypeError, ValueError) as err:
            raise ToolError("snooze takes an object with id and seconds.") from err
        if not 1 <= seconds <= MAX_SNOOZE:
            raise ToolError(f"snooze.seconds must be from 1 to {MAX_SNOOZE}, which is a day.")
    tasks = await async_get_scheduled_tasks(call.hass)
    ended = [one for one in tasks.ended if verb == "snooze" or (verb == "cancel" and tasks.parts_of(one.id))]
    among = [*tasks.standing, *ended]
    for task in await async_visible(call, among):
        if task.id == wanted.strip().lower():
            await async_check_change(call.hass, task, call.caller.user_id)
            await async_prepare(call.exposure, task)
            return verb, task, seconds
    raise ToolError(f"Nothing with id '{wanted}' is pending. Call without arguments to see what is.")

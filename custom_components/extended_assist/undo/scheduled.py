"""Undo of making, ending, completing or snoozing a scheduled task."""

from dataclasses import replace

from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.journal import CANCELLED, SCHEDULED, WISH, Change
from ..calls.plan import Plan, Step
from ..confirmation.untrusted_text import async_are_others
from ..const import DOMAIN
from ..results import OverError, ToolError
from ..scheduled.description import async_plan_task, async_prepare, described_task, entity_ids_of, is_told
from ..scheduled.due_times import next_moment
from ..scheduled.manager import async_get_scheduled_tasks
from ..scheduled.migration import task_of
from ..scheduled.ownership import async_check_change
from ..scheduled.run import told_begun
from ..scheduled.scheduled_task import ScheduledTask, read_stored

_TAKEN_BACK = "taken back"


async def async_undo_task(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """End a task that the change made, and its later parts; raises OverError if nothing of it is pending."""
    tasks = await async_get_scheduled_tasks(call.hass)
    if (made := tasks.find(change.details["id"])) is not None:
        await async_check_change(call.hass, made, call.caller.user_id)
    runs, later = tasks.runs_of(change.details["id"]), tasks.parts_of(change.details["id"])
    earlier = tasks.find(change.details["id"]) if later else None
    task = await tasks.async_end(change.details["id"], _TAKEN_BACK)
    if task is None:
        raise OverError("What was to come has happened or was ended already. Undo again for what it changed.")
    await async_prepare(call.exposure, task)
    begun = told_begun(runs, task, call.exposure, earlier)
    how = ", though it had begun already" if begun else ""
    return begun | {"undone": f"ended{how}: {described_task(call.hass, call.exposure, task)}"}, True


async def async_restore_task(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Restore a task to its state before it was ended or changed: pending, or ended for a snooze of an ended task.

    Raises OverError if its entry was removed or its time is over.
    """
    tasks, task = await async_get_scheduled_tasks(call.hass), before(change)
    await async_check_change(call.hass, task, call.caller.user_id)
    await async_prepare(call.exposure, task)
    what = described_task(call.hass, call.exposure, task)
    if not task.is_standing:
        await tasks.async_end(task.id, task.progress.result or _TAKEN_BACK)
        return {"undone": f"no more put off: {what}"}, True
    if call.hass.config_entries.async_get_entry(task.owner.entry_id) is None:
        raise OverError("The assistant that kept it was removed, so it cannot be brought back.")
    now = dt_util.utcnow().timestamp()
    if not task.when.triggers and next_moment(task.when, now) is None and (task.progress.again or 0) <= now:
        raise OverError("Its time is over, so it cannot be brought back.")
    await tasks.async_restore(task)
    for part in read_stored({"wishes": change.details.get("later_parts", [])}):
        if (next_moment(part.when, now) or 0) > now:
            await tasks.async_restore(part)
    return {"undone": f"to come as before: {what}", "id": task.id}, True


async def async_plan_undo_task(call: ToolCall, change: Change, sentence: str) -> Plan:
    """Return the plan for undoing a change of a task; it has no steps if there is nothing to end."""
    if change.kind in (SCHEDULED, WISH):
        tasks = await async_get_scheduled_tasks(call.hass)
        task = tasks.find(change.details["id"])
        if task is None or not (task.is_standing or tasks.parts_of(task.id)) or not is_told(call.exposure, task):
            return Plan((), sentence, bound_to=change.id)
        await async_prepare(call.exposure, task)
        words = f"Cancel: {described_task(call.hass, call.exposure, task)}"
        step = Step(f"{DOMAIN}.cancel", tuple(entity_ids_of(task)), {}, words)
        has_free_text = await async_are_others(call.hass, call.caller.user_id, [task.author])
        return Plan((step,), words, bound_to=change.id, has_free_text=has_free_text)
    earlier = before(change)
    try:
        plan = await async_plan_task(call, earlier)
    except ToolError:
        # A part of the task is hidden now, so the plan cannot list all of its steps.
        return Plan((Step(f"{DOMAIN}.undo", (), {}, sentence),), sentence, is_whole=False, bound_to=change.id)
    has_free_text = await async_are_others(call.hass, call.caller.user_id, [earlier.author])
    return replace(plan, bound_to=change.id, has_free_text=has_free_text)


def before(change: Change) -> ScheduledTask:
    """Return the task as the journal stored it, from before the change."""
    if change.kind == CANCELLED:
        return task_of(change.details)
    (task,) = read_stored({"wishes": [change.details]})
    return task

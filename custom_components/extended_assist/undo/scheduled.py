"""Undo of changes of scheduled tasks and of facts."""

from dataclasses import replace

from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType, JsonValueType

from ..calls.call import ToolCall
from ..calls.journal import CANCELLED, SCHEDULED, WISH, Change
from ..calls.plan import Plan, Step
from ..confirmation.untrusted_text import async_are_others, marked
from ..const import DOMAIN
from ..memory.fact import Fact
from ..memory.ownership import async_check_access, async_check_writer
from ..memory.references import is_fact_visible
from ..memory.store import Memory, async_get_memory
from ..results import OverError, ToolError
from ..scheduled.description import async_plan_task, async_prepare, describe_task, entity_ids_of, is_task_visible
from ..scheduled.due_times import next_moment
from ..scheduled.manager import async_get_scheduled_tasks
from ..scheduled.migration import task_of
from ..scheduled.ownership import async_check_change
from ..scheduled.run import describe_started
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
    begun = describe_started(runs, task, call.exposure, earlier)
    how = ", though it had begun already" if begun else ""
    return begun | {"undone": f"ended{how}: {describe_task(call.hass, call.exposure, task)}"}, True


async def async_restore_task(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Restore a task to its state before it was ended or changed: pending, or ended for a snooze of an ended task.

    Raises OverError if its entry was removed or its time is over.
    """
    tasks, task = await async_get_scheduled_tasks(call.hass), before(change)
    await async_check_change(call.hass, task, call.caller.user_id)
    await async_prepare(call.exposure, task)
    what = describe_task(call.hass, call.exposure, task)
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
        if (
            task is None
            or not (task.is_standing or tasks.parts_of(task.id))
            or not is_task_visible(call.exposure, task)
        ):
            return Plan((), sentence, bound_to=change.id)
        await async_prepare(call.exposure, task)
        words = f"Cancel: {describe_task(call.hass, call.exposure, task)}"
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


_OVER = "What was remembered or forgotten then is deleted for good. Undo again for the change before."
_FORGOTTEN = "The fact that was changed then is forgotten since. Undo that first, or call remember with its words."
_NOT_YOURS = "The last change here was of what somebody else wanted remembered. Only they can take it back."


async def async_undo_fact(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Forget the facts that the change added, and restore those that it ended; a fact changed in place keeps its id.

    Raises OverError if the facts are deleted, and ToolError if they belong to others or were forgotten since.
    """
    memory = await async_get_memory(call.hass)
    added, ended = await _async_facts(call, memory, change)
    if change.details.get("in_place"):
        (past,) = ended
        restored = replace(past, id=added[0].id, ended=None, replaced_by=None)
        if await memory.async_replace(restored, past.id) is None:
            raise OverError(_OVER)
    else:
        await memory.async_end([fact.id for fact in added], [fact.id for fact in ended])
    undone: dict[str, JsonValueType] = {}
    for key, facts in (("forgotten", added), ("remembered_again", ended)):
        if words := _words(call, facts):
            undone[key] = [*words]
    return marked({"undone": undone}, when=await _async_are_others(call, *added, *ended)), True


async def async_plan_undo_fact(call: ToolCall, change: Change, sentence: str) -> Plan:
    """Return the plan for undoing a change of facts; raises as `async_undo_fact` does."""
    added, ended = await _async_facts(call, await async_get_memory(call.hass), change)
    steps = [
        Step(f"{DOMAIN}.{action}", (), {field: f'"{words}"'}, f'{verb}: "{words}"')
        for action, field, verb, facts in (
            ("forget", "ids", "Forget", added),
            ("remember", "words", "Remember again", ended),
        )
        # Other users may be asked for approval, and must not see a user's own facts.
        for words in _words(call, [fact for fact in facts if fact.user_id is None])
    ]
    if any(fact.user_id is not None for fact in (*added, *ended)):
        steps.append(Step(f"{DOMAIN}.undo", (), {}, sentence))
    return Plan(tuple(steps), sentence, bound_to=change.id, has_free_text=await _async_are_others(call, *added, *ended))


async def _async_are_others(call: ToolCall, *facts: Fact) -> bool:
    """Return whether another user wrote one of the facts, which makes its words untrusted text for this user."""
    return await async_are_others(call.hass, call.caller.user_id, [fact.author for fact in facts])


async def _async_facts(call: ToolCall, memory: Memory, change: Change) -> tuple[list[Fact], list[Fact]]:
    """Return the facts that a change added and that still hold, and the facts that it ended and that are still ended.

    Raises OverError if there are none, and ToolError if the caller may not read or change one of them.
    """
    writer = await async_check_writer(call.hass, call.caller, call.options)
    ears = await async_check_access(call.hass, call.caller, call.options)
    added, ended = (
        [fact for one in ids if one and (fact := memory.find(one)) and (fact.ended is None) is holds]
        for ids, holds in (([change.details.get("added")], True), (change.details.get("ended", ()), False))
    )
    if not added and not ended:
        raise OverError(_OVER)
    if change.details.get("in_place") and not (added and ended):
        raise ToolError(_FORGOTTEN) if ended else OverError(_OVER)
    if not all(ears.hears(fact) and writer.may_change(fact) for fact in (*added, *ended)):
        raise ToolError(_NOT_YOURS)
    return added, ended


def _words(call: ToolCall, facts: list[Fact]) -> list[str]:
    """Return the words of facts; a fact about a hidden entity is replaced by a neutral text."""
    return [
        fact.words if is_fact_visible(call.hass, call.exposure, fact) else "one about what is hidden" for fact in facts
    ]

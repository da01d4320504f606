"""Lists of pending and ended tasks for the model."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.outcome import COUNTS
from ..confirmation.untrusted_text import async_authors, marked
from ..exposure.entities import Exposure
from ..ha_compat.conversation import TIMER_DATA
from ..results import format_duration, format_time, size
from ..scheduled.description import (
    async_prepare,
    describe_audience,
    describe_conditions,
    describe_content,
    describe_end,
    describe_task,
    is_task_visible,
    seen,
    short_description,
)
from ..scheduled.manager import async_get_scheduled_tasks
from ..scheduled.ownership import async_may_see
from ..scheduled.parser import describe_when
from ..scheduled.phrases import full_weekday_and_time
from ..scheduled.scheduled_task import ScheduledTask

if TYPE_CHECKING:
    from ..ha_compat.conversation import TimerManager

MAX_NAME = 60
MAX_TOLD_ENDED = 10
_ROOM = 150
"""Characters that are reserved for notes."""
_IN_VAIN: Final = "in vain: something that sets it off is gone or hidden now"
_HIDDEN: Final = "no longer told: something in it is hidden now"


def told(call: ToolCall, task: ScheduledTask) -> JsonObjectType:
    """Return the description of a task without empty parts."""
    hass, exposure = call.hass, call.exposure
    parts: dict[str, Any] = {
        "name": seen(exposure, task.name),
        "when": describe_when(hass, exposure, task.when),
        "next": full_weekday_and_time(task.next_moment) if task.next_moment is not None else "",
        "only": describe_conditions(hass, exposure, task.conditions),
        "what": describe_content(hass, exposure, task.what),
        "for": describe_audience(hass, exposure, task.audience),
        "until": describe_end(task.until),
    }
    if task.name == short_description(task.what)[:MAX_NAME]:
        del parts["name"]
    if task.when.watch is not None:
        del parts["next"]
    elif parts["next"] and not (task.when.rule or task.when.triggers):
        del parts["when"]
    return {key: value for key, value in parts.items() if value}


async def async_visible(call: ToolCall, tasks: Iterable[ScheduledTask]) -> list[ScheduledTask]:
    """Return the tasks that the caller may see."""
    return [
        task
        for task in tasks
        if await async_may_see(call.hass, task, call.caller) and is_task_visible(call.exposure, task)
    ]


async def async_listed(call: ToolCall) -> JsonObjectType:
    """Return as many pending and ended tasks as fit."""
    tasks, words = await async_get_scheduled_tasks(call.hass), call.arguments.get("about", "").casefold().split()
    room = call.budget - COUNTS - _ROOM
    standing, ended = [await async_visible(call, among) for among in (tasks.standing, tasks.ended)]
    await async_prepare(call.exposure, *standing, *ended)
    rows = [await _async_row(call, task) for task in standing]
    past = [_ended_row(call, task) for task in ended[:MAX_TOLD_ENDED]]
    rows, past = [[row for row in each if _is_about(row, words)] for each in (rows, past)]
    past = _fitting(past, room // 3)
    timers = describe_timers(call.hass, call.exposure, call.caller.device_id)
    timers = _fitting([timer for timer in timers if _is_about(timer, words)], room // 3)
    kept = _fitting(rows, room - size(past) - size(timers))
    answer: JsonObjectType = {"pending": [*kept]}
    if timers:
        answer["timers"] = [*timers]
    if len(rows) > len(kept):
        answer["left_out"] = f"{len(rows) - len(kept)} more, due later. Give about to find one of them."
    if past:
        answer["ended"] = [*past]
    authors = await async_authors(call.hass, call.caller.user_id)
    by_others = any(task.author not in authors for task in [*standing, *ended])
    said = [task.progress.result or "" for task in [*standing, *ended]]
    # What a device said when it failed is told here, too, and what the assistant answered of what others wrote.
    asked = any(task.what.ask and task.progress.result for task in [*standing, *ended])
    # Whoever set a timer, what it is called is known of nobody.
    are_named = call.caller.user_id is not None and any("name" in timer for timer in timers)
    return marked(
        answer,
        when=by_others or asked or are_named or any("failed" in result or "not done" in result for result in said),
    )


async def _async_row(call: ToolCall, task: ScheduledTask) -> JsonObjectType:
    """Return the row of a pending task."""
    row = {"id": task.id} | ({"part_of": task.after} if task.after else {}) | told(call, task)
    if task.progress.in_vain:
        row["waits"] = _IN_VAIN
    if task.progress.result:
        row["last"] = call.exposure.visible_value(task.progress.result) or _HIDDEN
    if task.owner.user_id not in (None, call.caller.user_id):
        user = await task.owner.caller().async_user(call.hass)
        row["of"] = (user.name if user else None) or "a user who is gone"
    return row


def _ended_row(call: ToolCall, task: ScheduledTask) -> JsonObjectType:
    """Return the row of an ended task with its result."""
    return {
        "id": task.id,
        "at": format_time(task.progress.ended or 0),
        "what": describe_task(call.hass, call.exposure, task),
        "result": call.exposure.visible_value(task.progress.result or "") or _HIDDEN,
    }


def _is_about(row: JsonObjectType, words: list[str]) -> bool:
    """Return whether all words are in a row."""
    text = " ".join(map(str, row.values())).casefold()
    return all(word in text for word in words)


def _fitting(rows: list[JsonObjectType], room: int) -> list[JsonObjectType]:
    """Return the first rows that fit, at least one if there is any."""
    kept: list[JsonObjectType] = []
    for row in rows:
        if (room := room - size(row) - 1) < 0 and kept:
            break
        kept.append(row)
    return kept


@callback
def describe_timers(hass: HomeAssistant, exposure: Exposure, device_id: str | None) -> list[dict[str, Any]]:
    """Return the timers of a device, next first; none without a device."""
    manager: TimerManager | None = hass.data.get(TIMER_DATA)
    if device_id is None or manager is None:
        return []
    timers = [timer for timer in manager.timers.values() if timer.device_id == device_id]
    return [
        {
            **({"name": seen(exposure, timer.name)} if timer.name else {}),
            **({"command": seen(exposure, timer.conversation_command)} if timer.conversation_command else {}),
            "left": format_duration(timer.seconds_left),
            **({} if timer.is_active else {"paused": True}),
        }
        for timer in sorted(timers, key=lambda timer: timer.seconds_left)
    ]

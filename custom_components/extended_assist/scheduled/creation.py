"""Creation of scheduled tasks by a tool call, recorded for undo."""

from typing import Any

from ..calls.call import ToolCall
from ..calls.journal import WISH, Change
from ..results import ToolError
from .manager import async_get_scheduled_tasks
from .scheduled_task import Owner, ScheduledTask, What, When


def owner_of(call: ToolCall) -> Owner:
    """Return the owner of a task that this call makes; raises ToolError if the call belongs to no config entry.

    A due task needs an entry, because its options decide whether the task may run.
    """
    if (entry_id := call.options.entry_id) is None:
        raise ToolError("Nothing can be kept for later from here. Do it now, or tell the user.")
    caller, context = call.caller, call.caller.llm_context
    return Owner(
        entry_id=entry_id,
        platform=context.platform,
        assistant=caller.assistant,
        language=context.language,
        device_id=caller.device_id,
        user_id=caller.user_id,
        conversation_id=caller.conversation_id,
    )


async def async_keep(call: ToolCall, task: ScheduledTask) -> None:
    """Store a task and record it for undo; raises ToolError if it cannot be stored."""
    task.agreed = call.recording.is_agreed
    await (await async_get_scheduled_tasks(call.hass)).async_add(task)
    call.recording.changes.append(Change(WISH, "planning something for later", {"id": task.id}))


async def async_keep_action(
    call: ToolCall, moment: float, name: str, action: str, data: dict[str, Any]
) -> ScheduledTask:
    """Schedule an action without target entities for a time in seconds since the epoch; raises ToolError."""
    step = {"action": action, "entity_ids": [], "data": data, "targeted": False}
    task = ScheduledTask(name=name, owner=owner_of(call), when=When(moment=moment), what=What(actions=[step]))
    await async_keep(call, task)
    return task

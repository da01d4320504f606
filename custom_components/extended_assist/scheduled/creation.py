"""Store what a call schedules, with a change for undo."""

from typing import Any

from ..calls.call import ToolCall
from ..calls.journal import WISH, Change
from ..results import ToolError
from .manager import async_get_scheduled_tasks
from .scheduled_task import Owner, ScheduledTask, What, When


def owner_of(call: ToolCall) -> Owner:
    """Return the owner of the task that a call makes; raises ToolError if no entry's options would allow it later."""
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
    """Store a task; raises ToolError if that is impossible."""
    task.agreed = call.recording.is_agreed
    await (await async_get_scheduled_tasks(call.hass)).async_add(task)
    call.recording.changes.append(Change(WISH, "planning something for later", {"id": task.id}))


async def async_keep_action(
    call: ToolCall, moment: float, name: str, action: str, data: dict[str, Any]
) -> ScheduledTask:
    """Schedule an action without entities at a time in seconds since the epoch; raises ToolError as `async_keep` does."""
    step = {"action": action, "entity_ids": [], "data": data, "targeted": False}
    task = ScheduledTask(name=name, owner=owner_of(call), when=When(moment=moment), what=What(actions=[step]))
    await async_keep(call, task)
    return task

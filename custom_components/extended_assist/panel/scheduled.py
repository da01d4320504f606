"""The scheduled tasks for the panel and the card, and cancelling them."""

import asyncio
from typing import Any, override

from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.caller import Caller
from ..calls.options import ToolboxOptions
from ..calls.plan import Plan
from ..confirmation.wording import async_lines
from ..exposure.entities import Exposure
from ..results import ToolError
from ..scheduled.description import async_plan_task, async_prepare, describe_task, is_task_visible, seen
from ..scheduled.manager import async_get_scheduled_tasks
from ..scheduled.ownership import may_see
from ..scheduled.scheduled_task import ScheduledTask
from ..tools.scheduled import PendingTool
from .manual_calls import context_of, for_reader


async def async_standing(
    hass: HomeAssistant, options: ToolboxOptions, user: User, context: Context, language: str
) -> list[dict[str, Any]]:
    """Return the pending tasks that a user may see, next first."""
    names = {one.id: one.name for one in await hass.auth.async_get_users()}
    llm_context = context_of(context, language)
    exposure = Exposure(hass, llm_context.assistant, reader=user)
    call = ToolCall(hass=hass, arguments={}, exposure=exposure, caller=Caller(llm_context), options=options)
    tasks = [
        task
        for task in (await async_get_scheduled_tasks(hass)).standing
        if may_see(task, user) and is_task_visible(exposure, task)
    ]
    await async_prepare(exposure, *tasks)
    return [
        {
            "id": task.id,
            "name": seen(exposure, task.name),
            "next": task.next_moment,
            "lines": await _async_lines(call, task, language),
            "user": names.get(task.owner.user_id) if task.owner.user_id else None,
            "is_own": task.owner.user_id == user.id,
            "in_vain": task.progress.in_vain,
            "result": exposure.visible_value(task.progress.result) if task.progress.result else None,
        }
        for task in tasks
    ]


@callback
def is_there(hass: HomeAssistant, user: User, task: ScheduledTask) -> bool:
    """Return whether a user with limited read rights may see anything of a task."""
    return is_task_visible(Exposure(hass, "conversation", reader=user), task)


async def _async_lines(call: ToolCall, task: ScheduledTask, language: str) -> list[str]:
    """Return all actions and times of a task, in the user's language as far as possible."""
    await asyncio.sleep(0)  # There may be hundreds.
    try:
        return await async_lines(call.hass, call.exposure, await async_plan_task(call, task), language)
    except ToolError:  # Something in it is hidden now, or gone.
        return [describe_task(call.hass, call.exposure, task)]


class EndTaskTool(PendingTool):
    """Cancel a task manually, described as far as the user may read; works also if the family is off."""

    needs_family = False

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Cancel the task; its row disappears, so the owner is notified of actions that had started."""
        for run in (await async_get_scheduled_tasks(call.hass)).runs_of(call.arguments.get("cancel", "")):
            run.tells_owner = True
        return await super().async_run(await _async_for_reader(call))

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of cancelling it."""
        return await super().async_plan(await _async_for_reader(call))


async def _async_for_reader(call: ToolCall) -> ToolCall:
    """Return a call limited to its user's read rights; raises ToolError if nobody is logged in."""
    user = await call.caller.async_user(call.hass)
    if user is None:
        raise ToolError("Only a user who is logged in can do this.")
    return for_reader(call, user)

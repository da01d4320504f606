"""Take back that an action was scheduled, or cancelled."""

from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..actions.schedule import async_get_schedule
from ..actions.scheduled import ScheduledAction
from ..results import OverError
from ..toolbox.call import ToolCall
from ..toolbox.journal import Change


async def async_unschedule(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Cancel a scheduled action."""
    schedule = await async_get_schedule(call.hass)
    if (item := await schedule.async_cancel(change.details["id"])) is None:
        raise OverError("The scheduled action was performed or cancelled already. Undo again for what it changed.")
    return {"undone": f"cancelled: {item.describe(call.exposure)}"}, True


async def async_reschedule(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Schedule a cancelled action again."""
    item = ScheduledAction(**change.details)
    if item.due <= dt_util.utcnow().timestamp():
        raise OverError("The time of the cancelled action is over, so it cannot be scheduled again.")
    await (await async_get_schedule(call.hass)).async_add(item)
    return {"undone": f"scheduled again: {item.describe(call.exposure)}", "id": item.id}, True

"""Take back that a habit was declined."""

from homeassistant.util.json import JsonObjectType

from ..habits.declined import async_get_declined
from ..results import OverError
from ..toolbox.call import ToolCall
from ..toolbox.journal import Change


async def async_undo_decline(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Let a habit be told again."""
    if not await (await async_get_declined(call.hass)).async_allow(change.details["id"]):
        raise OverError("That habit is not declined any more. Undo again for the change before.")
    return {"undone": "the habit may be offered again"}, True

"""What takes back each kind of change."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.journal import (
    ASPECTS,
    AUTOMATION,
    CANCELLED,
    FACT,
    HABIT,
    SCENE,
    SCHEDULED,
    SCRIPT,
    STATES,
    WISH,
    WISH_CHANGED,
    Change,
    Journal,
)
from ..const import DOMAIN
from ..habits.dismissed import async_get_declined
from ..results import OverError, ToolError
from .automations import async_undo_automation
from .memory import async_undo_fact
from .scheduled import async_restore_task, async_undo_task
from .states import async_undo_states

type Undoer = Callable[[ToolCall, Change], Awaitable[tuple[JsonObjectType, bool]]]
"""Undoes a change and says what came back and what did not, and whether nothing is left to be tried again.

Raises OverError when it can never be undone, and ToolError when it was not.
"""


async def async_undo_decline(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Let a habit be told again."""
    if not await (await async_get_declined(call.hass)).async_allow(change.details["id"]):
        raise OverError("That habit is not declined any more. Undo again for the change before.")
    return {"undone": "the habit may be offered again"}, True


UNDOERS: Final[Mapping[str, Undoer]] = {
    STATES: async_undo_states,
    ASPECTS: async_undo_states,
    **dict.fromkeys((AUTOMATION, SCRIPT, SCENE), async_undo_automation),
    **dict.fromkeys((SCHEDULED, WISH), async_undo_task),
    **dict.fromkeys((CANCELLED, WISH_CHANGED), async_restore_task),
    FACT: async_undo_fact,
    HABIT: async_undo_decline,
}
_NOT_STORED: Final = (
    "This was undone, but that could not be stored, so after a restart undo may do it again. Tell the user that the disk may "
    "be full."
)
_LOCK: HassKey[asyncio.Lock] = HassKey(f"{DOMAIN}_undo_lock")


def undo_lock(hass: HomeAssistant) -> asyncio.Lock:
    """Return the lock that lets one undo wait for the other: which change is the last one depends on its outcome."""
    return hass.data.setdefault(_LOCK, asyncio.Lock())


async def async_undo(call: ToolCall, journal: Journal, change: Change) -> JsonObjectType:
    """Undo a change; what failed of it stays the last change, to be tried again."""
    if (undoer := UNDOERS.get(change.kind)) is None:
        raise ToolError(
            "The last change was made by a newer version of Extended Assist, so it cannot be undone by this one."
        )
    try:
        answer, is_over = await undoer(call, change)
    except OverError:
        journal.mark(change, undone=True)
        raise
    journal.mark(change, undone=is_over)
    return answer if await journal.async_save() else answer | {"note": _NOT_STORED}

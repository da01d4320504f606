"""What takes back each kind of change."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from homeassistant.util.json import JsonObjectType

from ..results import ToolError
from ..toolbox.call import ToolCall
from ..toolbox.journal import AUTOMATION, CANCELLED, SCHEDULED, STATES, Change, Journal
from ..toolbox.policy import NotAllowedError
from .automations import async_undo_automation
from .schedule import async_reschedule, async_unschedule
from .states import async_undo_states

type Undoer = Callable[[ToolCall, Change], Awaitable[JsonObjectType]]
"""Undoes a change and says what came back and what did not; raises ToolError when nothing can be undone."""

UNDOERS: Final[Mapping[str, Undoer]] = {
    STATES: async_undo_states,
    SCHEDULED: async_unschedule,
    CANCELLED: async_reschedule,
    AUTOMATION: async_undo_automation,
}


async def async_undo(call: ToolCall, journal: Journal, change: Change) -> JsonObjectType:
    """Undo a change; it counts as undone even where only parts of it came back, but not where this speaker may not.

    It counts from the beginning, so that a call at the same time undoes the change before it.
    """
    if (undoer := UNDOERS.get(change.kind)) is None:
        raise ToolError(
            "The last change was made by a newer version of Extended Assist, so it cannot be undone by this one."
        )
    journal.mark(change, undone=True)
    try:
        return await undoer(call, change)
    except NotAllowedError:
        journal.mark(change, undone=False)
        raise

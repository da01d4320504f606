"""Keeping what a call wants for later, so that it can be undone."""

from typing import Any

from ..results import ToolError
from ..toolbox.call import ToolCall
from ..toolbox.journal import WISH, Change
from .keeper import async_get_wishes
from .wish import Owner, What, When, Wish


def owner_of(call: ToolCall) -> Owner:
    """Return whose a wish is that this call makes; raises ToolError where no entry's options would allow it later."""
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


async def async_keep(call: ToolCall, wish: Wish) -> None:
    """Keep a wish; raises ToolError where that is not possible."""
    wish.agreed = call.recording.is_agreed
    await (await async_get_wishes(call.hass)).async_add(wish)
    call.recording.changes.append(Change(WISH, "planning something for later", {"id": wish.id}))


async def async_keep_action(call: ToolCall, moment: float, name: str, action: str, data: dict[str, Any]) -> Wish:
    """Keep an action without entities for a moment, in seconds since the epoch; raises ToolError as `async_keep` does."""
    step = {"action": action, "entity_ids": [], "data": data, "targeted": False}
    wish = Wish(name=name, owner=owner_of(call), when=When(moment=moment), what=What(actions=[step]))
    await async_keep(call, wish)
    return wish

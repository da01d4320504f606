"""What is to happen later, as the panel and the card show it."""

from typing import Any

from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant

from ..exposure import Exposure
from ..results import ToolError
from ..toolbox.call import ToolCall
from ..toolbox.caller import Caller
from ..toolbox.options import ToolboxOptions
from ..toolbox.telling import async_lines
from ..wishes.account import async_plan_wish, async_prepare, is_told, seen, told_what
from ..wishes.keeper import async_get_wishes
from ..wishes.whose import may_see
from ..wishes.wish import Wish
from .by_hand import context_of


async def async_standing(
    hass: HomeAssistant, options: ToolboxOptions, user: User, context: Context, language: str
) -> list[dict[str, Any]]:
    """Return the standing wishes that a user sees, next first."""
    names = {one.id: one.name for one in await hass.auth.async_get_users()}
    llm_context = context_of(context, language)
    exposure = Exposure(hass, llm_context.assistant)
    call = ToolCall(hass=hass, arguments={}, exposure=exposure, caller=Caller(llm_context), options=options)
    wishes = [
        wish for wish in (await async_get_wishes(hass)).standing if may_see(wish, user) and is_told(exposure, wish)
    ]
    await async_prepare(exposure, *wishes)
    return [
        {
            "id": wish.id,
            "name": seen(exposure, wish.name),
            "next": wish.next_moment,
            "lines": await _async_lines(call, wish, language),
            "user": names.get(wish.owner.user_id) if wish.owner.user_id else None,
            "is_own": wish.owner.user_id == user.id,
            "in_vain": wish.progress.in_vain,
            "result": exposure.visible_value(wish.progress.result) if wish.progress.result else None,
        }
        for wish in wishes
    ]


async def _async_lines(call: ToolCall, wish: Wish, language: str) -> list[str]:
    """Return all that a wish would do, and when, in the user's language as far as it can be said in it."""
    try:
        return await async_lines(call.hass, call.exposure, await async_plan_wish(call, wish), language)
    except ToolError:  # Something in it is hidden now, or gone.
        return [told_what(call.hass, call.exposure, wish.what)]

"""What is to happen later, as the panel and the card show it, and ending any of it."""

import asyncio
from typing import Any, override

from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.util.json import JsonObjectType

from ..exposure.entities import Exposure
from ..results import ToolError
from ..toolbox.call import ToolCall
from ..toolbox.caller import Caller
from ..toolbox.options import ToolboxOptions
from ..toolbox.plan import Plan
from ..toolbox.telling import async_lines
from ..tools.wishes import PendingTool
from ..wishes.account import async_plan_wish, async_prepare, is_told, seen, told_wish
from ..wishes.keeper import async_get_wishes
from ..wishes.whose import may_see
from ..wishes.wish import Wish
from .by_hand import context_of, for_reader


async def async_standing(
    hass: HomeAssistant, options: ToolboxOptions, user: User, context: Context, language: str
) -> list[dict[str, Any]]:
    """Return the standing wishes that a user sees, next first."""
    names = {one.id: one.name for one in await hass.auth.async_get_users()}
    llm_context = context_of(context, language)
    exposure = Exposure(hass, llm_context.assistant, reader=user)
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


@callback
def is_there(hass: HomeAssistant, user: User, wish: Wish) -> bool:
    """Return whether anything of a wish may be told to a user whose groups may not read all."""
    return is_told(Exposure(hass, "conversation", reader=user), wish)


async def _async_lines(call: ToolCall, wish: Wish, language: str) -> list[str]:
    """Return all that a wish would do, and when, in the user's language as far as it can be said in it."""
    await asyncio.sleep(0)  # There may be hundreds.
    try:
        return await async_lines(call.hass, call.exposure, await async_plan_wish(call, wish), language)
    except ToolError:  # Something in it is hidden now, or gone.
        return [told_wish(call.hass, call.exposure, wish)]


class EndWishTool(PendingTool):
    """End a wish by hand, told as far as the user may read; what was made before its tools were turned off can be ended, too."""

    needs_family = False

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """End the wish; its row is gone with it, so the owner hears otherwise what had begun."""
        for run in (await async_get_wishes(call.hass)).runs_of(call.arguments.get("cancel", "")):
            run.tells_owner = True
        return await super().async_run(await _async_for_reader(call))

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of ending it."""
        return await super().async_plan(await _async_for_reader(call))


async def _async_for_reader(call: ToolCall) -> ToolCall:
    """Return a call as far as its user may read; raises ToolError where nobody is logged in."""
    user = await call.caller.async_user(call.hass)
    if user is None:
        raise ToolError("Only a user who is logged in can do this.")
    return for_reader(call, user)

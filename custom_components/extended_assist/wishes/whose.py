"""Whose a wish is: who sees and ends it."""

from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant, callback

from ..toolbox.caller import Caller
from .wish import Wish


async def async_may_see(hass: HomeAssistant, wish: Wish, caller: Caller) -> bool:
    """Return whether a caller sees and ends a wish: their own, the household's, and as an administrator all."""
    if wish.is_household or wish.owner.user_id == caller.user_id:
        return True
    user = await caller.async_user(hass)
    return user is not None and may_see(wish, user)


@callback
def may_see(wish: Wish, user: User) -> bool:
    """Return whether a user sees and ends a wish."""
    return wish.is_household or wish.owner.user_id == user.id or (user.is_active and user.is_admin)

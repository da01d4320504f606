"""Whose a wish is: who sees and ends it."""

from homeassistant.core import HomeAssistant

from ..toolbox.caller import Caller
from .wish import Wish


async def async_may_see(hass: HomeAssistant, wish: Wish, caller: Caller) -> bool:
    """Return whether a caller sees and ends a wish: their own, the household's, and as an administrator all."""
    if wish.is_household or wish.owner.user_id == caller.user_id:
        return True
    user = await caller.async_user(hass)
    return user is not None and user.is_active and user.is_admin

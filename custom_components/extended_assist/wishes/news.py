"""What came due while nobody could be told, for the one who speaks next."""

from homeassistant.core import HomeAssistant

from ..exposure import Exposure
from ..toolbox.caller import Caller
from .account import seen
from .keeper import async_get_wishes


async def async_news(hass: HomeAssistant, caller: Caller) -> dict[tuple[str, str], str]:
    """Return the messages that the caller was not told yet, without hidden names, under the keys for `Wishes.async_told`."""
    waiting = (await async_get_wishes(hass)).untold(caller)
    if not waiting:
        return {}
    exposure = Exposure(hass, caller.assistant)
    return {key: seen(exposure, text) for key, text in waiting.items()}

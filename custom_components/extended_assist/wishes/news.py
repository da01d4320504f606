"""What came due while nobody could be told, for the one who speaks next."""

from homeassistant.core import HomeAssistant

from ..exposure.entities import Exposure
from ..toolbox.caller import Caller
from ..toolbox.outside import async_authors, repeats_free_name
from .account import seen
from .keeper import async_get_wishes

_OF_OTHERS = "a reminder with words of somebody else: call pending to read the one with the id {id}, and read it out"


async def async_news(hass: HomeAssistant, caller: Caller) -> dict[tuple[str, str], str]:
    """Return the messages that the caller was not told yet, without hidden names, under the keys for `Wishes.async_told`."""
    wishes = await async_get_wishes(hass)
    if not (waiting := wishes.untold(caller)):
        return {}
    exposure, authors = Exposure(hass, caller.assistant), await async_authors(hass, caller.user_id)
    news: dict[tuple[str, str], str] = {}
    for (wish_id, kept), text in waiting.items():
        wish = wishes.find(wish_id)
        is_own = wish is not None and wish.author in authors and not repeats_free_name(hass, text)
        news[wish_id, kept] = seen(exposure, text) if is_own else _OF_OTHERS.format(id=wish_id)
    return news

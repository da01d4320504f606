"""Facts as tool results: looked up, described with where they come from, and until when they hold."""

from datetime import timedelta
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.caller import Caller
from ..exposure.entities import Exposure
from ..results import ToolError, format_time
from .fact import Fact, Via, now, read_search_keys
from .references import is_area_told, names_now
from .search import search

_NOBODY = {
    Via.SAID: "somebody who was not logged in",
    Via.AUTOMATION: "an automation",
    Via.WRITTEN: "somebody who was not logged in",
}


async def async_row(hass: HomeAssistant, exposure: Exposure, fact: Fact, caller: Caller) -> JsonObjectType:
    """Return a fact with its owner, author, time, place and end."""
    row: JsonObjectType = {
        "id": fact.id,
        "fact": fact.words,
        "whose": "household" if fact.user_id is None else "me",
        "said": format_time(fact.said),
        "by": await _async_by(hass, fact, caller),
    }
    if where := _where(hass, exposure, fact.device_id):
        row["where"] = where
    if fact.until is not None:
        row["until"] = format_time(fact.until)
    if called := names_now(hass, exposure, fact):
        row["about"] = called
    return row


async def _async_by(hass: HomeAssistant, fact: Fact, caller: Caller) -> str:
    """Return a phrase for the author of a fact."""
    if fact.said_by is None:
        return _NOBODY[fact.via]
    if fact.said_by == caller.user_id:
        return "the user"
    user = await hass.auth.async_get_user(fact.said_by)
    return (user.name if user else None) or "a user who is gone"


def _where(hass: HomeAssistant, exposure: Exposure, device_id: str | None) -> str:
    """Return the area of the device that was spoken to, unless everything in it is hidden."""
    device = dr.async_get(hass).async_get(device_id) if device_id else None
    area_id = dr.async_get_effective_area_id(hass, device) if device else None
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    return area.name if area and is_area_told(hass, exposure, area.id) else ""


_LEAST: Final = 0.05
"""The least score of a found fact."""
_NEAR: Final = 0.4
"""The least score of a fact that is shown as similar."""
_NEAR_OF_SAME: Final = 0.25
"""The least score of a similar fact about the same entity or area."""
_MOST_NEAR: Final = 3


async def async_find(hass: HomeAssistant, words: str, facts: list[Fact]) -> list[Fact]:
    """Return the facts that match words, best first, among those that the caller may see."""
    found = await hass.async_add_executor_job(_search, words, facts, _LEAST)
    return [facts[place] for place, _ in found]


async def async_near(hass: HomeAssistant, fact: Fact, facts: list[Fact]) -> list[Fact]:
    """Return the facts that are similar to another one, best first."""
    found = await hass.async_add_executor_job(_search, fact.words, facts, _NEAR_OF_SAME)
    things = {*fact.entities, *fact.areas}
    return [
        facts[place] for place, fit in found if fit >= _NEAR or things & {*facts[place].entities, *facts[place].areas}
    ][:_MOST_NEAR]


def _search(words: str, facts: list[Fact], least: float) -> list[tuple[int, float]]:
    """Return the indexes of the matching facts with their scores; runs off the event loop."""
    return search(words, read_search_keys(facts), least)


def read_until(text: str) -> float:
    """Return the end of validity from a local time, or the end of a date; raises ToolError for a past one."""
    try:
        if (day := dt_util.parse_date(text.strip())) is not None:
            moment = dt_util.start_of_local_day(day + timedelta(days=1)).timestamp()
        elif (time := dt_util.parse_datetime(text.strip())) is not None:
            moment = dt_util.as_local(time).timestamp()
        else:
            raise ToolError(f"until '{text}' is no date or time. Write it like 2026-03-01 or 2026-03-01 17:30.")
    except (OverflowError, ValueError) as err:
        raise ToolError(f"until '{text}' is no date or time. Write it like 2026-03-01 or 2026-03-01 17:30.") from err
    if moment <= now():
        raise ToolError(f"until '{text}' is over. Give one that is still to come.")
    return moment

"""Finding facts off the event loop."""

from typing import Final

from homeassistant.core import HomeAssistant

from .fact import Fact, read_search_keys
from .search import search

_LEAST: Final = 0.05
"""How well a fact must fit to be found."""
_NEAR: Final = 0.4
"""How well another fact must fit to be shown as near."""
_NEAR_OF_SAME: Final = 0.25
"""The same for one about the same thing."""
_MOST_NEAR: Final = 3


async def async_find(hass: HomeAssistant, words: str, facts: list[Fact]) -> list[Fact]:
    """Return the facts that words may mean, best first, of those that may be told: what others have said plays no part."""
    found = await hass.async_add_executor_job(_search, words, facts, _LEAST)
    return [facts[place] for place, _ in found]


async def async_near(hass: HomeAssistant, fact: Fact, facts: list[Fact]) -> list[Fact]:
    """Return the facts that say something near another one, nearest first."""
    found = await hass.async_add_executor_job(_search, fact.words, facts, _NEAR_OF_SAME)
    things = {*fact.entities, *fact.areas}
    return [
        facts[place] for place, fit in found if fit >= _NEAR or things & {*facts[place].entities, *facts[place].areas}
    ][:_MOST_NEAR]


def _search(words: str, facts: list[Fact], least: float) -> list[tuple[int, float]]:
    """Return the places of the facts that words may mean, with how well they fit; runs off the event loop."""
    return search(words, read_search_keys(facts), least)

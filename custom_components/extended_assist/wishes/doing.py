"""What a wish does when it is due: everything is checked anew, then done, then said."""

from collections.abc import Mapping

from homeassistant.core import HomeAssistant

from ..actions.schedule import Performer
from .wish import Wish

MAX_LATE = 300.0
"""Seconds that an action may be late: a light that goes on hours too late is worse than one that does not."""


async def async_do(
    hass: HomeAssistant,
    wish: Wish,
    moment: float,
    *,
    late: float,
    again: bool,
    missed: int = 0,
    repeated: bool = False,
    performers: Mapping[str, Performer] | None = None,
) -> str:
    """Do what is due, and return what became of it.

    `again` says that it was begun before and Home Assistant stopped meanwhile; `missed` how many earlier occurrences were
    left out; `repeated` that only what was said is said again.
    """
    raise NotImplementedError

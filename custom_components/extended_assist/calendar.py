"""What will happen in the household, as a calendar that is only read."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from math import inf
from operator import itemgetter
from typing import override

from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from .claude.coordinator import ExtendedAssistConfigEntry
from .entity import WishEntity
from .wishes.keeper import async_get_wishes
from .wishes.moments import next_moment
from .wishes.wish import Wish

PARALLEL_UPDATES = 0

LENGTH = timedelta(minutes=15)
"""How long something is shown that takes no time."""
MAX_EVENTS = 500
"""What is shown of a span, soonest first: a rule can come every few minutes."""


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the calendar of an entry."""
    async_add_entities([WishCalendar(entry, await async_get_wishes(hass))])


class WishCalendar(WishEntity, CalendarEntity):
    """When the household's wishes happen, as far as that is known."""

    @property
    @override
    def event(self) -> CalendarEvent | None:
        """Return the event of now, or else the next one."""
        wishes = [*self._household()]
        return next((_event(*found) for found in _happenings(wishes, _since(dt_util.utcnow()), inf)), None)

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """Return the events of a span."""
        span = _since(max(start_date, dt_util.utcnow())), end_date.timestamp()
        wishes = [*self._household()]
        # Rules take their time.
        found = await hass.async_add_executor_job(lambda: [*islice(_happenings(wishes, *span), MAX_EVENTS)])
        return [_event(*one) for one in found]


def _since(moment: datetime) -> float:
    """Return the moment after which something must have begun to be shown still."""
    return moment.timestamp() - LENGTH.total_seconds()


def _event(moment: float, wish: Wish) -> CalendarEvent:
    """Return the event of a wish."""
    start = dt_util.as_local(dt_util.utc_from_timestamp(moment))
    # By the hands of the clock, as Home Assistant compares the two: an end before its start breaks the whole calendar.
    end = (start + LENGTH).replace(fold=start.fold)
    return CalendarEvent(start, end, wish.name, description=wish.what.say or wish.what.ask, uid=wish.id)


def _happenings(wishes: list[Wish], after: float, before: float) -> Iterator[tuple[float, Wish]]:
    """Yield the last and the coming moments of wishes between two moments, soonest first."""
    return merge(*(_of(wish, after, before) for wish in wishes), key=itemgetter(0))


def _of(wish: Wish, after: float, before: float) -> Iterator[tuple[float, Wish]]:
    """Yield when a wish happened last, is said again, and comes due by the clock, soonest first."""
    progress = wish.progress
    known = (progress.last, progress.again if wish.is_standing else None)
    single = sorted(moment for moment in known if moment is not None and after < moment < before)
    for moment in merge(single, _due(wish, after, before)):
        yield moment, wish


def _due(wish: Wish, after: float, before: float) -> Iterator[float]:
    """Yield when a standing wish comes due by the clock."""
    moment, left = wish.progress.due, inf if wish.until.times is None else wish.until.times - wish.progress.times
    if not wish.is_standing or moment is None:
        return
    if moment <= after and left == inf:
        moment = next_moment(wish.when, after)
    last = inf if wish.until.moment is None else wish.until.moment
    while moment is not None and moment < before and moment <= last and left > 0:
        if moment > after:
            yield moment
        moment, left = next_moment(wish.when, moment), left - 1

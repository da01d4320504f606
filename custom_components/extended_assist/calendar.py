"""The household's scheduled tasks as a read-only calendar."""

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
from .entity import ScheduledTaskEntity
from .scheduled.due_times import next_moment
from .scheduled.manager import async_get_scheduled_tasks
from .scheduled.scheduled_task import ScheduledTask

PARALLEL_UPDATES = 0

LENGTH = timedelta(minutes=15)
"""The length of the event of a task without a duration."""
MAX_EVENTS = 500
"""The most events of one request, earliest first: a rule can repeat every few minutes."""


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the calendar of an entry."""
    async_add_entities([ScheduledTaskCalendar(entry, await async_get_scheduled_tasks(hass))])


class ScheduledTaskCalendar(ScheduledTaskEntity, CalendarEntity):
    """The times of the household's tasks, as far as they are known."""

    @property
    @override
    def event(self) -> CalendarEvent | None:
        """Return the current event, or else the next one."""
        tasks = [*self._household()]
        return next((_event(*found) for found in _happenings(tasks, _since(dt_util.utcnow()), inf)), None)

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """Return the events of a span."""
        span = _since(max(start_date, dt_util.utcnow())), end_date.timestamp()
        tasks = [*self._household()]
        # Rules take their time.
        found = await hass.async_add_executor_job(lambda: [*islice(_happenings(tasks, *span), MAX_EVENTS)])
        return [_event(*one) for one in found]


def _since(moment: datetime) -> float:
    """Return the time after which an event must have started to be still visible."""
    return moment.timestamp() - LENGTH.total_seconds()


def _event(moment: float, task: ScheduledTask) -> CalendarEvent:
    """Return the event of a task."""
    start = dt_util.as_local(dt_util.utc_from_timestamp(moment))
    # By the hands of the clock, as Home Assistant compares the two: an end before its start breaks the whole calendar.
    end = (start + LENGTH).replace(fold=start.fold)
    return CalendarEvent(start, end, task.name, description=task.what.say or task.what.ask, uid=task.id)


def _happenings(tasks: list[ScheduledTask], after: float, before: float) -> Iterator[tuple[float, ScheduledTask]]:
    """Yield the past and future times of tasks within a span, earliest first."""
    return merge(*(_of(task, after, before) for task in tasks), key=itemgetter(0))


def _of(task: ScheduledTask, after: float, before: float) -> Iterator[tuple[float, ScheduledTask]]:
    """Yield the last, repeated and next times of a task, earliest first."""
    progress = task.progress
    known = (progress.last, progress.again if task.is_standing else None)
    single = sorted(moment for moment in known if moment is not None and after < moment < before)
    for moment in merge(single, _due(task, after, before)):
        yield moment, task


def _due(task: ScheduledTask, after: float, before: float) -> Iterator[float]:
    """Yield the due times by clock of a task that has not ended."""
    moment, left = task.progress.due, inf if task.until.times is None else task.until.times - task.progress.times
    if not task.is_standing or moment is None:
        return
    if moment <= after and left == inf:
        moment = next_moment(task.when, after)
    last = inf if task.until.moment is None else task.until.moment
    while moment is not None and moment < before and moment <= last and left > 0:
        if moment > after:
            yield moment
        moment, left = next_moment(task.when, moment), left - 1

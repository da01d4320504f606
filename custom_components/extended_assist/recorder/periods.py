"""Periods of statistics in local time: how a span is divided and what it is compared with."""

from bisect import bisect_left
from datetime import date, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Literal, get_args

from homeassistant.util import dt as dt_util

type Period = Literal["5minute", "hour", "day", "week", "month"]
type Span = tuple[datetime, datetime]
"""Start, and the end that no longer belongs to it."""

PERIODS: tuple[Period, ...] = get_args(Period.__value__)
SHORT, HOUR, DAY = 300, 3_600, 86_400
"""Seconds of a short-term row, of a long-term row, and of a day of the usual length."""

_EPOCH = date(1970, 1, 1).toordinal()
_TYPICAL_SECONDS: dict[Period, int] = {"5minute": SHORT, "hour": HOUR, "day": DAY, "week": 7 * DAY, "month": 30 * DAY}


def estimate_rows(period: Period, start: datetime, end: datetime) -> int:
    """Return about how many periods a span has."""
    return round((end - start).total_seconds() / _TYPICAL_SECONDS[period])


def utc_offsets(start: float, end: float) -> list[tuple[float, float]]:
    """Return the local UTC offsets from start to end, each as the moment at which it ends and its seconds."""
    offsets: list[tuple[float, float]] = []
    current, moment = _utc_offset(start), start
    while moment < end:
        following = min(moment + DAY, end)
        if (changed := _utc_offset(following)) != current:
            seconds = range(int(moment), int(following) + 1)
            index = bisect_left(seconds, 1, key=partial(_differs, current))
            offsets.append((seconds[index], current))
            current = changed
        moment = following
    return [*offsets, (end, current)]


def repeated_times(start: float, end: float) -> list[tuple[float, float]]:
    """Return the spans that come twice on the clock on the wall between two moments: for each change back, the first and second time."""
    found = []
    offsets = utc_offsets(start, end)
    for (moment, offset), (_, following) in pairwise(offsets):
        if (repeated := offset - following) > 0:
            found += [(moment - repeated, moment), (moment, moment + repeated)]
    return found


def _differs(offset: float, moment: float) -> int:
    """Return 1 where the local UTC offset is another one, else 0."""
    return int(_utc_offset(moment) != offset)


def _utc_offset(moment: float) -> float:
    """Return the seconds by which local time is ahead of UTC."""
    return (dt_util.as_local(dt_util.utc_from_timestamp(moment)).utcoffset() or timedelta()).total_seconds()


def day_of(key: int, period: Period) -> date:
    """Return the first day of the period that holds a day, given as days since 1970-01-01."""
    day = date.fromordinal(_EPOCH + key)
    if period == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if period == "month" else day


def following_day(first: date, period: Period) -> date:
    """Return the first day after the period that begins with a day."""
    if period == "month":
        return (first + timedelta(days=31)).replace(day=1)
    return first + timedelta(days=7 if period == "week" else 1)


def floor_hour(moment: datetime) -> datetime:
    """Return the last full hour of the UTC clock, by which long-term statistics are kept."""
    return moment.replace(minute=0, second=0, microsecond=0)


def matching_end(span: Span, start: datetime) -> datetime:
    """Return the end of the span from start that matches another span: as many months if that has only whole ones.

    Otherwise of the same length on the clock on the wall, so that days stay days when clocks change.
    """
    first, last, begin = (dt_util.as_local(moment) for moment in (*span, start))
    if _begins_month(first) and _begins_month(last) and _begins_month(begin):
        return dt_util.as_utc(_add_months(begin, _months(last) - _months(first)))
    return dt_util.as_utc(_add_wall_time(begin, last.replace(tzinfo=None) - first.replace(tzinfo=None)))


def span_before(span: Span) -> Span:
    """Return the span before: the months before whole months; else, from a midnight, the same part of the days before."""
    first, last = (dt_util.as_local(moment) for moment in span)
    if _begins_month(first) and _begins_month(last):
        start = _add_months(first, _months(first) - _months(last))
    else:
        length = last.replace(tzinfo=None) - first.replace(tzinfo=None)
        if _begins_day(first):
            length = timedelta(days=-(-length // timedelta(days=1)))
        start = _add_wall_time(first, -length)
    start = dt_util.as_utc(start)
    return start, matching_end(span, start)


def is_month_span(span: Span) -> bool:
    """Return whether a span has only whole months."""
    return all(_begins_month(dt_util.as_local(moment)) for moment in span)


def is_midnight(moment: datetime) -> bool:
    """Return whether a local day begins at a moment."""
    return _begins_day(dt_util.as_local(moment))


def _begins_day(local: datetime) -> bool:
    return (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0)


def _begins_month(local: datetime) -> bool:
    return local.day == 1 and _begins_day(local)


def _months(local: datetime) -> int:
    return local.year * 12 + local.month


def _add_months(local: datetime, months: int) -> datetime:
    year, month = divmod(_months(local) - 1 + months, 12)
    return datetime(year, month + 1, 1, tzinfo=dt_util.get_default_time_zone())


def _add_wall_time(local: datetime, length: timedelta) -> datetime:
    return (local.replace(tzinfo=None) + length).replace(tzinfo=dt_util.get_default_time_zone())

"""Time spans in a user's words, such as `yesterday`, and their periods, in local time.

Days and longer units follow the calendar and the local clock, so a day may have 23 or 25 hours; weeks begin on Monday, as
in Home Assistant's own statistics.
"""

from bisect import bisect_left
from calendar import day_name, month_abbr, month_name, monthrange
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import pairwise
import re
from typing import Any, Final, Literal, get_args

from homeassistant.util import dt as dt_util

from ..results import ToolError, format_time

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


START: Final = "Local: 2026-03-01 06:00, or a whole span: yesterday, last week, last 7 days, march."
"""What the model is told of `start` in every tool that has a span."""
END: Final = "Default: the end of that span, or now."

_DEFAULT_SPAN: Final = timedelta(hours=24)
_MAX_SPAN: Final = timedelta(days=3660)
_FIRST_YEAR: Final = 1900
"""Nothing was recorded before; a span that reaches back from the first years has no beginning."""
_ONE_DAY: Final = timedelta(days=1)
_DAYS_BACK: Final = {"today": 0, "yesterday": 1, "day before yesterday": 2}
_WEEKDAYS: Final = {name.casefold(): number for number, name in enumerate(day_name)}
_MONTHS: Final = {
    name.casefold(): number for names in (month_name, month_abbr) for number, name in enumerate(names) if name
}
_LAST: Final = "(?:last|past|previous)"
_TIME_OF_DAY: Final = re.compile(r"(?:(.+?)(?: at)? )?(\d{1,2}:\d\d(?::\d\d)?)")
_AMOUNT: Final = re.compile(rf"(?:{_LAST} )?(\d+(?:\.\d+)?) ?(minute|min|hour|h|day|d|week|month|year)s?( ago)?")
_ONE: Final = re.compile(rf"{_LAST} (minute|hour|day)")
_CALENDAR: Final = re.compile(rf"(this|current|{_LAST}) (week|month|year)")
_WEEKDAY: Final = re.compile(rf"(?:(on|this|{_LAST}) )?({'|'.join(_WEEKDAYS)})")
_MONTH: Final = re.compile(rf"(?:(in|{_LAST}) )?({'|'.join(_MONTHS)})(?: (\d{{4}}))?|(\d{{4}})-(\d\d)")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR: Final = re.compile(r"\d{4}")

type _Span = tuple[datetime, datetime | None]
"""Two local moments, the second one only where a whole span is named."""


def time_span(arguments: dict[str, Any], now: datetime) -> tuple[datetime, datetime]:
    """Return start and end of the span that `start`, `end` and `hours` name, each of which may be left out.

    A word in `start` means all of it where `end` is left out; in `end` it means its first moment, as a date does, unless
    nothing would be left then. Raises ToolError for what is no time, backwards, in the future or longer than ten years.
    """
    end, whole_end = _read(str(arguments["end"]), "end", now) if "end" in arguments else (now, None)
    if "start" in arguments:
        start, named_end = _read(str(arguments["start"]), "start", now)
        if "end" not in arguments:
            end = named_end or now
        elif whole_end and end <= start:
            end = whole_end
    else:
        hours = arguments.get("hours")
        length = _DEFAULT_SPAN if hours is None else timedelta(hours=min(float(hours), _MAX_SPAN / timedelta(hours=1)))
        start = end - length
    if start >= now:
        raise ToolError(f"The span lies in the future; it is now {format_time(now)}.")
    if start >= end:
        raise ToolError("The span is backwards: start must be before end.")
    return max(start, end - _MAX_SPAN), min(end, now)


def parse_time(value: str, name: str) -> datetime:
    """Return the moment that a text names, of a date or a word its first one; raises ToolError for anything else."""
    return _read(value, name, dt_util.utcnow())[0]


def _read(value: str, name: str, now: datetime) -> _Span:
    """Return the moment that a text names, in UTC, and the end where it is a word for a whole span."""
    try:
        # Words first: 2026-03 would else be the first moment of March only.
        found = _words(" ".join(value.casefold().split()), dt_util.as_local(now))
        if found is None and (moment := dt_util.parse_datetime(value)):
            # A start without an end goes on until now; an end that is the start's own date means all of that day.
            is_last_day = name == "end" and _DATE.fullmatch(value.strip())
            found = moment, _midnight(moment.date() + _ONE_DAY) if is_last_day else None
        span = (dt_util.as_utc(found[0]), found[1] and dt_util.as_utc(found[1])) if found else None
    except ValueError, OverflowError:  # Such as 2026-02-30, or the year 0.
        span = None
    if span is None or span[0].year < _FIRST_YEAR:
        raise ToolError(
            f"{name} '{value}' is not a time. Write local time like 2026-03-01 or 2026-03-01 17:30:00, or words: today, "
            "yesterday 18:00, monday, this week, last month, march, last 7 days, 3 hours ago."
        )
    return span


def _words(text: str, now: datetime) -> _Span | None:
    """Return the span that words mean at a local moment, or None where they mean none."""
    if text == "now":
        return now, None
    if found := _TIME_OF_DAY.fullmatch(text):
        day = _words(found[1], now) if found[1] else (now, None)
        clock = dt_util.parse_time(found[2])
        return (datetime.combine(day[0], clock, now.tzinfo), None) if day and clock else None
    if found := _AMOUNT.fullmatch(text):
        begin = _back(now, float(found[1]), found[2])
        return begin, None if found[3] else now
    if found := _ONE.fullmatch(text):
        return _back(now, 1, found[1]), now
    if days := _days(text, now.date()):
        return _midnight(days[0]), _midnight(days[1])
    return None


def _days(text: str, today: date) -> tuple[date, date] | None:
    """Return the first day of what words mean, and the one after its last."""
    if text in _DAYS_BACK:
        day = today - timedelta(days=_DAYS_BACK[text])
        return day, day + _ONE_DAY
    if found := _WEEKDAY.fullmatch(text):
        ago = today.weekday() - _WEEKDAYS[found[2]]
        if found[1] != "this":  # Else a day of this week, be it in the future.
            ago = ago % 7 or (0 if found[1] in (None, "on") else 7)
        day = today - timedelta(days=ago)
        return day, day + _ONE_DAY
    if found := _CALENDAR.fullmatch(text):
        return _unit(found[2], today, back=found[1] not in ("this", "current"))
    if found := _MONTH.fullmatch(text):
        month = _MONTHS[found[2]] if found[2] else int(found[5])
        # The last one is over, as with weekdays.
        is_over = today.month > month if found[1] not in (None, "in") else today.month >= month
        year = int(found[3] or found[4] or today.year - (not is_over))
        return _unit("month", date(year, month, 1), back=False)
    return _unit("year", date(int(text), 1, 1), back=False) if _YEAR.fullmatch(text) else None


def _unit(unit: str, day: date, *, back: bool) -> tuple[date, date]:
    """Return the week, month or year around a day, or the one before: its first day, and the one after its last."""
    if unit == "week":
        first = day - timedelta(days=day.weekday() + 7 * back)
        return first, first + timedelta(days=7)
    months = 1 if unit == "month" else 12
    first = _month(day.replace(day=1) if unit == "month" else day.replace(month=1, day=1), -months * back)
    return first, _month(first, months)


def _month(first: date, months: int) -> date:
    """Return the first day of the month so many months later."""
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    return date(year, month + 1, 1)


def _back(now: datetime, amount: float, unit: str) -> datetime:
    """Return a moment so long ago: hours by time that has passed, days and longer by the clock on the wall."""
    if unit in ("month", "year"):
        first = _month(now.date().replace(day=1), -round(min(amount, 120) * (12 if unit == "year" else 1)))
        return now.replace(year=first.year, month=first.month, day=min(now.day, monthrange(first.year, first.month)[1]))
    length = amount * timedelta(
        **{{"min": "minutes", "h": "hours", "d": "days"}.get(unit, f"{unit}s"): 1}  # The units' own names else.
    )
    if unit in ("day", "d", "week"):
        return now - length
    return dt_util.as_local(dt_util.as_utc(now) - length)


def _midnight(day: date) -> datetime:
    """Return the first moment of a local day."""
    return datetime.combine(day, time(), dt_util.get_default_time_zone())

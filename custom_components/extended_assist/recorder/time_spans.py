"""Spans as a person names them: dates, times and words such as `yesterday` or `last 7 days`, in local time.

Days and longer units are those of the calendar and the clock on the wall, so a day may have 23 or 25 hours; a week begins
on Monday, as in Home Assistant's own statistics.
"""

from calendar import day_name, month_abbr, month_name, monthrange
from datetime import date, datetime, time, timedelta
import re
from typing import Any, Final

from homeassistant.util import dt as dt_util

from ..results import ToolError, format_time

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

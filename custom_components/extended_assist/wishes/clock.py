"""Local times that lie ahead, as a model writes them: 07:00, 2026-03-01 17:30, tomorrow 07:00, friday 18:00."""

from datetime import date, datetime, time, timedelta
import re
from typing import Final

from homeassistant.util import dt as dt_util

from ..results import ToolError, format_minute
from .moments import local_time, moment_of
from .recurrence import ONE_DAY

MAX_AHEAD: Final = timedelta(days=366)

_TIME: Final = re.compile(r"(?:(.+?),?(?: at)? )?(\d{1,2}:\d\d(?::\d\d)?)", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DAYS: Final = {"today": 0, "tonight": 0, "tomorrow": 1, "day after tomorrow": 2}
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EXAMPLES: Final = "07:00, tomorrow 07:00, friday 18:00 or 2026-03-01 17:30"


def read_local(text: str, name: str, now: float) -> datetime:
    """Return the next local time that a text names; of a time that clocks repeat, the one that is still to come.

    Raises ToolError for what is no time, is over or lies further ahead than MAX_AHEAD.
    """
    plain = " ".join(text.casefold().split())
    try:
        found = _in_words(plain, name, now) or _in_full(text.strip())
    except ValueError, OverflowError:  # Such as 2026-02-30 or 25:00.
        found = None
    if found is None:
        day = f"{plain} 07:00" if _day(plain, now) or _DATE.fullmatch(plain) else ""
        hint = f"add the time of day, such as {day}" if day else f"write local time with 24 hours, such as {_EXAMPLES}"
        raise ToolError(f"{name}: '{text}' is not a time; {hint}. For a time from now, give 'after' in seconds.")
    moment = moment_of(found)
    if moment <= now:
        raise ToolError(f"{name}: {format_minute(moment)} is over; it is now {format_minute(now)}. Give a later time.")
    if moment > now + MAX_AHEAD.total_seconds():
        raise ToolError(f"{name}: {format_minute(moment)} is more than a year ahead. Give an earlier time.")
    return found


def read_end(text: str, name: str, now: float) -> float:
    """Return the moment that a text names, of a day its end."""
    plain = " ".join(text.casefold().split())
    try:
        day = date.fromisoformat(plain) if _DATE.fullmatch(plain) else _day(plain, now)
    except ValueError:
        day = None
    if day is None:
        return moment_of(read_local(text, name, now))
    return moment_of(read_local((day + ONE_DAY).isoformat() + " 00:00", name, now))


def _in_words(plain: str, name: str, now: float) -> datetime | None:
    """Return a time of a day that is named, or the next one of any day."""
    if (found := _TIME.fullmatch(plain)) is None or (clock := dt_util.parse_time(found[2])) is None:
        return None
    if found[1] is None:
        days: list[date | None] = [local_time(now).date() + passed * ONE_DAY for passed in range(3)]
    elif _DATE.fullmatch(found[1]):
        days = [date.fromisoformat(found[1])]
    else:
        day = _day(found[1], now)
        days = [day, day + 7 * ONE_DAY] if day and found[1].split()[-1] in _WEEKDAYS else [day]
    times = [time_of for day in days if day for time_of in _both(day, clock)]
    return next((time_of for time_of in times if moment_of(time_of) > now), times[-1] if times else None)


def _both(day: date, clock: time) -> list[datetime]:
    """Return a time of a day, and the second one where clocks repeat it."""
    both = [datetime.combine(day, clock.replace(fold=fold)) for fold in (0, 1)]
    return both if moment_of(both[0]) < moment_of(both[1]) else both[:1]


def _day(plain: str, now: float) -> date | None:
    """Return the day that words name: today or later."""
    today = local_time(now).date()
    if plain in _DAYS:
        return today + _DAYS[plain] * ONE_DAY
    words = plain.removeprefix("on ").removeprefix("next ").removeprefix("this ")
    return today + (_WEEKDAYS.index(words) - today.weekday()) % 7 * ONE_DAY if words in _WEEKDAYS else None


def _in_full(text: str) -> datetime | None:
    """Return a time in ISO format, which may have an offset, in local time."""
    found = None if _DATE.fullmatch(text) else dt_util.parse_datetime(text)
    if found is None:
        return None
    return dt_util.as_local(found).replace(tzinfo=None) if found.tzinfo else found

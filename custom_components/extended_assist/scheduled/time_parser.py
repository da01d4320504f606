"""Local times that lie ahead, as a model writes them: 07:00, 2026-03-01 17:30, tomorrow 07:00, next friday 18:00.

A day is one of the calendar: after midnight, "tomorrow" is the day after the one that has begun. "friday" and "this friday" can be
today; "next friday" is the first Friday after today. A night begins in the evening of its day and ends in the morning after it.
"""

from datetime import date, datetime, time, timedelta
import re
from typing import Final, NamedTuple

from homeassistant.util import dt as dt_util

from ..results import ToolError, format_minute
from .due_times import local_time, moment_of
from .recurrence import ONE_DAY

MAX_AHEAD: Final = timedelta(days=366)

_TIME: Final = re.compile(r"(?:(.+?),?(?: at)? )?(\d{1,2}:\d\d(?::\d\d)?)", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DAYS: Final = {"today": 0, "tomorrow": 1, "day after tomorrow": 2}
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PARTS: Final = {"morning": (0, 12), "afternoon": (12, 19), "evening": (16, 24), "night": (17, 30)}
"""The hours at which parts of a day begin and end; those from 24 on are of the day after."""
_DAY: Final = re.compile(
    rf"(?:on )?(?:(?:the )?(?P<day>{'|'.join(_DAYS)})|(?:(?P<which>next|this) )?(?P<weekday>{'|'.join(_WEEKDAYS)}))"
    rf"(?: (?P<part>{'|'.join(_PARTS)}))?"
)
_WHOLE_DAY: Final = (0, 24)
_WEEK: Final = 7 * ONE_DAY
_EXAMPLES: Final = "07:00, tomorrow 07:00, friday 18:00 or 2026-03-01 17:30"


class NamedDay(NamedTuple):
    """A day that words name."""

    first: date
    """The first day that is meant, today or later."""
    comes_again: bool
    """True if a weekday whose time has passed means the same day of next week."""
    since: timedelta | None
    """Days since the previous such day, whose night may not have ended yet; None for a day that has not begun."""
    part: str | None
    """The part of the day, such as "evening"."""


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
    """Return the moment that a text names: the end of a day, of a morning or of an afternoon, or a time."""
    plain = " ".join(text.casefold().split())
    try:
        day = date.fromisoformat(plain) if _DATE.fullmatch(plain) else None
    except ValueError:
        day = None
    hour = 24
    if (named := _day(plain, now)) is not None:
        day, hour = named.first, min(_hours(named)[1], hour)
    if day is None:
        return moment_of(read_local(text, name, now))
    return moment_of(read_local(f"{day + hour // 24 * ONE_DAY} {hour % 24:02}:00", name, now))


def _in_words(plain: str, name: str, now: float) -> datetime | None:
    """Return a time of a day that is named, or the next one of any day; raises ToolError for one of another part of the day."""
    if (found := _TIME.fullmatch(plain)) is None or (clock := dt_util.parse_time(found[2])) is None:
        return None
    if found[1] is None:
        days = [local_time(now).date() + passed * ONE_DAY for passed in range(3)]
    elif _DATE.fullmatch(found[1]):
        days = [date.fromisoformat(found[1])]
    elif (named := _day(found[1], now)) is not None:
        days = _days_of(named, clock, name)
    else:
        return None
    times = [time_of for day in days for time_of in _both(day, clock)]
    return next((time_of for time_of in times if moment_of(time_of) > now), times[-1])


def _days_of(named: NamedDay, clock: time, name: str) -> list[date]:
    """Return the days on which a time can be meant, first those to be preferred; raises ToolError for another part of the day."""
    begins, ends = _hours(named)
    if begins <= clock.hour < ends:
        first = named.first
    elif clock.hour < ends - 24:
        first = named.first + ONE_DAY
    else:
        at = f"{clock:%H:%M}"
        raise ToolError(
            f"{name}: {at} is not in the {named.part}. Give the day without a part of it, such as today {at}."
        )
    is_past_midnight = first != named.first
    days = [first - named.since, first] if is_past_midnight and named.since else [first]
    return [*days, first + _WEEK] if named.comes_again else days


def _both(day: date, clock: time) -> list[datetime]:
    """Return a time of a day, and the second one where clocks repeat it."""
    both = [datetime.combine(day, clock.replace(fold=fold)) for fold in (0, 1)]
    return both if moment_of(both[0]) < moment_of(both[1]) else both[:1]


def _day(plain: str, now: float) -> NamedDay | None:
    """Return the day that words name."""
    words = re.sub(r"this(?= (?:morning|afternoon|evening)\b)", "today", plain.replace("tonight", "today night"))
    if (found := _DAY.fullmatch(words)) is None:
        return None
    today = local_time(now).date()
    if found["day"]:
        ahead = _DAYS[found["day"]]
        return NamedDay(
            today + ahead * ONE_DAY, comes_again=False, since=None if ahead else ONE_DAY, part=found["part"]
        )
    is_next = found["which"] == "next"
    ahead = (_WEEKDAYS.index(found["weekday"]) - today.weekday()) % 7 or 7 * is_next
    comes_again = found["which"] is None
    return NamedDay(today + ahead * ONE_DAY, comes_again, since=None if is_next else _WEEK, part=found["part"])


def _hours(named: NamedDay) -> tuple[int, int]:
    """Return the hours at which the meant part of a day begins and ends."""
    return _PARTS[named.part] if named.part else _WHOLE_DAY


def _in_full(text: str) -> datetime | None:
    """Return a time in ISO format, which may have an offset, in local time."""
    found = None if _DATE.fullmatch(text) else dt_util.parse_datetime(text)
    if found is None:
        return None
    return dt_util.as_local(found).replace(tzinfo=None) if found.tzinfo else found

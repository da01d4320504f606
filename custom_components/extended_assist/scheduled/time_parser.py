"""The parser of future local times in a model's words: 07:00, 2026-03-01 17:30, tomorrow 07:00, next friday 18:00.

Days are calendar days: after midnight, "tomorrow" is the day after the new day. "friday" and "this friday" can be
today; "next friday" is the first Friday after today. A night begins in the evening of its day and ends in the morning
after it.
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
"""The start and end hours of the parts of a day; hours from 24 on belong to the next day."""
_DAY: Final = re.compile(
    rf"(?:on )?(?:(?:the )?(?P<day>{'|'.join(_DAYS)})|(?:(?P<which>next|this) )?(?P<weekday>{'|'.join(_WEEKDAYS)}))"
    rf"(?: (?P<part>{'|'.join(_PARTS)}))?"
)
_WHOLE_DAY: Final = (0, 24)
_WEEK: Final = 7 * ONE_DAY
_EXAMPLES: Final = "07:00, tomorrow 07:00, friday 18:00 or 2026-03-01 17:30"


class NamedDay(NamedTuple):
    """A day named in words."""

    first: date
    """The first day that is meant, today or later."""
    comes_again: bool
    """True if a weekday whose time has passed means the same day of next week."""
    since: timedelta | None
    """The time since the previous such day, whose night may not have ended yet; None after "tomorrow" or "next"."""
    part: str | None
    """The part of the day, such as "evening"."""


def read_local(text: str, name: str, now: float) -> datetime:
    """Return the next local time that a text names; if clocks repeat that time, the occurrence that is still ahead.

    Raises ToolError if the text is no time, or the time is over or further ahead than MAX_AHEAD.
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
    """Return the end that a text names, in seconds since the epoch: the end of a day or part of a day, or a time.

    "evening" and "night" end at midnight. Raises ToolError as `read_local` does.
    """
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
    """Parse a time of day with or without a day, or return None; without a day, it is the next such time.

    Raises ToolError if the time is outside the named part of the day.
    """
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
    """Return the days that the words can mean, preferred first; raises ToolError if the part of the day is wrong."""
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
    """Return the local time on a day, and its second occurrence if clocks repeat it."""
    both = [datetime.combine(day, clock.replace(fold=fold)) for fold in (0, 1)]
    return both if moment_of(both[0]) < moment_of(both[1]) else both[:1]


def _day(plain: str, now: float) -> NamedDay | None:
    """Return the day that words name, or None."""
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
    return _PARTS[named.part] if named.part else _WHOLE_DAY


def _in_full(text: str) -> datetime | None:
    """Parse a date and time in ISO format and return local time, or None; an offset is converted."""
    found = None if _DATE.fullmatch(text) else dt_util.parse_datetime(text)
    if found is None:
        return None
    return dt_util.as_local(found).replace(tzinfo=None) if found.tzinfo else found

"""Recurrence rules: RRULEs of iCalendar (RFC 5545) in local time.

A rule is expanded day by day from the requested day, so that an old rule costs as little as a new one; the search ends
after SEARCHED without a match. Local times have no offset here: due_times.py converts them to timestamps.
"""

from calendar import isleap, monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from itertools import islice
import re
from typing import Final

from ..results import ToolError

SEARCHED: Final = timedelta(days=1500)
"""The longest gap between two days of a rule: over four years, for 29 February."""
MIN_APART: Final = 5
"""The fewest minutes between two times of a rule."""
LAST_YEAR: Final = 9900
"""The last year in which a rule may start: dates some years later must still be valid."""
MAX_COUNT: Final = 100
MAX_COUNTED: Final = timedelta(days=3660)
"""The longest time from the start of a rule to the last of its COUNT occurrences."""

ONE_DAY: Final = timedelta(days=1)
WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
FREQUENCIES: Final = ("MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
MINUTELY, HOURLY, DAILY, WEEKLY, MONTHLY, YEARLY = FREQUENCIES
_DAY: Final = 24 * 60
_RANGES: Final = {
    "BYMONTH": (1, 12, False),
    "BYMONTHDAY": (1, 31, True),
    "BYHOUR": (0, 23, False),
    "BYMINUTE": (0, 59, False),
    "BYSETPOS": (1, 366, True),
}
"""For each list: its least number, its greatest number, and whether negative numbers may count from the end."""
_KNOWN: Final = ("FREQ", "INTERVAL", *_RANGES, "BYDAY", "COUNT", "UNTIL", "WKST")
_NUMBER: Final = re.compile(r"[+-]?\d{1,4}", re.ASCII)
_WEEKDAY: Final = re.compile(rf"([+-]?\d{{1,2}})?({'|'.join(WEEKDAYS)})", re.ASCII)
_UNTIL: Final = re.compile(r"(\d{8})(?:T(\d{4})(?:\d\d)?)?", re.ASCII)
_EXAMPLE: Final = "FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=7"

type Times = Sequence[int]
"""Minutes of a day, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """A parsed rule; the start fills in the parts that the rule leaves out."""

    frequency: str
    start: datetime
    interval: int = 1
    months: frozenset[int] = frozenset()
    month_days: frozenset[int] = frozenset()
    """Days of a month; negative numbers count from its end."""
    weekdays: tuple[tuple[int, int], ...] = ()
    """Pairs of the ordinal in the month or year (0 for every one) and the weekday (0 is Monday)."""
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    positions: frozenset[int] = frozenset()
    week_start: int = 0
    until: datetime | None = None
    """The last possible time."""
    count: int | None = None
    """The number of occurrences from the start; `until` is then the last of them."""

    @property
    def is_by_the_clock(self) -> bool:
        """Return whether the rule repeats within a day: its frequency is MINUTELY or HOURLY."""
        return self.frequency in (MINUTELY, HOURLY)

    def times(self, after: datetime) -> Iterator[datetime]:
        """Yield the rule's local times after a given one."""
        for day, minutes in self.days(max(after, self.start).date()):
            for minute in minutes:
                found = datetime.combine(day, time()) + timedelta(minutes=minute)
                if self.until and found > self.until:
                    return
                if found > after and found >= self.start:
                    yield found

    def days(self, first: date) -> Iterator[tuple[date, Times]]:
        """Yield the days from `first` on with their times, without comparing the times with start and end."""
        last = first + SEARCHED
        for begin, end in self._periods(first):
            if begin > last or (self.until and begin > self.until.date()):
                return
            found = self._chosen(begin, end) if self.positions else self._timed(max(begin, first), end)
            for day, minutes in found:
                if day >= first:
                    last = day + SEARCHED
                    yield day, minutes

    def _periods(self, first: date) -> Iterator[tuple[date, date]]:
        """Yield the matching days, weeks, months or years from `first` on: their first day, and the day after them."""
        start = self.start.date()
        match self.frequency:
            case "MONTHLY" | "YEARLY":
                length = 1 if self.frequency == MONTHLY else 12
                origin = start.year * 12 + (start.month - 1 if length == 1 else 0)
                steps = length * self.interval
                month = origin + max(0, first.year * 12 + first.month - 1 - origin) // steps * steps
                while month // 12 < date.max.year:
                    yield _first_of(month), _first_of(month + length)
                    month += steps
            case _:
                days = 7 if self.frequency == WEEKLY else 1
                begin = start - timedelta(days=(start.weekday() - self.week_start) % 7) if days == 7 else start
                steps = 1 if self.is_by_the_clock else days * self.interval
                begin += timedelta(days=max(0, (first - begin).days) // steps * steps)
                while (date.max - begin).days > steps:
                    yield begin, begin + timedelta(days=days)
                    begin += timedelta(days=steps)

    def _timed(self, begin: date, end: date) -> Iterator[tuple[date, Times]]:
        """Yield the matching days of a period with their times."""
        day = begin
        while day < end:
            if self.months and day.month not in self.months:
                day = _first_of(day.year * 12 + day.month)
                continue
            if self._fits(day) and (minutes := self._minutes_of(day)):
                yield day, minutes
            day += ONE_DAY

    def _chosen(self, begin: date, end: date) -> Iterator[tuple[date, Times]]:
        """Yield the days and times of a period that BYSETPOS selects from all of its times."""
        days = list(self._timed(begin, end))
        total = sum(len(minutes) for _, minutes in days)
        wanted = {position - 1 if position > 0 else total + position for position in self.positions}
        passed = 0
        for day, minutes in days:
            if kept := [minute for index, minute in enumerate(minutes, passed) if index in wanted]:
                yield day, kept
            passed += len(minutes)

    def _fits(self, day: date) -> bool:
        """Return whether a day matches the rule's month days and weekdays; its month is checked elsewhere."""
        if self.month_days:
            length = monthrange(day.year, day.month)[1]
            if day.day not in self.month_days and day.day - length - 1 not in self.month_days:
                return False
        if not self.weekdays:
            return True
        weekday = day.weekday()
        return any(wanted == weekday and (not nth or nth in self._nth(day)) for nth, wanted in self.weekdays)

    def _nth(self, day: date) -> tuple[int, int]:
        """Return the ordinal of a day among the same weekdays of its month or year, from the start and from the end."""
        if self.frequency == MONTHLY or self.months:
            index, length = day.day - 1, monthrange(day.year, day.month)[1]
        else:
            index, length = day.timetuple().tm_yday - 1, 365 + isleap(day.year)
        return index // 7 + 1, -((length - 1 - index) // 7 + 1)

    def _minutes_of(self, day: date) -> Times:
        """Return the rule's times of a day, as minutes since midnight."""
        if not self.is_by_the_clock:
            return _times(self.hours, self.minutes)
        is_hourly = self.frequency == HOURLY
        step = self.interval * (60 if is_hourly else 1)
        origin = self.start.hour * 60 + (0 if is_hourly else self.start.minute)
        passed = (day - self.start.date()).days * _DAY - origin
        return _stepped(-passed % step, step, self.hours, self.minutes, is_hourly=is_hourly)


@lru_cache(maxsize=256)
def recurrence(text: str, start: datetime) -> Recurrence:
    """Parse a rule that counts from a local time; raises ToolError that says what to write instead."""
    parts = _parts(text)
    if start.year > LAST_YEAR:
        raise ToolError(f"repeat: it cannot begin in the year {start.year}. Let it begin by {LAST_YEAR}.")
    frequency = parts["FREQ"]
    numbers = {key: _numbers(key, parts[key]) for key in _RANGES if key in parts}
    weekdays = _weekdays(parts["BYDAY"], frequency) if "BYDAY" in parts else ()
    months, month_days = numbers.get("BYMONTH", []), numbers.get("BYMONTHDAY", [])
    is_by_the_clock = frequency in (MINUTELY, HOURLY)
    if not month_days and not weekdays:
        if frequency == YEARLY and not months:
            months = [start.month]
        if frequency in (YEARLY, MONTHLY):
            month_days = [start.day]
        elif frequency == WEEKLY:
            weekdays = ((0, start.weekday()),)
    if is_by_the_clock and "BYSETPOS" in parts:
        raise ToolError(f"repeat: leave BYSETPOS out, or use it with {DAILY}, {WEEKLY}, {MONTHLY} or {YEARLY}.")
    found = Recurrence(
        frequency=frequency,
        start=start,
        interval=_one("INTERVAL", parts.get("INTERVAL", "1"), 9999),
        months=frozenset(months),
        month_days=frozenset(month_days),
        weekdays=weekdays,
        hours=tuple(numbers.get("BYHOUR", [] if is_by_the_clock else [start.hour])),
        minutes=tuple(numbers.get("BYMINUTE", [] if frequency == MINUTELY else [start.minute])),
        positions=frozenset(numbers.get("BYSETPOS", [])),
        week_start=_weekdays(parts.get("WKST", "MO"), WEEKLY)[0][1],
    )
    _check_apart(found)
    if "UNTIL" in parts:
        return replace(found, until=_until(parts["UNTIL"]))
    return _counted(found, _one("COUNT", parts["COUNT"], MAX_COUNT)) if "COUNT" in parts else found


def _parts(text: str) -> dict[str, str]:
    """Return the parts of a rule by name; raises ToolError for a part that is unknown, repeated or not allowed."""
    plain = "".join(text.upper().split()).removeprefix("RRULE:").strip(";")
    pairs = [part.partition("=") for part in plain.split(";")]
    parts = {key: value for key, _, value in pairs}
    if "DTSTART" in plain:
        raise ToolError("repeat: leave DTSTART out; say from when on with 'at'.")
    if any(not (sign and value) for _, sign, value in pairs) or parts.get("FREQ") not in FREQUENCIES:
        raise ToolError(f"repeat: write a rule like {_EXAMPLE}. FREQ is one of {', '.join(FREQUENCIES)}.")
    if unknown := [key for key in parts if key not in _KNOWN]:
        raise ToolError(f"repeat: {unknown[0]} cannot be used. Use {', '.join(_KNOWN)}.")
    if len(parts) < len(pairs):
        raise ToolError("repeat: give each part once, with commas between its values, such as BYDAY=MO,TU.")
    if {"COUNT", "UNTIL"} <= parts.keys():
        raise ToolError("repeat: give COUNT or UNTIL, not both.")
    return parts


def _numbers(key: str, text: str) -> list[int]:
    """Return the distinct numbers of a list in ascending order; raises ToolError for a number out of range."""
    least, greatest, may_be_negative = _RANGES[key]
    found = [int(item) if _NUMBER.fullmatch(item) else greatest + 1 for item in text.split(",")]
    if any(not least <= (abs(item) if may_be_negative else item) <= greatest for item in found):
        more = ", or from the end like -1" if may_be_negative else ""
        raise ToolError(f"repeat: {key}={text}: numbers from {least} to {greatest}{more}, with commas between them.")
    return sorted(set(found))


def _weekdays(text: str, frequency: str) -> tuple[tuple[int, int], ...]:
    """Return pairs of ordinal (0 for every one) and weekday; raises ToolError for text that is no BYDAY list."""
    found = [_WEEKDAY.fullmatch(item) for item in text.split(",")]
    days = [(int(item[1] or 0), WEEKDAYS.index(item[2])) for item in found if item]
    if len(days) < len(found) or any(item and item[1] and not 1 <= abs(int(item[1])) <= 53 for item in found):
        raise ToolError(f"repeat: '{text}': weekdays are {','.join(WEEKDAYS)}; the first Monday of a month is 1MO.")
    if any(nth for nth, _ in days) and frequency not in (MONTHLY, YEARLY):
        raise ToolError(f"repeat: BYDAY={text}: the number before a weekday goes with MONTHLY or YEARLY only.")
    return tuple(sorted(set(days), key=lambda day: (day[0] < 0, day)))


def _one(key: str, text: str, greatest: int) -> int:
    """Return a number from 1 to `greatest`; raises ToolError for anything else."""
    if not _NUMBER.fullmatch(text) or not 1 <= int(text) <= greatest:
        raise ToolError(f"repeat: {key}={text}: a number from 1 to {greatest}.")
    return int(text)


def _until(text: str) -> datetime:
    """Return the last possible local time; a date without a time includes its whole day. Raises ToolError."""
    day, minute = found.groups("2359") if (found := _UNTIL.fullmatch(text)) else ("", "")
    try:
        return datetime.combine(date.fromisoformat(day), time.fromisoformat(minute))
    except ValueError:
        raise ToolError(f"repeat: UNTIL={text}: write local time like 20261231 or 20261231T180000.") from None


def _check_apart(rule: Recurrence) -> None:
    """Raise ToolError if two times of a rule are less than MIN_APART minutes apart."""
    error = ToolError(f"repeat: this comes more often than every {MIN_APART} minutes. Make it rarer.")
    if rule.frequency == MINUTELY:
        if rule.interval < MIN_APART:
            raise error
        return
    length = 60 if rule.frequency == HOURLY else _DAY
    times = rule.minutes if rule.frequency == HOURLY else _times(rule.hours, rule.minutes)
    following = (*times[1:], times[0] + length)
    if any(later - one < MIN_APART for one, later in zip(times, following, strict=True)):
        raise error


def _counted(rule: Recurrence, count: int) -> Recurrence:
    """Return the rule with the last of its COUNT occurrences as its end; raises ToolError if that takes too long."""
    limit = rule.start + MAX_COUNTED
    # The end bounds the search.
    within = replace(rule, until=limit)
    found = list(islice(within.times(rule.start - ONE_DAY), count))
    if found and len(found) < count:
        raise ToolError(f"repeat: COUNT={count} would take more than ten years. Give a smaller one, or leave it out.")
    return replace(rule, until=found[-1], count=count) if found else rule


def _first_of(month: int) -> date:
    """Return the first day of a month, given as the number of months since year 0."""
    return date(month // 12, month % 12 + 1, 1)


@lru_cache(maxsize=256)
def _times(hours: tuple[int, ...], minutes: tuple[int, ...]) -> tuple[int, ...]:
    """Return all combinations of hours and minutes, as minutes since midnight."""
    return tuple(hour * 60 + minute for hour in hours for minute in minutes)


@lru_cache(maxsize=1024)
def _stepped(
    first: int, step: int, hours: tuple[int, ...], minutes: tuple[int, ...], *, is_hourly: bool
) -> tuple[int, ...]:
    """Return every `step`-th minute of a day from `first` on that the hours and minutes allow."""
    steps = [base for base in range(first, _DAY, step) if not hours or base // 60 in hours]
    if is_hourly:
        return tuple(base + minute for base in steps for minute in minutes)
    return tuple(base for base in steps if not minutes or base % 60 in minutes)

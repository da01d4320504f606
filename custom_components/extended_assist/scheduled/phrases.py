"""Times, durations, recurrence rules and messages in words."""

from collections.abc import Iterable, Mapping
from datetime import datetime
import json
from pathlib import Path
from typing import Any, Final

from homeassistant.util import dt as dt_util

from ..confirmation.wording import known_language, words_for
from ..results import format_minute, format_time, round_second
from .recurrence import MONTHLY, WEEKLY, Recurrence

MAX_TIMES: Final = 6
"""The most times of a day that are listed one by one."""

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAYS: Final = tuple(day[:3] for day in _DAYS)
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UNITS: Final = {"MINUTELY": "minute", "HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month"}
_LENGTHS: Final = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def weekday_and_time(moment: float) -> str:
    """Return a timestamp as local time with its weekday: Mon 2026-03-02 07:00."""
    return f"{_WEEKDAYS[dt_util.as_local(round_second(moment)).weekday()]} {format_minute(moment)}"


def full_weekday_and_time(moment: float) -> str:
    """Return a future timestamp with its weekday in full, so that users notice a wrong day."""
    return f"{_DAYS[dt_util.as_local(round_second(moment)).weekday()]} {format_time(moment)}"


def duration_words(seconds: float) -> str:
    """Return a duration in words: 1 hour 20 minutes."""
    rest, words = round(seconds), []
    for unit, length in _LENGTHS:
        amount, rest = divmod(rest, length)
        words += [_counted(amount, unit)] if amount else []
    return " ".join(words) or "0 seconds"


def rule_words(rule: Recurrence) -> str:
    """Return a rule in words: every 2 weeks on Mon, Tue at 07:00 until 2026-12-31.

    The words are English, for the model.
    """
    unit = _UNITS.get(rule.frequency, "year")
    words = [f"every {_counted(rule.interval, unit)}" if rule.interval > 1 else f"every {unit}"]
    if rule.months:
        words.append(f"in {_listed(_MONTHS[month - 1] for month in sorted(rule.months))}")
    if rule.month_days:
        words.append(f"on the {_listed(_ordinal(day) for day in sorted(rule.month_days, key=_last_last))} of the month")
    if rule.weekdays:
        kind = "of the year " if rule.frequency not in (WEEKLY, MONTHLY) and not rule.months else ""
        words.append(f"on {_weekdays(rule.weekdays, kind)}")
    if rule.is_by_the_clock:
        words += [f"in the hours {_listed(map(str, rule.hours))}"] if rule.hours else []
        words += [f"at {_listed(f'{minute:02}' for minute in rule.minutes)} past the hour"] if rule.minutes else []
        words += [f"counted from {rule.start:%H:%M}"] if rule.interval > 1 else []
    else:
        times = [f"{hour:02}:{minute:02}" for hour in rule.hours for minute in rule.minutes]
        more = f" and {len(times) - MAX_TIMES} more times" if len(times) > MAX_TIMES else ""
        words.append(f"at {_listed(times[:MAX_TIMES])}{more}")
    if rule.positions:
        which = _listed(_ordinal(position) for position in sorted(rule.positions, key=_last_last))
        words.append(f"(the {which} of these in each {unit})")
    if rule.count:
        words.append("once" if rule.count == 1 else f"{rule.count} times")
    elif rule.until:
        words.append(f"until {_plain(rule.until)}")
    return " ".join(words)


def _weekdays(weekdays: Iterable[tuple[int, int]], kind: str) -> str:
    """Return weekdays in words, each with its ordinal in the month or year if it has one."""
    plain = [_WEEKDAYS[day] for nth, day in weekdays if not nth]
    return _listed([*plain, *(f"the {_ordinal(nth)} {_WEEKDAYS[day]} {kind}".strip() for nth, day in weekdays if nth)])


def _ordinal(number: int) -> str:
    """Return a number as an ordinal, from the end if it is negative: 1st, last, 2nd last."""
    if number == -1:
        return "last"
    size = abs(number)
    ending = "th" if 10 < size % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(size % 10, "th")
    return f"{size}{ending}{' last' if number < 0 else ''}"


def _last_last(number: int) -> tuple[bool, int]:
    """Return a sort key that puts negative numbers, which count from the end, behind the others."""
    return number < 0, number


def _plain(local: datetime) -> str:
    """Return a local time in words; 23:59 is shown as the date alone."""
    return f"{local:%Y-%m-%d}" if (local.hour, local.minute) == (23, 59) else f"{local:%Y-%m-%d %H:%M}"


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)


_WORDS: Final[Mapping[str, Mapping[str, str]]] = json.loads(
    (Path(__file__).parent / "words.json").read_text(encoding="utf-8")
)
_ENGLISH = "en"


def say(key: str, language: str | None, **values: Any) -> str:
    """Return the message of a key with its values, in the language if it is known, otherwise in English."""
    # `words_for` returns None if the assistant cannot ask questions in a language, such as one in another script.
    known = known_language(language) if words_for(language) is not None else None
    return _WORDS[known or _ENGLISH][key].format(**values)


def said_time(moment: float, now: datetime | None = None) -> str:
    """Return a time, given in seconds since the epoch, for a spoken message; without the date if it is today."""
    text = format_minute(moment)
    today = dt_util.as_local(now or dt_util.utcnow()).date()
    is_today = dt_util.as_local(round_second(moment)).date() == today
    return text.partition(" ")[2] if is_today else text

"""Where an axis has its marks, and what they say."""

from datetime import date, datetime, time, timedelta
from math import ceil, floor, log10
from typing import Final

from homeassistant.util import dt as dt_util

_MINUTES: Final = (1, 5, 15, 30, 60, 120, 180, 240, 360, 720)
_DAYS: Final = (1, 2, 7, 14)
_MONTHS: Final = (1, 2, 3, 6, 12, 24, 60, 120)
_NOISE: Final = 1e-9
_DAY_MINUTES: Final = 24 * 60
_MONTH_MINUTES: Final = 31 * _DAY_MINUTES


def value_ticks(low: float, high: float, most: int) -> list[float]:
    """Return round values from one at or below low to one at or above high, about as many as may be at most."""
    length = (high - low) or abs(high) or 1.0
    exact = length / most
    power = floor(log10(exact))
    nice = next(nice for nice in (1, 2, 5, 10) if nice * 10.0**power >= exact * (1 - _NOISE))
    step = nice * 10.0**power
    first, last = floor(low / step + _NOISE), ceil(high / step - _NOISE)
    # By way of a text, the digits stay as few as they are.
    return [float(f"{count * nice}e{power}") for count in range(first, max(last, first + 1) + 1)]


def time_ticks(start: float, end: float, most: int) -> list[tuple[float, str]]:
    """Return round local times within a span, at most about as many, as seconds since the epoch, each with its words."""
    minutes = (end - start) / 60
    first, last = _local(start).date(), _local(end).date()
    days = [first + timedelta(days=count) for count in range((last - first).days + 1)]
    if (step := next((one for one in _MINUTES if minutes / one <= most), None)) is not None:
        moments = [
            datetime.combine(day, time(minute // 60, minute % 60))
            for day in days
            for minute in range(0, _DAY_MINUTES, step)
        ]
    elif (step := next((one for one in _DAYS if minutes / one / _DAY_MINUTES <= most), None)) is not None:
        moments = [datetime.combine(day, time()) for day in days if day.toordinal() % step == step // 7]
    else:
        step = next((one for one in _MONTHS if minutes / one / _MONTH_MINUTES <= most), _MONTHS[-1])
        firsts = (date(month // 12, month % 12 + 1, 1) for month in range(_month(first), _month(last) + 1, 1))
        moments = [datetime.combine(day, time()) for day in firsts if _month(day) % step == 0]
        return _within(moments, "%Y-%m", "%Y-%m", start, end)
    return _within(moments, "%H:%M", "%m-%d" if first != last else "%H:%M", start, end)


def _within(moments: list[datetime], words: str, at_midnight: str, start: float, end: float) -> list[tuple[float, str]]:
    """Return those of local times that there are and that lie in a span."""
    zone = dt_util.get_default_time_zone()
    ticks = []
    for naive in moments:
        moment = naive.replace(tzinfo=zone).timestamp()
        # What the clock skips when it is set forward would stand at a time of another name.
        if start <= moment <= end and _local(moment).replace(tzinfo=None) == naive:
            ticks.append((moment, naive.strftime(at_midnight if naive.time() == time() else words)))
    return ticks


def _local(moment: float) -> datetime:
    """Return a moment as local time."""
    return dt_util.as_local(dt_util.utc_from_timestamp(moment))


def _month(day: date) -> int:
    """Return the number of a day's month."""
    return day.year * 12 + day.month - 1

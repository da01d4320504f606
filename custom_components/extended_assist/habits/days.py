"""Local days as people live them: what is done after midnight belongs to the day before."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from homeassistant.const import WEEKDAYS
from homeassistant.util import dt as dt_util

from ..simulation.historical_state import Stretch

DAY: Final = 1_440
BEGIN: Final = 240
"""The minute at which a day begins: hardly anybody does anything by habit at four in the morning."""

KINDS: Final[dict[str, frozenset[int]]] = {
    "days": frozenset(range(7)),
    "weekdays": frozenset(range(5)),
    "weekend days": frozenset({5, 6}),
    **{
        f"{name}s": frozenset({number})
        for number, name in enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"))
    },
}
"""Kinds of days, and their weekdays."""


class Days:
    """The days of a span in which Home Assistant ran."""

    def __init__(self, start: float, end: float, stretches: Sequence[Stretch]) -> None:
        """Take a span, in seconds since the epoch, and when Home Assistant ran in it."""
        self._begins = [stretch.begin for stretch in stretches]
        self._ends = [stretch.end for stretch in stretches]
        first, last = (self.place(moment)[0] for moment in (start, end))
        days = range(first, last + 1)
        self.all = [day for day in days if start <= self.moment(day, BEGIN + 60) and self.moment(day + 1, BEGIN) <= end]
        self.left_out: set[int] = set()
        """Days on which nobody did anything at all."""

    def place(self, moment: float) -> tuple[int, float]:
        """Return the day of a moment, and its minute, from BEGIN to BEGIN + DAY, as clocks show it."""
        local = dt_util.as_local(dt_util.utc_from_timestamp(moment))
        minute = local.hour * 60 + local.minute + local.second / 60
        day = local.toordinal()
        return (day, minute) if minute >= BEGIN else (day - 1, minute + DAY)

    def moment(self, day: int, minute: float) -> float:
        """Return the moment of a minute of a day."""
        midnight = datetime.combine(date.fromordinal(day), datetime.min.time())
        local = midnight + timedelta(minutes=minute)
        return local.replace(tzinfo=dt_util.get_default_time_zone()).timestamp()

    def is_known(self, moment: float) -> bool:
        """Return whether Home Assistant ran at a moment."""
        index = bisect_right(self._begins, moment) - 1
        return index >= 0 and moment < self._ends[index]

    def of_kind(self, kind: str, minute: float) -> list[int]:
        """Return the days of a kind on which people did anything, and of which is known what was at a minute."""
        weekdays = KINDS[kind]
        return [
            day
            for day in self.all
            if day not in self.left_out and weekday(day) in weekdays and self.is_known(self.moment(day, minute))
        ]

    def leave_out(self, active: Collection[int]) -> None:
        """Leave out days on which nobody did anything."""
        self.left_out = {day for day in self.all if day not in active}


def weekday(day: int) -> int:
    """Return the weekday of a day, 0 for Monday."""
    return (day - 1) % 7


def clock(minute: float) -> str:
    """Return a minute of a day as clocks show it."""
    hour, rest = divmod(int(minute) % DAY, 60)
    return f"{hour:02}:{rest:02}"


def wanted_weekdays(kind: str, minute: float) -> list[str] | None:
    """Return the weekdays on which a time of a kind of day comes, None for all of them."""
    if len(KINDS[kind]) == 7:
        return None
    later = int(minute >= DAY)
    return [WEEKDAYS[number] for number in sorted((one + later) % 7 for one in KINDS[kind])]

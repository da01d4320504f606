"""Local days that begin in the early morning: actions after midnight belong to the day before."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from homeassistant.const import WEEKDAYS
from homeassistant.util import dt as dt_util

from ..simulation.historical_state import Stretch

DAY: Final = 1_440
BEGIN: Final = 240
"""The minute at which a day begins: hardly anybody has habits at four in the morning."""

KINDS: Final[dict[str, frozenset[int]]] = {
    "days": frozenset(range(7)),
    "weekdays": frozenset(range(5)),
    "weekend days": frozenset({5, 6}),
    **{
        f"{name}s": frozenset({number})
        for number, name in enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"))
    },
}
"""The kinds of days with their weekdays."""


class Days:
    """The days of a time span in which Home Assistant ran."""

    def __init__(self, start: float, end: float, stretches: Sequence[Stretch]) -> None:
        """Store a time span, in seconds since the epoch, and the runs of Home Assistant in it."""
        self._begins = [stretch.begin for stretch in stretches]
        self._ends = [stretch.end for stretch in stretches]
        first, last = (self.place(moment)[0] for moment in (start, end))
        days = range(first, last + 1)
        self.all = [day for day in days if start <= self.moment(day, BEGIN + 60) and self.moment(day + 1, BEGIN) <= end]
        self.left_out: set[int] = set()
        """Days without any action of a person."""

    def place(self, moment: float) -> tuple[int, float]:
        """Return the day of a time, and its local minute, from BEGIN to BEGIN + DAY."""
        local = dt_util.as_local(dt_util.utc_from_timestamp(moment))
        minute = local.hour * 60 + local.minute + local.second / 60
        day = local.toordinal()
        return (day, minute) if minute >= BEGIN else (day - 1, minute + DAY)

    def moment(self, day: int, minute: float) -> float:
        """Return the time of a minute of a day."""
        midnight = datetime.combine(date.fromordinal(day), datetime.min.time())
        local = midnight + timedelta(minutes=minute)
        return local.replace(tzinfo=dt_util.get_default_time_zone()).timestamp()

    def is_known(self, moment: float) -> bool:
        """Return whether Home Assistant ran at a time."""
        index = bisect_right(self._begins, moment) - 1
        return index >= 0 and moment < self._ends[index]

    def of_kind(self, kind: str, minute: float) -> list[int]:
        """Return the days of a kind with actions of persons, on which Home Assistant ran at a minute."""
        weekdays = KINDS[kind]
        return [
            day
            for day in self.all
            if day not in self.left_out and weekday(day) in weekdays and self.is_known(self.moment(day, minute))
        ]

    def leave_out(self, active: Collection[int]) -> None:
        """Leave out days without actions of persons."""
        self.left_out = {day for day in self.all if day not in active}


def weekday(day: int) -> int:
    """Return the weekday of a day, 0 for Monday."""
    return (day - 1) % 7


def clock(minute: float) -> str:
    """Return a minute of a day as a local clock time."""
    hour, rest = divmod(int(minute) % DAY, 60)
    return f"{hour:02}:{rest:02}"


def wanted_weekdays(kind: str, minute: float) -> list[str] | None:
    """Return the weekdays for a time on a kind of day, or None for all."""
    if len(KINDS[kind]) == 7:
        return None
    later = int(minute >= DAY)
    return [WEEKDAYS[number] for number in sorted((one + later) % 7 for one in KINDS[kind])]

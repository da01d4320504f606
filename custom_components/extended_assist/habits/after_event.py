"""Find actions that users repeat after an event, or at a time of day."""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp
from statistics import median
from time import monotonic
from typing import Final

from .changes import BY_HAND, Changes, Series
from .days import DAY, KINDS, Days, weekday
from .habit import AFTER, LEAST, MAY_BE_CHANCE, SHARE, TIME, Habit, at_least

_LONGEST: Final = 900.0
"""The most seconds between an event and the action after it."""
_WINDOWS: Final = (30.0, 60.0, 120.0, 180.0, 300.0, 600.0, _LONGEST)
_NO_PERSON: Final = 1.5
"""Seconds in which nobody gets from one device to the other: such changes have a technical link."""
_AGAIN: Final = 60.0
"""Seconds in which a repeated event is not a new occasion."""
_MOST_OCCASIONS: Final = 20
"""The most events per action, with those at which the state was reached already or it was light."""
_RARE_IN_LIGHT: Final = 0.4
_DAY: Final = 86_400.0
_AWAKE_SHARE: Final = 1.5
"""The ratio between the rate of actions while people are awake and that of the whole day."""


@dataclass(slots=True)
class _Occasion:
    """An event after which the action was possible."""

    moment: float
    delay: float | None
    """Seconds until the action; None if it was not done."""
    place: float
    """The event's second of the day."""


class Followers:
    """Finds pairs of an event and an action after it."""

    def __init__(
        self, changes: Changes, days: Days, is_dark: Callable[[float], bool], leading: Mapping[str, str]
    ) -> None:
        """Store the changes, the possible events with their devices, and the test for darkness."""
        self._changes = changes
        self._days = days
        self._is_dark = is_dark
        self._leading = leading
        self._stops_at = 0.0
        self.is_whole = True
        """True if the time limit allowed a full search."""
        self._places: dict[Series, list[float]] = {}
        self._waiting: dict[Series, tuple[list[float], float]] = {}

    def find(self, settable: list[Series], limit: float) -> list[Habit]:
        """Return the habits of doing one thing after another, within a time limit in seconds."""
        self._stops_at = monotonic() + limit
        wanted = {
            series
            for series in settable
            if len(self._changes.by_hand(series)) >= LEAST
            and len({self._days.place(moment)[0] for moment in self._changes.by_hand(series)}) >= LEAST
        }
        pairs = len(wanted) * max(len(self._changes.series), 1)
        chance = MAY_BE_CHANCE / max(pairs * len(_WINDOWS) * 2, 1)
        found = []
        for (cause, done), count in self._together(wanted).items():
            if self._is_late():
                break
            if count >= LEAST and len(self._changes.of(cause)) <= _MOST_OCCASIONS * count:
                found += self._of_pair(cause, done, chance)
        return found

    def _together(self, wanted: set[Series]) -> Counter[tuple[Series, Series]]:
        """Return how often each series came shortly before each possible action."""
        changes = self._changes
        moments, numbers = changes.moments, changes.numbers
        may_lead = [one[0] in self._leading and one[0] not in changes.too_many for one in changes.series]
        is_wanted = [one in wanted for one in changes.series]
        found: Counter[tuple[int, int]] = Counter()
        for index, (moment, number, by) in enumerate(zip(moments, numbers, changes.by, strict=True)):
            if not is_wanted[number] or by not in BY_HAND:
                continue
            if self._is_late():
                break
            first = bisect_left(moments, moment - _LONGEST, 0, index)
            for other in set(numbers[first:index]):
                if may_lead[other]:
                    found[other, number] += 1
        series = changes.series
        return Counter(
            {
                (series[cause], series[done]): count
                for (cause, done), count in found.items()
                if self._device(series[cause]) != self._device(series[done])
            }
        )

    def _is_late(self) -> bool:
        """Return whether the time limit is reached."""
        self.is_whole = monotonic() <= self._stops_at
        return not self.is_whole

    def _device(self, series: Series) -> str:
        """Return the device of an entity, or the entity itself: reports of one device about itself are no habits."""
        return self._leading.get(series[0]) or series[0]

    def _of_pair(self, cause: Series, done: Series, limit: float) -> list[Habit]:
        """Return the habit of a pair at any time, or else in the dark, or None."""
        occasions = self._occasions(cause, done)
        if habit := self._habit(cause, done, occasions, limit, dark=False):
            return [habit]
        if sum(one.delay is not None for one in occasions) < LEAST:
            return []
        in_dark = [self._is_dark(one.moment) for one in occasions]
        dark = [one for one, is_dark in zip(occasions, in_dark, strict=True) if is_dark]
        light = [one for one, is_dark in zip(occasions, in_dark, strict=True) if not is_dark]
        followed = sum(one.delay is not None for one in light)
        if light and followed / len(light) > _RARE_IN_LIGHT:
            return []
        habit = self._habit(cause, done, dark, limit, dark=True)
        return [habit] if habit else []

    def _occasions(self, cause: Series, done: Series) -> list[_Occasion]:
        """Return the events at which the action's state was not reached already."""
        changes, found = self._changes, []
        by_hand = changes.by_hand(done)
        busy = 0.0
        for moment in changes.of(cause):
            if moment < busy or changes.state_at(done[0], moment) == done[1]:
                continue
            index = bisect_right(by_hand, moment)
            delay = by_hand[index] - moment if index < len(by_hand) else None
            if delay is not None and delay > _LONGEST:
                delay = None
            busy = moment + _AGAIN if delay is None else moment + delay
            found.append(_Occasion(moment, delay, self._second(moment)))
        return found

    def _second(self, moment: float) -> float:
        """Return the second of the local day of a time."""
        return self._days.place(moment)[1] * 60 % _DAY

    def _habit(
        self, cause: Series, done: Series, occasions: list[_Occasion], limit: float, *, dark: bool
    ) -> Habit | None:
        """Return the habit with the delay that is least likely by chance."""
        best: tuple[float, float] | None = None
        if len(occasions) < LEAST:
            return None
        for longest in _WINDOWS:
            right = sum(one.delay is not None and one.delay <= longest for one in occasions)
            if right < LEAST or right / len(occasions) < SHARE:
                continue
            chance = at_least(right, len(occasions), self._chance(done, occasions, longest))
            if chance <= limit and (best is None or chance < best[0]):
                best = chance, longest
        if best is None:
            return None
        hits = [one for one in occasions if one.delay is not None and one.delay <= best[1]]
        delays = sorted(one.delay for one in hits if one.delay is not None)
        usual = median(delays)
        if usual < _NO_PERSON or len({self._days.place(one.moment)[0] for one in hits}) < LEAST:
            return None
        return Habit(
            what=AFTER,
            does=done,
            cause=cause,
            right=len(hits),
            of=len(occasions),
            delay=usual,
            window=(delays[0], best[1]),
            dark=dark,
            minute=_usual_minute([self._days.place(one.moment)[1] for one in hits]),
            supports=[one.moment + (one.delay or 0) for one in hits],
            exceptions=[one.moment for one in occasions if one.delay is None or one.delay > best[1]],
            by=self._changes.users_and_devices(done),
        )

    def _chance(self, done: Series, occasions: list[_Occasion], longest: float) -> float:
        """Return the probability of the action within some seconds by chance.

        It is the rate on other days at the same time, or at all moments at which the state was not reached already.
        """
        places = self._places.get(done)
        if places is None:
            places = self._places[done] = sorted(map(self._second, self._changes.by_hand(done)))
        days = max(len(self._days.all) - 1, 1)
        total = 0.0
        waits, waited = self._waits(done)
        anyway = _AWAKE_SHARE * sum(min(longest, wait) for wait in waits) / max(waited, 1.0)
        for one in occasions:
            count = bisect_right(places, one.place + longest) - bisect_right(places, one.place)
            if one.place + longest > _DAY:
                count += bisect_right(places, one.place + longest - _DAY)
            own = one.delay is not None and one.delay <= longest
            total += min((count - own) / days, 1.0)
        return max(total / len(occasions), anyway)

    def _waits(self, done: Series) -> tuple[list[float], float]:
        """Return how long the other state lasted before each action, and in total."""
        if (known := self._waiting.get(done)) is None:
            known = self._waiting[done] = self._changes.waits(done)
        return known


def _usual_minute(minutes: list[float]) -> float | None:
    """Return the minute of the day near which most of some times are; None if they are spread over the day."""
    ordered = array("d", sorted(minutes))
    quarter = len(ordered) // 4
    return median(ordered) if ordered[-1 - quarter] - ordered[quarter] <= 60 else None


_WIDTHS = (10, 20, 30, 45, 60)
"""The tried widths of a window, in minutes."""
_TRIED = 1_000
"""The approximate number of independent windows and kinds of days that are tried for one series."""
_AROUND = 120
"""Minutes before and after a window that give the usual rate."""
_AWAKE = 960
_MOST_OF_ONE = 3
"""The most times of one series."""
_EXACT = 6.0
"""Seconds of a clock's deviation; no person is so exact."""

type _Placed = tuple[float, int, float]
"""The minute of the day, the day, and the timestamp."""


def find_times(changes: Changes, days: Days, settable: list[Series]) -> list[Habit]:
    """Return the habits at a time of the day."""
    tried = [series for series in settable if len(changes.by_hand(series)) >= LEAST]
    limit = MAY_BE_CHANCE / (_TRIED * max(len(tried), 1))
    found = []
    for series in tried:
        placed = sorted(
            (minute, day, moment)
            for moment in changes.by_hand(series)
            for day, minute in [days.place(moment)]
            if day not in days.left_out
        )
        for _ in range(_MOST_OF_ONE):
            habit = _best(series, placed, days, limit)
            if habit is None:
                break
            first, last = habit.window
            placed = [one for one in placed if not first - 1 <= one[0] <= last + 1]
            if not _is_clockwork(habit):
                habit.by = changes.users_and_devices(series)
                found.append(habit)
    return found


def _best(series: Series, placed: list[_Placed], days: Days, limit: float) -> Habit | None:
    """Return the window and kind of day that explain most of a series."""
    best: Habit | None = None
    best_score = 0.0
    known = set(days.all)
    for kind, weekdays in KINDS.items():
        own = [one for one in placed if weekday(one[1]) in weekdays and one[1] in known]
        if len(own) < LEAST:
            continue
        most = sum(weekday(day) in weekdays for day in days.all if day not in days.left_out)
        if (window := _window(own, most)) is None:
            continue
        first, last = window
        middle = median(minute for minute, _, _ in own if first <= minute <= last)
        wanted = days.of_kind(kind, middle)
        hits = {day: moment for minute, day, moment in own if first <= minute <= last}
        right = sum(day in hits for day in wanted)
        if right < LEAST or right / len(wanted) < SHARE:
            continue
        others = len({day for minute, day, _ in placed if first <= minute <= last}) - len(hits)
        other_days = len(days.of_kind("days", middle)) - len(wanted)
        # What is done as often on other days is no habit of these.
        anyway = max(_chance(own, window, len(wanted)), others / other_days if other_days > 0 else 0.0)
        if at_least(right, len(wanted), anyway) > limit:
            continue
        score = 2 * right / (right + len(wanted) + others)
        if score > best_score:
            best_score = score
            best = Habit(
                what=TIME,
                does=series,
                kind=kind,
                right=right,
                of=len(wanted),
                minute=middle,
                window=window,
                supports=[moment for day, moment in hits.items() if day in wanted],
                exceptions=[days.moment(day, middle) for day in wanted if day not in hits],
            )
    return best


def _window(placed: list[_Placed], most: int) -> tuple[float, float] | None:
    """Return the window that is least likely by chance, among those with the most days for their width."""
    best: tuple[float, tuple[float, float]] | None = None
    for width in _WIDTHS:
        inside: Counter[int] = Counter()
        begin = 0
        count, where = 0, (0, 0)
        for end, (minute, day, _) in enumerate(placed):
            inside[day] += 1
            while placed[begin][0] < minute - width:
                left = placed[begin][1]
                inside[left] -= 1
                if not inside[left]:
                    del inside[left]
                begin += 1
            if len(inside) > count:
                count, where = len(inside), (begin, end)
        if count < max(LEAST, SHARE * most * 0.8):
            continue
        window = placed[where[0]][0], placed[where[1]][0]
        chance = at_least(min(count, most), most, _chance(placed, (window[0], window[0] + width), most))
        if best is None or chance < best[0]:
            best = chance, window
    return best[1] if best else None


def _chance(placed: list[_Placed], window: tuple[float, float], days: int) -> float:
    """Return the probability of the action in a window by chance, from its rate around the window and all day."""
    first, last = window
    before = sum(first - _AROUND <= minute < first for minute, _, _ in placed)
    after = sum(last < minute <= last + _AROUND for minute, _, _ in placed)
    rate = max(before / _AROUND, after / _AROUND, len(placed) / _AWAKE) / max(days, 1)
    return 1 - exp(-rate * max(last - first, 5.0))


def _is_clockwork(habit: Habit) -> bool:
    """Return whether the times are so exact that a clock sets them."""
    seconds = [moment % (DAY * 60) for moment in habit.supports]
    middle = median(seconds)
    return median(abs(one - middle) for one in seconds) < _EXACT

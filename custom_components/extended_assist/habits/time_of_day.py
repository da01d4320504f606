"""What is done at about the same time of the day, on some kind of day."""

from collections import Counter
from math import exp
from statistics import median

from .changes import Changes, Series
from .days import DAY, KINDS, Days, weekday
from .habit import LEAST, MAY_BE_CHANCE, SHARE, TIME, Habit, at_least

_WIDTHS = (10, 20, 30, 45, 60)
"""Minutes between the earliest and the latest that are tried."""
_TRIED = 1_000
"""About how many windows and kinds of days are tried of one series, that do not depend on each other."""
_AROUND = 120
"""Minutes before, and after, a window that tell how often it happens anyway."""
_AWAKE = 960
_MOST_OF_ONE = 3
"""Times of one series."""
_EXACT = 6.0
"""Seconds by which the clock of a device or a program may be off; no person is so exact."""

type _Placed = tuple[float, int, float]
"""The minute of the day, the day, and the moment."""


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
    """Return the window and kind of day that tell most about a series."""
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
    """Return the window that is least likely by chance, among those that hold most days for their width."""
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
    """Return how likely it happens in a window of a day anyway, by how often it happens around it and all day."""
    first, last = window
    before = sum(first - _AROUND <= minute < first for minute, _, _ in placed)
    after = sum(last < minute <= last + _AROUND for minute, _, _ in placed)
    rate = max(before / _AROUND, after / _AROUND, len(placed) / _AWAKE) / max(days, 1)
    return 1 - exp(-rate * max(last - first, 5.0))


def _is_clockwork(habit: Habit) -> bool:
    """Return whether it is so exact that a clock does it."""
    seconds = [moment % (DAY * 60) for moment in habit.supports]
    middle = median(seconds)
    return median(abs(one - middle) for one in seconds) < _EXACT

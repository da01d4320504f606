"""Find entities that stay on all night and are turned off only when people are up again."""

from bisect import bisect_left, bisect_right
from itertools import pairwise
from statistics import median
from typing import Final

from .changes import Changes, Series
from .days import DAY, Days
from .habit import LEAST, LEFT_ON as LEFT, Habit
from .kinds import LEFT_ON, OFF

_QUIET: Final = 4 * 3_600.0
"""Seconds without an action of a person from which on everybody sleeps."""
_BEDTIME: Final = (20 * 60, 28 * 60)
"""Minutes of the day between which people go to bed."""
_ASLEEP: Final = (25 * 60, 28 * 60)
"""Minutes of the day at which people who sleep at night do almost nothing."""
_UP_AT_NIGHT: Final = 0.03
_OFTEN: Final = 0.3
_BY_HAND: Final = 0.8
_MOST: Final = 0.85
"""The share of nights on which everybody sleeps when the automation runs."""
_LATER: Final = 30
"""Minutes to which the time of the automation is rounded up."""


def find_left_on(changes: Changes, days: Days, settable: list[Series]) -> list[Habit]:
    """Return a habit for each entity that stays on while everybody sleeps."""
    nights = _nights(changes, days)
    if len(nights) < LEAST:
        return []
    bedtimes = sorted(days.place(begin)[1] for begin, _ in nights)
    bedtime, latest = median(bedtimes), bedtimes[int(len(bedtimes) * _MOST)]
    up = median(days.place(end)[1] for _, end in nights)
    found = []
    for series in settable:
        entity_id, state = series
        if state != OFF or entity_id.partition(".")[0] not in LEFT_ON:
            continue
        by_hand = changes.by_hand(series)
        left, ended = [], []
        for begin, end in nights:
            if changes.state_at(entity_id, begin + 1) in (None, OFF):
                continue
            after = changes.next_after(entity_id, begin)
            if after is None or after[0] < end:
                continue
            left.append(begin)
            index = bisect_left(by_hand, after[0])
            if index < len(by_hand) and by_hand[index] == after[0]:
                ended.append(after[0])
        if len(ended) < max(LEAST, _OFTEN * len(nights), _BY_HAND * len(left)):
            continue
        minute = (latest + 2 * _LATER - 1) // _LATER * _LATER
        found.append(
            Habit(
                what=LEFT,
                does=series,
                right=len(ended),
                of=len(nights),
                minute=minute,
                window=(bedtime, up % DAY),
                supports=ended,
                exceptions=[],
                by=changes.users_and_devices(series),
            )
        )
    return found


def _nights(changes: Changes, days: Days) -> list[tuple[float, float]]:
    """Return the start and end of the quiet time of each night."""
    acts = list(changes.hand_made())
    awake = sum(_ASLEEP[0] <= days.place(moment)[1] < _ASLEEP[1] for moment in acts)
    if not acts or awake / len(acts) > _UP_AT_NIGHT:
        return []
    found = []
    for begin, end in pairwise(acts):
        if end - begin >= _QUIET and _BEDTIME[0] <= days.place(begin)[1] <= _BEDTIME[1]:
            found.append((begin, end))
    return found


def was_left_on(supports: list[float], moment: float) -> bool:
    """Return whether nobody needed an entity at a time: a person turned it off in the morning after."""
    index = bisect_right(supports, moment)
    return index < len(supports) and supports[index] - moment < DAY * 60 / 2

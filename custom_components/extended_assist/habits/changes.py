"""The changes of a home in order, each with its source, in a few bytes per change."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from enum import IntEnum
from typing import Final

MOST_OF_ONE: Final = 20_000
"""The most changes of one entity; one with more is not controlled by people."""

type Series = tuple[str, str]
"""An entity and one of its states."""


class By(IntEnum):
    """The source of a change, as far as its context shows it."""

    USER = 0
    """A logged-in user: in the app or on a dashboard."""
    DEVICE = 1
    """A person at the device, or the device itself: no action caused it."""
    MACHINE = 2
    """An automation, a script, a scene, or an assistant."""
    NOBODY_KNOWN = 3
    """An action without a known user, such as that of another program."""
    NO_CONTEXT = 4
    """The context is missing."""
    FOUND = 5
    """Nobody observed the change: it is the first state after a start or a return of the entity."""
    SENSOR = 6
    """A sensor, which nobody controls."""


BY_HAND: Final = frozenset({By.USER, By.DEVICE})


class Changes:
    """All changes, oldest first."""

    def __init__(self) -> None:
        """Start empty."""
        self.moments = array("d")
        self.numbers = array("I")
        """The series by number."""
        self.by = array("B")
        self.series: list[Series] = []
        self.too_many: set[str] = set()
        """Entities with too many changes."""
        self._numbers: dict[Series, int] = {}
        self._counts: dict[str, int] = {}
        self._of: list[array[float]] = []
        self._by_hand: list[array[float]] = []
        self._states: dict[str, tuple[array[float], list[str]]] = {}

    def add(self, moment: float, entity_id: str, state: str, by: By) -> None:
        """Add a change; changes come in order of time."""
        count = self._counts[entity_id] = self._counts.get(entity_id, 0) + 1
        if count > MOST_OF_ONE:
            self.too_many.add(entity_id)
            return
        if (number := self._numbers.get((entity_id, state))) is None:
            number = self._numbers[entity_id, state] = len(self.series)
            self.series.append((entity_id, state))
        self.moments.append(moment)
        self.numbers.append(number)
        self.by.append(by)

    def finish(self) -> None:
        """Group the changes by series."""
        self._of = [array("d") for _ in self.series]
        self._by_hand = [array("d") for _ in self.series]
        self._states = {}
        for moment, number, by in zip(self.moments, self.numbers, self.by, strict=True):
            entity_id, state = self.series[number]
            if entity_id in self.too_many:
                continue
            if by != By.FOUND:
                self._of[number].append(moment)
            if by in BY_HAND:
                self._by_hand[number].append(moment)
            moments, states = self._states.setdefault(entity_id, (array("d"), []))
            moments.append(moment)
            states.append(state)

    def of(self, series: Series) -> array[float]:
        """Return the times at which an entity reached a state."""
        return self._of[self._numbers[series]]

    def by_hand(self, series: Series) -> array[float]:
        """Return the times at which a person set an entity to a state."""
        return self._by_hand[self._numbers[series]]

    def hand_made(self) -> Iterator[float]:
        """Yield the times of all changes by persons."""
        for moment, by in zip(self.moments, self.by, strict=True):
            if by in BY_HAND:
                yield moment

    def state_at(self, entity_id: str, moment: float) -> str | None:
        """Return the state of an entity just before a time, or None if it is unknown."""
        moments, states = self._states.get(entity_id, (array("d"), []))
        index = bisect_left(moments, moment) - 1
        return states[index] if index >= 0 else None

    def next_after(self, entity_id: str, moment: float) -> tuple[float, str] | None:
        """Return the next change of an entity after a time."""
        moments, states = self._states.get(entity_id, (array("d"), []))
        index = bisect_right(moments, moment)
        return (moments[index], states[index]) if index < len(moments) else None

    def waits(self, series: Series) -> tuple[list[float], float]:
        """Return the seconds that an entity was in other states before each change by a person, and in total."""
        entity_id, state = series
        moments, states = self._states[entity_id]
        by_hand, waits, waited, since = set(self.by_hand(series)), [], 0.0, None
        for moment, now in zip(moments, states, strict=True):
            if now != state:
                since = moment if since is None else since
            elif since is not None:
                waited += moment - since
                if moment in by_hand:
                    waits.append(moment - since)
                since = None
        return waits, waited

    def count(self, by: By) -> int:
        """Return the number of changes by a source."""
        return self.by.count(by)

    def users_and_devices(self, series: Series) -> tuple[int, int]:
        """Return how often a user, and how often a person at the device, set an entity to a state."""
        number = self._numbers[series]
        found = [by for one, by in zip(self.numbers, self.by, strict=True) if one == number]
        return found.count(By.USER), found.count(By.DEVICE)

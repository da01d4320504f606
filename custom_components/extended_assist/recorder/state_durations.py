"""Compute the durations and changes of each state from sums of rows; plain arithmetic."""

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from .states import is_gap_value

GAP = 0
"""The code of states without a value."""
OTHER = 12
"""The code of all states beyond the most frequent ones, and of unexpected states."""


class StateCodes(Enum):
    """The ways to map states to codes."""

    STATES = "states"
    """Known states, in the order of their codes, from 1."""
    LEARNED = "learned"
    """The states that occur, by frequency."""
    EQUAL = "equal"
    """1 for one state, 2 for any other."""
    BETWEEN = "between"
    """1 for numbers between two limits, 2 for others."""


@dataclass(frozen=True, slots=True)
class Coding:
    """The mapping of a series' states to codes."""

    kind: StateCodes
    states: tuple[str, ...] = ()
    above: float = float("-1e308")
    below: float = float("1e308")

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters for the statement."""
        if self.kind is StateCodes.EQUAL:
            return {"wanted": self.states[0]}
        return {"above": self.above, "below": self.below} if self.kind is StateCodes.BETWEEN else {}

    @property
    def statement_states(self) -> tuple[str, ...]:
        """Return the states that are literals in the statement."""
        return self.states if self.kind is StateCodes.STATES else ()

    def knowing(self, value: str | None) -> Coding:
        """Return a coding that also has a code for another state."""
        listed = self.kind in (StateCodes.STATES, StateCodes.LEARNED)
        if value is None or not listed or self.code(value) != OTHER or len(self.states) >= OTHER - 1:
            return self
        return replace(self, states=(*self.states, value))

    def code(self, value: str | None) -> int:
        """Return the code of a value."""
        if self.kind is StateCodes.EQUAL and value == self.states[0]:
            return 1
        if value is None or is_gap_value(value):
            return GAP
        if self.kind is StateCodes.EQUAL:
            return 2
        if self.kind is StateCodes.BETWEEN:
            try:
                return 1 if self.above < float(value) < self.below else 2
            except ValueError:
                return GAP
        return self.states.index(value) + 1 if value in self.states else OTHER


@dataclass(frozen=True, slots=True)
class StateDuration:
    """The completed periods of one state; durations in seconds, times in seconds since the epoch."""

    state: int
    count: int
    total: float
    longest: float
    longest_start: float


@dataclass(frozen=True, slots=True)
class Beginning:
    """The number, first and last time of changes to a state; gaps in between are ignored."""

    state: int
    count: int
    first: float
    last: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The changes of states among rows."""

    turns: list[StateDuration]
    beginnings: list[Beginning]
    state: int
    """The state at the end of the rows."""
    since: float
    before: int | None = None
    """The state before that, if it is known."""


@dataclass(slots=True)
class Tally:
    """The totals of one state in a span; durations in seconds, times in seconds since the epoch."""

    turns: int = 0
    """The number of periods; a gap ends a period."""
    total: float = 0
    longest: float = 0
    longest_start: float = 0
    began: int = 0
    """The number of changes to it from another state, with or without a gap in between."""
    first_began: float | None = None
    last_began: float | None = None

    def add(self, total: float, longest: float, start: float, count: int = 1) -> None:
        """Add periods."""
        self.turns += count
        self.total += total
        if longest > self.longest:
            self.longest, self.longest_start = longest, start

    def begin(self, first: float, last: float, count: int = 1) -> None:
        """Add beginnings."""
        self.began += count
        self.first_began = first if self.first_began is None else min(first, self.first_began)
        self.last_began = last if self.last_began is None else max(last, self.last_began)


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The current state: a few seconds newer than the database, which is written at intervals."""

    since: float
    value: str


@dataclass(slots=True)
class StateAccount:
    """The durations and changes of an entity's states."""

    coding: Coding
    min_seconds: float
    tallies: dict[int, Tally] = field(default_factory=dict)
    """By code. Periods below min_seconds are not in turns, total and longest."""

    def tally(self, code: int) -> Tally:
        """Return the tally of a code."""
        return self.tallies.setdefault(code, Tally())

    @property
    def changes(self) -> int:
        """Return the number of changes between states; gaps are ignored."""
        return sum(tally.began for tally in self.tallies.values())

    def turn(self, code: int, start: float, end: float) -> None:
        """Add one period."""
        if end - start >= self.min_seconds:
            self.tally(code).add(end - start, end - start, start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """The values at the start and end of a span."""

    start: float
    end: float
    first: str | None
    """The value at start."""
    live: Live | None = None


def account(coding: Coding, course: Course | None, edges: Edges, min_seconds: float = 0) -> StateAccount:
    """Add the current state, which began at the end of the rows, to their totals; without rows, one state lasted all along."""
    coding = coding.knowing(edges.live.value if edges.live else edges.first)
    result = StateAccount(coding, min_seconds)
    code, since, before = coding.code(edges.first), edges.start, None
    if course is not None:
        for turn in course.turns:
            result.tally(turn.state).add(turn.total, turn.longest, turn.longest_start, turn.count)
        for beginning in course.beginnings:
            result.tally(beginning.state).begin(beginning.first, beginning.last, beginning.count)
        code, since, before = course.state, course.since, course.before
    if edges.live and (live := coding.code(edges.live.value)) != code:
        result.turn(code, since, edges.live.since)
        known = code or before
        if known and live and known != live:
            result.tally(live).begin(edges.live.since, edges.live.since)
        code, since = live, edges.live.since
    result.turn(code, since, edges.end)
    return result

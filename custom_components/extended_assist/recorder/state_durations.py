"""From the course of states to an account of each; plain arithmetic on a few numbers."""

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from .states import is_gap_value

GAP = 0
"""The code of states that say nothing."""
OTHER = 12
"""The code of all states beyond the most frequent ones, and of any state that was not expected."""


class StateCodes(Enum):
    """How states become codes."""

    STATES = "states"
    """Known states, in the order of their codes, from 1."""
    LEARNED = "learned"
    """The states that occur, by how often they do."""
    EQUAL = "equal"
    """1 for one state, 2 for any other."""
    BETWEEN = "between"
    """1 for numbers between two limits, 2 for others."""


@dataclass(frozen=True, slots=True)
class Coding:
    """How the states of a series become codes."""

    kind: StateCodes
    states: tuple[str, ...] = ()
    above: float = float("-1e308")
    below: float = float("1e308")

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the statement."""
        if self.kind is StateCodes.EQUAL:
            return {"wanted": self.states[0]}
        return {"above": self.above, "below": self.below} if self.kind is StateCodes.BETWEEN else {}

    @property
    def statement_states(self) -> tuple[str, ...]:
        """Return the states that are part of the statement itself."""
        return self.states if self.kind is StateCodes.STATES else ()

    def knowing(self, value: str | None) -> Coding:
        """Return a coding that also names a state that was not among the rows."""
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
    """How long one state held in the turns that ended; durations in seconds, times in seconds since the epoch."""

    state: int
    count: int
    total: float
    longest: float
    longest_start: float


@dataclass(frozen=True, slots=True)
class Beginning:
    """How often, first and last, a state followed another one; a gap in between does not matter."""

    state: int
    count: int
    first: float
    last: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How states took turns among rows."""

    turns: list[StateDuration]
    beginnings: list[Beginning]
    state: int
    """What held when the rows ended."""
    since: float
    before: int | None = None
    """What held before that, if anything is known."""


@dataclass(slots=True)
class Tally:
    """What is known of one state in a span; durations in seconds, times in seconds since the epoch."""

    turns: int = 0
    """How many stretches there were, a gap ending one."""
    total: float = 0
    longest: float = 0
    longest_start: float = 0
    began: int = 0
    """How often it followed another state, a gap in between or not."""
    first_began: float | None = None
    last_began: float | None = None

    def add(self, total: float, longest: float, start: float, count: int = 1) -> None:
        """Add stretches."""
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
    """The state of the state machine: newer than the database by the few seconds between two commits."""

    since: float
    value: str


@dataclass(slots=True)
class StateAccount:
    """How the states of an entity took turns."""

    coding: Coding
    min_seconds: float
    tallies: dict[int, Tally] = field(default_factory=dict)
    """By code. Only stretches of at least min_seconds are in turns, total and longest."""

    def tally(self, code: int) -> Tally:
        """Return the tally of a code."""
        return self.tallies.setdefault(code, Tally())

    @property
    def changes(self) -> int:
        """Return how often a state followed another one; a gap is no state."""
        return sum(tally.began for tally in self.tallies.values())

    def turn(self, code: int, start: float, end: float) -> None:
        """Add a single turn."""
        if end - start >= self.min_seconds:
            self.tally(code).add(end - start, end - start, start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """What holds at the edges of a span."""

    start: float
    end: float
    first: str | None
    """The value at start."""
    live: Live | None = None


def account(coding: Coding, course: Course | None, edges: Edges, min_seconds: float = 0) -> StateAccount:
    """Add the live state, which began when the rows ended, to their course; without rows, one state held all along."""
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

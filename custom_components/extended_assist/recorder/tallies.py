"""From groups of turns to an account of each state; plain arithmetic on a few numbers."""

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from .states import is_gap_value

GAP = 0
"""The code of states that say nothing."""
OTHER = 12
"""The code of all states beyond the most frequent ones, and of any state that was not expected."""


class Kind(Enum):
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

    kind: Kind
    states: tuple[str, ...] = ()
    above: float = float("-1e308")
    below: float = float("1e308")

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the statement."""
        if self.kind is Kind.EQUAL:
            return {"wanted": self.states[0]}
        return {"above": self.above, "below": self.below} if self.kind is Kind.BETWEEN else {}

    @property
    def statement_states(self) -> tuple[str, ...]:
        """Return the states that are part of the statement itself."""
        return self.states if self.kind is Kind.STATES else ()

    def knowing(self, value: str | None) -> Coding:
        """Return a coding that also names a state that was not among the rows."""
        listed = self.kind in (Kind.STATES, Kind.LEARNED)
        if value is None or not listed or self.code(value) != OTHER or len(self.states) >= OTHER - 1:
            return self
        return replace(self, states=(*self.states, value))

    def code(self, value: str | None) -> int:
        """Return the code of a value."""
        if self.kind is Kind.EQUAL and value == self.states[0]:
            return 1
        if value is None or is_gap_value(value):
            return GAP
        if self.kind is Kind.EQUAL:
            return 2
        if self.kind is Kind.BETWEEN:
            try:
                return 1 if self.above < float(value) < self.below else 2
            except ValueError:
                return GAP
        return self.states.index(value) + 1 if value in self.states else OTHER


@dataclass(slots=True, kw_only=True)
class Group:
    """Turns of one state between the same neighbours; durations in seconds, times in seconds since the epoch."""

    before: int
    state: int
    after: int | None
    """None for the turn that was still on when the rows ended; of it only the beginning is known."""
    returns: bool
    """Whether one state held before and after, told only where codes are shared by several states."""
    long_enough: bool
    count: int
    first_began: float
    last_began: float
    first_ended: float = 0
    last_ended: float = 0
    total: float = 0
    longest: float = 0
    longest_start: float = 0


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
class Account:
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

    def change(self, before: int | None, after: int, moment: float) -> None:
        """Add a change, unless it leads from or to a gap or nothing is known of before."""
        if before and after and before != after:
            self.tally(after).begin(moment, moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """What holds at the edges of a span."""

    start: float
    end: float
    first: str | None
    """The value at start."""
    live: Live | None = None


def account(coding: Coding, groups: list[Group], edges: Edges, min_seconds: float = 0) -> Account:
    """Add up groups of turns, the turn that held at the start, and the live state at the end.

    The rows behind the groups end where the live state began, or else where the span ends.
    """
    coding = coding.knowing(edges.live.value if edges.live else edges.first)
    result = Account(coding, min_seconds)
    for group in groups:
        if group.after is not None:
            _add(result, group)
    code, began, before = coding.code(edges.first), edges.start, None
    if final := next((group for group in groups if group.after is None), None):
        result.turn(code, began, min(group.first_began for group in groups))
        result.change(final.before, final.state, final.first_began)
        code, began, before = final.state, final.first_began, final.before
    if edges.live and (live := coding.code(edges.live.value)) != code:
        result.turn(code, began, edges.live.since)
        result.change(code or before, live, edges.live.since)
        code, began = live, edges.live.since
    result.turn(code, began, edges.end)
    return result


def _add(result: Account, group: Group) -> None:
    """Add a group of turns that ended."""
    if group.long_enough:
        result.tally(group.state).add(group.total, group.longest, group.longest_start, group.count)
    if group.state == GAP:
        if group.before and group.after and not (group.returns or group.before == group.after != OTHER):
            result.tally(group.after).begin(group.first_ended, group.last_ended, group.count)
    elif group.before:
        result.tally(group.state).begin(group.first_began, group.last_began, group.count)

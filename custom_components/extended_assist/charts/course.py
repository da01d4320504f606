"""What a chart is drawn from. Times in seconds since the epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

_TOGETHER: Final = 1.0
"""Seconds between two parts that still belong together."""
AT_REST: Final = frozenset(
    {"off", "closed", "locked", "not_home", "idle", "standby", "docked", "clear", "disarmed", "false", "no"}
)
"""States in which nothing happens."""


class CurveKind(Enum):
    """How a curve is drawn."""

    STEPS = "steps"
    """Each value holds until the next one."""
    MEAN = "mean"
    """A line through means, with a band from lowest to highest."""
    BARS = "bars"


@dataclass(frozen=True, slots=True)
class CurvePart:
    """A part of a curve; where there is no part, nothing is known."""

    start: float
    end: float
    low: float
    high: float
    value: float
    """The mean, or what held in the end."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The course of a number."""

    name: str
    unit: str | None
    kind: CurveKind
    parts: Sequence[CurvePart]

    def runs(self) -> Iterator[list[CurvePart]]:
        """Yield the parts that nothing lies between."""
        run: list[CurvePart] = []
        for part in self.parts:
            if run and part.start - run[-1].end > _TOGETHER:
                yield run
                run = []
            run.append(part)
        if run:
            yield run


type Turn = tuple[float, float, str]
"""From when, until when, which state; where there is no turn, nothing is known."""


@dataclass(frozen=True, slots=True)
class Stripe:
    """The course of a state."""

    name: str
    turns: Sequence[Turn]


def longest_active(turns: Sequence[Turn]) -> str:
    """Return the state in which most happened among turns that are too short to be seen: one at rest only where all are."""
    active = [turn for turn in turns if turn[2] not in AT_REST] or turns
    return max(active, key=lambda turn: turn[1] - turn[0])[2]

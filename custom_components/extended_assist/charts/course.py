"""The data of a chart. Times are in seconds since the epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

_TOGETHER: Final = 1.0
"""The most seconds between two parts of one line."""
AT_REST: Final = frozenset(
    {"off", "closed", "locked", "not_home", "idle", "standby", "docked", "clear", "disarmed", "false", "no"}
)
"""Idle states."""


class CurveKind(Enum):
    """The style of a curve."""

    STEPS = "steps"
    """Each value lasts until the next one."""
    MEAN = "mean"
    """A line through the means, with a band from minimum to maximum."""
    BARS = "bars"


@dataclass(frozen=True, slots=True)
class CurvePart:
    """A part of a curve; between parts, the value is unknown."""

    start: float
    end: float
    low: float
    high: float
    value: float
    """The mean, or the last value."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A number over time."""

    name: str
    unit: str | None
    kind: CurveKind
    parts: Sequence[CurvePart]

    def runs(self) -> Iterator[list[CurvePart]]:
        """Yield lists of adjacent parts."""
        run: list[CurvePart] = []
        for part in self.parts:
            if run and part.start - run[-1].end > _TOGETHER:
                yield run
                run = []
            run.append(part)
        if run:
            yield run


type Turn = tuple[float, float, str]
"""The start, end and state of a period; between periods, the state is unknown."""


@dataclass(frozen=True, slots=True)
class Stripe:
    """A state over time."""

    name: str
    turns: Sequence[Turn]


def longest_active(turns: Sequence[Turn]) -> str:
    """Return the longest state among periods that are too short to draw; an idle one only if all are idle."""
    active = [turn for turn in turns if turn[2] not in AT_REST] or turns
    return max(active, key=lambda turn: turn[1] - turn[0])[2]

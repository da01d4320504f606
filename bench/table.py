"""The rows of a measurement and how they are printed."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Row:
    """Two numbers measured side by side; smaller is better, and a goal is the largest ratio that meets it."""

    name: str
    case: str
    ours: float
    other: float
    ratio: float
    goal: float | None
    met: bool | None

    @classmethod
    def of(cls, name: str, case: str, ours: float, other: float, *, goal: float | None) -> Self:
        """Compare two numbers of one unit."""
        ratio = ours / other
        return cls(name, case, ours, other, ratio, goal, None if goal is None else ratio <= goal)

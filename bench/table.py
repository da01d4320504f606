"""The rows of a measurement and how they are printed."""

from dataclasses import astuple, dataclass, fields
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


def to_text(rows: list[Row]) -> str:
    """Return rows as a table with a header."""
    table = [[field.name for field in fields(Row)], *([_cell(value) for value in astuple(row)] for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table
    )


def _cell(value: str | float | bool | None) -> str:
    """Return a value as it is printed."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:.2f}" if isinstance(value, float) else str(value)

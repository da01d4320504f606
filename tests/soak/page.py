"""The table of docs/soak.md: one row for each soak, of its last run."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "soak.md"
HEAD = ("soak", "did", "in", "seed", "wrong", "noticed", "date", "version")


def rows(text: str) -> dict[str, list[str]]:
    """Return the rows of the page by their soak."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")
    ]
    return {row[0].strip("`"): row for row in cells}


def with_rows(text: str, new: dict[str, list[str]]) -> str:
    """Return the page with rows in the place of those of the same soaks."""
    before, _, after = text.partition(to_line(HEAD))
    rest = "".join(line for line in after.splitlines(keepends=True) if not line.startswith("|"))
    return f"{before}{to_table(list((rows(text) | new).values()))}{rest}"


def to_table(table: list[list[str]]) -> str:
    """Return rows below their head."""
    return "".join([to_line(HEAD), "|---" * len(HEAD) + "|\n", *(to_line(row) for row in sorted(table))])


def to_line(row: tuple[str, ...] | list[str]) -> str:
    """Return a row."""
    return f"| {' | '.join(row)} |\n"

"""Homes in which habits are planted, and the same with all times shuffled: what is found, as a table in the documentation."""

from collections import Counter
import json
from pathlib import Path
import tempfile
from typing import Any

from tests.habits.test_found import HOMES, KEPT
from tests.helpers.seeds import VARIABLE

from .budget import Budget, Found
from .by_pytest import CHECKOUT, run_tests

TEST = "tests/habits/test_found.py"
PAGE = CHECKOUT / "docs" / "tools" / "habits.md"
MANY = 10
FIRST = 1_000
"""Homes that nobody looked at while this was written."""
LEAST = 0.9
HEAD = "| planted | how many | found | recall | wrong | precision |\n"
KINDS = {
    "time": "at a time of the day",
    "after": "after something else",
    "dark": "after something else in the dark",
    "left_on": "left on at night",
}


def run(budget: Budget) -> Found:
    """Look through ten homes in each round, and write the table."""
    lines: list[dict[str, Any]] = []
    wrong = []
    for number in budget:
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder) / "found"
            environment = {VARIABLE: str(FIRST + number * MANY), HOMES: str(MANY), KEPT: str(kept)}
            _, problem = run_tests(TEST, "--show-capture=no", "--tb=short", environment=environment)
            if problem:
                wrong.append(f"round {number}: {problem}")
            else:
                lines += map(json.loads, kept.read_text(encoding="utf-8").splitlines())
    planted = [line for line in lines if "planted" in line]
    shuffled = [line for line in lines if "shuffled" in line]
    by_chance = sum(line["shuffled"] for line in shuffled)
    table, recall, precision = tabled(planted)
    if min(recall, precision) < LEAST or by_chance:
        wrong.append(f"recall {recall:.3f}, precision {precision:.3f}, {by_chance} found by chance")
    table += f"\nIn {len(shuffled)} shuffled homes: {by_chance or 'nothing'} found.\n"
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")
    return Found(f"{len(planted)} homes, {len(shuffled)} shuffled", wrong=tuple(wrong))


def tabled(lines: list[dict[str, Any]]) -> tuple[str, float, float]:
    """Return the table of what was planted and found, and recall and precision of all of it."""
    planted = Counter(kind for line in lines for kind in line["planted"])
    found = Counter(kind for line in lines for kind in line["found"])
    wrong = Counter(kind for line in lines for kind in line["wrong"])
    text = HEAD + "|---|---|---|---|---|---|\n"
    for kind, name in {**KINDS, "": "**all**"}.items():
        there, seen, not_there = (counts[kind] if kind else counts.total() for counts in (planted, found, wrong))
        recall, precision = seen / max(there, 1), seen / max(seen + not_there, 1)
        text += f"| {name} | {there} | {seen} | {recall:.2f} | {not_there} | {precision:.2f} |\n"
    return text, recall, precision


def with_table(page: str, table: str) -> str:
    """Return the page with another table in the place of the one that is there, up to the next heading."""
    before, _, after = page.partition(HEAD)
    _, heading, rest = after.partition("\n## ")
    return f"{before}{table}{heading}{rest}"

"""Soaks end when they should, keep one row each, and make mistakes that are mistakes."""

import ast

import pytest

from tests.helpers.seeds import COUNT, VARIABLE, seeds
from tests.soak.budget import Budget
from tests.soak.mutation import PACKAGE, TESTS, mutated
from tests.soak.page import rows, with_rows

from ..e2e.instance import CHECKOUT

PAGE = """# Soaks

| soak | did | in | seed | wrong | noticed | date | version |
|---|---|---|---|---|---|---|---|
| `b` | old | 1 s | 0 | nothing | - | 2026-01-01 | 1.0.0 |

More.
"""


def row(name: str, did: str) -> list[str]:
    return [f"`{name}`", did, "2 s", "0", "nothing", "-", "2026-01-02", "1.0.0"]


def test_rounds_and_seconds() -> None:
    """So many rounds, or at least one where there is no time."""
    assert list(Budget(600, rounds=3, seed=7)) == [7, 8, 9]
    assert list(Budget(0)) == [0]


def test_one_row_for_each() -> None:
    """A row takes the place of the one of the same soak, and the rest of the page stays."""
    page = with_rows(with_rows(PAGE, {"a": row("a", "new")}), {"b": row("b", "newer")})
    assert {name: cells[1] for name, cells in rows(page).items()} == {"a": "new", "b": "newer"}
    assert page.startswith("# Soaks\n\n| soak")
    assert page.endswith("| 1.0.0 |\n\nMore.\n")


def test_seeds_of_a_soak(monkeypatch: pytest.MonkeyPatch) -> None:
    """They go on where the last ones ended, and may be more."""
    assert seeds(3) == range(3)
    monkeypatch.setenv(VARIABLE, "400")
    assert seeds(3) == range(400, 403)
    monkeypatch.setenv(COUNT, "28")
    assert seeds(3) == range(400, 428)


@pytest.mark.parametrize("name", TESTS)
def test_mistakes(name: str) -> None:
    """Each is a change of the file, which is Python afterwards, and its tests are there."""
    source = (CHECKOUT / PACKAGE / name).read_text(encoding="utf-8")
    plain = ast.unparse(ast.parse(source))
    changed = {mutated(source, seed)[0] for seed in range(10)}
    assert len(changed) > 3
    assert plain not in changed
    assert all(compile(each, name, "exec") for each in changed)
    assert all((CHECKOUT / test).exists() for test in TESTS[name])

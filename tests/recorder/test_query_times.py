"""Tests that how long a query takes tells nothing of hidden rows."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

import pytest
import pytest_socket

from custom_components.extended_assist.recorder import query as query_module
from tests.helpers.databases import ENGINES

from .asking import Asker
from .query_data import NUMERIC, asked, filled, outcome

_HEAVY = (
    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000 + length(s.state)) "
    "SELECT max(i) FROM n) > 0"
)
_SLOW_WHERE_HIDDEN = tuple(
    f"SELECT count(*) AS n FROM states s WHERE {condition}".replace("HEAVY", _HEAVY)  # noqa: S608 - constants
    for condition in (
        "CASE WHEN s.state = 'CANARYSTATE' THEN HEAVY ELSE 1 END",
        "s.state GLOB '[A-Z]*' AND HEAVY",
        "(s.last_updated_ts > 1800000000 OR s.state > 'A') AND HEAVY",
    )
)
"""Queries that take long on rows of hidden entities and on no other."""
_RUNS = 21
_SHUFFLES = 300
_LEAST = 0.005
"""Seconds; a busy machine makes smaller differences by itself. One hidden row makes one several times as large."""


def differ(asker: Asker, other: Asker, query: str) -> bool:
    """Return whether the times of a query in two homes differ, beyond what chance does to them."""
    times: list[list[float]] = [[], []]
    for home in (asker, other):
        outcome(home, query, NUMERIC, mixed=home is asker)  # Copies.
    for run in range(_RUNS):
        for index in (0, 1) if run % 2 else (1, 0):
            start = perf_counter()
            outcome((asker, other)[index], query, NUMERIC, mixed=index == 0)
            times[index].append(perf_counter() - start)
    found = median(times[0]) - median(times[1])
    together, random = times[0] + times[1], Random(0)
    as_large = 0
    for _ in range(_SHUFFLES):
        random.shuffle(together)
        as_large += abs(median(together[:_RUNS]) - median(together[_RUNS:])) >= abs(found)
    return as_large / _SHUFFLES < 0.01 and abs(found) > _LEAST


@pytest.fixture(autouse=True)
def copied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what was copied serve all questions of a test."""
    monkeypatch.setattr(query_module, "FRESH_SECONDS", 600.0)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """Return what asks a home that never had anything hidden."""
    with filled("sqlite", tmp_path_factory.mktemp("clean"), NUMERIC) as database, asked(database) as asker:
        yield asker


@pytest.mark.parametrize("engine", ENGINES)
def test_times_do_not_differ(engine: str, clean: Asker, tmp_path: Path) -> None:
    """What would be slow on hidden rows takes as long as in a home without any."""
    pytest_socket.enable_socket()
    with filled(engine, tmp_path) as database, asked(database) as mixed:
        assert [query for query in _SLOW_WHERE_HIDDEN if differ(mixed, clean, query)] == []


def test_a_leak_is_noticed(clean: Asker, tmp_path: Path) -> None:
    """One hidden row left in, and the times differ."""
    pytest_socket.enable_socket()
    with filled("sqlite", tmp_path, NUMERIC, leak=True) as database, asked(database) as leaky:
        assert [query for query in _SLOW_WHERE_HIDDEN if differ(leaky, clean, query)] == [*_SLOW_WHERE_HIDDEN]

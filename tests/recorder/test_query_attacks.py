"""Tests that queries cannot tell a home with hidden entities from one that has none, whatever they are."""

from collections.abc import Iterator
from dataclasses import dataclass
import hashlib
import os
from pathlib import Path
from random import Random

import pytest
import pytest_socket
from sqlalchemy import Engine

from custom_components.extended_assist.recorder import query as query_module
from tests.attacks import queries
from tests.helpers.databases import ENGINES

from .asking import Asker
from .query_data import MIXED, NUMERIC, Outcome, asked, contents, filled, outcome, tells
from .random_queries import query as random_query

GENERATED = int(os.environ.get("GENERATED_QUERIES", "150"))
"""Random queries on each engine; 2,000 take some minutes."""
_BY_CHANCE = ("random", "uuid", "rand(")
_WRITES = (
    *(
        "alter",
        "analyze",
        "attach",
        "begin",
        "call",
        "commit",
        "copy",
        "create",
        "delete",
        "detach",
        "do",
        "drop",
        "end",
    ),
    *(
        "grant",
        "handler",
        "insert",
        "kill",
        "load",
        "lock",
        "merge",
        "notify",
        "optimize",
        "reindex",
        "release",
        "rename",
    ),
    *("replace", "reset", "rollback", "savepoint", "set", "truncate", "update", "vacuum"),
)


@dataclass
class Homes:
    """A home with hidden entities, one that never had any, and one in which a single hidden row is left in."""

    database: Engine
    folder: Path
    mixed: Asker
    clean: Asker
    leaky: Asker


@pytest.fixture(scope="module", params=ENGINES)
def shared_homes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Homes]:
    """Return the homes, made once; after all attacks, everything is as it was."""
    folder = tmp_path_factory.mktemp("home")
    with (
        filled(request.param, folder / "mixed") as mixed,
        filled("sqlite", folder / "clean", NUMERIC) as clean,
        filled("sqlite", folder / "leaky", NUMERIC, leak=True) as leaky,
        asked(mixed) as ask_mixed,
        asked(clean) as ask_clean,
        asked(leaky) as ask_leaky,
    ):
        before, files, digest = contents(mixed), sorted(folder.rglob("*")), _digest(mixed)
        yield Homes(mixed, folder, ask_mixed, ask_clean, ask_leaky)
        pytest_socket.enable_socket()
        assert contents(mixed) == before
        assert sorted(folder.rglob("*")) == files
        assert _digest(mixed) == digest


@pytest.fixture
def homes(shared_homes: Homes, monkeypatch: pytest.MonkeyPatch) -> Homes:
    """Return the homes, with connections allowed, and little time for queries that have no end."""
    pytest_socket.enable_socket()
    monkeypatch.setattr(query_module, "TIME_LIMIT", 1.0)
    monkeypatch.setattr(query_module, "FRESH_SECONDS", 600.0)
    return shared_homes


def _digest(database: Engine) -> str:
    if database.dialect.name != "sqlite":
        return ""
    return hashlib.sha256(Path(str(database.url.database)).read_bytes()).hexdigest()


def _same(one: Outcome, other: Outcome, query: str) -> bool:
    """Return whether two homes gave the same, chance aside."""
    if any(word in query.lower() for word in _BY_CHANCE):
        return one[:2] == other[:2]
    return one == other


def test_collection_is_large() -> None:
    """More than 900 attacks, none of them twice."""
    assert len(set(queries())) == len(queries()) > 900


def test_attacks(homes: Homes) -> None:
    """Every attack gives what it gives in a home that has nothing hidden, errors included, and tells no secret."""
    failures = []
    for attack in queries():
        found, expected = outcome(homes.mixed, attack, NUMERIC), outcome(homes.clean, attack, NUMERIC, mixed=False)
        if not _same(found, expected, attack) or tells(found, attack):
            failures.append((attack[:200], found, expected))
        if attack.lower().startswith(_WRITES) and found[0] != "error":
            failures.append((attack[:200], found, "changes something"))
    assert not failures


def test_generated_queries(homes: Homes) -> None:
    """So does every query that is made up."""
    random, failures, errors, full = Random(18), [], 0, 0
    for _ in range(GENERATED):
        query = random_query(random)
        found, expected = outcome(homes.mixed, query, NUMERIC), outcome(homes.clean, query, NUMERIC, mixed=False)
        errors += found[0] == "error"
        full += bool(found[2])
        if found != expected or tells(found, query):
            failures.append((query, found, expected))
    assert not failures
    assert full > GENERATED / 2  # Else they would test nothing.


def test_generated_queries_notice_a_leak(homes: Homes) -> None:
    """One hidden row among the exposed ones, and both the made-up queries and the collected ones tell it."""
    random = Random(18)
    noticed = sum(
        outcome(homes.leaky, query, NUMERIC, mixed=False) != outcome(homes.clean, query, NUMERIC, mixed=False)
        for query in (random_query(random) for _ in range(150))
    )
    assert noticed > 20
    oracles = [query for query in queries() if query.startswith("SELECT count(*) AS n FROM states s WHERE (")]
    assert len(oracles) >= 20
    noticed = sum(
        outcome(homes.leaky, query, NUMERIC, mixed=False) != outcome(homes.clean, query, NUMERIC, mixed=False)
        for query in oracles
    )
    assert noticed >= 5


def test_mixed_kinds(homes: Homes, tmp_path: Path) -> None:
    """With entities whose states are words, errors of conversions are the same too."""
    with filled("sqlite", tmp_path, MIXED) as words, asked(words) as ask_words:
        random = Random(81)
        for _ in range(60):
            query = random_query(random)
            assert outcome(homes.mixed, query, MIXED) == outcome(ask_words, query, MIXED, mixed=False), query

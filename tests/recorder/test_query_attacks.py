"""Tests that queries cannot see past exposure, whatever they are, and change nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
import hashlib
from pathlib import Path
import sqlite3
from time import monotonic
from unittest.mock import patch

import pytest
import pytest_socket
from sqlalchemy import Engine

from custom_components.extended_assist.recorder import sqlite as sqlite_reader
from custom_components.extended_assist.recorder.sql.dialects import RULES
from custom_components.extended_assist.recorder.sqlite import SQLiteReader, open_sqlite
from tests.attacks import contained, refused
from tests.databases import ENGINES
from tests.recorder.query_data import NUMERIC, contents, filled, outcome, tells, url_of


@dataclass
class Home:
    """A database with everything, and one that never held anything hidden."""

    engine: str
    everything: Engine
    exposed: Engine
    folder: Path


@pytest.fixture(scope="module", params=ENGINES)
def shared_home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Return both databases, made once."""
    folder = tmp_path_factory.mktemp("home")
    with (
        filled(request.param, folder / "everything") as everything,
        filled(request.param, folder / "exposed", NUMERIC) as exposed,
    ):
        home = Home(request.param, everything, exposed, folder)
        before, files, digest = contents(everything), sorted(folder.rglob("*")), _digest(home)
        yield home
        # After all attacks, every row of every table is as it was, no table is new, and no file either.
        pytest_socket.enable_socket()
        assert contents(everything) == before
        assert sorted(folder.rglob("*")) == files
        assert _digest(home) == digest


@pytest.fixture
def home(shared_home: Home) -> Home:
    """Return both databases, with connections allowed."""
    pytest_socket.enable_socket()
    return shared_home


def test_collections_are_large(home: Home) -> None:
    """At least 150 attacks on every engine, none of them twice."""
    attacks = [*refused(home.engine), *contained(home.engine)]
    assert len(attacks) >= 150
    assert len(set(attacks)) == len(attacks)


def test_refused(home: Home) -> None:
    """What asks for something forbidden is refused, with a reason that tells nothing."""
    failures = []
    for attack in refused(home.engine):
        result = outcome(home.everything, attack, NUMERIC)
        if result[0] != "error" or tells(result, attack) or "unexpected" in result[1]:
            failures.append((attack[:200], result))
    assert not failures


def test_contained(home: Home) -> None:
    """What may run acts exactly as on a database that never held a hidden row, failures included."""
    failures = []
    for attack in contained(home.engine):
        result = outcome(home.everything, attack, NUMERIC)
        expected = outcome(home.exposed, attack, NUMERIC)
        if result != expected or tells(result, attack):
            failures.append((attack, result, expected))
    assert not failures


def test_oracles_work(home: Home) -> None:
    """The failing expressions do fail on hidden rows, and succeed on the exposed ones: else they would test nothing."""
    attacks = [
        attack for attack in contained(home.engine) if attack.startswith("SELECT count(*) AS n FROM states s WHERE (")
    ]
    assert len(attacks) >= 6
    for attack in attacks:
        assert outcome(home.exposed, attack, NUMERIC)[0] == "rows", attack
        everything = {"sensor.temperature", "sensor.power", "sensor.canary_hidden", "light.canary"}
        assert outcome(home.everything, attack, everything)[0] == "error", attack


def _digest(home: Home) -> str:
    if home.engine != "sqlite":
        return ""
    return hashlib.sha256(Path(str(home.everything.url.database)).read_bytes()).hexdigest()


def test_authorizer_alone(tmp_path: Path) -> None:
    """Fed with the attacks' own words, SQLite refuses them or returns exposed rows only."""
    attacks = [*refused("sqlite"), *contained("sqlite")]
    ids = {"states": [1, 2], "statistics": [1, 2]}
    failures, ran = [], 0
    with filled("sqlite", tmp_path) as database:
        path = Path(str(database.url.database))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        for attack in attacks:
            with open_sqlite(url_of(database), monotonic() + 5) as reader:
                reader.expose(ids, RULES["sqlite"].functions)
                try:
                    said = repr(list(reader.rows(attack, {}))).casefold()
                except sqlite3.Error, ValueError:
                    continue
                ran += 1
                if any(
                    word in said and word not in attack.casefold() for word in ("canary", "314159", "271828", "s3cret")
                ):
                    failures.append((attack, said))
        assert not failures
        assert ran > 100  # Honest in shape, and read through the views.
        assert sorted(tmp_path.iterdir()) == [path]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest


def test_views_cannot_be_forged(tmp_path: Path) -> None:
    """A WITH query, alias or subquery of a view's name is not taken for the view."""
    with filled("sqlite", tmp_path) as database, open_sqlite(url_of(database), monotonic() + 5) as reader:
        reader.expose({"states": [1], "statistics": []}, RULES["sqlite"].functions)
        for attack in (
            "WITH states AS (SELECT * FROM main.states) SELECT * FROM states",
            "SELECT * FROM (SELECT * FROM main.states) AS states",
            "WITH exposed_states AS (SELECT * FROM main.states) SELECT * FROM exposed_states",
            "WITH states_meta AS (SELECT * FROM main.states) SELECT count(*) FROM states_meta",
            "SELECT * FROM main.states",
            "SELECT name FROM sqlite_temp_master",
        ):
            with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
                list(reader.rows(attack, {}))
        assert {row[1] for row in reader.rows("SELECT * FROM states", {})} == {1}


def test_guard_alone(shared_home: Home) -> None:
    """Without the authorizer, the query written anew is bound just the same."""
    if shared_home.engine != "sqlite":
        pytest.skip("the authorizer is SQLite's")
    failures = []
    with patch.object(SQLiteReader, "_authorizer", lambda *_: None):
        for attack in contained("sqlite"):
            result = outcome(shared_home.everything, attack, NUMERIC)
            if result != outcome(shared_home.exposed, attack, NUMERIC) or tells(result, attack):
                failures.append((attack, result))
        failures += [
            (attack, result)
            for attack in refused("sqlite")
            if (result := outcome(shared_home.everything, attack, NUMERIC))[0] != "error"
        ]
    assert not failures


RUNAWAYS = (
    "SELECT count(*) FROM states a, states b, states c, states d, states e, states f",
    "SELECT a.state FROM states a, states b, states c, states d ORDER BY a.state, b.state, c.state, d.state",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT max(i) AS m FROM n",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT count(*) AS m FROM n",
)


@pytest.mark.parametrize("query", RUNAWAYS)
def test_runaways_end(home: Home, query: str) -> None:
    """A query without end is ended by the engine itself, and leaves nothing behind."""
    files = sorted(home.folder.rglob("*"))
    with patch("custom_components.extended_assist.recorder.query.TIME_LIMIT", 0.5):
        start = monotonic()
        result = outcome(home.everything, query, NUMERIC)
        took = monotonic() - start
    if home.engine == "mariadb" and result[0] == "rows":
        assert "RECURSIVE" in query  # It has a limit of its own on recursion.
    else:
        assert result[0] == "error"
        assert "was stopped after" in result[1]
    assert took < 3
    assert sorted(home.folder.rglob("*")) == files
    assert outcome(home.everything, "SELECT count(*) AS n FROM states", NUMERIC) == ("rows", ("n",), [["120"]])


def test_limits_of_sqlite_are_known() -> None:
    """SQLite's own limits are lowered, never raised."""
    connection = sqlite3.connect(":memory:")
    for limit, value in sqlite_reader._LIMITS.items():
        assert value <= connection.getlimit(limit)
    connection.close()

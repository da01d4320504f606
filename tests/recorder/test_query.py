"""Tests that honest queries are answered, as by SQLite on the recorder of a home that has nothing else."""

from collections.abc import Iterator
import json
from typing import Any

import pytest
import pytest_socket
from sqlalchemy import Engine, text

from custom_components.extended_assist.recorder import query as query_module
from custom_components.extended_assist.recorder.query import Answer, shown
from custom_components.extended_assist.results import ToolError
from tests.helpers.databases import ENGINES

from .asking import Asker, everything_of
from .honest_queries import HONEST, SHORT
from .query_data import HIDDEN, MIXED, START, asked, filled

PARAMETERS = {"entity": "light.kitchen"}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return SQLite on the recorder of a home that never had anything hidden."""
    with filled("sqlite", tmp_path_factory.mktemp("bare"), MIXED) as database:
        yield database


@pytest.fixture(scope="module", params=ENGINES)
def shared_home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """Return what asks a home with hidden entities, on each engine."""
    with filled(request.param, tmp_path_factory.mktemp("home")) as database, asked(database) as asker:
        yield asker


@pytest.fixture
def home(shared_home: Asker) -> Asker:
    """Return the same, with connections allowed."""
    pytest_socket.enable_socket()
    return shared_home


def ask(home: Asker, query: str, **parameters: Any) -> Answer:
    """Return the answer to a query."""
    return home.ask(everything_of(MIXED, HIDDEN), query, parameters)


def of_bare(database: Engine, query: str) -> list[list[str]]:
    """Return the rows of a query, asked of SQLite as it stands."""
    with database.connect() as connection:
        rows = connection.execute(text(query), PARAMETERS if ":entity" in query else {})
        return [[shown(value) for value in row] for row in rows]


def test_many_honest_queries() -> None:
    """At least 75, each one another."""
    assert len({*HONEST, *(query for query, _ in SHORT)}) == len(HONEST) + len(SHORT) >= 75


def test_honest_queries(home: Asker, bare: Engine) -> None:
    """Every honest query gives what SQLite gives on exposed rows, in the same order."""
    failures = []
    for query, meaning in (*((query, query) for query in HONEST), *SHORT):
        expected = of_bare(bare, meaning)
        assert expected, f"tests nothing: {query}"
        try:
            rows = ask(home, query, **(PARAMETERS if ":entity" in query else {})).rows
        except ToolError as err:
            failures.append((query, str(err), ""))
            continue
        if rows != expected if "ORDER BY" in query else sorted(rows) != sorted(expected):
            failures.append((query, repr(rows)[:300], repr(expected)[:300]))
    assert not failures


def test_attributes_show_no_secret_and_no_hidden_entity(home: Asker) -> None:
    """Attributes come without secrets, however deep, and without what names a hidden entity; and each once."""
    rows = ask(home, "SELECT attributes_id, shared_attrs FROM state_attributes ORDER BY 1").rows
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    assert [json.loads(row[1]) for row in rows] == [
        {
            "friendly_name": entity.partition(".")[2].title(),
            "unit_of_measurement": "°C",
            "offset": 1.5,
            "options": ["a", "b"],
            "entity_id": [entity],
            "nested": {"who": {}, "deep": [{"name": "x"}]},
        }
        for entity in ("sensor.temperature", "sensor.power", "light.kitchen", "binary_sensor.door")
    ]


def test_rows_are_numbered_anew(home: Asker) -> None:
    """No gap between two numbers tells of a hidden row, in any table."""
    for table, key in (
        ("states", "state_id"),
        ("states_meta", "metadata_id"),
        ("state_attributes", "attributes_id"),
        ("statistics", "id"),
        ("statistics_short_term", "id"),
        ("statistics_meta", "id"),
    ):
        numbers = [int(row[0]) for row in ask(home, f"SELECT {key} FROM {table} ORDER BY 1").rows]  # noqa: S608 - constants
        assert numbers == list(range(1, len(numbers) + 1)), table
        assert len(numbers) >= 2
    assert ask(
        home,
        "SELECT count(*) FROM states a JOIN states b ON a.state_id < b.state_id AND a.last_updated_ts > b.last_updated_ts",
    ).rows == [["0"]]


def test_nothing_else_is_there(home: Asker) -> None:
    """The tables are the six of the recorder; users, contexts and hashes are not among the columns."""
    tables = {row[0] for row in ask(home, "SELECT name FROM sqlite_schema WHERE type = 'view'").rows}
    assert tables == {"states", "statistics", "statistics_short_term"}
    columns = {
        row[1]
        for table in ("states", "statistics_meta", "state_attributes")
        for row in ask(home, f"PRAGMA table_info({table})").rows
    }
    assert "entity_id" in columns
    assert not {"context_user_id_bin", "context_id_bin", "hash", "old_state_id", "origin_idx"} & columns


def test_a_share_of_what_is_exposed(home: Asker) -> None:
    """A question can name entities and a span; what is exposed besides stays visible in attributes."""
    few = everything_of(MIXED, HIDDEN, among={"light.kitchen"}, start=START + 60_000, end=START + 120_000)
    rows = home.ask(
        few,
        "SELECT count(*), count(DISTINCT entity_id), min(last_updated_ts) >= :start FROM states",
        {"start": START + 60_000},
    ).rows
    assert rows == [["17", "1", "1"]]
    assert home.ask(few, "SELECT count(*) FROM statistics", {}).rows == [["0"]]


def test_nothing_exposed(home: Asker) -> None:
    """Where nothing is exposed, every table is empty."""
    for table in (
        "states",
        "states_meta",
        "state_attributes",
        "statistics",
        "statistics_short_term",
        "statistics_meta",
    ):
        assert not home.ask(everything_of(()), f"SELECT * FROM {table}", {}).rows, table  # noqa: S608 - a constant


def test_too_many_rows(home: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rows than may be copied are refused before anything is copied, with what to do."""
    monkeypatch.setattr(query_module, "MAX_FILLED", 200)
    monkeypatch.setattr(query_module, "FRESH_SECONDS", -1)
    with pytest.raises(ToolError, match=r"more than 200 rows would have to be copied\. Narrow it: name the entities"):
        ask(home, "SELECT count(*) FROM states")
    monkeypatch.setattr(query_module, "MAX_FILLED", 240)
    assert ask(home, "SELECT count(*) FROM states").rows == [["240"]]


def test_parameters(home: Asker) -> None:
    """Parameters are values, whatever they contain."""
    assert ask(home, "SELECT :a AS a", a="x' OR 1=1 --\\").rows == [["x' OR 1=1 --\\"]]
    assert ask(home, "SELECT state_id FROM states WHERE state_id <= :n ORDER BY 1", n=2).rows == [["1"], ["2"]]
    assert ask(home, "SELECT entity_id FROM states_meta WHERE entity_id = :e", e="light.canary").rows == []
    assert ask(home, "SELECT state_id FROM states ORDER BY state_id LIMIT :n", n=1).rows == [["1"]]
    with pytest.raises(ToolError, match=":b"):
        ask(home, "SELECT :b", a=1)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT stat FROM states", "no such column: stat. This is SQLite. PRAGMA table_info(states) lists"),
        ("SELECT state FROM sates", "no such table: sates. This is SQLite. Tables: states, "),
        ("SELECT date_trunc('hour', last_updated) FROM states", "Cut moments with strftime"),
        ("SELECT NOW()", "unixepoch() is now"),
        ("SELECT state FROM states WHERE state ILIKE 'x'", "LIKE takes capital and small letters as the same"),
        ("SELECT state::float FROM states", "Cast with CAST(x AS REAL)"),
        ("SELECT 1 FROM states WHERE last_updated > now() - INTERVAL '1 day'", "Spans: "),
        ("SELECT extract(hour FROM last_updated) FROM states", "Parts of a moment"),
        ("SELECT stddev(mean) FROM statistics", "Standard deviation: "),
        ("SELECT curdate()", "Today is date('now', 'localtime')"),
        ("SELECT greatest(1, 2)", "max(a, b)"),
        ("SELECT group_concat(state SEPARATOR ', ') FROM states", "Lists: group_concat"),
        ('SELECT state FROM states WHERE state = "on"', "single-quotes"),
        ("SELECT state FROM states WHERE", "incomplete input"),
        ("DELETE FROM states", "Only SELECT is allowed"),
        ("DELETE FROM states_meta", "Only SELECT is allowed"),
        ("ATTACH 'x' AS y", "Only SELECT is allowed"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("", "no result"),
    ],
)
def test_errors_teach(home: Asker, query: str, words: str) -> None:
    """An error is in SQLite's own words, with its form of what was meant in those of another engine."""
    with pytest.raises(ToolError) as err:
        ask(home, query)
    assert words in str(err.value)


def test_rows_are_bounded(home: Asker) -> None:
    """No more rows, and no longer values, than can be shown leave the process."""
    answer = ask(home, "SELECT a.state_id FROM states a, states b")
    assert len(answer.rows) == query_module.MAX_ROWS
    assert not answer.complete
    answer = ask(home, "SELECT printf('%2500d', state_id) AS v FROM states")
    assert answer.rows[0][0].endswith(" … [500 more characters]")
    assert not answer.complete
    assert len(answer.rows) < 240


def test_local_time(home: Asker) -> None:
    """The columns of local time, and 'localtime', are the home's time, in summer and in winter."""
    home.hass.config.time_zone = "Europe/Berlin"
    try:
        (row,) = ask(
            home,
            "SELECT datetime(1700000000, 'unixepoch', 'localtime'), datetime(1720000000, 'unixepoch', 'localtime'), "
            "(SELECT last_updated FROM states WHERE state_id = 1)",
        ).rows
    finally:
        home.hass.config.time_zone = "UTC"
    assert row == ["2023-11-14 23:13:20", "2024-07-03 11:46:40", "2023-11-14 23:13:20"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, ""),
        (True, "true"),
        (1234567890123456789, "1234567890123456789"),
        (21.123456789, "21.1235"),
        (1700000000.123456, "1700000000.123"),
        (1700000000.0, "1700000000"),
        (5.0, "5"),
        ("unavailable", "unavailable"),
        ("Inf", "Inf"),
    ],
)
def test_shown(value: Any, words: str) -> None:
    """Numbers are short, moments and ids are exact."""
    assert shown(value) == words

"""Tests that honest queries are answered, as on a database that holds nothing but what is exposed."""

from collections.abc import Iterator
from datetime import date, time
from decimal import Decimal
from pathlib import Path
import subprocess
import sys
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
import pytest
import pytest_socket
from sqlalchemy import Engine, text
from sqlalchemy.exc import DataError

from custom_components.extended_assist.recorder import query as query_module
from custom_components.extended_assist.recorder.query import Database, query_database
from custom_components.extended_assist.recorder.views import exposed_attributes
from custom_components.extended_assist.results import ToolError
from tests.databases import ENGINES
from tests.recorder.honest_queries import HONEST, write
from tests.recorder.query_data import MIXED, NUMERIC, filled, outcome, url_of
from tests.recorder.random_queries import queries

PARAMETERS = {"entity": "light.kitchen"}


@pytest.fixture(scope="module", params=ENGINES)
def shared_homes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Engine, Engine, Engine]]:
    """Return an engine's name, a database with everything, and two with nothing but what is exposed."""
    folder = tmp_path_factory.mktemp("home")
    with (
        filled(request.param, folder / "everything") as everything,
        filled(request.param, folder / "mixed", MIXED) as mixed,
        filled(request.param, folder / "numeric", NUMERIC) as numeric,
    ):
        yield request.param, everything, mixed, numeric


@pytest.fixture
def homes(shared_homes: tuple[str, Engine, Engine, Engine]) -> tuple[str, Engine, Engine, Engine]:
    """Return the databases, with connections allowed."""
    pytest_socket.enable_socket()
    return shared_homes


def bare(database: Engine, query: str) -> list[list[str]]:
    """Return the rows of a query, asked of the engine as it stands."""
    with database.connect() as connection:
        if database.dialect.name == "mysql":
            connection.execute(text("SET SESSION time_zone = '+00:00'"))
        rows = connection.execute(text(query.replace("::", "\\:\\:")), PARAMETERS if ":entity" in query else {})
        return [[query_module._shown(value) for value in row] for row in rows]


def test_many_honest_queries() -> None:
    """At least 60, each one another."""
    assert len(set(HONEST)) == len(HONEST) >= 60


def test_honest_queries(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """Every honest query gives what the engine itself gives on exposed rows, in the same order."""
    engine, everything, mixed, _ = homes
    failures = []
    for honest in HONEST:
        asked = write(honest, engine)
        expected = bare(mixed, asked)
        assert expected, f"tests nothing: {asked}"
        try:
            answer = query_database(Database(url=url_of(everything)), asked, PARAMETERS, MIXED, MIXED)
        except ToolError as err:
            failures.append((asked, str(err), ""))
            continue
        if answer.rows != expected if "ORDER BY" in asked else sorted(answer.rows) != sorted(expected):
            failures.append((asked, repr(answer.rows)[:300], repr(expected)[:300]))
    assert not failures


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_queries(homes: tuple[str, Engine, Engine, Engine], data: st.DataObject) -> None:
    """A random SELECT gives what the engine itself gives on a database that holds exposed rows only."""
    engine, everything, _, numeric = homes
    asked = data.draw(queries(engine))
    check_random(everything, numeric, asked)


def test_random_query_that_overflows(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """What the engine itself refuses, such as a sum beyond its integers on PostgreSQL, is refused."""
    _, everything, _, numeric = homes
    check_random(everything, numeric, "SELECT state_id, (1700050000 + 1700050000) AS y FROM states")


def check_random(everything: Engine, numeric: Engine, asked: str) -> None:
    """Compare the answer to a query with that of the engine."""
    kind, header, rows = outcome(everything, asked, NUMERIC)
    try:
        expected = sorted(bare(numeric, asked))
    except DataError:
        assert kind == "error", asked
        return
    assert kind == "rows", (asked, header)
    assert rows == expected[: len(rows)] if len(expected) > query_module.MAX_ROWS else rows == expected, asked


def ask(database: Engine, query: str, **parameters: Any) -> Any:
    """Return the answer to a query."""
    return query_database(Database(url=url_of(database)), query, parameters, MIXED, MIXED)


def test_attributes_show_no_secret_and_no_other_entity(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """Attributes come without secrets and without whatever names an entity, on every engine the same."""
    import json  # noqa: PLC0415 - only here

    rows = ask(homes[1], "SELECT shared_attrs FROM state_attributes ORDER BY attributes_id").rows
    assert [json.loads(row[0]) for row in rows] == [
        {"friendly_name": name, "unit_of_measurement": "°C", "offset": 1.5, "options": ["a", "b"]}
        for name in ("Temperature", "Power", "Kitchen", "Door")
    ]


@pytest.mark.parametrize(
    ("attributes", "visible"),
    [
        ('{"a": 1, "b": null, "c": true, "d": 1.5, "e": "x y."}', '{"a":1,"b":null,"c":true,"d":1.5,"e":"x y."}'),
        ('{"a": "light.kitchen", "b": ["x", "Light.Kitchen"], "c": {"light.x": 1}, "light.y": 2}', "{}"),
        ('{"a": "at light.kitchen!", "b": [["s2.x"]], "c": "12.5", "d": [1.5, 2]}', '{"c":"12.5","d":[1.5,2]}'),
        ('{"Access_Token": 1, "my_password": 2, "apikey": 3, "entity_picture_local": 4, "user_id": 5}', "{}"),
        ('{"a": "light\\u002ekitchen"}', "{}"),
        ("{}", "{}"),
        ("no json", None),
        ("[1]", None),
        (None, None),
    ],
)
def test_visible_attributes(attributes: str | None, visible: str | None) -> None:
    """What could be an entity id, or is a secret by its name, is left out."""
    assert exposed_attributes(attributes) == visible


def test_attributes_are_alike_on_every_engine(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """The rule in SQL is the rule in Python."""
    import json  # noqa: PLC0415 - only here

    samples = [
        {
            "a": "light.kitchen",
            "b": [1, 2.5, "x"],
            "c": {"k": "v", "n": 1},
            "d": "a.b",
            "e": "v 1.5",
            "f": "1.5 v",
            "g": True,
        },
        {'quote"d key': 'quote"d \\ value', "ü": "ü°", "dots...": "a . b", "x.y": 1, "token_x": 2, "n": None, "é.x": 5},
        {
            "l": [],
            "o": {},
            "s": "",
            "big": 12345678901,
            "neg": -0.5,
            "exp": 1e-7,
            "nested": [{"a": ["p.q"]}],
            "ok": [{"a": ["p"]}],
        },
    ]
    everything = homes[1]
    with everything.begin() as connection:
        connection.execute(text("DELETE FROM states WHERE state_id > 1000"))
        connection.execute(text("DELETE FROM state_attributes WHERE attributes_id > 1000"))
        for number, sample in enumerate(samples, 1001):
            encoded = json.dumps(sample, ensure_ascii=False)
            connection.execute(
                text("INSERT INTO state_attributes (attributes_id, shared_attrs) VALUES (:i, :a)"),
                {"i": number, "a": encoded},
            )
            connection.execute(
                text("INSERT INTO states (state_id, metadata_id, state, attributes_id) VALUES (:i, 1, '1', :i)"),
                {"i": number},
            )
    try:
        rows = ask(
            everything, "SELECT shared_attrs FROM state_attributes WHERE attributes_id > 1000 ORDER BY attributes_id"
        ).rows
        expected = [json.loads(exposed_attributes(json.dumps(sample, ensure_ascii=False)) or "") for sample in samples]
        assert [json.loads(row[0]) for row in rows] == expected
    finally:
        with everything.begin() as connection:
            connection.execute(text("DELETE FROM states WHERE state_id > 1000"))
            connection.execute(text("DELETE FROM state_attributes WHERE attributes_id > 1000"))


def test_nothing_exposed(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """Where nothing is exposed, every table is empty."""
    for table in (
        "states",
        "states_meta",
        "state_attributes",
        "statistics",
        "statistics_short_term",
        "statistics_meta",
    ):
        answer = query_database(Database(url=url_of(homes[1])), f"SELECT * FROM {table}", {}, set(), set())  # noqa: S608 - a constant
        assert not answer.rows, table


def test_parameters(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """Parameters are values, whatever they contain."""
    assert ask(homes[1], "SELECT :a AS a", a="x' OR 1=1 --\\").rows == [["x' OR 1=1 --\\"]]
    assert ask(homes[1], "SELECT state_id FROM states WHERE state_id <= :n ORDER BY 1", n=2).rows == [["1"], ["2"]]
    assert ask(homes[1], "SELECT entity_id FROM states_meta WHERE entity_id = :e", e="light.canary").rows == []
    assert ask(homes[1], "SELECT state_id FROM states ORDER BY state_id LIMIT :n", n=1).rows == [["1"]]
    with pytest.raises(ToolError, match="no value for :b"):
        ask(homes[1], "SELECT :b", a=1)


def test_errors_teach(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """An error names the place and what is nearest."""
    for query, words in (
        ("SELECT stat FROM states", "Line 1, column 8: there is no column 'stat'. Nearest: state"),
        ("SELECT state\nFROM sates", "Line 2, column 6: there is no table 'sates'. Nearest: states"),
        ("SELECT m.entity FROM states_meta m", "'m' has no column 'entity'. Nearest: entity_id"),
        ("SELECT uper(state) FROM states", "there is no function uper. Nearest: upper"),
        ("SELECT metadata_id FROM states s, states_meta m", "Write s.metadata_id or m.metadata_id"),
        ("SELECT x.state FROM states s", "there is no 'x' in FROM. Nearest: s"),
        ("SELECT state FROM states WHERE", "Line 1"),
        ("DELETE FROM states", "Only SELECT is allowed"),
    ):
        with pytest.raises(ToolError) as err:
            ask(homes[1], query)
        assert words in str(err.value)


def test_rows_are_bounded(homes: tuple[str, Engine, Engine, Engine]) -> None:
    """No more rows than the bound leave the engine."""
    answer = ask(homes[1], "SELECT a.state_id FROM states a, states b")
    assert len(answer.rows) == query_module.MAX_ROWS
    assert not answer.complete


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (True, "true"),
        (1234567890123456789, "1234567890123456789"),
        (21.123456789, "21.1235"),
        (1700000000.123456, "1700000000.123"),
        (1700000000.0, "1700000000"),
        (Decimal("0.333333333333"), "0.333333"),
        (Decimal(5), "5"),
        (b"\x01\xff", "01ff"),
        ("unavailable", "unavailable"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(10), "10:00:00"),
        ({"a": 1}, '{"a":1}'),
        (float("inf"), "inf"),
        ("x" * 3000, "x" * 2000 + " … [1000 more characters]"),
    ],
)
def test_shown(value: Any, shown: str) -> None:
    """Numbers are short, moments and ids are exact."""
    assert query_module._shown(value) == shown


def test_memory_is_out_of_reach() -> None:
    """A database in memory cannot be opened a second time."""
    with pytest.raises(ToolError, match="in memory"):
        query_database(Database(url="sqlite://"), "SELECT 1", {}, set(), set())


def test_sqlglot_is_loaded_late(tmp_path: Path) -> None:
    """Nothing loads sqlglot before the first query."""
    code = (
        "import sys; import custom_components.extended_assist.recorder.query, custom_components.extended_assist.tools; "
        "assert not any(name.startswith('sqlglot') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=Path(__file__).parents[2])

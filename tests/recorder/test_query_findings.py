# ruff: noqa: S608 - these queries are constants
"""What a careful attack found on earlier ways of asking the recorder, each on every engine."""

import asyncio
from collections.abc import Iterator
import json
from pathlib import Path
from threading import Event
from time import monotonic
import tracemalloc

import pytest
import pytest_socket
from sqlalchemy import text

from custom_components.extended_assist.recorder import query as query_module
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.worker.limits import MEMORY
from tests.helpers.databases import ENGINES

from .asking import Asker, everything_of
from .query_data import HIDDEN, MIXED, NUMERIC, asked, filled, outcome, tells


@pytest.fixture(scope="module", params=ENGINES)
def shared_homes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Asker, Asker]]:
    """Return what asks a home with hidden entities, and one without."""
    folder = tmp_path_factory.mktemp("home")
    with (
        filled(request.param, folder / "mixed") as mixed,
        filled("sqlite", folder / "clean", NUMERIC) as clean,
        asked(mixed) as ask_mixed,
        asked(clean) as ask_clean,
    ):
        yield ask_mixed, ask_clean


@pytest.fixture
def homes(shared_homes: tuple[Asker, Asker], monkeypatch: pytest.MonkeyPatch) -> tuple[Asker, Asker]:
    """Return the same, with connections allowed."""
    pytest_socket.enable_socket()
    monkeypatch.setattr(query_module, "FRESH_SECONDS", 600.0)
    return shared_homes


@pytest.fixture
def limited(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """End queries early; what came from a server is asked in the same process, with less time to see that it is bounded too."""
    local = request.node.callspec.params["shared_homes"] == "sqlite"
    monkeypatch.setattr(query_module, "TIME_LIMIT", 1.0 if local else 0.2)
    monkeypatch.setattr(query_module, "_GRACE", 0.2)


LEAKS = {
    "a separator that names a placeholder": "SELECT 'x UNION SELECT state FROM states', group_concat(state SEPARATOR ':p0') FROM states",
    "the same in the dialect": "SELECT group_concat(state, ':p0'), ':p0' FROM states",
    "a nested WITH of its own name in a union": "WITH states AS (WITH states AS (SELECT * FROM states UNION ALL SELECT * FROM main.states) SELECT * FROM states) "
    "SELECT count(*) FROM states WHERE json_extract(state, '$') > 0",
    "the same on the rows themselves": "WITH x AS (WITH x AS (SELECT state FROM states_rows UNION SELECT 'CANARY') SELECT * FROM x UNION SELECT state FROM states) "
    "SELECT count(*) FROM x WHERE json_extract(CASE WHEN state LIKE 'CANARYS%' THEN 'no json' ELSE '1' END, '$') = 1",
    "LIKE over a thousand characters": f"SELECT count(*) FROM states WHERE state LIKE CASE WHEN state = 'CANARYSTATE' THEN '{'x' * 1500}' ELSE '2%' END",
    "LIKE that fails late": "SELECT count(*) FROM states WHERE state LIKE printf('%.*c', CASE WHEN last_updated_ts > 1800000000 THEN 1500 ELSE 5 END, 'x')",
    "two arguments of max in HAVING": "SELECT metadata_id, count(*) FROM states GROUP BY metadata_id, state "
    "HAVING max(json_extract(CASE WHEN last_updated_ts > 1800000000 THEN 'no json' ELSE '1' END, '$'), 0) > 0",
    "numbers of rows": "SELECT max(state_id) - min(state_id), count(*), max(attributes_id), max(metadata_id) FROM states",
    "gaps": "SELECT sum(gap) FROM (SELECT state_id - lag(state_id) OVER (ORDER BY state_id) AS gap FROM states)",
}


@pytest.mark.parametrize("query", LEAKS.values(), ids=LEAKS.keys())
def test_leaks(homes: tuple[Asker, Asker], query: str) -> None:
    """Nothing differs from a home that has nothing hidden."""
    mixed, clean = homes
    found = outcome(mixed, query, NUMERIC)
    assert found == outcome(clean, query, NUMERIC, mixed=False)
    assert not tells(found, query)


LONG = "printf('%.*c', 900000, 'a')"
BOMBS = {
    # What it does, and whether it may succeed.
    "functions in each other": "SELECT " + "date(" * 30 + "'now'" + ")" * 30,
    "more functions in each other": "SELECT " + "date(" * 450 + "'now'" + ")" * 450,
    "nested recursion": "WITH RECURSIVE a(i) AS (WITH RECURSIVE b(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM b) SELECT j FROM b UNION ALL SELECT i FROM a) "
    "SELECT count(*) FROM a",
    "instr": f"WITH t(x) AS MATERIALIZED (SELECT {LONG}) SELECT sum(instr(x, substr(x, 1, 400000) || 'b')) FROM t, states",
    "replace": f"SELECT length(replace(replace({LONG}, 'a', 'bb'), 'b', 'cc'))",
    "LIKE": f"WITH t(x) AS MATERIALIZED (SELECT {LONG}) SELECT count(*) FROM t, states WHERE x LIKE '%a%a%a%a%a%a%b'",
    "GLOB": f"WITH t(x) AS MATERIALIZED (SELECT {LONG}) SELECT count(*) FROM t WHERE x GLOB '*a*a*a*a*a*b'",
    "random bytes": "SELECT hex(randomblob(1000000000))",
    "empty bytes": "SELECT zeroblob(2000000000)",
    "a wide format": "SELECT printf('%*d', 2000000000, 1)",
    "many values": "WITH RECURSIVE n(i, t) AS (SELECT 1, '' UNION ALL SELECT i + 1, printf('%.*c', 900000, 'x') FROM n LIMIT 4000) SELECT count(*) FROM n ORDER BY t",
    "a sorted product": "SELECT a.state || b.state || c.state || d.state AS x FROM states a, states b, states c, states d ORDER BY x",
    "a distinct product": "SELECT count(*) FROM (SELECT DISTINCT a.state_id, b.state_id, c.state_id FROM states a, states b, states c)",
    "groups": "SELECT count(*) FROM (SELECT group_concat(a.state) FROM states a, states b, states c GROUP BY a.state_id, b.state_id, c.state_id)",
    "one text": "SELECT length(group_concat(a.state || b.state || c.state)) FROM states a, states b, states c",
    "JSON": "SELECT length(json_group_array(json_array(a.state, b.state, c.state))) FROM states a, states b, states c",
    "many columns": "SELECT " + ", ".join([LONG] * 190),
    "a product": "SELECT count(*) FROM states a, states b, states c, states d, states e",
    "windows": "SELECT sum(x) FROM (SELECT count(*) OVER (ORDER BY a.state ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES) AS x FROM states a, states b, states c)",
    "deep": "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    "many unions": " UNION ALL ".join(["SELECT 1"] * 1000),
}


@pytest.mark.parametrize("query", BOMBS.values(), ids=BOMBS.keys())
@pytest.mark.usefixtures("limited")
def test_bombs(homes: tuple[Asker, Asker], query: str) -> None:
    """Whatever a query wants of time, memory and disk, it is over soon, and the next one is answered."""
    mixed, _ = homes
    start = monotonic()
    outcome(mixed, query, MIXED)
    assert monotonic() - start < 10
    assert mixed.ask(everything_of(MIXED, HIDDEN), "SELECT count(*) FROM states").rows == [["240"]]
    assert mixed.peak() <= MEMORY


@pytest.mark.usefixtures("limited")
def test_the_loop_turns(homes: tuple[Asker, Asker]) -> None:
    """While the heaviest queries run, the event loop stands still for no noticeable time.

    They are asked up to three times: where something else has the processor it stands still once, where a query does each time.
    """
    assert any(_longest_standstill(homes[0]) < 0.25 for _ in range(3))


def _longest_standstill(home: Asker) -> float:
    """Return for how many seconds at a time the event loop did nothing while the heaviest queries ran."""
    over = Event()

    async def watch() -> float:
        longest = 0.0
        while not over.is_set():
            before = monotonic()
            await asyncio.sleep(0.001)
            longest = max(longest, monotonic() - before)
        return longest

    watched = asyncio.run_coroutine_threadsafe(watch(), home.loop)
    for name in ("instr", "a product", "many columns"):
        outcome(home, BOMBS[name], MIXED)
    over.set()
    return watched.result(20)


def test_nested_secrets(homes: tuple[Asker, Asker]) -> None:
    """Secrets are left out of attributes however deep they lie."""
    rows = homes[0].ask(everything_of(MIXED, HIDDEN), "SELECT shared_attrs FROM state_attributes").rows
    assert rows
    for (attributes,) in rows:
        assert json.loads(attributes)["nested"] == {"who": {}, "deep": [{"name": "x"}]}
        assert "s3cret" not in attributes


def test_wrong_dialects_are_helped(homes: tuple[Asker, Asker]) -> None:
    """What other engines call it is answered with SQLite's form, never with a function that means another thing."""
    for query, words in (("SELECT curdate()", "date('now', 'localtime')"), ("SELECT locate('a', 'b')", "instr(")):
        with pytest.raises(ToolError) as err:
            homes[0].ask(everything_of(MIXED, HIDDEN), query)
        assert words in str(err.value)
        assert "locate" not in str(err.value).replace("no such function: locate", "")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_of_attributes(engine: str, tmp_path: Path) -> None:
    """Attributes that a hidden entity had first are not numbered first."""
    states = "INSERT INTO states (state_id, metadata_id, state, last_updated_ts, attributes_id) "
    with filled(engine, tmp_path) as database:
        with database.begin() as connection:
            for number, attributes in ((901, '{"late":1}'), (902, '{"early":1}')):
                connection.execute(
                    text("INSERT INTO state_attributes (attributes_id, hash, shared_attrs) VALUES (:number, 1, :text)"),
                    {"number": number, "text": attributes},
                )
            for number, entity, used in (
                (5_001, "sensor.canary_hidden", 901),
                (5_002, "sensor.power", 902),
                (5_003, "sensor.power", 901),
            ):
                connection.execute(
                    text(
                        f"{states}SELECT :number, metadata_id, '1', 1900000000, :used FROM states_meta WHERE entity_id = :id"
                    ),
                    {"number": number, "used": used, "id": entity},
                )
        with asked(database) as asker:
            query = "SELECT shared_attrs FROM state_attributes WHERE shared_attrs LIKE '{_early_:1}' OR shared_attrs LIKE '{_late_:1}' ORDER BY attributes_id"
            assert asker.ask(everything_of(NUMERIC, HIDDEN), query).rows == [['{"early":1}'], ['{"late":1}']]


@pytest.mark.parametrize("engine", [each for each in ENGINES if each != "sqlite"])
def test_large_attributes(engine: str, tmp_path: Path) -> None:
    """However large the attributes on a server are, Home Assistant holds few of them at a time."""
    rows = [{"number": number, "text": f'{{"a{number}":"{"é" * 7_000}"}}'} for number in range(1_000, 2_500)]
    with filled(engine, tmp_path) as database:
        with database.begin() as connection:
            connection.execute(
                text("INSERT INTO state_attributes (attributes_id, hash, shared_attrs) VALUES (:number, 1, :text)"),
                rows,
            )
            connection.execute(
                text(
                    "INSERT INTO states (state_id, metadata_id, state, last_updated_ts, attributes_id) "
                    "SELECT :number, metadata_id, '1', 1900000000, :number FROM states_meta WHERE entity_id = 'sensor.power'"
                ),
                [{"number": row["number"]} for row in rows],
            )
        with asked(database) as asker:
            visible = everything_of(NUMERIC, HIDDEN)
            asker.ask(visible, "SELECT count(*) FROM states")  # Drivers are loaded.
            tracemalloc.start()
            try:
                assert asker.ask(visible, "SELECT count(*) FROM state_attributes").rows == [["1502"]]
                assert tracemalloc.get_traced_memory()[1] < 8_000_000
            finally:
                tracemalloc.stop()

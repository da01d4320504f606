"""Tests of asking a private database for more than SQLite sorts in memory where it may open files."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
import resource
from typing import Any

import pytest

from custom_components.extended_assist.worker import database as database_module
from custom_components.extended_assist.worker.database import Databases
from custom_components.extended_assist.worker.messages import JobError
from custom_components.extended_assist.worker.run_query import ask

ROWS = 60_000
BOUNDS = {"seconds": 20.0, "most_rows": 2_000, "most_characters": 400_000, "longest": 2_000}


@contextmanager
def no_new_files() -> Iterator[None]:
    """Let nothing be opened for a while, as the worker does for good."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.fixture(scope="module")
def databases() -> Databases:
    """Return what holds many states that differ."""
    found = Databases(lambda: None)
    lamp = [("light.lamp", "Lamp", "Hall")]
    found.begin(time_zone="UTC", utc_offset=0, entities=lamp, statistics=lamp, exposed=["light.lamp"], hidden=[])
    found.add("states_meta", [[7, "light.lamp"]])
    texts = [sha256(str(number).encode()).hexdigest() for number in range(ROWS)]
    found.add("states", [[7, float(number), 0.0, 0.0, text, None] for number, text in enumerate(texts)])
    found.finish("key")
    return found


@pytest.mark.parametrize(
    ("query", "expected", "times"),
    [
        ("SELECT count(*) FROM (SELECT state FROM states ORDER BY state)", ROWS, 1),
        ("SELECT count(*) FROM (SELECT DISTINCT state FROM states)", ROWS, 2),
        ("WITH a AS MATERIALIZED (SELECT state FROM states) SELECT count(*) FROM a x JOIN a y USING (state)", ROWS, 2),
        ("SELECT count(*) FROM (SELECT last_updated_ts FROM states GROUP BY state)", ROWS, 1),
    ],
)
def test_large_sorts(
    databases: Databases, monkeypatch: pytest.MonkeyPatch, query: str, expected: int, times: int
) -> None:
    """Where a file would be needed, the query is asked once more in memory, with the same answer and bounds."""
    asked: list[float] = []

    def ask_and_note(*given: Any, seconds: float, **bounds: Any) -> dict[str, Any]:
        asked.append(seconds)
        with no_new_files():
            return ask(*given, seconds=seconds, **bounds)

    monkeypatch.setattr(database_module, "ask", ask_and_note)
    assert databases.query("key", query, {}, **BOUNDS)["rows"] == [[expected]]
    assert len(asked) == times
    assert asked[-1] < asked[0] or times == 1, "both share one time limit"


def test_pragmas_stay_shut(databases: Databases) -> None:
    """What the worker sets for itself, a query still cannot."""
    with pytest.raises(database_module.JobError, match="not authorized"):
        databases.query("key", "PRAGMA temp_store = FILE", {}, **BOUNDS)
    with pytest.raises(database_module.JobError, match="not authorized"):
        databases.query("key", "ATTACH 'x' AS y", {}, **BOUNDS)


def test_nothing_is_set_for_what_needs_no_file(databases: Databases) -> None:
    """SQLite runs the query alone, and so keeps it compiled; how it sorts is set for a query that needs it, and set back."""
    assert databases._filled
    ran: list[str] = []
    databases._filled.connection.set_trace_callback(ran.append)
    large = "SELECT count(*) FROM (SELECT DISTINCT state FROM states)"
    try:
        for query in ("SELECT 1", large, "SELECT 1"):
            with no_new_files():
                databases.query("key", query, {}, **BOUNDS)
    finally:
        databases._filled.connection.set_trace_callback(None)
    asked = [each for each in ran if not each.startswith("--")]
    assert asked == ["SELECT 1", large, "PRAGMA temp_store = MEMORY", large, "PRAGMA temp_store = FILE", "SELECT 1"]


def test_jobs_out_of_order() -> None:
    """What was not begun cannot be filled, what was not filled cannot be asked, and what is begun anew holds nothing."""
    found = Databases(lambda: None)
    with pytest.raises(JobError, match="nothing is being filled"):
        found.add("states_meta", [[7, "light.lamp"]])
    with pytest.raises(JobError, match="nothing was filled"):
        found.query("key", "SELECT 1", {}, **BOUNDS)
    seen: dict[str, Any] = {"entities": [], "statistics": [], "exposed": [], "hidden": []}
    for _ in range(2):  # The second time there is something to forget.
        found.begin(time_zone="UTC", utc_offset=0, **seen)
    assert found.finish("one") == 0
    found.begin(time_zone="UTC", utc_offset=0, **seen)
    with pytest.raises(JobError, match="nothing was filled"):
        found.query("one", "SELECT 1", {}, **BOUNDS)


def test_unknown_time_zone() -> None:
    """Where the system does not know the home's zone, its offset of today is taken."""
    found = Databases(lambda: None)
    try:
        for offset, local in ((19_800, "05:30:00"), (-12_600, "20:30:00")):
            found.begin(time_zone="Nowhere/Home", utc_offset=offset, entities=[], statistics=[], exposed=[], hidden=[])
            found.finish("key")
            answer = found.query("key", "SELECT time(0, 'unixepoch', 'localtime')", {}, **BOUNDS)
            assert answer["rows"] == [[local]]
    finally:
        found.begin(time_zone="UTC", utc_offset=0, entities=[], statistics=[], exposed=[], hidden=[])


def test_what_is_added() -> None:
    """Attributes are kept without what is hidden; a column that is twice there is an error in the words of the query."""
    found = Databases(lambda: None)
    lamp = [("light.lamp", "Lamp", "Hall")]
    found.begin(time_zone="UTC", utc_offset=0, entities=lamp, statistics=lamp, exposed=["light.lamp"], hidden=[])
    found.add("states_meta", [[7, "light.lamp"]])
    found.add("state_attributes", [[1, '{"brightness": 5}'], [2, None]])
    found.add("states", [[7, 1.0, 1.0, 1.0, "on", 1], [7, 2.0, 2.0, 2.0, "off", 2]])
    found.finish("key")
    kept = found.query(
        "key", "SELECT shared_attrs FROM states JOIN state_attributes USING (attributes_id)", {}, **BOUNDS
    )
    assert [row[0].replace(" ", "") for row in kept["rows"]] == ['{"brightness":5}']
    with pytest.raises(JobError, match="ambiguous column name: state"):
        found.query("key", "SELECT state FROM states AS a, states AS b", {}, **BOUNDS)

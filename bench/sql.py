# ruff: noqa: S608 - the queries are constants
"""Queries through query_database and bare through SQLite, on a large database of which a quarter is exposed."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
import os
import sqlite3
from statistics import median
import sys
from tempfile import TemporaryDirectory
from time import perf_counter

from custom_components.extended_assist.recorder.query import Answer, Database, query_database

from .database import DATABASE, DOOR, SENSOR, ensure_database
from .table import Row

_RUNS = 7
_EXPOSED = frozenset({SENSOR, DOOR, *(f"sensor.number_{index}" for index in range(1, 43))})
_GOAL = 1.3
_SET_UP = 15.0
"""Milliseconds that parsing and set-up may take, after the first call."""
_PAUSE = 20.0
"""Milliseconds that the event loop may stand still."""

_JOIN = "FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id"
_OF_SENSOR = f"{_JOIN} WHERE m.entity_id = 'sensor.chatty'"
_WEEK = "s.last_updated_ts > {end} - 604800"
_ANALYSES = {
    "average of a month": f"SELECT avg(CAST(s.state AS REAL)) AS v {_OF_SENSOR}",
    "extremes of a week": f"SELECT min(CAST(s.state AS REAL)) AS a, max(CAST(s.state AS REAL)) AS b {_OF_SENSOR} AND {_WEEK}",
    "hours of the day": "SELECT strftime('%H', s.last_updated_ts, 'unixepoch') AS h, avg(CAST(s.state AS REAL)) AS v "
    f"{_OF_SENSOR} GROUP BY h ORDER BY h",
    "a filter on the number": f"SELECT count(*) AS n {_OF_SENSOR} AND CAST(s.state AS REAL) > 22",
    "days of ten sensors": "SELECT m.entity_id, date(s.last_updated_ts, 'unixepoch') AS d, max(CAST(s.state AS REAL)) AS v "
    f"{_JOIN} WHERE m.metadata_id BETWEEN 2 AND 11 AND {_WEEK} GROUP BY m.entity_id, d ORDER BY 1, 2",
    "rows of ten sensors": f"SELECT m.entity_id, count(*) AS n {_JOIN} WHERE m.metadata_id BETWEEN 2 AND 11 "
    "GROUP BY m.entity_id ORDER BY 1",
    "largest steps": "SELECT max(x.step) AS v FROM (SELECT abs(CAST(s.state AS REAL) - lag(CAST(s.state AS REAL)) "
    f"OVER (ORDER BY s.last_updated_ts)) AS step {_OF_SENSOR}) x",
    "a WITH query": f"WITH r AS (SELECT s.state, s.last_updated_ts AS t {_OF_SENSOR}) SELECT count(*) AS n, max(t) AS t FROM r "
    "WHERE CAST(state AS REAL) > 21",
    "a subquery for the id": "SELECT avg(CAST(state AS REAL)) AS v FROM states WHERE metadata_id = "
    "(SELECT metadata_id FROM states_meta WHERE entity_id = 'sensor.chatty')",
}
_LOOKUPS = {
    "newest rows": f"SELECT s.state, s.last_updated_ts {_OF_SENSOR} ORDER BY s.last_updated_ts DESC LIMIT 20",
    "latest of each entity": "SELECT m.entity_id, (SELECT s.state FROM states s WHERE s.metadata_id = m.metadata_id "
    "ORDER BY s.last_updated_ts DESC LIMIT 1) AS v FROM states_meta m WHERE m.metadata_id <= 20 ORDER BY 1",
    "turns of a door": "SELECT x.state, count(*) AS n, sum(x.seconds) AS t FROM (SELECT s.state, lead(s.last_updated_ts) "
    f"OVER (ORDER BY s.last_updated_ts) - s.last_updated_ts AS seconds {_JOIN} WHERE m.entity_id = 'binary_sensor.door') x "
    "GROUP BY x.state ORDER BY x.state",
    "with attributes": "SELECT a.shared_attrs ->> '$.unit_of_measurement' AS u, count(*) AS n FROM states s "
    "JOIN state_attributes a ON a.attributes_id = s.attributes_id WHERE s.metadata_id = 1 "
    "AND s.last_updated_ts > {end} - 86400 GROUP BY u",
    "statistics by day": "SELECT date(start_ts, 'unixepoch') AS d, avg(mean) AS v FROM statistics WHERE metadata_id = 1 "
    "GROUP BY d ORDER BY d",
}


async def run() -> list[Row]:
    """Measure query by query, ours and theirs in alternation, while the event loop is watched."""
    end = await asyncio.to_thread(ensure_database)
    pauses: list[float] = []
    watcher = asyncio.create_task(_watch(pauses))
    with _as_just_installed():
        first = await asyncio.to_thread(_timed, lambda: _ours("SELECT 1 AS one"))
    first_pause = max(pauses)
    analyses = [await _row("analysis", case, query, end) for case, query in _ANALYSES.items()]
    lookups = [await _row("lookup", case, query, end) for case, query in _LOOKUPS.items()]
    (set_up,) = await _alternate(lambda: _ours("SELECT s.state FROM states s WHERE s.state_id = 1"))
    longest = max(
        [await _pause(query.replace("{end}", f"{end:.0f}"), pauses) for query in (_ANALYSES | _LOOKUPS).values()]
    )
    watcher.cancel()
    more = median(row.ours - row.other for row in lookups)
    return [
        *analyses,
        *lookups,
        Row.of("analysis", "median ratio", median(row.ratio for row in analyses), 1.0, goal=_GOAL),
        Row.of("parsing and set-up", "an empty query; other: the goal", set_up, _SET_UP, goal=1.0),
        Row.of("parsing and set-up", "added to a lookup, median; other: the goal", more, _SET_UP, goal=1.0),
        Row.of("longest pause of the event loop", "other: the goal", longest * 1000, _PAUSE, goal=1.0),
        Row.of(
            "longest pause of the event loop",
            "while sqlglot is loaded; other: the goal",
            first_pause * 1000,
            _PAUSE,
            goal=1.0,
        ),
        Row.of("first call", "with the import of sqlglot; other: a later one", first, set_up, goal=None),
    ]


@contextmanager
def _as_just_installed() -> Iterator[None]:
    """Let Python find nothing compiled yet."""
    with TemporaryDirectory() as folder:
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = folder
        sys.dont_write_bytecode = False
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        yield


async def _row(name: str, case: str, query: str, end: float) -> Row:
    """Compare a query's answers, then its times."""
    text = query.replace("{end}", f"{end:.0f}")
    ours, other = await asyncio.to_thread(_ours, text), await asyncio.to_thread(_bare, text)
    assert len(ours.rows) == len(other), case
    return Row.of(name, case, *await _alternate(lambda: _ours(text), lambda: _bare(text)), goal=None)


def _ours(text: str) -> Answer:
    return query_database(Database(url=f"sqlite:///{DATABASE}"), text, {}, _EXPOSED, _EXPOSED)


def _bare(text: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"{DATABASE.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(text).fetchall()


async def _alternate(*kinds: Callable[[], object]) -> list[float]:
    """Return the median time of each kind, in milliseconds."""
    found: list[list[float]] = [[] for _ in kinds]
    for number in range(_RUNS):
        order = list(range(len(kinds)))
        for index in order if number % 2 else reversed(order):
            found[index].append(await asyncio.to_thread(_timed, kinds[index]))
    return [median(times) for times in found]


def _timed(kind: Callable[[], object]) -> float:
    start = perf_counter()
    kind()
    return (perf_counter() - start) * 1000


async def _pause(text: str, pauses: list[float]) -> float:
    """Return how long a query holds the event loop: what comes back in every run, unlike what else the machine does."""
    found = []
    for _ in range(_RUNS):
        pauses.clear()
        await asyncio.to_thread(_ours, text)
        await asyncio.sleep(0.01)
        found.append(max(pauses))
    return min(found)


async def _watch(pauses: list[float]) -> None:
    """Note how long the event loop stands still."""
    while True:
        before = perf_counter()
        await asyncio.sleep(0.001)
        pauses.append(perf_counter() - before - 0.001)

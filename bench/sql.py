# ruff: noqa: S608 - the queries are constants
"""Questions in SQL through query_database and bare through SQLite, on a database of ten million rows, a quarter exposed."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
import os
from pathlib import Path
import sqlite3
from statistics import median
from time import perf_counter
from typing import Any

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context
from homeassistant.helpers import llm

from .database import DATABASE, SENSOR, SENSORS, ensure_database
from .hass import running_home_assistant
from .table import Row

_RUNS = 5
_EXPOSED = 44
_MILLION = timedelta(days=11.8)
"""Holds just below a million rows of what is exposed."""
_WEEK = timedelta(days=7)
_PAUSE = 20.0
"""Milliseconds that the event loop may stand still."""
_OWN_MEMORY = 5.0
_WORKER_MEMORY = 256.0
_QUESTIONS = {
    "average": "SELECT avg(CAST(state AS REAL)) AS v FROM states",
    "hours of the day": "SELECT strftime('%H', last_updated_ts, 'unixepoch') AS h, avg(CAST(state AS REAL)) AS v FROM states "
    "GROUP BY h ORDER BY h",
    "largest step": "SELECT max(step) AS v FROM (SELECT abs(CAST(state AS REAL) - lag(CAST(state AS REAL)) "
    "OVER (ORDER BY last_updated_ts)) AS step FROM states)",
    "days": "SELECT date(last_updated_ts, 'unixepoch') AS d, min(CAST(state AS REAL)), max(CAST(state AS REAL)) FROM states "
    "GROUP BY d ORDER BY d",
}
_CONFIGURATION = f"""
homeassistant:
  time_zone: Europe/Berlin
recorder:
  db_url: sqlite:///{DATABASE}
  auto_purge: false
  purge_keep_days: 400
"""

type Ask = Callable[..., Awaitable[str]]


async def run() -> list[Row]:
    """Measure filling, asking and asking again, ours and theirs in turns, while the event loop is watched."""
    moment = datetime.fromtimestamp(await asyncio.to_thread(ensure_database), UTC)
    pauses: list[float] = []
    async with _home() as ask:
        watcher = asyncio.create_task(_watch(pauses))
        start = perf_counter()
        await ask("SELECT 1", entities=[SENSOR], start=_text(moment - _WEEK), end=_text(moment))
        first = _since(start)
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # The peak so far is that of building.
        own = _memory(os.getpid(), "VmRSS")
        longest = []
        for number in range(_RUNS):
            pauses.clear()
            await _ask_a_million(ask, moment - timedelta(minutes=number), moment)
            longest.append(max(pauses))
        own = _memory(os.getpid(), "VmHWM") - own
        worker = max(_memory(pid, "VmHWM") for pid in _worker_pids())
        watcher.cancel()
        filling = await _filling(ask, moment)
        asking = await _asking(ask, moment)
        refused = await _refusing(ask, moment)
    return [
        *filling,
        *asking,
        Row.of("refusing ten million rows", "milliseconds; other: a second", refused, 1000.0, goal=1.0),
        Row.of("first call", "milliseconds with the start of the process; other: a second", first, 1000.0, goal=1.0),
        Row.of("memory, MB", "more in Home Assistant; other: the goal", own, _OWN_MEMORY, goal=1.0),
        Row.of("memory, MB", "of the worker at most; other: the goal", worker, _WORKER_MEMORY, goal=1.0),
        Row.of(
            "longest pause of the event loop",
            "median of runs; other: the goal",
            median(longest) * 1000,
            _PAUSE,
            goal=1.0,
        ),
    ]


@asynccontextmanager
async def _home() -> AsyncGenerator[Ask]:
    """Run Home Assistant with what is in the database, and yield what asks it."""
    os.setpriority(os.PRIO_PROCESS, 0, 10)  # As the worker: what else the machine does must slow down both.
    async with running_home_assistant(_CONFIGURATION) as hass:
        for index in range(1, SENSORS + 1):
            entity_id = SENSOR if index == 1 else f"sensor.number_{index}"
            hass.states.async_set(entity_id, "20", {"unit_of_measurement": "°C", "state_class": "measurement"})
            async_expose_entity(hass, "conversation", entity_id, index <= _EXPOSED)
        await hass.async_block_till_done()
        # Home Assistant loads the integration under this name; imported before that, it would be another one.
        from custom_components.extended_assist.tools.database import QueryDatabaseTool  # noqa: PLC0415

        context = llm.LLMContext(
            platform="bench", context=Context(), language="en", assistant="conversation", device_id=None
        )

        async def ask(query: str, *, error: bool = False, **arguments: Any) -> str:
            tool = QueryDatabaseTool()
            given = llm.ToolInput(tool.name, {"query": query, **arguments})
            result = await tool.async_call(hass, given, context)
            assert result.error is error, result.data
            return str(result.data["error" if error else "result"])

        yield ask


async def _ask_a_million(ask: Ask, start: datetime, end: datetime) -> str:
    """Ask about a million rows."""
    return await ask("SELECT count(*) AS n FROM states", start=_text(start - _MILLION), end=_text(end))


async def _filling(ask: Ask, moment: datetime) -> list[Row]:
    """Fill a million rows, from a warm page cache and from a cold one."""
    numbers, rows = count(), []
    for case, cold in (("warm", False), ("cold", True)):
        ours: list[float] = []
        bare: list[float] = []
        for _ in range(2 if cold else _RUNS):
            # Another span each time, so that nothing serves twice.
            begin = moment + timedelta(seconds=next(numbers))
            await asyncio.to_thread(_evict, cold)
            start = perf_counter()
            found = await _ask_a_million(ask, begin, moment)
            ours.append(_since(start))
            await asyncio.to_thread(_evict, cold)
            with closing(_connected()) as connection:
                bare.append(
                    await asyncio.to_thread(_timed, partial(_copy, connection, _EXPOSED, begin - _MILLION, moment))
                )
                (number,) = connection.execute("SELECT count(*) FROM states").fetchone()
            assert found.split()[-1] == str(number), (found, number)
        rows.append(
            Row.of(
                "a million rows", f"{case}; other: bare copy", median(ours), median(bare), goal=None if cold else 3.0
            )
        )
    return rows


async def _asking(ask: Ask, moment: datetime) -> list[Row]:
    """Ask about a week of one entity, with the filling and without."""
    numbers = count()
    rows, again = [], []
    for case, question in _QUESTIONS.items():
        times: list[list[float]] = [[], [], [], []]
        for _ in range(_RUNS * 3):
            begin = moment - _WEEK + timedelta(seconds=next(numbers))
            asked = {"entities": [SENSOR], "start": _text(begin), "end": _text(moment)}
            start = perf_counter()
            await ask(question, **asked)
            times[0].append(_since(start))
            with closing(_connected()) as connection:
                times[1].append(
                    await asyncio.to_thread(_timed, partial(_copy_and_ask, connection, begin, moment, question))
                )
                for _ in range(2):
                    start = perf_counter()
                    await ask(question, **asked)
                    times[2].append(_since(start))
                    times[3].append(await asyncio.to_thread(_timed, partial(_ask_bare, connection, question)))
        first, bare, later, bare_later = map(median, times)
        rows.append(Row.of("a week of one entity", f"{case}; other: bare copy and query", first, bare, goal=2.0))
        again.append(Row.of("the same data again", f"{case}; other: bare query", later, bare_later, goal=None))
    ratio = median(row.ratio for row in again)
    return [*rows, *again, Row.of("the same data again", "median ratio", ratio, 1.0, goal=1.2)]


async def _refusing(ask: Ask, moment: datetime) -> float:
    """Return how long it takes to refuse all rows there are."""
    start = perf_counter()
    begin = moment - timedelta(days=31)
    assert "more than 1,000,000 rows" in await ask("SELECT * FROM states", error=True, start=_text(begin))
    return _since(start)


def _connected() -> sqlite3.Connection:
    """Return an empty database of SQLite beside the recorder's."""
    connection = sqlite3.connect("", uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("ATTACH ? AS recorder", (f"{DATABASE.as_uri()}?mode=ro",))
    return connection


def _copy(connection: sqlite3.Connection, entities: int, start: datetime, end: datetime) -> None:
    """Copy as anybody would."""
    connection.execute(
        "CREATE TABLE states AS SELECT * FROM recorder.states WHERE metadata_id IN "
        f"({', '.join(str(each) for each in range(1, entities + 1))}) AND last_updated_ts >= ? AND last_updated_ts < ?",
        (start.timestamp(), end.timestamp()),
    )


def _ask_bare(connection: sqlite3.Connection, question: str) -> None:
    connection.execute(question).fetchall()


def _copy_and_ask(connection: sqlite3.Connection, start: datetime, end: datetime, question: str) -> None:
    _copy(connection, 1, start, end)
    _ask_bare(connection, question)


def _evict(wanted: bool) -> None:
    """Let the system forget what it keeps of the file."""
    if wanted:
        for path in DATABASE.parent.glob(f"{DATABASE.name}*"):
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _text(moment: datetime) -> str:
    return moment.isoformat()


def _since(start: float) -> float:
    return (perf_counter() - start) * 1000


def _timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return _since(start)


def _memory(pid: int, what: str) -> float:
    """Return megabytes of a process."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


def _worker_pids() -> list[int]:
    """Return the processes that were started from this one and run the worker."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8").split()
    return [int(pid) for pid in children if b"worker.process" in Path(f"/proc/{pid}/cmdline").read_bytes()]


async def _watch(pauses: list[float]) -> None:
    """Note how long the event loop stands still."""
    while True:
        before = perf_counter()
        await asyncio.sleep(0.001)
        pauses.append(perf_counter() - before - 0.001)

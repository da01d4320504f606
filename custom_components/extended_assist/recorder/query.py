"""A query of the model's own, on a private database that holds exposed rows of the recorder and nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
import re
from secrets import token_hex
from time import monotonic
from typing import Any, Final, Self

from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..exposure.entities import ExposedEntity, Exposure
from ..exposure.fixed_values import may_have_free_states
from ..results import FreeTextError, ToolError, format_number
from ..worker.copy_rows import BROKEN_FILE
from ..worker.host import JobFailedError, Worker, pack_job, workers
from ..worker.tables import ATTRIBUTES, ROW_TABLES, STATES, Share
from . import log_unreadable, ready_recorder
from .query_hints import hint
from .servers import Streamed, TooManyRowsError, stream_rows

TIME_LIMIT: Final = 5.0
"""Seconds after which a query is given up."""
FILL_LIMIT: Final = 45.0
"""Seconds that copying may take."""
MAX_FILLED: Final = 1_000_000
"""Rows that are copied for a question."""
MAX_QUERY: Final = 10_000
"""Characters of a query."""
MAX_ROWS: Final = 2_000
"""Rows that are looked at; no budget has room for more."""
FRESH_SECONDS: Final = 60.0
"""Seconds in which what was copied serves further questions."""
_MAX_CHARACTERS: Final = 400_000
_MAX_TEXT: Final = 2_000
"""Characters of one value."""
_LARGE: Final = 1_000_000
"""Numbers from here on keep their thousandths: they may be moments."""
_FEW: Final = 100
"""Rows that are written out at once; more are in a thread."""
_BEGIN_LIMIT: Final = 10.0
_GRACE: Final = 1.0
_ATTRIBUTES_WANTED = re.compile(r"\b(?:state_attributes|attributes_id)\b", re.IGNORECASE)

type Described = tuple[str, str, str]
"""An id, its name and its area."""
_PLAIN_FUNCTIONS: Final = frozenset(
    {
        *("abs", "acos", "asin", "atan", "atan2", "avg", "ceil", "ceiling", "coalesce", "cos", "count", "cume_dist"),
        *("current_date", "current_time", "current_timestamp", "date", "datetime", "degrees", "dense_rank", "exp"),
        *("first_value", "floor", "glob", "ifnull", "iif", "if", "json", "json_extract", "->", "->>", "json_type"),
        *("julianday", "lag", "last_value", "lead", "like", "ln", "log", "log10", "log2", "lower", "max", "median"),
        *("min", "mod", "nth_value", "ntile", "nullif", "percent_rank", "pi", "pow", "power", "printf", "radians"),
        *("rank", "replace", "round", "row_number", "sign", "sin", "sqrt", "strftime", "substr", "substring", "sum"),
        *("tan", "time", "timediff", "total", "trim", "ltrim", "rtrim", "trunc", "typeof", "unixepoch", "upper"),
        *("group_concat", "string_agg", "concat", "concat_ws", "format"),
    }
)
"""Functions that make no numbers of the letters of a text: what they make of free text is a text that is not fixed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """What a question may see: these entities and statistics within a span, and nothing that names a hidden entity."""

    entities: Sequence[Described]
    statistics: Sequence[Described]
    exposed: Sequence[str]
    """All exposed entities, which attributes may name."""
    hidden: Sequence[str]
    start: float
    end: float
    scope: str
    """The span as it was asked for, and the conversation that asks: both stay the same while the clock moves."""

    def same(self, other: Self) -> bool:
        """Return whether the same may be seen, but for the moments that have passed."""
        return (self.scope, self.entities, self.statistics, self.exposed, self.hidden) == (
            *(other.scope, other.entities, other.statistics, other.exposed, other.hidden),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The rows of a query."""

    header: tuple[str, ...]
    rows: list[list[Any]]
    complete: bool
    """Whether there are no more rows."""
    functions: frozenset[str] = frozenset()
    """The functions that the query used, and behind a dot the columns that it read and that hold text."""

    def reads_free_text(self, hass: HomeAssistant, entities: Iterable[ExposedEntity]) -> bool:
        """Return whether a query on some entities may have made something of free text.

        It did if it read attributes, or states of which some are free, or used a function that can make numbers of letters.
        """
        if ".shared_attrs" in self.functions or not self.functions <= _PLAIN_FUNCTIONS | {".state"}:
            return True
        return ".state" in self.functions and any(may_have_free_states(hass, entity.state) for entity in entities)


@dataclass(frozen=True, slots=True)
class _Held:
    """What a worker's database was filled with."""

    url: str
    time_zone: str
    seen: Visible
    tables: frozenset[str]
    since: float
    key: str
    """What the worker knows it by."""

    def serves(self, held: object) -> bool:
        """Return whether what a worker holds serves for this."""
        return (
            isinstance(held, _Held)
            and held.tables >= self.tables
            and self.since - held.since < FRESH_SECONDS
            and (held.url, held.time_zone) == (self.url, self.time_zone)
            and held.seen.same(self.seen)
        )


@callback
def visible(
    exposure: Exposure,
    *,
    start: float,
    end: float,
    scope: str,
    entities: Iterable[ExposedEntity] | None = None,
    external_statistics: Iterable[str] | None = None,
) -> Visible:
    """Return the scope of a question: some of the exposed entities, or all of them."""
    chosen = sorted(
        {
            (each.entity_id, each.name, each.area)
            for each in (exposure.entities.values() if entities is None else entities)
        }
    )
    external = exposure.external_statistics if external_statistics is None else external_statistics
    return Visible(
        entities=chosen,
        # The statistics of an entity have its id.
        statistics=[*chosen, *((statistic_id, statistic_id, "") for statistic_id in sorted(external))],
        exposed=sorted(exposure.ids),
        hidden=sorted(exposure.hidden_ids()),
        start=start,
        end=end,
        scope=scope,
    )


async def async_query(
    hass: HomeAssistant, seen: Visible, text: str, parameters: Mapping[str, Any], *, as_text: bool = True
) -> Answer:
    """Return the rows that a query finds; values come as the model reads them, or as they are.

    Raises ToolError with a sentence that teaches, whatever is not possible.
    """
    url = ready_recorder(hass).db_url
    recorder_uri(url)  # Raises where it is out of reach.
    wanted = _Held(url, hass.config.time_zone, seen, _tables(text), monotonic(), token_hex(8))
    filled = False
    try:
        async with workers(hass).lease(wanted.serves) as worker:
            held = worker.holds
            if not (isinstance(held, _Held) and wanted.serves(held)):
                worker.holds = None
                await _async_fill(hass, worker, wanted)
                worker.holds = held = wanted
            filled = True
            found = await worker.request(
                "query", TIME_LIMIT + _GRACE, key=held.key, text=text, parameters=dict(parameters), **bounds()
            )
    except JobFailedError as err:
        raise explained(str(err), text) if filled else _not_filled(str(err)) from err
    except TimeoutError as err:
        raise _too_slow() if filled else _not_filled(f"it took longer than {FILL_LIMIT:g} seconds") from err
    rows = found["rows"]
    if as_text:
        rows = _shown_rows(rows) if len(rows) <= _FEW else await hass.async_add_executor_job(_shown_rows, rows)
    return Answer(
        header=tuple(found["columns"]), rows=rows, complete=found["complete"], functions=frozenset(found["functions"])
    )


def bounds(longest: int = _MAX_TEXT) -> dict[str, Any]:
    """Return how much of a result leaves the worker."""
    return {
        "seconds": TIME_LIMIT,
        "most_rows": MAX_ROWS,
        "most_characters": _MAX_CHARACTERS,
        "longest": longest,
    }


_BEFORE_IT_RUNS: Final = (
    *("ambiguous column", "no such", "near ", "unrecognized token", "wrong number of arguments", "not authorized"),
    *("incomplete input", "misuse of", "it has no result", "access to ", "too many", "parser stack", "expression tree"),
    *("SELECTs to the left", "a GROUP BY", "ORDER BY", "aggregate", "sub-select", "You did not supply", "row value"),
    *("You can only execute one", "interrupted", "integer overflow", "string or blob too big", "table "),
)
_OF_THE_QUERY: Final = ("syntax error", "is prohibited", "may not be used")


def explained(problem: str, query: str) -> ToolError:
    """Return the error for a query that cannot be run; SQLite's own words can only tell of what it may see."""
    if problem.startswith("stopped after"):
        return _too_slow()
    # SQLite names values only where it fails while it runs; before that, it repeats the query.
    failed = ToolError if problem.startswith(_BEFORE_IT_RUNS) or problem.endswith(_OF_THE_QUERY) else FreeTextError
    return failed(f"The query cannot be run: {problem}.{hint(problem, query)}")


def clock(hass: HomeAssistant) -> dict[str, Any]:
    """Return the local time as the worker has to know it."""
    offset = dt_util.now(dt_util.get_time_zone(hass.config.time_zone)).utcoffset()
    return {"time_zone": hass.config.time_zone, "utc_offset": round(offset.total_seconds()) if offset else 0}


@lru_cache(maxsize=2)
def recorder_uri(url: str) -> str | None:
    """Return the address of the recorder's file, only to be read; None where it is on a server."""
    parsed = make_url(url)
    if not parsed.drivername.startswith("sqlite"):
        return None
    if not parsed.database or parsed.database == ":memory:":
        raise ToolError("The recorder keeps its database in memory, where queries cannot reach it. Tell the user.")
    return f"{Path(parsed.database).absolute().as_uri()}?mode=ro"


def _tables(text: str) -> frozenset[str]:
    """Return the large tables that a query names: others it cannot read."""
    named = {name for name in ROW_TABLES if re.search(rf"\b{name}(?:_rows)?\b", text, re.IGNORECASE)}
    return frozenset(named | {STATES.name, ATTRIBUTES} if _ATTRIBUTES_WANTED.search(text) else named)


async def _async_fill(hass: HomeAssistant, worker: Worker, wanted: _Held) -> None:
    """Fill a worker's database, in steps that hold nothing up."""
    seen = wanted.seen
    asked = {
        "entities": seen.entities,
        "statistics": seen.statistics,
        "exposed": seen.exposed,
        "hidden": seen.hidden,
        **clock(hass),
    }
    begin = await hass.async_add_executor_job(pack_job, "begin", _BEGIN_LIMIT, asked)
    await worker.request_packed(begin, _BEGIN_LIMIT)
    share = Share(
        tables=tuple(table for name, table in ROW_TABLES.items() if name in wanted.tables),
        span=(seen.start, seen.end),
        most_rows=MAX_FILLED,
        attributes=ATTRIBUTES in wanted.tables,
    )
    if uri := recorder_uri(wanted.url):
        copied = share._asdict() | {"tables": [table.name for table in share.tables]}
        await worker.request("copy", FILL_LIMIT, uri=uri, **copied)
    else:
        await _async_stream(hass, worker, wanted, share)
    await worker.request("finish", FILL_LIMIT, key=wanted.key)


async def _async_stream(hass: HomeAssistant, worker: Worker, asked: _Held, share: Share) -> None:
    """Hand over what a server has, one bounded step after the other."""
    end = monotonic() + FILL_LIMIT
    seen = asked.seen
    wanted = {"states_meta": {row[0] for row in seen.entities}, "statistics_meta": {row[0] for row in seen.statistics}}
    rows = Streamed(stream_rows(asked.url, wanted, share, FILL_LIMIT))
    try:
        while part := await hass.async_add_executor_job(rows.next):
            if monotonic() > end:
                raise TimeoutError
            await worker.request_packed(await hass.async_add_executor_job(_packed, *part), _BEGIN_LIMIT)
    except TooManyRowsError as err:
        raise _not_filled(f"more than {MAX_FILLED:,} rows would have to be copied") from err
    except SQLAlchemyError as err:
        log_unreadable(err)
        raise ToolError(
            "The recorder's database could not be read; the details are in Home Assistant's log. Tell the user."
        ) from err
    finally:
        with suppress(RuntimeError):  # Nothing can be handed to a thread any more when Home Assistant has stopped.
            hass.async_add_executor_job(rows.close)


def _packed(table: str, rows: list[tuple[Any, ...]]) -> bytes:
    """Return rows as they are handed over."""
    return pack_job("add", _BEGIN_LIMIT, {"table": table, "rows": rows})


def _too_slow() -> ToolError:
    return ToolError(
        f"The query was stopped after {TIME_LIMIT:g} seconds. Narrow it: join on metadata_id, aggregate before joining, or "
        "name fewer entities or a shorter span."
    )


def _not_filled(problem: str) -> ToolError:
    """Return the error for rows that cannot be copied."""
    if problem.startswith(BROKEN_FILE):
        return ToolError(f"The rows for this query were not copied: {problem}. Tell the user.")
    return ToolError(
        f"The rows for this query were not copied: {problem}. Narrow it: name the entities that it is about, or a shorter "
        "span (start and end, or hours), or use statistics instead of states."
    )


def _shown_rows(rows: list[list[Any]]) -> list[list[str]]:
    return [[shown(value) for value in row] for row in rows]


def shown(value: Any) -> str:
    """Return a value as the model reads it: numbers with six significant digits, moments to the millisecond."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            if value.is_integer() and abs(value) < 1e15:
                return str(int(value))
            return f"{value:.3f}".rstrip("0") if _LARGE <= abs(value) < 1e15 else format_number(value)
        case _:
            return str(value)

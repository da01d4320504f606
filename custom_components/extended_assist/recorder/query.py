"""A query of the model's own on the recorder's database, bounded by exposure."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
import sqlite3
from time import monotonic
from typing import Any, Final

from sqlalchemy.exc import DBAPIError

from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.recorder import get_instance
from homeassistant.util import dt as dt_util

from ..results import ToolError, format_number
from .servers import ServerReader, explain_server, open_server
from .sql import prepare
from .sqlite import SQLiteReader, explain_sqlite, open_sqlite

TIME_LIMIT = 5.0
"""Seconds after which the engine gives a query up."""
MAX_QUERY = 10_000
"""Characters of a query."""
MAX_ROWS = 2_000
"""Rows that are looked at; no budget has room for more."""
_MAX_TEXT: Final = 2_000
"""Characters of one value."""
_LARGE: Final = 1_000_000
"""Numbers from here on keep their thousandths: they may be moments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The rows of a query."""

    header: tuple[str, ...]
    rows: list[list[Any]]
    complete: bool
    """Whether there are no more rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Where the recorder's database is, and what its local time is."""

    url: str
    time_zone: str = "UTC"
    utc_offset: timedelta = timedelta()


def run_query(
    hass: HomeAssistant,
    query: str,
    parameters: Mapping[str, Any],
    entity_ids: Collection[str],
    statistic_ids: Collection[str],
    *,
    as_text: bool = True,
) -> Answer:
    """Run a query on the recorder's database; values come as the model reads them, or as the database has them."""
    database = Database(
        url=get_instance(hass).db_url,
        time_zone=hass.config.time_zone,
        utc_offset=dt_util.now().utcoffset() or timedelta(),
    )
    return query_database(database, query, parameters, entity_ids, statistic_ids, as_text=as_text)


def query_database(
    database: Database,
    query: str,
    parameters: Mapping[str, Any],
    entity_ids: Collection[str],
    statistic_ids: Collection[str],
    *,
    as_text: bool = True,
) -> Answer:
    """Run a query that sees the rows of some entities and statistics only.

    Raises ToolError, with the place in the query where that is known, for whatever is not allowed or fails.
    """
    end = monotonic() + TIME_LIMIT
    prepare()
    from .sql.dialects import RULES  # noqa: PLC0415 - few use this tool, and what it needs (sqlglot) takes long to load
    from .sql.parse import parse  # noqa: PLC0415 - the same
    from .sql.writer import Writer  # noqa: PLC0415 - the same

    end = max(end, monotonic() + TIME_LIMIT / 2)
    try:
        with _open(database, end) as reader:
            rules = RULES[reader.name]
            tree = parse(query, rules)
            reader.expose(
                {
                    "states": _ids(reader.names("states_meta", "entity_id"), entity_ids),
                    "statistics": _ids(reader.names("statistics_meta", "statistic_id"), statistic_ids),
                },
                rules.functions,
            )
            writer = Writer(rules, parameters, reader.view, lambda text, bound: list(reader.rows(text, bound)))
            written = writer.statement(tree, MAX_ROWS + 1)
            found = reader.rows(written.text, writer.bound)
            rows = [[_shown(value) for value in row] if as_text else list(row) for row in found]
    except TimeoutError:
        problem = None
    except RecursionError:
        problem = "it is nested too deeply"
    except sqlite3.Error as err:
        problem = explain_sqlite(err)
    except DBAPIError as err:
        problem = explain_server(err)
    else:
        return Answer(header=written.header, rows=rows[:MAX_ROWS], complete=len(rows) <= MAX_ROWS)
    if problem is None:
        raise ToolError(
            f"The query was stopped after {TIME_LIMIT:g} seconds. Narrow it: one entity, a span of last_updated_ts or "
            "start_ts, statistics instead of states; and join on metadata_id."
        )
    raise ToolError(f"The query cannot be run: {problem}.")


def _open(database: Database, end: float) -> AbstractContextManager[SQLiteReader | ServerReader]:
    """Return a reader of a database."""
    if database.url.startswith("sqlite"):
        return open_sqlite(database.url, end)
    minutes = round(database.utc_offset.total_seconds() / 60)
    offset = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    return open_server(database.url, end, database.time_zone, offset)


def _ids(names: list[tuple[int, str]], exposed: Collection[str]) -> list[int]:
    """Return the ids of exposed names."""
    return [number for number, name in names if name in exposed]


def _shown(value: Any) -> str:
    """Return a value as the model reads it: numbers with six significant digits, moments to the millisecond."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() | Decimal():
            number = float(value)
            if number.is_integer() and abs(number) < 1e15:
                return str(int(number))
            return f"{number:.3f}".rstrip("0") if _LARGE <= abs(number) < 1e15 else format_number(number)
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds")
        case date() | time():
            return value.isoformat()
        case bytes() | memoryview():
            text = bytes(value).hex()
        case dict() | list():
            text = json_dumps(value)
        case _:
            text = str(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]} … [{len(text) - _MAX_TEXT} more characters]"

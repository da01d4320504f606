"""Queries that a user wrote, on one file or on the recorder's server; a model only supplies values."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
import re
from typing import Any, Final

from sqlalchemy import text as sql
from sqlalchemy.exc import DBAPIError

from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_dumps

from ..const import LOGGER
from ..results import ToolError, round_second
from ..worker.host import JobFailedError, workers
from ..worker.run_query import with_views
from .engine import POSTGRESQL, engine_of
from .query import MAX_ROWS, TIME_LIMIT, Answer, Visible, bounds, clock, explained
from .servers import read_only

_GRACE: Final = 2.0
_LONGEST: Final = 20_000
"""The most characters of one value."""
_NAMED: Final = re.compile(r"(?<![:\w]):(\w+)")


async def async_ask_file(
    hass: HomeAssistant, uri: str, text: str, parameters: Mapping[str, Any], visible: Visible | None = None
) -> Answer:
    """Return the rows of a query on one file, run in a new process that can open no other file.

    With `visible`, the file is the recorder's, and its tables are views of the exposed rows.
    """
    views = _views("main.", visible, "visible_attributes(shared_attrs)") if visible else {}
    try:
        async with workers(hass).lease(keep=False) as worker:
            found = await worker.request(
                "read",
                TIME_LIMIT + _GRACE,
                uri=uri,
                text=text,
                parameters=dict(parameters),
                views=[f"CREATE TEMP VIEW {name} AS {query}" for name, query in views.items()],
                hidden=visible.hidden if visible else (),
                **clock(hass),
                **bounds(_LONGEST),
            )
    except JobFailedError as err:
        raise explained(str(err), text) from err
    except TimeoutError as err:
        raise explained("stopped after", text) from err
    return Answer(header=tuple(found["columns"]), rows=found["rows"], complete=found["complete"])


def ask_server(url: str, text: str, parameters: Mapping[str, Any], visible: Visible, zone: Mapping[str, Any]) -> Answer:
    """Return the rows of a query on the recorder's server, in its own dialect, through views; call it in an executor."""
    try:
        with read_only(url, TIME_LIMIT) as connection:
            if engine_of(connection) is POSTGRESQL:
                connection.execute(sql("SELECT set_config('timezone', :zone, true)"), {"zone": zone["time_zone"]})
                where = "SELECT quote_ident(nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('states')"
                base = f"{connection.execute(sql(where)).scalar_one()}."
            else:
                hours, minutes = divmod(abs(zone["utc_offset"]) // 60, 60)
                offset = f"{'-' if zone['utc_offset'] < 0 else '+'}{hours:02}:{minutes:02}"
                connection.execute(sql("SET SESSION time_zone = :offset"), {"offset": offset})
                base = f"`{connection.engine.url.database}`."
            result = connection.execute(
                sql(_bound(with_views(text, _views(base, visible)), parameters)),
                dict(parameters),
                execution_options={"stream_results": True, "max_row_buffer": 100},
            )
            if not result.returns_rows:
                raise ToolError("The query cannot be run: it has no result; write one SELECT.")
            rows = [[_plain(value) for value in row] for row in result.fetchmany(MAX_ROWS + 1)]
            connection.invalidate()  # A driver would read the rest of the result before it is used again.
            return Answer(header=tuple(result.keys()), rows=rows[:MAX_ROWS], complete=len(rows) <= MAX_ROWS)
    except DBAPIError as err:
        LOGGER.debug("A query of a function failed", exc_info=err)
        raise ToolError(f"The query cannot be run: {_problem(err)}.") from err


def _views(base: str, visible: Visible, attributes: str = "shared_attrs") -> dict[str, str]:
    """Return the views of the exposed rows."""
    entities, statistics = ([row[0] for row in rows] for rows in (visible.entities, visible.statistics))
    return exposed_views(base, entities, statistics, attributes)


def _bound(text: str, parameters: Mapping[str, Any]) -> str:
    """Return a query in which only names with a value are placeholders."""
    return _NAMED.sub(lambda match: match[0] if match[1] in parameters else f"\\{match[0]}", text)


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    match value:
        case Decimal():
            return float(value)
        case datetime():
            with suppress(OverflowError):  # The end of time is a common way to say "never".
                value = round_second(value)
            return value.isoformat(sep=" ", timespec="seconds")
        case date() | time() | timedelta():
            return str(value)
        case bytes() | memoryview():
            return bytes(value).hex()[:_LONGEST]
        case dict() | list():
            return json_dumps(value)[:_LONGEST]
        case str():
            return value[:_LONGEST]
        case _:
            return value


def _problem(err: DBAPIError) -> str:
    """Return the error of a query; a server's message is only included if it is about the query and not about rows."""
    original: Any = err.orig
    code = getattr(original, "pgcode", None) or (original.args[0] if original and original.args else None)
    if code in ("57014", 1969, 3024):
        return f"stopped after {TIME_LIMIT:g} seconds; ask for less"
    if code == "25006" or code == 1792:  # noqa: PLR1714 - two servers
        return "it would change something; only SELECT is allowed"
    if str(code).startswith("42"):
        return str(getattr(original.diag, "message_primary", None) or "the server does not understand it")
    if code in (1054, 1064, 1146):
        return str(original.args[1])
    return f"the server gave it up with code {code}; debug logging tells more"


_STATISTICS: Final = (
    "id, metadata_id, start_ts, start_ts AS start, mean, min, max, state, sum, last_reset_ts, created_ts"
)
_STATES: Final = (
    "state_id, metadata_id, state, last_updated_ts, last_updated_ts AS last_updated, last_changed_ts, "
    "last_changed_ts AS last_changed, last_reported_ts, old_state_id, attributes_id"
)


def exposed_views(
    base: str, entity_ids: Collection[str], statistic_ids: Collection[str], attributes: str = "shared_attrs"
) -> dict[str, str]:
    """Return the SELECT of each view; `base` is the prefix of the recorder's own tables."""
    entities = f"SELECT metadata_id FROM {base}states_meta WHERE entity_id IN ({_texts(entity_ids)})"  # noqa: S608 - quoted
    statistics = f"SELECT id FROM {base}statistics_meta WHERE statistic_id IN ({_texts(statistic_ids)})"  # noqa: S608 - quoted
    states = f"FROM {base}states WHERE metadata_id IN ({entities})"
    return {
        "states_meta": f"SELECT metadata_id, entity_id FROM {base}states_meta WHERE entity_id IN ({_texts(entity_ids)})",  # noqa: S608 - quoted
        "states": f"SELECT {_STATES} {states}",
        "state_attributes": f"SELECT attributes_id, {attributes} AS shared_attrs FROM {base}state_attributes "  # noqa: S608 - quoted
        f"WHERE attributes_id IN (SELECT attributes_id {states})",
        "statistics_meta": f"SELECT * FROM {base}statistics_meta WHERE statistic_id IN ({_texts(statistic_ids)})",  # noqa: S608 - quoted
        "statistics": f"SELECT {_STATISTICS} FROM {base}statistics WHERE metadata_id IN ({statistics})",  # noqa: S608 - quoted
        "statistics_short_term": f"SELECT {_STATISTICS} FROM {base}statistics_short_term WHERE metadata_id IN ({statistics})",  # noqa: S608 - quoted
    }


def _texts(ids: Collection[str]) -> str:
    """Return ids as a list of SQL literals; an id with a quote or a backslash is left out."""
    return ", ".join(f"'{each}'" for each in sorted(ids) if "'" not in each and "\\" not in each) or "NULL"

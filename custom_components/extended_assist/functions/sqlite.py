"""Functions that are a query: on the recorder, bounded by exposure, or on another file that the options list."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
import re
import sqlite3
from time import monotonic
from typing import Any, Final, override
from urllib.parse import unquote

from sqlalchemy import make_url
import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv

from ..const import LOGGER
from ..recorder import async_read, ready_recorder
from ..recorder.query import MAX_ROWS, TIME_LIMIT, run_query
from ..recorder.sqlite import connect_read_only, explain_sqlite
from ..results import ToolError
from .kinds import Kind, Run, kind
from .rendering import async_check_template, async_render_pieces
from .sql import Query, only_value, to_sql

_ANY_QUERY = "{{ query }}"
_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_STATES = re.compile(r"\bstates\s+(?:as\s+)?(\w+)", re.IGNORECASE)
_OLD_COLUMN = re.compile(r"\b(\w+)\.last_(?:updated|changed)\b", re.IGNORECASE)
_REFUSED_FUNCTIONS: Final = frozenset({"load_extension", "fts3_tokenizer"})
_NOT_LISTED = "This function reads a database file that the options of Extended Assist do not list. Tell the user to add it there."

type Rows = list[dict[str, Any]]


@kind("sqlite")
class SqliteKind(Kind):
    """Runs one SELECT."""

    schema = vol.Schema(
        {
            vol.Optional("query", default=_ANY_QUERY): cv.string,
            vol.Optional("db_url"): cv.string,
            vol.Optional("single", default=False): cv.boolean,
        }
    )

    @override
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Compile the template of the query."""
        await async_check_template(hass, settings["query"], ["query"])

    @override
    async def async_run(self, run: Run, settings: Mapping[str, Any]) -> Any:
        """Return the rows, or the first of them."""
        pieces = await async_render_pieces(run, settings["query"])
        whole = only_value(pieces)
        query = Query(whole, {}) if whole is not None else to_sql(pieces, run.words)
        if not query.text.strip():
            raise ToolError("The query is empty. Give one.")
        other = await run.hass.async_add_executor_job(_other_file, run, settings.get("db_url"))
        if other is None:
            rows = await _async_read_recorder(run, query)
        else:
            rows = await run.hass.async_add_executor_job(_read_file, other, query)
        if settings["single"]:
            return rows[0] if rows else None
        return rows


def _other_file(run: Run, url: str | None) -> Path | None:
    """Return the file of a database that is not the recorder's; raise ToolError where the options do not list it."""
    if url is None:
        return None
    path = _path(run.hass, url)
    if (recorder := make_url(ready_recorder(run.hass).db_url)).drivername.startswith("sqlite") and recorder.database:
        if path == Path(recorder.database).resolve():
            return None
    elif path == Path(run.hass.config.path("home-assistant_v2.db")).resolve():
        return None
    if path not in {_path(run.hass, listed) for listed in run.call.options.database_files}:
        raise ToolError(_NOT_LISTED)
    return path


def _path(hass: HomeAssistant, url: str) -> Path:
    """Return the file that an address of a database means; relative to the configuration's directory."""
    text = url.partition("?")[0]
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    elif text.startswith("file:"):
        text = unquote(text.removeprefix("file:"))
        text = f"/{text.lstrip('/')}" if text.startswith("/") else text
    return Path(hass.config.path(text)).resolve()


async def _async_read_recorder(run: Run, query: Query) -> Rows:
    """Return the rows of a query on the recorder, which sees exposed entities only."""
    exposure = run.call.exposure
    exposed = frozenset(exposure.entities)
    answer = await async_read(
        run.hass,
        run_query,
        _up_to_date(query.text),
        query.parameters,
        exposed,
        exposed | exposure.external_statistics,
        as_text=False,
    )
    return [_row(answer.header, row) for row in answer.rows]


def _row(header: Iterable[str], values: Iterable[Any]) -> dict[str, Any]:
    """Return a row with values that JSON knows."""
    return {
        name: value.hex() if isinstance(value, bytes) else float(value) if isinstance(value, Decimal) else value
        for name, value in zip(header, values, strict=True)
    }


def _up_to_date(text: str) -> str:
    """Return a query with the columns of states that hold what those once did that are empty now."""
    aliases = {match[1].lower() for match in _STATES.finditer(text)} | {"states"}
    return _OLD_COLUMN.sub(lambda match: f"{match[0]}_ts" if match[1].lower() in aliases else match[0], text)


def _read_file(path: Path, query: Query) -> Rows:
    """Return the rows of a query on another file, in which everything may be read and nothing be done."""

    def allows(action: int, first: str | None, second: str | None, schema: str | None, source: str | None) -> int:
        if action in _ALLOWED:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and str(second).lower() not in _REFUSED_FUNCTIONS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    try:
        with connect_read_only(path, monotonic() + TIME_LIMIT) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.set_authorizer(allows)
            cursor = connection.execute(query.text, query.parameters)
            header = [column[0] for column in cursor.description or ()]
            return [_row(header, row) for row in cursor.fetchmany(MAX_ROWS)]
    except (sqlite3.Error, OverflowError) as err:
        LOGGER.debug("A query of a function failed", exc_info=err)
        reason = (
            explain_sqlite(err) if isinstance(err, sqlite3.Error) and hasattr(err, "sqlite_errorcode") else str(err)
        )
        if reason is None:
            raise ToolError(f"The query was stopped after {TIME_LIMIT:g} seconds. Ask for less.") from err
        raise ToolError(f"The query cannot be run: {reason}.") from err

"""Functions that are a query: on the recorder, or on another file that the options list.

A query that the model wrote sees a copy of exposed rows, as query_database does. A query of the user's, in which a model's
values are nothing but values, is asked of the database itself, through views on exposed rows.
"""

from collections.abc import Mapping
from pathlib import Path
import re
from typing import Any, Final, override
from urllib.parse import unquote

from sqlalchemy import make_url
import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util

from ..recorder import ready_recorder
from ..recorder.query import Answer, Visible, async_query, clock, recorder_uri, visible
from ..recorder.user_queries import ask_server, async_ask_file
from ..results import ToolError
from .base import FunctionRun, FunctionType
from .rendering import async_check_template, async_render_pieces
from .sql import Query, only_value, to_sql

_ANY_QUERY = "{{ query }}"
_SPAN: Final = 7 * 86400.0
"""Seconds of the past that a query of the model's own sees."""
_QUOTED_OTHERWISE = re.compile(r"""\\['"`]|\$\w*\$""")
"""Quotes that PostgreSQL and MariaDB know besides doubled ones: where they end, the place of a value cannot be told."""
_OTHER_QUOTES = (
    "The query of this function holds a quote behind a backslash, or between dollar signs, beside values. Tell the user to "
    "write a quote inside a text twice instead."
)
_NOT_LISTED = "This function reads a database file that the options of Extended Assist do not list. Tell the user to add it there."

type Rows = list[dict[str, Any]]


class SqliteType(FunctionType):
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
    async def async_run(self, run: FunctionRun, settings: Mapping[str, Any]) -> Any:
        """Return the rows, or the first of them."""
        pieces = await async_render_pieces(run, settings["query"])
        whole = only_value(pieces)
        query = Query(whole, {}) if whole is not None else to_sql(pieces, run.enum_texts, run.variables)
        if not query.text.strip():
            raise ToolError("The query is empty. Give one.")
        other = await run.hass.async_add_executor_job(_other_file, run, settings.get("db_url"))
        if other is not None:
            answer = await async_ask_file(run.hass, f"{other.as_uri()}?mode=ro", query.text, query.parameters)
        elif whole is not None:
            answer = await async_query(run.hass, _visible(run), query.text, query.parameters, as_text=False)
        else:
            answer = await _async_ask_recorder(run, query)
        if whole is not None:
            entities = run.call.exposure.entities.values()
            run.has_free_text = run.has_free_text or other is not None or answer.reads_free_text(run.hass, entities)
        rows = [dict(zip(answer.header, row, strict=True)) for row in answer.rows]
        if settings["single"]:
            return rows[0] if rows else None
        return rows


def _other_file(run: FunctionRun, url: str | None) -> Path | None:
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


def _visible(run: FunctionRun) -> Visible:
    """Return the scope of a query: all that is exposed, and where a copy is made, of the last days."""
    now = dt_util.utcnow().timestamp()
    return visible(run.call.exposure, start=now - _SPAN, end=now + 60, scope="function")


async def _async_ask_recorder(run: FunctionRun, query: Query) -> Answer:
    """Return the rows of a query of the user's on the recorder, where it is."""
    url = ready_recorder(run.hass).db_url
    seen = _visible(run)
    if uri := recorder_uri(url):
        return await async_ask_file(run.hass, uri, query.text, query.parameters, seen)
    if query.parameters and _QUOTED_OTHERWISE.search(query.text):
        raise ToolError(_OTHER_QUOTES)
    zone = clock(run.hass)
    return await run.hass.async_add_executor_job(ask_server, url, query.text, query.parameters, seen, zone)

"""Functions of type `sqlite`: queries on database files, rendered and run without access to anything else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
from ..results import ToolError, texts_in
from .base import FunctionRun, FunctionType
from .rendering import Piece, Value, async_check_template, async_render_pieces

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


MAX_VALUE: Final = 2_000
"""Characters of one value."""
_MAX_VALUES = 200
_WORDS: Final = frozenset({"=", "==", "!=", "<>", "<", "<=", ">", ">=", "asc", "desc", "like"})
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?")
_ENDS: Final = {"'": "'", '"': '"', "`": "`", "[": "]", "--": "\n", "/*": "*/"}
_BEGINNING = re.compile(r"""['"`\[]|--|/\*""")
_QUOTES = re.compile(r"""['"`;]""")
_PUT_TOGETHER = re.compile(r"""(['"`])\s*(?:,|\band\b|\bor\b|\)|=)""", re.IGNORECASE)
_IS_SQL: Final = (
    "A template of this function puts quotes or other SQL into a value, and a value is never read as SQL. Tell the user to "
    "write the quotes around the braces, like '{{ x }}', and for a list IN ({{ names }}) or IN ('{{ names | join(\"','\") }}')."
)


@dataclass(frozen=True, slots=True)
class Query:
    """A query with its parameters."""

    text: str
    parameters: dict[str, Any]


def only_value(pieces: list[Piece]) -> str | None:
    """Return the query that a value is as a whole: a model wrote it, and what it may read decides the database."""
    if len(pieces) == 1 and isinstance(pieces[0], Value):
        return pieces[0].text
    return None


def to_sql(pieces: Iterable[Piece], words: frozenset[str], given: Any = ()) -> Query:
    """Return a query for the pieces of a rendered template; given is what the values were made of."""
    known = frozenset(text for text, _ in texts_in(given, keys=True))
    writer = _Writer(_WORDS | {word.lower() for word in words if _NUMBER.fullmatch(word) or _is_plain(word)}, known)
    for piece in pieces:
        if isinstance(piece, Value):
            writer.value(piece)
        else:
            writer.literal(piece)
    return writer.finish()


def _is_plain(word: str) -> bool:
    """Return whether a word cannot end what it stands in, or begin something else."""
    return re.fullmatch(r"[\w.*+<>=! -]+", word) is not None and "--" not in word


@dataclass(slots=True)
class _Writer:
    """Follows the quotes of SQL while it is written."""

    words: frozenset[str]
    given: frozenset[str]
    parts: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    opened: str = ""
    """The quote or comment that is open."""
    inside: list[str] = field(default_factory=list)
    """What is written in it so far."""
    holds_value: bool = False

    def literal(self, text: str) -> None:
        """Write text of the user."""
        while text:
            if self.opened:
                end = _ENDS[self.opened]
                before, found, text = text.partition(end)
                self.inside.append(before)
                if not found:
                    return
                if self.opened in "'\"`" and text.startswith(end):
                    # Doubled, a quote stands for itself.
                    self.inside.append(end if self.holds_value else end * 2)
                    text = text[1:]
                    continue
                self._close()
            elif match := _BEGINNING.search(text):
                self.parts.append(text[: match.start()])
                self.opened, text = match[0], text[match.end() :]
            else:
                self.parts.append(text)
                return

    def value(self, value: Value) -> None:
        """Write a value."""
        if self.opened in ("--", "/*"):
            return
        if self.opened:
            if not self.holds_value:
                self.holds_value = True
                self.inside = [part.replace(self.opened * 2, self.opened) for part in self.inside]
            self.inside.append(self._inside(value.text))
            return
        self.parts.append(f" {self._outside(value)} ")

    def finish(self) -> Query:
        """Return the query."""
        if self.opened not in ("", "--"):
            raise ToolError("The query of this function opens a quote that it does not close. Tell the user.")
        return Query("".join(self.parts), self.parameters)

    def _inside(self, text: str) -> str:
        """Return a value inside of quotes; where a template doubled its quotes, as they were."""
        if text in self.given or self.opened not in text:
            return text
        if (single := text.replace(self.opened * 2, self.opened)) in self.given:
            return single
        if _PUT_TOGETHER.search(text):
            raise ToolError(_IS_SQL)
        return text

    def _outside(self, value: Value) -> str:
        """Return a value outside of quotes."""
        match value.value:
            case bool():
                return str(int(value.value))
            case int() | float():
                return self._parameter(value.value) if not _NUMBER.fullmatch(str(value.value)) else str(value.value)
            case list() | tuple() | set():
                return ", ".join(self._outside(Value(item)) for item in value.value) or "NULL"
        text = value.text.strip()
        if _NUMBER.fullmatch(text) or text.lower() in self.words:
            return text
        if _QUOTES.search(text) and not any(text in one for one in self.given):
            raise ToolError(_IS_SQL)
        return self._parameter(text)

    def _close(self) -> None:
        """Write what was in quotes."""
        text = "".join(self.inside)
        if self.holds_value:
            self.parts.append(self._parameter(text))
        elif self.opened not in ("--", "/*"):
            self.parts.append(f"{self.opened}{text}{_ENDS[self.opened]}")
        else:
            self.parts.append(" ")
        self.opened, self.inside, self.holds_value = "", [], False

    def _parameter(self, value: Any) -> str:
        """Return the name of a parameter with a value."""
        if isinstance(value, str) and (len(value) > MAX_VALUE or "\0" in value):
            raise ToolError(f"A value has at most {MAX_VALUE} characters here. Give a shorter one.")
        if len(self.parameters) >= _MAX_VALUES:
            raise ToolError(f"At most {_MAX_VALUES} values can be used here. Give fewer.")
        name = f"argument_{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

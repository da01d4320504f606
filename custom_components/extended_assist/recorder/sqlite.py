"""Queries on SQLite: a connection that can do nothing but read exposed rows, whatever it is told.

Three walls, each of which holds by itself: the file is opened read-only; the recorder's tables are shadowed by temporary
views on their exposed rows; and SQLite's authorizer, asked for every table, column and function while a statement is
compiled, lets the tables be read from inside those views only.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex
import sqlite3
from time import monotonic
from typing import Any, Final

from sqlalchemy import make_url

from ..results import ToolError
from .views import COLUMNS, MATCHED_ATTRIBUTES, exposed_attributes, view

_PROGRESS_STEPS: Final = 20_000
"""Steps of SQLite's virtual machine, well below a millisecond, between two looks at the clock."""
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_SETTINGS: Final = {
    sqlite3.SQLITE_DBCONFIG_DEFENSIVE: True,
    sqlite3.SQLITE_DBCONFIG_DQS_DML: False,
    sqlite3.SQLITE_DBCONFIG_DQS_DDL: False,
    sqlite3.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: False,
}
_ATTRIBUTES: Final = "exposed_attributes"
_OPERATORS: Final = frozenset({"->", "->>", "like", "glob", "current_date", "current_time", "current_timestamp"})
"""Operators and moments that SQLite looks upon as functions."""
_ERRORS: Final = {
    "integer overflow": "a whole number became too large",
    "malformed JSON": "a text is not JSON; check it with json_valid first",
    "string or blob too big": "a text became too long",
    "not authorized": "it reaches for something that is not allowed",
    "bad JSON path": "a JSON path is written like '$.name'",
}


class SQLiteReader:
    """A connection for one query."""

    name = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take a fresh read-only connection."""
        self._connection = connection
        # A WITH query of the model's own counts as a view for the authorizer: it must not be able to guess a name.
        self._inner = {table: f"exposed_{token_hex(16)}_{table}" for table in (*COLUMNS, MATCHED_ATTRIBUTES)}

    def names(self, table: str, column: str) -> list[tuple[int, str]]:
        """Return the ids and names that a table of metadata holds."""
        key = COLUMNS[table][0]
        return self._connection.execute(f"SELECT {key}, {column} FROM main.{table}").fetchall()  # noqa: S608 - no input

    def expose(self, ids: Mapping[str, Collection[int]], functions: Collection[str]) -> None:
        """Shadow the tables with views on exposed rows, and shut everything else off for good."""
        connection = self._connection
        connection.create_function(_ATTRIBUTES, 1, exposed_attributes, deterministic=True)
        for table, inner in self._inner.items():
            query = view(table, "main.{}".format, f"{_ATTRIBUTES}({{}})".format, ids)
            connection.execute(f'CREATE TEMP VIEW "{inner}" AS {query}')
            if table in COLUMNS:
                connection.execute(f'CREATE TEMP VIEW "{table}" AS SELECT * FROM temp."{inner}"')  # noqa: S608 - no input
        connection.execute("PRAGMA query_only = ON")
        connection.set_authorizer(self._authorizer(_OPERATORS.union(functions)))

    def view(self, table: str) -> str:
        """Return what stands for a table in a FROM clause."""
        return f'temp."{self._inner[table]}"'

    def rows(self, text: str, bound: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query."""
        yield from self._connection.execute(text, dict(bound))

    def _authorizer(self, functions: frozenset[str]) -> Callable[..., int]:
        """Return what SQLite asks while it compiles a statement."""
        inner = frozenset(self._inner.values())
        shown = inner | COLUMNS.keys()

        def allows(action: int, first: str | None, second: str | None, schema: str | None, source: str | None) -> int:
            if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
                return sqlite3.SQLITE_OK
            if action == sqlite3.SQLITE_FUNCTION:
                allowed = source in inner if second == _ATTRIBUTES else str(second).lower() in functions
                return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
            if action == sqlite3.SQLITE_READ and (
                (schema == "temp" and first in shown)
                or (schema == "main" and first in COLUMNS and source in inner)
                # The result of a subquery or of a WITH query is no table of any database.
                or (schema is None and not second)
            ):
                return sqlite3.SQLITE_OK
            return sqlite3.SQLITE_DENY

        return allows


@contextmanager
def open_sqlite(url: str, end: float) -> Iterator[SQLiteReader]:
    """Open the recorder's file for one query that is interrupted at a moment of the monotonic clock."""
    database = make_url(url).database
    if not database or database == ":memory:":
        raise ToolError("The recorder keeps its database in memory, where queries cannot reach it. Tell the user.")
    with connect_read_only(Path(database), end) as connection:
        yield SQLiteReader(connection)


@contextmanager
def connect_read_only(path: Path, end: float) -> Iterator[sqlite3.Connection]:
    """Connect to a file, only to read and within limits, until a moment of the monotonic clock."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=1)) as connection:
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        for setting, on in _SETTINGS.items():
            connection.setconfig(setting, on)
        connection.set_progress_handler(lambda: monotonic() > end, _PROGRESS_STEPS)
        connection.execute("BEGIN")
        yield connection


def explain_sqlite(err: sqlite3.Error) -> str | None:
    """Return what is wrong with a query, in words that hold no value of any row; None when it ran out of time."""
    text = str(err)
    if text == "interrupted":
        return None
    if err.sqlite_errorcode == sqlite3.SQLITE_ERROR:
        for known, words in _ERRORS.items():
            if known in text:
                return words
        if any(
            words in text for words in ("misuse of", "wrong number", "no such", "ambiguous", "ORDER BY", "aggregate")
        ):
            return text
    return next((words for known, words in _ERRORS.items() if known in text), "SQLite cannot run it")

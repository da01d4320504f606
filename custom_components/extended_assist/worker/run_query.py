"""Run a query of a model or user: it can read the private tables and nothing else."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
import math
import os
import re
import sqlite3
from time import monotonic
from typing import Any, Final

from .messages import JobError

_PROGRESS_STEPS: Final = 20_000
"""Steps of SQLite's virtual machine between two checks of the clock, well below a millisecond."""
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 1_000_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_SETTINGS: Final = {
    sqlite3.SQLITE_DBCONFIG_DEFENSIVE: True,
    sqlite3.SQLITE_DBCONFIG_TRUSTED_SCHEMA: False,
    sqlite3.SQLITE_DBCONFIG_DQS_DML: False,
    sqlite3.SQLITE_DBCONFIG_DQS_DDL: False,
    sqlite3.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: False,
}
_READING: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_PRAGMAS: Final = frozenset({"table_info", "table_xinfo", "table_list", "function_list"})
"""Pragmas that only list tables and functions."""
_VIRTUAL_TABLES: Final = frozenset({"json_each", "json_tree", *(f"pragma_{name}" for name in _PRAGMAS)})
_SCHEMA_TABLES: Final = frozenset({"sqlite_master", "sqlite_schema"})
_NO_FILE: Final = "SQLITE_CANTOPEN"
_WITH: Final = re.compile(r"\s*WITH(\s+RECURSIVE)?\s", re.IGNORECASE)
_REFUSED_FUNCTIONS: Final = frozenset(
    {"changes", "fts3_tokenizer", "last_insert_rowid", "load_extension", "sqlite_log", "total_changes"}
)
"""Functions that use more than their arguments, such as counters of inserted rows."""


class NeedsFileError(JobError):
    """Sorting or grouping exceeds the memory after which SQLite opens a temporary file."""


_TEXT_COLUMNS: Final = frozenset({"state", "shared_attrs"})


class Authorizer:
    """Decides what a statement may do; SQLite calls it while it compiles one.

    It stores the used functions and, as `.column`, the text columns that were read.
    """

    def __init__(self, tables: Collection[str], modules: Collection[str], functions: Collection[str]) -> None:
        """Store the names of tables, modules and functions; a table-valued function may not be read as a table."""
        self.used: set[str] = set()
        self._tables = tables
        self._modules = modules
        self._functions = functions

    def __call__(
        self, action: int, first: str | None, second: str | None, schema: str | None, source: str | None
    ) -> int:
        """Return SQLITE_OK or SQLITE_DENY."""
        match action:
            case sqlite3.SQLITE_READ:
                if second in _TEXT_COLUMNS:
                    self.used.add(f".{second}")
                # Where rows are counted and no column is read, a subquery's name stands for a table's.
                allowed = first in self._tables or (not second and str(first).lower() not in self._modules)
            case sqlite3.SQLITE_FUNCTION:
                self.used.add(str(second).lower())
                allowed = str(second).lower() in self._functions
            case sqlite3.SQLITE_PRAGMA:
                allowed = str(first).lower() in _PRAGMAS
            case _:
                allowed = action in _READING
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def lock(connection: sqlite3.Connection, *, own_functions: Collection[str] = ()) -> Authorizer:
    """Allow only reads and SQLite's own functions on a connection; return its authorizer.

    Functions of SQLite modules, such as full-text search, belong to tables that do not exist here; a file with such tables
    needs them named.
    """
    functions = {row[0] for row in connection.execute("SELECT name FROM pragma_function_list WHERE builtin")}
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")}
    tables |= {row[0] for row in connection.execute("SELECT name FROM sqlite_temp_schema")}
    modules = {row[0].lower() for row in connection.execute("SELECT name FROM pragma_module_list")} - _VIRTUAL_TABLES
    for setting, on in _SETTINGS.items():
        connection.setconfig(setting, on)
    connection.execute("PRAGMA query_only = ON")
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.text_factory = lambda text: text.decode(errors="replace")
    allows = Authorizer(
        tables | _VIRTUAL_TABLES | _SCHEMA_TABLES, modules, (functions | set(own_functions)) - _REFUSED_FUNCTIONS
    )
    connection.set_authorizer(allows)
    return allows


@contextmanager
def sorting_in_memory(connection: sqlite3.Connection, authorizer: Authorizer) -> Iterator[None]:
    """Let SQLite sort in memory without a file.

    Only for a connection without temporary views, which this drops. With files allowed, it is a fifth faster, until one is
    needed. Each change makes SQLite compile its statements again.
    """

    def store(kind: str) -> None:
        connection.set_authorizer(None)
        connection.execute(f"PRAGMA temp_store = {kind}")
        connection.set_authorizer(authorizer)

    store("MEMORY")
    try:
        yield
    finally:
        store("FILE")


def interrupt_when(connection: sqlite3.Connection, is_over: Callable[[], bool] = lambda: False) -> None:
    """Interrupt a connection at the time limit, or when the parent process is gone."""
    asker = os.getppid()
    connection.set_progress_handler(lambda: is_over() or os.getppid() != asker, _PROGRESS_STEPS)


def with_views(text: str, views: Mapping[str, str]) -> str:
    """Return a query that defines views itself, for a connection that cannot create any."""
    match = _WITH.match(text)
    before = ", ".join(f"{name} AS ({query})" for name, query in views.items())
    if match is None:
        return f"WITH {before} {text}"
    return f"WITH{match[1] or ''} {before}, {text[match.end() :]}"


def ask(
    connection: sqlite3.Connection,
    text: str,
    parameters: Mapping[str, Any],
    *,
    seconds: float,
    most_rows: int,
    most_characters: int,
    longest: int,
) -> dict[str, Any]:
    """Return the columns and the first rows of a query; raises errors with SQLite's own words."""
    end = monotonic() + seconds
    interrupt_when(connection, lambda: monotonic() > end)
    try:
        cursor = connection.execute(text, dict(parameters))
        if cursor.description is None:
            raise JobError("it has no result; write one SELECT")
        columns = [column[0] for column in cursor.description]
        rows: list[list[Any]] = []
        complete, room = True, most_characters
        for row in cursor:
            values = [_plain(value, longest) for value in row]
            room -= sum(len(value) if isinstance(value, str) else 8 for value in values)
            if len(rows) == most_rows or room < 0:
                complete = False
                break
            rows.append(values)
    except sqlite3.OperationalError as err:
        if str(err) == "interrupted":
            raise JobError(f"stopped after {seconds:g} seconds") from err
        if err.sqlite_errorname == _NO_FILE:
            raise NeedsFileError(str(err)) from err
        raise JobError(str(err)) from err
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as err:
        raise JobError(str(err)) from err
    finally:
        connection.set_progress_handler(None, 0)
    return {"columns": columns, "rows": rows, "complete": complete}


def _plain(value: Any, longest: int) -> Any:
    """Return a value that JSON can contain."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        value = f"x'{value.hex()}'"
    if isinstance(value, str) and len(value) > longest:
        return f"{value[:longest]} … [{len(value) - longest} more characters]"
    return value

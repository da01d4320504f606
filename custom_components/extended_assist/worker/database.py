"""The worker's jobs: fill a private database with exposed rows, query it, and query a file that the user named."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
import os
import sqlite3
import time
from time import monotonic
from typing import Any, NamedTuple

from .copy_rows import copy_file
from .messages import JobError
from .private_database import Attributes, PrivateDatabase, memory_limit
from .run_query import Authorizer, NeedsFileError, ask, interrupt_when, lock, sorting_in_memory, with_views
from .tables import ATTRIBUTES, PLAIN_VIEWS, ROW_TABLES, Share


class _Filled(NamedTuple):
    """A private database that is ready for queries."""

    connection: sqlite3.Connection
    authorizer: Authorizer
    key: str
    """The key of its data."""


class Databases:
    """The worker's private database, at most one."""

    def __init__(self, shut_off: Callable[[], None]) -> None:
        """Start without a database; store the function that denies all other files, to call before a query."""
        self._shut_off = shut_off
        self._filling: PrivateDatabase | None = None
        self._filled: _Filled | None = None

    def begin(self, *, time_zone: str, utc_offset: int, **seen: Any) -> None:
        """Drop the previous database and create an empty one."""
        self._forget()
        _set_time_zone(time_zone, utc_offset)
        self._filling = PrivateDatabase(**seen)
        interrupt_when(self._filling.connection)

    def copy(self, uri: str, tables: Sequence[str], **share: Any) -> None:
        """Fill the database from the recorder's file."""
        try:
            copy_file(self._begun(), uri, Share(tables=tuple(ROW_TABLES[name] for name in tables), **share))
        except Exception:
            self._forget()
            raise

    def add(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows that were read elsewhere: metadata first, then attributes, then rows."""
        database = self._begun()
        if table in database.described:
            database.add_meta(table, rows)
        elif table == ATTRIBUTES:
            for recorded, text in rows:
                database.attributes.add(recorded, text)
        else:
            database.add_rows(ROW_TABLES[table], rows)

    def finish(self, key: str) -> int:
        """Lock the database, so that this process can only query it; return the number of rows."""
        database, self._filling = self._begun(), None
        rows = database.finish()
        self._filled = _Filled(database.connection, lock(database.connection), key)
        self._shut_off()
        return rows

    def query(self, key: str, text: str, parameters: Mapping[str, Any], *, seconds: float, **bounds: Any) -> Any:
        """Query the database with a key."""
        if self._filled is None or key != self._filled.key:
            raise JobError("nothing was filled for this question")
        connection, authorizer, _ = self._filled
        end = monotonic() + seconds
        authorizer.used.clear()
        # Set again, so that SQLite compiles what it has compiled before and asks which functions are used.
        connection.set_authorizer(authorizer)
        try:
            found = _ask(connection, text, parameters, seconds=seconds, **bounds)
        except NeedsFileError:
            with sorting_in_memory(connection, authorizer):
                found = _ask(connection, text, parameters, seconds=end - monotonic(), **bounds)
        return found | {"functions": sorted(authorizer.used)}

    def read(
        self,
        uri: str,
        text: str,
        parameters: Mapping[str, Any],
        *,
        views: Sequence[str],
        hidden: Sequence[str],
        time_zone: str,
        utc_offset: int,
        **bounds: Any,
    ) -> dict[str, Any]:
        """Query one file, through views if there are any; this process cannot open other files any more."""
        _set_time_zone(time_zone, utc_offset)
        try:
            with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=1)) as connection:
                memory_limit(connection)
                connection.execute("BEGIN")
                connection.execute("SELECT count(*) FROM sqlite_schema")
                clean = Attributes(hidden, lambda *_: None, lambda _: None).visible
                connection.create_function("visible_attributes", 1, lambda value: value and clean(value))
                self._shut_off()
                connection.execute("PRAGMA temp_store = MEMORY")
                for view in views:
                    connection.execute(view)
                names = {row[0] for row in connection.execute("SELECT name FROM pragma_function_list")}
                lock(connection, own_functions=names)
                return ask(connection, text, parameters, **bounds)
        except sqlite3.Error as err:
            raise JobError(str(err)) from err

    def _begun(self) -> PrivateDatabase:
        """Return the database that is being filled."""
        if self._filling is None:
            raise JobError("nothing is being filled")
        return self._filling

    def _forget(self) -> None:
        """Drop the previous database."""
        if self._filling:
            self._filling.connection.close()
        if self._filled:
            self._filled.connection.close()
        self._filling = self._filled = None


def _ask(connection: sqlite3.Connection, text: str, parameters: Mapping[str, Any], **bounds: Any) -> dict[str, Any]:
    """Run a query; if a column name is ambiguous, run it again with the recorder's own columns only."""
    try:
        return ask(connection, text, parameters, **bounds)
    except JobError as err:
        if not str(err).startswith("ambiguous column name"):
            raise
        with suppress(JobError):
            return ask(connection, with_views(text, PLAIN_VIEWS), parameters, **bounds)
        raise


def _set_time_zone(name: str, utc_offset: int) -> None:
    """Make SQLite's 'localtime' the home's time zone; an unknown zone is replaced by its current offset."""
    os.environ["TZ"] = name
    time.tzset()
    if time.localtime().tm_gmtoff != utc_offset:
        sign, seconds = ("-" if utc_offset >= 0 else "+"), abs(utc_offset)
        os.environ["TZ"] = f"<home>{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        time.tzset()

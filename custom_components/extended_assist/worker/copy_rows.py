"""Filling a private database from the recorder's file, inside SQLite."""

import sqlite3
from typing import Any, Final

from .messages import JobError, TooMuchToCopyError
from .private_database import PrivateDatabase
from .tables import ATTRIBUTES, META_VALUES, RowTable, Share

BROKEN_FILE: Final = "the recorder's file"
"""Begins what is said of a file that cannot be read, where asking for less does not help."""
_BUSY_SECONDS: Final = 5.0


def copy_file(database: PrivateDatabase, uri: str, share: Share) -> None:
    """Copy exposed rows of a span, in one read transaction, from a file that is only ever read.

    Where that fails, the database is of no use any more; closing it lets go of the file.
    """
    connection, copying = database.connection, _Copying(database, share)
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000:.0f}")
    try:
        connection.execute("ATTACH ? AS recorder", (uri,))
    except sqlite3.Error as err:
        # SQLite's own text names the file.
        raise JobError(f"{BROKEN_FILE} cannot be opened ({err.sqlite_errorname})") from err
    connection.execute("ATTACH ':memory:' AS known")
    try:
        connection.execute("BEGIN")
        copying.copy()
        connection.execute("COMMIT")
        connection.execute("DETACH recorder")
        connection.execute("DETACH known")
    except sqlite3.Error as err:
        if copying.problem is not None:
            raise copying.problem from err
        raise JobError(f"{BROKEN_FILE} cannot be read ({err})") from err


class _Copying:
    """One copy."""

    def __init__(self, database: PrivateDatabase, share: Share) -> None:
        """Take the database to fill, and with what."""
        self._database = database
        self._connection = database.connection
        self._share = share
        self.problem: Exception | None = None
        """What went wrong where SQLite asked for a number; it knows nothing but that something did."""
        number = self._attributes_number if share.attributes else lambda _: None
        self._connection.create_function("attributes_number", 1, number)

    def copy(self) -> None:
        """Count, then copy."""
        for meta in META_VALUES:
            self._read_meta(meta)
        left = self._share.most_rows
        for table in self._share.tables:
            left -= self._count(table, left)
            if left < 0:
                raise TooMuchToCopyError(f"more than {self._share.most_rows:,} rows would have to be copied")
        for table in self._share.tables:
            self._copy_rows(table)

    def _read_meta(self, meta: str) -> None:
        """Number the exposed entities or statistics, and note where their rows are."""
        key, name = ("metadata_id", "entity_id") if meta == "states_meta" else ("id", "statistic_id")
        columns = ", ".join((key, name, *META_VALUES[meta]))
        self._database.add_meta(meta, self._connection.execute(f"SELECT {columns} FROM recorder.{meta}"))  # noqa: S608 - constants
        self._connection.execute(f"CREATE TABLE known.{meta} (recorded INTEGER PRIMARY KEY, number, name)")
        self._connection.executemany(
            f"INSERT INTO known.{meta} VALUES (?, ?, ?)",  # noqa: S608 - a constant
            ((recorded, *rest) for recorded, rest in self._database.numbers[meta].items()),
        )

    def _matching(self, table: RowTable) -> str:
        """Return the condition for exposed rows of the span, which an index of the recorder answers by itself."""
        return (
            f"metadata_id IN (SELECT recorded FROM known.{table.meta}) "  # noqa: S608 - constants
            f"AND {table.moment} >= ? AND {table.moment} < ?"
        )

    def _count(self, table: RowTable, most: int) -> int:
        """Return how many rows there are to copy, and one more than the most where there are more."""
        query = f"SELECT count(*) FROM (SELECT 1 FROM recorder.{table.name} WHERE {self._matching(table)} LIMIT ?)"  # noqa: S608 - constants
        return int(self._connection.execute(query, (*self._share.span, most + 1)).fetchone()[0])

    def _copy_rows(self, table: RowTable) -> None:
        """Copy the rows in the order in which they were written, so that each page of the file is read once."""
        values = ", ".join(f"s.{column}" for column in table.values)
        attributes = ", attributes_number(s.attributes_id)" if table.has_attributes else ""
        self._connection.execute(
            f"INSERT INTO main.{table.stored} ({', '.join(table.columns)}) "  # noqa: S608 - constants
            f"SELECT k.number, k.name, {values}{attributes} "
            f"FROM recorder.{table.name} AS s CROSS JOIN known.{table.meta} AS k ON k.recorded = s.metadata_id "
            f"WHERE s.{table.key} IN (SELECT {table.key} FROM recorder.{table.name} WHERE {self._matching(table)})",
            self._share.span,
        )

    def _attributes_number(self, recorded: int | None) -> int | None:
        """Return the new number of attributes, which are read where they come for the first time."""
        known = self._database.attributes
        if recorded is None or known.knows(recorded):
            return known.number(recorded)
        query = f"SELECT shared_attrs FROM recorder.{ATTRIBUTES} WHERE attributes_id = ?"  # noqa: S608 - a constant
        try:
            row: tuple[Any, ...] | None = self._connection.execute(query, (recorded,)).fetchone()
            return known.add(recorded, row[0] if row else None)
        except (JobError, MemoryError, RecursionError) as err:
            self.problem = err
            raise

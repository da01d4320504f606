"""Copy rows from the recorder's file into a private database, inside SQLite."""

import sqlite3
from typing import Any, Final

from .messages import JobError, TooMuchToCopyError
from .private_database import PrivateDatabase
from .tables import ATTRIBUTES, META_VALUES, RowTable, Share

BROKEN_FILE: Final = "the recorder's file"
"""The start of an error about a file that cannot be read, where a smaller request does not help."""
_BUSY_SECONDS: Final = 5.0


def copy_file(database: PrivateDatabase, uri: str, share: Share) -> None:
    """Copy the exposed rows of a time span from the recorder's file, in one read transaction.

    After an error the private database is not usable; closing it closes the file.
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
        """Store the database and the share to copy."""
        self._database = database
        self._connection = database.connection
        self._share = share
        self.problem: Exception | None = None
        """The error in a function that SQLite called; SQLite itself only reports that there was one."""
        number = self._attributes_number if share.attributes else lambda _: None
        self._connection.create_function("attributes_number", 1, number)

    def copy(self) -> None:
        """Count the rows, then copy them."""
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
        """Give new ids to the exposed entities or statistics, and store their metadata ids."""
        key, name = ("metadata_id", "entity_id") if meta == "states_meta" else ("id", "statistic_id")
        columns = ", ".join((key, name, *META_VALUES[meta]))
        self._database.add_meta(meta, self._connection.execute(f"SELECT {columns} FROM recorder.{meta}"))  # noqa: S608 - constants
        self._connection.execute(f"CREATE TABLE known.{meta} (recorded INTEGER PRIMARY KEY, number, name)")
        self._connection.executemany(
            f"INSERT INTO known.{meta} VALUES (?, ?, ?)",  # noqa: S608 - a constant
            ((recorded, *rest) for recorded, rest in self._database.numbers[meta].items()),
        )

    def _matching(self, table: RowTable) -> str:
        """Return the condition for the exposed rows of the span, which an index of the recorder answers."""
        return (
            f"metadata_id IN (SELECT recorded FROM known.{table.meta}) "  # noqa: S608 - constants
            f"AND {table.moment} >= ? AND {table.moment} < ?"
        )

    def _count(self, table: RowTable, most: int) -> int:
        """Return the number of rows to copy, at most one more than allowed."""
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
        """Return the new id of attributes, which are read at their first use."""
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

"""A database that holds exposed rows and nothing else, and that belongs to this process alone.

It lies in memory as long as it is small. What is larger goes to one file in the temporary folder, which has no name any
more from the moment it is opened, and is gone with the process.
"""

from collections.abc import Collection, Iterable, Sequence
import sqlite3
from typing import Any, Final

from .attributes import Attributes
from .tables import ATTRIBUTES, META_VALUES, ROW_TABLES, RowTable, indexes, schema

CACHE: Final = 48 * 1024 * 1024
"""Bytes that stay in memory."""
HEAP: Final = 176 * 1024 * 1024
"""Bytes that SQLite may hold, with what queries sort and group; the rest is left for Python."""


def memory_limit(connection: sqlite3.Connection) -> None:
    """Let SQLite fail, rather than the process, when a query needs too much memory."""
    connection.execute(f"PRAGMA hard_heap_limit = {HEAP}")


class PrivateDatabase:
    """A database while it is filled."""

    def __init__(
        self,
        entities: Sequence[tuple[str, str, str]],
        statistics: Sequence[tuple[str, str, str]],
        exposed: Collection[str],
        hidden: Collection[str],
    ) -> None:
        """Make empty tables for entities and statistics, each with its name and area; they may be part of what is exposed."""
        self.connection = connection = sqlite3.connect("", isolation_level=None, uri=True)
        connection.text_factory = lambda text: text.decode(errors="replace")
        memory_limit(connection)
        connection.execute("PRAGMA main.journal_mode = OFF")
        connection.execute("PRAGMA main.synchronous = OFF")
        self._open_file()
        connection.executescript(schema())
        self.described = {
            "states_meta": {name: rest for name, *rest in entities},
            "statistics_meta": {name: rest for name, *rest in statistics},
        }
        self._exposed = frozenset(exposed)
        self.numbers: dict[str, dict[int, tuple[int, str]]] = {}
        """What metadata ids of the recorder stand for: the new id, and the name of the entity or statistic."""
        self.attributes = Attributes(hidden, self._keep_attributes, self._kept_attributes)

    def add_meta(self, table: str, recorded: Iterable[Sequence[Any]]) -> None:
        """Number what the recorder has of the wanted entities or statistics: its id, name and values.

        What else it knows is hidden, even where Home Assistant has forgotten it.
        """
        described = self.described[table]
        found = [*recorded]
        self.attributes.hide(row[1] for row in found if row[1] and row[1] not in self._exposed)
        rows = sorted((row for row in found if row[1] in described), key=lambda row: row[0])
        self.numbers[table] = {row[0]: (number, row[1]) for number, row in enumerate(rows, 1)}
        marks = ", ".join("?" * (4 + len(META_VALUES[table])))
        self.connection.executemany(
            f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608 - a constant
            ((number, row[1], *described[row[1]], *row[2:]) for number, row in enumerate(rows, 1)),
        )

    def add_rows(self, table: RowTable, recorded: Iterable[Sequence[Any]]) -> None:
        """Add rows of the recorder: the metadata id, the values, and the attributes' id where there are any."""
        numbers = self.numbers[table.meta]
        marks = ", ".join("?" * len(table.columns))
        self.connection.executemany(
            f"INSERT INTO {table.stored} ({', '.join(table.columns)}) VALUES ({marks})",  # noqa: S608 - constants
            (
                (*numbers[row[0]], *row[1:-1], self.attributes.number(row[-1]))
                if table.has_attributes
                else (*numbers[row[0]], *row[1:])
                for row in recorded
            ),
        )

    def finish(self) -> int:
        """Make what was filled quick to ask, and return how many rows it has."""
        connection = self.connection
        attached = [row[1] for row in connection.execute("PRAGMA database_list") if row[1] not in ("main", "temp")]
        if attached:
            raise RuntimeError("something is still attached")
        total = 0
        for table in ROW_TABLES.values():
            (rows,) = connection.execute(f"SELECT count(*) FROM {table.stored}").fetchone()  # noqa: S608 - a constant
            total += rows
            if rows and len(self.numbers.get(table.meta, ())) > 1:
                connection.executescript(indexes(table))
        connection.execute("PRAGMA temp_store = FILE")  # None can be opened: see sorting_in_memory.
        return total

    def _keep_attributes(self, number: int, text: str) -> None:
        """Store attributes."""
        self.connection.execute(f"INSERT INTO {ATTRIBUTES} VALUES (?, ?)", (number, text))  # noqa: S608 - a constant

    def _kept_attributes(self, number: int) -> str | None:
        """Return attributes that are stored."""
        query = f"SELECT shared_attrs FROM {ATTRIBUTES} WHERE attributes_id = ?"  # noqa: S608 - a constant
        row: tuple[str] | None = self.connection.execute(query, (number,)).fetchone()
        return row[0] if row else None

    def _open_file(self) -> None:
        """Make SQLite open the file that large data goes to: later, nothing can be opened any more."""
        run = self.connection.execute
        run("PRAGMA cache_size = 10")
        run("CREATE TABLE filler (x)")
        run("BEGIN")
        run("INSERT INTO filler VALUES (zeroblob(400000))")
        run("COMMIT")
        run("DROP TABLE filler")
        run(f"PRAGMA cache_size = -{CACHE // 1024}")

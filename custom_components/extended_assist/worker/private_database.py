"""A database of exposed rows only, private to the worker process, with its table of attributes.

It is in memory while it is small. A larger one goes to a file in the temporary folder that has no name from the moment it
is opened, and is gone with the process.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
import json
import re
import sqlite3
from typing import Any, Final

from ..exposure.secrets import is_secret_key, is_secret_text, sifted
from .messages import TooMuchToCopyError
from .tables import ATTRIBUTES, META_VALUES, ROW_TABLES, RowTable, indexes, schema

CACHE: Final = 48 * 1024 * 1024
"""Bytes that stay in memory."""
HEAP: Final = 176 * 1024 * 1024
"""The most bytes of SQLite, with sorting and grouping; the rest is for Python."""


def memory_limit(connection: sqlite3.Connection) -> None:
    """Limit SQLite's memory, so that a large query fails and the process survives."""
    connection.execute(f"PRAGMA hard_heap_limit = {HEAP}")


class PrivateDatabase:
    """A private database while it is filled."""

    def __init__(
        self,
        entities: Sequence[tuple[str, str, str]],
        statistics: Sequence[tuple[str, str, str]],
        exposed: Collection[str],
        hidden: Collection[str],
    ) -> None:
        """Create empty tables for entities and statistics with their names and areas."""
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
        """For each metadata id of the recorder, the new id and the name of the entity or statistic."""
        self.attributes = Attributes(hidden, self._keep_attributes, self._kept_attributes)

    def add_meta(self, table: str, recorded: Iterable[Sequence[Any]]) -> None:
        """Give new ids to the wanted entities or statistics of the recorder: their id, name and values.

        Everything else in the recorder is hidden, also entities that no longer exist.
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
        """Add rows of the recorder: the metadata id, the values, and the id of the attributes if there are any."""
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
        """Create the indexes and return the number of rows."""
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
        """Make SQLite open the file for large data: later, no file can be opened."""
        run = self.connection.execute
        run("PRAGMA cache_size = 10")
        run("CREATE TABLE filler (x)")
        run("BEGIN")
        run("INSERT INTO filler VALUES (zeroblob(400000))")
        run("COMMIT")
        run("DROP TABLE filler")
        run(f"PRAGMA cache_size = -{CACHE // 1024}")


MOST: Final = 250_000
"""The most different attributes, whose digests are in memory."""
# Both look ahead, so that one match hides no other: states.light.lamp names light.lamp, and each quote may begin a key.
_ENTITY_ID: Final = re.compile(r"\b(?=([a-z_0-9]+\.[a-z_0-9]+)\b)")
_KEY: Final = re.compile(r'"(?=([^"\\]*)"\s*:)')


class Attributes:
    """Gives new ids to the attributes that states share, in the order of their first use."""

    def __init__(
        self, hidden: Iterable[str], keep: Callable[[int, str], object], kept: Callable[[int], str | None]
    ) -> None:
        """Store the ids of hidden entities, and the functions that write and read a text by its id."""
        self._hidden = set(hidden)
        self._keep = keep
        self._kept = kept
        self._numbers: dict[int, int | None] = {}
        self._by_hash: dict[int, int] = {}
        self._count = 0

    def hide(self, entity_ids: Iterable[str]) -> None:
        """Hide more entities; call it before any attributes are added."""
        self._hidden.update(entity_ids)

    def knows(self, recorded: int) -> bool:
        """Return whether attributes have a new id already."""
        return recorded in self._numbers

    def number(self, recorded: int | None) -> int | None:
        """Return the new id of added attributes."""
        return None if recorded is None else self._numbers.get(recorded)

    def add(self, recorded: int, text: str | None) -> int | None:
        """Give an id to attributes by their visible part: a change of hidden ones makes no difference."""
        if len(self._numbers) >= MOST:
            raise TooMuchToCopyError(f"the states have more than {MOST:,} different attributes")
        visible = self.visible(text) if text and isinstance(text, str) else None
        self._numbers[recorded] = number = None if visible is None else self._numbered(visible)
        return number

    def _numbered(self, visible: str) -> int:
        """Return the id of a text, storing it if it is new."""
        number = self._by_hash.get(hash(visible))
        if number is not None and self._kept(number) == visible:
            return number
        self._count += 1
        self._by_hash[hash(visible)] = self._count
        self._keep(self._count, visible)
        return self._count

    def visible(self, text: str) -> str | None:
        """Return the visible part of attributes, or None if they are no JSON object."""
        if not self._may_tell(text):
            return text
        try:
            attributes = json.loads(text)
        except ValueError:
            return None
        if not isinstance(attributes, dict):
            return None
        return json.dumps(sifted(attributes, self._hides_key, self._hides), ensure_ascii=False, separators=(",", ":"))

    def _may_tell(self, text: str) -> bool:
        """Return whether attributes need a closer check; most need none."""
        return (
            not text.startswith("{")
            or "\\" in text  # A plain character written as an escape could spell an id past the pattern.
            or is_secret_text(text)
            or self._names_hidden(text)
            or any(map(is_secret_key, _KEY.findall(text)))
        )

    def _names_hidden(self, text: str) -> bool:
        """Return whether a text contains the id of a hidden entity."""
        return "." in text and not self._hidden.isdisjoint(_ENTITY_ID.findall(text.lower()))

    def _hides_key(self, key: str) -> bool:
        """Return whether a key is hidden."""
        return is_secret_key(key) or self._hides(key)

    def _hides(self, value: Any) -> bool:
        """Return whether a text, number or other scalar is hidden."""
        return isinstance(value, str) and (is_secret_text(value) or self._names_hidden(value))

"""The differences between the recorder's databases: SQLite, PostgreSQL, MariaDB and MySQL.

No other file checks which database is used. There is one instance of each engine, so statements can be cached by it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Final, override

from sqlalchemy import ColumnElement, Connection, Double, Text, case, cast, func, literal, not_, or_, text
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.orm import Session

NUMBER: Final = r"^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,2})?$"
"""Matches texts that all engines cast to the same number; PostgreSQL fails at 1e999."""
_PROGRESS_STEPS = 100_000
"""Steps of SQLite's virtual machine between two checks of the clock, about a millisecond."""


class Engine(ABC):
    """The dialect of one database."""

    @abstractmethod
    def path(self, key: str) -> str:
        """Return the path of a JSON key for json_value()."""

    @abstractmethod
    def json_value(self, data: ColumnElement[Any], path: ColumnElement[str]) -> ColumnElement[str]:
        """Return the value at a path of a JSON object, as JSON text."""

    @abstractmethod
    def json_text(self, data: ColumnElement[Any], key: str) -> ColumnElement[str]:
        """Return the text under a key of a JSON object, without quotes."""

    @abstractmethod
    def _is_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Return the condition that a text can be cast to a number."""

    @abstractmethod
    @contextmanager
    def limited(self, session: Session, seconds: float) -> Iterator[None]:
        """Let the database cancel statements of a session that exceed the time limit."""

    def number(self, value: ColumnElement[str]) -> ColumnElement[float]:
        """Return a text as a number, or NULL if it is none: PostgreSQL fails at casts for which SQLite returns 0."""
        return case((self._is_number(value), cast(value, Double())))

    def may_be_no_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Return the condition that engines may disagree on whether a text is a number."""
        return or_(value.is_(None), not_(self._is_number(value)))

    def ordering(self, moment: ColumnElement[Any], row_id: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        """Return the columns that a query must select so that its rows can be sorted."""
        return [moment, row_id]


class _SQLite(Engine):
    """SQLite, the recorder's default."""

    @override
    def path(self, key: str) -> str:
        """Return the path in SQLite's notation."""
        return f'$."{key}"'

    @override
    def json_value(self, data: ColumnElement[Any], path: ColumnElement[str]) -> ColumnElement[str]:
        """Use the operator that returns JSON."""
        return data.op("->", return_type=Text())(path)

    @override
    def json_text(self, data: ColumnElement[Any], key: str) -> ColumnElement[str]:
        """Use the function that removes the quotes."""
        return func.json_extract(data, f"$.{key}", type_=Text())

    @override
    def _is_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Test the first character, which is fast and sufficient here."""
        return value.op("GLOB")(literal("[-+.0-9]*"))

    @override
    def may_be_no_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Test the whole string, not a numeric prefix."""
        return or_(super().may_be_no_number(value), value.op("GLOB")(literal("*[^-+.0-9eE]*")))

    @override
    def ordering(self, moment: ColumnElement[Any], row_id: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        """Return no columns: SQLite reads rows from the index in the order of time and id anyway.

        Its window functions are faster with fewer columns.
        """
        return [moment]

    @override
    @contextmanager
    def limited(self, session: Session, seconds: float) -> Iterator[None]:
        """Check the clock in a progress handler."""
        connection: Any = session.connection().connection.dbapi_connection
        end = monotonic() + seconds
        connection.set_progress_handler(lambda: monotonic() > end, _PROGRESS_STEPS)
        try:
            yield
        finally:
            connection.set_progress_handler(None, 0)


class _PostgreSQL(Engine):
    """PostgreSQL, where the recorder stores JSON as text."""

    @override
    def path(self, key: str) -> str:
        """Return the key itself."""
        return key

    @override
    def json_value(self, data: ColumnElement[Any], path: ColumnElement[str]) -> ColumnElement[str]:
        """Convert to text, because JSON values cannot be compared."""
        return cast(func.json_extract_path(cast(data, JSON()), path), Text())

    @override
    def json_text(self, data: ColumnElement[Any], key: str) -> ColumnElement[str]:
        """Convert with the engine's text operator."""
        return func.json_extract_path_text(cast(data, JSON()), key, type_=Text())

    @override
    def _is_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Test the whole string: a failed cast would end the query."""
        return value.op("~")(literal(NUMBER))

    @override
    @contextmanager
    def limited(self, session: Session, seconds: float) -> Iterator[None]:
        """Set the server's limit for the transaction."""
        session.execute(text(f"SET LOCAL statement_timeout = {seconds * 1000:.0f}"))
        yield


class _MySQL(Engine):
    """MySQL, and mostly MariaDB."""

    _limit = "max_execution_time"
    _per_second = 1000

    @override
    def path(self, key: str) -> str:
        """Return the path in the notation of its JSON functions."""
        return f'$."{key}"'

    @override
    def json_value(self, data: ColumnElement[Any], path: ColumnElement[str]) -> ColumnElement[str]:
        """Convert to text: MariaDB compares results of JSON_EXTRACT as if they had no quotes."""
        return func.concat("", func.json_extract(data, path), type_=Text())

    @override
    def json_text(self, data: ColumnElement[Any], key: str) -> ColumnElement[str]:
        """Extract the value and remove its quotes."""
        return func.json_unquote(func.json_extract(data, f"$.{key}"), type_=Text())

    @override
    def _is_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """Test the whole string."""
        return value.op("REGEXP")(literal(NUMBER))

    @override
    @contextmanager
    def limited(self, session: Session, seconds: float) -> Iterator[None]:
        """Set the server's limit, and remove it at the end."""
        session.execute(text(f"SET SESSION {self._limit} = {seconds * self._per_second:.0f}"))
        try:
            yield
        finally:
            session.execute(text(f"SET SESSION {self._limit} = DEFAULT"))


class _MariaDB(_MySQL):
    """MariaDB, whose limit has another name and unit."""

    _limit = "max_statement_time"
    _per_second = 1


SQLITE: Final[Engine] = _SQLite()
POSTGRESQL: Final[Engine] = _PostgreSQL()
MYSQL: Final[Engine] = _MySQL()
MARIADB: Final[Engine] = _MariaDB()


def engine_of(connection: Session | Connection) -> Engine:
    """Return the engine of a session or connection."""
    bind = connection.get_bind() if isinstance(connection, Session) else connection
    return engine_for(bind.dialect)


def engine_for(dialect: Dialect) -> Engine:
    """Return the engine of an SQLAlchemy dialect; the recorder supports no others."""
    match dialect.name:
        case "sqlite":
            return SQLITE
        case "postgresql":
            return POSTGRESQL
    return MARIADB if getattr(dialect, "is_mariadb", False) else MYSQL

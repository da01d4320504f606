"""What differs between the databases that the recorder may use: SQLite, PostgreSQL, MariaDB and MySQL.

No other file asks which of them it is. Each engine is made once, so statements can be kept by it.
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
"""Matches a text that every engine casts to the same number; at 1e999, PostgreSQL fails."""
_PROGRESS_STEPS = 100_000
"""Steps of SQLite's virtual machine, about a millisecond, between two looks at the clock."""


class Engine(ABC):
    """The ways of one database."""

    @abstractmethod
    def path(self, key: str) -> str:
        """The way to a key of a JSON object, as the value for json_value()'s path."""

    @abstractmethod
    def json_value(self, data: ColumnElement[Any], path: ColumnElement[str]) -> ColumnElement[str]:
        """The value at a path of a JSON object, as JSON in a text."""

    @abstractmethod
    def json_text(self, data: ColumnElement[Any], key: str) -> ColumnElement[str]:
        """The text under a key of a JSON object, without quotes."""

    @abstractmethod
    def _is_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """The condition that a text can be cast to a number."""

    @abstractmethod
    @contextmanager
    def limited(self, session: Session, seconds: float) -> Iterator[None]:
        """Let the database itself give up whatever statement of a session takes longer."""

    def number(self, value: ColumnElement[str]) -> ColumnElement[float]:
        """A text as a number, or NULL where it is none: PostgreSQL fails on a cast that SQLite lets pass as 0."""
        return case((self._is_number(value), cast(value, Double())))

    def may_be_no_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """The condition that a text is none of those that everyone reads as the same number."""
        return or_(value.is_(None), not_(self._is_number(value)))

    def ordering(self, moment: ColumnElement[Any], row_id: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        """The columns that a query has to carry so that its rows can be put in order."""
        return [moment, row_id]


class _SQLite(Engine):
    """SQLite, the recorder's own file."""

    @override
    def path(self, key: str) -> str:
        """As SQLite's JSON functions are given it."""
        return f'$."{key}"'

    @override
    def json_value(self, data: ColumnElement[Any], path: ColumnElement[str]) -> ColumnElement[str]:
        """By the operator that leaves JSON as it is."""
        return data.op("->", return_type=Text())(path)

    @override
    def json_text(self, data: ColumnElement[Any], key: str) -> ColumnElement[str]:
        """By the function, which takes the quotes away."""
        return func.json_extract(data, f"$.{key}", type_=Text())

    @override
    def _is_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """By the first character, which is quick and enough here."""
        return value.op("GLOB")(literal("[-+.0-9]*"))

    @override
    def may_be_no_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """By all characters: some texts that begin like a number are none."""
        return or_(super().may_be_no_number(value), value.op("GLOB")(literal("*[^-+.0-9eE]*")))

    @override
    def ordering(self, moment: ColumnElement[Any], row_id: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        """SQLite reads rows from the index in the order of moment and id anyway.

        Its window functions are faster the fewer columns they carry.
        """
        return [moment]

    @override
    @contextmanager
    def limited(self, session: Session, seconds: float) -> Iterator[None]:
        """By a look at the clock now and then."""
        connection: Any = session.connection().connection.dbapi_connection
        end = monotonic() + seconds
        connection.set_progress_handler(lambda: monotonic() > end, _PROGRESS_STEPS)
        try:
            yield
        finally:
            connection.set_progress_handler(None, 0)


class _PostgreSQL(Engine):
    """PostgreSQL, in which the recorder keeps JSON as text."""

    @override
    def path(self, key: str) -> str:
        """The key itself."""
        return key

    @override
    def json_value(self, data: ColumnElement[Any], path: ColumnElement[str]) -> ColumnElement[str]:
        """As text, since JSON cannot be compared."""
        return cast(func.json_extract_path(cast(data, JSON()), path), Text())

    @override
    def json_text(self, data: ColumnElement[Any], key: str) -> ColumnElement[str]:
        """By the function for texts."""
        return func.json_extract_path_text(cast(data, JSON()), key, type_=Text())

    @override
    def _is_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """By the whole text: a cast that fails would end the query."""
        return value.op("~")(literal(NUMBER))

    @override
    @contextmanager
    def limited(self, session: Session, seconds: float) -> Iterator[None]:
        """By the server, until the transaction ends."""
        session.execute(text(f"SET LOCAL statement_timeout = {seconds * 1000:.0f}"))
        yield


class _MySQL(Engine):
    """MySQL, and in most ways MariaDB."""

    _limit = "max_execution_time"
    _per_second = 1000

    @override
    def path(self, key: str) -> str:
        """As the JSON functions are given it."""
        return f'$."{key}"'

    @override
    def json_value(self, data: ColumnElement[Any], path: ColumnElement[str]) -> ColumnElement[str]:
        """As a text: MariaDB compares what JSON_EXTRACT itself returns as if it were without quotes."""
        return func.concat("", func.json_extract(data, path), type_=Text())

    @override
    def json_text(self, data: ColumnElement[Any], key: str) -> ColumnElement[str]:
        """By two functions, one of which takes the quotes away."""
        return func.json_unquote(func.json_extract(data, f"$.{key}"), type_=Text())

    @override
    def _is_number(self, value: ColumnElement[str]) -> ColumnElement[bool]:
        """By the whole text."""
        return value.op("REGEXP")(literal(NUMBER))

    @override
    @contextmanager
    def limited(self, session: Session, seconds: float) -> Iterator[None]:
        """By the server, until the limit is taken away."""
        session.execute(text(f"SET SESSION {self._limit} = {seconds * self._per_second:.0f}"))
        try:
            yield
        finally:
            session.execute(text(f"SET SESSION {self._limit} = DEFAULT"))


class _MariaDB(_MySQL):
    """MariaDB, which has another name and another unit for the limit."""

    _limit = "max_statement_time"
    _per_second = 1


SQLITE: Final[Engine] = _SQLite()
POSTGRESQL: Final[Engine] = _PostgreSQL()
MYSQL: Final[Engine] = _MySQL()
MARIADB: Final[Engine] = _MariaDB()


def engine_of(connection: Session | Connection) -> Engine:
    """The engine that a session or connection talks to."""
    bind = connection.get_bind() if isinstance(connection, Session) else connection
    return engine_for(bind.dialect)


def engine_for(dialect: Dialect) -> Engine:
    """The engine of a dialect of SQLAlchemy; another one than these the recorder does not use."""
    match dialect.name:
        case "sqlite":
            return SQLITE
        case "postgresql":
            return POSTGRESQL
    return MARIADB if getattr(dialect, "is_mariadb", False) else MYSQL

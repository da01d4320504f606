"""Reading the recorder's rows from a server, in steps: a transaction that only reads, on a connection of its own."""

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, text

from ..worker.tables import ATTRIBUTES, META_VALUES, RowTable, Share

_CONNECT_TIMEOUT: Final = 5
_READ_TIMEOUT: Final = 60
"""Seconds of silence after which a server counts as gone; longer than any statement may take."""
_BATCH: Final = 2_000
_FEW: Final = 50
"""Attributes at once: each may have 16 kB, and Home Assistant holds them while they are handed over."""

type Rows = list[tuple[Any, ...]]
type Part = tuple[str, Rows]
"""Rows of a table."""


class TooManyRowsError(Exception):
    """There are more rows than may be copied."""


class Streamed:
    """What is read step by step, each step in another thread, and given up in any."""

    def __init__(self, parts: Generator[Part]) -> None:
        """Take what yields the parts."""
        self._parts = parts
        self._lock = Lock()

    def next(self) -> Part | None:
        """Return the next part, or None."""
        with self._lock:
            return next(self._parts, None)

    def close(self) -> None:
        """Give up what is left, as soon as the step is done that is being taken."""
        with self._lock:
            self._parts.close()


@lru_cache(maxsize=2)
def _engine(url: str) -> Engine:
    """Return an engine like the recorder's, which keeps one connection and takes none of the recorder's."""
    settings: dict[str, Any] = {"connect_timeout": _CONNECT_TIMEOUT}
    if not url.startswith("postgresql"):
        settings |= {"charset": "utf8mb4", "read_timeout": _READ_TIMEOUT}
    return create_engine(
        url, pool_size=1, max_overflow=4, pool_pre_ping=True, hide_parameters=True, connect_args=settings
    )


@contextmanager
def read_only(url: str, seconds: float) -> Iterator[Connection]:
    """Yield a connection in a transaction that only reads, as of one moment, each of whose statements the server ends."""
    with _engine(url).connect() as connection:
        try:
            if connection.dialect.name == "postgresql":
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
                connection.execute(text(f"SET LOCAL statement_timeout = {seconds * 1000:.0f}"))
                connection.execute(text("SET LOCAL cursor_tuple_fraction = 1"))
            else:
                mariadb = getattr(connection.dialect, "is_mariadb", False)
                limit = ("max_statement_time", seconds) if mariadb else ("max_execution_time", seconds * 1000)
                connection.rollback()
                connection.execute(text(f"SET SESSION {limit[0]} = {limit[1]:g}"))
                # Planning does not look at the clock: a join of many tables would be planned for hours.
                connection.execute(text("SET SESSION optimizer_search_depth = 0"))
                connection.execute(text("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"))
            yield connection
        except BaseException:  # A reader that gives up early ends this with GeneratorExit; it is raised again.
            # A driver would read the rest of a result that nobody wants before it takes another statement.
            connection.invalidate()
            raise


def stream_rows(url: str, exposed: Mapping[str, Collection[str]], share: Share, seconds: float) -> Generator[Part]:
    """Yield the rows of exposed entities and statistics: who they are, their attributes, their states.

    The first part holds the ids of all entities that the recorder knows, for what must not be named.
    """
    with read_only(url, seconds) as connection:
        numbers: dict[str, list[int]] = {}
        for meta, values in META_VALUES.items():
            key, name = ("metadata_id", "entity_id") if meta == "states_meta" else ("id", "statistic_id")
            columns = ", ".join((key, name, *values))
            known = [tuple(row) for row in connection.execute(text(f"SELECT {columns} FROM {meta}"))]  # noqa: S608 - constants
            numbers[meta] = [row[0] for row in known if row[1] in exposed[meta]]
            yield meta, known
        left = share.most_rows
        matching = {table.name: _matching(table, numbers[table.meta], share.span) for table in share.tables}
        for table in share.tables:
            left -= _count(connection, table, matching[table.name], left)
            if left < 0:
                raise TooManyRowsError
        for table in share.tables:
            if table.has_attributes and share.attributes:
                yield from _parts(connection, ATTRIBUTES, _attributes(table, matching[table.name]), _FEW)
            yield from _parts(connection, table.name, _rows(table, matching[table.name], share))


def _matching(table: RowTable, numbers: Sequence[int], span: tuple[float, float]) -> str:
    """Return the condition for the exposed rows of a span."""
    ids = ", ".join(map(str, sorted(map(int, numbers)))) or "NULL"
    start, end = map(float, span)
    return f"metadata_id IN ({ids}) AND {table.moment} >= {start!r} AND {table.moment} < {end!r}"


def _count(connection: Connection, table: RowTable, matching: str, most: int) -> int:
    """Return how many rows there are to copy, and one more than the most where there are more."""
    query = f"SELECT count(*) FROM (SELECT 1 AS one FROM {table.name} WHERE {matching} LIMIT {most + 1}) AS counted"  # noqa: S608 - constants and numbers
    return int(connection.execute(text(query)).scalar_one())


def _rows(table: RowTable, matching: str, share: Share) -> str:
    """Return the query for the rows of a table, in the order in which they were written."""
    shared = () if not table.has_attributes else ("attributes_id",) if share.attributes else ("NULL AS attributes_id",)
    columns = ", ".join(("metadata_id", *table.values, *shared))
    return f"SELECT {columns} FROM {table.name} WHERE {matching} ORDER BY {table.key}"  # noqa: S608 - constants and numbers


def _attributes(table: RowTable, matching: str) -> str:
    """Return the query for the attributes of the rows of a table, in the order in which these rows use them.

    Their own order would tell which of them a hidden entity had before.
    """
    used = f"SELECT attributes_id, min({table.key}) AS used FROM {table.name} WHERE {matching} GROUP BY attributes_id"  # noqa: S608 - constants and numbers
    return (
        f"SELECT a.attributes_id, a.shared_attrs FROM ({used}) AS first_used "  # noqa: S608 - constants and numbers
        f"JOIN {ATTRIBUTES} AS a ON a.attributes_id = first_used.attributes_id ORDER BY first_used.used"
    )


def _parts(connection: Connection, table: str, query: str, most: int = _BATCH) -> Iterator[Part]:
    """Yield the rows of a query as the server sends them."""
    result = connection.execute(text(query), execution_options={"stream_results": True, "max_row_buffer": most})
    for rows in result.partitions(most):
        yield table, [tuple(row) for row in rows]

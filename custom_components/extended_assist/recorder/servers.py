"""Queries on PostgreSQL and MariaDB: a read-only transaction on a connection of its own, whose tables are views."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from time import monotonic
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, make_url, text as sql
from sqlalchemy.exc import DBAPIError

from ..results import ToolError
from .views import COLUMNS, ENTITY_ID_PATTERN, MATCHED_ATTRIBUTES, SECRET_PATTERN, view

_CONNECT_TIMEOUT: Final = 5
_READ_TIMEOUT: Final = 10
"""Seconds of silence after which a server counts as gone; longer than any query may take."""
_OLDEST_MARIADB: Final = (10, 6)
_BATCH: Final = 100

# In JSON, a plain character written as an escape could spell an id past the pattern.
_HIDDEN_KEY: Final = f"{ENTITY_ID_PATTERN}|{SECRET_PATTERN}"
_HIDDEN_VALUE: Final = rf"{ENTITY_ID_PATTERN}|\\u00[2-7]"
# Both keep what has no part that could be an entity id and no name of a secret, as views.exposed_attributes does.
_POSTGRESQL_ATTRIBUTES: Final = f"""(
SELECT COALESCE(CAST(json_object_agg(a.key, a.value) AS text), '{{}}') FROM json_each(CAST(SHARED_ATTRS AS json)) AS a
WHERE a.key !~* '{_HIDDEN_KEY}'
AND (json_typeof(a.value) NOT IN ('string', 'object', 'array') OR CAST(a.value AS text) !~ '{_HIDDEN_VALUE}'))"""  # noqa: S608 - only constants
_MARIADB_ATTRIBUTES: Final = rf"""(
SELECT COALESCE(JSON_OBJECTAGG(a.name, JSON_EXTRACT(SHARED_ATTRS, CONCAT('$.', JSON_QUOTE(a.name)))), '{{}}')
FROM JSON_TABLE(JSON_KEYS(SHARED_ATTRS), '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$')) AS a
WHERE LOWER(a.name) NOT REGEXP '{_HIDDEN_KEY.replace("\\", "\\\\")}'
AND JSON_EXTRACT(SHARED_ATTRS, CONCAT('$.', JSON_QUOTE(a.name))) NOT REGEXP '{_HIDDEN_VALUE.replace("\\", "\\\\")}')"""  # noqa: S608 - only constants


class ServerReader:
    """A transaction for one query."""

    def __init__(self, connection: Connection, end: float) -> None:
        """Take a connection, and the moment of the monotonic clock at which it is too late."""
        self.name = connection.dialect.name if connection.dialect.name == "postgresql" else "mariadb"
        self._connection = connection
        self._end = end
        self._views: dict[str, str] = {}
        self._schema = ""

    def begin(self, time_zone: str, utc_offset: str) -> None:
        """Begin to read, as of now and nothing but reading."""
        if self.name == "postgresql":
            self._connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            self._schema = self._connection.execute(
                sql(
                    "SELECT quote_ident(nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                    "WHERE c.oid = to_regclass('states')"
                )
            ).scalar_one()
            # Only what PostgreSQL itself defines has a name from here on.
            self._connection.execute(sql("SET LOCAL search_path = pg_catalog"))
            self._connection.execute(
                sql(
                    "SELECT set_config('standard_conforming_strings', 'on', true), set_config('jit', 'off', true), "
                    "set_config('cursor_tuple_fraction', '1', true), set_config('timezone', :zone, true)"
                ),
                {"zone": time_zone},
            )
            return
        self._schema = f'"{make_url(self._connection.engine.url).database}"'
        self._connection.rollback()
        self._connection.execute(
            sql(
                "SET SESSION sql_mode = 'ANSI_QUOTES', group_concat_max_len = 65536, time_zone = :offset, "
                "optimizer_switch = 'condition_pushdown_for_derived=off,condition_pushdown_for_subquery=off,"
                "condition_pushdown_from_having=off'"
            ),
            {"offset": utc_offset},
        )
        self._connection.execute(sql("START TRANSACTION READ ONLY"))

    def names(self, table: str, column: str) -> list[tuple[int, str]]:
        """Return the ids and names that a table of metadata holds."""
        query = f"SELECT {COLUMNS[table][0]}, {column} FROM {self._base(table)}"  # noqa: S608 - no input
        return [(row[0], row[1]) for row in self._connection.execute(sql(query))]

    def expose(self, ids: Mapping[str, Collection[int]], functions: Collection[str]) -> None:
        """Define the views on exposed rows."""
        attributes = _POSTGRESQL_ATTRIBUTES if self.name == "postgresql" else _MARIADB_ATTRIBUTES
        self._views = {
            table: view(table, self._base, lambda column: attributes.replace("SHARED_ATTRS", column), ids)
            for table in (*COLUMNS, MATCHED_ATTRIBUTES)
        }

    def view(self, table: str) -> str:
        """Return what stands for a table in a FROM clause."""
        return f'"exposed_{table}"'

    def rows(self, text: str, bound: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query; the server ends it when its time is over, and sends no more than is read."""
        left = max(self._end - monotonic(), 0.001)
        limit = "SET LOCAL statement_timeout =" if self.name == "postgresql" else "SET SESSION max_statement_time ="
        self._connection.execute(
            sql(f"{limit} {left * 1000:.0f}" if self.name == "postgresql" else f"{limit} {left:.3f}")
        )
        result = self._connection.execute(
            sql(self._with_views(text)),
            dict(bound),
            execution_options={"stream_results": True, "max_row_buffer": _BATCH},
        )
        for batch in result.partitions(_BATCH):
            if monotonic() > self._end:
                raise TimeoutError
            yield from map(tuple, batch)

    def _base(self, table: str) -> str:
        return f'{self._schema}."{table}"'

    def _with_views(self, text: str) -> str:
        """Return a query with the views that it uses before it, to be merged into it by the server."""
        inline = "AS NOT MATERIALIZED" if self.name == "postgresql" else "AS"
        views = ", ".join(
            f"{self.view(table)} {inline} ({query})" for table, query in self._views.items() if self.view(table) in text
        )
        if not views:
            return text
        for start in ("WITH RECURSIVE ", "WITH "):
            if text.startswith(start):
                return f"{start}{views}, {text.removeprefix(start)}"
        return f"WITH {views} {text}"


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
def open_server(url: str, end: float, time_zone: str, utc_offset: str) -> Iterator[ServerReader]:
    """Connect to the recorder's server for one query that ends at a moment of the monotonic clock."""
    with _engine(url).connect() as connection:
        dialect = connection.dialect
        if dialect.name != "postgresql" and not (
            getattr(dialect, "is_mariadb", False) and (dialect.server_version_info or ()) >= _OLDEST_MARIADB
        ):
            oldest = ".".join(map(str, _OLDEST_MARIADB))
            raise ToolError(f"Queries work on SQLite, PostgreSQL and MariaDB {oldest} or newer only. Tell the user.")
        reader = ServerReader(connection, end)
        try:
            reader.begin(time_zone, utc_offset)
            yield reader
        except TimeoutError, DBAPIError:
            # A driver would read the rest of a result that nobody wants before it takes another statement.
            connection.invalidate()
            raise


_POSTGRESQL_ERRORS: Final = {
    "22P02": "a text cannot be cast; leave out states such as 'unavailable' and 'unknown' first",
    "22003": "a number became too large",
    "22012": "it divides by zero; use NULLIF(divisor, 0)",
    "22007": "a text is no date or time",
    "22008": "a date or time is out of range",
    "21000": "a subquery used as a value has more than one row",
}
_MARIADB_ERRORS: Final = {
    1690: "a number became too large",
    1242: "a subquery used as a value has more than one row",
}
_MARIADB_STATIC: Final = frozenset({1052, 1054, 1055, 1056, 1064, 1111, 1140, 1222, 1241, 1247, 1582})
"""Errors found before any row is read, whose texts hold names alone."""
_TIMEOUTS: Final = frozenset({"57014", 1969, 2013})


def explain_server(err: DBAPIError) -> str | None:
    """Return what is wrong with a query, in words that hold no value of any row; None when it ran out of time."""
    original: Any = err.orig
    code = getattr(original, "pgcode", None) or (original.args[0] if original and original.args else None)
    if code in _TIMEOUTS:
        return None
    if words := _POSTGRESQL_ERRORS.get(str(code)) or (_MARIADB_ERRORS.get(code) if isinstance(code, int) else None):
        return words
    if str(code).startswith("42") and len(str(code)) == 5:
        return str(getattr(original.diag, "message_primary", "")) or "PostgreSQL cannot run it"
    if code in _MARIADB_STATIC:
        return str(original.args[1])
    return "the database cannot run it"

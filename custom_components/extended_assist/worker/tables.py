"""The tables of a private database, with the recorder's names and additional columns that make joins unnecessary."""

from typing import Final, NamedTuple


class RowTable(NamedTuple):
    """A table whose rows belong to an entity or a statistic and have a time."""

    name: str
    key: str
    moment: str
    """The column with the time."""
    meta: str
    """The table of the entities or statistics."""
    meta_key: str
    meta_name: str
    values: tuple[str, ...]
    """The copied columns, the time first."""
    shown: tuple[str, ...]
    """The computed columns."""
    has_attributes: bool = False

    @property
    def stored(self) -> str:
        """Return the name of the table behind the view with the recorder's name."""
        return f"{self.name}_rows"

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of that table without the key."""
        return (
            "metadata_id",
            self.meta_name,
            *self.values,
            *(("attributes_id",) if self.has_attributes else ()),
        )


def _of_meta(column: str, meta: str, key: str) -> str:
    """Return a column of the entity or statistic as a subquery, which costs nothing unless it is used."""
    return f"(SELECT m.{column} FROM {meta} AS m WHERE m.{key} = r.metadata_id) AS {column}"  # noqa: S608 - constants


def _local(moment: str, name: str) -> str:
    """Return a timestamp as local time, rounded to the second: SQLite itself would cut it."""
    return f"datetime(round({moment}), 'unixepoch', 'localtime') AS {name}"


def _statistics(name: str) -> RowTable:
    """Return a table of statistics."""
    return RowTable(
        name=name,
        key="id",
        moment="start_ts",
        meta="statistics_meta",
        meta_key="id",
        meta_name="statistic_id",
        values=("start_ts", "mean", "min", "max", "state", "sum", "last_reset_ts"),
        shown=(
            _local("start_ts", "start"),
            *(_of_meta(column, "statistics_meta", "id") for column in ("name", "area", "unit_of_measurement")),
        ),
    )


STATES: Final = RowTable(
    name="states",
    key="state_id",
    moment="last_updated_ts",
    meta="states_meta",
    meta_key="metadata_id",
    meta_name="entity_id",
    values=("last_updated_ts", "last_changed_ts", "last_reported_ts", "state"),
    has_attributes=True,
    shown=(
        _local("last_updated_ts", "last_updated"),
        _local("coalesce(last_changed_ts, last_updated_ts)", "last_changed"),
        *(_of_meta(column, "states_meta", "metadata_id") for column in ("name", "area")),
    ),
)
ROW_TABLES: Final = {
    table.name: table for table in (STATES, _statistics("statistics"), _statistics("statistics_short_term"))
}
PLAIN_VIEWS: Final = {
    table.name: f"SELECT {', '.join((table.key, 'metadata_id', *table.columns[2:], table.shown[0]))} FROM {table.stored}"  # noqa: S608 - constants
    for table in ROW_TABLES.values()
}
"""The views without the additional columns."""
META_VALUES: Final = {
    "states_meta": (),
    "statistics_meta": ("source", "unit_of_measurement", "unit_class", "has_mean", "has_sum"),
}
"""The copied columns of entities and statistics."""
ATTRIBUTES: Final = "state_attributes"
_META: Final = """
CREATE TABLE states_meta (metadata_id INTEGER PRIMARY KEY, entity_id TEXT NOT NULL, name TEXT, area TEXT);
CREATE TABLE statistics_meta (
  id INTEGER PRIMARY KEY, statistic_id TEXT NOT NULL, name TEXT, area TEXT, source TEXT,
  unit_of_measurement TEXT, unit_class TEXT, has_mean INTEGER, has_sum INTEGER
);
CREATE INDEX states_meta_entity_id ON states_meta (entity_id);
CREATE INDEX statistics_meta_statistic_id ON statistics_meta (statistic_id);
CREATE TABLE state_attributes (attributes_id INTEGER PRIMARY KEY, shared_attrs TEXT NOT NULL);
"""


class Share(NamedTuple):
    """The part of the exposed rows that is copied."""

    tables: tuple[RowTable, ...]
    """The tables of rows."""
    span: tuple[float, float]
    most_rows: int
    """The most rows; more are refused before anything is copied."""
    attributes: bool
    """True to copy the attributes of states."""


def schema() -> str:
    """Return the statements that create all tables."""
    return _META + "".join(map(_rows_and_view, ROW_TABLES.values()))


def _rows_and_view(table: RowTable) -> str:
    """Return the statements that create a table of rows, and the view with the recorder's name."""
    columns = ", ".join(f"{column} {_type(table, column)}".rstrip() for column in table.columns)
    shown = ", ".join((table.key, *table.columns, *table.shown))
    rows = f"CREATE TABLE {table.stored} ({table.key} INTEGER PRIMARY KEY, {columns});\n"
    return f"{rows}CREATE VIEW {table.name} AS SELECT {shown} FROM {table.stored} AS r;\n"  # noqa: S608 - constants


def _type(table: RowTable, column: str) -> str:
    """Return the type of a column."""
    if column in ("metadata_id", "attributes_id"):
        return "INTEGER NOT NULL" if column == "metadata_id" else "INTEGER"
    if column == table.meta_name:
        return "TEXT NOT NULL"
    return "TEXT" if table is STATES and column == "state" else "REAL"


def indexes(table: RowTable) -> str:
    """Return the statements that create the indexes."""
    return "".join(
        f"CREATE INDEX {table.stored}_{column} ON {table.stored} ({column}, {table.moment});\n"
        for column in ("metadata_id", table.meta_name)
    )

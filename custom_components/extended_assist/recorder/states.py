"""The recorded states, or values of one attribute, of an entity over a time span: the rows that other queries aggregate."""

from dataclasses import dataclass
from functools import cache
import re
from typing import Any

from sqlalchemy import ColumnElement, Executable, Select, Subquery, Text, bindparam, func, or_, select
from sqlalchemy.orm import Session

from ..ha_compat.recorder import StateAttributes, States
from .engine import NUMBER, Engine

# Tables rather than mapped classes: the object-relational layer adds a tenth of a millisecond to every statement.
STATES = States.__table__
ATTRIBUTES = StateAttributes.__table__

GAPS = ("unavailable", "unknown", "")
"""States without a value; the recorder writes the empty one when an entity is removed."""
_JSON_NULL = "null"
_LOOK_BACK = 50
"""The rows among which the change before a span is searched; each restart leaves two rows."""
_PATH: ColumnElement[str] = bindparam("path", type_=Text())


@dataclass(frozen=True, slots=True)
class Row:
    """A time, in seconds since the epoch, and the value from then on: a state, or an attribute as JSON."""

    moment: float
    value: str | None


@dataclass(frozen=True, slots=True)
class Series:
    """The recorded state, or one attribute, of an entity."""

    engine: Engine
    metadata_id: int
    attribute: str | None = None

    def run(self, session: Session, statement: Executable, **parameters: Any) -> Any:
        """Execute a statement for this kind of series."""
        parameters["metadata_id"] = self.metadata_id
        if self.attribute is not None:
            parameters["path"] = self.engine.path(self.attribute)
        return session.connection().execute(statement, parameters)

    @property
    def of_attribute(self) -> bool:
        """Return whether this is an attribute."""
        return self.attribute is not None


def value_column(engine: Engine, *, attribute: bool) -> ColumnElement[str]:
    """Return the value of a row as text: the state, or the attribute as JSON."""
    return engine.json_value(ATTRIBUTES.c.shared_attrs, _PATH) if attribute else STATES.c.state


def is_gap(value: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a row has no value."""
    return or_(value.is_(None), value.in_((*GAPS, _JSON_NULL)))


def is_gap_value(value: str | None) -> bool:
    """Return whether a value is a gap."""
    return value is None or value in GAPS or value == _JSON_NULL


def as_number(value: str | None) -> float | None:
    """Return a value as a number, or None."""
    return float(value) if value is not None and re.match(NUMBER, value) else None


def moments(engine: Engine) -> list[ColumnElement[Any]]:
    """Return the columns for the order of rows."""
    return engine.ordering(STATES.c.last_updated_ts.label("moment"), STATES.c.state_id)


def order_of(rows: Subquery) -> list[ColumnElement[Any]]:
    """Return the order of rows that were selected with moments()."""
    return [column for name in ("moment", "state_id") if (column := rows.c.get(name)) is not None]


def within(*columns: ColumnElement[Any], attribute: bool, changed_only: bool = False) -> Select[Any]:
    """Select columns of a series' rows from :first up to :cut.

    With changed_only, rows of mere attribute changes are left out; the first row is kept.
    """
    moment = STATES.c.last_updated_ts
    statement = select(*columns).where(
        STATES.c.metadata_id == bindparam("metadata_id"), moment >= bindparam("first"), moment < bindparam("cut")
    )
    if attribute:
        return statement.select_from(STATES).outerjoin(ATTRIBUTES, STATES.c.attributes_id == ATTRIBUTES.c.attributes_id)
    if changed_only:
        statement = statement.where(
            or_(STATES.c.last_changed_ts.is_(None), STATES.c.last_changed_ts == moment, moment <= bindparam("first"))
        )
    return statement


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a series for the time from start up to cut."""

    series: Series
    first: Row
    """The row that is valid at start, or else the first row, at which the rows then start."""
    start: float
    cut: float
    since: float
    """The time since which the first value lasted: the change of a state, or the row of an attribute."""

    def run(self, session: Session, statement: Executable, **parameters: Any) -> Any:
        """Execute a statement of within()."""
        parameters |= {"first": self.first.moment, "start": self.start, "cut": self.cut}
        return self.series.run(session, statement, **parameters)


def changed_column(*, attribute: bool) -> ColumnElement[float]:
    """Return the time since which a row's value lasted; for attributes, the recorder only stores that of the row."""
    moment: ColumnElement[float] = STATES.c.last_updated_ts
    return moment if attribute else func.coalesce(STATES.c.last_changed_ts, moment)


@cache
def _edge(engine: Engine, *, attribute: bool, at_start: bool) -> Select[Any]:
    """Select the row that is valid at :start, or the first one after it and before :cut."""
    moment = STATES.c.last_updated_ts
    statement = select(
        moment, value_column(engine, attribute=attribute), changed_column(attribute=attribute).label("since")
    ).where(STATES.c.metadata_id == bindparam("metadata_id"))
    if attribute:
        statement = statement.outerjoin(ATTRIBUTES, STATES.c.attributes_id == ATTRIBUTES.c.attributes_id)
    if at_start:
        statement = statement.where(moment <= bindparam("start")).order_by(moment.desc(), STATES.c.state_id.desc())
    else:
        statement = statement.where(moment > bindparam("start"), moment < bindparam("cut")).order_by(
            moment, STATES.c.state_id
        )
    return statement.limit(1)


def find_rows(session: Session, series: Series, start: float, cut: float) -> Rows | None:
    """Return the rows of a span, or None if there are none."""
    for at_start in (True, False):
        statement = _edge(series.engine, attribute=series.of_attribute, at_start=at_start)
        parameters = {"start": start} if at_start else {"start": start, "cut": cut}
        if found := series.run(session, statement, **parameters).first():
            *row, since = found
            first = Row(*row)
            return Rows(series, first, max(start, first.moment), cut, since)
    return None


_OLDEST = select(func.min(STATES.c.last_updated_ts))


def oldest_moment(session: Session) -> float | None:
    """Return the time of the oldest row of any entity by one index look-up."""
    found: float | None = session.connection().execute(_OLDEST).scalar()
    return found


def first_moment(session: Session, series: Series) -> float | None:
    """Return the time of the oldest row of an entity by one index look-up."""
    statement = select(func.min(STATES.c.last_updated_ts)).where(STATES.c.metadata_id == bindparam("metadata_id"))
    found: float | None = series.run(session, statement).scalar()
    return found


@dataclass(frozen=True, slots=True)
class Held:
    """A value at a time, and since when it lasted, in seconds since the epoch."""

    value: str
    since: float
    is_change: bool
    """True if there was another value before; otherwise nothing older is known."""


@cache
def _older(engine: Engine, *, attribute: bool) -> Select[Any]:
    """Select the newest rows before :since."""
    moment = STATES.c.last_updated_ts
    statement = select(value_column(engine, attribute=attribute), changed_column(attribute=attribute)).where(
        STATES.c.metadata_id == bindparam("metadata_id"), moment < bindparam("since")
    )
    if attribute:
        statement = statement.outerjoin(ATTRIBUTES, STATES.c.attributes_id == ATTRIBUTES.c.attributes_id)
    return statement.order_by(moment.desc(), STATES.c.state_id.desc()).limit(_LOOK_BACK)


def last_change(session: Session, series: Series, value: str | None, since: float) -> Held | None:
    """Return the last change up to the given value and its start; gaps are no changes.

    It takes one index look-up of a limited number of rows. None if only gaps are known.
    """
    for older, changed in series.run(session, _older(series.engine, attribute=series.of_attribute), since=since):
        if is_gap_value(older):
            continue
        if not is_gap_value(value) and older != value:
            return Held(str(value), since, is_change=True)
        value, since = older, changed
    return None if is_gap_value(value) else Held(str(value), since, is_change=False)


@cache
def _changes(engine: Engine, *, attribute: bool) -> Select[Any]:
    """Select the rows whose value differs from the row before, newest first."""
    table = STATES.c
    rows = within(
        table.last_updated_ts.label("moment"),
        table.state_id,
        value_column(engine, attribute=attribute).label("value"),
        attribute=attribute,
        changed_only=not attribute,
    ).subquery()
    text = func.coalesce(rows.c.value, "")
    order = (rows.c.moment, rows.c.state_id)
    marked = select(
        rows.c.moment, rows.c.state_id, text.label("value"), func.lag(text).over(order_by=order).label("previous")
    ).subquery()
    return (
        select(marked.c.moment, marked.c.value)
        .where(or_(marked.c.previous.is_(None), marked.c.value != marked.c.previous))
        .order_by(marked.c.moment.desc(), marked.c.state_id.desc())
        .limit(bindparam("count"))
    )


def newest_changes(session: Session, rows: Rows, count: int) -> list[Row]:
    """Return the newest changes, newest first, with gaps; the state at the start counts as one."""
    statement = _changes(rows.series.engine, attribute=rows.series.of_attribute)
    return [Row(max(moment, rows.start), value) for moment, value in rows.run(session, statement, count=count)]

"""Numbers over a time span, aggregated by the database from the recorded rows."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Double, Select, Subquery, bindparam, case, func, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.selectable import CTE

from .engine import Engine
from .states import STATES, Rows, as_number, moments, order_of, value_column, within


@dataclass(frozen=True, slots=True)
class Reading:
    """A time, in seconds since the epoch, and a number."""

    moment: float
    number: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Numbers over a span; durations in seconds."""

    count: int
    """The number of readings; an hour of statistics in place of purged rows counts as one."""
    known: float
    """The seconds with a known number."""
    weighted: float
    """The sum of the numbers, each times its duration."""
    minimum: Reading
    maximum: Reading
    first: Reading
    last: Reading

    @property
    def mean(self) -> float:
        """Return the time-weighted mean."""
        return self.weighted / self.known if self.known > 0 else self.last.number

    def joined(self, later: Numbers | None) -> Numbers:
        """Return these numbers together with later ones."""
        if later is None:
            return self
        return Numbers(
            count=self.count + later.count,
            known=self.known + later.known,
            weighted=self.weighted + later.weighted,
            minimum=min(self.minimum, later.minimum, key=lambda reading: reading.number),
            maximum=max(self.maximum, later.maximum, key=lambda reading: reading.number),
            first=self.first,
            last=later.last,
        )


def constant(number: float, start: float, end: float) -> Numbers:
    """Return the numbers of a span with a constant number."""
    reading, length = Reading(start, number), end - start
    return Numbers(
        count=1,
        known=length,
        weighted=number * length,
        minimum=reading,
        maximum=reading,
        first=reading,
        last=reading,
    )


def read_numbers(session: Session, rows: Rows, *, last: bool = True) -> Numbers | None:
    """Return the numbers of rows, or None if there are none; without `last`, the last number is unspecified."""
    series = rows.series
    count, known, weighted, *extremes = rows.run(session, _numbers(series.engine, attribute=series.of_attribute)).one()
    if not count:
        return None
    first = first_number(session, rows)
    minimum, minimum_at, maximum, maximum_at = extremes
    return Numbers(
        count=count,
        known=known or 0,
        weighted=weighted or 0,
        minimum=Reading(minimum_at, minimum),
        maximum=Reading(maximum_at, maximum),
        first=first,
        last=last_number(session, rows) if last else first,
    )


def first_number(session: Session, rows: Rows) -> Reading:
    """Return the first number of rows, of which at least one is a number."""
    number = as_number(rows.first.value)
    return _read_outermost(session, rows, newest=False) if number is None else Reading(rows.start, number)


def last_number(session: Session, rows: Rows) -> Reading:
    """Return the last number among rows, which have one."""
    return _read_outermost(session, rows, newest=True)


def _read_outermost(session: Session, rows: Rows, *, newest: bool) -> Reading:
    """Return the first or the last number among rows, which have one."""
    statement = _outermost(rows.series.engine, attribute=rows.series.of_attribute, newest=newest)
    moment, number = rows.run(session, statement).one()
    return Reading(max(moment, rows.start), number)


@cache
def _numbers(engine: Engine, *, attribute: bool) -> Select[Any]:
    """Select count, known time, weighted sum, and the extremes with their moments."""
    start: ColumnElement[float] = bindparam("start", type_=Double())
    cut: ColumnElement[float] = bindparam("cut", type_=Double())
    rows = within(
        *moments(engine),
        engine.number(value_column(engine, attribute=attribute)).label("number"),
        attribute=attribute,
    ).subquery()
    following: ColumnElement[float] = func.lead(rows.c.moment, type_=Double()).over(order_by=order_of(rows))
    moment = case((rows.c.moment < start, start), else_=rows.c.moment)
    held = select(moment.label("moment"), rows.c.number, (func.coalesce(following, cut) - moment).label("length")).cte()
    number = held.c.number
    return select(
        func.count(number),
        func.sum(case((number.is_not(None), held.c.length))),
        func.sum(number * held.c.length),
        *extremes_of(held, number),
    )


def extremes_of(rows: CTE | Subquery, number: ColumnElement[float]) -> list[ColumnElement[Any]]:
    """Return minimum and maximum, each with the first moment at which it occurs."""
    return [
        column
        for extreme in (func.min(number), func.max(number))
        for column in (
            extreme,
            select(func.min(rows.c.moment)).where(number == select(extreme).scalar_subquery()).scalar_subquery(),
        )
    ]


@cache
def _outermost(engine: Engine, *, attribute: bool, newest: bool) -> Select[Any]:
    """Select the first or the last number."""
    table = STATES.c
    moment = table.last_updated_ts
    number = engine.number(value_column(engine, attribute=attribute))
    statement = within(moment, number, attribute=attribute).where(number.is_not(None))
    order = (moment.desc(), table.state_id.desc()) if newest else (moment, table.state_id)
    return statement.order_by(*order).limit(1)

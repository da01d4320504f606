"""Numbers over a span, aggregated by the database: of the recorded rows and, where these are purged, of statistics."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Double, Select, Subquery, bindparam, case, func, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.selectable import CTE

from homeassistant.components.recorder.db_schema import Statistics, StatisticsMeta
from homeassistant.components.recorder.statistics import STATISTIC_UNIT_TO_UNIT_CONVERTER

from .engine import Engine
from .states import STATES, Rows, as_number, moments, order_of, value_column, within

_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Reading:
    """A moment, in seconds since the epoch, and a number."""

    moment: float
    number: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Numbers over a span; durations in seconds."""

    count: int
    """How many there were; an hour of statistics counts as one."""
    known: float
    """How long there was a number."""
    weighted: float
    """The sum of the numbers, each times how long it held."""
    minimum: Reading
    maximum: Reading
    first: Reading
    last: Reading

    @property
    def mean(self) -> float:
        """Return the mean, weighted by time."""
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
    """Return the numbers of a span in which one number held."""
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
    """Return the numbers among rows, or None where there is none; without last, the last one may be any."""
    series = rows.series
    count, known, weighted, *extremes = rows.run(session, _numbers(series.engine, attribute=series.of_attribute)).one()
    if not count:
        return None

    def outermost(*, newest: bool) -> Reading:
        statement = _outermost(series.engine, attribute=series.of_attribute, newest=newest)
        moment, number = rows.run(session, statement).one()
        return Reading(max(moment, rows.start), number)

    number = as_number(rows.first.value)
    first = outermost(newest=False) if number is None else Reading(rows.start, number)
    minimum, minimum_at, maximum, maximum_at = extremes
    return Numbers(
        count=count,
        known=known or 0,
        weighted=weighted or 0,
        minimum=Reading(minimum_at, minimum),
        maximum=Reading(maximum_at, maximum),
        first=first,
        last=outermost(newest=True) if last else first,
    )


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
        *_extremes(held, number),
    )


def _extremes(rows: CTE | Subquery, number: ColumnElement[float]) -> list[ColumnElement[Any]]:
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


@cache
def _hourly() -> Select[Any]:
    """Select count, mean and extremes of whole hours of long-term statistics, and the outermost hours."""
    hours = (
        select(
            Statistics.start_ts.label("moment"),
            func.coalesce(Statistics.mean, Statistics.state).label("number"),
            func.coalesce(Statistics.min, Statistics.state).label("low"),
            func.coalesce(Statistics.max, Statistics.state).label("high"),
        )
        .join(StatisticsMeta, Statistics.metadata_id == StatisticsMeta.id)
        .where(
            StatisticsMeta.statistic_id == bindparam("statistic_id"),
            Statistics.start_ts >= bindparam("start"),
            Statistics.start_ts <= bindparam("end"),
        )
        .cte()
    )
    outermost = [
        select(hours.c.number).order_by(order).limit(1).scalar_subquery()
        for order in (hours.c.moment, hours.c.moment.desc())
    ]
    low, high = _extremes(hours, hours.c.low)[:2], _extremes(hours, hours.c.high)[2:]
    return select(
        func.count(hours.c.number),
        func.avg(hours.c.number),
        *low,
        *high,
        func.min(hours.c.moment),
        func.max(hours.c.moment),
        *outermost,
    )


@dataclass(frozen=True, slots=True)
class Hourly:
    """Where the statistics of an entity are, and the unit in which its state is shown."""

    statistic_id: str
    unit: str | None


def read_hourly(session: Session, hourly: Hourly, start: float, end: float) -> Numbers | None:
    """Return the numbers of the whole hours of long-term statistics in a span, or None where there are none."""
    count, *values = session.execute(
        _hourly(), {"statistic_id": hourly.statistic_id, "start": start, "end": end - _HOUR}
    ).one()
    if not count:
        return None
    recorded_unit = session.execute(
        select(StatisticsMeta.unit_of_measurement).where(StatisticsMeta.statistic_id == hourly.statistic_id)
    ).scalar()
    mean, low, low_at, high, high_at, first_at, last_at, first, last = map(float, values)
    if recorded_unit != hourly.unit:
        converter = STATISTIC_UNIT_TO_UNIT_CONVERTER.get(recorded_unit)
        if converter is None or hourly.unit not in converter.VALID_UNITS:
            return None
        convert = converter.converter_factory(recorded_unit, hourly.unit)
        mean, low, high, first, last = map(convert, (mean, low, high, first, last))
    return Numbers(
        count=count,
        known=count * _HOUR,
        weighted=mean * count * _HOUR,
        minimum=Reading(low_at, low),
        maximum=Reading(high_at, high),
        first=Reading(first_at, first),
        last=Reading(last_at, last),
    )


@dataclass(frozen=True, slots=True)
class SpanNumbers:
    """The numbers of a span and where they come from."""

    numbers: Numbers | None
    recorded_from: float | None
    """Since when there are rows."""
    hourly: bool
    """Whether hourly averages stand for what came before."""


def read_span(
    session: Session, rows: Rows | None, hourly: Hourly | None, start: float, cut: float, *, last: bool = True
) -> SpanNumbers:
    """Return the numbers of a span, from statistics before the oldest recorded row and from the rows after it."""
    numbers = read_numbers(session, rows, last=last) if rows else None
    recorded_from = rows.start if rows else None
    if hourly is None or recorded_from == start:
        return SpanNumbers(numbers, recorded_from, hourly=False)
    older = read_hourly(session, hourly, start, cut if recorded_from is None else recorded_from)
    return SpanNumbers(older.joined(numbers) if older else numbers, recorded_from, hourly=older is not None)

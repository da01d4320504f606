"""Numbers over long spans: of whole hours from Home Assistant's statistics, of the rest from the recorded rows.

Where there are rows, an hour of statistics serves only if it says what they say. Home Assistant's mean of an hour is that
of the five minutes in it that it knows, each weighted by time with the last number carried on while there is none. So the
hour must have all twelve of them, and each of its rows must be a number.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
import math
from typing import Any

from sqlalchemy import Select, bindparam, func, select
from sqlalchemy.orm import Session

from ..charts.course import CurvePart
from ..ha_compat.recorder import (
    STATISTIC_UNIT_TO_UNIT_CONVERTER,
    StatisticMeanType,
    Statistics,
    StatisticsMeta,
    StatisticsShortTerm,
)
from .engine import Engine
from .numbers import Numbers, Reading, extremes_of, first_number, last_number, read_numbers
from .periods import HOUR, SHORT
from .states import ATTRIBUTES, STATES, Rows, Series, find_rows, within
from .unavailable_hours import Interruptions

_DENSE = 600
"""The number of rows from which statistics are faster."""
_ALL = 2**31
_MOST_PARTS = 50
"""The most parts between hours of statistics; with more, reading all rows is faster."""
_PRECISION = 1e-6
"""The relative difference between an hour of statistics and its rows that rounding explains."""
_RESOLUTION = 1e-6
"""Seconds before an hour from which Home Assistant takes the value at its start."""
_DIGITS = 10
"""Significant digits of a converted number, so that equal numbers stay equal."""

type Convert = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Hourly:
    """The statistic of an entity, and the unit of its state."""

    statistic_id: str
    unit: str | None
    interruptions: Interruptions = field(default_factory=Interruptions)


@dataclass(frozen=True, slots=True)
class SpanNumbers:
    """The numbers of a time span and their source."""

    numbers: Numbers | None
    recorded_from: float | None
    """The time of the first row."""
    hourly: bool
    """True if hourly averages replace the rows before it."""


def read_span(
    session: Session, rows: Rows | None, hourly: Hourly | None, start: float, cut: float, *, last: bool = True
) -> SpanNumbers:
    """Return the numbers of a span; those before the oldest row are from statistics only."""
    numbers = recorded_from = None
    if rows is not None:
        numbers = (_read_by_hours(session, rows, hourly, last=last) if hourly else None) or read_numbers(
            session, rows, last=last
        )
        recorded_from = rows.start
    if hourly is None or recorded_from == start:
        return SpanNumbers(numbers, recorded_from, hourly=False)
    older = _read_older(session, hourly, start, cut if recorded_from is None else recorded_from)
    return SpanNumbers(older.joined(numbers) if older else numbers, recorded_from, hourly=older is not None)


@dataclass(frozen=True, slots=True)
class _Hour:
    """A whole hour of statistics."""

    start: float
    mean: float
    low: float
    high: float


def _read_by_hours(session: Session, rows: Rows, hourly: Hourly, *, last: bool) -> Numbers | None:
    """Return the numbers of rows with the help of statistics, or None if these are not faster."""
    series = rows.series
    if _count(session, series, rows.start, rows.cut, _DENSE) < _DENSE:
        return None
    hours = _complete_hours(session, rows, hourly)
    if not hours or read_unit(session, series, hours[0].start) != hourly.unit:
        return None
    low, high = min(hours, key=lambda hour: hour.low), max(hours, key=lambda hour: hour.high)
    checked = [_checked(session, series, hour) for hour in (low, high)]
    known, others = _parts(hours, rows.start, rows.cut)
    if None in checked or len(others) > _MOST_PARTS:
        return None
    found = [find_rows(session, series, *part) for part in others]
    parts = [numbers for each in found if each and (numbers := read_numbers(session, each, last=False))]
    readings = [*filter(None, checked), *parts]
    first = first_number(session, rows)
    return Numbers(
        count=sum(part.count for part in parts) + sum(_count(session, series, *part) for part in known),
        known=sum(part.known for part in parts) + HOUR * len(hours),
        weighted=sum(part.weighted for part in parts) + HOUR * sum(hour.mean for hour in hours),
        minimum=min((part.minimum for part in readings), key=lambda reading: (reading.number, reading.moment)),
        maximum=min((part.maximum for part in readings), key=lambda reading: (-reading.number, reading.moment)),
        first=first,
        last=last_number(session, rows) if last else first,
    )


def _complete_hours(session: Session, rows: Rows, hourly: Hourly) -> list[_Hour]:
    """Return the hours of statistics that agree with the rows, in order of time."""
    start, end = math.ceil(rows.start / HOUR) * HOUR, math.floor(rows.cut / HOUR) * HOUR
    if rows.first.moment == start:
        start += HOUR  # Its extremes would be also of what held until then.
    meta = _find_meta(session, hourly.statistic_id)
    convert = _conversion(meta.unit_of_measurement, hourly.unit) if meta else None
    if start >= end or convert is None or not _is_linear(convert) or meta.mean_type != StatisticMeanType.ARITHMETIC:
        return []
    statement = {"statistics_id": meta.id, "start": start, "end": end}
    found = [_Hour(moment, *map(convert, values)) for moment, *values in session.execute(_complete(), statement)]
    if not found:
        return []
    # Not beyond: only what statistics were made of is surely written, and what is looked up now is not looked up again.
    interrupted = hourly.interruptions.read(
        session, rows.series, hourly.statistic_id, found[0].start, found[-1].start + HOUR
    )
    return [] if interrupted is None else [hour for hour in found if hour.start // HOUR not in interrupted]


def _checked(session: Session, series: Series, hour: _Hour) -> Numbers | None:
    """Return the numbers of an hour's rows, or None if its statistics differ.

    They differ if they were corrected manually, imported, or belong to another sensor that had this id before.
    """
    # To Home Assistant, what held until the first moment belongs to an hour as well.
    rows = find_rows(session, series, hour.start - _RESOLUTION, hour.start + HOUR)
    if rows is None or (numbers := read_numbers(session, rows, last=False)) is None:
        return None
    pairs = ((hour.low, numbers.minimum.number), (hour.mean, numbers.mean), (hour.high, numbers.maximum.number))
    scale = _PRECISION * (hour.high - hour.low)
    if not all(math.isclose(*pair, rel_tol=_PRECISION, abs_tol=scale) for pair in pairs):
        return None
    low, high = (
        Reading(max(reading.moment, hour.start), reading.number) for reading in (numbers.minimum, numbers.maximum)
    )
    return replace(numbers, minimum=low, maximum=high)


def _parts(hours: list[_Hour], start: float, end: float) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the parts of a span with hours of statistics, and the parts without."""
    known: list[tuple[float, float]] = []
    for hour in hours:
        begin = known.pop()[0] if known and known[-1][1] == hour.start else hour.start
        known.append((begin, hour.start + HOUR))
    edges = [start, *(moment for part in known for moment in part), end]
    return known, [(begin, stop) for begin, stop in zip(edges[::2], edges[1::2], strict=True) if begin < stop]


@cache
def _complete() -> Select[Any]:
    """Select the hours with all twelve short-term rows."""
    short = StatisticsShortTerm
    count = (
        select(func.count())
        .where(
            short.metadata_id == Statistics.metadata_id,
            short.start_ts >= Statistics.start_ts,
            short.start_ts < Statistics.start_ts + HOUR,
        )
        .correlate(Statistics)
        .scalar_subquery()
    )
    values = (Statistics.mean, Statistics.min, Statistics.max)
    return (
        select(Statistics.start_ts, *values)
        .where(
            Statistics.metadata_id == bindparam("statistics_id"),
            Statistics.start_ts >= bindparam("start"),
            Statistics.start_ts < bindparam("end"),
            *(value.is_not(None) for value in values),
            count == HOUR // SHORT,
        )
        .order_by(Statistics.start_ts)
    )


def read_hours(session: Session, statistic_id: str, unit: str | None, start: float, end: float) -> list[CurvePart]:
    """Return the hours of long-term statistics of a span in a unit; empty if they cannot be converted to it."""
    meta = _find_meta(session, statistic_id)
    convert = _conversion(meta.unit_of_measurement, unit) if meta else None
    if convert is None:
        return []
    found = session.execute(_plain(), {"statistics_id": meta.id, "start": start, "end": end - HOUR})
    return [CurvePart(begin, begin + HOUR, *map(convert, values)) for begin, *values in found if None not in values]


@cache
def _plain() -> Select[Any]:
    """Select hours of a statistic: their start, the extremes and the mean, or a meter's reading."""
    state = Statistics.state
    return (
        select(
            Statistics.start_ts,
            *(func.coalesce(value, state) for value in (Statistics.min, Statistics.max, Statistics.mean)),
        )
        .where(
            Statistics.metadata_id == bindparam("statistics_id"),
            Statistics.start_ts >= bindparam("start"),
            Statistics.start_ts <= bindparam("end"),
        )
        .order_by(Statistics.start_ts)
    )


def _count(session: Session, series: Series, start: float, end: float, most: int = _ALL) -> int:
    """Return the number of rows in a span, counted up to the limit."""
    return int(series.run(session, _counted(), first=start, cut=end, most=most).scalar())


@cache
def _counted() -> Select[Any]:
    """Count rows by an index."""
    rows = within(STATES.c.metadata_id, attribute=False).limit(bindparam("most")).subquery()
    return select(func.count()).select_from(rows)


def read_unit(session: Session, series: Series, moment: float) -> str | None:
    """Return the unit of the row that was valid at a time."""
    unit: str | None = series.run(session, _unit(series.engine), moment=moment).scalar()
    return unit


@cache
def _unit(engine: Engine) -> Select[Any]:
    """Select the unit of the row that was valid at :moment."""
    updated = STATES.c.last_updated_ts
    return (
        select(engine.json_text(ATTRIBUTES.c.shared_attrs, "unit_of_measurement"))
        .select_from(STATES)
        .join(ATTRIBUTES, STATES.c.attributes_id == ATTRIBUTES.c.attributes_id)
        .where(STATES.c.metadata_id == bindparam("metadata_id"), updated <= bindparam("moment"))
        .order_by(updated.desc(), STATES.c.state_id.desc())
        .limit(1)
    )


def _find_meta(session: Session, statistic_id: str) -> Any:
    """Return the metadata of a statistic."""
    return session.execute(
        select(StatisticsMeta.id, StatisticsMeta.unit_of_measurement, StatisticsMeta.mean_type).where(
            StatisticsMeta.statistic_id == statistic_id
        )
    ).first()


def _conversion(recorded: str | None, shown: str | None) -> Convert | None:
    """Return the conversion of a statistic's numbers to the displayed unit, or None if there is none."""
    if recorded == shown:
        return float
    converter = STATISTIC_UNIT_TO_UNIT_CONVERTER.get(recorded)
    if converter is None or shown not in converter.VALID_UNITS:
        return None
    convert = converter.converter_factory(recorded, shown)
    return lambda number: float(f"{convert(number):.{_DIGITS}g}")


def _is_linear(convert: Convert) -> bool:
    """Return whether the mean of converted numbers equals the converted mean, unlike for kWh per 100 km."""
    return math.isclose(convert(1) + convert(3), 2 * convert(2))


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
    low, high = extremes_of(hours, hours.c.low)[:2], extremes_of(hours, hours.c.high)[2:]
    return select(
        func.count(hours.c.number),
        func.avg(hours.c.number),
        *low,
        *high,
        func.min(hours.c.moment),
        func.max(hours.c.moment),
        *outermost,
    )


def _read_older(session: Session, hourly: Hourly, start: float, end: float) -> Numbers | None:
    """Return the numbers of the whole hours of long-term statistics in a span, or None if there are none."""
    count, *values = session.execute(
        _hourly(), {"statistic_id": hourly.statistic_id, "start": start, "end": end - HOUR}
    ).one()
    if not count:
        return None
    if (convert := _conversion(_find_meta(session, hourly.statistic_id).unit_of_measurement, hourly.unit)) is None:
        return None
    mean, low, low_at, high, high_at, first_at, last_at, first, last = map(float, values)
    mean, low, high, first, last = map(convert, (mean, low, high, first, last))
    return Numbers(
        count=count,
        known=count * HOUR,
        weighted=mean * count * HOUR,
        minimum=Reading(low_at, low),
        maximum=Reading(high_at, high),
        first=Reading(first_at, first),
        last=Reading(last_at, last),
    )

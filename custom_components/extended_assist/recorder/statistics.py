"""Long-term statistics, kept by the hour for ever, and short-term ones, kept by five minutes until they are purged.

Moments are in seconds since the epoch; values are in the unit in which the recorder holds them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, and_, case, func, literal, null, select
from sqlalchemy.orm import Session

from homeassistant.components.recorder.db_schema import Statistics, StatisticsShortTerm
from homeassistant.components.recorder.models import StatisticMeanType, StatisticMetaData
from homeassistant.components.recorder.statistics import (
    STATISTIC_UNIT_TO_UNIT_CONVERTER,
    UNIT_CLASS_TO_UNIT_CONVERTER,
    get_metadata,
    query_circular_mean,
    statistic_during_period,
    weighted_circular_mean,
)
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_conversion import BaseUnitConverter

from . import read_session
from .periods import DAY, HOUR, SHORT, Period, Span, day_of, utc_offsets

type StatisticsTable = type[Statistics | StatisticsShortTerm]
type Metadata = tuple[int, StatisticMetaData]
"""The number under which the rows of a statistic are kept, and what the recorder knows of it."""
type TotalType = Literal["change", "mean", "min", "max"]

_MAX_GAPS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodRow:
    """What is known of one period; None is what this kind of statistic does not have."""

    start: float | date
    """The first moment of a period of at most an hour, or the first day of a longer one."""
    count: int
    """How many rows of the database it was computed from."""
    min: float | None
    max: float | None
    mean: float | None
    weight: float
    """What the mean counts against that of another period."""
    sum: float | None
    """The running sum at the end of the period."""
    state: float | None
    """The meter's reading at the end of the period."""
    change: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a statistic amounts to over a span."""

    values: dict[str, float]
    """Change, mean, min and max; without those that the span has no data for."""
    reached: dict[str, tuple[float, int]]
    """The start and the seconds of the first row with the min and the max."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Where a span has no rows."""

    count: int
    longest: list[tuple[float, float]]
    """The longest gaps, in order of time."""


def read_metadata(hass: HomeAssistant, statistic_ids: set[str]) -> dict[str, Metadata]:
    """The recorder's metadata of those statistics that exist."""
    return get_metadata(hass, statistic_ids=statistic_ids) if statistic_ids else {}


def unit_converter(meta: StatisticMetaData) -> type[BaseUnitConverter] | None:
    """The converter for the unit of a statistic, or None where it cannot be converted."""
    unit = meta["unit_of_measurement"]
    converter = UNIT_CLASS_TO_UNIT_CONVERTER.get(meta["unit_class"])
    if converter and unit in converter.VALID_UNITS:
        return converter
    return STATISTIC_UNIT_TO_UNIT_CONVERTER.get(unit)


def read_bounds(hass: HomeAssistant, metadata_id: int) -> tuple[float | None, float | None, float | None]:
    """Return the start of the first and the last long-term row, and of the first short-term one."""
    with read_session(hass) as session:
        first, last = session.execute(
            select(func.min(Statistics.start_ts), func.max(Statistics.start_ts)).where(
                Statistics.metadata_id == metadata_id
            )
        ).one()
        short = session.execute(
            select(func.min(StatisticsShortTerm.start_ts)).where(StatisticsShortTerm.metadata_id == metadata_id)
        ).scalar()
        return first, last, short


def read_totals(hass: HomeAssistant, metadata: Metadata, span: Span, types: Iterable[TotalType]) -> Totals:
    """Return totals as Home Assistant computes them: short-term rows where the span begins or ends within an hour."""
    metadata_id, meta = metadata
    converter, unit = unit_converter(meta), meta["unit_of_measurement"]
    units = {converter.UNIT_CLASS: unit} if converter and converter.UNIT_CLASS and unit else None
    found: dict[str, float | None] = statistic_during_period(hass, *span, meta["statistic_id"], set(types), units)
    values = {name: value for name, value in found.items() if value is not None}
    reached: dict[str, tuple[float, int]] = {}
    with read_session(hass) as session:
        for name in ("min", "max"):
            if (value := values.get(name)) is not None and (
                moment := _first_reaching(session, metadata_id, span, name, value)
            ):
                reached[name] = moment
    return Totals(values=values, reached=reached)


def _first_reaching(
    session: Session, metadata_id: int, span: Span, name: str, value: float
) -> tuple[float, int] | None:
    """Return the first row that is as low or as high as value: a short-term one, which is more exact, where it is kept."""
    tables: tuple[tuple[StatisticsTable, int], ...] = ((StatisticsShortTerm, SHORT), (Statistics, HOUR))
    for table, seconds in tables:
        column = table.min if name == "min" else table.max
        moment = session.execute(
            _rows(select(table.start_ts), table, [metadata_id], *_moments(span))
            .where(column <= value if name == "min" else column >= value)
            .order_by(table.start_ts)
            .limit(1)
        ).scalar()
        if moment is not None:
            return moment, seconds
    return None


def read_gaps(hass: HomeAssistant, metadata_id: int, period: Period, span: Span) -> Gaps:
    """Return where full hours, or five minutes for that period, are missing."""
    table, seconds = _source(period)
    start, end = _moments(span)
    start, end = -(-start // seconds) * seconds, end // seconds * seconds
    if start >= end:
        return Gaps(count=0, longest=[])
    with read_session(hass) as session:
        rows = select(func.count(), func.min(table.start_ts), func.max(table.start_ts))
        found, first, last = session.execute(_rows(rows, table, [metadata_id], start, end)).one()
        if found == (end - start) // seconds:
            return Gaps(count=0, longest=[])
        if not found:
            return Gaps(count=1, longest=[(start, end)])
        previous = func.lag(table.start_ts).over(order_by=table.start_ts)
        row = _rows(
            select(table.start_ts.label("moment"), previous.label("previous")), table, [metadata_id], start, end
        ).subquery()
        begin = row.c.previous + seconds
        gaps = session.execute(
            select(begin, row.c.moment, func.count().over())
            .where(row.c.moment > begin)
            .order_by((begin - row.c.moment).label("length"))
            .limit(_MAX_GAPS)
        ).all()
    edges = [(begin, stop) for begin, stop in ((start, first), (last + seconds, end)) if begin < stop]
    longest = sorted([*edges, *((begin, stop) for begin, stop, _ in gaps)], key=lambda gap: gap[0] - gap[1])[:_MAX_GAPS]
    return Gaps(count=len(edges) + (gaps[0][2] if gaps else 0), longest=sorted(longest))


def read_rows(hass: HomeAssistant, metadata: Metadata, period: Period, span: Span) -> list[PeriodRow]:
    """Return one row for every period of a span that has data, in order of time."""
    metadata_id, meta = metadata
    with read_session(hass) as session:
        rows = _read_groups(session, [metadata_id], meta["mean_type"], period, span)[metadata_id]
        before = _sums_before(session, [metadata_id], period, span)
        return _with_change(rows, before[metadata_id])


def read_changes(
    hass: HomeAssistant, metadata_ids: list[int], period: Period, span: Span
) -> dict[int, dict[float, float]]:
    """Return the change of each sum in every period of a span that has data, by the first moment of the period."""
    with read_session(hass) as session:
        groups = _read_groups(session, metadata_ids, StatisticMeanType.NONE, period, span)
        before = _sums_before(session, metadata_ids, period, span)
        return {
            metadata_id: {
                as_moment(row.start): row.change
                for row in _with_change(rows, before[metadata_id])
                if row.change is not None
            }
            for metadata_id, rows in groups.items()
        }


def _moments(span: Span) -> tuple[float, float]:
    """Return start and end in seconds since the epoch."""
    return span[0].timestamp(), span[1].timestamp()


def _source(period: Period) -> tuple[StatisticsTable, int]:
    """Return the table that a period is computed from and the seconds of its rows."""
    return (StatisticsShortTerm, SHORT) if period == "5minute" else (Statistics, HOUR)


def _rows[T: tuple[Any, ...]](
    statement: Select[T], table: StatisticsTable, metadata_ids: list[int], start: float, end: float
) -> Select[T]:
    """Return a statement over the rows that begin in a span."""
    return statement.where(table.metadata_id.in_(metadata_ids), table.start_ts >= start, table.start_ts < end)


def _read_groups(
    session: Session, metadata_ids: list[int], mean_type: StatisticMeanType, period: Period, span: Span
) -> dict[int, list[PeriodRow]]:
    """Aggregate in SQL by five minutes, hours or local days, and days to weeks and months here."""
    table, seconds = _source(period)
    start, end = _moments(span)
    calendar = period not in ("5minute", "hour")
    key = _local_day(table, start, end) if calendar else func.floor(table.start_ts / float(seconds))
    columns: list[Any] = [table.metadata_id, key.label("period"), table.start_ts]
    if mean_type is not StatisticMeanType.NONE:  # For a meter, the index alone tells the last row of each period.
        columns += [table.mean, table.mean_weight, table.min, table.max]
    rows = _rows(select(*columns), table, metadata_ids, start, end).subquery()
    grouped = (
        select(
            rows.c.metadata_id,
            rows.c.period,
            func.count().label("rows"),
            func.max(rows.c.start_ts).label("last"),
            *_aggregates(rows.c, mean_type),
        )
        .group_by(rows.c.metadata_id, rows.c.period)
        .subquery()
    )
    statement = (
        select(grouped, table.sum, table.state)
        .join(table, and_(table.metadata_id == grouped.c.metadata_id, table.start_ts == grouped.c.last))
        .order_by(grouped.c.metadata_id, grouped.c.last)
    )
    result: dict[int, list[PeriodRow]] = {metadata_id: [] for metadata_id in metadata_ids}
    for metadata_id, number, count, _, lowest, highest, average, weight, total, state in session.execute(statement):
        circular = mean_type is StatisticMeanType.CIRCULAR and average is not None
        row = PeriodRow(
            start=day_of(int(number), period) if calendar else number * seconds,
            count=count,
            min=lowest,
            max=highest,
            mean=average % 360 if circular else average,
            weight=weight or 0,
            sum=total,
            state=state,
        )
        found = result[metadata_id]
        if found and found[-1].start == row.start:
            found[-1] = _merge(found[-1], row, mean_type)
        else:
            found.append(row)
    return result


def _aggregates(rows: Any, mean_type: StatisticMeanType) -> list[ColumnElement[Any]]:
    """Return the min, the max, the mean and the weight of the mean over rows."""
    names = ("lowest", "highest", "average", "weight")
    if mean_type is StatisticMeanType.NONE:
        return [null().label(name) for name in names]
    mean: tuple[ColumnElement[Any], ColumnElement[Any]] = (func.avg(rows.mean), func.count(rows.mean))
    if mean_type is StatisticMeanType.CIRCULAR:
        mean = query_circular_mean(rows)
    values = (func.min(rows.min), func.max(rows.max), *mean)
    return [value.label(name) for name, value in zip(names, values, strict=True)]


def _local_day(table: StatisticsTable, start: float, end: float) -> ColumnElement[Any]:
    """Return the local day of a row, as days since 1970-01-01, right across changes of the clocks."""
    *changes, (_, last) = utc_offsets(start, end)
    offset: ColumnElement[Any] = literal(last)
    if changes:
        offset = case(*((table.start_ts < until, seconds) for until, seconds in changes), else_=last)
    return func.floor((table.start_ts + offset) / float(DAY))


def _merge(one: PeriodRow, later: PeriodRow, mean_type: StatisticMeanType) -> PeriodRow:
    """Return two parts of the same period as one."""
    means = [(part.mean, part.weight) for part in (one, later) if part.mean is not None]
    weight = sum(share for _, share in means)
    mean: float | None = None
    if means and mean_type is StatisticMeanType.CIRCULAR:
        mean, weight = weighted_circular_mean(means)
    elif means:
        mean = sum(value * share for value, share in means) / weight
    return replace(
        later,
        count=one.count + later.count,
        min=min((value for value in (one.min, later.min) if value is not None), default=None),
        max=max((value for value in (one.max, later.max) if value is not None), default=None),
        mean=mean,
        weight=weight,
    )


def _sums_before(session: Session, metadata_ids: Sequence[int], period: Period, span: Span) -> dict[int, float]:
    """Return the last running sums before a span; 0 where nothing was recorded yet."""
    table, _ = _source(period)
    start, _ = _moments(span)
    return {
        metadata_id: session.execute(
            select(table.sum)
            .where(table.metadata_id == metadata_id, table.start_ts < start)
            .order_by(table.start_ts.desc())
            .limit(1)
        ).scalar()
        or 0.0
        for metadata_id in metadata_ids
    }


def _with_change(rows: list[PeriodRow], before: float) -> list[PeriodRow]:
    """Return rows with the change of their sum since the row before them."""
    changed = []
    for row in rows:
        if row.sum is None:
            changed.append(row)
            continue
        changed.append(replace(row, change=row.sum - before))
        before = row.sum
    return changed


def as_moment(start: float | date) -> float:
    """Return the first moment of a period."""
    if isinstance(start, date):
        return dt_util.start_of_local_day(start).timestamp()
    return start

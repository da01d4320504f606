"""Long-term statistics, which are stored per hour for ever, and short-term ones, per five minutes until they are purged.

Times are in seconds since the epoch; values are in the recorder's unit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, literal, null, select
from sqlalchemy.orm import Session

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_conversion import BaseUnitConverter

from ..ha_compat.recorder import (
    STATISTIC_UNIT_TO_UNIT_CONVERTER,
    UNIT_CLASS_TO_UNIT_CONVERTER,
    StatisticMeanType,
    StatisticMetaData,
    Statistics,
    StatisticsShortTerm,
    get_metadata,
    query_circular_mean,
    weighted_circular_mean,
)
from . import read_session
from .periods import DAY, HOUR, SHORT, Period, Span, day_of, utc_offsets

type StatisticsTable = type[Statistics | StatisticsShortTerm]
type Metadata = tuple[int, StatisticMetaData]
"""The id of a statistic's rows, and its metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodRow:
    """The values of one period; None for those that this kind of statistic does not have."""

    start: float | date
    """The start of a period of at most an hour, or the first day of a longer one."""
    count: int
    """The number of database rows."""
    min: float | None
    max: float | None
    mean: float | None
    weight: float
    """The weight of the mean."""
    sum: float | None
    """The running sum at the end of the period."""
    state: float | None
    """The meter's reading at the end of the period."""
    change: float | None = None


def read_metadata(hass: HomeAssistant, statistic_ids: set[str] | None) -> dict[str, Metadata]:
    """Return the metadata of existing statistics among the given ones; None for all."""
    return {} if statistic_ids == set() else get_metadata(hass, statistic_ids=statistic_ids)


def unit_converter(meta: StatisticMetaData) -> type[BaseUnitConverter] | None:
    """Return the converter for the unit of a statistic, or None."""
    unit = meta["unit_of_measurement"]
    converter = UNIT_CLASS_TO_UNIT_CONVERTER.get(meta["unit_class"])
    if converter and unit in converter.VALID_UNITS:
        return converter
    return STATISTIC_UNIT_TO_UNIT_CONVERTER.get(unit)


def read_bounds(hass: HomeAssistant, metadata_id: int) -> tuple[float | None, float | None, float | None]:
    """Return the start of the first and last long-term row, and of the first short-term row."""
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


def read_first_rows(hass: HomeAssistant, metadata_ids: Iterable[int]) -> dict[int, float]:
    """Return the start of the first long-term row of each statistic that has one."""
    with read_session(hass) as session:
        firsts = {metadata_id: first_row(session, Statistics, metadata_id) for metadata_id in metadata_ids}
    return {metadata_id: first for metadata_id, first in firsts.items() if first is not None}


def read_last_ends(hass: HomeAssistant, metadata_ids: Iterable[int], span: Span) -> dict[int, float]:
    """Return the end of the last long-term row that begins in a span, for each statistic with one."""
    with read_session(hass) as session:
        found = session.execute(
            rows_of(
                select(Statistics.metadata_id, func.max(Statistics.start_ts)),
                Statistics,
                list(metadata_ids),
                *moments(span),
            ).group_by(Statistics.metadata_id)
        )
        return {metadata_id: start + HOUR for metadata_id, start in found}


def first_row(session: Session, table: StatisticsTable, metadata_id: int) -> float | None:
    """Return the start of the first row of a statistic."""
    return session.execute(select(func.min(table.start_ts)).where(table.metadata_id == metadata_id)).scalar()


def read_rows(hass: HomeAssistant, metadata: Metadata, period: Period, span: Span) -> list[PeriodRow]:
    """Return one row for every period of a span with data, in order of time."""
    metadata_id, meta = metadata
    with read_session(hass) as session:
        rows = _read_groups(session, [metadata_id], meta["mean_type"], period, span)[metadata_id]
        before = _sums_before(session, [metadata_id], period, span)
        return _with_change(rows, before[metadata_id])


def read_changes(
    hass: HomeAssistant, metadata_ids: list[int], period: Period, span: Span
) -> dict[int, dict[float, float]]:
    """Return the change of each sum in every period of a span with data, by the start of the period."""
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


def moments(span: Span) -> tuple[float, float]:
    """Return start and end in seconds since the epoch."""
    return span[0].timestamp(), span[1].timestamp()


def source_of(period: Period) -> tuple[StatisticsTable, int]:
    """Return the source table of a period and the seconds of its rows."""
    return (StatisticsShortTerm, SHORT) if period == "5minute" else (Statistics, HOUR)


def rows_of[T: tuple[Any, ...]](
    statement: Select[T], table: StatisticsTable, metadata_ids: list[int], start: float, end: float
) -> Select[T]:
    """Return a statement over the rows that begin in a span."""
    return statement.where(table.metadata_id.in_(metadata_ids), table.start_ts >= start, table.start_ts < end)


def _read_groups(
    session: Session, metadata_ids: list[int], mean_type: StatisticMeanType, period: Period, span: Span
) -> dict[int, list[PeriodRow]]:
    """Aggregate in SQL by five minutes, hours or local days; days are merged to weeks and months in Python."""
    table, seconds = source_of(period)
    start, end = moments(span)
    calendar = period not in ("5minute", "hour")
    key = _local_day(table, start, end) if calendar else func.floor(table.start_ts / float(seconds))
    columns: list[Any] = [table.metadata_id, key.label("period"), table.start_ts]
    if mean_type is not StatisticMeanType.NONE:  # For a meter, the index alone tells the last row of each period.
        columns += [table.mean, table.mean_weight, table.min, table.max]
    rows = rows_of(select(*columns), table, metadata_ids, start, end).subquery()
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
    """Return the local day of a row as days since 1970-01-01, correct across clock changes."""
    *changes, (_, last) = utc_offsets(start, end)
    offset: ColumnElement[Any] = literal(last)
    if changes:
        offset = case(*((table.start_ts < until, seconds) for until, seconds in changes), else_=last)
    return func.floor((table.start_ts + offset) / float(DAY))


def _merge(one: PeriodRow, later: PeriodRow, mean_type: StatisticMeanType) -> PeriodRow:
    """Merge two parts of the same period."""
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
    """Return the last running sums before a span; 0 before the first record."""
    table, _ = source_of(period)
    start, _ = moments(span)
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

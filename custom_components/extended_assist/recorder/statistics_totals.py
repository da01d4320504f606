"""The totals of a statistic over a time span, the times of its extremes, and the gaps in its rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sqlalchemy import case, func, or_, select
from sqlalchemy.orm import Session

from homeassistant.core import HomeAssistant

from ..ha_compat.recorder import Statistics, StatisticsShortTerm, statistic_during_period
from . import read_session
from .periods import HOUR, SHORT, Period, Span, is_midnight, repeated_times
from .statistics import Metadata, StatisticsTable, first_row, moments, rows_of, source_of, unit_converter

type TotalType = Literal["change", "mean", "min", "max"]

_MAX_STRETCHES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The totals of a statistic over a time span."""

    values: dict[str, float]
    """Change, mean, min and max, as far as the span has data for them."""
    reached: dict[str, Reached]
    """The times of the min and the max."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The times of a value in rows of some seconds; adjacent rows are one period."""

    count: int
    first: list[tuple[float, float]]
    """The first periods, each from the start of its first row to the end of its last one."""
    seconds: int


def read_totals(hass: HomeAssistant, metadata: Metadata, span: Span, types: Iterable[TotalType]) -> Totals:
    """Return totals as Home Assistant computes them: with short-term rows if the span begins or ends within an hour."""
    metadata_id, meta = metadata
    converter, unit = unit_converter(meta), meta["unit_of_measurement"]
    units = {converter.UNIT_CLASS: unit} if converter and converter.UNIT_CLASS and unit else None
    with read_session(hass) as session:
        span = _countable(span, first_row(session, StatisticsShortTerm, metadata_id))
    found: dict[str, float | None] = statistic_during_period(hass, *span, meta["statistic_id"], set(types), units)
    values = {name: value for name, value in found.items() if value is not None}
    reached: dict[str, Reached] = {}
    with read_session(hass) as session:
        for name in ("min", "max"):
            if (value := values.get(name)) is not None and (
                found_in := _reached(session, metadata_id, span, name, value)
            ):
                reached[name] = found_in
    return Totals(values=values, reached=reached)


def _countable(span: Span, kept: float | None) -> Span:
    """Return a span whose midnights within a UTC hour become the next full hour, unless short-term rows exist there.

    Then a day has the hours that begin in it, as in Home Assistant's daily rows, in time zones with a fraction of an hour.
    """
    start, end = (
        moment + timedelta(minutes=60 - moment.minute)
        if moment.minute and is_midnight(moment) and (kept is None or kept > moment.timestamp())
        else moment
        for moment in span
    )
    return start, end


def _reached(session: Session, metadata_id: int, span: Span, name: str, value: float) -> Reached | None:
    """Return the times of a value, from the more exact short-term rows if they exist for the whole span."""
    start, end = moments(span)
    hours = -(-start // HOUR) * HOUR, end // HOUR * HOUR
    mixed: list[tuple[StatisticsTable, float, float]] = [
        (StatisticsShortTerm, start, min(hours[0], end)),
        (Statistics, *hours),
        (StatisticsShortTerm, max(hours), end),
    ]
    kept = first_row(session, StatisticsShortTerm, metadata_id)
    if kept is not None and kept < start + SHORT:
        exact = _stretches(session, (StatisticsShortTerm, start, end), metadata_id, name, value)
        if exact:
            return exact
    parts = [_stretches(session, part, metadata_id, name, value) for part in mixed if part[1] < part[2]]
    found = [part for part in parts if part]
    if not found:
        return None
    count = sum(part.count for part in found)
    stretches: list[tuple[float, float]] = []
    for begin, stop in (stretch for part in found for stretch in part.first):
        if stretches and stretches[-1][1] == begin:
            stretches[-1] = (stretches[-1][0], stop)
            count -= 1
        else:
            stretches.append((begin, stop))
    return Reached(count=count, first=stretches[:_MAX_STRETCHES], seconds=found[0].seconds)


def _stretches(
    session: Session, part: tuple[StatisticsTable, float, float], metadata_id: int, name: str, value: float
) -> Reached | None:
    """Return the periods of a table's rows in a span that reach a value."""
    table, start, end = part
    seconds = SHORT if table is StatisticsShortTerm else HOUR
    column = table.min if name == "min" else table.max
    moment = table.start_ts
    reaching = (
        rows_of(
            select(
                moment.label("moment"),
                func.lag(moment).over(order_by=moment).label("previous"),
                func.lead(moment).over(order_by=moment).label("following"),
            ),
            table,
            [metadata_id],
            start,
            end,
        )
        .where(column <= value if name == "min" else column >= value)
        .subquery()
    )
    row = reaching.c
    begins = or_(row.previous.is_(None), row.moment > row.previous + seconds)
    ends = or_(row.following.is_(None), row.following > row.moment + seconds)
    begun = case((begins, 1), else_=0)
    edges = session.execute(
        select(row.moment, begun, case((ends, 1), else_=0), func.sum(begun).over())
        .where(or_(begins, ends))
        .order_by(row.moment)
        .limit(2 * _MAX_STRETCHES)
    ).all()
    if not edges:
        return None
    starts = [at for at, is_first, _, _ in edges if is_first]
    stops = [at + seconds for at, _, is_last, _ in edges if is_last]
    first = list(zip(starts, stops, strict=False))[:_MAX_STRETCHES]
    return Reached(count=int(edges[0][3]), first=first, seconds=seconds)


_MAX_GAPS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """The gaps in the rows of a span."""

    count: int
    longest: list[tuple[float, float]]
    """The longest gaps, in order of time."""
    since: float | None = None
    """The start of the recording, if it is in the span."""


def read_gaps(hass: HomeAssistant, metadata_id: int, period: Period, span: Span) -> Gaps:
    """Return the missing full hours, or five minutes for that period, since the recording began.

    A local hour that occurs twice is no gap if it is missing once: such rows come from a source with local times.
    """
    table, seconds = source_of(period)
    start, end = moments(span)
    start, end = -(-start // seconds) * seconds, end // seconds * seconds
    with read_session(hass) as session:
        since = first_row(session, table, metadata_id)
        if since is None and (since := first_row(session, StatisticsShortTerm, metadata_id)) is None:
            return Gaps(count=0, longest=[])
        began = since if since > start else None
        start = max(start, since)
        if start >= end:
            return Gaps(count=0, longest=[], since=began)
        rows = select(func.count(), func.min(table.start_ts), func.max(table.start_ts))
        found, first, last = session.execute(rows_of(rows, table, [metadata_id], start, end)).one()
        if found == (end - start) // seconds:
            return Gaps(count=0, longest=[], since=began)
        if not found:
            return Gaps(count=1, longest=[(start, end)], since=began)
        repeated = repeated_times(start, end)
        previous = func.lag(table.start_ts).over(order_by=table.start_ts)
        row = rows_of(
            select(table.start_ts.label("moment"), previous.label("previous")), table, [metadata_id], start, end
        ).subquery()
        begin = row.c.previous + seconds
        gaps = session.execute(
            select(begin, row.c.moment, func.count().over())
            .where(row.c.moment > begin, *(or_(begin != one, row.c.moment != other) for one, other in repeated))
            .order_by((begin - row.c.moment).label("length"))
            .limit(_MAX_GAPS)
        ).all()
    # External rows may lie beside the full hours of UTC; what they leave at the edges is less than a row.
    edges = [
        (begin, stop)
        for begin, stop in ((start, first), (last + seconds, end))
        if stop - begin >= seconds and (begin, stop) not in repeated
    ]
    longest = sorted([*edges, *((begin, stop) for begin, stop, _ in gaps)], key=lambda gap: gap[0] - gap[1])[:_MAX_GAPS]
    return Gaps(count=len(edges) + (gaps[0][2] if gaps else 0), longest=sorted(longest), since=began)

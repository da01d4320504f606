"""Where statistics have no rows, and since when they have any."""

from dataclasses import dataclass

from sqlalchemy import func, or_, select

from homeassistant.core import HomeAssistant

from ..ha_compat.recorder import StatisticsShortTerm
from . import read_session
from .periods import Period, Span, repeated_times
from .statistics import first_row, moments, rows_of, source_of

_MAX_GAPS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Where a span has no rows."""

    count: int
    longest: list[tuple[float, float]]
    """The longest gaps, in order of time."""
    since: float | None = None
    """When the recording began, unless that was before the span."""


def read_gaps(hass: HomeAssistant, metadata_id: int, period: Period, span: Span) -> Gaps:
    """Return where full hours, or five minutes for that period, are missing since the recording began.

    What the clock on the wall shows twice is no gap if it is missing once: it came so from a source with local times.
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

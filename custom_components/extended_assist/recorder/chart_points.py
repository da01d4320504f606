"""An entity's values over a time span, reduced to the parts of a chart; peaks are kept."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Final

from sqlalchemy import ColumnElement, Double, Select, and_, bindparam, case, func, select
from sqlalchemy.orm import Session

from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance

from ..charts.course import CurvePart, Turn, longest_active
from . import read_session
from .engine import Engine, engine_of
from .history import Subject
from .hourly_numbers import read_hours
from .states import (
    Row,
    Rows,
    Series,
    as_number,
    find_rows,
    is_gap_value,
    moments,
    newest_changes,
    order_of,
    value_column,
    within,
)

PARTS: Final = 360
"""The number of parts of a span, each about a pixel wide."""
_MOST_CHANGES: Final = 20_000
"""The most state changes of a chart; more would not be visible."""
_TIME_LIMIT: Final = 2.0
"""The timeout of a statement in seconds: an answer without a chart is better than a late one."""


def read_points(
    hass: HomeAssistant, subjects: Sequence[Subject], attribute: str | None, start: float, end: float
) -> dict[str, list[CurvePart] | list[Turn]]:
    """Return the values of each subject: numbers as parts of a curve, states as turns."""
    with read_session(hass, _TIME_LIMIT) as session:
        ids = get_instance(hass).states_meta_manager.get_many(
            [subject.entity_id for subject in subjects], session, from_recorder=False
        )
        engine = engine_of(session)
        found: dict[str, list[CurvePart] | list[Turn]] = {}
        for subject in subjects:
            metadata_id = ids.get(subject.entity_id)
            series = None if metadata_id is None else Series(engine, metadata_id, attribute)
            live = subject.live if subject.live.since < end else None
            cut = max(start, live.since) if live else end
            rows = find_rows(session, series, start, cut) if series and start < cut else None
            latest = [Row(cut, live.value)] if live else []
            if not subject.numeric:
                changes = newest_changes(session, rows, _MOST_CHANGES + 1)[::-1] if rows else []
                found[subject.entity_id] = (
                    [] if len(changes) > _MOST_CHANGES else _turns([*changes, *latest], start, end)
                )
                continue
            older: list[CurvePart] = []
            if attribute is None and (since := rows.start if rows else cut) > start:
                hours = read_hours(session, subject.entity_id, subject.unit, start, since)
                older = list(_merged(hours, start, end))
            number = as_number(live.value) if live else None
            now = [] if number is None else [CurvePart(cut, end, number, number, number)]
            found[subject.entity_id] = [*older, *(_numbers(session, rows, end) if rows else ()), *now]
        return found


def _numbers(session: Session, rows: Rows, end: float) -> Iterator[CurvePart]:
    """Yield the parts of a curve for rows."""
    width = max((end - rows.start) / PARTS, 1e-3)
    statement = _parts(rows.series.engine, attribute=rows.series.of_attribute)
    found = list(rows.run(session, statement, width=width))
    begins = [*(begin for _, begin, *_ in found[1:]), rows.cut]
    for (_, _, first, low, high, last, gap), following in zip(found, begins, strict=True):
        if low is not None:
            yield CurvePart(first, following if last is not None else gap, low, high, high if last is None else last)


@cache
def _parts(engine: Engine, *, attribute: bool) -> Select[Any]:
    """Select for each part the first times of a row and of a number, the extremes, and the last number or the end of the numbers."""
    start: ColumnElement[float] = bindparam("start", type_=Double())
    width: ColumnElement[float] = bindparam("width", type_=Double())
    cut: ColumnElement[float] = bindparam("cut", type_=Double())
    rows = within(
        *moments(engine), engine.number(value_column(engine, attribute=attribute)).label("number"), attribute=attribute
    ).subquery()
    following: ColumnElement[float] = func.lead(rows.c.moment, type_=Double()).over(order_by=order_of(rows))
    moment = case((rows.c.moment < start, start), else_=rows.c.moment)
    held = select(
        moment.label("moment"),
        rows.c.number,
        func.floor((moment - start) / width).label("part"),
        func.floor((func.coalesce(following, cut + width) - start) / width).label("next"),
    ).subquery()
    number, is_last = held.c.number, held.c.next > held.c.part
    return (
        select(
            held.c.part,
            func.min(held.c.moment),
            func.min(case((number.is_not(None), held.c.moment))),
            func.min(number),
            func.max(number),
            func.max(case((is_last, number))),
            func.max(case((and_(is_last, number.is_(None)), held.c.moment))),
        )
        .group_by(held.c.part)
        .order_by(held.c.part)
    )


def _merged(hours: list[CurvePart], start: float, end: float) -> Iterator[CurvePart]:
    """Yield hours, merged within each part of the span."""
    width = max((end - start) / PARTS, 1e-3)
    for _, group in groupby(hours, lambda hour: (hour.start - start) // width):
        together = list(group)
        yield CurvePart(
            together[0].start,
            together[-1].end,
            min(hour.low for hour in together),
            max(hour.high for hour in together),
            together[-1].value,
        )


def _turns(changes: list[Row], start: float, end: float) -> list[Turn]:
    """Return the turns of states; in a part with many, the most active state replaces them."""
    ends = [*(row.moment for row in changes[1:]), end]
    turns = [
        (row.moment, until, str(row.value)) for row, until in zip(changes, ends, strict=True) if until > row.moment
    ]
    known = [turn for turn in turns if not is_gap_value(turn[2])]
    width = max((end - start) / PARTS, 1e-3)
    kept: list[Turn] = []
    for _, group in groupby(known, lambda turn: (turn[0] - start) // width):
        *earlier, last = group
        if len(earlier) > 1:
            earlier = [(earlier[0][0], last[0], longest_active(earlier))]
        kept += [*earlier, last]
    return kept

"""How long each state held and how often it began, aggregated by the database.

A turn is a stretch of rows with one state. Each row becomes one integer: its state's code times a scale, plus the
microseconds since the start. So one narrow column carries state and time through the window functions; with wide rows,
SQLite takes longer for these than for reading. The turns are then counted by the codes of three neighbours, which tell
what held before and after each.
"""

from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Integer,
    Select,
    Subquery,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.orm import Session

from homeassistant.components.recorder.db_schema import States

from .states import GAPS, Rows, is_gap, number_column, value_column, within
from .tallies import GAP, OTHER, Coding, Group, Kind

_TICKS = 10_000
"""Ticks per second: fine enough to be exact to the second, coarse enough for sums over millions of rows in 64 bits."""
_MAX_INTEGER = 2**62
_BIGINT = BigInteger()


def read_groups(session: Session, rows: Rows, coding: Coding, min_seconds: float = 0) -> tuple[Coding, list[Group]]:
    """Return the turns after the first one, in groups, and how the states were coded."""
    series, start = rows.series, rows.start
    if coding.kind is Kind.LEARNED:
        coding = Coding(Kind.LEARNED, frequent_values(session, rows))
    span = int((rows.cut - start) * _TICKS) + 1
    # One integer also tells the longest turn together with its start, in steps as fine as 64 bits allow.
    steps = _MAX_INTEGER // span
    step = span // steps + 1
    # Twice the span: MariaDB divides to four decimals, so an offset must stay well below its scale.
    scale = 2 * span
    parameters = {
        "scale": scale,
        "steps": steps,
        "step": step,
        "min_length": int(min_seconds * _TICKS),
        **coding.parameters,
    }

    def moment(coded: int) -> float:
        return start + coded % scale / _TICKS

    def group(row: Any) -> Group:
        count, first_began, last_began = (int(value) for value in row[5:8])
        group = Group(
            before=int(row[0]),
            state=int(row[1]),
            after=None if row[2] is None else int(row[2]),
            returns=bool(row[3]),
            long_enough=bool(row[4]),
            count=count,
            first_began=moment(first_began),
            last_began=moment(last_began),
        )
        if group.after is not None:
            first_ended, last_ended, total, longest = (int(value) for value in row[8:])
            group.first_ended, group.last_ended = moment(first_ended), moment(last_ended)
            group.total = total / _TICKS
            group.longest = longest // steps / _TICKS
            group.longest_start = start + longest % steps * step / _TICKS
        return group

    def run(coding: Coding, *, joined: bool) -> list[Group]:
        statement = _groups(
            series.dialect,
            coding.kind,
            coding.statement_states,
            attribute=series.of_attribute,
            joined=joined,
            limited=min_seconds > 0,
        )
        return [group(row) for row in rows.run(session, statement, **parameters)]

    # Rows that repeat the state before them are rare once those with other attributes only are left out, and joining
    # them to one turn costs a window function more: so only when there are some.
    joined = series.of_attribute or coding.kind is not Kind.STATES
    groups = run(coding, joined=joined)
    if not joined and any(group.state in (group.before, group.after) for group in groups):
        groups = run(coding, joined=True)
    unexpected = any(OTHER in (group.before, group.state, group.after) for group in groups)
    if coding.kind is Kind.STATES and (unexpected or coding.code(rows.first.value) == OTHER):
        coding = Coding(Kind.LEARNED, frequent_values(session, rows))
        groups = run(coding, joined=True)
    return coding, groups


@lru_cache(maxsize=64)
def _groups(
    dialect: str, kind: Kind, states: tuple[str, ...], *, attribute: bool, joined: bool, limited: bool
) -> Select[Any]:
    """Select the groups of turns; limited: those shorter than :min_length apart."""
    scale = bindparam("scale", type_=_BIGINT)
    rows = _coded(dialect, kind, states, attribute=attribute)
    if joined:
        rows = _joined(rows, scale)
    order = (rows.c.moment, rows.c.state_id)
    turns = (
        select(
            rows.c.coded.label("before"),
            func.lead(rows.c.coded, type_=_BIGINT).over(order_by=order).label("this"),
            func.lead(rows.c.coded, 2, type_=_BIGINT).over(order_by=order).label("after"),
        )
        .subquery()
        .c
    )
    before, state, after = (column // scale for column in (turns.before, turns.this, turns.after))
    learned = kind is Kind.LEARNED
    began, ended = turns.this % scale, turns.after % scale
    always, never = literal_column("1", Integer), literal_column("0", Integer)
    keyed = (
        select(
            (_capped(before) if learned else before).label("before"),
            (_capped(state) if learned else state).label("state"),
            (_capped(after) if learned else after).label("following"),
            (case((before == after, 1), else_=0) if learned else never).label("returns"),
            (case((ended - began >= bindparam("min_length", type_=_BIGINT), 1), else_=0) if limited else always).label(
                "long_enough"
            ),
            # Within a group of equal codes the coded moments compare like the moments themselves.
            (began if learned else turns.this).label("began"),
            (ended if learned else turns.after).label("ended"),
            began.label("start"),
            (ended - began).label("length"),
        )
        .where(turns.this.is_not(None))
        .subquery()
        .c
    )
    keys = [keyed.before, keyed.state, keyed.following, keyed.returns, keyed.long_enough]
    return select(
        *keys,
        func.count(),
        func.min(keyed.began),
        func.max(keyed.began),
        func.min(keyed.ended),
        func.max(keyed.ended),
        func.sum(keyed.length),
        func.max(keyed.length * bindparam("steps", type_=_BIGINT) + keyed.start // bindparam("step", type_=_BIGINT)),
    ).group_by(*keys)


def _coded(dialect: str, kind: Kind, states: tuple[str, ...], *, attribute: bool) -> Subquery:
    """Return moment, id and coded state of the rows."""
    table = States.__table__.c
    value = value_column(dialect, attribute=attribute)
    moment = table.last_updated_ts
    start: ColumnElement[float] = bindparam("start", type_=Double())
    learned = _codes(dialect, attribute=attribute).subquery() if kind is Kind.LEARNED else None
    code = _code(dialect, kind, states, value) if learned is None else case((is_gap(value), GAP), else_=learned.c.code)
    offset = case((moment > start, cast((moment - start) * float(_TICKS), _BIGINT)), else_=0)
    statement = within(
        moment.label("moment"),
        table.state_id,
        type_coerce(code * bindparam("scale", type_=_BIGINT) + offset, _BIGINT).label("coded"),
        attribute=attribute,
        changed_only=not attribute,
    )
    if learned is not None:
        statement = statement.outerjoin(learned, learned.c.value == value)
    return statement.subquery()


def _code(dialect: str, kind: Kind, states: tuple[str, ...], value: ColumnElement[str]) -> ColumnElement[int]:
    """Return the code of a value, where the codes are known beforehand."""
    if kind is Kind.EQUAL:
        return case((value == bindparam("wanted"), 1), (is_gap(value), GAP), else_=2)
    if kind is Kind.BETWEEN:
        number = number_column(dialect, value)
        return case(
            (number.is_(None), GAP), ((number > bindparam("above")) & (number < bindparam("below")), 1), else_=2
        )
    codes = {state: code for code, state in enumerate(states, 1)} | dict.fromkeys(GAPS, GAP)
    return case(codes, value=value, else_=case((value.is_(None), GAP), else_=OTHER))


def _codes(dialect: str, *, attribute: bool) -> Select[Any]:
    """Select the values of a span with codes, the most frequent first."""
    value = value_column(dialect, attribute=attribute)
    counted = (
        within(value.label("value"), func.count().label("times"), attribute=attribute, changed_only=not attribute)
        .where(~is_gap(value))
        .group_by(value)
        .subquery()
    )
    order = (counted.c.times.desc(), counted.c.value)
    return select(counted.c.value, func.row_number().over(order_by=order).label("code"))


def _capped(code: ColumnElement[int]) -> ColumnElement[int]:
    """Return a code, or OTHER for the many that are not worth a name."""
    return case((code > OTHER, OTHER), else_=code)


@lru_cache(maxsize=8)
def _frequent(dialect: str, *, attribute: bool) -> Select[Any]:
    """Select the most frequent values."""
    codes = _codes(dialect, attribute=attribute).subquery()
    return select(codes.c.value).where(codes.c.code < OTHER).order_by(codes.c.code)


def _joined(rows: Subquery, scale: ColumnElement[int]) -> Subquery:
    """Return the rows without those that repeat the state of the row before."""
    order = (rows.c.moment, rows.c.state_id)
    marked = select(rows, func.lag(rows.c.coded, type_=_BIGINT).over(order_by=order).label("previous")).subquery()
    return (
        select(marked.c.moment, marked.c.state_id, marked.c.coded)
        .where(or_(marked.c.previous.is_(None), marked.c.coded // scale != marked.c.previous // scale))
        .subquery()
    )


@lru_cache(maxsize=16)
def _stretches(dialect: str, kind: Kind, *, attribute: bool) -> Select[Any]:
    """Select the turns of code 1, newest first, with their end; the last one has none."""
    scale = bindparam("scale", type_=_BIGINT)
    rows = _joined(_coded(dialect, kind, (), attribute=attribute), scale)
    following: ColumnElement[int] = func.lead(rows.c.coded, type_=_BIGINT).over(
        order_by=(rows.c.moment, rows.c.state_id)
    )
    turns = select(rows.c.coded.label("this"), following.label("after")).subquery().c
    began = turns.this % scale
    ended = func.coalesce(turns.after % scale, bindparam("span", type_=_BIGINT))
    return (
        select(began, turns.after % scale)
        .where(turns.this // scale == 1, ended - began >= bindparam("min_length", type_=_BIGINT))
        .order_by(began.desc())
        .limit(bindparam("count"))
    )


def newest_stretches(
    session: Session, rows: Rows, coding: Coding, until: float, *, count: int, min_seconds: float = 0
) -> list[tuple[float, float | None]]:
    """Return the newest stretches in which a condition held, newest first: start and end.

    The one that still held when the rows ended has no end; it is taken to last until a later moment.
    """
    span = int((until - rows.start) * _TICKS) + 1
    statement = _stretches(rows.series.dialect, coding.kind, attribute=rows.series.of_attribute)
    parameters = {"scale": 2 * span, "span": span, "min_length": int(min_seconds * _TICKS), "count": count}
    return [
        (rows.start + began / _TICKS, None if ended is None else rows.start + ended / _TICKS)
        for began, ended in rows.run(session, statement, **parameters, **coding.parameters)
    ]


def frequent_values(session: Session, rows: Rows) -> tuple[str, ...]:
    """Return the most frequent values of rows, the most frequent first."""
    statement = _frequent(rows.series.dialect, attribute=rows.series.of_attribute)
    return tuple(rows.run(session, statement).scalars())

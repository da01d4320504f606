"""How long each state held and how often it began, aggregated by the database.

A turn is a stretch of rows with one state. Each row becomes one integer: its state's code times a scale, plus the
ticks since the start. So one narrow column carries state and time through the window functions; with wide rows,
SQLite takes longer for these than for reading. Rows are then counted by their own code and those of their neighbours.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Select,
    Subquery,
    bindparam,
    case,
    cast,
    func,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.orm import Session

from .engine import Engine
from .state_durations import GAP, OTHER, Beginning, Coding, Course, StateCodes, StateDuration
from .states import (
    ATTRIBUTES,
    GAPS,
    STATES,
    Rows,
    Series,
    changed_column,
    is_gap,
    moments,
    order_of,
    value_column,
    within,
)

_TICKS = 10_000
"""Ticks per second: fine enough to be exact to the second, coarse enough for sums over millions of rows in 64 bits."""
_MAX_INTEGER = 2**62
_LOOK_BACK = 2_000
"""Rows among which the last time that a condition held is looked for: a few milliseconds' worth."""
_BIGINT = BigInteger()
_FOLLOWING = select(func.min(STATES.c.last_updated_ts)).where(
    STATES.c.metadata_id == bindparam("metadata_id"), STATES.c.last_updated_ts > bindparam("moment")
)


def read_course(session: Session, rows: Rows, coding: Coding, min_seconds: float = 0) -> tuple[Coding, Course]:
    """Return how states took turns among rows, and how they were coded; turns shorter than min_seconds are left out."""
    clock = _Clock(rows.start, rows.cut)
    if coding.kind is StateCodes.STATES:
        course = _quick(session, rows, coding, clock) or _complete(session, rows, coding, clock, min_seconds)
        if OTHER not in {course.state, *(turn.state for turn in course.turns)}:
            return coding, course
        coding = Coding(StateCodes.LEARNED)
    if coding.kind is StateCodes.LEARNED:
        coding = Coding(StateCodes.LEARNED, frequent_values(session, rows))
    return coding, _complete(session, rows, coding, clock, min_seconds)


class _Clock:
    """How moments are packed into integers."""

    def __init__(self, start: float, cut: float) -> None:
        """Take the span."""
        self.start = start
        self.span = int((cut - start) * _TICKS) + 1
        # Twice the span: MariaDB divides to four decimals, so an offset must stay well below its scale.
        self.scale = 2 * self.span
        # One integer also tells the longest turn together with its start, in steps as fine as 64 bits allow.
        self.steps = _MAX_INTEGER // self.span
        self.step = self.span // self.steps + 1

    @property
    def parameters(self) -> dict[str, int]:
        """Return the parameters of the statements."""
        return {"scale": self.scale, "steps": self.steps, "step": self.step}

    def moment(self, coded: Any) -> float:
        """Return the moment in a coded row."""
        return self.start + int(coded) % self.scale / _TICKS

    def turn(self, state: int, count: int, total: Any, longest: Any) -> StateDuration:
        """Return turns from their sums."""
        length, step = divmod(int(longest), self.steps)
        return StateDuration(state, count, int(total) / _TICKS, length / _TICKS, self.start + step * self.step / _TICKS)


def _quick(session: Session, rows: Rows, coding: Coding, clock: _Clock) -> Course | None:
    """Return the course of states where each row is a change between known states, or None where that is not so.

    It is so for most entities, as rows that were written for attributes only are left out, and takes half the time.
    """
    turns: list[StateDuration] = []
    beginnings: list[Beginning] = []
    last: tuple[int, float] | None = None
    statement = _pairs(rows.series.engine, coding.states)
    for state, following, count, first, latest, *sums in rows.run(session, statement, **clock.parameters):
        if state in (GAP, OTHER, following) or following in (GAP, OTHER):
            return None
        if following is None:
            last = (int(state), clock.moment(first))
        else:
            turns.append(clock.turn(int(state), count, *sums))
            beginnings.append(Beginning(int(following), count, clock.moment(first), clock.moment(latest)))
    return None if last is None else Course(turns=turns, beginnings=beginnings, state=last[0], since=last[1])


@lru_cache(maxsize=16)
def _pairs(engine: Engine, states: tuple[str, ...]) -> Select[Any]:
    """Select each pair of states that follow each other: how often, when, and how long the first of them held."""
    scale = bindparam("scale", type_=_BIGINT)
    rows = _coded(engine, StateCodes.STATES, states, attribute=False)
    pairs = (
        select(
            rows.c.coded.label("this"),
            func.lead(rows.c.coded, type_=_BIGINT).over(order_by=order_of(rows)).label("after"),
        )
        .subquery()
        .c
    )
    event = func.coalesce(pairs.after, pairs.this)
    keyed = (
        select(
            (pairs.this // scale).label("state"),
            (pairs.after // scale).label("following"),
            event.label("event"),
            (pairs.this % scale).label("start"),
            (pairs.after % scale - pairs.this % scale).label("length"),
        )
        .subquery()
        .c
    )
    keys = [keyed.state, keyed.following]
    return select(*keys, func.count(), func.min(keyed.event), func.max(keyed.event), *_sums(keyed)).group_by(*keys)


def _sums(keyed: Any) -> list[ColumnElement[int]]:
    """Return the total length of turns, and the longest with its start."""
    steps, step = bindparam("steps", type_=_BIGINT), bindparam("step", type_=_BIGINT)
    return [func.sum(keyed.length), func.max(keyed.length * steps + keyed.start // step)]


def _complete(session: Session, rows: Rows, coding: Coding, clock: _Clock, min_seconds: float) -> Course:
    """Return the course of states, whatever they are, repeated ones joined and gaps told apart."""
    turns: list[StateDuration] = []
    beginnings: list[Beginning] = []
    final: tuple[int, float, int] | None = None
    closed = 0.0
    statement = _triples(rows.series.engine, coding.kind, coding.statement_states, attribute=rows.series.of_attribute)
    minimum = int(min_seconds * _TICKS)
    parameters = clock.parameters | coding.parameters | {"min_length": minimum}
    for before, state, after, returns, long_enough, count, first, last, *sums in rows.run(
        session, statement, **parameters
    ):
        if after is None:
            final = (int(state), clock.moment(first), int(before))
        else:
            turn = clock.turn(int(state), count, *sums)
            closed += turn.total
            turns += [turn] if long_enough else []
        into = after if state == GAP else state
        if before and into and not (state == GAP and returns):
            beginnings.append(Beginning(int(into), count, clock.moment(first), clock.moment(last)))
    first_state = coding.code(rows.first.value)
    if final is None:
        return Course(turns=turns, beginnings=beginnings, state=first_state, since=rows.start)
    # All that ended after the first turn lies between its end and the beginning of the last one.
    length = final[1] - closed - rows.start
    if length >= min_seconds:
        turns.append(StateDuration(first_state, 1, length, length, rows.start))
    return Course(turns=turns, beginnings=beginnings, state=final[0], since=final[1], before=final[2])


@lru_cache(maxsize=64)
def _triples(engine: Engine, kind: StateCodes, states: tuple[str, ...], *, attribute: bool) -> Select[Any]:
    """Select the turns by their state and those before and after, those shorter than :min_length apart."""
    scale = bindparam("scale", type_=_BIGINT)
    rows = _joined(_coded(engine, kind, states, attribute=attribute), scale)
    order = order_of(rows)
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
    began, ended = turns.this % scale, turns.after % scale
    # Of a gap it counts when another state followed, of a state when it began.
    event = case(((turns.this < scale) & turns.after.is_not(None), ended), else_=began)
    keyed = (
        select(
            _capped(before).label("before"),
            _capped(state).label("state"),
            _capped(after).label("following"),
            case((before == after, 1), else_=0).label("returns"),
            case((ended - began >= bindparam("min_length", type_=_BIGINT), 1), else_=0).label("long_enough"),
            event.label("event"),
            began.label("start"),
            (ended - began).label("length"),
        )
        .where(turns.this.is_not(None))
        .subquery()
        .c
    )
    keys = [keyed.before, keyed.state, keyed.following, keyed.returns, keyed.long_enough]
    return select(*keys, func.count(), func.min(keyed.event), func.max(keyed.event), *_sums(keyed)).group_by(*keys)


def _coded(engine: Engine, kind: StateCodes, states: tuple[str, ...], *, attribute: bool) -> Subquery:
    """Return moment, id and coded state of the rows."""
    value = value_column(engine, attribute=attribute)
    moment = STATES.c.last_updated_ts
    start: ColumnElement[float] = bindparam("start", type_=Double())
    learned = _codes(engine, attribute=attribute).subquery() if kind is StateCodes.LEARNED else None
    code = _code(engine, kind, states, value) if learned is None else case((is_gap(value), GAP), else_=learned.c.code)
    offset = case((moment > start, cast((moment - start) * float(_TICKS), _BIGINT)), else_=0)
    statement = within(
        *moments(engine),
        type_coerce(code * bindparam("scale", type_=_BIGINT) + offset, _BIGINT).label("coded"),
        attribute=attribute,
        changed_only=not attribute,
    )
    if learned is not None:
        statement = statement.outerjoin(learned, learned.c.value == value)
    return statement.subquery()


def _code(engine: Engine, kind: StateCodes, states: tuple[str, ...], value: ColumnElement[str]) -> ColumnElement[int]:
    """Return the code of a value, where the codes are known beforehand."""
    if kind is StateCodes.EQUAL:
        return case((value == bindparam("wanted"), 1), (is_gap(value), GAP), else_=2)
    if kind is StateCodes.BETWEEN:
        number = engine.number(value)
        return case(
            (number.is_(None), GAP), ((number > bindparam("above")) & (number < bindparam("below")), 1), else_=2
        )
    codes = {state: code for code, state in enumerate(states, 1)} | dict.fromkeys(GAPS, GAP)
    return case(codes, value=value, else_=case((value.is_(None), GAP), else_=OTHER))


def _codes(engine: Engine, *, attribute: bool) -> Select[Any]:
    """Select the values of a span with codes, the most frequent first."""
    value = value_column(engine, attribute=attribute)
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
def _frequent(engine: Engine, *, attribute: bool) -> Select[Any]:
    """Select the most frequent values."""
    codes = _codes(engine, attribute=attribute).subquery()
    return select(codes.c.value).where(codes.c.code < OTHER).order_by(codes.c.code)


def _joined(rows: Subquery, scale: ColumnElement[int]) -> Subquery:
    """Return the rows without those that repeat the state of the row before."""
    marked = select(
        rows, func.lag(rows.c.coded, type_=_BIGINT).over(order_by=order_of(rows)).label("previous")
    ).subquery()
    return (
        select(*(marked.c[column.name] for column in rows.c))
        .where(or_(marked.c.previous.is_(None), marked.c.coded // scale != marked.c.previous // scale))
        .subquery()
    )


@lru_cache(maxsize=16)
def _stretches(engine: Engine, kind: StateCodes, *, attribute: bool) -> Select[Any]:
    """Select the turns of code 1, newest first, with their end; the last one has none."""
    scale = bindparam("scale", type_=_BIGINT)
    rows = _joined(_coded(engine, kind, (), attribute=attribute), scale)
    following: ColumnElement[int] = func.lead(rows.c.coded, type_=_BIGINT).over(order_by=order_of(rows))
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
    statement = _stretches(rows.series.engine, coding.kind, attribute=rows.series.of_attribute)
    parameters = {"scale": 2 * span, "span": span, "min_length": int(min_seconds * _TICKS), "count": count}
    return [
        (rows.start + began / _TICKS, None if ended is None else rows.start + ended / _TICKS)
        for began, ended in rows.run(session, statement, **parameters, **coding.parameters)
    ]


@lru_cache(maxsize=16)
def _newest_match(engine: Engine, kind: StateCodes, *, attribute: bool) -> Select[Any]:
    """Select the oldest of the newest rows up to :until, and the newest among them in which a condition held."""
    moment = STATES.c.last_updated_ts
    value = value_column(engine, attribute=attribute)
    newest = select(
        moment.label("moment"),
        _code(engine, kind, (), value).label("code"),
        changed_column(attribute=attribute).label("since"),
    )
    if attribute:
        newest = newest.select_from(STATES).outerjoin(ATTRIBUTES, STATES.c.attributes_id == ATTRIBUTES.c.attributes_id)
    rows = (
        newest.where(STATES.c.metadata_id == bindparam("metadata_id"), moment <= bindparam("until"))
        .order_by(moment.desc())
        .limit(_LOOK_BACK)
        .subquery()
        .c
    )
    matching = rows.code == 1
    return select(
        func.min(rows.moment), func.max(case((matching, rows.moment))), func.max(case((matching, rows.since)))
    )


@dataclass(frozen=True, slots=True)
class LastTime:
    """When a condition held last, in seconds since the epoch."""

    start: float | None
    """Where it is known without reading more: that of a state."""
    end: float


def last_time(session: Session, series: Series, coding: Coding, until: float) -> LastTime | float | None:
    """Return the last time at which a condition was true before a time, or the time since which it was certainly false.

    It takes two index look-ups, the first of a limited number of rows. None if there are no rows.
    """
    statement = _newest_match(series.engine, coding.kind, attribute=series.of_attribute)
    oldest, newest, since = series.run(session, statement, until=until, **coding.parameters).one()
    if newest is None:
        return None if oldest is None else float(oldest)
    end = series.run(session, _FOLLOWING, moment=newest).scalar()
    is_begin = coding.kind is StateCodes.EQUAL and not series.of_attribute
    return LastTime(since if is_begin else None, until if end is None else end)


def frequent_values(session: Session, rows: Rows) -> tuple[str, ...]:
    """Return the most frequent values of rows."""
    statement = _frequent(rows.series.engine, attribute=rows.series.of_attribute)
    return tuple(rows.run(session, statement).scalars())

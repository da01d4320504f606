"""The history of one entity over a time span: from its rows, its statistics, and its current state, which is the newest."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise

from sqlalchemy.orm import Session

from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance
from homeassistant.util import dt as dt_util

from . import read_session
from .engine import engine_of
from .hourly_numbers import Hourly, SpanNumbers, read_span, read_unit
from .numbers import Numbers, Reading, constant
from .state_durations import Coding, Course, Edges, Live, StateAccount, StateCodes, account
from .state_durations_sql import LastTime, frequent_values, last_time, newest_stretches, read_course
from .states import (
    Held,
    Row,
    Rows,
    Series,
    as_number,
    find_rows,
    first_moment,
    is_gap_value,
    last_change,
    newest_changes,
    oldest_moment,
)
from .unavailable_hours import Interruptions

FEW = 12
"""The changes that are listed by default."""
_WIDTHS = (60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
"""The possible widths of the parts of a curve, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An entity whose history is read."""

    entity_id: str
    numeric: bool
    states: tuple[str, ...]
    """Its possible states if they are known; otherwise they are read."""
    live: Live
    changed: float
    """The time since which the current value has lasted, as far as the state machine knows."""
    unit: str | None
    interruptions: Interruptions = field(default_factory=Interruptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The parameters of a read; times in seconds since the epoch."""

    start: float
    end: float
    attribute: str | None = None
    condition: Coding | None = None
    min_seconds: float = 0
    rows: int | None = None
    """The number of rows to list; None to list them only if there are few."""
    before: float | None = None
    """Lists only rows that began before this time."""


@dataclass(slots=True, kw_only=True)
class EntityHistory:
    """The history of one subject."""

    recorded_from: float | None
    """The time of the first row if it is after the start; if there are no rows in the span, that of the first row at all."""
    before: Held | None = None
    """The value at the start, and since when it lasted."""
    last_time: LastTime | float | None = None
    """The last time at which the condition was true, if it was not in the span."""
    account: StateAccount | None = None
    numbers: Numbers | None = None
    unit_before: str | None = None
    """The unit of the numbers at the start, if it was another one."""
    hourly: bool = False
    """True if the numbers before recorded_from are hourly averages."""
    seconds: float = 0
    """The length of the span."""
    rows: list[Row] | None = None
    """Changes, newest first."""
    stretches: list[tuple[float, float | None]] | None = None
    """Periods in which the condition was true, newest first; the current one has no end."""
    curve: list[tuple[float, Numbers]] | None = None
    """The numbers of equal parts of the span."""
    more: bool = False
    """True if there are older rows."""
    occurred: tuple[str, ...] = field(default=())
    """The states that occurred, if the wanted state is unknown."""

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is known about the span."""
        return self.account is None and self.numbers is None and self.before is None


def _parts(start: float, end: float, count: int) -> list[tuple[float, float]]:
    """Return at most about `count` parts of a span that begin at round local times."""
    width = next((nice for nice in _WIDTHS if nice * count >= end - start), (end - start) / count)
    offset = (dt_util.as_local(dt_util.utc_from_timestamp(start)).utcoffset() or timedelta()).total_seconds()
    begins = [start]
    while (following := ((begins[-1] + offset) // width + 1) * width - offset) < end:
        begins.append(following)
    return list(pairwise([*begins, end]))


def read_history(
    hass: HomeAssistant, subjects: list[Subject], question: Question
) -> tuple[dict[str, EntityHistory], float | None]:
    """Read the history of each subject, and the start of the recording."""
    with read_session(hass) as session:
        metadata_ids = get_instance(hass).states_meta_manager.get_many(
            [subject.entity_id for subject in subjects], session, from_recorder=False
        )
        engine = engine_of(session)
        series = {
            entity_id: Series(engine, metadata_id, question.attribute)
            for entity_id, metadata_id in metadata_ids.items()
            if metadata_id is not None
        }
        answers = {
            subject.entity_id: _HistoryReader(session, series.get(subject.entity_id), subject, question).answer()
            for subject in subjects
        }
        return answers, oldest_moment(session)


@dataclass(slots=True)
class _HistoryReader:
    """Reads the history of one subject."""

    session: Session
    series: Series | None
    subject: Subject
    question: Question
    live: Live | None = field(init=False)
    cut: float = field(init=False)

    def __post_init__(self) -> None:
        """End the rows at the start of the current state, if that is in the span."""
        question, live = self.question, self.subject.live
        self.live = live if live.since < question.end else None
        self.cut = max(question.start, live.since) if self.live else question.end

    def answer(self) -> EntityHistory:
        """Read the history."""
        numbers = self.subject.numeric and self.question.condition is None
        answer = self._numbers() if numbers else self._states()
        if answer is None:
            first = first_moment(self.session, self.series) if self.series else None
            answer = EntityHistory(recorded_from=self.subject.live.since if first is None else first)
        return answer

    def _before(self, rows: Rows | None) -> Held | None:
        """Return the state at the start of the span by one look-up, or None if it is unknown."""
        start, live = self.question.start, self.subject.live
        if self.question.before is not None:
            return None  # Told with the first rows.
        value: str | None
        if rows is not None and rows.first.moment <= start:
            value, since = rows.first.value, rows.since
        elif live.since <= start:
            value, since = live.value, self.subject.changed
        else:
            return None
        if self.series is not None:
            return last_change(self.session, self.series, value, since)
        return None if is_gap_value(value) else Held(str(value), since, is_change=False)

    def _rows(self) -> Rows | None:
        """Return the rows before the current state."""
        return self._rows_of(self.question.start, self.question.end)

    def _states(self) -> EntityHistory | None:
        """Read the durations of states, or of a condition."""
        question, live, rows = self.question, self.live, self._rows()
        coding = question.condition or (
            Coding(StateCodes.STATES, self.subject.states) if self.subject.states else Coding(StateCodes.LEARNED)
        )
        course: Course | None = None
        if rows is not None:
            edges = Edges(start=rows.start, end=question.end, first=rows.first.value, live=live)
            coding, course = self._course(rows, coding)
        elif live is not None:
            edges = Edges(start=self.cut, end=question.end, first=live.value)
        else:
            return None
        turns = account(coding, course, edges, question.min_seconds)
        answer = EntityHistory(
            recorded_from=edges.start if edges.start > question.start else None,
            account=turns,
            seconds=question.end - edges.start,
            before=self._before(rows) if coding.kind is not StateCodes.BETWEEN else None,
        )
        if (condition := question.condition) is None:
            if question.rows is not None or turns.changes <= FEW:
                self._add_changes(answer, rows)
        elif question.rows is not None or turns.tally(1).turns <= FEW:
            self._add_stretches(answer, rows, condition)
        return answer

    def _course(self, rows: Rows, coding: Coding) -> tuple[Coding, Course]:
        """Return the durations of states; if the states are known, all are read, which is faster than reading one."""
        question = self.question
        if coding.kind is StateCodes.EQUAL and coding.states[0] in self.subject.states and not question.min_seconds:
            others = tuple(state for state in self.subject.states if state not in coding.states)
            # The codes are those of the condition: 1 for the state, 2 for the only other one.
            known, course = read_course(self.session, rows, Coding(StateCodes.STATES, (*coding.states, *others)))
            if known.kind is StateCodes.STATES:
                return coding, course
        return read_course(self.session, rows, coding, question.min_seconds)

    def _listed(self, rows: Rows | None) -> tuple[Rows | None, Live | None, int]:
        """Return the rows and the current state for a list, and its maximum length."""
        before, count = self.question.before, self.question.rows
        if before is None:
            return rows, self.live, FEW if count is None else count
        live = self.live if self.live and self.cut < before else None
        if rows is not None:
            rows = replace(rows, cut=min(rows.cut, before)) if rows.start < before else None
        return rows, live, FEW if count is None else count

    def _add_changes(self, answer: EntityHistory, rows: Rows | None) -> None:
        """List the newest changes."""
        rows, live, count = self._listed(rows)
        found = newest_changes(self.session, rows, count + 1) if rows and count else []
        if live and count and (not found or found[0].value != live.value):
            found.insert(0, Row(self.cut, live.value))
        answer.rows, answer.more = found[:count], len(found) > count

    def _add_stretches(self, answer: EntityHistory, rows: Rows | None, condition: Coding) -> None:
        """List the newest periods in which the condition was true."""
        rows, live, count = self._listed(rows)
        question = self.question
        holds = live is not None and condition.code(live.value) == 1
        end = question.end if holds or not live else self.cut
        found: list[tuple[float, float | None]] = []
        if rows and count:
            found = newest_stretches(
                self.session, rows, condition, end, count=count + 1, min_seconds=question.min_seconds
            )
        if live and found and found[0][1] is None and not holds:
            found[0] = (found[0][0], self.cut)
        elif live and holds and not (found and found[0][1] is None) and question.end - self.cut >= question.min_seconds:
            # Nothing is open: either the condition began with the live state, or its open stretch was listed before.
            found.insert(0, (self.cut, None))
        answer.stretches, answer.more = found[:count], len(found) > count
        if found or question.min_seconds or question.before is not None:
            return
        if self.series is not None:
            answer.last_time = last_time(self.session, self.series, condition, question.start)
        if rows and condition.kind is StateCodes.EQUAL and condition.states[0] not in self.subject.states:
            answer.occurred = frequent_values(self.session, rows)

    def _numbers(self) -> EntityHistory | None:
        """Read the extremes and the mean of numbers."""
        question, rows = self.question, self._rows()
        span = self._span(rows, question.start, question.end)
        if span.numbers is None:
            return EntityHistory(recorded_from=None, before=before) if (before := self._before(rows)) else None
        start = span.numbers.first.moment
        answer = EntityHistory(
            recorded_from=span.recorded_from if span.recorded_from != question.start else None,
            numbers=span.numbers,
            hourly=span.hourly,
            seconds=question.end - start,
            unit_before=self._unit_before(rows),
        )
        if start == question.start and not span.hourly:
            # The value at the start was written before: when, is known without another look-up.
            written = rows.since if rows else self.subject.changed
            answer.numbers = replace(span.numbers, first=Reading(written, span.numbers.first.number))
        count = FEW if question.rows is None else question.rows
        if span.numbers.count <= count and not span.hourly:
            self._add_changes(answer, rows)
        elif question.rows:
            answer.curve = [
                (begin, numbers)
                for begin, end in _parts(start, question.end, question.rows)
                if (numbers := self._span(self._rows_of(begin, end), begin, end).numbers) is not None
            ]
        return answer

    def _unit_before(self, rows: Rows | None) -> str | None:
        """Return the unit of the first row if the entity has another one now."""
        if rows is None or self.question.attribute is not None:
            return None
        unit = read_unit(self.session, rows.series, rows.start)
        return unit if unit != self.subject.unit else None

    def _rows_of(self, start: float, end: float) -> Rows | None:
        """Return the rows of a part of the span."""
        cut = min(end, self.cut)
        return find_rows(self.session, self.series, start, cut) if self.series and start < cut else None

    def _span(self, rows: Rows | None, start: float, end: float) -> SpanNumbers:
        """Return the numbers of a part of the span, including the current one."""
        subject = self.subject
        of_state = self.question.attribute is None
        hourly = Hourly(subject.entity_id, subject.unit, subject.interruptions) if of_state else None
        live = as_number(self.live.value) if self.live and self.cut < end else None
        span = read_span(self.session, rows, hourly, start, min(end, self.cut), last=live is None)
        if live is None:
            return span
        latest = constant(live, max(start, self.cut), end)
        return replace(span, numbers=span.numbers.joined(latest) if span.numbers else latest)

"""Compare how states took turns with a plain replay, on every database engine."""

from itertools import pairwise

from hypothesis import HealthCheck, example, given, settings, strategies as st
import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from custom_components.extended_assist.recorder.state_durations import (
    GAP,
    OTHER,
    Coding,
    Edges,
    Live,
    StateAccount,
    StateCodes,
    account,
)
from custom_components.extended_assist.recorder.state_durations_sql import newest_stretches, read_course
from custom_components.extended_assist.recorder.states import find_rows, newest_changes
from tests.helpers.databases import EVERY_DATABASE

from .replay import Recorded, Replayed, find_series, record, replay

FRUGAL = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# 2026-10-25, when clocks in Europe were set back; any moment would do, as rows know no time zones.
ORIGIN = 1_792_890_000.0
END = ORIGIN + 5_000


@st.composite
def recorded(draw: st.DrawFn, states: tuple[str | None, ...]) -> list[Recorded]:
    """Rows over a span and some time before it: changes, repetitions, restarts, rows for attributes only."""
    moment = ORIGIN - draw(st.sampled_from([1_000, 10, -200]))
    rows: list[Recorded] = []
    for _ in range(draw(st.integers(0, 25))):
        moment += draw(st.integers(1, 400_000)) / 1000
        if rows and draw(st.integers(0, 3)) == 0:
            rows.append(Recorded(moment, rows[-1].state, attributes_only=draw(st.booleans())))
        else:
            rows.append(Recorded(moment, draw(st.sampled_from(states))))
    return rows


def read(
    database: Engine, rows: list[Recorded], coding: Coding, live: Live | None, minimum: float
) -> StateAccount | None:
    """Ask the database, with the rows that it has when the live state is newer."""
    entity_id = record(database, rows)
    cut = max(ORIGIN, live.since) if live else END
    with Session(database) as session:
        series = find_series(session, entity_id)
        found = find_rows(session, series, ORIGIN, cut) if cut > ORIGIN else None
        if found is None:
            if live is None:
                return None
            return account(coding, None, Edges(start=cut, end=END, first=live.value), minimum)
        coding, course = read_course(session, found, coding, minimum)
    return account(coding, course, Edges(start=found.start, end=END, first=found.first.value, live=live), minimum)


def check(found: StateAccount | None, expected: dict[str, Replayed], names: dict[int, str]) -> None:
    """Compare an account with a replay, to the millisecond."""
    if found is None:
        assert not expected
        return
    tallies = {names[code]: tally for code, tally in found.tallies.items() if tally.turns or tally.began}
    assert tallies.keys() == expected.keys()
    for state, tally in tallies.items():
        replayed = expected[state]
        assert tally.total == pytest.approx(replayed.total, abs=0.02)
        assert tally.longest == pytest.approx(replayed.longest, abs=0.002)
        assert tally.turns == len(replayed.stretches)
        assert tally.began == len(replayed.began)
        if replayed.began:
            assert tally.first_began == pytest.approx(replayed.began[0], abs=0.002)
            assert tally.last_began == pytest.approx(replayed.began[-1], abs=0.002)
        if replayed.stretches:
            assert any(
                tally.longest_start == pytest.approx(start, abs=0.01)
                and end - start == pytest.approx(replayed.longest, abs=0.002)
                for start, end in replayed.stretches
            )
    assert found.changes == sum(len(replayed.began) for replayed in expected.values())


def split(rows: list[Recorded], with_live: bool) -> tuple[list[Recorded], Live | None]:
    """Take the newest row out of the database: it is only in the state machine yet."""
    if not with_live or not rows or rows[-1].moment >= END:
        return rows, None
    return rows[:-1], Live(since=rows[-1].moment, value=rows[-1].state or "unknown")


# When the span begins, the newest row is one that was written for its attributes only.
ATTRIBUTES_FIRST = [
    Recorded(ORIGIN - 100, "off"),
    Recorded(ORIGIN - 50, "off", attributes_only=True),
    *(Recorded(ORIGIN + moment, state) for moment, state in ((100, "on"), (200, "off"), (300, "on"))),
]
DOOR = ("on", "off", "unavailable", "unknown", "", None)
PERSON = ("home", "work", "school", "not_home", "unavailable", None)


@EVERY_DATABASE
@FRUGAL
@given(rows=recorded(DOOR), with_live=st.booleans())
@example(rows=ATTRIBUTES_FIRST, with_live=False)
def test_known_states(database: Engine, rows: list[Recorded], with_live: bool) -> None:
    kept, live = split(rows, with_live)
    found = read(database, kept, Coding(StateCodes.STATES, ("off", "on")), live, 0)
    check(found, replay(rows, ORIGIN, END), {GAP: "", 1: "off", 2: "on"})


@EVERY_DATABASE
@FRUGAL
@given(rows=recorded(PERSON), with_live=st.booleans(), unexpected=st.booleans())
def test_learned_states(database: Engine, rows: list[Recorded], with_live: bool, unexpected: bool) -> None:
    kept, live = split(rows, with_live)
    coding = Coding(StateCodes.STATES, ("off", "on")) if unexpected else Coding(StateCodes.LEARNED)
    found = read(database, kept, coding, live, 0)
    names = {GAP: ""} | (dict(enumerate(found.coding.states, 1)) if found else {})
    check(found, replay(rows, ORIGIN, END), names)


@EVERY_DATABASE
@FRUGAL
@given(rows=recorded(DOOR), with_live=st.booleans(), minimum=st.sampled_from([0.0, 90.0, 400.0]))
def test_one_state(database: Engine, rows: list[Recorded], with_live: bool, minimum: float) -> None:
    kept, live = split(rows, with_live)
    found = read(database, kept, Coding(StateCodes.EQUAL, ("on",)), live, minimum)
    expected = replay(rows, ORIGIN, END, minimum)
    check(found, expected, {GAP: "", 1: "on", 2: "off"})


@pytest.mark.parametrize(
    ("value", "code"), [("15", 1), ("10", 2), ("-3e1", 2), ("broken", GAP), ("unavailable", GAP), (None, GAP)]
)
def test_threshold_of_one_value(value: str | None, code: int) -> None:
    """What is no number is on neither side of a threshold."""
    assert Coding(StateCodes.BETWEEN, above=10, below=22).code(value) == code


@EVERY_DATABASE
@FRUGAL
@given(rows=recorded(("1.5", "20", "-3e1", "22.5", "unavailable", None)), minimum=st.sampled_from([0.0, 90.0]))
def test_threshold(database: Engine, rows: list[Recorded], minimum: float) -> None:
    found = read(database, rows, Coding(StateCodes.BETWEEN, above=10, below=22), None, minimum)
    # The replay is made of which side of the limits each row is on.
    sides = [
        Recorded(row.moment, row.state if not row.state or row.state[0] == "u" else str(10 < float(row.state) < 22))
        for row in rows
    ]
    check(found, replay(sides, ORIGIN, END, minimum), {GAP: "", 1: "True", 2: "False"})


@EVERY_DATABASE
@FRUGAL
@given(rows=recorded(DOOR), minimum=st.sampled_from([0.0, 90.0]), count=st.integers(1, 8))
@example(rows=ATTRIBUTES_FIRST, minimum=0.0, count=5)
def test_lists(database: Engine, rows: list[Recorded], minimum: float, count: int) -> None:
    entity_id = record(database, rows)
    with Session(database) as session:
        found = find_rows(session, find_series(session, entity_id), ORIGIN, END)
        if found is None:
            assert not [row for row in rows if row.moment < END]
            return
        coding = Coding(StateCodes.EQUAL, ("on",))
        stretches = newest_stretches(session, found, coding, END, count=count, min_seconds=minimum)
        changes = newest_changes(session, found, 100)
    expected = replay(rows, ORIGIN, END, minimum).get("on", Replayed()).stretches[::-1][:count]
    assert [(start, end or END) for start, end in stretches] == [pytest.approx(pair, abs=0.002) for pair in expected]
    for later, earlier in pairwise(changes):
        assert later.moment >= earlier.moment
        assert later.value != earlier.value


@EVERY_DATABASE
def test_many_states(database: Engine) -> None:
    """States beyond the most frequent ones share an account; changes between them are counted all the same."""
    rows = [Recorded(ORIGIN + index, f"track {index % 30 if index < 200 else index % 3}") for index in range(400)]
    found = read(database, rows, Coding(StateCodes.LEARNED), None, 0)
    assert found is not None
    assert found.changes == 399
    expected = replay(rows, ORIGIN, END)
    for code, state in enumerate(found.coding.states, 1):
        assert found.tally(code).total == pytest.approx(expected[state].total, abs=0.02)
    assert len(found.tallies) == OTHER
    assert sum(tally.total for tally in found.tallies.values()) == pytest.approx(5_000, abs=0.1)

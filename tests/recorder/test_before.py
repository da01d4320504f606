"""What held before a span is found by one index look-up, on every database engine."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, strategies as st
import pytest
import pytest_socket
from sqlalchemy import Engine, event, insert
from sqlalchemy.orm import Session

from custom_components.extended_assist.recorder.state_durations import Coding, StateCodes
from custom_components.extended_assist.recorder.state_durations_sql import LastTime, last_time
from custom_components.extended_assist.recorder.states import (
    Held,
    Series,
    find_rows,
    first_moment,
    last_change,
    oldest_moment,
)
from homeassistant.components.recorder.db_schema import States
from tests.helpers.databases import EVERY_DATABASE

from .replay import GAPS, Recorded, find_series, record
from .test_state_durations import FRUGAL, ORIGIN

INDEX = "ix_states_metadata_id_last_updated_ts"
STATES = ("on", "off", "unavailable", "unknown", "", None)

pytestmark = EVERY_DATABASE


def written(database: Engine, states: list[str | None]) -> tuple[str, list[tuple[float, str | None]]]:
    """Record a row every ten seconds up to the origin, as the recorder would; return the entity and the rows."""
    entity_id = record(database, [])
    rows = [(ORIGIN - 10 * back, state) for back, state in zip(range(len(states), 0, -1), states, strict=True)]
    with Session(database) as session:
        changed, previous, values = 0.0, "nothing", []
        for moment, state in rows:
            changed = moment if state != previous else changed
            values.append(
                {
                    "metadata_id": find_series(session, entity_id).metadata_id,
                    "state": state,
                    "last_updated_ts": moment,
                    "last_changed_ts": None if changed == moment else changed,
                }
            )
            previous = state
        if values:
            session.execute(insert(States), values)
        session.commit()
    return entity_id, rows


def replayed(rows: list[tuple[float, str | None]]) -> Held | None:
    """Return the last change among rows, a gap being none."""
    held: Held | None = None
    for moment, state in rows:
        if state not in GAPS and (held is None or state != held.value):
            held = Held(str(state), moment, is_change=held is not None)
    return held


@FRUGAL
@given(states=st.lists(st.sampled_from(STATES), max_size=12))
def test_last_change(database: Engine, states: list[str | None]) -> None:
    """It is that of a plain replay, whatever gaps and rows for attributes lie between."""
    entity_id, rows = written(database, states)
    with Session(database) as session:
        series = find_series(session, entity_id)
        found = find_rows(session, series, ORIGIN, ORIGIN)
        held = last_change(session, series, found.first.value, found.since) if found else None
        assert first_moment(session, series) == (rows[0][0] if rows else None)
    assert held == replayed(rows)


@FRUGAL
@given(states=st.lists(st.sampled_from(STATES), max_size=12))
def test_last_time(database: Engine, states: list[str | None]) -> None:
    """When a state held last before one that is another, or since when it did not."""
    entity_id, rows = written(database, [*states, "other"])
    with Session(database) as session:
        found = last_time(session, find_series(session, entity_id), Coding(StateCodes.EQUAL, ("on",)), ORIGIN)
    expected: LastTime | float = rows[0][0]
    for index, (moment, state) in enumerate(rows):
        if state == "on":
            same = index and rows[index - 1][1] == "on" and isinstance(expected, LastTime)
            expected = LastTime(
                expected.start if same and isinstance(expected, LastTime) else moment, rows[index + 1][0]
            )
    assert found == expected


def test_last_time_of_numbers(database: Engine) -> None:
    """Of a limit, the end is told; where the condition still held, that is the moment asked about."""
    entity_id, _ = written(database, ["5", "30", "31", "7", "unknown", "8"])
    with Session(database) as session:
        series = find_series(session, entity_id)
        above = Coding(StateCodes.BETWEEN, above=20)
        assert last_time(session, series, above, ORIGIN) == LastTime(None, ORIGIN - 30)
        assert last_time(session, series, above, ORIGIN - 35) == LastTime(None, ORIGIN - 30)
        assert last_time(session, series, Coding(StateCodes.BETWEEN, above=6), ORIGIN) == LastTime(None, ORIGIN)
        assert last_time(session, series, Coding(StateCodes.BETWEEN, above=99), ORIGIN) == ORIGIN - 60
        assert last_time(session, series, above, ORIGIN - 999) is None


def test_many_gaps(database: Engine) -> None:
    """Behind more rows than are looked at, nothing is claimed."""
    entity_id, rows = written(database, ["on", *["off", "unavailable"] * 40, "off"])
    with Session(database) as session:
        held = last_change(session, find_series(session, entity_id), "off", rows[-1][0])
    assert held is not None
    assert (held.value, held.is_change) == ("off", False)
    assert rows[1][0] < held.since < rows[-30][0]


EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN ", "mysql": "EXPLAIN "}


def plans(database: Engine, call: Callable[[Session], object]) -> list[str]:
    """Return how the database goes about each statement of a call."""
    seen: list[tuple[str, Any]] = []

    def listen(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        seen.append((statement, parameters))

    with Session(database) as session:
        connection = session.connection()
        if database.dialect.name == "postgresql":  # In a table that is so small, it would read all.
            for way in ("seqscan", "bitmapscan"):
                connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        event.listen(database, "before_cursor_execute", listen)
        try:
            call(session)
        finally:
            event.remove(database, "before_cursor_execute", listen)
        explain = EXPLAIN[database.dialect.name]
        return [
            " | ".join(" ".join(map(str, row)) for row in connection.exec_driver_sql(explain + statement, parameters))
            for statement, parameters in seen
        ]


@pytest.fixture(scope="module")
def chatty(shared_database: Engine) -> Series:
    """An entity of thousands of rows, amid those of as many others as make an index by time alone a detour."""
    pytest_socket.enable_socket()
    database = shared_database
    rows = [Recorded(ORIGIN - second, str(second % 7)) for second in range(3000, 0, -1)]
    entity_id = record(database, rows)
    for _ in range(5):
        record(database, rows)
    with Session(database) as session:
        series = find_series(session, entity_id)
        analyze = {"mysql": "ANALYZE TABLE states"}.get(database.dialect.name, "ANALYZE states")
        session.connection().exec_driver_sql(analyze)
        session.commit()
    return series


@pytest.mark.parametrize(
    ("call", "statements"),
    [
        (lambda session, series: last_change(session, series, "1", ORIGIN - 1), 1),
        (lambda session, series: last_change(session, Series(series.engine, series.metadata_id, "x"), "1", ORIGIN), 1),
        (first_moment, 1),
        (lambda session, series: last_time(session, series, Coding(StateCodes.EQUAL, ("3",)), ORIGIN), 2),
        (lambda session, series: last_time(session, series, Coding(StateCodes.BETWEEN, above=99), ORIGIN), 1),
    ],
)
def test_one_index_look_up(
    database: Engine, chatty: Series, call: Callable[[Session, Series], object], statements: int
) -> None:
    """No more statements than said, each of which goes into the index of an entity's rows by time, and sorts nothing."""
    found = plans(database, lambda session: call(session, chatty))
    assert len(found) == statements
    for plan in found:
        assert INDEX in plan or "Select tables optimized away" in plan, plan
        assert "SCAN states" not in plan
        assert "filesort" not in plan
        assert "TEMP B-TREE" not in plan


def test_how_far_back(database: Engine, chatty: Series) -> None:
    """The oldest row of all is the first of an index, too."""
    (plan,) = plans(database, oldest_moment)
    assert "ix_states_last_updated_ts" in plan or "Select tables optimized away" in plan
    with Session(database) as session:
        assert oldest_moment(session) == ORIGIN - 3000

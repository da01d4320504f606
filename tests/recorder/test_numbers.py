"""Compare aggregated numbers with a plain replay, on every database engine."""

from hypothesis import given, strategies as st
import pytest
from sqlalchemy import Engine, delete
from sqlalchemy.orm import Session

from custom_components.extended_assist.recorder.hourly_numbers import Hourly, read_span
from custom_components.extended_assist.recorder.numbers import Numbers, read_numbers
from custom_components.extended_assist.recorder.states import find_rows
from homeassistant.components.recorder.db_schema import Statistics, StatisticsMeta
from tests.helpers.databases import EVERY_DATABASE

from .replay import Recorded, find_series, record, segments
from .test_state_durations import END, FRUGAL, ORIGIN, recorded

HOUR = 3600
VALUES = ("21.5", "-3", "0", "1e2", ".5", "22", "unavailable", "unknown", "broken", None)


def number(value: str | None) -> float | None:
    """Return a state as a number."""
    return None if value is None or value[:1] in ("u", "b", "") else float(value)


def check(found: Numbers | None, rows: list[Recorded], start: float, end: float) -> None:
    """Compare with a replay of the rows."""
    parts = [(begin, until, number(state)) for begin, until, state in segments(rows, start, end)]
    known = [(begin, until, value) for begin, until, value in parts if value is not None]
    if found is None:
        assert not known
        return
    assert found.known == pytest.approx(sum(until - begin for begin, until, _ in known), abs=1e-3)
    assert found.weighted == pytest.approx(sum((until - begin) * value for begin, until, value in known), abs=0.1)
    lowest, highest = (pick(value for *_, value in known) for pick in (min, max))
    for reading, extreme in ((found.minimum, lowest), (found.maximum, highest)):
        assert reading.number == extreme
        assert reading.moment == pytest.approx(next(begin for begin, _, value in known if value == extreme), abs=1e-3)
    assert (found.first.number, found.last.number) == (known[0][2], known[-1][2])
    assert (found.first.moment, found.last.moment) == (
        pytest.approx(known[0][0], abs=1e-3),
        pytest.approx(known[-1][0], abs=1e-3),
    )


@EVERY_DATABASE
@FRUGAL
@given(rows=recorded(VALUES))
def test_states(database: Engine, rows: list[Recorded]) -> None:
    entity_id = record(database, rows)
    with Session(database) as session:
        found = find_rows(session, find_series(session, entity_id), ORIGIN, END)
        numbers = read_numbers(session, found) if found else None
    check(numbers, rows, ORIGIN, END)


@EVERY_DATABASE
@FRUGAL
@given(rows=recorded(VALUES))
def test_attributes(database: Engine, rows: list[Recorded]) -> None:
    """Numbers and texts in an attribute are read as those in a state; what it lacks is a gap."""
    shown = {None: "{}", "broken": '{"level": [1]}', "unknown": '{"level": null}', "unavailable": '{"level": "low"}'}
    written = [
        Recorded(
            row.moment,
            "heat",
            attributes=shown.get(row.state) or f'{{"other": 7, "level": {float(row.state or 0)}}}',
        )
        for row in rows
    ]
    entity_id = record(database, written)
    with Session(database) as session:
        found = find_rows(session, find_series(session, entity_id, "level"), ORIGIN, END)
        numbers = read_numbers(session, found) if found else None
    check(numbers, rows, ORIGIN, END)


def add_statistics(database: Engine, entity_id: str, hours: list[tuple[float, float]], unit: str = "°C") -> None:
    """Write hours of statistics: start and mean; extremes are one off."""
    with Session(database) as session:
        meta = StatisticsMeta(
            statistic_id=entity_id, source="recorder", unit_of_measurement=unit, has_sum=False, mean_type=1
        )
        session.add(meta)
        session.flush()
        session.add_all(
            Statistics(metadata_id=meta.id, start_ts=start, mean=mean, min=mean - 1, max=mean + 1)
            for start, mean in hours
        )
        session.commit()


@EVERY_DATABASE
@FRUGAL
@given(
    means=st.lists(st.integers(-20, 40), min_size=1, max_size=30),
    missing=st.sets(st.integers(0, 29), max_size=5),
    start_hour=st.integers(0, 29),
    purged=st.booleans(),
)
def test_purge_horizon(database: Engine, means: list[int], missing: set[int], start_hour: int, purged: bool) -> None:
    """Whole hours before the oldest row come from statistics, all else from the rows."""
    origin = ORIGIN // HOUR * HOUR
    hours = [(origin + index * HOUR, float(mean)) for index, mean in enumerate(means) if index not in missing]
    horizon = origin + len(means) * HOUR
    rows = [] if purged else [Recorded(horizon + 100 * index, str(index)) for index in range(5)]
    entity_id = record(database, rows)
    add_statistics(database, entity_id, hours)
    start, end = min(origin + start_hour * HOUR, horizon), horizon + HOUR
    with Session(database) as session:
        found = find_rows(session, find_series(session, entity_id), start, end)
        span = read_span(session, found, Hourly(entity_id, "°C"), start, end)
    older = [] if start >= horizon and found else [hour for hour in hours if hour[0] >= start]
    assert span.hourly is bool(older)
    held = segments(rows, start, end)
    known = len(older) * HOUR + sum(until - begin for begin, until, _ in held)
    if span.numbers is None:
        assert known == 0
        return
    assert span.numbers.known == pytest.approx(known)
    weighted = sum(mean * HOUR for _, mean in older) + sum(
        (until - begin) * float(state or 0) for begin, until, state in held
    )
    assert span.numbers.mean == pytest.approx(weighted / known)
    lows = [mean - 1 for _, mean in older] + [float(state or 0) for *_, state in held]
    highs = [mean + 1 for _, mean in older] + [float(state or 0) for *_, state in held]
    assert (span.numbers.minimum.number, span.numbers.maximum.number) == (min(lows), max(highs))
    if older:
        assert span.numbers.first.moment == older[0][0]


@EVERY_DATABASE
def test_unit_of_statistics(database: Engine) -> None:
    """Statistics in another unit than the state are converted; those in an unrelated one are left out."""
    entity_id = record(database, [])
    origin = ORIGIN // HOUR * HOUR
    add_statistics(database, entity_id, [(origin, 50.0), (origin + HOUR, 68.0)], "°F")
    with Session(database) as session:
        for unit, expected in (("°F", 59.0), ("°C", 15.0), ("kWh", None)):
            numbers = read_span(session, None, Hourly(entity_id, unit), origin, origin + 2 * HOUR).numbers
            assert (numbers and pytest.approx(numbers.mean)) == expected
        session.execute(delete(Statistics))
        session.commit()

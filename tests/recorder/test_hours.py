"""Compare numbers of long spans, for which statistics help, with those of the rows alone, on every database engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
import json
import math
from random import Random
from statistics import fmean
from unittest.mock import patch

from hypothesis import given, settings, strategies as st
import pytest
from sqlalchemy import Engine, insert, update
from sqlalchemy.orm import Session

from custom_components.extended_assist.recorder import hourly_numbers
from custom_components.extended_assist.recorder.hourly_numbers import Hourly, read_span
from custom_components.extended_assist.recorder.numbers import Numbers, read_numbers
from custom_components.extended_assist.recorder.states import find_rows
from custom_components.extended_assist.recorder.unavailable_hours import (
    Interruptions,
    Kept,
    LookedUp,
    _read_cache,
    _written,
    interrupts,
)
from homeassistant.components.recorder.db_schema import (
    RecorderRuns,
    States,
    Statistics,
    StatisticsMeta,
    StatisticsShortTerm,
)
from homeassistant.components.recorder.models import StatisticMeanType
from homeassistant.components.sensor.recorder import _entity_history_to_float_and_state, _time_weighted_arithmetic_mean
from homeassistant.core import Event, EventStateChangedData, State
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_conversion import TemperatureConverter
from tests.helpers.databases import EVERY_DATABASE

from .replay import Recorded, find_series, record, segments
from .test_state_durations import FRUGAL, ORIGIN

HOUR, SHORT = 3_600, 300
HOURS = 6
BEGIN = ORIGIN // HOUR * HOUR
END = BEGIN + HOURS * HOUR
CELSIUS = '{"state_class": "measurement", "unit_of_measurement": "°C"}'
GAPS = ("unavailable", "unknown", "", None)


@dataclass
class Course:
    """What a sensor wrote, and what Home Assistant made of it."""

    rows: list[Recorded]
    lost: set[int] = field(default_factory=set)
    """Parts of five minutes that Home Assistant did not compile."""
    purged: float = 0
    """The moment before which rows and short-term statistics are gone."""
    unit: str = "°C"
    """The unit of the statistics."""

    @property
    def kept(self) -> list[Recorded]:
        """The rows that are still there."""
        return [row for row in self.rows if row.moment >= self.purged]


def random_course(random: Random) -> Course:
    """Return a sensor over some hours: chatty or not, with gaps, restarts, hours without a change, and a purge."""
    moment, rows = BEGIN + random.choice([-500.0, -0.25, 0.0, 700.0]), list[Recorded]()

    def add(state: str | None, *, attributes_only: bool = False) -> None:
        rows.append(Recorded(moment, state, attributes_only=attributes_only, attributes=CELSIUS))

    while moment < BEGIN + HOURS * HOUR:
        step = random.choice([61.7, 173.0, 299.875])
        for _ in range(random.randint(1, 40)):
            add(random.choice(["20", "21.5", "-3", "0.1", "1e1", "19.999"]))
            moment += step
        match random.choice(["gap", "blip", "silence", "attributes", "full hour", "none"]):
            case "gap":
                add(random.choice(GAPS))
                moment += random.choice([1.5, 100.0, 290.0, 700.0, 4_000.0])
            case "blip":
                for state in ("unavailable", "unknown"):
                    add(state)
                    moment += 0.5
            case "silence":  # So does a restart look, too.
                moment += random.choice([400.0, 3_700.0, 9_000.0])
            case "attributes":
                add(rows[-1].state, attributes_only=True)
                moment += 5
            case "full hour":
                moment = math.ceil(moment / HOUR) * HOUR
    return Course(
        rows,
        lost={random.randrange(12 * HOURS) for _ in range(random.choice([0, 0, 1, 3]))},
        purged=BEGIN + random.choice([-1_000.0, -1_000.0, 0.0, 4_321.0]),
        unit=random.choice(["°C", "°F"]),
    )


def compile_short(entity_id: str, rows: list[Recorded], start: float) -> tuple[float, float, float] | None:
    """Return mean, min and max of five minutes by Home Assistant's own arithmetic, from the rows that it would read."""
    before = [row for row in rows if row.moment < start - 1e-6][-1:]
    since = [row for row in rows if start - 1e-6 < row.moment < start + SHORT and not row.attributes_only]
    states = [
        State(
            entity_id, row.state or "", last_updated=dt_util.utc_from_timestamp(0 if row.moment < start else row.moment)
        )
        for row in (*before, *since)
    ]
    if not (found := _entity_history_to_float_and_state(states)):
        return None
    begin, end = map(dt_util.utc_from_timestamp, (start, start + SHORT))
    numbers = [number for number, _ in found]
    return _time_weighted_arithmetic_mean(found, begin, end), min(numbers), max(numbers)


def write(database: Engine, course: Course) -> str:
    """Write what is left of a course, and all hourly statistics, and return the entity's id."""
    entity_id = record(database, course.kept)
    convert = TemperatureConverter.converter_factory("°C", course.unit)
    short = {
        start: tuple(map(convert, found))
        for index in range(12 * HOURS)
        if index not in course.lost
        and (found := compile_short(entity_id, course.rows, start := BEGIN + index * SHORT)) is not None
    }
    tables: dict[type[Statistics | StatisticsShortTerm], list[tuple[float, tuple[float, ...]]]] = {
        StatisticsShortTerm: [item for item in short.items() if item[0] >= course.purged],
        Statistics: [],
    }
    for begin in range(int(BEGIN), int(BEGIN) + HOURS * HOUR, HOUR):
        if found := [values for start, values in short.items() if begin <= start < begin + HOUR]:
            means, lows, highs = zip(*found, strict=True)
            tables[Statistics].append((begin, (fmean(means), min(lows), max(highs))))
    with Session(database) as session:
        meta = StatisticsMeta(
            statistic_id=entity_id,
            source="recorder",
            unit_of_measurement=course.unit,
            has_sum=False,
            mean_type=StatisticMeanType.ARITHMETIC,
        )
        session.add(meta)
        session.flush()
        for table, found_rows in tables.items():
            values = [
                {"metadata_id": meta.id, "start_ts": start, "mean": mean, "min": low, "max": high}
                for start, (mean, low, high) in found_rows
            ]
            if values:
                session.execute(insert(table), values)
        session.commit()
    return entity_id


def noticed(entity_id: str, rows: list[Recorded], since: float) -> Interruptions:
    """Return what was noticed of rows since a moment."""
    return notice(Interruptions(since), entity_id, rows, since, math.inf)


def notice(
    interruptions: Interruptions, entity_id: str, rows: list[Recorded], since: float, until: float
) -> Interruptions:
    """Let what happened between two moments be noticed."""
    states = [
        State(
            entity_id, row.state or "", json.loads(row.attributes), last_updated=dt_util.utc_from_timestamp(row.moment)
        )
        for row in rows
    ]
    for old, new in zip([None, *states], states, strict=False):
        if since <= new.last_updated_timestamp < until:
            data: EventStateChangedData = {"entity_id": entity_id, "old_state": old, "new_state": new}
            event = Event("state_changed", data, time_fired_timestamp=new.last_updated_timestamp + 0.001)
            if interrupts(data):
                interruptions.async_notice(event)
    return interruptions


@contextmanager
def of_any_density() -> Iterator[list[list[float]]]:
    """Let statistics serve for few rows too, and yield a list that gets the hours that serve in each answer."""
    served: list[list[float]] = []
    complete_hours, checked = hourly_numbers._complete_hours, hourly_numbers._checked

    def watched(*arguments: object) -> list[hourly_numbers._Hour]:
        found = complete_hours(*arguments)  # type: ignore[arg-type]
        served.append([hour.start for hour in found])
        return found

    def right(*arguments: object) -> Numbers | None:
        found = checked(*arguments)  # type: ignore[arg-type]
        assert found, "statistics that differ from their rows"
        return found

    with (
        patch.object(hourly_numbers, "_DENSE", 0),
        patch.object(hourly_numbers, "_complete_hours", watched),
        patch.object(hourly_numbers, "_checked", right),
    ):
        yield served


def expected_hours(course: Course, start: float, end: float) -> list[float]:
    """Return the hours of which statistics say what the rows say."""
    rows = course.kept
    start = max(start, rows[0].moment)
    gaps = [(begin, until) for begin, until, state in segments(rows, 0, math.inf) if state in GAPS]
    present = {
        BEGIN + index * SHORT
        for index in range(12 * HOURS)
        if index not in course.lost and compile_short("sensor.any", course.rows, BEGIN + index * SHORT)
    }
    return [
        hour
        for index in range(HOURS)
        if start <= (hour := BEGIN + index * HOUR)
        and hour + HOUR <= end
        and hour >= course.purged
        and all(hour + part * SHORT in present for part in range(12))
        and not any(begin < hour + HOUR and until >= hour for begin, until in gaps)
        and not (hour - start < HOUR and any(row.moment == hour for row in rows) and not hour > start)
    ]


def same(found: Numbers | None, expected: Numbers | None) -> None:
    """Compare numbers: readings must be the same, sums as close as rounding lets them be."""
    if found is None or expected is None:
        assert found is expected
        return
    assert (found.minimum, found.maximum) == (expected.minimum, expected.maximum)
    assert (found.first, found.last) == (expected.first, expected.last)
    assert found.known == pytest.approx(expected.known, abs=1e-3)
    assert found.mean == pytest.approx(expected.mean, rel=1e-6, abs=1e-6)


@EVERY_DATABASE
@settings(FRUGAL, max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_as_of_the_rows(database: Engine, seed: int) -> None:
    """Whatever a sensor did, and in whatever order spans are asked for, the answer is that of its rows."""
    random = Random(seed)  # Hypothesis would take too many choices of its own for a course.
    course = random_course(random)
    entity_id = write(database, course)
    since = random.choice([math.inf, math.inf, 0.0, BEGIN + 5_000.0])
    hourly = Hourly(entity_id, "°C", noticed(entity_id, course.rows, since))
    for _ in range(3):
        start = BEGIN + random.choice([-60.0, 0.0, 1_234.5, 3_600.0, 8_000.0])
        cut = start + random.randint(2, 2 * HOURS) * HOUR / 2
        with Session(database) as session, of_any_density() as served:
            rows = find_rows(session, find_series(session, entity_id), start, cut)
            if rows is None:
                continue
            expected = read_numbers(session, rows)
            found = read_span(session, rows, hourly, rows.start, cut)
        assert not found.hourly
        same(found.numbers, expected)
        assert served == [expected_hours(course, start, cut)]


RUN = BEGIN + 0.25
"""When the recorder's run in these databases began."""


def begin_run(database: Engine) -> None:
    """Write that the recorder runs."""
    with Session(database) as session:
        session.execute(insert(RecorderRuns).values(start=dt_util.utc_from_timestamp(RUN)))
        session.commit()


@EVERY_DATABASE
@settings(FRUGAL, max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_over_restarts(database: Engine, seed: int) -> None:
    """With what was kept when Home Assistant stopped, or before it crashed, or of another database, it is the same."""
    random = Random(seed)
    course = random_course(random)
    entity_id = write(database, course)
    begin_run(database)
    kept: Kept | None = None
    if random.random() < 0.2:  # As if nothing had ever happened, in another database.
        with Session(database) as session:
            number = find_series(session, entity_id).metadata_id
        kept = Kept(RUN - 1_000, {number: LookedUp(entity_id, BEGIN, END, frozenset())})
    moments = sorted(random.uniform(BEGIN, END + HOUR) for _ in range(random.randint(2, 8)))
    for began, asked, stopped in zip(moments, moments[1:], moments[2:], strict=False):
        interruptions = Interruptions(began)
        if kept:
            interruptions.async_begin_with(_read_cache(json.loads(json.dumps(_written(kept)))) or kept)
        notice(interruptions, entity_id, course.rows, began, asked)
        start = BEGIN + random.choice([0.0, 1_234.5, 8_000.0])
        cut = min(END, asked // HOUR * HOUR)
        with Session(database) as session, of_any_density() as served:
            rows = find_rows(session, find_series(session, entity_id), start, cut) if start < cut else None
            if rows:
                found = read_span(session, rows, Hourly(entity_id, "°C", interruptions), rows.start, cut)
                same(found.numbers, read_numbers(session, rows))
                # The hour in which a sensor appeared does not serve, whatever it said.
                assert set(served[0]) <= set(expected_hours(course, start, cut))
        if random.random() < 0.5:
            kept = interruptions.async_known(asked, RUN, lambda _: True)
        notice(interruptions, entity_id, course.rows, asked, stopped)
        if random.random() < 0.7:
            kept = interruptions.async_known(stopped, RUN, lambda _: True)


def write_regular(database: Engine, unit: str = "°C") -> tuple[str, list[Recorded]]:
    """Write some hours of a sensor without interruptions, with whole statistics, and return its id and its rows."""
    rows = [
        Recorded(BEGIN - 10 + 90.0 * index, str(index % 37 / 10), attributes=CELSIUS) for index in range(40 * HOURS)
    ]
    return write(database, Course(rows, unit=unit)), rows


def read(database: Engine, hourly: Hourly) -> tuple[Numbers | None, Numbers | None, bool]:
    """Return the numbers of all hours, those of the rows, and whether statistics served."""
    start, cut = BEGIN + 1_000, BEGIN + HOURS * HOUR
    with Session(database) as session, patch.object(hourly_numbers, "_DENSE", 0):
        rows = find_rows(session, find_series(session, hourly.statistic_id), start, cut)
        assert rows
        served = hourly_numbers._read_by_hours(session, rows, hourly, last=True) is not None
        return read_span(session, rows, hourly, start, cut).numbers, read_numbers(session, rows), served


@EVERY_DATABASE
def test_statistics_serve(database: Engine) -> None:
    """The rows of whole hours are not read: only those of the edges, and of the hours with the lowest and the highest."""
    entity_id, rows = write_regular(database)
    untouched = BEGIN + 3 * HOUR
    with Session(database) as session:
        session.execute(
            update(States)
            .where(States.metadata_id == find_series(session, entity_id).metadata_id)
            .where(States.last_updated_ts > untouched, States.last_updated_ts < untouched + 1_800)
            .values(state="2")
        )
        session.commit()
    found, of_rows, served = read(database, Hourly(entity_id, "°C"))
    assert served
    assert found
    assert of_rows
    assert found.mean != pytest.approx(of_rows.mean, rel=1e-3)
    parts = [(until - begin) * float(state or 0) for begin, until, state in segments(rows, BEGIN + 1_000, END)]
    assert found.mean == pytest.approx(sum(parts) / (END - BEGIN - 1_000))
    assert 0 <= found.count - of_rows.count < 5


@EVERY_DATABASE
def test_corrected(database: Engine) -> None:
    """Statistics that somebody changed, or that are of another sensor, do not stand for rows."""
    entity_id, _ = write_regular(database)
    for value in ({"mean": 1.0}, {"min": -5.0}, {"max": 99.0}):
        with Session(database) as session:
            meta_id = session.query(StatisticsMeta.id).where(StatisticsMeta.statistic_id == entity_id).scalar()
            session.execute(update(Statistics).where(Statistics.metadata_id == meta_id).values(value))
            session.commit()
        found, of_rows, served = read(database, Hourly(entity_id, "°C"))
        assert not served
        assert found == of_rows


@EVERY_DATABASE
@pytest.mark.parametrize(
    "known",
    [
        {"mean_type": StatisticMeanType.CIRCULAR},
        {"mean_type": StatisticMeanType.NONE},
        {"unit_of_measurement": "kWh"},
        {"statistic_id": "sensor.renamed"},
    ],
)
def test_other_kinds(database: Engine, known: dict[str, object]) -> None:
    """Sums, directions and what cannot be converted are no help."""
    entity_id, _ = write_regular(database)
    with Session(database) as session:
        session.execute(update(StatisticsMeta).where(StatisticsMeta.statistic_id == entity_id).values(known))
        session.commit()
    found, of_rows, served = read(database, Hourly(entity_id, "°C"))
    assert not served
    assert found == of_rows


@EVERY_DATABASE
def test_changed_unit(database: Engine) -> None:
    """Rows in another unit than the one that is shown are not replaced by numbers in that one."""
    entity_id, _ = write_regular(database)
    found, of_rows, served = read(database, Hourly(entity_id, "°F"))
    assert not served
    assert found == of_rows


def test_units_without_a_mean() -> None:
    """Kilowatt hours over 100 kilometres and kilometres a kilowatt hour have no common mean; temperatures have."""
    assert not hourly_numbers._is_linear(hourly_numbers._conversion("kWh/100km", "km/kWh") or float)
    assert hourly_numbers._is_linear(hourly_numbers._conversion("°C", "°F") or float)
    assert hourly_numbers._conversion("°C", "kWh") is None


@EVERY_DATABASE
def test_too_many_parts(database: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where hours of statistics lie scattered, or there are few rows, the rows are read in one go."""
    entity_id, _ = write_regular(database)
    monkeypatch.setattr(hourly_numbers, "_MOST_PARTS", 0)
    found, of_rows, served = read(database, Hourly(entity_id, "°C"))
    assert not served
    assert found == of_rows
    monkeypatch.setattr(hourly_numbers, "_MOST_PARTS", 50)
    start, cut = BEGIN, BEGIN + 2 * HOUR
    with Session(database) as session:
        rows = find_rows(session, find_series(session, entity_id), start, cut)
        assert rows
        assert hourly_numbers._read_by_hours(session, rows, Hourly(entity_id, "°C"), last=True) is None

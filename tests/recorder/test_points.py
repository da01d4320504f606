"""The course of entities as a chart has room for it: by the database, against the rows one by one."""

from datetime import timedelta
import itertools
from random import Random

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.charts.course import CurvePart, Turn
from custom_components.extended_assist.recorder import async_read
from custom_components.extended_assist.recorder.chart_points import PARTS, read_points
from custom_components.extended_assist.recorder.history import Subject
from custom_components.extended_assist.recorder.state_durations import Live
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.one_home import in_one_home
from tests.helpers.recorded import local, measurement, record, record_states, steps

POWER, DOOR = "sensor.power", "binary_sensor.door"
NOON = local("2026-03-10 12:00:00").timestamp()

type History = list[tuple[float, str]]


@pytest.fixture
async def write(recorder_mock: Recorder, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> History:
    """Write two thousand numbers with gaps within ten hours, in bursts; return them."""
    random = Random(3)
    rows: History = []
    moment = NOON
    for index in range(2_000):
        moment += random.choice((0.5, 1, 2, 5, 30, 60)) if index % 200 else 600
        gap = index % 97 < 3 or index % 400 == 399
        rows.append(
            (round(moment, 3), random.choice(("unavailable", "unknown")) if gap else str(random.randint(-50, 50) / 4))
        )
    await record_states(hass, freezer, POWER, rows, unit_of_measurement="W")
    return rows


def subject(hass: HomeAssistant, entity_id: str, *, numeric: bool, unit: str | None = None) -> Subject:
    """Return an entity as the tool asks about it."""
    state = hass.states.get(entity_id)
    assert state
    live = Live(since=state.last_updated_timestamp, value=state.state)
    return Subject(
        entity_id=entity_id, numeric=numeric, states=(), live=live, changed=state.last_changed_timestamp, unit=unit
    )


async def read_numbers(hass: HomeAssistant, start: float, end: float) -> list[CurvePart]:
    """Return the parts of the curve."""
    found = await async_read(hass, read_points, [subject(hass, POWER, numeric=True, unit="W")], None, start, end)
    return [part for part in found[POWER] if isinstance(part, CurvePart)]


def known(rows: History, start: float, end: float) -> list[tuple[float, float, float]]:
    """Return when which number held, one row at a time."""
    ends = [*(moment for moment, _ in rows[1:]), end]
    return [
        (max(begin, start), min(stop, end), float(value))
        for (begin, value), stop in zip(rows, ends, strict=True)
        if value not in ("unavailable", "unknown") and stop > start and begin < end
    ]


@EVERY_ENGINE
@in_one_home("share", [(0.0, 1.0), (0.31, 0.62), (0.5, 0.501)])
async def test_numbers(hass: HomeAssistant, write: History, share: tuple[float, float]) -> None:
    """Extremes stay, gaps stay, and nothing is said that was not so, on any database."""
    whole = write[-1][0] + 300 - NOON
    start, end = (NOON + whole * part for part in share)
    parts = await read_numbers(hass, start, end)
    expected = known(write, start, end)
    assert 0 < len(parts) <= PARTS + 2
    assert min(part.low for part in parts) == min(value for *_, value in expected)
    assert max(part.high for part in parts) == max(value for *_, value in expected)
    width = (end - start) / PARTS
    for before, after in itertools.pairwise(parts):
        assert before.start < after.start
        assert before.end <= after.start + 1e-3
    for part in parts:
        assert start <= part.start <= part.end <= end + 1e-3
        assert part.low <= part.value <= part.high
    for begin, stop, value in expected:
        # Each number is in a part that was there when it was.
        assert any(
            part.low <= value <= part.high
            and part.start <= begin + width
            and part.end >= min(stop, begin + width) - width
            for part in parts
        ), (begin, stop, value)
    told, real = sum(part.end - part.start for part in parts), sum(stop - begin for begin, stop, _ in expected)
    assert told == pytest.approx(real, rel=0.05, abs=2 * width)


@EVERY_ENGINE
async def test_older_numbers(hass: HomeAssistant, write: History) -> None:
    """Before the recorded rows, hours of statistics stand for them, in the unit of the state."""
    begin = local("2026-03-08")
    rows = measurement(steps(begin, begin + timedelta(hours=30)), float)
    await record(hass, POWER, rows, unit_of_measurement="kW", unit_class="power")
    parts = await read_numbers(hass, begin.timestamp() + 3_600, write[-1][0])
    hours = [part for part in parts if part.start < NOON - 60]
    assert hours[0].start == begin.timestamp() + 3_600
    assert hours[0].low == pytest.approx(-250)
    assert max(part.high for part in hours) == pytest.approx(31_500)
    assert any(part.start > NOON for part in parts)


@EVERY_ENGINE
async def test_states(recorder_mock: Recorder, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """Turns as they were; of very many short ones, what happened is seen, and the others are few."""
    for minute, state in ((0, "off"), (60, "on"), (62, "unavailable"), (70, "off"), (90, "on")):
        freezer.move_to(dt_util.utc_from_timestamp(NOON + 60 * minute))
        hass.states.async_set(DOOR, state)
    await async_wait_recording_done(hass)
    freezer.tick(timedelta(minutes=10))
    end = NOON + 6_000

    async def turns(start: float) -> list[Turn]:
        found = await async_read(hass, read_points, [subject(hass, DOOR, numeric=False)], None, start, end)
        return [turn for turn in found[DOOR] if isinstance(turn, tuple)]

    expected = [(NOON, "off"), (NOON + 3_600, "on"), (NOON + 4_200, "off"), (NOON + 5_400, "on")]
    told = await turns(NOON - 600)
    assert [(round(begin), state) for begin, _, state in told] == expected
    assert [round(stop) for _, stop, _ in told] == [NOON + 3_600, NOON + 3_720, NOON + 5_400, end]
    assert [(round(begin), state) for begin, _, state in await turns(NOON + 1_800)] == [
        (NOON + 1_800, "off"),
        *expected[1:],
    ]
    short = [(NOON + 6_000 + index, "on" if index % 2 else "off") for index in range(3_000)]
    await record_states(hass, freezer, DOOR, short)
    end = NOON + 9_000
    told = await turns(NOON)
    assert len(told) <= 2 * PARTS + 5
    busy = [turn for turn in told if turn[0] > NOON + 6_100]
    assert sum(stop - begin for begin, stop, state in busy if state == "on") > 1_500
    assert all(before[1] <= after[0] + 1e-3 for before, after in itertools.pairwise(told))

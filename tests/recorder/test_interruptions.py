"""Tests of the hours in which sensors say no number: noticed as it happens, or looked up and remembered."""

import math

from freezegun.api import FrozenDateTimeFactory
import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from custom_components.extended_assist.recorder import interruptions as module
from custom_components.extended_assist.recorder.engine import SQLITE
from custom_components.extended_assist.recorder.interruptions import Interruptions, async_get_interruptions
from custom_components.extended_assist.recorder.states import Series
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from tests.databases import EVERY_DATABASE

from .replay import Recorded, find_series, record

HOUR = 3_600
BEGIN = 1_800_000_000 // HOUR
MEASURED = {"state_class": "measurement"}


def hours(found: set[int] | None) -> set[int]:
    """Return hours, counted from the first."""
    assert found is not None
    return {hour - BEGIN for hour in found}


async def test_noticed(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """Hours in which a sensor with statistics began or ceased to say a number, and nothing of others."""

    def at(hour: float) -> None:
        freezer.move_to(dt_util.utc_from_timestamp((BEGIN + hour) * HOUR))

    def read(entity_id: str, start: int = 1) -> set[int]:
        # Without a database, so what was not noticed cannot be looked up.
        series, (begin, end) = Series(SQLITE, 1), ((BEGIN + start) * HOUR, (BEGIN + 20) * HOUR)
        return hours(interruptions.read(Session(), series, entity_id, begin, end))

    at(0.5)
    hass.states.async_set("sensor.room", "20", MEASURED)
    hass.states.async_set("sensor.old", "20", MEASURED)
    interruptions = async_get_interruptions(hass)
    for hour, state in ((2.5, "21"), (3.5, "unavailable"), (5.2, "unknown"), (7.1, "21.5"), (8.1, "nan"), (8.2, "7")):
        at(hour)
        hass.states.async_set("sensor.room", state, MEASURED)
        hass.states.async_set("sensor.text", f"in hour {hour}")
        hass.states.async_set("number.room", state, MEASURED)
    await hass.async_block_till_done()
    assert read("sensor.room") == {3, 5, 7, 8}
    assert read("sensor.text") == read("number.room") == read("sensor.old") == set()
    at(9.5)
    hass.states.async_remove("sensor.room")
    await hass.async_block_till_done()
    assert read("sensor.room") == {3, 5, 7, 8, 9}
    at(10.5)
    hass.states.async_set("sensor.room", "22", MEASURED)
    hass.states.async_set("sensor.new", "22", MEASURED)
    await hass.async_block_till_done()
    # What had this id until now may have been another sensor, so that only full hours from now on are known.
    assert read("sensor.room", 11) == {10}
    assert read("sensor.new", 11) == {10}


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """The spans, in hours, of which rows were read."""
    spans: list[tuple[float, float]] = []
    original = module._read

    def watched(session: Session, series: Series, start: float, end: float) -> set[int] | None:
        spans.append((start / HOUR - BEGIN, end / HOUR - BEGIN))
        return original(session, series, start, end)

    monkeypatch.setattr(module, "_read", watched)
    return spans


@EVERY_DATABASE
def test_remembered(database: Engine, looked_up: list[tuple[float, float]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are read once; an interruption reaches into each hour up to that of the next row."""
    texts = {0.1: "20", 1.5: "unavailable", 1.6: "unknown", 3.2: "21", 4.5: "12 eggs", 4.6: "1", 8.5: None}
    entity_id = record(database, [Recorded((BEGIN + hour) * HOUR, text) for hour, text in texts.items()])
    interruptions = Interruptions()
    with Session(database) as session:
        series = find_series(session, entity_id)

        def read(start: int, end: int) -> set[int] | None:
            return interruptions.read(session, series, entity_id, (BEGIN + start) * HOUR, (BEGIN + end) * HOUR)

        assert hours(read(2, 4)) == {2, 3}
        assert hours(read(2, 4)) == {2, 3}
        assert hours(read(0, 6)) >= {1, 2, 3, 4}
        assert 0 not in hours(read(0, 6))
        assert 5 not in hours(read(0, 6))
        assert looked_up == [(2, 4), (0, 2), (4, 6)]
        assert hours(read(8, 10)) == {8, 9, 10}
        assert looked_up[3:] == [(8, 10)]
        assert hours(read(-9, -8)) == set()
        monkeypatch.setattr(module, "_REMEMBERED", 0)
        read(8, 10)
        read(8, 10)
        assert looked_up[5:] == [(8, 10), (8, 10)]
        monkeypatch.setattr(module, "_MOST", 1)
        assert read(0, 6) is None


@EVERY_DATABASE
def test_noticed_in_part(database: Engine, looked_up: list[tuple[float, float]]) -> None:
    """What was before the first full hour that was noticed is looked up."""
    entity_id = record(database, [Recorded(BEGIN * HOUR, "20")])
    with Session(database) as session:
        series = find_series(session, entity_id)
        for since, spans in ((2.5, [(0, 3)]), (7.5, [(0, 6)]), (-1, []), (math.inf, [(0, 6)])):
            looked_up.clear()
            Interruptions((BEGIN + since) * HOUR).read(session, series, entity_id, BEGIN * HOUR, (BEGIN + 6) * HOUR)
            assert looked_up == spans

"""Tests of what is read of the past: when Home Assistant ran, and the rows of entities, part by part."""

from datetime import UTC, datetime

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done
from sqlalchemy import insert

from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.recorder import async_read
from custom_components.extended_assist.simulation import row_reader as rows_module
from custom_components.extended_assist.simulation.historical_state import Past, Stretch
from custom_components.extended_assist.simulation.row_reader import RecordedRows, read_stretches
from custom_components.extended_assist.simulation.run import Rehearsed, RehearsedSpan, rehearse
from homeassistant.components.recorder import Recorder, get_instance
from homeassistant.components.recorder.const import SupportedDialect
from homeassistant.components.recorder.db_schema import RecorderRuns
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import session_scope
from tests.helpers.databases import EVERY_ENGINE

DOOR, ROOM = "binary_sensor.door", "sensor.room"
START = 1_790_000_000.0
DAY = 86_400.0


def _moment(day: float) -> datetime:
    return datetime.fromtimestamp(START + day * DAY, UTC)


@pytest.fixture
async def past(hass: HomeAssistant, recorder_mock: Recorder, freezer: FrozenDateTimeFactory) -> None:
    """Record a door and a sensor for ten days."""
    for day in range(10):
        freezer.move_to(_moment(day))
        hass.states.async_set(DOOR, ("on", "off")[day % 2], {"number": day})
        freezer.move_to(_moment(day + 0.25))
        hass.states.async_set(ROOM, str(day))
        if day == 3:
            freezer.move_to(_moment(3.5))
            hass.states.async_remove(DOOR)
        if day == 6:
            freezer.move_to(_moment(6.01))
            hass.bus.async_fire("homeassistant_started")
    freezer.move_to(_moment(10))
    await async_wait_recording_done(hass)


async def _runs(hass: HomeAssistant, *runs: tuple[float, float | None, bool]) -> None:
    """Let the recorder know of runs, by the days of their beginnings and ends, and whether they broke off."""

    def write(hass: HomeAssistant) -> None:
        with session_scope(hass=hass) as session:
            session.query(RecorderRuns).delete()
            # The driver of MariaDB does not know the datetimes of a stopped clock.
            is_text = get_instance(hass).dialect_name == SupportedDialect.MYSQL
            for begin, end, is_broken in runs:
                start, stop = (None if day is None else _moment(day) for day in (begin, end))
                if is_text:
                    start, stop = (moment and f"{moment:%Y-%m-%d %H:%M:%S}" for moment in (start, stop))
                given = {"start": start, "end": stop, "created": start, "closed_incorrect": is_broken}
                session.execute(insert(RecorderRuns).values(given))

    await async_read(hass, write)


@EVERY_ENGINE
async def test_stretches(hass: HomeAssistant, past: None) -> None:
    """One that broke off ended with its last row; where the first one began is forgotten with its rows."""

    async def found(start: float = -1, end: float = 10) -> list[Stretch]:
        stretches = await async_read(hass, read_stretches, START + start * DAY, START + end * DAY)
        days = [[round((moment - START) / DAY, 2) for moment in (one.begin, one.armed, one.end)] for one in stretches]
        return [Stretch(*three) for three in days]

    await _runs(hass, (2, 4.5, False), (4.6, 6, True), (6, None, False))
    assert await found() == [Stretch(0, 0, 1.25), Stretch(2, 2, 4.5), Stretch(4.6, 4.6, 5.25), Stretch(6, 6.01, 10)]
    assert await found(3, 4) == [Stretch(0, 0, 1.25), Stretch(2, 2, 4)][1:]
    await _runs(hass)
    assert await found() == [Stretch(0, 0, 10)]
    assert await found(-5, -1) == []


@EVERY_ENGINE
async def test_rows(hass: HomeAssistant, past: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come in their order however few are read at once; what was removed is gone."""
    monkeypatch.setattr(rows_module, "_IDS_AT_ONCE", 2)
    monkeypatch.setattr(rows_module, "_MOST_ATTRIBUTES", 3)

    def read(hass: HomeAssistant, at_once: int) -> list[tuple[float, str, str | None, int | None]]:
        monkeypatch.setattr(rows_module, "ROWS_AT_ONCE", at_once)
        rows = RecordedRows(hass, [DOOR, ROOM, "sensor.gone"])
        assert rows.first().keys() == {DOOR, ROOM}
        before = [(entity_id, past.state) for _, entity_id, past in rows.at(START + 2.1 * DAY, START) if past]
        assert sorted(before) == [(DOOR, "on"), (ROOM, "1")]
        assert list(rows.at(START + 2.1 * DAY, START + 2.05 * DAY)) == []
        return [
            (round((moment - START) / DAY, 2), entity_id, past and past.state, past and past.attributes.get("number"))
            for moment, entity_id, past in rows.between(START + 2.9 * DAY, START + 4.3 * DAY)
        ]

    expected = [(3, DOOR, "off", 3), (3.25, ROOM, "3", None), (3.5, DOOR, None, None), (4, DOOR, "on", 4)]
    for at_once in (1, 20_000):
        assert await async_read(hass, read, at_once) == [*expected, (4.25, ROOM, "4", None)]


async def test_restart_and_time(hass: HomeAssistant, past: None) -> None:
    """What waits when Home Assistant ends is forgotten, and what happens before it has started again sets nothing off.

    A rehearsal without time tells how far it came.
    """
    await _runs(hass, (0, 4.5, False), (4.6, None, False))
    trigger = {"platform": "state", "entity_id": [DOOR], "to": "on", "for": {"hours": 20}}
    subject = Rehearsed(
        config={"triggers": [trigger], "actions": []}, reads=frozenset({DOOR}), uses={DOOR: frozenset()}
    )
    exposure = Exposure(hass, "conversation")
    whole = await async_read(hass, rehearse, exposure, subject, RehearsedSpan(START, START + 10 * DAY))
    assert [round((run.moment - START) / DAY, 2) for run in whole.runs] == [2.83, 8.83]
    cut = await async_read(hass, rehearse, exposure, subject, RehearsedSpan(START, START + 10 * DAY, -1.0))
    assert (cut.is_whole, cut.count) == (False, 0)
    assert cut.until < START + 10 * DAY


async def test_restart_without_entities(hass: HomeAssistant, past: None) -> None:
    """What reads no entity at all is armed once after each start, and does not run while Home Assistant is off."""
    await _runs(hass, (0, 4.5, False), (4.6, 6.2, False), (7.4, None, False))
    trigger = {"platform": "time_pattern", "hours": 12, "minutes": 0, "seconds": 0}
    subject = Rehearsed(config={"triggers": [trigger], "actions": []}, reads=frozenset(), uses={})
    exposure = Exposure(hass, "conversation")
    found = await async_read(hass, rehearse, exposure, subject, RehearsedSpan(START, START + 10 * DAY))
    days = [int((run.moment - START) / DAY) for run in found.runs]
    assert days == sorted(set(days))
    assert found.count == 8


def test_past() -> None:
    """A recorded state is made Home Assistant's own once."""
    one = Past(DOOR, "on", {"number": 1}, START, START + 1)
    assert one.as_state() is one.as_state()
    assert (one.as_state().last_changed, one.as_state().last_updated) == (_moment(0), _moment(1 / DAY))

"""Tests of the hours in which sensors say no number: noticed as it happens, or looked up and remembered."""

import math

from freezegun.api import FrozenDateTimeFactory
import pytest
from sqlalchemy import Engine, insert
from sqlalchemy.orm import Session

from custom_components.extended_assist.recorder import unavailable_hours as module
from custom_components.extended_assist.recorder.engine import SQLITE
from custom_components.extended_assist.recorder.states import Series
from custom_components.extended_assist.recorder.unavailable_hours import Interruptions, Kept, async_get_kept
from homeassistant.components.recorder.db_schema import RecorderRuns
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, State
from homeassistant.util import dt as dt_util
from tests.helpers.databases import EVERY_DATABASE

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
    interruptions = (await async_get_kept(hass)).interruptions
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


RUN = 1_700_000_000.123
OTHER_RUN = RUN + 5


def begin_run(database: Engine) -> None:
    """Write that the recorder runs."""
    with Session(database) as session:
        session.execute(insert(RecorderRuns).values(start=dt_util.utc_from_timestamp(RUN)))
        session.commit()


class Runs:
    """One sensor over several runs of Home Assistant."""

    def __init__(self, database: Engine, texts: dict[float, str], spans: list[tuple[float, float]]) -> None:
        """Write what it said at some hours."""
        self.entity_id = record(database, [Recorded((BEGIN + hour) * HOUR, text) for hour, text in texts.items()])
        self._database = database
        self._spans = spans
        self.changes = 0
        self.interruptions = Interruptions()

    def start(self, hour: float, kept: Kept | None = None) -> None:
        """Begin a run at an hour, with what was kept."""

        def changed() -> None:
            self.changes += 1

        self.interruptions = Interruptions((BEGIN + hour) * HOUR, changed)
        if kept:
            self.interruptions.async_begin_with(kept)

    def ask(self, start: int, end: int) -> tuple[set[int], list[tuple[float, float]]]:
        """Return the interrupted hours, and the spans of which rows were read."""
        self._spans.clear()
        with Session(self._database) as session:
            series = find_series(session, self.entity_id)
            begin, stop = (BEGIN + start) * HOUR, (BEGIN + end) * HOUR
            return hours(self.interruptions.read(session, series, self.entity_id, begin, stop)), [*self._spans]

    def say(self, hour: float, old: str | None, new: str | None) -> None:
        """Let the sensor say something, which is noticed."""
        moment = dt_util.utc_from_timestamp((BEGIN + hour) * HOUR)
        old_state, new_state = (
            None if text is None else State(self.entity_id, text, MEASURED, last_updated=moment) for text in (old, new)
        )
        data: EventStateChangedData = {"entity_id": self.entity_id, "old_state": old_state, "new_state": new_state}
        self.interruptions.async_notice(Event("state_changed", data, time_fired_timestamp=moment.timestamp()))

    def stop(self, hour: float, *, run: float = RUN, is_there: bool = True) -> Kept:
        """Return what is kept at an hour."""
        return self.interruptions.async_known((BEGIN + hour) * HOUR, run, lambda _: is_there)


@pytest.fixture
def runs(database: Engine, looked_up: list[tuple[float, float]]) -> Runs:
    """Return a sensor that was interrupted in hours 1 and 5."""
    begin_run(database)
    texts = {0.1: "20", 1.5: "unavailable", 1.6: "21", 5.2: "unknown", 5.3: "7", 20.5: "8"}
    return Runs(database, texts, looked_up)


@EVERY_DATABASE
def test_only_the_gap_is_read(runs: Runs) -> None:
    """After a start, the rows since the last full hour that was kept are read, and no others."""
    runs.start(4.5)
    assert runs.ask(0, 4) == ({1}, [(0, 4)])
    assert runs.changes == 1
    runs.ask(0, 5)  # In the hour in which all began to be noticed, not all was.
    runs.say(5.2, "21", "unknown")
    runs.say(5.3, "unknown", "7")
    kept = runs.stop(8.9)
    runs.start(9.5, kept)
    assert runs.ask(0, 12) == ({1, 5}, [(8, 10)])
    runs.start(9.5, runs.stop(9.9))  # A start right after it.
    assert runs.ask(0, 9) == ({1, 5}, [])


@EVERY_DATABASE
def test_after_a_crash(runs: Runs) -> None:
    """What was noticed and not kept is among the rows of the gap."""
    runs.start(4.5)
    runs.ask(0, 5)
    kept = runs.stop(5.1)
    runs.say(5.2, "21", "unknown")
    runs.start(9.5, kept)
    assert runs.ask(0, 12) == ({1, 5}, [(5, 10)])


@EVERY_DATABASE
def test_another_database(runs: Runs) -> None:
    """What was kept of a run that the database knows nothing of does not count, and is not taken for its own."""
    runs.start(4.5)
    runs.ask(0, 5)
    kept = runs.stop(8.9, run=OTHER_RUN)
    runs.start(9.5, kept)
    assert runs.stop(9.9) == kept  # Nobody has looked.
    assert runs.ask(0, 12) == ({1, 5}, [(0, 10)])


@EVERY_DATABASE
def test_renamed(runs: Runs) -> None:
    """What is not there under its id goes on under another, where it was not noticed: it is known up to what was read."""
    runs.start(4.5)
    runs.ask(0, 5)
    kept = runs.stop(8.9, is_there=False)
    runs.start(9.5, kept)
    assert runs.ask(0, 12) == ({1, 5}, [(5, 10)])
    runs.say(10.5, None, "7")  # Something has this id anew.
    runs.start(15.5, runs.stop(15.2))
    assert runs.ask(0, 12) == ({1, 5, 10}, [(10, 12)])


@EVERY_DATABASE
def test_clock_jumps(runs: Runs) -> None:
    """A clock that was ahead tells nothing of hours to come, and one that goes back is seen at once."""
    runs.start(4.5)
    runs.ask(0, 5)
    ahead = runs.stop(400.0)
    assert ahead.end == (BEGIN + 400) * HOUR
    # It goes back while Home Assistant runs: what was kept is put right as soon as there is something to tell.
    before = runs.changes
    runs.say(5.2, "21", "unknown")
    assert runs.changes == before + 1
    assert runs.stop(5.25).end == (BEGIN + 5) * HOUR
    runs.say(6.2, "21", "unknown")
    assert runs.changes == before + 1
    # It goes back while Home Assistant does not run: what was noticed counts, and what is kept ends before.
    runs.start(5.1, ahead)
    assert runs.stop(5.25).end == (BEGIN + 5) * HOUR
    runs.say(5.2, "21", "unknown")
    assert runs.ask(0, 7)[0] == {1, 5}
    assert runs.stop(7.2).end <= (BEGIN + 7) * HOUR
    # It goes ahead: the hours between are among the rows.
    runs.start(4.5)
    runs.ask(0, 5)
    kept = runs.stop(5.1)
    runs.start(300.5, kept)
    assert runs.ask(0, 12) == ({1, 5}, [(5, 12)])


@EVERY_DATABASE
def test_only_so_much_is_kept(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a sensor with many interruptions the latest are kept, and what was before them is read again."""
    runs.start(9.5)
    runs.ask(0, 9)
    monkeypatch.setattr(module, "_MOST_KEPT", 1)
    kept = runs.stop(11.5)
    runs.start(11.5, kept)
    assert runs.ask(0, 9) == ({1, 5}, [(0, 5)])

"""What is read of a home: rows that are too many, times in which nobody looked, contexts that are missing."""

import random
from typing import Any

import pytest

from custom_components.extended_assist.habits import row_reader
from custom_components.extended_assist.habits.changes import By, Changes
from custom_components.extended_assist.habits.row_reader import RowReader
from custom_components.extended_assist.recorder import async_read
from custom_components.extended_assist.simulation.historical_state import Stretch
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant

from .homes import DAY, Home, Written, ulid
from .recorded import async_write

BEGIN = 1_790_000_000.0
CHANCE = random.Random("reading")


def row(seconds: float, entity_id: str, state: str, **context: Any) -> Written:
    moment = BEGIN + seconds
    return Written(moment, entity_id, state, **{"own": ulid(CHANCE, moment - 0.01), **context})


async def read(hass: HomeAssistant, rows: list[Written], runs: list[tuple[float, float]], **events: Any) -> Changes:
    """Return what is read of some rows in which Home Assistant ran at some times, armed after ten seconds."""
    home = Home("UTC", 0, 0, BEGIN, BEGIN + DAY, rows=sorted(rows, key=lambda one: one.moment), **events)
    await async_write(hass, home)
    stretches = [Stretch(BEGIN + begin, BEGIN + begin + 10, BEGIN + end) for begin, end in runs]
    ids = {one.entity_id for one in rows}

    def reads(hass: HomeAssistant) -> Changes:
        return RowReader(hass, ids, float("inf")).read(stretches, BEGIN, BEGIN + DAY)

    return await async_read(hass, reads)


def told(changes: Changes) -> list[tuple[float, str, By]]:
    """Return the changes but for the first, which tells how something was: when, to what, and by whom."""
    found = [
        (round(moment - BEGIN, 1), changes.series[number][1], By(by))
        for moment, number, by in zip(changes.moments, changes.numbers, changes.by, strict=True)
    ]
    return found[1:] if found[0][2] is By.FOUND else found


async def test_restarts_and_gaps(recorder_mock: Recorder, hass: HomeAssistant) -> None:
    """What was so when Home Assistant started, or when an entity came back, nobody did."""
    rows = [
        row(-100, "light.one", "off"),
        row(100, "light.one", "on"),
        row(200, "light.one", "unavailable"),
        row(210, "light.one", "on"),
        row(300, "light.one", "unavailable"),
        row(310, "light.one", "off"),
        row(1_001, "light.one", "on"),
        row(1_005, "light.one", "off"),
        row(1_100, "light.one", "on", own=None),
        row(1_200, "light.one", "off", own=bytes.fromhex("ff" * 16)),
    ]
    assert told(await read(hass, rows, [(-200, 500), (1_000, 2_000)])) == [
        (100, "on", By.DEVICE),
        (310, "off", By.FOUND),
        (1_001, "on", By.FOUND),
        (1_005, "off", By.FOUND),
        (1_100, "on", By.NO_CONTEXT),
        (1_200, "off", By.NO_CONTEXT),
    ]


async def test_words_of_devices(recorder_mock: Recorder, hass: HomeAssistant) -> None:
    """A blind that moves has moved once, and a player that is paused is still on."""
    states = ("closed", "opening", "open", "closing", "closed")
    rows = [row(100 + 100 * index, "cover.one", state) for index, state in enumerate(states)]
    assert [state for _, state, _ in told(await read(hass, rows, [(0, 1_000)]))] == ["open", "closed"]
    states = ("off", "idle", "playing", "paused", "unknown", "standby")
    rows = [row(2_100 + 100 * index, "media_player.one", state) for index, state in enumerate(states)]
    assert told(await read(hass, rows, [(2_000, 4_000)])) == [(2_200, "on", By.DEVICE), (2_600, "off", By.FOUND)]


async def test_too_many(recorder_mock: Recorder, hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """What changes 5,000 times a minute is left out, and hides nothing of the rest."""
    monkeypatch.setattr(row_reader, "_PAGE", 500)
    monkeypatch.setattr(row_reader, "_TOO_MANY", 2_000)
    rows = [row(60 + index * 0.012, "switch.mad", ("off", "on")[index % 2]) for index in range(20_000)]
    rows += [row(50 + 20 * index, "light.one", ("off", "on")[index % 2]) for index in range(20)]
    changes = await read(hass, rows, [(0, 1_000)])
    assert changes.too_many == {"switch.mad"}
    assert len(changes.of(("light.one", "on"))) == 10
    assert len(changes.moments) < 4_000


async def test_many_entities(recorder_mock: Recorder, hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than are asked for at once come in their order all the same."""
    monkeypatch.setattr(row_reader, "_IDS_AT_ONCE", 3)
    rows = [
        row(50 + 30 * index + number, f"light.number_{number}", ("off", "on")[index % 2])
        for number in range(10)
        for index in range(4)
    ]
    changes = await read(hass, rows, [(0, 1_000)])
    assert len(changes.moments) == 40
    assert list(changes.moments) == sorted(changes.moments)


async def test_too_many_contexts(recorder_mock: Recorder, hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all that happened can be read, nobody is known to have done anything."""
    runs = [("automation_triggered", row(20 + index, "automation.one", "")) for index in range(50)]
    rows = [row(100, "light.one", "off"), row(200, "light.one", "on", user=bytes(16))]
    assert told(await read(hass, rows, [(0, 1_000)], events=runs)) == [(200, "on", By.USER)]
    monkeypatch.setattr(row_reader, "_MOST", 50)
    rows = [row(300, "light.two", "off"), row(400, "light.two", "on", user=bytes(16))]
    assert told(await read(hass, rows, [(0, 1_000)]))[-1:] == [(400, "on", By.NOBODY_KNOWN)]


async def test_a_script_that_waits(recorder_mock: Recorder, hass: HomeAssistant) -> None:
    """What a script of a user does hours later, on the next day, is nothing that they do."""
    begun = ulid(CHANCE, BEGIN + 80_000)
    rows = [row(100, "light.one", "off"), row(90_000, "light.one", "on", own=begun, user=bytes(16))]
    runs = [("script_started", row(80_000, "script.one", "", own=begun, user=bytes(16)))]
    home = Home("UTC", 0, 0, BEGIN, BEGIN + 2 * DAY, rows=rows, events=runs)
    await async_write(hass, home)

    def reads(hass: HomeAssistant) -> Changes:
        stretch = Stretch(BEGIN, BEGIN + 10, BEGIN + 2 * DAY)
        return RowReader(hass, ["light.one"], float("inf")).read([stretch], BEGIN, BEGIN + 2 * DAY)

    assert told(await async_read(hass, reads)) == [(90_000, "on", By.MACHINE)]

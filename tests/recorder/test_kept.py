"""Tests of the file in which it is kept when sensors said no number."""

from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done
from sqlalchemy.orm import Session

from custom_components.extended_assist import async_remove_entry
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.recorder.unavailable_hours import UnavailableHours, async_get_kept
from homeassistant.components.recorder import get_instance
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from .replay import find_series

HOUR = 3_600
KEY = f"{DOMAIN}.interruptions"
SENSOR = "sensor.room"
MEASURED = {"state_class": "measurement"}

pytestmark = pytest.mark.usefixtures("recorder_mock")


class Home:
    """A home with one sensor, whose Home Assistant starts and stops."""

    def __init__(self, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
        """Begin at a full hour."""
        self._hass = hass
        self._freezer = freezer
        self.kept: UnavailableHours
        self._begin = dt_util.utcnow().timestamp() // HOUR + 1
        freezer.move_to(dt_util.utc_from_timestamp(self._begin * HOUR))

    async def say(self, *states: str) -> None:
        """Let the sensor say something, each in an hour of its own."""
        for state in states:
            self._freezer.tick(HOUR / 2)
            self._hass.states.async_set(SENSOR, state, MEASURED)
            await async_wait_recording_done(self._hass)
            self._freezer.tick(HOUR / 2)

    async def start(self) -> None:
        """Begin as after a start."""
        self.kept = UnavailableHours(self._hass)
        await self.kept.async_load()

    async def stop(self) -> None:
        """Write what is written when Home Assistant stops."""
        self._hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)
        await self._hass.async_block_till_done()
        await self.settle()

    async def settle(self) -> None:
        """Wait until what is to be stored soon is stored."""
        async_fire_time_changed(self._hass, dt_util.utcnow() + timedelta(seconds=2))
        await self._hass.async_block_till_done()

    async def ask(self) -> set[int]:
        """Return the interrupted hours up to now."""

        def read() -> set[int] | None:
            with Session(get_instance(self._hass).engine) as session:
                series = find_series(session, SENSOR)
                end = dt_util.utcnow().timestamp() // HOUR * HOUR
                return self.kept.interruptions.read(session, series, SENSOR, self._begin * HOUR, end)

        found = await get_instance(self._hass).async_add_executor_job(read)
        await self._hass.async_block_till_done()
        assert found is not None
        return {int(hour - self._begin) for hour in found}


@pytest.fixture
async def home(hass: HomeAssistant, freezer: FrozenDateTimeFactory, hass_storage: dict[str, Any]) -> Home:
    """Return a home in which a sensor was interrupted before anything was noticed, and once since."""
    home = Home(hass, freezer)
    await home.say("20", "unavailable", "21")
    await home.start()
    await home.say("22", "unknown", "23")
    return home


async def test_kept(home: Home, hass_storage: dict[str, Any]) -> None:
    """What was looked up is stored soon, with what was noticed since; both count after a start."""
    assert await home.ask() == {1, 2, 4, 5}
    assert KEY not in hass_storage
    await home.settle()
    (stored,) = hass_storage[KEY]["data"]["sensors"]
    assert (stored["entity_id"], (stored["end"] - stored["start"]) / HOUR) == (SENSOR, 6)
    await home.say("unavailable", "24")
    await home.stop()
    (stored,) = hass_storage[KEY]["data"]["sensors"]
    assert (stored["end"] - stored["start"]) / HOUR == 8
    await home.start()
    assert await home.ask() == {1, 2, 4, 5, 6, 7}


async def test_nothing_to_keep(home: Home, hass_storage: dict[str, Any]) -> None:
    """Where nobody asks, what was kept stays as it was."""
    await home.ask()
    await home.stop()
    before = hass_storage[KEY]["data"]
    await home.start()
    await home.say("unavailable")
    await home.stop()
    assert hass_storage[KEY]["data"] == before


@pytest.mark.parametrize(
    "damage",
    [
        {"run": "yesterday", "sensors": []},
        {"run": 1.0, "sensors": [{"metadata_id": 1}]},
        {"run": 1.0, "sensors": [{"metadata_id": 1, "entity_id": SENSOR, "start": 9.0, "end": 1.0, "hours": []}]},
        ["nothing"],
    ],
)
async def test_damaged(
    home: Home, hass_storage: dict[str, Any], damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    """A file that cannot be read is begun anew."""
    hass_storage[KEY] = {"version": 1, "minor_version": 1, "key": KEY, "data": damage}
    await home.start()
    assert "cannot be read" in caplog.text
    assert await home.ask() >= {1, 2, 4}


async def test_the_clock_went_back(home: Home, hass_storage: dict[str, Any], freezer: FrozenDateTimeFactory) -> None:
    """Before anything else, what was kept is cut to what is past."""
    await home.ask()
    await home.stop()
    end = hass_storage[KEY]["data"]["sensors"][0]["end"]
    freezer.tick(-1.5 * HOUR)
    await home.start()
    assert hass_storage[KEY]["data"]["sensors"][0]["end"] == end - 2 * HOUR


async def test_other_run(home: Home, hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """Where the recorder has to begin with another database, what was looked up in the one before is not kept."""
    await home.ask()
    get_instance(hass).recorder_runs_manager.reset()
    await home.stop()
    assert hass_storage[KEY]["data"]["sensors"] == []


async def test_removed_with_the_last_entry(home: Home, hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """Nothing stays behind."""
    await home.ask()
    await home.settle()
    assert KEY in hass_storage
    home.kept = await async_get_kept(hass)
    await async_remove_entry(hass, MockConfigEntry(domain=DOMAIN))
    assert KEY not in hass_storage

"""An entry that holds tools, at a known time, for tests of what is performed later."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from homeassistant.core import HomeAssistant

LAMP = {"entity_id": "light.bed_light"}

type Later = Callable[[float], Awaitable[None]]


@pytest.fixture
async def toolbox(hass: HomeAssistant, house: None, freezer: FrozenDateTimeFactory) -> MockConfigEntry:
    """Return a loaded entry that holds tools only, at a known time: 2026-03-02 12:00 in Berlin."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to("2026-03-02T11:00:00+00:00")
    entry = MockConfigEntry(domain="extended_assist", data={}, options={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    return entry


@pytest.fixture
def later(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Later:
    """Return a function that lets seconds go by."""

    async def go_by(seconds: float) -> None:
        freezer.tick(timedelta(seconds=seconds))
        async_fire_time_changed(hass)
        await hass.async_block_till_done()

    return go_by


def is_on(hass: HomeAssistant, entity_id: str = "light.bed_light") -> bool:
    """Return whether something is on."""
    return hass.states.is_state(entity_id, "on")

"""Tests that what is wished happens once, wherever Home Assistant is killed: `script/soak tasks` goes on with others."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from homeassistant.core import HomeAssistant

from ..helpers.seeds import seeds
from .crashes import KINDS, World, async_live


@pytest.fixture
def expected_lingering_timers() -> bool:
    """Let a Home Assistant that crashed leave its timers."""
    return True


@pytest.mark.parametrize("seed", seeds(2 * len(KINDS)))
async def test_crashes(
    hass: HomeAssistant, hass_storage: dict[str, Any], freezer: FrozenDateTimeFactory, seed: int
) -> None:
    """Actions happen at most once, messages at least once, and both exactly once but for a crash in the middle."""
    freezer.move_to("2026-03-02T11:00:00+00:00")
    world = World(hass_storage, freezer)
    with world.watched():
        assert await async_live(world, seed) == ""


@pytest.mark.parametrize("left", range(12))
async def test_crash_at_each_step_of_parts(
    hass: HomeAssistant, hass_storage: dict[str, Any], freezer: FrozenDateTimeFactory, left: int
) -> None:
    """Wherever it crashes, nothing is done twice, and what was turned on is turned off again or told."""
    freezer.move_to("2026-03-02T11:00:00+00:00")
    world = World(hass_storage, freezer)
    with world.watched():
        assert await async_live(world, left, "parts", left=left) == ""
    assert world.crashes == 1

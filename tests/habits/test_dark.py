"""When it is dark."""

import pytest

from custom_components.extended_assist.habits.find import darkness
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util


@pytest.mark.parametrize(
    ("zone", "latitude", "longitude"),
    [("Pacific/Auckland", -36.8, 174.8), ("America/Los_Angeles", 34.0, -118.2), ("Pacific/Kiritimati", 1.9, -157.4)],
)
async def test_dark(hass: HomeAssistant, zone: str, latitude: float, longitude: float) -> None:
    """At noon it is light and at midnight dark, however far a place is from Greenwich."""
    await hass.config.async_update(time_zone=zone, latitude=latitude, longitude=longitude)
    is_dark = darkness(hass)
    midnight = dt_util.start_of_local_day().timestamp()
    for hour, expected in ((0, True), (2, True), (12, False), (23, True)):
        assert is_dark(midnight + hour * 3_600) is expected, hour

"""The configuration of the energy dashboard."""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.core import HomeAssistant

type Preferences = Mapping[str, Any]
"""Home Assistant's EnergyPreferences; its sources may have types that this version does not know."""

_ENERGY: Final = "energy"


async def async_preferences(hass: HomeAssistant) -> Preferences | None:
    """Return the configuration of the energy dashboard, or None if there is none."""
    if _ENERGY not in hass.config.components:
        return None
    # The package needs the frontend's requirements, which are only installed if energy is set up.
    from homeassistant.components.energy import is_configured  # noqa: PLC0415 - see above
    from homeassistant.components.energy.data import async_get_manager  # noqa: PLC0415 - see above

    preferences: Preferences | None = (await async_get_manager(hass)).data if await is_configured(hass) else None
    return preferences


def cost_sensors(hass: HomeAssistant) -> dict[str, str]:
    """Return the cost sensors that the energy integration created, by the statistic of their energy."""
    found: dict[str, str] = hass.data.get(_ENERGY, {}).get("cost_sensors", {})
    return found

"""The demonstration home: devices in rooms whose values come from one model."""

from datetime import datetime
import json
from pathlib import Path
from typing import Any

from homeassistant.config_entries import SOURCE_IMPORT, ConfigEntry
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, config_validation as cv, floor_registry as fr
from homeassistant.helpers.event import async_track_utc_time_change
from homeassistant.helpers.typing import ConfigType

from .catalogue import AREAS, FLOORS
from .const import CHECKPOINT_FILE, DOMAIN
from .entity import DemoHomeCoordinator
from .model import Home

PLATFORMS = (
    Platform.BINARY_SENSOR,
    Platform.CAMERA,
    Platform.CLIMATE,
    Platform.COVER,
    Platform.LIGHT,
    Platform.LOCK,
    Platform.SENSOR,
)

CONFIG_SCHEMA = cv.empty_config_schema(DOMAIN)

type DemoHomeConfigEntry = ConfigEntry[DemoHomeCoordinator]


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Make the entry from the line in configuration.yaml: devices need an entry."""
    if DOMAIN in config:
        hass.async_create_task(hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_IMPORT}, data={}))
    return True


async def async_setup_entry(hass: HomeAssistant, entry: DemoHomeConfigEntry) -> bool:
    """Furnish the home and keep its values up to date, every minute."""
    _furnish(hass)
    checkpoint = await hass.async_add_executor_job(_read, Path(hass.config.path(CHECKPOINT_FILE)))
    coordinator = entry.runtime_data = DemoHomeCoordinator(hass, entry, Home.continued(checkpoint))
    await coordinator.async_config_entry_first_refresh()
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)

    async def update(_now: datetime) -> None:
        await coordinator.async_refresh()

    entry.async_on_unload(async_track_utc_time_change(hass, update, second=0))
    return True


async def async_unload_entry(hass: HomeAssistant, entry: DemoHomeConfigEntry) -> bool:
    """Take the entities away."""
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)


@callback
def _furnish(hass: HomeAssistant) -> None:
    """Make the floors and areas; a device's own area is only a suggestion by name."""
    floors, areas = fr.async_get(hass), ar.async_get(hass)
    for name, level in FLOORS.items():
        if floors.async_get_floor_by_name(name) is None:
            floors.async_create(name, level=level)
    for name, floor_name in AREAS.items():
        area = areas.async_get_or_create(name)
        floor = floors.async_get_floor_by_name(floor_name) if floor_name else None
        # Home Assistant makes some of these areas for a new owner too, spelt its own way.
        areas.async_update(area.id, name=name, floor_id=floor.floor_id if floor else None)


def _read(path: Path) -> dict[str, Any]:
    checkpoint: dict[str, Any] = json.loads(path.read_text())
    return checkpoint

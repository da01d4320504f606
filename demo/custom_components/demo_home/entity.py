"""What all entities of the home share."""

import logging
from typing import override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.update_coordinator import CoordinatorEntity, DataUpdateCoordinator
from homeassistant.util import dt as dt_util

from .catalogue import Item
from .const import DOMAIN
from .model import EVERY, Home

_LOGGER = logging.getLogger(__name__)


class DemoHomeCoordinator(DataUpdateCoordinator[dict[str, float]]):
    """The values of this minute, by entity id."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry, home: Home) -> None:
        """Keep the model."""
        super().__init__(hass, _LOGGER, config_entry=entry, name=DOMAIN)
        self._home = home

    @override
    async def _async_update_data(self) -> dict[str, float]:
        # A new day is simulated whole: not on the event loop.
        return await self.hass.async_add_executor_job(self._read)

    def _read(self) -> dict[str, float]:
        now = dt_util.utcnow()
        return {key: self._home.value_at(key, now) for key in EVERY}


class DemoHomeEntity(CoordinatorEntity[DemoHomeCoordinator]):
    """An entity of the catalogue."""

    _attr_has_entity_name = True

    def __init__(self, coordinator: DemoHomeCoordinator, item: Item) -> None:
        """Take name, id and device from the catalogue."""
        super().__init__(coordinator)
        self.item = item
        self.entity_id = item.entity_id
        self._attr_unique_id = item.entity_id
        self._attr_name = item.name_in_device
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, item.device)}, name=item.device, suggested_area=item.area
        )
        self.take(self.value)

    @property
    def value(self) -> float:
        """Return what the model says now."""
        return self.coordinator.data[self.item.entity_id]

    def take(self, value: float) -> None:
        """Make a value of the model the entity's state."""
        raise NotImplementedError

    @override
    @callback
    def _handle_coordinator_update(self) -> None:
        self.take(self.value)
        super()._handle_coordinator_update()


class SwitchableEntity(DemoHomeEntity):
    """An entity that people operate: it follows the model's changes, and between them what it was told."""

    _last: float | None = None

    @override
    @callback
    def _handle_coordinator_update(self) -> None:
        if self.value != self._last:
            self.take(self.value)
            self._last = self.value
        self.async_write_ha_state()

    @override
    async def async_added_to_hass(self) -> None:
        """Start from the model's value."""
        self._last = self.value
        await super().async_added_to_hass()

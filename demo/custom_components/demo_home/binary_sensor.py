"""Doors, windows, motion and the heating."""

from typing import override

from homeassistant.components.binary_sensor import BinarySensorDeviceClass, BinarySensorEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHomeConfigEntry
from .catalogue import Item, platform_items
from .entity import DemoHomeCoordinator, DemoHomeEntity


async def async_setup_entry(
    _hass: HomeAssistant, entry: DemoHomeConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the binary sensors."""
    async_add_entities(DemoBinarySensor(entry.runtime_data, item) for item in platform_items("binary_sensor"))


class DemoBinarySensor(DemoHomeEntity, BinarySensorEntity):
    """A binary sensor of the catalogue."""

    def __init__(self, coordinator: DemoHomeCoordinator, item: Item) -> None:
        """Take the class from the catalogue."""
        self._attr_device_class = BinarySensorDeviceClass(item.device_class) if item.device_class else None
        super().__init__(coordinator, item)

    @override
    def take(self, value: float) -> None:
        """Show the state."""
        self._attr_is_on = bool(value)

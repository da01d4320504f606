"""Sensors."""

from typing import override

from homeassistant.components.sensor import SensorDeviceClass, SensorEntity, SensorStateClass
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHomeConfigEntry
from .catalogue import Item, platform_items
from .entity import DemoHomeCoordinator, DemoHomeEntity


async def async_setup_entry(
    _hass: HomeAssistant, entry: DemoHomeConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the sensors."""
    async_add_entities(DemoSensor(entry.runtime_data, item) for item in platform_items("sensor"))


class DemoSensor(DemoHomeEntity, SensorEntity):
    """A sensor of the catalogue."""

    def __init__(self, coordinator: DemoHomeCoordinator, item: Item) -> None:
        """Take unit and classes from the catalogue."""
        self._attr_native_unit_of_measurement = item.unit
        self._attr_device_class = SensorDeviceClass(item.device_class) if item.device_class else None
        self._attr_state_class = SensorStateClass(item.state_class) if item.state_class else None
        self._attr_suggested_display_precision = item.digits
        super().__init__(coordinator, item)

    @override
    def take(self, value: float) -> None:
        """Show the reading."""
        self._attr_native_value = self.item.reading(value)

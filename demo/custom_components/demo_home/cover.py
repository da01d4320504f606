"""Blinds and the garage door."""

from typing import Any, override

from homeassistant.components.cover import ATTR_POSITION, CoverDeviceClass, CoverEntity, CoverEntityFeature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHomeConfigEntry
from .catalogue import Item, platform_items
from .entity import DemoHomeCoordinator, SwitchableEntity
from .model import CLOSED, OPEN


async def async_setup_entry(
    _hass: HomeAssistant, entry: DemoHomeConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the covers."""
    async_add_entities(DemoCover(entry.runtime_data, item) for item in platform_items("cover"))


class DemoCover(SwitchableEntity, CoverEntity):
    """A cover of the catalogue; the model's value is its position."""

    _attr_supported_features = CoverEntityFeature.OPEN | CoverEntityFeature.CLOSE | CoverEntityFeature.SET_POSITION

    def __init__(self, coordinator: DemoHomeCoordinator, item: Item) -> None:
        """Take the class from the catalogue."""
        self._attr_device_class = CoverDeviceClass(item.device_class) if item.device_class else None
        super().__init__(coordinator, item)

    @override
    def take(self, value: float) -> None:
        """Show the position."""
        self._attr_current_cover_position = int(value)
        self._attr_is_closed = value == CLOSED

    @override
    async def async_open_cover(self, **_kwargs: Any) -> None:
        """Open."""
        self.take(OPEN)
        self.async_write_ha_state()

    @override
    async def async_close_cover(self, **_kwargs: Any) -> None:
        """Close."""
        self.take(CLOSED)
        self.async_write_ha_state()

    @override
    async def async_set_cover_position(self, **kwargs: Any) -> None:
        """Open to a position."""
        self.take(kwargs[ATTR_POSITION])
        self.async_write_ha_state()

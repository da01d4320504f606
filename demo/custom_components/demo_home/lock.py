"""The lock of the front door."""

from typing import Any, override

from homeassistant.components.lock import LockEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHomeConfigEntry
from .catalogue import platform_items
from .entity import SwitchableEntity


async def async_setup_entry(
    _hass: HomeAssistant, entry: DemoHomeConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the lock."""
    async_add_entities(DemoLock(entry.runtime_data, item) for item in platform_items("lock"))


class DemoLock(SwitchableEntity, LockEntity):
    """A lock of the catalogue."""

    @override
    def take(self, value: float) -> None:
        """Show whether it is locked."""
        self._attr_is_locked = bool(value)

    @override
    async def async_lock(self, **_kwargs: Any) -> None:
        """Lock."""
        self.take(1)
        self.async_write_ha_state()

    @override
    async def async_unlock(self, **_kwargs: Any) -> None:
        """Unlock."""
        self.take(0)
        self.async_write_ha_state()

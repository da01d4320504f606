"""Lights that can be dimmed."""

from typing import Any, override

from homeassistant.components.light import ATTR_BRIGHTNESS, ColorMode, LightEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHomeConfigEntry
from .catalogue import platform_items
from .entity import SwitchableEntity


async def async_setup_entry(
    _hass: HomeAssistant, entry: DemoHomeConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the lights."""
    async_add_entities(DemoLight(entry.runtime_data, item) for item in platform_items("light"))


class DemoLight(SwitchableEntity, LightEntity):
    """A light of the catalogue; the model's value is its brightness."""

    _attr_color_mode = ColorMode.BRIGHTNESS
    _attr_supported_color_modes = {ColorMode.BRIGHTNESS}  # noqa: RUF012 - the type that Home Assistant declares

    @override
    def take(self, value: float) -> None:
        """Show the brightness."""
        self._attr_is_on = value > 0
        self._attr_brightness = int(value) or None

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn on, at full brightness unless told otherwise."""
        self.take(kwargs.get(ATTR_BRIGHTNESS) or self.brightness or 255)
        self.async_write_ha_state()

    @override
    async def async_turn_off(self, **_kwargs: Any) -> None:
        """Turn off."""
        self.take(0)
        self.async_write_ha_state()

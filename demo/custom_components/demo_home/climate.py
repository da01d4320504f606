"""Thermostats."""

from typing import Any, override

from homeassistant.components.climate import (
    ATTR_TEMPERATURE,
    ClimateEntity,
    ClimateEntityFeature,
    HVACAction,
    HVACMode,
)
from homeassistant.const import UnitOfTemperature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHomeConfigEntry
from .catalogue import platform_items
from .entity import SwitchableEntity
from .model import HEATING


async def async_setup_entry(
    _hass: HomeAssistant, entry: DemoHomeConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the thermostats."""
    async_add_entities(DemoThermostat(entry.runtime_data, item) for item in platform_items("climate"))


class DemoThermostat(SwitchableEntity, ClimateEntity):
    """A thermostat of the catalogue; the model's value is its target."""

    _attr_hvac_modes = [HVACMode.HEAT, HVACMode.OFF]  # noqa: RUF012 - the type that Home Assistant declares
    _attr_hvac_mode = HVACMode.HEAT
    _attr_min_temp = 5
    _attr_max_temp = 30
    _attr_target_temperature_step = 0.5
    _attr_native_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_supported_features = (
        ClimateEntityFeature.TARGET_TEMPERATURE | ClimateEntityFeature.TURN_ON | ClimateEntityFeature.TURN_OFF
    )

    _target = 17.0

    @property
    def native_current_temperature(self) -> float:
        """Return what the room's thermometer shows."""
        name = self.item.entity_id.partition(".")[2]
        return self.coordinator.data[f"sensor.{name}_temperature"]

    @property
    def native_target_temperature(self) -> float:
        """Return what the room is to be heated to."""
        return self._target

    # What Home Assistant before 2026.11 calls the same.
    _attr_temperature_unit = _attr_native_temperature_unit
    current_temperature = native_current_temperature
    target_temperature = native_target_temperature

    @property
    @override
    def hvac_action(self) -> HVACAction:
        """Return whether the room is being heated."""
        if self.hvac_mode is HVACMode.OFF:
            return HVACAction.OFF
        return HVACAction.HEATING if self.coordinator.data[HEATING[self.item.entity_id]] else HVACAction.IDLE

    @override
    def take(self, value: float) -> None:
        """Show the target."""
        self._target = value

    @override
    async def async_set_temperature(self, **kwargs: Any) -> None:
        """Set the target."""
        self.take(kwargs[ATTR_TEMPERATURE])
        self.async_write_ha_state()

    @override
    async def async_set_hvac_mode(self, hvac_mode: HVACMode) -> None:
        """Heat, or not."""
        self._attr_hvac_mode = hvac_mode
        self.async_write_ha_state()

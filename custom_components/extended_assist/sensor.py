"""Sensors for the usage of each agent."""

from typing import override

from homeassistant.components.sensor import SensorEntity, SensorStateClass
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_MODEL, EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .claude.coordinator import ExtendedAssistConfigEntry
from .claude.usage import REQUESTS, TOKENS, TokenMeter, async_get_meters
from .entity import agent_device

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensors of each agent."""
    meters = await async_get_meters(hass)
    for subentry in entry.subentries.values():
        if CONF_MODEL in subentry.data:
            meter = meters.of(subentry.subentry_id)
            async_add_entities(
                [UsageSensor(subentry, meter, kind) for kind in (*TOKENS, REQUESTS)],
                config_subentry_id=subentry.subentry_id,
            )


class UsageSensor(SensorEntity):
    """One total of an agent's token meter, which only increases."""

    _attr_entity_category = EntityCategory.DIAGNOSTIC
    _attr_has_entity_name = True
    _attr_should_poll = False
    _attr_state_class = SensorStateClass.TOTAL_INCREASING

    def __init__(self, subentry: ConfigSubentry, meter: TokenMeter, kind: str) -> None:
        """Store the meter and the description of the total."""
        self._meter = meter
        self._kind = kind
        self._attr_translation_key = kind
        self._attr_unique_id = f"{subentry.subentry_id}_{kind}"
        self._attr_device_info = agent_device(subentry)

    @property
    @override
    def native_value(self) -> int:
        """Return the count."""
        return self._meter.usage.counts.get(self._kind, 0)

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the meter."""
        await super().async_added_to_hass()
        self.async_on_remove(self._meter.async_listen(self.async_write_ha_state))

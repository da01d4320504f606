"""What each agent has used; the days are in the statistics of its sensors, which the frontend reads by itself."""

from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_MODEL, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from ..claude.usage import REQUESTS, TOKENS, async_get_meters
from ..const import CONF_MONTHLY_TOKENS, DOMAIN


async def async_usage(hass: HomeAssistant, entries: list[ConfigEntry]) -> list[dict[str, Any]]:
    """Return the agents of entries with the sensors of what they used."""
    meters, entities = await async_get_meters(hass), er.async_get(hass)
    return [
        {
            "id": subentry.subentry_id,
            "name": subentry.title,
            "model": subentry.data[CONF_MODEL],
            "month_tokens": meters.of(subentry.subentry_id).month_tokens,
            "monthly_limit": subentry.data.get(CONF_MONTHLY_TOKENS),
            "sensors": {
                kind: entity_id
                for kind in (*TOKENS, REQUESTS)
                if (
                    entity_id := entities.async_get_entity_id(Platform.SENSOR, DOMAIN, f"{subentry.subentry_id}_{kind}")
                )
            },
        }
        for entry in entries
        for subentry in entry.subentries.values()
        if CONF_MODEL in subentry.data
    ]

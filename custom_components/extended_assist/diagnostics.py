"""Diagnostics: what a maintainer needs, without secrets or prompts."""

from typing import Any

from anthropic import __version__ as sdk_version

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.const import CONF_API_KEY, CONF_PROMPT
from homeassistant.core import HomeAssistant

from . import ExtendedAssistConfigEntry, has_connection
from .const import CONF_BASE_URL, CONF_FUNCTION

_TO_REDACT = {CONF_API_KEY, CONF_BASE_URL, CONF_FUNCTION, CONF_PROMPT}


async def async_get_config_entry_diagnostics(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> dict[str, Any]:
    """Return diagnostics for an entry."""
    return {
        "anthropic": sdk_version,
        "version": f"{entry.version}.{entry.minor_version}",
        "data": async_redact_data(entry.data, _TO_REDACT),
        "options": async_redact_data(entry.options, _TO_REDACT),
        "models": [model.id for model in entry.runtime_data.models] if has_connection(entry) else [],
        "subentries": [
            {"type": subentry.subentry_type, "data": async_redact_data(subentry.data, _TO_REDACT)}
            for subentry in entry.subentries.values()
        ],
    }

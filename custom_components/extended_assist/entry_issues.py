"""Notices under Repairs about the tools of an entry, whichever agents they are for."""

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN

ASKS_NOW = "asks_now"
NOBODY_TO_ASK = "nobody_to_ask"
ENTRY_ISSUES = (ASKS_NOW, NOBODY_TO_ASK)


@callback
def async_raise_entry_issue(hass: HomeAssistant, key: str, entry_id: str) -> None:
    """Raise an issue about an entry's tools; one that is there, or was ignored, stays as it is."""
    if (entry := hass.config_entries.async_get_entry(entry_id)) is None:
        return
    ir.async_create_issue(
        hass,
        DOMAIN,
        f"{key}_{entry_id}",
        is_fixable=True,
        # What is told once must outlast a restart.
        is_persistent=True,
        data={"entry_id": entry_id},
        severity=ir.IssueSeverity.WARNING,
        translation_key=key,
        translation_placeholders={"entry": entry.title},
    )

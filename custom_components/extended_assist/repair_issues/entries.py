"""Repair issues about the tools of an entry, and about changes of files that were interrupted."""

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from ..const import DOMAIN

ASKS_NOW = "asks_now"
NOBODY_TO_ASK = "nobody_to_ask"
ENTRY_ISSUES = (ASKS_NOW, NOBODY_TO_ASK)
CHANGE_COMPLETED = "change_completed"
CHANGE_NOT_MADE = "change_not_made"
CHANGE_UNCLEAR = "change_unclear"
CHANGE_ISSUES = (CHANGE_COMPLETED, CHANGE_NOT_MADE, CHANGE_UNCLEAR)
"""Issues about interrupted changes; they stay until the user has read them."""


@callback
def async_raise_entry_issue(hass: HomeAssistant, key: str, entry_id: str) -> None:
    """Create an issue about an entry's tools; an existing or ignored one is unchanged."""
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


@callback
def async_raise_change_issue(hass: HomeAssistant, key: str, change_id: str, placeholders: dict[str, str]) -> None:
    """Create or replace the issue about an interrupted change of a configuration file."""
    for other in CHANGE_ISSUES:
        if other != key:
            ir.async_delete_issue(hass, DOMAIN, f"{other}_{change_id}")
    ir.async_create_issue(
        hass,
        DOMAIN,
        f"{key}_{change_id}",
        is_fixable=True,
        is_persistent=True,
        severity=ir.IssueSeverity.WARNING,
        translation_key=key,
        translation_placeholders=placeholders,
    )

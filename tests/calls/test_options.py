"""Tests of what the options of an entry say to its tools."""

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.const import CONF_RESULT_BUDGET, DOMAIN
from custom_components.extended_assist.results import ToolError
from homeassistant.core import HomeAssistant


async def test_read_once_and_anew_when_changed(hass: HomeAssistant) -> None:
    """The options are those of now: read once for many calls, anew when they change, and gone with the entry."""
    entry, other = (MockConfigEntry(domain=DOMAIN, options={CONF_RESULT_BUDGET: budget}) for budget in (1_000, 2_000))
    entry.add_to_hass(hass)
    other.add_to_hass(hass)
    made = ToolboxOptions.of({}, entry.entry_id)
    read = made.as_of_now(hass)
    assert (read.budget, read.entry_id) == (1_000, entry.entry_id)
    assert ToolboxOptions.of({}, other.entry_id).as_of_now(hass).budget == 2_000
    assert made.as_of_now(hass) is read
    hass.config_entries.async_update_entry(entry, options={CONF_RESULT_BUDGET: 3_000})
    assert made.as_of_now(hass).budget == 3_000
    await hass.config_entries.async_remove(entry.entry_id)
    with pytest.raises(ToolError, match="were removed"):
        made.as_of_now(hass)

"""The panel and the card are there until no entry is left, where Home Assistant has its frontend."""

from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.panel.registering import URL_PATH
from homeassistant.components.frontend import DATA_EXTRA_MODULE_URL, DATA_PANELS, async_register_built_in_panel
from homeassistant.config_entries import ConfigEntryDisabler, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryNotReady
from homeassistant.setup import async_setup_component
from tests.scheduled.shown import async_set_up_home


def urls(hass: HomeAssistant) -> list[str]:
    """Return what every page of the frontend loads of ours."""
    return [url for url in hass.data[DATA_EXTRA_MODULE_URL].urls if DOMAIN in url]


async def test_there(hass: HomeAssistant, assist: None, hass_client: ClientSessionGenerator) -> None:
    """It comes with the first entry, is served as it says, and goes with the last one; a reload leaves it there."""
    assert await async_setup_component(hass, "frontend", {})
    first, second = await async_set_up_home(hass), await async_set_up_home(hass, title="Second")
    panel = hass.data[DATA_PANELS][URL_PATH]
    assert (panel.sidebar_title, panel.require_admin) == ("Assistant", False)
    (card,) = urls(hass)
    client = await hass_client()
    for url in (card, panel.config["_panel_custom"]["module_url"]):
        response = await client.get(url)
        assert (response.status, response.content_type) == (200, "text/javascript")
    assert await hass.config_entries.async_remove(first.entry_id)
    assert URL_PATH in hass.data[DATA_PANELS]
    assert await hass.config_entries.async_reload(second.entry_id)
    assert URL_PATH in hass.data[DATA_PANELS]
    assert urls(hass) == [card]
    assert await hass.config_entries.async_remove(second.entry_id)
    assert (URL_PATH in hass.data[DATA_PANELS], urls(hass)) == (False, [])


async def test_in_another_language(hass: HomeAssistant, assist: None) -> None:
    """The sidebar says it in the language of the home."""
    hass.config.language = "pl"
    assert await async_setup_component(hass, "frontend", {})
    await async_set_up_home(hass)
    assert hass.data[DATA_PANELS][URL_PATH].sidebar_title == "Asystent"


async def test_address_is_taken(hass: HomeAssistant, assist: None, caplog: pytest.LogCaptureFixture) -> None:
    """A dashboard of the user's at the same address stays as it is, and all else is there; it is said in the log."""
    assert await async_setup_component(hass, "frontend", {})
    async_register_built_in_panel(hass, "lovelace", "Mine", frontend_url_path=URL_PATH)
    entry: MockConfigEntry = await async_set_up_home(hass)
    assert entry.state is ConfigEntryState.LOADED
    assert hass.data[DATA_PANELS][URL_PATH].sidebar_title == "Mine"
    assert len(urls(hass)) == 1
    assert URL_PATH in caplog.text
    assert await hass.config_entries.async_remove(entry.entry_id)
    assert hass.data[DATA_PANELS][URL_PATH].sidebar_title == "Mine"
    assert urls(hass) == []


async def test_without_a_frontend(hass: HomeAssistant, assist: None) -> None:
    """A home without one has no panel, and the tools all the same."""
    entry: MockConfigEntry = await async_set_up_home(hass)
    assert URL_PATH not in hass.data.get(DATA_PANELS, {})
    assert await hass.config_entries.async_unload(entry.entry_id)


async def test_while_entries_are_reloaded(hass: HomeAssistant, assist: None) -> None:
    """A page that is opened between unloading and loading the only entry has them; other integrations' entries change nothing."""
    assert await async_setup_component(hass, "frontend", {})
    entry: MockConfigEntry = await async_set_up_home(hass)
    panel, shown = hass.data[DATA_PANELS][URL_PATH], urls(hass)
    assert shown
    assert await hass.config_entries.async_unload(entry.entry_id)
    other = MockConfigEntry(domain="other")
    other.add_to_hass(hass)
    await hass.config_entries.async_remove(other.entry_id)
    assert (hass.data[DATA_PANELS][URL_PATH], urls(hass)) == (panel, shown)
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert (hass.data[DATA_PANELS][URL_PATH], urls(hass)) == (panel, shown)


async def test_disabled(hass: HomeAssistant, assist: None) -> None:
    """They go as the last entry is disabled, while it is loaded or not, and come back with it."""
    assert await async_setup_component(hass, "frontend", {})
    first, second = await async_set_up_home(hass), await async_set_up_home(hass, title="Second")
    shown = urls(hass)
    assert await hass.config_entries.async_set_disabled_by(first.entry_id, ConfigEntryDisabler.USER)
    assert (URL_PATH in hass.data[DATA_PANELS], urls(hass)) == (True, shown)
    with patch("custom_components.extended_assist.async_load_functions", side_effect=ConfigEntryNotReady):
        assert not await hass.config_entries.async_reload(second.entry_id)
    assert second.state is ConfigEntryState.SETUP_RETRY
    assert (URL_PATH in hass.data[DATA_PANELS], urls(hass)) == (True, shown)
    assert await hass.config_entries.async_set_disabled_by(second.entry_id, ConfigEntryDisabler.USER)
    assert (URL_PATH in hass.data[DATA_PANELS], urls(hass)) == (False, [])
    assert await hass.config_entries.async_set_disabled_by(first.entry_id, None)
    assert (URL_PATH in hass.data[DATA_PANELS], urls(hass)) == (True, shown)

"""Panel and card come after a failure, and go also where the last entry goes while they are being registered."""

import asyncio
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.panel import registering
from custom_components.extended_assist.panel.registering import URL_PATH
from homeassistant.components.frontend import DATA_PANELS
from homeassistant.config_entries import ConfigEntryDisabler, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.scheduled.shown import async_set_up_home

from .test_registering import urls


async def test_after_a_failure(hass: HomeAssistant, assist: None, caplog: pytest.LogCaptureFixture) -> None:
    """Where the scripts could not be read, the rest is there, and they are served when an entry is loaded again."""
    assert await async_setup_component(hass, "frontend", {})
    with patch.object(registering, "_digest", side_effect=OSError):
        entry: MockConfigEntry = await async_set_up_home(hass)
    assert entry.state is ConfigEntryState.LOADED
    assert (URL_PATH in hass.data[DATA_PANELS], urls(hass)) == (False, [])
    assert "not shown" in caplog.text
    await hass.config_entries.async_reload(entry.entry_id)
    assert entry.state is ConfigEntryState.LOADED
    assert URL_PATH in hass.data[DATA_PANELS]
    assert len(urls(hass)) == 1


async def test_cut_off(hass: HomeAssistant, assist: None) -> None:
    """Where setting up is cancelled while the panel is registered, the next one registers it."""
    assert await async_setup_component(hass, "frontend", {})
    cut_off = patch.object(registering, "async_get_translations", side_effect=asyncio.CancelledError)
    with cut_off, pytest.raises(asyncio.CancelledError):
        await registering.async_show(hass)
    await async_set_up_home(hass)
    assert URL_PATH in hass.data[DATA_PANELS]
    assert len(urls(hass)) == 1


async def test_gone_meanwhile(hass: HomeAssistant, assist: None) -> None:
    """Where the only entry is disabled while the panel's texts are read, nothing is left, and all comes back with the entry."""
    assert await async_setup_component(hass, "frontend", {})
    begun, go_on = asyncio.Event(), asyncio.Event()
    translations = registering.async_get_translations

    async def slow(*args: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await translations(*args)

    entry: MockConfigEntry = await async_set_up_home(hass)
    shown = urls(hass)
    await hass.config_entries.async_set_disabled_by(entry.entry_id, ConfigEntryDisabler.USER)
    await hass.config_entries.async_set_disabled_by(entry.entry_id, None)
    assert urls(hass) == shown
    await hass.config_entries.async_set_disabled_by(entry.entry_id, ConfigEntryDisabler.USER)
    with patch.object(registering, "async_get_translations", slow):
        showing = hass.async_create_task(registering.async_show(hass))
        await begun.wait()
        go_on.set()
        await showing
    assert (URL_PATH in hass.data[DATA_PANELS], urls(hass)) == (False, [])
    await hass.config_entries.async_set_disabled_by(entry.entry_id, None)
    assert (URL_PATH in hass.data[DATA_PANELS], urls(hass)) == (True, shown)

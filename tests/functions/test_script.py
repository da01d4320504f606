"""Tests of scripts in functions that cannot be run, or fail when nobody waits for them any more."""

import asyncio

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.functions import script
from custom_components.extended_assist.functions.yaml_source import FunctionError
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.script import DATA_NEW_SCRIPT_RUNS_NOT_ALLOWED
from homeassistant.setup import async_setup_component

from .conftest import Ask, Install
from .test_injection import written

pytestmark = pytest.mark.usefixtures("no_deprecations")


async def test_device_that_goes(hass: HomeAssistant, entry: MockConfigEntry, install: Install, ask: Ask) -> None:
    """A device that is not there is told when the function is saved, and when it is called."""
    assert await async_setup_component(hass, "light", {})
    owner = MockConfigEntry(domain="demo")
    owner.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(config_entry_id=owner.entry_id, identifiers={("demo", "lamp")})
    lamp = er.async_get(hass).async_get_or_create("light", "demo", "lamp", device_id=device.id)
    step = f"{{device_id: {device.id}, domain: light, type: turn_on, entity_id: {lamp.id}}}"
    function = written(f"type: script\nsequence: [{step}]")
    await install(function)
    dr.async_get(hass).async_remove_device(device.id)
    await hass.async_block_till_done()
    assert (await ask("probe", error=True)).startswith("The script of this function is not valid: ")
    with pytest.raises(FunctionError, match="The sequence is not valid: "):
        await install(function.replace("probe", "other"))


async def test_shutting_down(hass: HomeAssistant, install: Install, ask: Ask) -> None:
    """While Home Assistant shuts down, it runs nothing any more, and a function does not claim that it did."""
    await install(written("type: script\nsequence: [{event: over}]"))
    hass.data[DATA_NEW_SCRIPT_RUNS_NOT_ALLOWED] = None
    assert await ask("probe", error=True) == "Home Assistant is shutting down, so nothing was done."


async def test_fails_later(
    hass: HomeAssistant, install: Install, ask: Ask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What fails after it was reported as going on is logged."""
    monkeypatch.setattr(script, "WAIT", 0.05)
    await install(written("type: script\nsequence: [{delay: 0.2}, {action: light.fly}]"))
    assert await ask("probe") == "It has not finished after 0.05 seconds and goes on."
    await asyncio.sleep(0.3)
    await hass.async_block_till_done()
    assert (
        "The script of a function failed after it was reported as going on: Action light.fly not found" in caplog.text
    )

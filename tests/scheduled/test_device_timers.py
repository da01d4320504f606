"""Tests of timers: a device that supports Home Assistant's keeps these, and what is pending there tells of them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.const import CONF_FAMILIES
from custom_components.extended_assist.tools import DEFAULT_FAMILIES
from homeassistant.components import intent as intents
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, intent, llm
from homeassistant.setup import async_setup_component
from tests.actions.conftest import toolbox

from ..helpers.acting import house

__all__ = ["house", "toolbox"]

DO_LATER = "extended_assist__do_later"
START = "intent__HassStartTimer"
LEFT = "0:09:00"

type At = Callable[[str], Awaitable[llm.APIInstance]]
type Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
async def speaker(hass: HomeAssistant, toolbox: MockConfigEntry) -> str:
    """Return a device that supports timers, of an entry with the tools for later."""
    assert await async_setup_component(hass, "intent", {})
    hass.config_entries.async_update_entry(toolbox, options={CONF_FAMILIES: [*DEFAULT_FAMILIES]})
    assert await hass.config_entries.async_reload(toolbox.entry_id)
    await hass.async_block_till_done()
    device_id = add_device(hass, toolbox, "speaker")
    intents.async_register_timer_handler(hass, device_id, lambda *_: None)
    return device_id


@pytest.fixture
def display(hass: HomeAssistant, toolbox: MockConfigEntry) -> str:
    """Return a device without timers."""
    return add_device(hass, toolbox, "display")


def add_device(hass: HomeAssistant, entry: MockConfigEntry, name: str) -> str:
    """Add a device."""
    return dr.async_get(hass).async_get_or_create(config_entry_id=entry.entry_id, identifiers={("test", name)}).id


@pytest.fixture
def at(hass: HomeAssistant, toolbox: MockConfigEntry, llm_context: llm.LLMContext) -> At:
    """Return a function that returns what a model is given at a device."""

    async def given(device_id: str) -> llm.APIInstance:
        context = replace(llm_context, device_id=device_id)
        return await llm.async_get_api(hass, api_id(toolbox.entry_id), context)

    return given


@pytest.fixture
def ask(at: At) -> Ask:
    """Return a function that calls a tool at a device."""

    async def call(device_id: str, tool: str, **arguments: Any) -> Any:
        result = await (await at(device_id)).async_call_tool(llm.ToolInput(tool, arguments))
        assert not result.error, result.data
        return result.data

    return call


async def start_command(hass: HomeAssistant, device_id: str, command: str) -> None:
    """Let a device do something in twenty minutes, as Home Assistant's own agent lets it."""
    slots = {"minutes": {"value": 20}, "conversation_command": {"value": command}}
    await intent.async_handle(hass, "test", intent.INTENT_START_TIMER, slots, device_id=device_id)


async def test_who_keeps_timers(at: At, speaker: str, display: str) -> None:
    """A model is led to Home Assistant's own timers where there are any, elsewhere to ours."""
    ours = await at(speaker)
    tools = {tool.name: tool for tool in ours.tools}
    assert START in tools
    assert "Plain timers: HassStartTimer, if offered." in (tools[DO_LATER].description or "")
    assert "timers" not in ours.api_prompt
    elsewhere = await at(display)
    assert START not in {tool.name for tool in elsewhere.tools}
    assert f"This device runs no timers itself: for these, and to act later, call {DO_LATER}." in elsewhere.api_prompt
    assert "not able" not in elsewhere.api_prompt


async def test_pending(hass: HomeAssistant, ask: Ask, speaker: str, display: str) -> None:
    """What is pending at a device tells of its timers, next first, and of those of no other device."""
    await ask(speaker, START, hours=1, name="bread")
    await ask(speaker, START, minutes=9, name="pasta")
    await start_command(hass, speaker, "turn on Bed Light")
    await ask(speaker, DO_LATER, when={"after": 600}, say="Buy milk")
    await ask(speaker, "intent__HassPauseTimer", name="bread")
    told = await ask(speaker, "extended_assist__pending")
    assert [row["what"] for row in told["pending"]] == ["Say: Buy milk"]
    lefts = [row.pop("left") for row in told["timers"]]
    assert told["timers"] == [
        {"name": "pasta"},
        {"command": "turn on Bed Light"},
        {"name": "bread", "paused": True},
    ]
    assert "0:08:30" <= lefts[0] <= LEFT
    assert "timers" not in await ask(display, "extended_assist__pending")
    (found,) = (await ask(speaker, "extended_assist__pending", about="pasta"))["timers"]
    assert found["name"] == "pasta"


async def test_hidden_command(hass: HomeAssistant, ask: Ask, speaker: str) -> None:
    """What a timer is to do with something hidden is not told."""
    await start_command(hass, speaker, "turn on light.zebra")
    (timer,) = (await ask(speaker, "extended_assist__pending"))["timers"]
    assert timer["command"] == "something that is hidden now"


async def test_timer_elsewhere(ask: Ask, display: str, speaker: str) -> None:
    """A timer of a device without timers is a task."""
    answer = await ask(display, DO_LATER, when={"after": 540}, say="The pasta is ready", name="Pasta timer")
    assert answer["next"] == "Monday 2026-03-02 12:09:00"
    (row,) = (await ask(display, "extended_assist__pending"))["pending"]
    assert row["name"] == "Pasta timer"

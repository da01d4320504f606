"""Tests of actions that ask first: what is said then, and that nothing happens before the user's word."""

from collections.abc import Iterator
from typing import Any

import pytest

from custom_components.extended_assist.actions.schedule import async_get_schedule
from custom_components.extended_assist.toolbox.options import ToolboxOptions
from custom_components.extended_assist.toolbox.policy import Policy
from custom_components.extended_assist.tools.actions import PerformActionTool, ScheduledActionsTool, UndoLastChangeTool
from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import chat_session

from ..conftest import ASSISTANT, CallTool

OPTIONS = ToolboxOptions(
    policy=Policy(ask_first=frozenset({"perform_action", "scheduled_actions", "undo_last_change"})),
    entry_id="entry",
    is_fixed=True,
)
LAMP: dict[str, Any] = {"action": "light.turn_on", "target": {"entity_id": "bed light"}, "data": {"brightness_pct": 40}}


@pytest.fixture
def chat(hass: HomeAssistant, house: None) -> Iterator[conversation.ChatLog]:
    """Begin a conversation."""
    with (
        chat_session.async_get_chat_session(hass) as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        token = current_chat_log.set(chat_log)
        say(chat_log, "Please.")
        yield chat_log
        current_chat_log.reset(token)


def say(chat_log: conversation.ChatLog, words: str) -> None:
    """Let the user say something."""
    chat_log.async_add_user_content(conversation.UserContent(words))


async def test_asks_in_words(hass: HomeAssistant, chat: conversation.ChatLog, call_tool: CallTool) -> None:
    """What would be done is said by name; it is done after the user's next message, and undone in the same way."""
    tool = PerformActionTool(OPTIONS)
    data = await call_tool(tool, **LAMP)
    assert (data["done"], data["would"]) == (False, "Turn on: Bed Light (light.turn_on), brightness 40 %")
    assert hass.states.is_state("light.bed_light", "off")
    await call_tool(tool, **LAMP)
    assert hass.states.is_state("light.bed_light", "off")
    say(chat, "Yes.")
    other = LAMP | {"target": {"entity_id": "Bed Light"}}
    assert (await call_tool(tool, **other))["done"] is False
    assert hass.states.is_state("light.bed_light", "off")
    assert "entities" in await call_tool(tool, **LAMP)
    assert hass.states.is_state("light.bed_light", "on")
    data = await call_tool(UndoLastChangeTool(OPTIONS))
    assert data["would"].endswith(": Bed Light back to off")
    say(chat, "Yes.")
    await call_tool(UndoLastChangeTool(OPTIONS))
    assert hass.states.is_state("light.bed_light", "off")


async def test_exposure_counts_when_it_is_done(
    hass: HomeAssistant, chat: conversation.ChatLog, call_tool: CallTool
) -> None:
    """What cannot be done is not asked about, and what is hidden after the question is not touched."""
    tool = PerformActionTool(OPTIONS)
    data = await call_tool(tool, error=True, action="light.turn_on", target={"entity_id": "light.zebra"})
    assert "not found or is not exposed" in data["error"]
    await call_tool(tool, **LAMP)
    async_expose_entity(hass, ASSISTANT, "light.bed_light", False)
    say(chat, "Yes.")
    data = await call_tool(tool, error=True, **LAMP)
    assert "not found or is not exposed" in data["error"]
    assert hass.states.is_state("light.bed_light", "off")


async def test_nothing_is_scheduled_before(
    hass: HomeAssistant, chat: conversation.ChatLog, call_tool: CallTool
) -> None:
    """The question is asked before something is scheduled, not when it is due."""
    data = await call_tool(PerformActionTool(OPTIONS), **LAMP, delay=60)
    assert data["would"].startswith("At ")
    assert (await async_get_schedule(hass)).waiting == []


async def test_cancelling_asks_in_words(hass: HomeAssistant, chat: conversation.ChatLog, call_tool: CallTool) -> None:
    """What would be cancelled is said by name; it is cancelled after the user's next message."""
    tool = ScheduledActionsTool(OPTIONS)
    await call_tool(PerformActionTool(OPTIONS), **LAMP, delay=60)
    say(chat, "Yes.")
    scheduled = (await call_tool(PerformActionTool(OPTIONS), **LAMP, delay=60))["scheduled"]
    assert (await call_tool(tool))["would"] == "List what is scheduled"
    data = await call_tool(tool, cancel=scheduled)
    assert data["would"] == "Cancel: Turn on: Bed Light (light.turn_on), brightness 40 %"
    assert len((await async_get_schedule(hass)).waiting) == 1
    assert "Nothing with id 'zzz'" in (await call_tool(tool, error=True, cancel="zzz"))["error"]
    say(chat, "Yes.")
    assert (await call_tool(tool, cancel=scheduled))["cancelled"] == scheduled
    assert (await async_get_schedule(hass)).waiting == []


async def test_much_is_said_shortly(chat: conversation.ChatLog, call_tool: CallTool) -> None:
    """Of many names and of a long text, the beginning is said, and how much more there is."""
    tool = PerformActionTool(OPTIONS)
    lights = [f"light.{name}" for name in ("bed_light", "ceiling_lights", "kitchen_lights")]
    others = [*("automation.visible", "climate.hvac", "fan.living_room_fan", "input_boolean.party"), "script.visible"]
    target = {"entity_id": [*lights, *others, "switch.decorative_lights"]}
    data = await call_tool(tool, action="homeassistant.turn_off", target=target)
    assert data["would"].startswith("Turn off: Bed Light, Ceiling Lights, Kitchen Lights, Visible, ")
    assert data["would"].endswith(", Party time and 1 more (homeassistant.turn_off)")
    arguments = {"action": "notify.send_message", "target": {"entity_id": "notify.notifier"}}
    data = await call_tool(tool, **arguments, data={"message": "x" * 400})
    assert data["would"].endswith(f", message {'x' * 300}… (400 characters)")

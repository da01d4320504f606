"""What a tool's act sets off is no part of the conversation in which the tool was called."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from unittest.mock import patch

import pytest

from custom_components.extended_assist.calls.caller import async_outside_conversation, outside_conversation
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.llm_tools.extended_tool import ExtendedTool
from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.core import Event, HomeAssistant
from homeassistant.helpers import chat_session
from tests.conftest import CallTool

pytestmark = pytest.mark.usefixtures("house")

TALK = "kitchen"
"""The id of the user's conversation, and of the one that the automation leads."""
LIGHT = "light.bed_light"
TURN_ON: dict[str, Any] = {"action": "light.turn_on", "target": {"entity_id": LIGHT}}
UNASKED = ToolboxOptions(policy=Policy(ask_first=frozenset()))
AUTOMATION = {
    "id": "asks",
    "alias": "Asks when the light is on",
    "triggers": {"trigger": "state", "entity_id": LIGHT, "to": "on"},
    "actions": [
        {
            "action": "conversation.process",
            "data": {"text": "what is the meaning of it", "conversation_id": TALK, "language": "en"},
        },
        {"event": "asked"},
    ],
}


@pytest.fixture
async def chat_log(hass: HomeAssistant, house: None) -> AsyncGenerator[conversation.ChatLog]:
    """Return the log of the user's conversation, while it goes on, in a home with an automation that talks."""
    with patch("homeassistant.config.load_yaml_config_file", return_value={"automation": [AUTOMATION]}):
        await hass.services.async_call("automation", "reload", blocking=True)
    assert hass.states.is_state("automation.asks_when_the_light_is_on", "on")
    with (
        chat_session.async_get_chat_session(hass, TALK) as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        chat_log.async_add_user_content(conversation.UserContent("turn the bed light on"))
        yield chat_log


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [(PerformActionTool(), TURN_ON), (ExecuteScriptTool(UNASKED), {"sequence": [TURN_ON]})],
    ids=["action", "sequence"],
)
async def test_an_automation_that_talks(
    hass: HomeAssistant,
    chat_log: conversation.ChatLog,
    call_tool: CallTool,
    tool: ExtendedTool,
    arguments: dict[str, Any],
) -> None:
    """What an automation says to an agent, under the user's own conversation's id too, is not in the user's log."""
    before, asked = [*chat_log.content], asyncio.Event()

    async def on_asked(_: Event) -> None:
        asked.set()

    hass.bus.async_listen_once("asked", on_asked)
    token = current_chat_log.set(chat_log)
    try:
        await call_tool(tool, **arguments)
        assert current_chat_log.get() is chat_log
    finally:
        current_chat_log.reset(token)
    async with asyncio.timeout(10):
        await asked.wait()
    assert hass.states.is_state(LIGHT, "on")
    assert chat_log.content == before


async def test_what_is_begun_outside(hass: HomeAssistant, chat_log: conversation.ChatLog) -> None:
    """Neither log nor session are inherited, and both are there again afterwards."""

    def conversation_now() -> tuple[Any, Any]:
        return current_chat_log.get(), chat_session.current_session.get()

    token, session = current_chat_log.set(chat_log), chat_session.current_session.set(chat_session.ChatSession(TALK))
    try:
        assert outside_conversation(conversation_now) == (None, None)
        assert all(conversation_now())
    finally:
        current_chat_log.reset(token)
        chat_session.current_session.reset(session)


async def test_cancelled(hass: HomeAssistant) -> None:
    """Work that is awaited outside a conversation ends with whoever awaits it."""
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    task = hass.async_create_task(async_outside_conversation(hass, work()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()

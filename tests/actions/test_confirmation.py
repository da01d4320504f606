"""Tests of actions that ask first: what is said then, and that nothing happens before the user's word."""

from collections.abc import Iterator
from typing import Any

import pytest

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.llm_tools.extended_tool import ExtendedTool
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from custom_components.extended_assist.tools.scheduled import DoLaterTool, PendingTool
from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import chat_session, llm

from ..conftest import ASSISTANT, CallTool

OPTIONS = ToolboxOptions(
    policy=Policy(ask_first=frozenset({"perform_action", "pending", "undo_last_change"})),
    entry_id="entry",
    is_fixed=True,
)
LATER: dict[str, Any] = {"after": 60}
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


@pytest.fixture
def call_tool(hass: HomeAssistant, chat: conversation.ChatLog, llm_context: llm.LLMContext) -> CallTool:
    """Return a function that calls a tool as an agent does, which puts the result into the conversation."""

    async def call(tool: ExtendedTool, *, error: bool = False, **arguments: Any) -> dict[str, Any]:
        tool_input = llm.ToolInput(tool.name, arguments)
        result = await tool.async_call(hass, tool_input, llm_context)
        assert result.error is error, result.data
        chat.content.append(conversation.ToolResultContent("agent", tool_input.id, tool.name, result))
        return dict(result.data)

    return call


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
    assert data["would"].endswith("\n- Bed Light back to off")
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


async def test_nothing_is_kept_before(hass: HomeAssistant, chat: conversation.ChatLog, call_tool: CallTool) -> None:
    """The question is asked before something is kept for later, not when it is due."""
    data = await call_tool(DoLaterTool(OPTIONS), when=LATER, action=LAMP)
    assert data["would"].startswith("In 0:01:00: ")
    assert (await async_get_scheduled_tasks(hass)).standing == []


async def test_cancelling_asks_in_words(hass: HomeAssistant, chat: conversation.ChatLog, call_tool: CallTool) -> None:
    """What would be cancelled is said by name; it is cancelled after the user's next message."""
    tool = PendingTool(OPTIONS)
    await call_tool(DoLaterTool(OPTIONS), when=LATER, action=LAMP)
    say(chat, "Yes.")
    kept = (await call_tool(DoLaterTool(OPTIONS), when=LATER, action=LAMP))["id"]
    assert (await call_tool(tool))["would"] == "List what is pending"
    data = await call_tool(tool, cancel=kept)
    assert data["would"] == "Cancel: Turn on: Bed Light (light.turn_on), brightness 40 %"
    assert len((await async_get_scheduled_tasks(hass)).standing) == 1
    assert "Nothing with id 'zzz'" in (await call_tool(tool, error=True, cancel="zzz"))["error"]
    say(chat, "Yes.")
    assert (await call_tool(tool, cancel=kept))["cancelled"] == kept
    assert (await async_get_scheduled_tasks(hass)).standing == []


async def test_all_is_said(chat: conversation.ChatLog, call_tool: CallTool) -> None:
    """Every entity is named, and a long text is told to its end."""
    tool = PerformActionTool(OPTIONS)
    lights = [f"light.{name}" for name in ("bed_light", "ceiling_lights", "kitchen_lights")]
    others = [*("automation.visible", "climate.hvac", "fan.living_room_fan", "input_boolean.party"), "script.visible"]
    target = {"entity_id": [*lights, *others, "switch.decorative_lights"]}
    data = await call_tool(tool, action="homeassistant.turn_off", target=target)
    assert data["would"].startswith("Turn off: Bed Light, Ceiling Lights, Kitchen Lights, Visible, ")
    assert data["would"].endswith(", Party time and Decorative Lights (homeassistant.turn_off)")
    arguments = {"action": "notify.send_message", "target": {"entity_id": "notify.notifier"}}
    data = await call_tool(tool, **arguments, data={"message": "x" * 400})
    assert data["would"].endswith(f", message {'x' * 400}")


@pytest.mark.parametrize("no", ["No, don't.", "stop", "Please do not switch it on"])
async def test_a_refusal_confirms_nothing(
    hass: HomeAssistant, chat: conversation.ChatLog, call_tool: CallTool, no: str
) -> None:
    """An agent of others that takes a no for a yes is refused, and a later yes counts for nothing."""
    tool = PerformActionTool(OPTIONS)
    await call_tool(tool, **LAMP)
    say(chat, no)
    assert "said no" in (await call_tool(tool, error=True, **LAMP))["error"]
    say(chat, "Yes.")
    assert (await call_tool(tool, **LAMP))["done"] is False
    assert hass.states.is_state("light.bed_light", "off")


async def test_what_the_result_did_not_tell(
    hass: HomeAssistant, chat: conversation.ChatLog, call_tool: CallTool
) -> None:
    """A question that did not enter the conversation, or of which something has changed, confirms nothing."""
    tool = PerformActionTool(OPTIONS)
    await call_tool(tool, **LAMP)
    chat.content.pop()
    say(chat, "Yes.")
    assert (await call_tool(tool, **LAMP))["done"] is False
    group: dict[str, Any] = {"action": "homeassistant.turn_on", "target": {"entity_id": "group.visible"}}
    first = await call_tool(tool, **group)
    service = {"object_id": "visible", "name": "Visible group", "entities": ["light.ceiling_lights", "light.bed_light"]}
    await hass.services.async_call("group", "set", service, blocking=True)
    say(chat, "Yes.")
    second = await call_tool(tool, **group)
    assert (second["done"], "Ceiling Lights" in second["would"]) == (False, True)
    assert first["would"] in second["changed"]
    assert hass.states.is_state("light.bed_light", "off")
    say(chat, "Yes.")
    assert "entities" in await call_tool(tool, **group)

"""Tests of calls that act and are cut off: what was begun goes on, is recorded, and is told."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls import background_calls
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.helpers import llm
from homeassistant.helpers.service import async_get_all_descriptions
from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use
from tests.conftest import AGENT, CallTool
from tests.helpers.talking import speech

pytestmark = pytest.mark.usefixtures("house")

BED = {"entity_id": "light.bed_light"}
TURN_ON = {"action": "light.turn_on", "target": BED}


class Slow:
    """A light's integration that answers when it is let."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Stand in the way of the demo's lights."""
        self.let = asyncio.Event()
        self.begun = asyncio.Event()
        self.ended = False
        service = hass.services.async_services_internal()["light"]["turn_on"]

        async def wait(call: ServiceCall) -> None:
            self.begun.set()
            try:
                await self.let.wait()
                await service.job.target(call)
            finally:
                self.ended = True

        hass.services.async_register("light", "turn_on", wait, service.schema)


@pytest.fixture
async def slow(hass: HomeAssistant, house: None, monkeypatch: pytest.MonkeyPatch) -> Slow:
    """Return an integration that is slower than the deadline, in a home that knows its actions already."""
    await async_get_all_descriptions(hass)
    monkeypatch.setattr(PerformActionTool, "deadline", 0.05)
    return Slow(hass)


async def test_deadline(hass: HomeAssistant, call_tool: CallTool, slow: Slow) -> None:
    """At the deadline the result says that it goes on; when it has ended, it is in the journal, and told."""
    data = await call_tool(PerformActionTool(), **TURN_ON)
    assert data["begun"] == "light.turn_on"
    assert data["note"].startswith("It has not finished after 0.05 seconds and goes on")
    assert data["outcome"] == {"not_reached": {"Bed Light": "off"}}
    assert "less" not in str(data)
    # An older change is not taken back in its place.
    assert "still goes on" in (await call_tool(UndoLastChangeTool(), error=True))["error"]
    slow.let.set()
    await asyncio.sleep(0.1)
    assert hass.states.is_state("light.bed_light", "on")
    (change,) = (await async_get_journal(hass)).changes
    assert change.what == "light.turn_on"
    party = {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.party"}}
    (told,) = (await call_tool(PerformActionTool(), **party))["earlier"]
    assert told.startswith("light.turn_on, begun at ")
    assert '"reached":{"Bed Light":"on"}' in told
    assert "earlier" not in await call_tool(PerformActionTool(), **party)
    await call_tool(UndoLastChangeTool())
    assert (await call_tool(UndoLastChangeTool()))["undone"]["light.bed_light"].startswith("on → off")


async def test_nothing_to_undo(hass: HomeAssistant, call_tool: CallTool, slow: Slow) -> None:
    """Where a call that went on has changed nothing, no undo of it is promised."""
    slow.let.set()
    await call_tool(PerformActionTool(), **TURN_ON)
    await asyncio.sleep(0.1)
    slow.let.clear()
    assert "begun" in await call_tool(PerformActionTool(), **TURN_ON)
    slow.let.set()
    await asyncio.sleep(0.1)
    party = {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.party"}}
    told = (await call_tool(PerformActionTool(), **party))["earlier"]
    assert "has ended" in told[-1]
    assert "undone" not in told[-1]


async def test_cancelled(hass: HomeAssistant, llm_context: llm.LLMContext, call_tool: CallTool, slow: Slow) -> None:
    """A call whose turn is cancelled goes on, and whoever spoke is told with the next result; nobody else is."""
    tool = PerformActionTool()
    task = hass.async_create_task(tool.async_call(hass, llm.ToolInput(tool.name, TURN_ON), llm_context))
    await slow.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    slow.let.set()
    await asyncio.sleep(0.1)
    assert hass.states.is_state("light.bed_light", "on")
    party = {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.party"}}
    llm_context.device_id = "another satellite"
    assert "earlier" not in await call_tool(PerformActionTool(), **party)
    llm_context.device_id = "a satellite"
    assert len((await call_tool(PerformActionTool(), **party))["earlier"]) == 1


async def test_told_with_the_next_message(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    slow: Slow,
    chat_log: Callable[[str], conversation.ChatLog],
) -> None:
    """Our agent tells the model with the next message what became of a turn that was cancelled."""
    claude_server.responder = Scenario([Turn([tool_use("extended_assist__perform_action", TURN_ON)])])

    async def say(words: str) -> conversation.ConversationResult:
        return await conversation.async_converse(
            hass, words, None, Context(), agent_id=AGENT, language="en", device_id="a satellite"
        )

    task = hass.async_create_task(say("Light!"))
    await slow.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    slow.let.set()
    await asyncio.sleep(0.1)
    claude_server.responder = Scenario([Turn([text("It is on.")])])
    assert speech(await say("And?")) == "It is on."
    sent = str(claude_server.message_requests[-1]["messages"])
    assert "light.turn_on, begun at" in sent
    assert "has ended" in sent


async def test_without_an_end(
    hass: HomeAssistant, call_tool: CallTool, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not end is watched for a while only; then it no longer stands in the way."""
    monkeypatch.setattr(background_calls, "LONGEST", 0.1)
    await call_tool(PerformActionTool(), action="input_boolean.turn_on", target={"entity_id": "input_boolean.party"})
    await call_tool(PerformActionTool(), **TURN_ON)
    await asyncio.sleep(0.15)
    (told,) = (await call_tool(UndoLastChangeTool()))["earlier"]
    assert "was not over after 0.1 seconds; its end will not be told" in told
    assert "has ended" not in told
    slow.let.set()
    await asyncio.sleep(0.05)


async def test_home_assistant_stops(hass: HomeAssistant, call_tool: CallTool, slow: Slow) -> None:
    """What goes on ends with Home Assistant, and leaves no task behind."""
    await call_tool(PerformActionTool(), **TURN_ON)
    assert any(task.get_name() == "extended_assist call" for task in hass._background_tasks)
    for task in hass._background_tasks:  # As Home Assistant does when it stops.
        task.cancel("Home Assistant is stopping")
    await asyncio.sleep(0.05)
    assert slow.ended
    assert not any(task.get_name() == "extended_assist call" for task in hass._background_tasks)


async def test_failed(hass: HomeAssistant, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails after the deadline is told as failed."""
    monkeypatch.setattr(PerformActionTool, "deadline", 0.02)

    async def fail(_: ServiceCall) -> None:
        await asyncio.sleep(0.05)
        raise ValueError("narwhal")

    hass.services.async_register("light", "turn_on", fail)
    await call_tool(PerformActionTool(), **TURN_ON)
    await asyncio.sleep(0.1)
    monkeypatch.setattr(PerformActionTool, "deadline", 5)
    party: dict[str, Any] = {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.party"}}
    (told,) = (await call_tool(PerformActionTool(), **party))["earlier"]
    assert "failed: extended_assist__perform_action failed unexpectedly" in told
    assert "narwhal" not in told

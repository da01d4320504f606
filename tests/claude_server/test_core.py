"""Core's own Anthropic integration as a client of the loopback server."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Fault, OfflinePlanner, Scenario, Turn, text, thinking, tool_use

LIVE_CONTEXT = "homeassistant__GetLiveContext"
AGENT = "conversation.claude"


@pytest.fixture
async def server(socket_enabled: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server that core's integration will find."""
    async with ClaudeServer(Scenario([])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


@pytest.fixture
async def core_agent(hass: HomeAssistant, server: ClaudeServer) -> MockConfigEntry:
    """Core's agent with Assist's tools, and one exposed light."""
    for component in ("homeassistant", "conversation"):
        assert await async_setup_component(hass, component, {})
    assert await async_setup_component(hass, "light", {})
    hass.states.async_set("light.kitchen", "on", {"friendly_name": "Kitchen light"})
    async_expose_entity(hass, "conversation", "light.kitchen", should_expose=True)
    entry = MockConfigEntry(
        domain="anthropic",
        title="Claude",
        data={"api_key": "test-key"},
        version=2,
        minor_version=4,
        subentries_data=[
            {
                "subentry_type": "conversation",
                "title": "Claude",
                "unique_id": None,
                "data": {"llm_hass_api": [llm.LLM_API_ASSIST]},
            }
        ],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


async def say(hass: HomeAssistant, words: str) -> conversation.ConversationResult:
    """Say something to core's agent."""
    return await conversation.async_converse(hass, words, None, Context(), language="en", agent_id=AGENT)


async def test_tool_call(hass: HomeAssistant, core_agent: MockConfigEntry, server: ClaudeServer) -> None:
    """A turn with thinking and a tool call: every request passes every check, the answer arrives."""
    server.responder = Scenario(
        [
            Turn([thinking("Which lights?"), text("Let me look."), tool_use(LIVE_CONTEXT, {"domain": ["light"]})]),
            Turn([text("The kitchen light is on.")]),
        ]
    )
    result = await say(hass, "Which lights are on?")
    assert result.response.speech["plain"]["speech"] == "The kitchen light is on."
    first, second = server.message_requests
    assert first["model"] == "claude-haiku-4-5"
    assert LIVE_CONTEXT in [tool["name"] for tool in first["tools"]]
    (tool_result,) = second["messages"][-1]["content"]
    assert tool_result["type"] == "tool_result"
    assert "Kitchen light" in tool_result["content"]
    assert second["messages"][1]["content"][0]["type"] == "thinking"
    assert all(item.type_checked for item in server.requests)
    assert [item.path for item in server.requests] == ["/v1/models", "/v1/messages", "/v1/messages"]


async def test_planner(hass: HomeAssistant, core_agent: MockConfigEntry, server: ClaudeServer) -> None:
    """The offline planner reads the real result of Assist's own tool."""
    server.responder = OfflinePlanner()
    result = await say(hass, "Which lights are on?")
    assert result.response.speech["plain"]["speech"] == "On: Kitchen light."
    result = await say(hass, "Which lights are off?")
    assert result.response.speech["plain"]["speech"] == "No light is off."


async def test_error_event(hass: HomeAssistant, core_agent: MockConfigEntry, server: ClaudeServer) -> None:
    """Core tells the user what the server said in the middle of a stream."""
    fault = Fault("sse_error", after=4, error_type="overloaded_error", message="Too many questions")
    server.responder = Scenario([Turn([text("Let me see.")], fault=fault)])
    result = await say(hass, "Which lights are on?")
    assert result.response.response_type.value == "error"
    assert "Too many questions" in result.response.speech["plain"]["speech"]

"""Every scenario through our agent and through Home Assistant's own Anthropic integration: the same is seen and heard."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_mock_service

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, redacted_thinking, text, thinking, tool_use
from tests.conftest import AGENT, MODEL, expose
from tests.helpers.talking import change_agent, speech

CORE = "conversation.core"
LIVE_CONTEXT = "homeassistant__GetLiveContext"
TURN_ON = "intent__HassTurnOn"


@dataclass(frozen=True)
class Seen:
    """What a user sees of a conversation."""

    said: tuple[str, ...]
    failed: tuple[bool, ...]
    asks_back: tuple[bool, ...]
    actions: tuple[tuple[str, Any], ...]
    requests: int
    told: tuple[str, ...]
    """What the model was told in each request, by kinds of blocks."""


@pytest.fixture
async def actions(
    hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer, monkeypatch: pytest.MonkeyPatch
) -> list[ServiceCall]:
    """Set up both agents with Assist's tools and one lamp; return what is done to it."""
    assert await async_setup_component(hass, "intent", {})
    hass.states.async_set("light.lamp", "off", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    await change_agent(hass, entry, llm_hass_api=[llm.LLM_API_ASSIST], max_tokens=3_000)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", claude_server.url)
    core = MockConfigEntry(
        domain="anthropic",
        title="Core",
        data={"api_key": "test-key"},
        version=2,
        minor_version=4,
        subentries_data=[
            {
                "subentry_type": "conversation",
                "title": "Core",
                "unique_id": None,
                "data": {"llm_hass_api": [llm.LLM_API_ASSIST], "chat_model": MODEL, "recommended": False},
            }
        ],
    )
    core.add_to_hass(hass)
    assert await hass.config_entries.async_setup(core.entry_id)
    await hass.async_block_till_done()
    return async_mock_service(hass, "light", "turn_on")


async def see(
    hass: HomeAssistant,
    server: ClaudeServer,
    actions: list[ServiceCall],
    agent_id: str,
    messages: list[str],
    turns: list[Turn],
) -> Seen:
    """Have a conversation and return what is seen of it."""
    server.responder = Scenario(turns)
    actions.clear()
    first_request, results, conversation_id = len(server.message_requests), [], None
    for message in messages:
        result = await conversation.async_converse(
            hass, message, conversation_id, Context(), language="en", agent_id=agent_id
        )
        conversation_id = result.conversation_id
        results.append(result)
    requests = server.message_requests[first_request:]
    failed = tuple(result.response.error_code is not None for result in results)
    return Seen(
        said=tuple("" if fails else speech(result) for result, fails in zip(results, failed, strict=True)),
        failed=failed,
        asks_back=tuple(result.continue_conversation for result in results),
        actions=tuple((call.service, call.data["entity_id"]) for call in actions),
        requests=len(requests),
        told=tuple(_kinds(request["messages"]) for request in requests),
    )


def _kinds(messages: list[Any]) -> str:
    """Return who said what kinds of things; texts in a row, such as what ours tells with a message, are the same as one."""
    return " ".join(
        f"{message['role']}:"
        + (
            "text"
            if isinstance(message["content"], str)
            else ",".join(kind for kind, _ in groupby(block["type"] for block in message["content"]))
        )
        for message in messages
    )


LOOK = tool_use(LIVE_CONTEXT, {"domain": "light"})
ACT = tool_use(TURN_ON, {"name": "Lamp"})

SCENARIOS: dict[str, tuple[list[str], list[Turn]]] = {
    "an answer": (["Hello"], [Turn([text("Good evening.")])]),
    "a question back": (["Hello"], [Turn([text("What can I do?")])]),
    "a tool": (["Is it on?"], [Turn([text("I look."), LOOK]), Turn([text("No.")])]),
    "thinking": (
        ["Is it on?"],
        [Turn([thinking("Hm."), redacted_thinking(), text("I look."), LOOK]), Turn([text("No.")])],
    ),
    "an action": (["Turn it on"], [Turn([ACT]), Turn([text("Done.")])]),
    "several calls": (["Turn it on"], [Turn([LOOK, ACT, LOOK]), Turn([text("Done.")])]),
    "rounds": (["Turn it on"], [Turn([LOOK]), Turn([ACT]), Turn([LOOK]), Turn([text("Done.")])]),
    "a call that fails": (
        ["Turn it on"],
        [Turn([tool_use(TURN_ON, {"name": "Moon"})]), Turn([text("There is no moon.")])],
    ),
    "two turns": (
        ["Is it on?", "Then turn it on"],
        [Turn([LOOK]), Turn([text("No.")]), Turn([ACT]), Turn([text("Done.")])],
    ),
    "unknown events": (["Hello"], [Turn([text("Hi.")], fault=Fault("unknown_events"))]),
    "a pause": (["Hello"], [Turn([text("Wait.")], stop_reason="pause_turn"), Turn([text("Here.")])]),
    "a refusal": (["Hello"], [Turn([text("I")], stop_reason="refusal")]),
    "a refused key": (["Hello"], [Turn(fault=Fault("http", status=401))]),
    "a bad request": (["Hello"], [Turn(fault=Fault("http", status=400))]),
    "an error in mid-speech": (
        ["Hello"],
        [Turn([text("Let me see.")], fault=Fault("sse_error", after=4, error_type="overloaded_error"))],
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
async def test_same_outcome(
    hass: HomeAssistant, claude_server: ClaudeServer, actions: list[ServiceCall], name: str
) -> None:
    """What is said, done, asked back and told to the model is the same."""
    ours, core = [await see(hass, claude_server, actions, agent, *SCENARIOS[name]) for agent in (AGENT, CORE)]
    assert ours == core


BETTER: dict[str, tuple[list[str], list[Turn], str]] = {
    "overload that passes": (
        ["Hello"],
        [Turn(fault=Fault("sse_error", error_type="overloaded_error")), Turn([text("Hi.")])],
        "Hi.",
    ),
    "an answer that is too long": (["Tell"], [Turn([text("Once upon")], stop_reason="max_tokens")], "Once upon"),
    "a call that was cut off": (
        ["Turn it on"],
        [Turn([tool_use(TURN_ON, input_json='{"na')], stop_reason="max_tokens"), Turn([text("Again.")])],
        "Again.",
    ),
    "a call that is no JSON": (
        ["Turn it on"],
        [Turn([tool_use(TURN_ON, input_json="[1")]), Turn([text("Again.")])],
        "Again.",
    ),
    "a stop sequence": (["Tell"], [Turn([text("Stopped.")], stop_reason="stop_sequence")], "Stopped."),
}


@pytest.mark.parametrize("name", BETTER)
async def test_better_outcome(
    hass: HomeAssistant, claude_server: ClaudeServer, actions: list[ServiceCall], name: str
) -> None:
    """Where core gives up, our agent answers."""
    messages, turns, said = BETTER[name]
    ours, core = [await see(hass, claude_server, actions, agent, messages, turns) for agent in (AGENT, CORE)]
    assert ours.said[0].startswith(said)
    assert (ours.failed, core.failed) == ((False,), (True,))


async def test_silence(hass: HomeAssistant, claude_server: ClaudeServer, actions: list[ServiceCall]) -> None:
    """Where core says nothing, our agent asks the model once more."""
    turns = [Turn([text(" ")]), Turn([text("Hi.")])]
    ours, core = [await see(hass, claude_server, actions, agent, ["Hello"], turns) for agent in (AGENT, CORE)]
    assert (ours.said, ours.failed) == (("Hi.",), (False,))
    assert (core.said, core.failed) == ((" ",), (False,))

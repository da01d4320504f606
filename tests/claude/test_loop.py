"""Whole turns of the agent against a server that speaks the Messages API."""

import re

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_mock_service
from pytest_homeassistant_custom_component.typing import WebSocketGenerator
import voluptuous as vol

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import chat_session, llm
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, redacted_thinking, text, thinking, tool_use
from tests.conftest import AGENT, Converse, expose
from tests.helpers.talking import FindLog, assert_every_call_has_a_result, change_agent, roles, speech

pytestmark = pytest.mark.usefixtures("no_deprecations")

GET_ENTITIES = "extended_assist__get_entities"
USER_NAME = "extended_assist__get_user_name"


async def test_plain_answer(converse: Converse, claude_server: ClaudeServer) -> None:
    """A text is said; the request holds the prompt, the message and the tools of Assist and the toolbox."""
    result = await converse("Hello", Turn([text("Good evening.")]))
    assert speech(result) == "Good evening."
    (request,) = claude_server.message_requests
    (message,) = request["messages"]
    clock, words = (block["text"] for block in message["content"])
    assert re.fullmatch(r"\([A-Z][a-z]+day \d{4}-\d\d-\d\d \d\d:\d\d\)", clock)
    assert words == "Hello"
    assert request["model"] == "claude-haiku-5-5"
    assert "extended_assist" in request["system"]
    names = [tool["name"] for tool in request["tools"]]
    assert {GET_ENTITIES, "extended_assist__get_history"} < set(names)
    assert "llm__GetDateTime" not in names
    assert "tool_choice" not in request


async def test_tool_result_goes_back_to_the_model(
    hass: HomeAssistant, converse: Converse, claude_server: ClaudeServer
) -> None:
    """A tool is called with its arguments, and its result is the next thing the model reads."""
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    result = await converse(
        "Is the lamp on?", Turn([text("Let me look."), tool_use(GET_ENTITIES, {"name": "lamp"})]), Turn([text("Yes.")])
    )
    assert speech(result) == "Yes."
    last = claude_server.message_requests[-1]["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user"]
    assert [block["type"] for block in last[1]["content"]] == ["text", "tool_use"]
    (answer,) = last[2]["content"]
    assert answer["tool_use_id"] == last[1]["content"][1]["id"]
    assert "light.lamp,Lamp,,on," in answer["content"]
    assert "is_error" not in answer


async def test_parallel_calls(hass: HomeAssistant, converse: Converse, claude_server: ClaudeServer) -> None:
    """All calls of one message are answered in one message, in their order."""
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    calls = [tool_use(GET_ENTITIES, {"domain": domain}) for domain in ("light", "lock", "fan")]
    await converse("What is there?", Turn(calls), Turn([text("A lamp.")]))
    assistant, results = claude_server.message_requests[-1]["messages"][1:]
    assert [block["id"] for block in assistant["content"]] == [block["tool_use_id"] for block in results["content"]]
    assert ["light.lamp" in block["content"] for block in results["content"]] == [True, False, False]


async def test_assist_tool_acts(hass: HomeAssistant, converse: Converse) -> None:
    """An Assist tool switches a light, and the answer carries the intent's response."""
    assert await async_setup_component(hass, "intent", {})
    hass.states.async_set("light.lamp", "off", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    switched = async_mock_service(hass, "light", "turn_on")
    result = await converse(
        "Turn on the lamp", Turn([tool_use("intent__HassTurnOn", {"name": "Lamp"})]), Turn([text("Done.")])
    )
    assert [call.data["entity_id"] for call in switched] == [["light.lamp"]]
    assert speech(result) == "Done."
    assert [target.id for target in result.response.success_results] == ["light.lamp"]


async def test_thinking_is_kept_and_sent_back(converse: Converse, claude_server: ClaudeServer) -> None:
    """Thinking, its signature and redacted thinking go back exactly as they came; the server checks the signature."""
    first = Turn([thinking("Which lamp?"), redacted_thinking(), text("I look."), tool_use(GET_ENTITIES, {})])
    result = await converse("Is the lamp on?", first, Turn([text("No.")]))
    assert speech(result) == "No."
    blocks = claude_server.message_requests[-1]["messages"][1]["content"]
    assert [block["type"] for block in blocks] == ["thinking", "redacted_thinking", "text", "tool_use"]
    assert blocks[0]["thinking"] == "Which lamp?"
    assert blocks[0]["signature"]
    assert blocks[1]["data"]


async def test_second_turn_holds_the_first(converse: Converse, claude_server: ClaudeServer) -> None:
    """A conversation goes on where it was."""
    first = await converse("Hello", Turn([text("Good evening.")]))
    await converse("Who are you?", Turn([text("An agent.")]), conversation_id=first.conversation_id)
    assert [message["role"] for message in claude_server.message_requests[-1]["messages"]] == [
        "user",
        "assistant",
        "user",
    ]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "tool_use", "name": GET_ENTITIES, "input_json": '{"name": "la'}, "cut off"),
        ({"type": "tool_use", "name": GET_ENTITIES, "input_json": '["lamp"]'}, "not a JSON object"),
        ({"type": "tool_use", "name": "extended_assist__get_entity", "input": {}}, f"Nearest: {GET_ENTITIES}"),
        ({"type": "tool_use", "name": GET_ENTITIES, "input": {"nam": "lamp"}}, "wrong arguments"),
        ({"type": "tool_use", "name": GET_ENTITIES, "input": {"name": "lmap"}}, "not exposed"),
    ],
)
async def test_bad_call_teaches_and_the_turn_goes_on(
    converse: Converse, claude_server: ClaudeServer, chat_log: FindLog, block: dict[str, object], words: str
) -> None:
    """A call that cannot be made goes back as an error beside one that can, and the model answers in the end."""
    result = await converse(
        "?", Turn([block, tool_use(USER_NAME)], invents="Nearest" in words), Turn([text("Sorted.")])
    )
    assert speech(result) == "Sorted."
    results = claude_server.message_requests[-1]["messages"][-1]["content"]
    assert [item.get("is_error", False) for item in results] == [True, False]
    assert words in results[0]["content"]
    assert_every_call_has_a_result(chat_log(result.conversation_id))


class FailingTool(llm.Tool):
    """A tool of another integration that raises whatever it is given."""

    name = "failing"
    description = "Fails."
    integration = "test"
    parameters = vol.Schema({})

    def __init__(self, error: Exception) -> None:
        """Take the error."""
        self._error = error

    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Raise."""
        raise self._error


class FailingAPI(llm.API):
    """An API of another integration."""

    def __init__(self, hass: HomeAssistant, error: Exception) -> None:
        """Take the error that its tool raises."""
        super().__init__(hass=hass, id="failing", name="Failing")
        self._error = error

    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return an instance with one tool."""
        return llm.APIInstance(self, "Prompt.", llm_context, [FailingTool(self._error)])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (HomeAssistantError("The valve is stuck"), "The valve is stuck"),
        (vol.Invalid("expected a number"), "expected a number"),
        (KeyError("private detail"), "failed unexpectedly"),
    ],
)
async def test_failing_tool_of_another_integration(
    hass: HomeAssistant,
    converse: Converse,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    error: Exception,
    words: str,
) -> None:
    """Whatever a tool of any API raises becomes a result; unexpected errors are logged and not told."""
    llm.async_register_api(hass, FailingAPI(hass, error))
    await change_agent(hass, entry, llm_hass_api=["failing"])
    result = await converse("Go", Turn([tool_use("failing", {})]), Turn([text("It failed.")]))
    assert speech(result) == "It failed."
    (answer,) = claude_server.message_requests[-1]["messages"][-1]["content"]
    assert answer["is_error"]
    assert words in answer["content"]
    assert "private detail" not in answer["content"]


async def test_round_limit_ends_with_an_answer(
    hass: HomeAssistant, converse: Converse, entry: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """After the last round one request is made in which no tool may be called."""
    await change_agent(hass, entry, max_tool_rounds=2)
    call = Turn([tool_use(USER_NAME)])
    result = await converse("Loop", call, call, Turn([text("Enough.")]))
    assert speech(result) == "Enough."
    assert [request.get("tool_choice") for request in claude_server.message_requests] == [None, None, {"type": "none"}]


async def test_round_limit_with_a_server_that_calls_on(
    hass: HomeAssistant, converse: Converse, entry: MockConfigEntry, chat_log: FindLog
) -> None:
    """A server that calls tools although it may not gets no further round, and the user a sentence."""
    await change_agent(hass, entry, max_tool_rounds=2)
    result = await converse("Loop", *[Turn([tool_use(USER_NAME)])] * 3)
    assert "within 2 rounds" in speech(result)
    assert_every_call_has_a_result(chat_log(result.conversation_id))


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        (
            [Turn([text("Half of it")], stop_reason="max_tokens")],
            "Half of it … (The answer was cut off at the length limit.)",
        ),
        ([Turn([thinking("Hm.")], stop_reason="max_tokens")], "The model used up its 4096 tokens"),
        ([Turn([], stop_reason="refusal")], "The language model declined"),
        ([Turn([text("I ca")], stop_reason="refusal")], "The language model declined"),
        ([Turn([], stop_reason="model_context_window_exceeded")], "This conversation has become too long"),
        ([Turn([text("Wait.")], stop_reason="pause_turn"), Turn([text("Done.")])], "Done."),
        ([Turn([text("Stopped.")], stop_reason="stop_sequence")], "Stopped."),
        ([Turn([text("Odd.")], stop_reason="something_new")], "Odd."),
        ([Turn([], stop_reason="end_turn")], ""),
        (
            [
                Turn([{"type": "tool_use", "name": GET_ENTITIES, "input_json": '{"na'}], stop_reason="max_tokens"),
                Turn([text("Shorter.")]),
            ],
            "Shorter.",
        ),
    ],
)
async def test_stop_reasons(
    converse: Converse, claude_server: ClaudeServer, chat_log: FindLog, turns: list[Turn], said: str
) -> None:
    """Every stop reason ends in something to say, a valid log and a next turn that works."""
    result = await converse("Tell me", *turns)
    assert speech(result).startswith(said)
    assert_every_call_has_a_result(chat_log(result.conversation_id))
    assert roles(chat_log(result.conversation_id))[-1] == "assistant"
    again = await converse("And now?", Turn([text("Fine.")]), conversation_id=result.conversation_id)
    assert speech(again) == "Fine."


async def test_unknown_events_are_passed_over(converse: Converse) -> None:
    """Pings and kinds of events, deltas and blocks that do not exist yet change nothing."""
    result = await converse("Hello", Turn([text("Good evening.")], fault=Fault("unknown_events")))
    assert speech(result) == "Good evening."


async def test_sentences_are_translated_and_logs_hold_no_words(
    hass: HomeAssistant, converse: Converse, caplog: pytest.LogCaptureFixture
) -> None:
    """A failed turn is logged once, by its cause, without what was said."""
    fault = Fault("http", status=400, message="the user said: my secret wish")
    await converse("my secret wish", Turn(fault=fault))
    warnings = [record for record in caplog.records if record.levelname in ("WARNING", "ERROR", "INFO")]
    assert any("could not answer: invalid_request" in record.message for record in warnings)
    assert not any("secret wish" in record.getMessage() for record in warnings if "extended_assist" in record.name)


async def test_missing_api(hass: HomeAssistant, converse: Converse, entry: MockConfigEntry) -> None:
    """An agent whose tools are gone says what to do."""
    await change_agent(hass, entry, llm_hass_api=["gone"])
    assert "no longer exist" in speech(await converse("Hello", Turn([text("Hi.")])))


async def test_prompt_with_a_mistake(hass: HomeAssistant, converse: Converse, entry: MockConfigEntry) -> None:
    """Instructions that cannot be rendered are answered with Home Assistant's own words, and nothing is sent."""
    await change_agent(hass, entry, prompt="{{ 1 / 0 }}")
    result = await converse("Hello")
    assert result.response.error_code is not None
    assert "problem with my template" in speech(result)


async def test_any_language(hass: HomeAssistant, entry: MockConfigEntry, hass_ws_client: WebSocketGenerator) -> None:
    """The agent is offered to assistants of every language."""
    client = await hass_ws_client(hass)
    await client.send_json_auto_id({"type": "conversation/agent/list", "language": "ko"})
    agents = {agent["id"]: agent for agent in (await client.receive_json())["result"]["agents"]}
    assert agents[AGENT]["supported_languages"] == "*"


async def test_deltas_are_streamed(hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer) -> None:
    """Text reaches a listener in pieces, in order, before the turn is over."""
    claude_server.responder = Scenario([Turn([text("One two three four five.")], chunk=5)])
    pieces: list[str] = []
    with (
        chat_session.async_get_chat_session(hass) as session,
        conversation.async_get_chat_log(
            hass, session, chat_log_delta_listener=lambda _, delta: pieces.append(delta.get("content") or "")
        ),
    ):
        await conversation.async_converse(
            hass, "Count", session.conversation_id, Context(), language="en", agent_id=AGENT
        )
    assert len([piece for piece in pieces if piece]) == 5
    assert "".join(pieces) == "One two three four five."

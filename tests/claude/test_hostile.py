"""What others put into a conversation: servers, tools and other agents."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import voluptuous as vol

from custom_components.extended_assist.claude.tool_keys import exchanged
from custom_components.extended_assist.const import DOMAIN
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session, issue_registry as ir, llm
from homeassistant.helpers.json import json_bytes
from tests.claude.test_append_only import GET_ENTITIES, Talk, answer
from tests.claude.test_stream import BEGIN, END, SAID, block, take
from tests.claude_server import ClaudeServer, Fault, Turn, text, thinking, tool_use
from tests.conftest import Converse
from tests.helpers.talking import FindLog, assert_every_call_has_a_result, change_agent, speech

pytestmark = pytest.mark.usefixtures("no_deprecations")


@pytest.fixture
def talk(converse: Converse, claude_server: ClaudeServer) -> Talk:
    """Return a conversation."""
    return Talk(converse, claude_server)


DEEP = '{"area": ' + "[" * 400 + "]" * 400 + "}"
VERY_DEEP = '{"area": ' + "[" * 200_000 + "]" * 200_000 + "}"


@pytest.mark.parametrize(
    "arguments",
    [
        DEEP,
        VERY_DEEP,
        '{"area": "\\ud800"}',
        '{"area": 123456789012345678901234567890}',
        '{"area": NaN}',
        '{"\\ud800": 1}',
    ],
)
async def test_arguments(talk: Talk, arguments: str) -> None:
    """Arguments that JSON can hold and no request are answered, and the conversation goes on."""
    assert (
        await talk.say("Look", Turn([tool_use(GET_ENTITIES, input_json=arguments)], chunk=100_000), answer("Seen."))
        == "Seen."
    )
    assert await talk.say("And now?", answer("Fine.")) == "Fine."


@pytest.mark.parametrize("usage", [{"input_tokens": "12"}, {"input_tokens": [1]}, {"output_tokens": {}}])
async def test_usage(talk: Talk, usage: Any) -> None:
    """Counts that are no numbers count nothing."""
    assert await talk.say("Look", Turn([text("Hi.")], usage=usage)) == "Hi."
    assert await talk.say("And now?", answer("Fine.")) == "Fine."


@pytest.mark.parametrize(
    "events",
    [
        [*BEGIN, *block(0, {"type": "thinking", "thinking": "x", "signature": 5}), *SAID, *END],
        [
            *BEGIN,
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "x", "name": ["a"], "input": {}},
            },
        ],
        [*BEGIN, *SAID, {"type": "message_delta", "delta": {"stop_reason": ["x"]}}, {"type": "message_stop"}],
        [{"type": "message_start", "message": {"usage": {"input_tokens": "9"}}}, *SAID, *END],
        [
            *BEGIN,
            *block(0, {"type": "text", "text": ""}, *({"type": "text_delta", "text": half} for half in "\ud83d\ude00")),
            *END,
        ],
        [
            *BEGIN,
            *block(0, {"type": "server_tool_use", "id": "x", "name": "web_search", "input": {"query": "\ud83d"}}),
            *END,
        ],
    ],
)
async def test_events(events: Any) -> None:
    """Whatever the events hold, what is kept of them can be sent again."""
    _, deltas = await take(*events)
    json_bytes([delta["native"].blocks for delta in deltas if "native" in delta])


class Odd(llm.Tool):
    """A tool of another integration."""

    name = "odd"
    description: Any = "Odd."
    integration = "test"
    parameters = vol.Schema({})
    data: Any = None

    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Return what the test wants."""
        return llm.ToolResult(data=self.data)


class OddAPI(llm.API):
    """An API of another integration."""

    def __init__(self, hass: HomeAssistant, *tools: llm.Tool) -> None:
        """Take its tools."""
        super().__init__(hass=hass, id="odd", name="Odd")
        self.tools = tools
        self.prompt = "Prompt."

    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return its tools."""
        return llm.APIInstance(self, self.prompt, llm_context, list(self.tools))


@pytest.mark.parametrize(
    "data", [{"a": "\ud800"}, {"a": 2**70}, {"a": object()}, {"a": float("nan")}, {"a": b"x"}, None, {1: 2}]
)
async def test_results(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk, data: Any) -> None:
    """A result that cannot be written costs itself only."""
    tool = Odd()
    tool.data = data
    llm.async_register_api(hass, OddAPI(hass, tool))
    await change_agent(hass, entry, llm_hass_api=["odd"])
    assert await talk.say("Look", Turn([tool_use("odd", {})]), answer("Seen.")) == "Seen."
    assert await talk.say("And now?", answer("Fine.")) == "Fine."


@pytest.mark.parametrize("description", [5, "\ud800", ["x"]])
async def test_descriptions(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk, description: Any) -> None:
    """A tool whose description is no text costs itself only."""
    tool = Odd()
    tool.description = description
    llm.async_register_api(hass, OddAPI(hass, tool))
    await change_agent(hass, entry, llm_hass_api=["odd"])
    assert await talk.say("Look", answer("Seen.")) == "Seen."
    assert talk.refusals == []


async def test_duplicates(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """Of two tools with one name, that is described which is called."""
    one, two = Odd(), Odd()
    one.parameters, two.parameters = vol.Schema({vol.Required("Größe"): int}), vol.Schema({vol.Required("b"): int})
    one.data, two.data = {"is": "one"}, {"is": "two"}
    llm.async_register_api(hass, OddAPI(hass, one, two))
    await change_agent(hass, entry, llm_hass_api=["odd"])
    await talk.say("Look", Turn([tool_use("odd", {"grosse": 1})]), answer("Seen."))
    (tool,) = talk.requests[0]["tools"]
    assert list(tool["input_schema"]["properties"]) == ["grosse"]
    assert "one" in str(talk.requests[-1]["messages"])


@pytest.mark.parametrize("ids", [("call:0.1", "call:0.2"), ("call_0", "call_0"), ("", "")])
async def test_calls_of_another_agent(hass: HomeAssistant, talk: Talk, ids: tuple[str, ...]) -> None:
    """Calls of another agent get ids and names that the service takes."""
    await talk.say("Hello", answer("Hi."))
    assert talk.id
    for call_id in ids:
        with (
            chat_session.async_get_chat_session(hass, talk.id) as session,
            conversation.async_get_chat_log(hass, session) as log,
        ):
            log.async_add_user_content(conversation.UserContent(content="Other"))
            log.async_add_assistant_content_without_tools(
                conversation.AssistantContent(
                    agent_id="conversation.other",
                    content="",
                    tool_calls=[llm.ToolInput(id=call_id, tool_name="functions.turn on", tool_args={}, external=True)],
                )
            )
            log.async_add_assistant_content_without_tools(
                conversation.ToolResultContent(
                    agent_id="conversation.other",
                    tool_call_id=call_id,
                    tool_name="x",
                    result=llm.ToolResult(data={"done": call_id}),
                )
            )
            log.async_add_assistant_content_without_tools(
                conversation.AssistantContent(agent_id="conversation.other", content="Done.")
            )
    assert await talk.say("And now?", answer("Fine.")) == "Fine."
    assert talk.refusals == []


async def test_change_told_in_a_refused_turn(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """What changed is told anew where the message that told it is taken out."""
    hass.states.async_set("sensor.mood", "bright")
    await change_agent(hass, entry, prompt="Be kind.\nYour mood is {{ states('sensor.mood') }}.")
    await talk.say("Hello", answer("Hi."))
    hass.states.async_set("sensor.mood", "grumpy")
    await talk.say("Something bad", Turn([text("I ca")], stop_reason="refusal"))
    await talk.say("Something good", answer("Yes."))
    assert "grumpy" in str(talk.requests[-1])
    await talk.say("Thanks", answer("Welcome."))
    assert "grumpy" in str(talk.requests[-1])
    assert talk.refusals == []


async def test_change_told_in_a_dropped_turn(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """What changed stays told where the message that told it is left out for space."""
    hass.states.async_set("sensor.mood", "bright")
    await change_agent(
        hass, entry, llm_hass_api=[], context_tokens=8_000, prompt="Be kind.\nYour mood is {{ states('sensor.mood') }}."
    )
    await talk.say("Hello", answer("Hi."))
    hass.states.async_set("sensor.mood", "grumpy")
    for index in range(12):
        await talk.say(f"Tell {index} " + "x" * 5000, answer(f"Yes {index}."))
        assert "grumpy" in str(talk.requests[-1]), index
    assert "left out to save" in str(talk.requests[-1])
    assert talk.refusals == []


async def test_lines_that_change_places(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """Where the same lines say something else in another order, the instructions are sent as they are now."""
    api = OddAPI(hass, Odd())
    api.prompt = "- names: A\n  areas: Kitchen\n- names: B\n  areas: Attic"
    llm.async_register_api(hass, api)
    await change_agent(hass, entry, llm_hass_api=["odd"])
    await talk.say("Hello", answer("Hi."))
    api.prompt = "- names: A\n  areas: Attic\n- names: B\n  areas: Kitchen"
    await talk.say("Hello", answer("Hi."))
    sent = str(talk.requests[-1])
    assert sent.rindex("Attic") < sent.rindex("Kitchen")


async def test_pause_after_thinking_only(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """Words of ours are never put into the mouth of a model that paused."""
    await change_agent(hass, entry, web_search=True)
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    await talk.say(
        "News?",
        Turn([thinking("Hm.")]),
        Turn([text("Let me see."), call], stop_reason="pause_turn"),
        Turn([text("None.")]),
    )
    for request in talk.requests:
        for message in request["messages"]:
            if message["role"] == "assistant":
                assert "You have said nothing" not in str(message)
    assert talk.refusals == []


async def test_notice_keeps_all(hass: HomeAssistant, entry: MockConfigEntry, talk: Talk) -> None:
    """A tool that the server refuses joins those in the notice."""
    bad, good, other = Odd(), Odd(), Odd()
    bad.name, good.name = "not a name", "good"
    llm.async_register_api(hass, OddAPI(hass, bad, good, other))
    await change_agent(hass, entry, llm_hass_api=["odd"])
    refused = Turn(fault=Fault("http", status=400, message="tools.0.custom.input_schema: too odd"))
    await talk.say("Hello", refused, answer("Hi."))
    issue = ir.async_get(hass).async_get_issue(DOMAIN, f"agent_tools_left_out_{next(iter(entry.subentries))}")
    assert issue is not None
    assert "`good`" in issue.translation_placeholders["tools"]
    assert "`not a name`" in issue.translation_placeholders["tools"]


def test_required_elsewhere() -> None:
    """What is required is renamed also where the parameters stand in another part."""
    schema = {
        "type": "object",
        "properties": {
            "x": {
                "type": "object",
                "properties": {"a b": {}, "c": {}},
                "anyOf": [{"required": ["a b"]}, {"required": ["c"]}],
            }
        },
    }
    sent, _ = exchanged(schema)
    assert sent["properties"]["x"]["anyOf"][0] == {"required": ["a_b"]}


@pytest.mark.parametrize("turn", [Turn([]), Turn([thinking("Hm.")], stop_reason="tool_use"), Turn([text("  ")])])
async def test_nothing_said(talk: Talk, turn: Turn) -> None:
    """An answer without words is asked for once more, and ends in a sentence."""
    assert "said nothing" in await talk.say("Hello", turn, turn)
    assert await talk.say("Hello", turn, answer("Hi.")) == "Hi."
    assert await talk.say("And now?", answer("Fine.")) == "Fine."
    assert talk.refusals == []


async def test_effort_that_is_never_taken(talk: Talk) -> None:
    """A model that refuses a field answers each turn, also once there is thinking in the conversation."""
    bad = Turn(fault=Fault("http", status=400, message="output_config.effort: low is not supported by this model"))
    assert await talk.say("Hello", bad, answer("Hi.")) == "Hi."
    for _ in range(2):
        assert await talk.say("Hello", answer("Hi.")) == "Hi."
        assert "effort" not in talk.requests[-1].get("output_config", {})
    assert talk.refusals == []


class Nested(Odd):
    """A tool that has a conversation of its own in the one that it is called in."""

    name = "nested"
    talk: Talk

    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Ask the same agent."""
        inner = await conversation.async_converse(
            hass, "Inner", self.talk.id, Context(), language="en", agent_id="conversation.claude"
        )
        return llm.ToolResult(data={"said": speech(inner)})


async def test_a_conversation_inside_a_tool(
    hass: HomeAssistant, entry: MockConfigEntry, talk: Talk, chat_log: FindLog
) -> None:
    """It ends with words of the model, which the turn around it goes on after."""
    tool = Nested()
    tool.talk = talk
    llm.async_register_api(hass, OddAPI(hass, tool))
    await change_agent(hass, entry, llm_hass_api=["odd"])
    await talk.say("Hello", answer("Hi."))
    call = Turn([thinking("I ask."), tool_use("nested", {})])
    assert await talk.say("Outer", call, answer("Inside."), answer("Outside.")) == "Outside."
    assert await talk.say("And now?", answer("Fine.")) == "Fine."
    assert talk.refusals == []
    assert talk.id
    assert_every_call_has_a_result(chat_log(talk.id))

"""Long conversations: what is left out of a request, when, and that nothing else is."""

from collections.abc import Iterator
import dataclasses
import json
from typing import Any

from hypothesis import given, settings, strategies as st
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.claude.context import (
    _CLEARED_SIZE,
    TOKENS_PER_CHARACTER,
    WORDS_MARK,
    fit,
    size_of,
)
from custom_components.extended_assist.claude.request import to_messages
from custom_components.extended_assist.claude.response_blocks import ResponseBlocks
from homeassistant.components.conversation import AssistantContent, Content, ToolResultContent, UserContent
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from tests.claude_server import ClaudeServer, Fault, Turn, text, tool_use
from tests.claude_server.checks import check_request
from tests.claude_server.models import default_models
from tests.claude_server.stream import Issuer, tokens
from tests.conftest import MODEL, Converse, expose
from tests.helpers.talking import FindLog, assert_every_call_has_a_result, change_agent, roles, speech

OURS = "conversation.claude"
OVERHEAD = 1_000
LIMIT = 2_000


def conversation_of(rounds: list[tuple[int, list[int]]]) -> Iterator[Content]:
    """Yield a conversation: for each turn, the length of what is said and of each round's result."""
    for turn, (said, results) in enumerate(rounds):
        yield UserContent(content="u" * said)
        for number, size in enumerate(results):
            call = llm.ToolInput("get_it", {}, id=f"toolu_{turn}_{number}")
            yield AssistantContent(agent_id=OURS, tool_calls=[call])
            yield ToolResultContent(
                agent_id=OURS, tool_call_id=call.id, tool_name="get_it", result=llm.ToolResult({"r": "r" * size})
            )
        yield AssistantContent(agent_id=OURS, content="a" * said)


_rounds = st.lists(st.tuples(st.integers(1, 300), st.lists(st.integers(0, 3_000), max_size=3)), min_size=1, max_size=30)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(_rounds)
def test_any_conversation_fits_and_is_valid(rounds: list[tuple[int, list[int]]]) -> None:
    """Beyond the current turn's question and its newest results, nothing keeps a request above its limit."""
    content = [*conversation_of(rounds), UserContent(content="And now?")]
    fitted = fit(content, OVERHEAD, LIMIT, {})
    assert fitted.tokens <= LIMIT
    assert fitted.content[-1] is content[-1]
    check_request(
        {"model": MODEL, "max_tokens": 9, "messages": to_messages(fitted.content, OURS, MODEL)},
        default_models(),
        Issuer(),
    )


@settings(max_examples=100, deadline=None, derandomize=True)
@given(_rounds)
def test_what_was_sent_is_sent_again(rounds: list[tuple[int, list[int]]]) -> None:
    """The beginning of a request changes only when the limit is reached, and then there is room for as much again."""
    content = list(conversation_of(rounds))
    previous: Any = []
    changes = 0
    for end in (index for index, item in enumerate(content) if isinstance(item, AssistantContent)):
        messages = to_messages(fit(content[:end], OVERHEAD, LIMIT, {}).content, OURS, MODEL)
        # The last message may have had results added to it, as in every conversation.
        if messages[: len(previous) - 1] != previous[:-1]:
            changes += 1
        previous = messages
    whole = sum(len(json.dumps(message)) for message in to_messages(content, OURS, MODEL)) * TOKENS_PER_CHARACTER
    assert changes <= 1 + whole / (LIMIT * (1 - WORDS_MARK))


def test_results_go_before_words() -> None:
    """Older results are cleared first, oldest first; what was said stays while that is enough."""
    content = [*conversation_of([(10, [1_500])] * 6), UserContent(content="And now?")]
    left = fit(content, OVERHEAD, LIMIT, {}).content
    assert [item.role for item in left] == [item.role for item in content]
    cleared = ["cleared" in item.result.data for item in left if isinstance(item, ToolResultContent)]
    assert cleared == sorted(cleared, reverse=True)
    assert 0 < cleared.count(True) < 6


def test_small_results_stay() -> None:
    """A result that is no longer than the notice in its place is left as it is."""
    content = [*conversation_of([(10, [5, 4_000])] * 4), UserContent(content="And now?")]
    results = [item.result for item in fit(content, OVERHEAD, LIMIT, {}).content if isinstance(item, ToolResultContent)]
    assert all(result.data == {"r": "rrrrr"} for result in results[::2])


def test_words_go_when_results_are_gone() -> None:
    """Turns are dropped whole, oldest first, and the model is told."""
    content = [*conversation_of([(800, [])] * 20), UserContent(content="And now?")]
    left = fit(content, OVERHEAD, LIMIT, {}).content
    assert isinstance(left[0], UserContent)
    assert "left out" in left[0].content
    assert left[1:] == content[-len(left) + 1 :]
    assert isinstance(left[1], UserContent)


def test_the_newest_results_are_read() -> None:
    """Whatever the size, the model gets the results that it has not seen."""
    content = list(conversation_of([(10, [9_000])]))[:-1]
    assert fit(content, OVERHEAD, LIMIT, {}).content == content


def test_the_servers_count_counts() -> None:
    """A language with more tokens to a character than assumed is noticed, and so is one with fewer."""
    content = list(conversation_of([(300, [])] * 4))
    size = OVERHEAD + sum(300 * 2 for _ in range(3)) + 300
    for ratio in (0.2, 1.5):
        said = AssistantContent(
            agent_id=OURS,
            content="a" * 300,
            native=ResponseBlocks(MODEL, [{"type": "text", "text": "a" * 300}], int(size * ratio)),
        )
        counted = [*content[:-1], said, UserContent(content="?")]
        assert (len(fit(counted, OVERHEAD, LIMIT, {}).content) < len(counted)) is (ratio > 1)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(_rounds, st.lists(st.integers(0, 1_900), min_size=1, max_size=8))
def test_far_below_the_limit(rounds: list[tuple[int, list[int]]], counts: list[int]) -> None:
    """Where nothing could have had to go, the estimate is what going through everything comes to."""
    content = list(conversation_of(rounds))
    for index, item in enumerate(content):
        if isinstance(item, AssistantContent) and item.content:
            blocks = [{"type": "text", "text": item.content}]
            native = ResponseBlocks(MODEL, blocks, counts[index % len(counts)])
            content[index] = dataclasses.replace(item, native=native)
    whole = OVERHEAD + sum(map(size_of, content))
    quick, through = (fit(content, OVERHEAD, limit, {}) for limit in (2 * whole, 2 * whole - 1))
    assert (quick.content, quick.tokens) == (through.content, through.tokens) == (content, quick.tokens)


class Model:
    """A model that calls a tool for each question and then answers, and refuses what is beyond its window."""

    def __init__(self, window: int) -> None:
        """Take how many tokens it can read."""
        self.window = window
        self.refused = 0
        self.changed = 0
        self._previous: list[Any] = []

    async def respond(self, body: dict[str, Any]) -> Turn:
        """Answer a request."""
        if tokens([body.get("system"), body.get("tools"), body["messages"]]) > self.window:
            self.refused += 1
            return Turn(fault=Fault("http", status=400, message="prompt is too long: 9 tokens > 8 maximum"))
        messages = body["messages"]
        self.changed += messages[: len(self._previous) - 1] != self._previous[:-1]
        self._previous = messages
        if messages[-1]["content"][0]["type"] == "tool_result":
            return Turn([text("That was it.")])
        return Turn([tool_use("extended_assist__get_entities", {})])


@pytest.mark.usefixtures("quiet")
async def test_300_turns(
    hass: HomeAssistant,
    converse: Converse,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    chat_log: FindLog,
) -> None:
    """A day-long conversation with large results never becomes too long, and its log stays whole."""
    for index in range(100):
        hass.states.async_set(f"light.lamp_{index}", "on", {"friendly_name": f"Lamp in room number {index}"})
        expose(hass, f"light.lamp_{index}")
    window = 30_000
    await change_agent(hass, entry, plain=True, context_tokens=window)
    claude_server.responder = model = Model(window)
    conversation_id = None
    for number in range(300):
        result = await converse(f"Question {number}", conversation_id=conversation_id)
        conversation_id = result.conversation_id
        assert speech(result) == "That was it."
    log = chat_log(conversation_id)
    assert roles(log) == ["user", "assistant", "tool_result", "assistant"] * 300
    assert all(len(json.dumps(c.result.data)) > _CLEARED_SIZE for c in log.content if c.role == "tool_result")
    assert_every_call_has_a_result(log)
    assert model.refused == 0
    # About every tenth turn the limit is reached; in all others, the request begins as the one before.
    assert 10 < model.changed < 60


async def test_smaller_window_than_anybody_said(
    hass: HomeAssistant, converse: Converse, entry: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """A server that refuses a conversation as too long gets a shorter one, which is remembered."""
    claude_server.responder = model = Model(12_000)
    await change_agent(hass, entry, plain=True)
    conversation_id = None
    for number in range(12):
        result = await converse(f"{number} " + "word " * 1_000, conversation_id=conversation_id)
        conversation_id = result.conversation_id
        assert speech(result) == "That was it."
    assert 0 < model.refused <= 2


async def test_window_exceeded_in_the_middle(converse: Converse, claude_server: ClaudeServer) -> None:
    """What was said before the window was full is kept, with the notice that it was cut."""
    turn = Turn([text("Half of it")], stop_reason="model_context_window_exceeded")
    assert speech(await converse("Tell me", turn)).startswith("Half of it … (The answer was cut off")


async def test_server_edits_where_it_can(
    hass: HomeAssistant, converse: Converse, entry: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """A model with context editing is asked to clear older results; one without, or in plain mode, is not."""
    await converse("Hello", Turn([text("Hi.")]))
    request = claude_server.requests[-1]
    assert request.headers["anthropic-beta"] == "context-management-2025-06-27"
    (edit,) = request.body["context_management"]["edits"]
    assert edit["type"] == "clear_tool_uses_20250919"
    await change_agent(hass, entry, plain=True)
    await converse("Hello", Turn([text("Hi.")]))
    request = claude_server.requests[-1]
    assert "anthropic-beta" not in request.headers
    assert "context_management" not in request.body

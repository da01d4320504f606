"""The tool loop: ask the model, let the chat log call the tools, until there is an answer."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, cast

import anthropic
from anthropic.types import RawMessageStreamEvent

from homeassistant.components import conversation
from homeassistant.const import CONF_MODEL

from ..const import CONF_MAX_TOKENS, CONF_MAX_TOOL_ROUNDS
from ..tools.base import guarded
from .failures import TurnError, key_of
from .patience import Patience
from .request import to_messages, to_tools
from .stream import ResponseStream

DEFAULT_MAX_TOKENS = 4_096
DEFAULT_MAX_TOOL_ROUNDS = 10
RESPONSE_TIMEOUT = 180.0
"""Seconds for one response, however lively: enough for the default length from a slow server, and an end to any other."""

# https://platform.claude.com/docs/en/api/handling-stop-reasons
_FAILED_STOP_REASONS = {"refusal": "refused", "model_context_window_exceeded": "too_long"}


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What an agent's subentry says about its requests."""

    model: str
    max_tokens: int
    max_tool_rounds: int

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Read the data of a subentry."""
        return cls(
            model=data[CONF_MODEL],
            max_tokens=int(data.get(CONF_MAX_TOKENS, DEFAULT_MAX_TOKENS)),
            max_tool_rounds=int(data.get(CONF_MAX_TOOL_ROUNDS, DEFAULT_MAX_TOOL_ROUNDS)),
        )


@dataclass(slots=True)
class Turn:
    """What the requests of one turn share."""

    client: anthropic.AsyncAnthropic
    chat_log: conversation.ChatLog
    agent_id: str
    options: AgentOptions
    cut_notice: Callable[[], Awaitable[str]]
    """Gives the words to add to an answer that reached the token limit."""
    note: Callable[[str | None], None]
    """Is told how each request ended: with an answer, or with the key of a cause."""
    patience: Patience = field(default_factory=Patience)


async def async_answer(turn: Turn) -> None:
    """Add the answer to the last message to the chat log, calling tools on the way.

    Raises TurnError when there is no answer; the chat log is valid even then.
    """
    chat_log, options = turn.chat_log, turn.options
    if chat_log.llm_api is not None:
        chat_log.llm_api = guarded(chat_log.llm_api)
    tools = to_tools(chat_log.llm_api)
    system = chat_log.content[0]
    request: dict[str, Any] = {
        "model": options.model,
        "max_tokens": options.max_tokens,
        "system": (isinstance(system, conversation.SystemContent) and system.content) or anthropic.omit,
        "tools": tools or anthropic.omit,
    }
    for round_number in range(options.max_tool_rounds + 1):
        if tools and round_number == options.max_tool_rounds:
            # The tools stay in the request, because the calls so far refer to them, but none may be called.
            request["tool_choice"] = {"type": "none"}
        response = await _async_respond(turn, request)
        if response.stop_reason in _FAILED_STOP_REASONS:
            raise TurnError(_FAILED_STOP_REASONS[response.stop_reason])
        if chat_log.unresponded_tool_results or response.stop_reason == "pause_turn":
            continue
        if response.stop_reason == "max_tokens" and not response.has_text:
            raise TurnError("answer_too_long", max_tokens=str(options.max_tokens))
        break
    else:
        raise TurnError("too_many_rounds", max_tool_rounds=str(options.max_tool_rounds))
    if not isinstance(chat_log.content[-1], conversation.AssistantContent):
        # The model chose to say nothing; the log still needs an end to this turn.
        chat_log.async_add_assistant_content_without_tools(
            conversation.AssistantContent(agent_id=turn.agent_id, content="")
        )


async def _async_respond(turn: Turn, request: dict[str, Any]) -> ResponseStream:
    """Return a whole response; what fails before anybody heard of it is tried anew while it is worth it."""
    while True:
        response = await _async_request(turn, request)
        if (error := response.error) is None:
            turn.note(None)
            return response
        key = key_of(error)
        pause = None if response.shown else turn.patience.pause(key, error)
        if pause is None:
            turn.note(key)
            raise TurnError(key) from error
        await asyncio.sleep(pause)


async def _async_request(turn: Turn, request: dict[str, Any]) -> ResponseStream:
    """Send one request and stream its response into the chat log, tool results included."""
    create = cast("Callable[..., Awaitable[anthropic.AsyncStream[RawMessageStreamEvent]]]", turn.client.messages.create)
    tools = request["tools"] or ()
    response = ResponseStream(
        model=request["model"],
        tool_names=[tool["name"] for tool in tools],
        cut_notice=turn.cut_notice,
        time_limit=RESPONSE_TIMEOUT,
    )
    messages = to_messages(turn.chat_log.content[1:], turn.agent_id, request["model"])
    try:
        events = await create(**request, messages=messages, stream=True)
    except anthropic.AnthropicError as err:
        response.error = err
        return response
    async with events:
        async for _ in turn.chat_log.async_add_delta_content_stream(turn.agent_id, response.deltas(events)):
            pass
    turn.chat_log.async_trace({"usage": response.usage, "stop_reason": response.stop_reason})
    return response

"""The tool loop: ask the model, let the chat log call the tools, until there is an answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

import anthropic
from anthropic.types import ModelInfo, RawMessageStreamEvent

from homeassistant.components import conversation
from homeassistant.const import CONF_MODEL

from ..const import CONF_MAX_TOKENS, CONF_MAX_TOOL_ROUNDS, CONF_PROMPT_CACHE, CONF_TOOL_SEARCH
from ..tools.base import guarded
from .caching import PromptCache, with_marks
from .failures import TurnError, key_of
from .request import to_messages, to_tools
from .stream import ResponseStream
from .tool_search import supports_tool_search, with_search, without_stale_searches
from .usage import Meter, trace_of

DEFAULT_MAX_TOKENS = 4_096
DEFAULT_MAX_TOOL_ROUNDS = 10

# https://platform.claude.com/docs/en/api/handling-stop-reasons
_FAILED_STOP_REASONS = {"refusal": "refused", "model_context_window_exceeded": "too_long"}


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What an agent's subentry says about its requests."""

    model: str
    max_tokens: int
    max_tool_rounds: int
    cache: PromptCache
    tool_search: bool
    """Whether tools that are seldom needed are searched for."""

    @classmethod
    def of(
        cls, data: Mapping[str, Any], model: ModelInfo | None = None, default_cache: PromptCache = PromptCache.OFF
    ) -> Self:
        """Read the data of a subentry; model is what the server lists of the model that it names."""
        return cls(
            model=data[CONF_MODEL],
            max_tokens=int(data.get(CONF_MAX_TOKENS, DEFAULT_MAX_TOKENS)),
            max_tool_rounds=int(data.get(CONF_MAX_TOOL_ROUNDS, DEFAULT_MAX_TOOL_ROUNDS)),
            cache=PromptCache(data.get(CONF_PROMPT_CACHE, default_cache)),
            tool_search=data.get(CONF_TOOL_SEARCH, False) and supports_tool_search(model),
        )


async def async_answer(
    client: anthropic.AsyncAnthropic,
    chat_log: conversation.ChatLog,
    agent_id: str,
    options: AgentOptions,
    *,
    cut_notice: Callable[[], Awaitable[str]],
    meter: Meter,
) -> None:
    """Add the answer to the last message to the chat log, calling tools on the way.

    cut_notice gives the words to add to an answer that reached the token limit. Raises TurnError when there is no answer; the chat
    log is valid even then.
    """
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
    if options.tool_search:
        request = with_search(request)
    for round_number in range(options.max_tool_rounds + 1):
        if tools and round_number == options.max_tool_rounds:
            # The tools stay in the request, because the calls so far refer to them, but none may be called.
            request["tool_choice"] = {"type": "none"}
        response = await _async_request(
            client, chat_log, agent_id, request, options=options, cut_notice=cut_notice, meter=meter
        )
        if response.error is not None:
            raise TurnError(key_of(response.error)) from response.error
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
        chat_log.async_add_assistant_content_without_tools(conversation.AssistantContent(agent_id=agent_id, content=""))


async def _async_request(
    client: anthropic.AsyncAnthropic,
    chat_log: conversation.ChatLog,
    agent_id: str,
    request: dict[str, Any],
    *,
    options: AgentOptions,
    cut_notice: Callable[[], Awaitable[str]],
    meter: Meter,
) -> ResponseStream:
    """Send one request and stream its response into the chat log, tool results included."""
    model = options.model
    body = without_stale_searches({**request, "messages": to_messages(chat_log.content[1:], agent_id, model)})
    try:
        events = await _async_send(client, **with_marks(body, options.cache))
    except anthropic.AnthropicError as err:
        raise TurnError(key_of(err)) from err
    tools = request["tools"] or ()
    response = ResponseStream(events, model=model, tool_names=[tool["name"] for tool in tools], cut_notice=cut_notice)
    try:
        async with events:
            async for _ in chat_log.async_add_delta_content_stream(agent_id, response.deltas()):
                pass
    finally:  # Tokens are paid for, also when the user no longer waits.
        meter.add(response.usage)
        chat_log.async_trace(trace_of(response.usage, response.stop_reason))
    return response


async def _async_send(client: anthropic.AsyncAnthropic, **request: Any) -> anthropic.AsyncStream[RawMessageStreamEvent]:
    """Send a request; a connection that breaks is tried anew once, because a kept one may have gone stale."""
    send = cast("Callable[..., Awaitable[anthropic.AsyncStream[RawMessageStreamEvent]]]", client.messages.create)
    try:
        return await send(**request, stream=True)
    except anthropic.APITimeoutError:
        raise
    except anthropic.APIConnectionError:
        return await send(**request, stream=True)

"""The tool loop: ask the model, let the chat log call the tools, until there is an answer."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic

from homeassistant.components import conversation
from homeassistant.helpers.json import json_bytes

from ..tools.base import guarded
from .attachments import async_read
from .caching import with_marks
from .client import async_stream
from .context import Fitted, fit
from .failures import TurnError, key_of
from .options import CONTEXT_EDITING, AgentOptions, model_fields
from .patience import Patience
from .request import Block, system_prompt, to_messages, to_tools
from .stream import ResponseStream
from .tool_search import with_search, without_stale_searches
from .usage import Meter, trace_of

RESPONSE_TIMEOUT = 180.0
"""Seconds for one response, however lively: enough for the default length from a slow server, and an end to any other."""
_NO_MORE_CALLS = "(Call no more tools. Answer with what you know now.)"
# https://platform.claude.com/docs/en/api/handling-stop-reasons
_TOO_LONG = "model_context_window_exceeded"


@dataclass(slots=True)
class Turn:
    """What the requests of one turn share."""

    client: anthropic.AsyncAnthropic
    chat_log: conversation.ChatLog
    agent_id: str
    options: AgentOptions
    cut_notice: Callable[[], Awaitable[str]]
    """Gives the words to add to an answer that reached the token limit."""
    meter: Meter
    """Counts what the requests use."""
    note: Callable[[str | None], None]
    """Is told how each request ended: with an answer, or with the key of a cause."""
    patience: Patience = field(default_factory=Patience)
    limits: dict[str, int] = field(default_factory=dict)
    """Tokens that models turned out to be able to read, where that is less than was thought."""
    sizes: dict[int, int] = field(default_factory=dict)
    """What was measured of the chat log, for the next request."""
    attachments: dict[Path, Block] = field(default_factory=dict)
    time_limit: float = RESPONSE_TIMEOUT
    output_schema: dict[str, Any] | None = None
    """What an answer must look like, for a model that can be held to it."""
    is_done: Callable[[], bool] = lambda: False
    """Tells whether a tool has taken the answer, so that nothing needs to be said."""
    may_call: bool = True
    """Whether the model may still call tools; where the server knows no field for that, it is told in words."""
    sources: dict[str, str] = field(default_factory=dict)
    """The titles of pages that the answer was taken from, by address."""


async def async_answer(turn: Turn) -> None:
    """Add the answer to the last message to the chat log, calling tools on the way.

    Raises TurnError when there is no answer; the chat log is valid even then.
    """
    chat_log, options = turn.chat_log, turn.options
    if chat_log.llm_api is not None:
        chat_log.llm_api = guarded(chat_log.llm_api)
    tools = [*to_tools(chat_log.llm_api), *options.web_tools]
    turn.attachments = await async_read(chat_log.hass, chat_log.content, options.abilities)
    request = _request(turn, tools)
    for round_number in range(options.max_tool_rounds + 1):
        if tools and round_number == options.max_tool_rounds:
            # The tools stay in the request, because the calls so far refer to them, but none may be called.
            turn.may_call = False
            if not options.plain:
                request["tool_choice"] = {"type": "none"}
        response = await _async_respond(turn, request)
        if response.stop_reason == "refusal":
            raise TurnError("refused")
        if turn.is_done():
            return
        if response.has_calls or response.stop_reason == "pause_turn":
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


def _request(turn: Turn, tools: list[Any]) -> dict[str, Any]:
    """Return the fields that all requests of a turn have."""
    options = turn.options
    request: dict[str, Any] = {"model": options.model, "max_tokens": options.max_tokens, **model_fields(options)}
    if turn.output_schema:
        request["output_config"] = {
            **request.get("output_config", {}),
            "format": {"type": "json_schema", "schema": turn.output_schema},
        }
    # The service refuses an empty text.
    request |= {"system": system} if (system := system_prompt(turn.chat_log.content)) else {}
    if tools:
        request["tools"] = tools
    return with_search(request) if options.tool_search else request


async def _async_respond(turn: Turn, request: dict[str, Any]) -> ResponseStream:
    """Return a whole response; what fails before anybody heard of it is tried anew while it is worth it."""
    overhead = len(json_bytes([request.get("system"), request.get("tools")]))
    limit = turn.limits.get(turn.options.model, turn.options.context_limit)
    fitted = _fit(turn, request, overhead, limit)
    while True:
        response = await _async_request(turn, request, fitted.content)
        error = response.error
        key = "too_long" if response.stop_reason == _TOO_LONG else key_of(error) if error else None
        if key is None or (key == "too_long" and response.has_text):
            if limit < turn.options.context_limit:
                turn.limits[turn.options.model] = limit
            turn.note(None)
            return response
        if key == "too_long" and not response.shown:
            limit = min(limit, fitted.tokens) // 2
            shorter = _fit(turn, request, overhead, limit)
            if shorter.tokens < fitted.tokens:
                fitted = shorter
                continue
        pause = turn.patience.pause(key, error) if error and not response.shown else None
        if pause is None:
            turn.note(key)
            raise TurnError(key) from error
        await asyncio.sleep(pause)


def _fit(turn: Turn, request: dict[str, Any], overhead: int, limit: int) -> Fitted:
    """Return what to send of the conversation; what the server clears by itself is left to it, within reason."""
    if "context_management" in request and limit == turn.options.context_limit:
        limit *= 2
    return fit(turn.chat_log.content[1:], overhead, limit, turn.sizes)


async def _async_request(turn: Turn, request: dict[str, Any], content: list[conversation.Content]) -> ResponseStream:
    """Send one request and stream its response into the chat log, tool results included."""
    model, tools = request["model"], request.get("tools", ())
    messages = to_messages(content, turn.agent_id, model, turn.attachments)
    if turn.options.plain and not turn.may_call:
        messages[-1]["content"].append({"type": "text", "text": _NO_MORE_CALLS})
    body = with_marks(without_stale_searches({**request, "messages": messages}), turn.options.cache)
    betas = [CONTEXT_EDITING] if "context_management" in request else []
    response = ResponseStream(
        model=model,
        tool_names=[tool["name"] for tool in tools],
        cut_notice=turn.cut_notice,
        time_limit=turn.time_limit,
    )
    try:
        events = await async_stream(turn.client, body, betas)
    except anthropic.AnthropicError as err:
        response.error = err
        return response
    try:
        async with events:
            async for _ in turn.chat_log.async_add_delta_content_stream(turn.agent_id, response.deltas(events)):
                pass
    finally:  # Tokens are paid for, also when the user no longer waits.
        turn.meter.add(response.usage)
        turn.chat_log.async_trace(trace_of(response.usage, response.stop_reason))
    turn.sources |= response.sources
    return response

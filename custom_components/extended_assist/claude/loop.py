"""The tool loop: send requests and let the chat log call tools until there is an answer."""

import asyncio
from functools import partial
from itertools import takewhile
import logging
from typing import Any

import anthropic
from anthropic.types import ToolParam

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_bytes

from ..calls.background_calls import unheard
from ..calls.caller import Caller
from ..cameras.description import with_eyes
from ..cameras.image_cache import ImageCache
from ..confirmation.untrusted_text import unwrapped
from ..const import LOGGER
from ..llm_tools.extended_tool import ExtendedTool, policed_instance
from .answer_when_done import ANSWER_WHEN_DONE, async_answer_when_done, offer
from .attachments import async_read
from .caching import with_marks
from .client import async_stream
from .confirmation import async_do_agreed, async_speak_question, note_on_reply, read_reply
from .context import Fitted, fit, size_of
from .conversation_snapshot import names_of
from .current_states import Present, describe_present, is_reader, with_legend
from .options import CONTEXT_EDITING, inspected, model_fields
from .output_filter import filter_for
from .request import Rendering, offered_tools, system_prompt
from .request_repair import Repair, Repairs, is_about_fields, longest_answer, without_budget, without_fields
from .response_blocks import Block, Prefix, call_ids, has_thinking, note_on_refusal, without_refused, without_thinking
from .retry import TurnError, key_of
from .stream import ResponseStream
from .tool_search import SEARCH_TOOL, with_search, without_stale_searches
from .turn import AgentTurn
from .usage import trace_of

_NO_MORE_CALLS = "(Call no more tools. Answer with what you know now.)"
_SPEAK = "(You have said nothing yet. Answer now, in words.)"
_GO_ON = "(Go on.)"
_ENDED = frozenset({"end_turn", "stop_sequence"})
# https://platform.claude.com/docs/en/api/handling-stop-reasons
_TOO_LONG = "model_context_window_exceeded"


async def async_answer(turn: AgentTurn) -> None:
    """Add the answer to the last message to the chat log, with all tool calls.

    Raises TurnError if there is no answer; the chat log stays valid.
    """
    chat_log, options = turn.chat_log, turn.options
    if chat_log.llm_api is not None:
        chat_log.llm_api = instance = policed_instance(chat_log.llm_api, turn.toolbox)
        instance.tools = with_eyes(chat_log.hass, instance.tools, sees=options.abilities.images)
        turn.answers_when_done = offer(instance, when=turn.answers_when_done)
    turn.attachments = await async_read(chat_log.hass, chat_log.content, options.abilities)
    with read_reply(turn):
        request = _begin(turn, await async_present(turn))
        if not await async_do_agreed(turn, request):
            await _async_answer(turn, request)
        if turn.confirmation:
            # Where it was not said by code, the model has worded it.
            turn.confirmation.is_told = True


async def _async_answer(turn: AgentTurn, request: dict[str, Any]) -> None:
    """Send requests until there is an answer, or a question for the user."""
    chat_log, options = turn.chat_log, turn.options
    for round_number in range(options.max_tool_rounds + 1):
        if "tools" in request and round_number == options.max_tool_rounds:
            # The tools stay in the request, because the calls so far refer to them, but none may be called.
            turn.may_call = False
            if not options.plain:
                request["tool_choice"] = {"type": "none"}
        response = await _async_respond(turn, request)
        turn.is_paused = response.stop_reason == "pause_turn"
        if response.stop_reason == "refusal":
            raise TurnError("refused")
        if turn.is_answered or turn.is_done() or await async_speak_question(turn):
            return
        if response.has_calls or turn.is_paused:
            continue
        if response.stop_reason == "max_tokens" and not response.has_text:
            raise TurnError("answer_too_long", max_tokens=str(options.max_tokens))
        if not response.has_text and (
            (response.has_thought and response.stop_reason in _ENDED)
            or not (turn.output_schema or _has_spoken(chat_log.content, turn.agent_id))
        ):
            if turn.must_speak:
                raise TurnError("nothing_said")
            turn.must_speak = True
            continue
        break
    else:
        raise TurnError("too_many_rounds", max_tool_rounds=str(options.max_tool_rounds))
    if not isinstance(chat_log.content[-1], conversation.AssistantContent):
        # The model chose to say nothing; the log still needs an end to this turn.
        chat_log.async_add_assistant_content_without_tools(
            conversation.AssistantContent(agent_id=turn.agent_id, content="")
        )


def _has_spoken(content: list[conversation.Content], agent_id: str) -> bool:
    """Return whether an agent has answered since the user's last message."""
    turn = takewhile(lambda item: not isinstance(item, conversation.UserContent), reversed(content))
    return any(
        isinstance(item, conversation.AssistantContent) and item.agent_id == agent_id and (item.content or "").strip()
        for item in turn
    )


def _begin(turn: AgentTurn, present: Present | None) -> dict[str, Any]:
    """Return the fields that all requests of a turn share; they begin like those of the previous turn."""
    options, content = turn.options, turn.chat_log.content
    tools = _offered(turn)
    message = next((item for item in reversed(content) if isinstance(item, conversation.UserContent)), None)
    refusal = note_on_refusal(content[1:], turn.agent_id)
    turn.snapshot.begin(
        with_moment(turn, system_prompt(content), present),
        [*tools, *options.web_tools],
        message,
        notes=[
            *((refusal,) if refusal else ()),
            *note_on_reply(turn),
            *_ended_since(turn),
            *_news(turn),
            *filter(None, [turn.earlier]),
        ],
        present=present,
        earlier=without_refused(content, turn.agent_id),
    )
    turn.tell_left_out(turn.left_out)
    request: dict[str, Any] = {"model": options.model, "max_tokens": options.max_tokens, **model_fields(options)}
    if turn.output_schema:
        request["output_config"] = {
            **request.get("output_config", {}),
            "format": {"type": "json_schema", "schema": turn.output_schema},
        }
    # The service refuses an empty text.
    request |= {"system": system} if (system := turn.snapshot.system or "").strip() else {}
    return _with_tools(turn, request)


def _ended_since(turn: AgentTurn) -> list[str]:
    """Return notes about calls that ended in the background since the last message."""
    if (instance := turn.chat_log.llm_api) is None:
        return []
    caller = Caller(instance.llm_context, turn.chat_log, turn.chat_log.conversation_id)
    return [f"({told})" for told in unheard(turn.chat_log.hass, caller)]


def _news(turn: AgentTurn) -> list[str]:
    return [f"(This came due, and the user could not be told. Tell them now: {text})" for text in turn.news]


def _offered(turn: AgentTurn) -> list[ToolParam]:
    """Return our tools that the model can call in a turn."""
    reserved = names_of(turn.options.web_tools) | ({SEARCH_TOOL} if turn.options.tool_search else set())
    instance = turn.chat_log.llm_api
    offered = offered_tools(instance, reserved)
    refused = turn.refused.tools(turn.options.model, offered.tools)
    tools = [tool for tool in offered.tools if tool["name"] not in refused]
    turn.keys, turn.left_out = offered.keys, {**offered.left_out, **refused}
    turn.callable = names_of(tools) | names_of(turn.options.web_tools)
    # Who has seen such a tool called before, by another agent, may call it.
    clocks = {tool.name for tool in instance.tools if is_clock(tool)} if instance else set()
    return [tool for tool in tools if tool["name"] not in clocks]


def _with_tools(turn: AgentTurn, request: dict[str, Any]) -> dict[str, Any]:
    """Return a request with the tools of its conversation."""
    request = {key: value for key, value in request.items() if key != "tools"}
    if turn.snapshot.tools:
        request["tools"] = list(turn.snapshot.tools)
    return with_search(request) if turn.options.tool_search else request


async def _async_respond(turn: AgentTurn, request: dict[str, Any]) -> ResponseStream:
    """Return a complete response; before its first word, failed requests are retried."""
    overhead = len(json_bytes([request.get("system"), request.get("tools")]))
    limit = turn.refused.context(turn.options.model, turn.options.context_limit)
    fitted = _fit(turn, request, overhead, limit)
    repairs = Repairs()
    while True:
        response = await _async_request(turn, request, fitted.content)
        error = response.error
        key = "too_long" if response.stop_reason == _TOO_LONG else key_of(error) if error else None
        if key is None or (key == "too_long" and response.has_text):
            for keep in repairs.learnt:
                keep()
            turn.note(None)
            return response
        if key == "too_long" and not response.shown:
            limit = min(limit, fitted.tokens) // 2
            shorter = _fit(turn, request, overhead, limit)
            if shorter.tokens < fitted.tokens:
                fitted = shorter
                repairs.learnt.append(partial(turn.refused.keep_context, turn.options.model, limit))
                continue
        if key == "invalid_request" and not response.shown and not repairs.is_over:
            LOGGER.debug("The server did not accept the request: %s", error)
            again = _repair(turn, request, fitted, repairs, str(error))
            if again is not None:
                fitted = again
                continue
        pause = turn.retry.pause(key, error) if error and not response.shown else None
        if pause is None:
            turn.note(key)
            raise TurnError(key) from error
        await asyncio.sleep(pause)


def _repair(turn: AgentTurn, request: dict[str, Any], fitted: Fitted, repairs: Repairs, words: str) -> Fitted | None:
    """Remove from a request what the server may have refused; return the new request, or None."""
    model, tools = turn.options.model, request.get("tools", [])
    turn.rendering = None  # What it was made of may change here.
    asks_to_think = "thinking" in request or "effort" in request.get("output_config", {})
    has_thought = has_thinking(turn.chat_log.content, turn.agent_id)
    repair, tool = repairs.next(words, tools, has_thought=has_thought, asks_to_think=asks_to_think)
    LOGGER.debug("Trying again with less: %s %s", repair, tool)
    if repair is Repair.THINKING:
        if has_thought:
            without_thinking(turn.chat_log.content, turn.agent_id)
        if not has_thought or is_about_fields(words):
            without_fields(request)
        elif not isinstance(turn.chat_log.content[-1], conversation.UserContent):
            # A turn that has begun with thinking on a budget must not go on with it once its thinking is gone.
            without_budget(request)
        if is_about_fields(words):
            repairs.learnt.append(partial(turn.refused.keep_fields, model))
        return fitted
    if repair is Repair.ANSWER and (longest := longest_answer(words)):
        request["max_tokens"] = longest
        without_budget(request, longest)
        repairs.learnt.append(partial(turn.refused.keep_answer, model, longest))
        return fitted
    if repair is Repair.TOOL:
        turn.refused.keep_tool(model, turn.snapshot.leave_out(tool), words)
        turn.callable -= {tool}
        turn.left_out = {**turn.left_out, tool: words}
        turn.tell_left_out(turn.left_out)
        repaired = _with_tools(turn, request)
        request.clear()
        request.update(repaired)
        return fitted
    overhead = len(json_bytes([request.get("system"), tools]))
    shorter = _fit(turn, request, overhead, fitted.tokens // 2)
    return shorter if shorter.tokens < fitted.tokens else None


def _fit(turn: AgentTurn, request: dict[str, Any], overhead: int, limit: int) -> Fitted:
    """Return the part of the conversation to send; if the server clears old tool results itself, a larger part is sent."""
    if "context_management" in request and limit == turn.options.context_limit:
        limit *= 2
    content = without_refused(turn.chat_log.content[1:], turn.agent_id)
    for item in content:
        if id(item) not in turn.sizes and isinstance(item, conversation.UserContent):
            turn.sizes[id(item)] = size_of(item) + len(turn.snapshot.note(item) or "")
    files = {path: len(block["source"]["data"]) for path, block in turn.attachments.items()}
    fitted = fit(content, overhead, limit, turn.sizes, files)
    if fitted.content and fitted.content[0] is content[0]:
        return fitted  # What goes, goes from the beginning.
    kept = {id(item) for item in fitted.content}
    # What was told with messages that are left out still holds.
    if told := turn.snapshot.lasting(item for item in content if id(item) not in kept):
        begins = fitted.content[0]
        words = [begins.content] if isinstance(begins, conversation.UserContent) else []
        fitted.content[0] = conversation.UserContent(content="\n".join([*words, *told]))
    return fitted


def _told_at_the_end(turn: AgentTurn, last: str) -> list[Block]:
    """Return the instructions after the last message, valid for one request; `last` is the role of that message."""
    if last == "assistant" and turn.is_paused:
        return []  # The response goes on as if nothing had been between.
    # A tool may have had a conversation of its own in this one, the end of which is no message to answer.
    told = [_GO_ON] if last == "assistant" else []
    told += [_NO_MORE_CALLS] if turn.options.plain and not turn.may_call else []
    told += [_SPEAK] if turn.must_speak else []
    return [{"type": "text", "text": words} for words in told]


def _encoded(turn: AgentTurn, request: dict[str, Any], content: list[conversation.Content]) -> tuple[bytes, str]:
    """Return the body of a request and the digest of its content; the request itself can then be freed."""
    prefix = None
    if turn.options.binds:
        prefix = Prefix(request.get("thinking"), request.get("system"), request.get("tools"))
    if turn.rendering is None or not turn.rendering.goes_on(content, prefix):
        pictures = None
        if turn.options.abilities.images and (instance := turn.chat_log.llm_api):
            caller = Caller(instance.llm_context, turn.chat_log, turn.chat_log.conversation_id)
            pictures = partial(ImageCache.of(turn.chat_log.hass).seen_by, caller)
        turn.rendering = Rendering(
            turn.agent_id, request["model"], turn.attachments, turn.snapshot.note, prefix, pictures=pictures
        )
    turn.rendering.add(content)
    messages, digest = turn.rendering.whole(_told_at_the_end(turn, turn.rendering.last_role))
    body = with_marks(without_stale_searches({**request, "messages": messages}), turn.options.cache)
    if LOGGER.isEnabledFor(logging.DEBUG):
        body = inspected(body, turn.options, turn.snapshot.last_id)
    # What comes from the encoder takes the room of all its buffer, and is held until the response has ended; a copy fits.
    return bytes(memoryview(json_bytes({**body, "stream": True}))), digest


async def _async_request(
    turn: AgentTurn, request: dict[str, Any], content: list[conversation.Content]
) -> ResponseStream:
    """Send one request and stream its response into the chat log, with tool results."""
    body, digest = _encoded(turn, request, content)
    betas = [CONTEXT_EDITING] if "context_management" in request else []
    response = ResponseStream(
        model=request["model"],
        tool_names=turn.callable,
        cut_notice=turn.cut_notice,
        time_limit=turn.patience.response_time,
        keys=turn.keys,
        prefix=digest,
        # Data of a given structure is looked at when it is whole.
        answer_filter=None if turn.output_schema else filter_for(turn.chat_log),
        answers_by=ANSWER_WHEN_DONE if turn.answers_when_done else None,
        taken=call_ids(turn.chat_log.content),
        ending=turn.screen.async_markdown if turn.screen else str,
    )
    try:
        events = await async_stream(turn.client, body, betas, turn.patience.silence)
    except anthropic.AnthropicError as err:
        response.error = err
        return response
    try:
        async with events:
            async for _ in turn.chat_log.async_add_delta_content_stream(turn.agent_id, response.deltas(events)):
                pass
    finally:  # Tokens are paid for, also when the user no longer waits.
        turn.meter.add(response.usage)
        turn.chat_log.async_trace(trace_of(response.usage, response.stop_reason, response.diagnostics))
        turn.snapshot.last_id = response.message_id or turn.snapshot.last_id
    turn.sources |= response.sources
    turn.is_answered = await async_answer_when_done(turn, response)
    return response


_CLOCK = "Each message begins with when it was said, in local time ({time_zone})."


def is_clock(tool: llm.Tool) -> bool:
    """Return whether a tool only returns the time, which each message has anyway."""
    return tool.integration == "llm" and unwrapped(tool).name.endswith("GetDateTime")


def with_moment(turn: AgentTurn, system: str, present: Present | None) -> str:
    """Return instructions that say what each message contains."""
    told = f"{system}\n{_CLOCK.format(time_zone=turn.chat_log.hass.config.time_zone)}".strip()
    return with_legend(told) if present else told


async def async_present(turn: AgentTurn) -> Present | None:
    """Return the current states for the speaker, or None if they may not see them or the home is too large."""
    chat_log, limit = turn.chat_log, turn.options.present
    if (instance := chat_log.llm_api) is None or not limit:
        return None
    caller = Caller(instance.llm_context, chat_log, chat_log.conversation_id)
    may_look = await _async_may_look(chat_log.hass, instance, caller)
    # Nothing is waited for from here until it is told.
    return describe_present(chat_log.hass, caller.assistant, limit) if may_look else None


async def _async_may_look(hass: HomeAssistant, instance: llm.APIInstance, caller: Caller) -> bool:
    """Return whether a caller has a tool that returns states and may call it without a question."""
    for tool in map(unwrapped, instance.tools):
        if isinstance(tool, ExtendedTool) and is_reader(tool) and await tool.async_may(hass, caller):
            return True
    return False

"""Convert the events of a response to the deltas of a chat log."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
)
import json
from typing import Any

import anthropic
import httpx

from homeassistant.components import conversation
from homeassistant.helpers import llm
from homeassistant.util.ulid import ulid_now

from ..calls.call import failure
from ..const import LOGGER
from ..llm_tools.extended_tool import unknown_tool
from . import response_blocks
from .output_filter import AnswerFilter
from .response_blocks import THINKING, UNFINISHED, Block, ResponseBlocks, is_quiet, is_writable, read_arguments
from .tool_keys import KeyNames

type Event = dict[str, Any]
type Delta = conversation.AssistantContentDeltaDict | conversation.ToolResultContentDeltaDict

_STREAM_ERRORS = (
    # The SDK and its transport.
    *(anthropic.AnthropicError, httpx.HTTPError, httpx.StreamError, TimeoutError),
    # An event that is no JSON, or not what the API documents: each server speaks it a little differently.
    *(ValueError, LookupError, TypeError, AttributeError, RecursionError),
)

_INPUT_TOKENS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CUT_SHORT = ("max_tokens", "model_context_window_exceeded")
_NO_ANSWER = ("pause_turn", "refusal")
_UNIQUE_ID = "toolu_"
"""The prefix of the service's unique ids; other servers may count from zero in every response."""
_NOT_RUN = "The server did not get to run this."


async def _next(events: AsyncIterator[object], ends: float) -> object:
    """Return the next event, or None after the last; raises TimeoutError at the deadline."""
    async with asyncio.timeout_at(ends):
        return await anext(events, None)


def _whole(text: str | None) -> str:
    """Return a text with a question mark for each lone surrogate, which UTF-8 cannot encode."""
    return (text or "").encode(errors="replace").decode()


class ResponseStream:
    """One response of a model.

    It never raises: an error ends the deltas and is stored in `error`, so that the chat log keeps everything before it and
    each started tool call gets its result.
    """

    def __init__(
        self,
        *,
        model: str,
        tool_names: Collection[str],
        cut_notice: Callable[[], Awaitable[str]],
        time_limit: float,
        keys: Mapping[str, KeyNames] | None = None,
        prefix: str = "",
        answer_filter: AnswerFilter | None = None,
        answers_by: str | None = None,
        taken: Iterable[str] = (),
        ending: Callable[[], str] = str,
    ) -> None:
        """Store the tools that may be called, the notice for a cut answer, and the timeout in seconds.

        `keys` are the replaced parameter names of each tool; `prefix` is the digest of the request; the filter decides what is
        shown. `answers_by` is the tool that takes an answer in advance: its calls are stored and not made. `taken` are all ids of
        calls so far, because a repeated id would mix up results. `ending` returns the text to show after a complete answer.
        """
        self._model = model
        self._keys = keys or {}
        self._prefix = prefix
        self._filter = answer_filter
        self._tool_names = tool_names
        self._answers_by = answers_by
        self._taken = set(taken)
        self._ending = ending
        self._cut_notice = cut_notice
        self._time_limit = time_limit
        self._open: dict[int, Block] = {}
        self._arguments: dict[int, str] = {}
        self._blocks: list[Block] = []
        self._parts: list[list[Block]] = []
        self._served: dict[str, llm.ToolInput] = {}
        self._rejected: list[tuple[llm.ToolInput, llm.ToolResult]] = []
        self._finished = False
        self._edited = False
        self.error: Exception | None = None
        self.has_text = False
        """True if the response contains text."""
        self.has_thought = False
        """True if the response contains thinking."""
        self.has_calls = False
        """True if the model called our tools and waits for their results."""
        self.calls: set[str] = set()
        """The ids of these calls, without answers in advance."""
        self.answers: list[llm.ToolInput] = []
        """Answers in advance, whose results follow later."""
        self.has_looked = False
        """True if the server ran a tool of its own that returns text from outside."""
        self.sources: dict[str, str] = {}
        """The titles of the pages that the answer cites, by address."""
        self.shown = False
        """True after text or a tool call was passed on: the request must not be repeated then."""
        self.stop_reason: str | None = None
        self.usage: dict[str, Any] = {}
        self.message_id: str | None = None
        self.diagnostics: dict[str, Any] | None = None
        """The reason why the server read no more from its cache, if it was asked for."""

    async def deltas(self, events: AsyncIterable[object]) -> AsyncGenerator[Delta]:
        """Yield deltas as the events arrive."""
        yield {"role": "assistant"}
        ends = asyncio.get_running_loop().time() + self._time_limit
        iterator = aiter(events)
        try:
            while (event := await _next(iterator, ends)) is not None:
                for delta in self._on_event(event) if isinstance(event, dict) else ():
                    self.shown |= "content" in delta or "tool_calls" in delta
                    yield delta
        except _STREAM_ERRORS as err:
            self.error = err
        if not self._finished and self.error is None:
            self.error = ConnectionError("The response ended before its last event")
        for delta in self._close_blocks():
            yield delta
        for delta in await self._behind():
            yield delta
        if not (self.has_text or self.has_calls or self._parts):
            # Nothing is left of it but thinking, which would stand in the way of that of the next try.
            self._blocks = [block for block in self._blocks if block["type"] not in THINKING]
        for delta in self._end_part():
            yield delta
        if self.stop_reason != "pause_turn":
            self._give_up_served()
        for call, result in self._rejected:
            yield {"role": "tool_result", "tool_call_id": call.id, "tool_name": call.tool_name, "result": result}

    async def _behind(self) -> list[Delta]:
        """Show the texts after an answer: the notice that it was cut off, and the ending."""
        if not self.has_text or self.has_calls:
            return []
        notice = f" … {await self._cut_notice()}" if self.stop_reason in _CUT_SHORT else ""
        return self._shown(
            notice + (self._ending() if self.error is None and self.stop_reason not in _NO_ANSWER else "")
        )

    def _on_event(self, event: Event) -> list[Delta]:
        """Return the deltas of an event; unknown types of events and blocks are skipped."""
        index = event.get("index", 0)
        match event.get("type"):
            case "message_start":
                self._add_usage(event["message"].get("usage"))
                self.message_id = event["message"].get("id")
                self.diagnostics = event["message"].get("diagnostics")
            case "content_block_start":
                return self._on_block_start(index, event["content_block"])
            case "content_block_delta" if index in self._open:
                return self._on_block_delta(index, event["delta"])
            case "content_block_stop" if index in self._open:
                return self._on_block_stop(index)
            case "message_delta":
                if reason := event["delta"].get("stop_reason"):
                    self.stop_reason = str(reason)
                self._add_usage(event.get("usage"))
                self._edited |= bool((event.get("context_management") or {}).get("applied_edits"))
            case "message_stop":
                self._finished = True
        return []

    def _add_usage(self, usage: Event | None) -> None:
        self.usage.update({key: value for key, value in (usage or {}).items() if isinstance(value, (int, dict))})

    def _end_part(self) -> list[Delta]:
        """Add the blocks so far to the chat log as one part."""
        is_refused = self.stop_reason == "refusal"
        if not (self._blocks or is_refused):
            return []
        part, self._blocks = [block for block in self._blocks if is_writable(block)], []
        tokens = 0 if self._parts else self._input_tokens()
        self._parts.append(part)
        continues = len(self._parts) > 1
        native = ResponseBlocks(self._model, part, tokens, continues, self._prefix, is_refused)
        return [{"native": native}]

    def _give_up_served(self) -> None:
        """Answer the calls of the server's own tools that it did not make, and remove them from the content to send back."""
        self._rejected += [(call, failure(_NOT_RUN)) for call in self._served.values() if not is_quiet(call.tool_name)]
        for part in self._parts:
            part[:] = [block for block in part if block.get("id") not in self._served]

    def _input_tokens(self) -> int:
        """Return the tokens of the request, or 0 if the server counted them after clearing old results."""
        if self._edited:
            return 0
        counts = [self.usage.get(kind) for kind in _INPUT_TOKENS]
        return sum(count for count in counts if isinstance(count, int))

    def _on_block_start(self, index: int, block: Event) -> list[Delta]:
        """Start a block; content in this event counts as its first delta."""
        self.has_thought |= block["type"] in THINKING
        match block["type"]:
            case "text":
                self._open[index] = {"type": "text", "text": ""}
                if self._filter:
                    self._filter.begin()
                for citation in block.get("citations") or ():
                    self._add_citation(index, citation)
                return self._add_text(index, block.get("text"))
            case "thinking":
                self._open[index] = {"type": "thinking", "thinking": "", "signature": block.get("signature") or ""}
                return self._add_thinking(index, block.get("thinking"))
            case "redacted_thinking":
                self._open[index] = {"type": "redacted_thinking", "data": block["data"]}
            case "tool_use":
                call_id = str(block.get("id"))
                if not call_id.startswith(_UNIQUE_ID) or call_id in self._taken:
                    call_id = f"{_UNIQUE_ID}{ulid_now()}"
                self._taken.add(call_id)
                self._arguments[index] = ""
                self._open[index] = {
                    "type": "tool_use",
                    "id": call_id,
                    "name": str(block["name"]),
                    "input": block["input"] if isinstance(block.get("input"), dict) else {},
                }
            case "server_tool_use":
                self._arguments[index] = ""
                self._open[index] = {key: block.get(key) for key in ("type", "id", "name", "input")}
            case result if result.endswith(response_blocks.RESULT):
                return self._on_served(block)
            case unknown:
                LOGGER.debug("Passing over a content block of type %s", unknown)
        return []

    def _on_block_delta(self, index: int, delta: Event) -> list[Delta]:
        """Add a delta to its block."""
        match delta["type"]:
            case "text_delta":
                return self._add_text(index, delta["text"])
            case "thinking_delta":
                return self._add_thinking(index, delta["thinking"])
            case "signature_delta":
                self._open[index]["signature"] = delta["signature"]
            case "citations_delta":
                self._add_citation(index, delta["citation"])
            case "input_json_delta":
                self._arguments[index] += delta["partial_json"]
        return []

    def _add_citation(self, index: int, value: Event) -> None:
        """Store the source of a text."""
        citation = response_blocks.citation(value)
        self._open[index].setdefault("citations", []).append(citation)
        if url := citation.get("url"):
            self.sources[url] = citation.get("title") or url

    def _on_served(self, block: Block) -> list[Delta]:
        """Add the result of a tool that the server ran.

        It is added to the chat log at once, because untrusted text in it decides whether the next call needs a question.
        """
        call_id, name = block["tool_use_id"], block["type"].removesuffix(response_blocks.RESULT)
        self._served.pop(call_id, None)
        if is_quiet(name):
            self._blocks.append(block)
            return []
        if name == "web_fetch":
            self.sources.update(response_blocks.pages_of(block))
        deltas = self._end_part()
        self._blocks.append(block)
        return [
            *deltas,
            {
                "role": "tool_result",
                "tool_call_id": call_id,
                "tool_name": name,
                "result": response_blocks.to_log(block),
            },
            {"role": "assistant"},
        ]

    def _add_text(self, index: int, text: str | None) -> list[Delta]:
        """Show text as it arrives."""
        text = _whole(text)
        self._open[index]["text"] += text
        self.has_text |= bool(text.strip())
        return self._shown(self._filter.add(text) if self._filter else text)

    @staticmethod
    def _shown(text: str) -> list[Delta]:
        return [{"content": text}] if text else []

    def _add_thinking(self, index: int, thinking: str | None) -> list[Delta]:
        thinking = _whole(thinking)
        self._open[index]["thinking"] += thinking
        return [{"thinking_content": thinking}] if thinking else []

    def _on_block_stop(self, index: int) -> list[Delta]:
        """Store a complete block; a complete tool call starts at once."""
        block = self._open.pop(index)
        match block["type"]:
            case "text":
                if block["text"].strip():
                    self._blocks.append(block)
                return self._shown(self._filter.end() if self._filter else "")
            case "thinking" if not block["signature"]:
                return []
            case "tool_use":
                return [self._on_tool_call(block, self._arguments.pop(index))]
            case "server_tool_use":
                return self._on_server_call(block, self._arguments.pop(index))
        self._blocks.append(block)
        return []

    def _on_server_call(self, block: Block, text: str) -> list[Delta]:
        """Show a call that the server makes to a tool of its own."""
        try:
            block["input"] = json.loads(text) if text else block["input"]
        except ValueError, RecursionError:
            return []
        if not is_writable(block):
            return []
        self._blocks.append(block)
        call = llm.ToolInput(id=block["id"], tool_name=block["name"], tool_args=block["input"], external=True)
        self.has_looked |= not is_quiet(call.tool_name)
        self._served[call.id] = call
        return [] if is_quiet(call.tool_name) else [{"tool_calls": [call]}]

    def _on_tool_call(self, block: Block, text: str) -> Delta:
        """Return the call of a tool, or its error result if it cannot be made."""
        block["input"], rejection = read_arguments(text, block["input"])
        if block["name"] not in self._tool_names:
            rejection = unknown_tool(block["name"], list(self._tool_names))
        self._blocks.append(block)
        self.has_calls = True
        keys = self._keys.get(block["name"])
        is_answer = block["name"] == self._answers_by and rejection is None
        call = llm.ToolInput(
            id=block["id"],
            tool_name=block["name"],
            tool_args=keys.restored(block["input"]) if keys else block["input"],
            external=is_answer or rejection is not None,
        )
        if rejection is not None:
            self._rejected.append((call, rejection))
        if is_answer:
            self.answers.append(call)
        else:
            self.calls.add(call.id)
        return {"tool_calls": [call]}

    def _close_blocks(self) -> list[Delta]:
        """Close the blocks that are open at the end of the response; a call that was cut off gets an error result."""
        deltas = self._shown(self._filter.end() if self._filter else "")
        for block in self._open.values():
            if block["type"] == "tool_use":
                deltas.append(self._on_tool_call(block, UNFINISHED))
            elif block["type"] == "text" and block["text"].strip():
                self._blocks.append(block)
        return deltas

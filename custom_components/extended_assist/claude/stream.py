"""From the events of a response to the deltas of a chat log."""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Collection
import json
from typing import Any

import anthropic
from anthropic.types import RawMessageStreamEvent
import httpx

from homeassistant.components import conversation
from homeassistant.helpers import llm
from homeassistant.util.ulid import ulid_now

from ..const import LOGGER
from ..tools.base import failure, unknown_tool
from .request import Block, ResponseBlocks

type Delta = conversation.AssistantContentDeltaDict | conversation.ToolResultContentDeltaDict

# What the SDK and its transport raise while a stream is read, and ValueError for an event that is no JSON.
_STREAM_ERRORS = (anthropic.AnthropicError, httpx.HTTPError, httpx.StreamError, ValueError)

_UNIQUE_ID = "toolu_"
"""Begins the ids of the service; other servers may count from zero in every response, and ids must not repeat."""
_UNFINISHED = "{"
"""Stands for the arguments of a call that was not finished, even if they look whole."""
_CUT_OFF = "The arguments were cut off before their end, so nothing was called. Call again with shorter arguments."
_NOT_AN_OBJECT = "The arguments are not a JSON object, so nothing was called. Correct them and call again."


class ResponseStream:
    """One response of a model.

    It never raises: an error ends the deltas and stands in `error`, so that the chat log keeps what came before it and
    every tool call that was started gets its result.
    """

    def __init__(
        self,
        events: AsyncIterable[RawMessageStreamEvent],
        *,
        model: str,
        tool_names: Collection[str],
        cut_notice: Callable[[], Awaitable[str]],
    ) -> None:
        """Take the events, the tools that may be called and what to add to an answer that was cut off."""
        self._events = events
        self._model = model
        self._tool_names = tool_names
        self._cut_notice = cut_notice
        self._open: dict[int, Block] = {}
        self._arguments: dict[int, str] = {}
        self._blocks: list[Block] = []
        self._rejected: list[tuple[llm.ToolInput, llm.ToolResult]] = []
        self._finished = False
        self.error: Exception | None = None
        self.stop_reason: str | None = None
        self.usage: dict[str, Any] = {}

    @property
    def has_text(self) -> bool:
        """Return whether the model said something."""
        return any(block["type"] == "text" for block in self._blocks)

    async def deltas(self) -> AsyncGenerator[Delta]:
        """Yield deltas as the events arrive."""
        yield {"role": "assistant"}
        try:
            async for event in self._events:
                for delta in self._on_event(event):
                    yield delta
        except _STREAM_ERRORS as err:
            self.error = err
        if not self._finished and self.error is None:
            self.error = ConnectionError("The response ended before its last event")
        for delta in self._close_blocks():
            yield delta
        if (
            self.stop_reason == "max_tokens"
            and self.has_text
            and not any(b["type"] == "tool_use" for b in self._blocks)
        ):
            yield {"content": f" … {await self._cut_notice()}"}
        if self._blocks:
            yield {"native": ResponseBlocks(self._model, self._blocks)}
        for call, result in self._rejected:
            yield {"role": "tool_result", "tool_call_id": call.id, "tool_name": call.tool_name, "result": result}

    def _on_event(self, event: Any) -> list[Delta]:
        """Return the deltas of an event; events and blocks of kinds unknown here are passed over."""
        match event.type:
            case "message_start":
                self._add_usage(getattr(event.message, "usage", None))
            case "content_block_start":
                return self._on_block_start(event.index, event.content_block)
            case "content_block_delta" if event.index in self._open:
                return self._on_block_delta(event.index, event.delta)
            case "content_block_stop" if event.index in self._open:
                return self._on_block_stop(event.index)
            case "message_delta":
                self.stop_reason = event.delta.stop_reason or self.stop_reason
                self._add_usage(getattr(event, "usage", None))
            case "message_stop":
                self._finished = True
        return []

    def _add_usage(self, usage: Any) -> None:
        """Keep the newest count of each kind of token."""
        if usage is not None:
            self.usage.update({key: value for key, value in usage.to_dict().items() if value is not None})

    def _on_block_start(self, index: int, block: Any) -> list[Delta]:
        """Begin a block; what it brings along counts as its first delta."""
        match block.type:
            case "text":
                self._open[index] = {"type": "text", "text": ""}
                return self._add_text(index, block.text)
            case "thinking":
                self._open[index] = {"type": "thinking", "thinking": "", "signature": block.signature or ""}
                return self._add_thinking(index, block.thinking)
            case "redacted_thinking":
                self._open[index] = {"type": "redacted_thinking", "data": block.data}
            case "tool_use":
                self._arguments[index] = ""
                self._open[index] = {
                    "type": "tool_use",
                    "id": block.id if str(block.id).startswith(_UNIQUE_ID) else f"{_UNIQUE_ID}{ulid_now()}",
                    "name": block.name,
                    "input": block.input if isinstance(block.input, dict) else {},
                }
            case "server_tool_use" | "tool_search_tool_result":
                # A search for tools is the server's own affair, but goes back to it as it came.
                self._arguments[index] = ""
                self._open[index] = block.to_dict()
            case unknown:
                LOGGER.debug("Passing over a content block of type %s", unknown)
        return []

    def _on_block_delta(self, index: int, delta: Any) -> list[Delta]:
        """Add a delta to its block."""
        match delta.type:
            case "text_delta":
                return self._add_text(index, delta.text)
            case "thinking_delta":
                return self._add_thinking(index, delta.thinking)
            case "signature_delta":
                self._open[index]["signature"] = delta.signature
            case "input_json_delta":
                self._arguments[index] += delta.partial_json
        return []

    def _add_text(self, index: int, text: str) -> list[Delta]:
        """Show text as it comes."""
        self._open[index]["text"] += text
        return [{"content": text}] if text else []

    def _add_thinking(self, index: int, thinking: str) -> list[Delta]:
        """Show thinking as it comes."""
        self._open[index]["thinking"] += thinking
        return [{"thinking_content": thinking}] if thinking else []

    def _on_block_stop(self, index: int) -> list[Delta]:
        """Keep a complete block; a complete tool call starts right away."""
        block = self._open.pop(index)
        match block["type"]:
            case "text" if not block["text"].strip():
                return []
            case "thinking" if not block["signature"]:
                return []
            case "tool_use":
                return [self._on_tool_call(block, self._arguments.pop(index))]
            case "server_tool_use":
                block["input"] = json.loads(self._arguments.pop(index) or "{}")
        self._blocks.append(block)
        return []

    def _on_tool_call(self, block: Block, text: str) -> Delta:
        """Return the call of a tool; one that cannot be made is answered here instead of being made."""
        rejection: llm.ToolResult | None = None
        if text:
            try:
                arguments = json.loads(text)
            except ValueError:
                arguments, rejection = {}, failure(_CUT_OFF)
            if not isinstance(arguments, dict):
                arguments, rejection = {}, failure(_NOT_AN_OBJECT)
            block["input"] = arguments
        if block["name"] not in self._tool_names:
            rejection = unknown_tool(block["name"], list(self._tool_names))
        self._blocks.append(block)
        call = llm.ToolInput(
            id=block["id"], tool_name=block["name"], tool_args=block["input"], external=rejection is not None
        )
        if rejection is not None:
            self._rejected.append((call, rejection))
        return {"tool_calls": [call]}

    def _close_blocks(self) -> list[Delta]:
        """Close what the end of the response left open; a call that was cut off is answered instead of being made."""
        deltas: list[Delta] = []
        for block in self._open.values():
            if block["type"] == "tool_use":
                deltas.append(self._on_tool_call(block, _UNFINISHED))
            elif block["type"] == "text" and block["text"].strip():
                self._blocks.append(block)
        return deltas

"""From a chat log to the messages of a request."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
import re
from typing import Any, Literal, TypedDict

from anthropic.types import ToolParam
from probatio import to_openapi
import voluptuous as vol

from homeassistant.components import conversation
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps

from ..const import LOGGER

type Block = dict[str, Any]


class Message(TypedDict):
    """A message, of blocks as they are sent."""

    role: Literal["user", "assistant"]
    content: list[Block]


# The service refuses a request for a tool with such a name or such keys at the top of its schema.
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_REFUSED_KEYS = frozenset({"oneOf", "anyOf", "allOf"})
# Every tool checks its arguments itself, so a request need not carry these, some thirty characters each.
_SELF_EVIDENT: tuple[tuple[str, Any], ...] = (("additionalProperties", False), ("format", "lower"))

_NO_RESULT = {"error": "This call was interrupted; whether it took effect is unknown."}
_ASSISTANT_FIRST = "(You speak first.)"
_NO_WORDS = "(No words.)"


@dataclass(frozen=True, slots=True)
class ResponseBlocks:
    """What a model answered, block by block, so that it can be sent back unchanged.

    Signed thinking counts only for the model that wrote it.
    """

    model: str
    blocks: list[Block]
    tokens: int = 0
    """What the server counted for the request, or 0 where that says nothing about its size."""
    continues: bool = False
    """Whether this is a further part of the response before it, which the result of a server's own tool came between."""


def system_prompt(content: Sequence[conversation.Content]) -> str:
    """Return the instructions that a chat log begins with."""
    first = content[0]
    return first.content if isinstance(first, conversation.SystemContent) else ""


def to_messages(
    content: Sequence[conversation.Content],
    agent_id: str,
    model: str,
    attachments: Mapping[Path, Block] | None = None,
) -> list[Message]:
    """Return the messages for everything after the system prompt; attachments are what was read of files, by path.

    Whatever the log holds, the outcome is valid: it starts with the user, roles alternate, and every tool call is
    followed by its result.
    """
    messages: list[Message] = []
    results: list[Block] = []
    for index, item in enumerate(content):
        if isinstance(item, conversation.UserContent):
            _append(messages, "user", results)
            results = []
            _append(messages, "user", _user_blocks(item, attachments or {}))
        elif isinstance(item, conversation.AssistantContent):
            if not _continues(item, agent_id):
                _append(messages, "user", results)
                results = []
            if not messages:
                _append(messages, "user", [_text(_ASSISTANT_FIRST)])
            blocks = _assistant_blocks(item, agent_id, model)
            _append(messages, "assistant", blocks)
            called = {block["id"] for block in blocks if block["type"] == "tool_use"}
            calls = [call for call in item.tool_calls or () if call.id in called]
            results += _results(calls, content[index + 1 :])
    _append(messages, "user", results)
    return messages


def _continues(item: conversation.AssistantContent, agent_id: str) -> bool:
    """Return whether an item is a further part of the response before it."""
    return isinstance(item.native, ResponseBlocks) and item.native.continues and item.agent_id == agent_id


def _user_blocks(item: conversation.UserContent, attachments: Mapping[Path, Block]) -> list[Block]:
    """Return what the user said, behind what they attached, as models read it best."""
    files = [attachments[file.path] for file in item.attachments or () if file.path in attachments]
    words = item.content.strip()
    return [*files, _text(words or _NO_WORDS)] if words or not files else files


def _append(messages: list[Message], role: Literal["user", "assistant"], blocks: list[Block]) -> None:
    """Add blocks, to the last message where the role is the same."""
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": role, "content": blocks})


def _text(text: str) -> Block:
    """Return a text block."""
    return {"type": "text", "text": text}


def _assistant_blocks(item: conversation.AssistantContent, agent_id: str, model: str) -> list[Block]:
    """Return what the assistant said and called: as it came from this agent, rebuilt from another's."""
    if isinstance(item.native, ResponseBlocks) and item.agent_id == agent_id:
        return [
            block
            for block in item.native.blocks
            if item.native.model == model or block["type"] not in ("thinking", "redacted_thinking")
        ]
    blocks = [_text(item.content)] if item.content and item.content.strip() else []
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.tool_name, "input": call.tool_args}
        for call in item.tool_calls or ()
    ]
    return blocks


def _results(calls: list[llm.ToolInput], following: Sequence[conversation.Content]) -> list[Block]:
    """Return one result for every call, taken from what follows it in the log."""
    found: dict[str, llm.ToolResult] = {}
    for item in following:
        if not isinstance(item, conversation.ToolResultContent):
            break
        found[item.tool_call_id] = item.result
    blocks: list[Block] = []
    for call in calls:
        result = found.get(call.id) or llm.ToolResult(data=dict(_NO_RESULT), error=True)
        block: Block = {"type": "tool_result", "tool_use_id": call.id, "content": json_dumps(result.data)}
        if result.error:
            block["is_error"] = True
        blocks.append(block)
    return blocks


# Most tools share one schema object between all their instances, and converting it costs more than the rest of a request.
_converted: dict[str, tuple[vol.Schema, Callable[[Any], Any] | None, Block]] = {}


def to_tools(instance: llm.APIInstance | None) -> list[ToolParam]:
    """Return the tools of an API instance; one that the service would refuse is left out and logged."""
    if instance is None:
        return []
    tools: dict[str, ToolParam] = {}
    for tool in instance.tools:
        try:
            tools[tool.name] = _to_tool(tool, instance.custom_serializer)
        except Exception as err:  # noqa: BLE001 - any tool of any integration; one bad schema must not cost all others
            LOGGER.warning(
                "Tool %s of integration %s cannot be offered to the model and is left out: %s",
                tool.name,
                tool.integration,
                err,
            )
    return list(tools.values())


def _to_tool(tool: llm.Tool, serializer: Callable[[Any], Any] | None) -> ToolParam:
    """Return a tool as the service wants it; raises ValueError or what its schema raises."""
    if not _TOOL_NAME.fullmatch(tool.name):
        raise ValueError("its name may have letters, digits, _ and - only, 128 at most")
    known = _converted.get(tool.name)
    if known is None or known[0] is not tool.parameters or known[1] is not serializer:
        schema = to_openapi(tool.parameters, custom_serializer=serializer, openapi_version="3.1.0")
        if schema.get("type") != "object":
            raise ValueError("its parameters are not an object")
        json_dumps(schema)
        schema = {key: value for key, value in _shortened(schema).items() if key not in _REFUSED_KEYS}
        known = _converted[tool.name] = (tool.parameters, serializer, schema)
    return {"name": tool.name, "description": tool.description or "", "input_schema": known[2]}


def _shortened(schema: Any) -> Any:
    """Return a schema without what goes without saying."""
    if isinstance(schema, list):
        return [_shortened(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _shortened(value) for key, value in schema.items() if (key, value) not in _SELF_EVIDENT}

"""Convert a chat log and tools to a request."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import is_
from pathlib import Path
import re
from types import FunctionType
from typing import Any, Literal, TypedDict

from anthropic.types import ToolParam
from probatio import to_openapi
import voluptuous as vol

from homeassistant.components import conversation
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps

from ..cameras.image_cache import KeptPicture, LookResult
from ..cameras.resize import MEDIA_TYPE
from ..const import LOGGER
from .response_blocks import THINKING, Block, Prefix, ResponseBlocks, own_native, where_thinking_begins
from .tool_keys import KeyNames, exchanged


class Message(TypedDict):
    """A message: a role and content blocks."""

    role: Literal["user", "assistant"]
    content: list[Block]


# The service refuses a request for a tool with such a name or such keys at the top of its schema.
_MAX_NAME = 128
_TOOL_NAME = re.compile(rf"[a-zA-Z0-9_-]{{1,{_MAX_NAME}}}")
_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
"""Characters that the service accepts neither in the id of a call nor in the name of a tool."""
_NAMED = (vol.Required, vol.Optional)
"""The key types whose only data are name, description and default."""
_REFUSED_KEYS = frozenset({"oneOf", "anyOf", "allOf"})
# Every tool checks its arguments itself, so a request need not carry these, some thirty characters each.
_SELF_EVIDENT: tuple[tuple[str, Any], ...] = (("additionalProperties", False), ("format", "lower"))
_FREE: tuple[str, Any] = ("additionalProperties", True)
"""The parts of JSON Schema that are the default for an object without properties."""

_NO_RESULT = {"error": "This call was interrupted; whether it took effect is unknown."}
_LOST_PICTURE = "(This picture is not kept any more. Look again if it is needed.)"
_ASSISTANT_FIRST = "(You speak first.)"
_NO_WORDS = "(No words.)"


def system_prompt(content: Sequence[conversation.Content]) -> str:
    """Return the system prompt at the beginning of a chat log."""
    first = content[0]
    return first.content if isinstance(first, conversation.SystemContent) else ""


def to_messages(
    content: Sequence[conversation.Content],
    agent_id: str,
    model: str,
    attachments: Mapping[Path, Block] | None = None,
    *,
    note: Callable[[conversation.UserContent], str | None] = lambda _: None,
    prefix: Prefix | None = None,
) -> list[Message]:
    """Return the messages for everything after the system prompt.

    `attachments` are the contents of files by path; `note` returns the note for a user's message; `prefix` is the digest of
    everything before the messages. Thinking is left out if anything before it has changed.

    The messages are always valid: the user begins, roles alternate, and each tool call is followed by its result.
    """
    rendering = Rendering(agent_id, model, attachments or {}, note, prefix)
    rendering.add(content)
    return rendering.whole()[0]


class Rendering:
    """The messages of a conversation; when the conversation grows, only new items are converted."""

    def __init__(
        self,
        agent_id: str,
        model: str,
        attachments: Mapping[Path, Block],
        note: Callable[[conversation.UserContent], str | None],
        prefix: Prefix | None = None,
        *,
        pictures: Callable[[str], KeptPicture | None] | None = None,
    ) -> None:
        """Store the data for converting items; `pictures` returns an image of a result if the model can see."""
        self.prefix = prefix
        self._agent_id = agent_id
        self._model = model
        self._attachments = attachments
        self._note = note
        self._pictures = pictures or (lambda _: None)
        self._content: list[conversation.Content] = []
        self._messages: list[Message] = []
        self._results: list[Block] = []
        """Results that wait, because another part of the response with their calls comes first."""
        self._call_ids: set[str] = set()
        self._thinks = True

    def goes_on(self, content: Sequence[conversation.Content], prefix: Prefix | None) -> bool:
        """Return whether a conversation is this one with more items at its end, after the same prefix."""
        known = len(self._content)
        if len(content) < known or not all(map(is_, self._content, content, strict=False)):
            return False
        if (self.prefix and self.prefix.beginning) != (prefix and prefix.beginning):
            return False
        following = content[known] if len(content) > known else None
        native = own_native(following, self._agent_id) if following else None
        # A result, or a further part of a response, belongs to what was gone through.
        return not isinstance(following, conversation.ToolResultContent) and not (native and native.continues)

    def add(self, content: Sequence[conversation.Content]) -> None:
        """Convert the new items of a conversation."""
        known = len(self._content)
        self._content = list(content)
        bound = where_thinking_begins(self._content, self._agent_id, known) if self.prefix else frozenset()
        for index in range(known, len(self._content)):
            item = self._content[index]
            if isinstance(item, conversation.UserContent):
                self._append("user", [*self._results, *_user_blocks(item, self._attachments, self._note(item))])
                self._results = []
            elif isinstance(item, conversation.AssistantContent):
                self._add_response(item, index, is_bound=index in bound)

    def _add_response(self, item: conversation.AssistantContent, index: int, *, is_bound: bool) -> None:
        """Convert a response, or a part of one."""
        if not self._messages:
            self._append("user", [_text(_ASSISTANT_FIRST)])
        native = own_native(item, self._agent_id)
        if native is None or not native.continues:
            self._append("user", self._results)
            self._results = []
            self._thinks = not is_bound or self.prefix is None or (native and native.prefix) == self.prefix.digest
        blocks = _assistant_blocks(item, native, self._model)
        if called := {block["id"] for block in blocks if block["type"] == "tool_use"}:
            calls = [call.id for call in item.tool_calls or () if call.id in called]
            blocks = _with_fit_calls(blocks, self._call_ids)
            sent = [block["id"] for block in blocks if block["type"] == "tool_use"]
            following = islice(self._content, index + 1, None)
            self._results += _results(dict(zip(sent, calls, strict=False)), following, self._pictures)
        self._append("assistant", blocks if self._thinks else [one for one in blocks if one["type"] not in THINKING])

    def _append(self, role: Literal["user", "assistant"], blocks: list[Block]) -> None:
        """Add blocks, to the last message if it has the same role."""
        if not blocks:
            return
        if self._messages and self._messages[-1]["role"] == role:
            self._messages[-1]["content"].extend(blocks)
        else:
            self._messages.append({"role": role, "content": blocks})
        if self.prefix:
            self.prefix.add(role, blocks)

    @property
    def last_role(self) -> Literal["user", "assistant"]:
        """Return the role of the last message."""
        return "user" if self._results else self._messages[-1]["role"]

    def whole(self, told: Sequence[Block] = ()) -> tuple[list[Message], str]:
        """Return the messages with the instructions for this request behind them, and the digest of all content."""
        messages, last = list(self._messages), [*self._results, *told]
        if last and messages and messages[-1]["role"] == "user":
            messages[-1] = {"role": "user", "content": [*messages[-1]["content"], *last]}
        elif last:
            messages.append({"role": "user", "content": last})
        return messages, self.prefix.digest_with("user", last) if self.prefix else ""


def _user_blocks(item: conversation.UserContent, attachments: Mapping[Path, Block], note: str | None) -> list[Block]:
    """Return the blocks of a user's message: files first, as models read them best, then the note and the words."""
    files = [attachments[file.path] for file in item.attachments or () if file.path in attachments]
    told = [_text(note)] if note else []
    words = item.content.strip()
    return [*files, *told, _text(words or _NO_WORDS)] if words or not files else [*files, *told]


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _assistant_blocks(item: conversation.AssistantContent, native: ResponseBlocks | None, model: str) -> list[Block]:
    """Return the blocks of a response: unchanged from this agent, rebuilt from another agent."""
    if native is not None:
        return [block for block in native.blocks if native.model == model or block["type"] not in THINKING]
    blocks = [_text(item.content)] if item.content and item.content.strip() else []
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.tool_name, "input": call.tool_args}
        for call in item.tool_calls or ()
    ]
    return blocks


def _with_fit_calls(blocks: list[Block], taken: set[str]) -> list[Block]:
    """Return blocks whose calls have valid ids and names, each id once; new ids are added to `taken`.

    Other agents, and the servers behind them, use ids and names of their own.
    """
    fit = list(blocks)
    for index, block in enumerate(blocks):
        if block["type"] == "tool_use":
            stem = _UNFIT.sub("_", block["id"]) or "call"
            number = 1
            while (call_id := stem if number == 1 else f"{stem}_{number}") in taken:
                number += 1
            taken.add(call_id)
            name = _UNFIT.sub("_", block["name"])[:_MAX_NAME] or "unnamed"
            fit[index] = {**block, "id": call_id, "name": name}
    return fit


def _results(
    calls: Mapping[str, str],
    following: Iterable[conversation.Content],
    pictures: Callable[[str], KeptPicture | None],
) -> list[Block]:
    """Return one result for every call, taken from the items after it; `calls` maps the sent ids to those of the chat log."""
    found: dict[str, llm.ToolResult] = {}
    for item in following:
        if not isinstance(item, conversation.ToolResultContent):
            break
        found[item.tool_call_id] = item.result
    blocks: list[Block] = []
    for sent, call_id in calls.items():
        result = found.get(call_id) or llm.ToolResult(data=dict(_NO_RESULT), error=True)
        block: Block = {"type": "tool_result", "tool_use_id": sent, "content": _told(result, pictures)}
        if result.error:
            block["is_error"] = True
        blocks.append(block)
    return blocks


def _told(result: llm.ToolResult, pictures: Callable[[str], KeptPicture | None]) -> str | list[Block]:
    """Return the content of a result: its text, then each of its images under a name."""
    told = json_dumps(result.data)
    if not isinstance(result, LookResult):
        return told
    blocks = [_text(told)]
    for reference in result.pictures:
        if kept := pictures(reference.picture_id):
            source = {"type": "base64", "media_type": MEDIA_TYPE, "data": kept.picture.data}
            blocks += [_text(reference.label), {"type": "image", "source": source}]
        else:
            blocks.append(_text(f"{reference.label} {_LOST_PICTURE}"))
    return blocks


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools of an API instance in the service's format."""

    tools: list[ToolParam] = field(default_factory=list)
    keys: Mapping[str, KeyNames] = field(default_factory=dict)
    """The replaced parameter names of each tool whose own names the service refuses."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Tools that the service would refuse, with the reason."""


@dataclass(frozen=True, slots=True)
class _Converted:
    """A tool definition, with the objects that it was made from."""

    parameters: vol.Schema
    serializer: Callable[[Any], Any] | None
    tool: ToolParam
    keys: KeyNames | None


# Most tools share one schema object between all their instances, and converting it costs more than the rest of a request.
_converted: dict[str, _Converted] = {}
_MAX_CONVERTED = 1000
"""The most cached tools; a server whose tools change may bring new names again and again."""


def to_tools(instance: llm.APIInstance | None) -> list[ToolParam]:
    """Return the tools of an API instance that the service accepts."""
    return offered_tools(instance).tools


def offered_tools(instance: llm.APIInstance | None, taken: Collection[str] = ()) -> OfferedTools:
    """Return the tools of an API instance; a tool that the service would refuse is left out alone.

    `taken` are the names of tools that the server runs itself.
    """
    tools: dict[str, ToolParam] = {}
    keys: dict[str, KeyNames] = {}
    left_out: dict[str, str] = {}
    for tool in instance.tools if instance else ():
        if tool.name in taken:
            left_out[tool.name] = "the server has a tool of this name, which is turned on for this agent"
            continue
        if tool.name in tools:
            # A call goes to the first, as Home Assistant looks it up.
            left_out[tool.name] = "there are several tools of this name, of which only the first can be called"
            continue
        try:
            converted = _convert(tool, instance.custom_serializer if instance else None)
            tools[tool.name] = converted.tool
            if converted.keys:
                keys[tool.name] = converted.keys
        except Exception as err:  # noqa: BLE001 - any tool of any integration; one bad schema must not cost all others
            LOGGER.debug("Tool %s of integration %s is left out: %s", tool.name, tool.integration, err)
            left_out[tool.name] = str(err) or type(err).__name__
    return OfferedTools(list(tools.values()), keys, left_out)


def _convert(tool: llm.Tool, serializer: Callable[[Any], Any] | None) -> _Converted:
    """Return the definition of a tool; raises ValueError, or the error of its schema.

    Conversations share the cached definitions.
    """
    if not _TOOL_NAME.fullmatch(tool.name):
        raise ValueError("its name may have letters, digits, _ and - only, 128 at most")
    known, description = _converted.get(tool.name), _described(tool)
    if (
        known is None
        or not _are_same(known.parameters, tool.parameters)
        or not _is_same_serializer(known.serializer, serializer)
        or known.tool.get("description") != description
    ):
        schema = to_openapi(tool.parameters, custom_serializer=serializer, openapi_version="3.1.0")
        if schema.get("type") != "object":
            raise ValueError("its parameters are not an object")
        json_dumps(schema)
        schema = {key: value for key, value in _shortened(schema).items() if key not in _REFUSED_KEYS}
        sent, keys = exchanged(schema)
        described: ToolParam = {"name": tool.name, "description": description, "input_schema": sent}
        if known and json_dumps(known.tool) == json_dumps(described):  # To Python, 1, 1.0 and true are equal.
            described = known.tool
        known = _converted[tool.name] = _Converted(tool.parameters, serializer, described, keys)
        if len(_converted) > _MAX_CONVERTED:
            del _converted[next(iter(_converted))]
    return known


def _are_same(one: vol.Schema, other: vol.Schema) -> bool:
    """Return whether two schemas consist of the same objects: each conversation builds new schemas from an intent's parts.

    A part is compared by identity: a change makes a new part, as in Home Assistant itself.
    """
    if one is other:
        return True
    if not (type(one) is type(other) is vol.Schema and isinstance(one.schema, dict) and isinstance(other.schema, dict)):
        return False
    return (one.required, one.extra, len(one.schema)) == (other.required, other.extra, len(other.schema)) and all(
        _is_same_key(key, known) and part is known_part
        for (key, part), (known, known_part) in zip(one.schema.items(), other.schema.items(), strict=True)
    )


def _is_same_key(one: Any, other: Any) -> bool:
    """Return whether two keys have the same data: some intents build new keys for every conversation."""
    if one is other:
        return True
    if type(one) is not type(other) or type(one) not in _NAMED or not type(one.schema) is type(other.schema) is str:
        return False
    # A default that was given is a function, which could return something else the next time.
    return (
        one.schema == other.schema
        and one.description is other.description
        and one.default is other.default is vol.UNDEFINED
    )


def _is_same_serializer(one: Callable[[Any], Any] | None, other: Callable[[Any], Any] | None) -> bool:
    """Return whether two serializers consist of the same parts: merged APIs build a new one for every conversation."""
    if not (isinstance(one, FunctionType) and isinstance(other, FunctionType)):
        return one is other
    return one.__code__ is other.__code__ and all(
        getattr(one, part) == getattr(other, part) for part in ("__closure__", "__defaults__", "__kwdefaults__")
    )


def _described(tool: llm.Tool) -> str:
    """Return the description of a tool; raises an error if it is no text."""
    description: object = tool.description or ""
    if not isinstance(description, str):
        raise TypeError("its description is not a text")
    description.encode()
    return description


def _shortened(schema: Any) -> Any:
    """Return a schema without parts that are the default."""
    if isinstance(schema, list):
        return [_shortened(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    evident = _SELF_EVIDENT if "properties" in schema else (*_SELF_EVIDENT, _FREE)
    return {key: _shortened(value) for key, value in schema.items() if (key, value) not in evident}

"""What a model answered, as it is kept in a chat log, and which of it is sent again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile
from typing import Any

from homeassistant.components import conversation

from .prefix import THINKING

type Block = dict[str, Any]


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
    prefix: str = ""
    """What the request held, as a number: while it is the same, thinking may go back."""
    refused: bool = False
    """Whether the server declined the turn, so that it must not be sent again."""


def call_ids(content: Sequence[conversation.Content]) -> Iterator[str]:
    """Yield the ids of all calls of a conversation."""
    for item in content:
        if isinstance(item, conversation.AssistantContent):
            yield from (call.id for call in item.tool_calls or ())


def without_refused(content: Sequence[conversation.Content], agent_id: str) -> list[conversation.Content]:
    """Return a conversation without the turns that the server declined: it would decline whatever comes after them.

    https://platform.claude.com/docs/en/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
    """
    if not any(isinstance(item, conversation.AssistantContent) and _is_refusal(item, agent_id) for item in content):
        return list(content)
    kept: list[conversation.Content] = []
    start, is_refused = 0, False
    for item in content:
        if isinstance(item, conversation.UserContent):
            start, is_refused = len(kept), False
        if _is_refusal(item, agent_id):
            is_refused = True
            del kept[start:]
        if not is_refused:
            kept.append(item)
    return kept


def told_of_refusal(content: Sequence[conversation.Content], agent_id: str) -> str | None:
    """Return the note for the model when the turns right before the last message were declined, or None."""
    borders = [index for index, item in enumerate(content) if isinstance(item, conversation.UserContent)]
    turns = [content[start:end] for start, end in pairwise(borders)]
    # What was told of one declined turn with the message of another is not sent either.
    declined = list(takewhile(lambda turn: any(_is_refusal(item, agent_id) for item in turn), reversed(turns)))
    if not declined:
        return None
    results = [item for turn in reversed(declined) for item in turn if isinstance(item, conversation.ToolResultContent)]
    called = dict.fromkeys(item.tool_name for item in results)
    done = f" What these tools did meanwhile stands: {', '.join(called)}." if called else ""
    if len(declined) == 1:
        return f"(The message before this one was declined, and is left out.{done})"
    return f"(The {len(declined)} messages before this one were declined, and are left out.{done})"


def has_thinking(content: Sequence[conversation.Content], agent_id: str) -> bool:
    """Return whether there is thinking of an agent in a conversation."""
    return any(block["type"] in THINKING for native in _own(content, agent_id) for block in native.blocks)


def where_thinking_begins(content: Sequence[conversation.Content], agent_id: str, start: int = 0) -> frozenset[int]:
    """Return where in a conversation the responses of an agent begin in any part of which there is thinking."""
    found: set[int] = set()
    begin = start
    for index, item in enumerate(islice(content, start, None), start):
        if not isinstance(item, conversation.AssistantContent):
            continue
        native = own_native(item, agent_id)
        begin = begin if native and native.continues else index
        if native and any(block["type"] in THINKING for block in native.blocks):
            found.add(begin)
    return frozenset(found)


def without_thinking(content: Sequence[conversation.Content], agent_id: str) -> None:
    """Forget all thinking of an agent in a conversation, for good."""
    for native in _own(content, agent_id):
        native.blocks[:] = [block for block in native.blocks if block["type"] not in THINKING]


def _own(content: Sequence[conversation.Content], agent_id: str) -> Iterator[ResponseBlocks]:
    """Yield the responses of an agent in a conversation."""
    for item in content:
        if (native := own_native(item, agent_id)) is not None:
            yield native


def own_native(item: conversation.Content, agent_id: str) -> ResponseBlocks | None:
    """Return the response of an agent that an item is, or None."""
    if not isinstance(item, conversation.AssistantContent) or item.agent_id != agent_id:
        return None
    return item.native if isinstance(item.native, ResponseBlocks) else None


def _is_refusal(item: conversation.Content, agent_id: str) -> bool:
    """Return whether the server declined a turn with an item."""
    native = own_native(item, agent_id)
    return native is not None and native.refused

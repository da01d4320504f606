"""Keep a long conversation within what the model can read, in the request only: the chat log stays whole."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from homeassistant.components.conversation import AssistantContent, Content, ToolResultContent, UserContent
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_bytes

from .responses import ResponseBlocks

MAX_CONTEXT = 100_000
"""Tokens of a request beyond which older things are left out, however much the model could read: every request pays for all
of them again, and a conversation about a home refers to the last few minutes."""
LOW_MARK = 0.5
"""The part of the limit that is left after something had to go. What was left out stays out, and nothing more goes until the
limit is reached again: the beginning of the request is the same for many turns, and is read from the cache."""
WORDS_MARK = 0.75
"""The part of the limit up to which words may stay once all results are cleared: they are worth more than room to spare."""

TOKENS_PER_CHARACTER = 0.4
"""What is assumed until the server has counted: more than JSON and most languages have."""
_PLAUSIBLE = (0.1, 2.0)
"""Tokens per character that a server may report; beyond them it counts something else."""
_ATTACHMENT_SIZE = 8_000
"""Characters that an image or a few pages of a document stand for."""

_CLEARED = llm.ToolResult(
    data={"cleared": "This result was left out to save space. Call the tool again if you need it."}
)
_CLEARED_SIZE = len(json_bytes(_CLEARED.data))
_DROPPED = "(The beginning of this conversation was left out to save space.)"


@dataclass(slots=True)
class Fitted:
    """What is left of a conversation."""

    content: list[Content]
    tokens: int
    """An estimate of what the request holds."""


@dataclass(slots=True)
class _Window:
    """What would be sent, while the conversation is gone through from its beginning as it came about."""

    content: Sequence[Content]
    sizes: list[int]
    total: int
    ratio: float = TOKENS_PER_CHARACTER
    start: int = 0
    """Everything before this is dropped; it is the border of a turn."""
    cleared: int = 0
    """Every tool result before this is cleared."""

    @property
    def tokens(self) -> int:
        """Return an estimate of the request's tokens."""
        return int(self.total * self.ratio)

    def correct(self, item: AssistantContent) -> bool:
        """Learn from what the server counted for the request that an item answers; return whether it has counted."""
        if not (isinstance(item.native, ResponseBlocks) and item.native.tokens and self.total):
            return False
        low, high = _PLAUSIBLE
        self.ratio = min(max(item.native.tokens / self.total, low), high)
        return True

    def shrink(self, limit: int, end: int) -> None:
        """Clear older tool results before an item and then, if that is not enough, drop older turns."""
        goal = int(limit * LOW_MARK)
        last = end
        # The model has not read the last round of results yet.
        while last and isinstance(self.content[last - 1], ToolResultContent):
            last -= 1
        while self.tokens > goal and self.cleared < last:
            if isinstance(self.content[self.cleared], ToolResultContent) and self.cleared >= self.start:
                self.total -= max(0, self.sizes[self.cleared] - _CLEARED_SIZE)
                self.sizes[self.cleared] = min(self.sizes[self.cleared], _CLEARED_SIZE)
            self.cleared += 1
        if self.tokens <= limit * WORDS_MARK:
            return
        for border in range(self.start + 1, end):
            if self.tokens <= goal:
                break
            if not isinstance(self.content[border], UserContent):
                continue
            self.total -= sum(self.sizes[self.start : border])
            self.start = border


def fit(content: Sequence[Content], overhead: int, limit: int, sizes: dict[int, int]) -> Fitted:
    """Return the part of a conversation to send, so that a request stays below a limit of tokens, as far as that is possible.

    The same conversation gives the same outcome, and a longer one the same for its beginning. overhead is the size of the
    system prompt and the tools in characters; sizes keeps what was measured for the next call.
    """
    measured = [sizes.get(id(item)) or _measured(item, sizes) for item in content]
    window = _Window(content, measured, overhead)
    whole = overhead + sum(measured)
    if whole * _PLAUSIBLE[1] <= limit:  # However the server counted, nothing ever had to go.
        window.total = whole
        for item, size in zip(reversed(content), reversed(measured), strict=True):
            window.total -= size
            if isinstance(item, AssistantContent) and window.correct(item):
                break
        window.total = whole
        return Fitted(list(content), window.tokens)
    for index, item in enumerate(content):
        if isinstance(item, AssistantContent):
            # Here a request was sent, with everything that came before.
            if window.tokens > limit:
                window.shrink(limit, index)
            window.correct(item)
        window.total += measured[index]
    if window.tokens > limit:
        window.shrink(limit, len(content))
    if not (window.cleared or window.start):
        return Fitted(list(content), window.tokens)
    left = [
        replace(item, result=_CLEARED)
        if index < window.cleared and isinstance(item, ToolResultContent) and _measured(item, sizes) > _CLEARED_SIZE
        else item
        for index, item in enumerate(content[window.start :], window.start)
    ]
    return Fitted([UserContent(content=_DROPPED), *left] if window.start else left, window.tokens)


def _measured(item: Content, sizes: dict[int, int]) -> int:
    """Return the size of an item in characters; items never change."""
    if (size := sizes.get(id(item))) is None:
        size = sizes[id(item)] = size_of(item)
    return size


def size_of(item: Content) -> int:
    """Measure an item."""
    match item:
        case ToolResultContent():
            return len(json_bytes(item.result.data))
        case UserContent():
            return len(item.content) + _ATTACHMENT_SIZE * len(item.attachments or ())
        case AssistantContent(native=ResponseBlocks(blocks=blocks)):
            return len(json_bytes(blocks))
        case _:
            calls = item.tool_calls if isinstance(item, AssistantContent) else None
            return len(item.content or "") + sum(len(json_bytes(call.tool_args)) for call in calls or ())

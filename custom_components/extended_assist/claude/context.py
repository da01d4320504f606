"""Keep a long conversation within what the model can read, in the request only: the chat log stays whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from homeassistant.components.conversation import AssistantContent, Content, ToolResultContent, UserContent
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_bytes

from ..cameras.image_cache import LookResult, PictureReference
from .response_blocks import ResponseBlocks

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
MAX_PICTURES = 20
"""Pictures of one request: of more, the service takes only smaller ones, and none that a user attaches in full size."""
_MAX_UNREAD = 80
"""Pictures of results that the model has not read yet: the service takes a hundred, and those of results are small enough."""
MAX_BYTES = 31_000_000
"""Bytes of one request: the service takes 32 million, of which the marks and names around all that is counted have some."""
_UNSEEN = "The pictures were left out to save space. Look again if they are needed."
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
    blind: int = 0
    """Every picture before this is left out of its result."""
    pictures: int = 0
    """How many are in it, attached ones included."""
    attached: int = 0
    heavier: int = 0
    """Bytes that pictures and attached files have beyond the characters that they stand for."""
    files: Mapping[Path, int] = field(default_factory=dict)
    """The bytes of attached files, encoded."""

    @property
    def bytes(self) -> int:
        """Return an estimate of the request's bytes."""
        return self.total + self.heavier

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
        self._leave_out_pictures(goal, MAX_PICTURES // 2, int(MAX_BYTES * LOW_MARK), last)
        while self.tokens > goal and self.cleared < last:
            if isinstance(self.content[self.cleared], ToolResultContent) and self.cleared >= self.start:
                self.total -= max(0, self.sizes[self.cleared] - _CLEARED_SIZE)
                self.sizes[self.cleared] = min(self.sizes[self.cleared], _CLEARED_SIZE)
            self.cleared += 1
        if self.tokens > limit * WORDS_MARK or self.bytes > MAX_BYTES:
            self._drop_turns(goal, end)
        # Rather than a request that is refused, the model reads what the newest results say without seeing.
        self._leave_out_pictures(limit, _MAX_UNREAD if not self.attached else MAX_PICTURES, MAX_BYTES, end)

    def _drop_turns(self, goal: int, end: int) -> None:
        """Drop older turns before an item until so many tokens are left."""
        for border in range(self.start + 1, end):
            if self.tokens <= goal and self.bytes <= MAX_BYTES:
                break
            if not isinstance(self.content[border], UserContent):
                continue
            self.total -= sum(self.sizes[self.start : border])
            self.pictures -= sum(map(_attached, self.content[self.start : border]))
            self.heavier -= sum(_beyond(item, self.files) for item in self.content[self.start : border])
            self.start = border

    def _leave_out_pictures(self, goal: int, most: int, room: int, end: int) -> None:
        """Leave out the oldest pictures of results before an item until there are so many tokens, pictures and bytes left."""
        while self.blind < end and (self.tokens > goal or self.pictures > most or self.bytes > room):
            item = self.content[self.blind]
            if pictures := _references(item):
                self.pictures -= len(pictures)
                seen = min(self.sizes[self.blind], _size_of(pictures))
                self.total -= seen
                self.sizes[self.blind] -= seen
                self.heavier -= sum(one.size for one in pictures) - seen
            self.blind += 1

    def add(self, index: int) -> None:
        """Add an item at the end."""
        item = self.content[index]
        self.total += self.sizes[index]
        self.attached += _attached(item)
        self.pictures += _attached(item) + len(pictures := _references(item))
        self.heavier += _beyond(item, self.files) + sum(one.size for one in pictures) - _size_of(pictures)

    def is_too_large(self, limit: int) -> bool:
        """Return whether something has to go."""
        return self.tokens > limit or self.pictures > MAX_PICTURES or self.bytes > MAX_BYTES


def fit(
    content: Sequence[Content],
    overhead: int,
    limit: int,
    sizes: dict[int, int],
    files: Mapping[Path, int] | None = None,
) -> Fitted:
    """Return the part of a conversation to send, so that a request stays below a limit of tokens, as far as that is possible.

    The same conversation gives the same outcome, and a longer one the same for its beginning. overhead is the size of the
    system prompt and the tools in characters; sizes keeps what was measured for the next call; files are the bytes of attached files, encoded.
    """
    measured = [sizes.get(id(item)) or _measured(item, sizes) for item in content]
    window = _Window(content, measured, overhead, files=files or {})
    whole = overhead + sum(measured)
    carriers = [item for item in content if _attached(item) or _references(item)]
    # However the server counted, nothing ever had to go.
    if (
        whole * _PLAUSIBLE[1] <= limit
        and _count(carriers) <= MAX_PICTURES
        and not _is_heavy(carriers, whole, window.files)
    ):
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
            if window.is_too_large(limit):
                window.shrink(limit, index)
            window.correct(item)
        window.add(index)
    if window.is_too_large(limit):
        window.shrink(limit, len(content))
    if not (window.cleared or window.start or window.blind):
        return Fitted(list(content), window.tokens)
    left = [
        replace(item, result=_CLEARED)
        if index < window.cleared and isinstance(item, ToolResultContent) and _measured(item, sizes) > _CLEARED_SIZE
        else _unseen(item)
        if index < window.blind and _references(item)
        else item
        for index, item in enumerate(content[window.start :], window.start)
    ]
    return Fitted([UserContent(content=_DROPPED), *left] if window.start else left, window.tokens)


def _references(item: Content) -> tuple[PictureReference, ...]:
    """Return the pictures that belong to a result."""
    if isinstance(item, ToolResultContent) and isinstance(item.result, LookResult):
        return item.result.pictures
    return ()


def _attached(item: Content) -> int:
    """Return how many files the user attached to a message."""
    return len(item.attachments or ()) if isinstance(item, UserContent) else 0


def _count(content: Sequence[Content]) -> int:
    """Return how many pictures there are."""
    return sum(_attached(item) + len(_references(item)) for item in content)


def _beyond(item: Content, files: Mapping[Path, int]) -> int:
    """Return how many bytes the files that are attached to a message have beyond what they stand for."""
    if not isinstance(item, UserContent):
        return 0
    return sum(files.get(file.path, 0) - _ATTACHMENT_SIZE for file in item.attachments or ())


def _is_heavy(carriers: Sequence[Content], whole: int, files: Mapping[Path, int]) -> bool:
    """Return whether a conversation with all its pictures and files, which carriers hold, may have too many bytes."""
    return (
        whole + sum(_beyond(item, files) + sum(one.size for one in _references(item)) for item in carriers) > MAX_BYTES
    )


def _size_of(pictures: Sequence[PictureReference]) -> int:
    """Return how many characters pictures stand for."""
    return int(sum(one.tokens for one in pictures) / TOKENS_PER_CHARACTER)


def _unseen(item: Content) -> Content:
    """Return a result without its pictures."""
    if not isinstance(item, ToolResultContent):
        return item  # What the user attached stays.
    return replace(item, result=llm.ToolResult(data={**item.result.data, "note": _UNSEEN}))


def _measured(item: Content, sizes: dict[int, int]) -> int:
    """Return the size of an item in characters; items never change."""
    if (size := sizes.get(id(item))) is None:
        size = sizes[id(item)] = size_of(item)
    return size


def size_of(item: Content) -> int:
    """Measure an item."""
    match item:
        case ToolResultContent():
            return len(json_bytes(item.result.data)) + _size_of(_references(item))
        case UserContent():
            return len(item.content) + _ATTACHMENT_SIZE * len(item.attachments or ())
        case AssistantContent(native=ResponseBlocks(blocks=blocks)):
            return len(json_bytes(blocks))
        case _:
            calls = item.tool_calls if isinstance(item, AssistantContent) else None
            return len(item.content or "") + sum(len(json_bytes(call.tool_args)) for call in calls or ())

"""Fit a long conversation into the model's context window, in the request only: the chat log stays complete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from homeassistant.components.conversation import AssistantContent, Content, ToolResultContent, UserContent
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_bytes

from ..cameras.image_cache import LookResult, PictureReference
from .response_blocks import ResponseBlocks

MAX_CONTEXT = 100_000
"""The most tokens of a request, even if the model can read more: each request pays for all of them again, and a conversation
about a home refers to the last few minutes.
"""
LOW_MARK = 0.5
"""The share of the limit that is kept when older items are left out. They stay out, and nothing more is left out until the
limit is reached again, so that many turns begin alike and the server's cache is used.
"""
WORDS_MARK = 0.75
"""The share of the limit that words may take after all tool results are cleared."""

TOKENS_PER_CHARACTER = 0.4
"""The estimate until the server has counted: higher than for JSON and most languages."""
_PLAUSIBLE = (0.1, 2.0)
"""Plausible tokens per character; a server that reports others counts something else."""
_ATTACHMENT_SIZE = 8_000
"""Characters that an image or a few pages of a document count for."""

_CLEARED = llm.ToolResult(
    data={"cleared": "This result was left out to save space. Call the tool again if you need it."}
)
MAX_PICTURES = 20
"""The most images of one request: of more, the service accepts only smaller ones."""
_MAX_UNREAD = 80
"""The most pictures of results that the model has not read yet; the service accepts a hundred small ones."""
MAX_BYTES = 31_000_000
"""The most bytes of one request: the service accepts 32 million with all markup."""
_UNSEEN = "The pictures were left out to save space. Look again if they are needed."
_CLEARED_SIZE = len(json_bytes(_CLEARED.data))
_DROPPED = "(The beginning of this conversation was left out to save space.)"


@dataclass(slots=True)
class Fitted:
    """The part of a conversation that is sent."""

    content: list[Content]
    tokens: int
    """The estimated tokens of the request."""


@dataclass(slots=True)
class _Window:
    """The part of a conversation that is sent, built up item by item."""

    content: Sequence[Content]
    sizes: list[int]
    total: int
    ratio: float = TOKENS_PER_CHARACTER
    start: int = 0
    """Items before this index are dropped; a turn begins there."""
    cleared: int = 0
    """Tool results before this index are cleared."""
    blind: int = 0
    """Images before this index are left out of their results."""
    pictures: int = 0
    """The number of images, with attached ones."""
    attached: int = 0
    heavier: int = 0
    """Bytes of images and files beyond the characters that they count for."""
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
        """Learn the tokens per character from the server's count for an answer; return whether it counted."""
        if not (isinstance(item.native, ResponseBlocks) and item.native.tokens and self.total):
            return False
        low, high = _PLAUSIBLE
        self.ratio = min(max(item.native.tokens / self.total, low), high)
        return True

    def shrink(self, limit: int, end: int) -> None:
        """Clear older tool results before an item and, if that is not enough, drop older turns."""
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
        """Leave out the oldest images before an item until limits of tokens, images and bytes hold."""
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
        """Return whether a limit is exceeded."""
        return self.tokens > limit or self.pictures > MAX_PICTURES or self.bytes > MAX_BYTES


def fit(
    content: Sequence[Content],
    overhead: int,
    limit: int,
    sizes: dict[int, int],
    files: Mapping[Path, int] | None = None,
) -> Fitted:
    """Return the part of a conversation that fits into a limit of tokens, as far as possible.

    The same conversation always gives the same result, and a longer one the same for its beginning. `overhead` is the size of
    the system prompt and the tools in characters; `sizes` caches sizes for the next call; `files` are the encoded bytes of
    attached files.
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
    if isinstance(item, ToolResultContent) and isinstance(item.result, LookResult):
        return item.result.pictures
    return ()


def _attached(item: Content) -> int:
    return len(item.attachments or ()) if isinstance(item, UserContent) else 0


def _count(content: Sequence[Content]) -> int:
    return sum(_attached(item) + len(_references(item)) for item in content)


def _beyond(item: Content, files: Mapping[Path, int]) -> int:
    if not isinstance(item, UserContent):
        return 0
    return sum(files.get(file.path, 0) - _ATTACHMENT_SIZE for file in item.attachments or ())


def _is_heavy(carriers: Sequence[Content], whole: int, files: Mapping[Path, int]) -> bool:
    """Return whether a conversation with all its images and files may have too many bytes."""
    return (
        whole + sum(_beyond(item, files) + sum(one.size for one in _references(item)) for item in carriers) > MAX_BYTES
    )


def _size_of(pictures: Sequence[PictureReference]) -> int:
    return int(sum(one.tokens for one in pictures) / TOKENS_PER_CHARACTER)


def _unseen(item: Content) -> Content:
    """Return a result without its images."""
    if not isinstance(item, ToolResultContent):
        return item  # What the user attached stays.
    return replace(item, result=llm.ToolResult(data={**item.result.data, "note": _UNSEEN}))


def _measured(item: Content, sizes: dict[int, int]) -> int:
    """Return the size of an item in characters; items never change, so the size is cached."""
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

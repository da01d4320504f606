"""Split a question that is too long into portions, consequential items first.

A yes counts only after all consequential items were asked, however many portions this takes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Final
import unicodedata

from ..calls.visible_text import one_line

MAX_HEARD: Final = 400
"""Maximum characters of a spoken portion: half a minute, after which listeners forget the beginning."""
MAX_READ: Final = 4_000
"""Maximum characters of a written portion: two screens of a phone, which the user can scroll back."""
_DENSE: Final = 3
"""The weight of one Chinese, Japanese or Korean character, because it takes longer to say."""
_SHARE: Final = 4
"""The title and the earlier plan may each take up to 1/_SHARE of a portion."""
_LEAST: Final = 120
"""Minimum characters of a portion for its items."""


@dataclass(frozen=True, slots=True)
class Item:
    """One effect of a plan in a question."""

    words: str
    matters: bool
    """True if a yes counts only after this item was asked."""


@dataclass(frozen=True, slots=True)
class PortionedQuestion:
    """A question, split into portions."""

    portions: tuple[str, ...]
    needed: int
    """The number of portions that must have been asked before a yes counts."""


def question_of(
    says: Mapping[str, str],
    before: Sequence[str],
    lines: Sequence[str],
    items: Sequence[Item],
    *,
    title: str,
    room: int,
    remark: str = "",
) -> PortionedQuestion:
    """Return the question whether to do all of this: in one portion if it fits into `room`, otherwise in several.

    The remark comes directly before the final question, in the portion from which on a yes counts.
    """
    whole, title = _whole(says, before, lines, remark), one_line(title)
    items = [replace(item, words=one_line(item.words)) for item in items]
    if length(whole) <= room:
        return PortionedQuestion((whole,), 1)
    opening = [says["changed"].format(before=_cut("; ".join(before), room // _SHARE))] if before else []
    opening += [_cut(title, room // _SHARE)] if title else []
    opening.append(says["parts"].format(count=len(items)))
    ordered = sorted(items, key=lambda item: not item.matters)
    endings = max(length(says["more"]), length(says["rest"]) + length(remark) + length(says["shall"]))
    first = max(_LEAST, room - endings - length("\n".join(opening)))
    packed = [*_packed(ordered, first, max(_LEAST, room - endings))]
    needed = max(
        (number for number, lines in enumerate(packed, 1) if any(item.matters for _, item, _ in lines)), default=1
    )
    portions = []
    for number, told in enumerate(packed, 1):
        left = [item for later in packed[number:] for _, item, is_last in later if is_last]
        if number < needed:
            ending = [says["more"].format(count=sum(item.matters for item in left))]
        else:
            ending = [says["rest"].format(count=len(left))] if left else []
            ending += [*([remark] if remark and number == needed else []), says["shall"]]
        portions.append(
            "\n".join([*(opening if number == 1 else ()), *(f"- {words}" for words, _, _ in told), *ending])
        )
    return PortionedQuestion(tuple(portions), needed)


def length(text: str) -> int:
    """Return the length of a text when spoken, in characters of an alphabet."""
    return sum(_DENSE if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _whole(says: Mapping[str, str], before: Sequence[str], lines: Sequence[str], remark: str) -> str:
    """Return the question as one portion."""
    told = list(lines)
    parts = [says["changed"].format(before="; ".join(before))] if before else []
    if len(told) > 1:
        parts.append(says["count"].format(count=len(told)))
        told = [f"- {line}" for line in told]
    elif told[0][-1:].isalnum():
        told = [f"{told[0]}."]
    return "\n".join([*parts, *told, *([remark] if remark else []), says["shall"]])


def _packed(items: Sequence[Item], first: int, room: int) -> Iterator[list[tuple[str, Item, bool]]]:
    """Yield the portions: pieces of items, each with its item and whether it is the item's last piece."""
    portion: list[tuple[str, Item, bool]] = []
    free = first
    for item in items:
        pieces = _pieces(item.words, min(first, room))
        for number, piece in enumerate(pieces, 1):
            if (free := free - length(piece) - 3) < 0 and portion:
                yield portion
                portion, free = [], room - length(piece) - 3
            portion.append((piece, item, number == len(pieces)))
    yield portion


def _pieces(text: str, room: int) -> list[str]:
    """Return a text in pieces that fit into `room`, cut between words where possible."""
    width = max(1, room * len(text) // max(1, length(text)) - 3)
    return wrap(text, width, break_on_hyphens=False) or [""]


def _cut(text: str, room: int) -> str:
    """Return a text, cut to its beginning if it is longer than `room`."""
    return text if length(text) <= room else f"{_pieces(text, room)[0]} …"

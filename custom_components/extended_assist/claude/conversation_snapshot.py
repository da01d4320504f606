"""A snapshot of the beginning of each conversation, so that later requests repeat it unchanged, with notes on what changed.

A server's cache only matches identical beginnings, and the thinking of newer models is valid only while nothing before it
changes. So each request of a conversation repeats the first instructions and tools; changes are sent with the newest
message, where they stay. If there are too many changes, the conversation starts with new instructions.
https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
import re
from time import monotonic
from typing import Any

from homeassistant.components.conversation import ChatLog, Content, UserContent
from homeassistant.util import dt as dt_util

from ..results import format_minute
from .current_states import Present

MAX_CONVERSATIONS = 64
"""The most conversations at a time."""
KEPT_FOR = 900.0
"""Seconds of silence after which a snapshot is dropped; Home Assistant drops a conversation after five minutes."""
MAX_TOLD = 2_000
"""The most characters of changes in one message: beyond them, new instructions cost less."""
MAX_TOLD_EVER = 4 * MAX_TOLD
"""The most characters of all changes in one conversation."""

# What a chat log adds to its prompt where no tool tells the time.
_CLOCK = re.compile(r"\nCurrent time is \d\d:\d\d:\d\d\. Today's date is \d{4}-\d\d-\d\d\.")
_CHANGED = "(Your instructions have changed since this conversation began.{gone}{new})"
_GONE = "\nNo longer so:\n{lines}"
_NEW = "\nNow:\n{lines}"
_TOOLS_GONE = "(These tools are gone: {names}.)"


def said_at(moment: datetime) -> str:
    """Return the weekday and local time of a message, to the minute."""
    return f"({dt_util.as_local(moment):%A} {format_minute(moment)})"


@dataclass(frozen=True, slots=True)
class _ToldPresent:
    """The current states that were sent with a message."""

    message: UserContent
    present: Present
    words: str
    is_whole: bool
    """True if it contains all states, and not only changes."""


@dataclass(slots=True)
class ConversationSnapshot:
    """The parts of one conversation's requests that must stay the same."""

    system: str | None = None
    """The system prompt, or None before the first request."""
    tools: list[Any] = field(default_factory=list)
    """The tools."""
    notes: dict[int, tuple[UserContent, str]] = field(default_factory=dict)
    """Notes sent with messages, beside time and current states, by identity of the message."""
    last_id: str | None = None
    """The server's id of its last answer."""
    _lasting: dict[int, tuple[UserContent, str]] = field(default_factory=dict)
    """Notes that stay valid for the conversation even if their message is no longer sent."""
    _told: str = ""
    """The instructions that the model has, with all changes."""
    _gone: frozenset[str] = frozenset()
    _clocks: dict[int, tuple[UserContent, str]] = field(default_factory=dict)
    """The time that was sent with each message."""
    _presents: dict[int, _ToldPresent] = field(default_factory=dict)
    """The current states that were sent with messages, in order."""

    def begin(
        self,
        system: str,
        tools: Sequence[Any],
        message: UserContent | None,
        notes: Sequence[str] = (),
        *,
        present: Present | None = None,
        earlier: Iterable[Content] | None = None,
    ) -> None:
        """Update the snapshot for the next turn: its instructions, tools, message and notes.

        `earlier` is the conversation so far. Notes whose message no longer exists, such as a declined one, are sent again.
        Each message has its own time, so the instructions need no clock.
        """
        if message:
            system = _CLOCK.sub("", f"\n{system}", count=1).removeprefix("\n")
        changes = self._changes(system, tools) if message else None
        if changes is None:
            self._begin_anew(system, tools)
        so_far = None if earlier is None else list(earlier)
        lasting = [*(() if so_far is None else self._lost(so_far)), *(changes or ())]
        if message is None:
            return
        for said in so_far or ():
            # Another agent answered it, or what was told with it was forgotten.
            if isinstance(said, UserContent) and said is not message and id(said) not in self._clocks:
                self._clocks[id(said)] = (said, said_at(said.created))
        self._clocks.setdefault(id(message), (message, said_at(dt_util.utcnow())))
        self._tell(message, present, so_far)
        if told := [*lasting, *notes]:
            self.notes[id(message)] = (message, "\n".join(told))
        if lasting:
            self._lasting[id(message)] = (message, "\n".join(lasting))

    def _tell(self, message: UserContent, present: Present | None, so_far: Iterable[Content] | None) -> None:
        """Send current states with a message: only the changes, if they are shorter and their base is still sent."""
        self._presents.pop(id(message), None)
        if present is None:
            return
        chain: list[_ToldPresent] = []
        for told in self._presents.values():
            chain = [told] if told.is_whole else [*chain, told]
        there = None if so_far is None else {id(item) for item in so_far}
        is_there = there is None or all(id(told.message) in there for told in chain)
        words = present.since(chain[-1].present) if chain and is_there else None
        length = sum(len(told.words) for told in chain[1:]) + len(words or "")
        if words is None or length > len(present.whole):
            self._presents[id(message)] = _ToldPresent(message, present, present.whole, is_whole=True)
        else:
            self._presents[id(message)] = _ToldPresent(message, present, words, is_whole=False)

    def lasting(self, messages: Iterable[Content]) -> list[str]:
        """Return the notes that are still valid."""
        gone = {id(message) for message in messages}
        told = [words for number, (_, words) in self._lasting.items() if number in gone]
        return [*told, *self._present_of(gone)]

    def _present_of(self, gone: set[int]) -> list[str]:
        """Return the states of the last dropped message if a later message only has changes to them."""
        for last, told in pairwise(self._presents.values()):
            if id(last.message) in gone and id(told.message) not in gone and not told.is_whole:
                return [last.present.whole]
        return []

    def _lost(self, earlier: Iterable[Content]) -> list[str]:
        there = {id(item) for item in earlier}
        gone = [number for number in self._lasting if number not in there]
        return [self._lasting.pop(number)[1] for number in gone]

    def note(self, message: UserContent) -> str | None:
        """Return the note of a message."""
        number = id(message)
        parts = [found[number][1] for found in (self.notes, self._clocks) if number in found]
        parts += [self._presents[number].words] if number in self._presents else []
        return "\n".join(parts) or None

    def leave_out(self, name: str) -> Mapping[str, Any]:
        """Stop sending a tool; return its definition."""
        gone: Mapping[str, Any] = next(tool for tool in self.tools if tool["name"] == name)
        self.tools = [tool for tool in self.tools if tool is not gone]
        return gone

    def _begin_anew(self, system: str, tools: Sequence[Any]) -> None:
        self.system = self._told = system
        self.tools = list(tools)
        self.notes, self._lasting, self._presents, self._gone = {}, {}, {}, frozenset()

    def _changes(self, system: str, tools: Sequence[Any]) -> list[str] | None:
        """Return notes about the changes, or None if the conversation must start with new instructions."""
        known = {tool["name"]: tool for tool in self.tools}
        offered = {tool["name"]: tool for tool in tools}
        if self.system is None or any(known.get(name) != tool for name, tool in offered.items()):
            return None
        if (told := _changed_lines(self._told, system)) is None:
            return None
        gone = frozenset(known.keys() - offered.keys())
        if gone - self._gone:
            told.append(_TOOLS_GONE.format(names=", ".join(sorted(gone - self._gone))))
        length = sum(map(len, told))
        ever = length + sum(len(note) for _, note in self._lasting.values())
        if self._gone - gone or length > MAX_TOLD or ever > MAX_TOLD_EVER:
            return None
        self._told, self._gone = system, gone
        return told


def _changed_lines(before: str, now: str) -> list[str] | None:
    """Return the changed lines of a text, or None if lines alone do not describe the change.

    That is the case if lines change places, if one of several equal lines changes, and for lines that are indented under
    a line that changes.
    """
    if before == now:
        return []
    old, new = list(_lines(before)), list(_lines(now))
    known, holding = frozenset(old), frozenset(new)
    gone = [line for line in dict.fromkeys(old) if line not in holding]
    added = [line for line in dict.fromkeys(new) if line not in known]
    if [line for line in old if line in holding] != [line for line in new if line in known]:
        return None
    if any(line[0].isspace() for line in (*gone, *added)):
        return None
    if not (gone or added):
        return []
    return [
        _CHANGED.format(
            gone=_GONE.format(lines="\n".join(gone)) if gone else "",
            new=_NEW.format(lines="\n".join(added)) if added else "",
        )
    ]


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of instructions; a line of an area also has the area's name and floor."""
    floor = area = ""
    for line in text.splitlines():
        if line.startswith("[[") and line.endswith("]]"):
            floor = f"{line} "
        elif line.startswith("[") and line.endswith("]"):
            area = line
        elif floor and line.startswith("["):
            yield f"{floor}{line.rstrip()}"
        elif line.strip():
            # Where the list of areas ends, no area has such a line.
            area = area if ": " in line else ""
            floor = floor if area else ""
            yield f"{floor}{area} {line.strip()}" if area else line.rstrip()


class ConversationSnapshots:
    """The snapshots of active conversations, by conversation and agent."""

    def __init__(self) -> None:
        """Start empty."""
        self._kept: dict[tuple[str, str], tuple[float, Content, ConversationSnapshot]] = {}

    def of(self, chat_log: ChatLog, agent_id: str) -> ConversationSnapshot:
        """Return the snapshot of a conversation; a new one if Home Assistant has dropped the conversation."""
        key, now = (chat_log.conversation_id, agent_id), monotonic()
        kept = self._kept.pop(key, None)
        # An id may come again for another conversation; what was said first in it does not.
        first = chat_log.content[min(1, len(chat_log.content) - 1)]
        snapshot = kept[2] if kept and kept[1] is first else ConversationSnapshot()
        self._kept[key] = (now, first, snapshot)
        for other, (used, _, _) in list(self._kept.items()):
            if used > now - KEPT_FOR and len(self._kept) <= MAX_CONVERSATIONS:
                break  # The oldest come first.
            del self._kept[other]
        return snapshot


def names_of(tools: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of tools."""
    return frozenset(str(tool["name"]) for tool in tools)

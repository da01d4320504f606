"""What the server remembers of its answers, to tell whether they come back as they were.

Thinking is signed for the conversation in which it came about: for the system prompt, the tools and the messages before it, and
for the thinking block that came before. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
import json
from typing import Any

type Block = dict[str, Any]
type Body = dict[str, Any]

THINKING = ("thinking", "redacted_thinking")


@dataclass(frozen=True)
class Thought:
    """A thinking block that was issued."""

    text: str | None
    """None for a redacted one, which has none."""
    model: str
    run: tuple[str, ...]
    """The keys of the thinking blocks that followed each other in its response, itself included."""
    before: str | None
    """The key of the thinking block before it, in its response or in what it answered."""
    length: int
    """How many blocks, thinking left out, were sent before it."""
    prefix: str
    """What those blocks, the system prompt and the tools are known by."""
    cut: bool
    """Whether its response broke off, so that nobody knows what would have followed."""


@dataclass
class Memory:
    """The answers so far."""

    thoughts: dict[str, Thought] = field(default_factory=dict)
    refused: list[list[str]] = field(default_factory=list)
    """The last user turns, block by block, of requests that the model declined."""
    paused: set[str] = field(default_factory=set)
    """The last blocks of responses that the client is to send back as they are, to be continued."""
    encrypted: set[str] = field(default_factory=set)
    """What of search results must come back unchanged."""
    containers: set[str] = field(default_factory=set)
    """Where code was run that the client may go on with."""
    calls: dict[str, bool] = field(default_factory=dict)
    """Whether the response that a call stood in began with thinking."""

    def began_without_thinking(self, call_id: str) -> bool:
        """Return whether a call stood in a response that did not begin with thinking."""
        return self.calls.get(call_id) is False

    def remember(
        self, message: dict[str, Any], body: Body, transformed: Sequence[dict[str, str]] = (), *, cut: bool = False
    ) -> None:
        """Take in an answer to a request; transformed are the thinking blocks in it that were not taken as they were."""
        if container := message.get("container"):
            self.containers.add(container["id"])
        runs = thinking_runs(message["content"])
        prefixes = Prefixes(body) if runs else Prefixes({"messages": []})
        length, prefix = len(prefixes), prefixes.at(len(prefixes))
        dropped = {entry["path"] for entry in transformed if entry["type"] == "thinking_dropped"}
        before = next((key for place, key in reversed(_keys(body["messages"])) if place not in dropped), None)
        for run in runs:
            keys = tuple(key_of(block) for block in run)
            for block, key in zip(run, keys, strict=True):
                text = block.get("thinking")
                self.thoughts[key] = Thought(text, message["model"], keys, before, length, prefix, cut)
                before = key
        for block in message["content"]:
            self.encrypted.update(encrypted_in(block))
            if block["type"] == "tool_use":
                self.calls[block["id"]] = message["content"][0]["type"] in THINKING
        asked = last_user_turn(body["messages"])
        if message["stop_reason"] == "refusal":
            self.refused.append(asked)
        elif asked in self.refused:
            self.refused.remove(asked)
        if message["stop_reason"] == "pause_turn" and message["content"]:
            self.paused.add(mark_of(message["content"][-1]))


def key_of(block: Block) -> str:
    """Return what a thinking block is known by."""
    return str(block["signature"] if block["type"] == "thinking" else block["data"])


def _keys(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the keys of all thinking blocks of messages, with their places."""
    return [
        (f"messages.{index}.content.{number}", key_of(block))
        for index, message in enumerate(messages)
        for number, block in enumerate(message["content"] if isinstance(message["content"], list) else ())
        if block["type"] in THINKING
    ]


def thinking_runs(blocks: list[Block]) -> list[list[Block]]:
    """Return the thinking blocks that follow each other."""
    runs: list[list[Block]] = []
    follows = False
    for block in blocks:
        thinks = block["type"] in THINKING
        if thinks and follows:
            runs[-1].append(block)
        elif thinks:
            runs.append([block])
        follows = thinks
    return runs


def flattened(messages: list[dict[str, Any]]) -> list[str]:
    """Return every block of messages with its role, but thinking, each as one text."""
    return [_text({"role": role} | block) for role, block in _all(messages) if block["type"] not in THINKING]


class Prefixes:
    """What the system prompt, the tools and the first so many blocks of a request are known by."""

    def __init__(self, body: Body) -> None:
        """Take a request; marks of the cache do not count."""
        system = body.get("system") or []
        blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
        self._system = [_text(block) for block in blocks]
        self._tools = [(tool, _text(tool)) for tool in body.get("tools") or []]
        self._sent = flattened(body["messages"])
        self._digests = [sha256()]
        for text in self._sent:
            following = self._digests[-1].copy()
            following.update(text.encode())
            self._digests.append(following)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._sent)

    def at(self, length: int) -> str:
        """Return the key of what comes before a place."""
        # A tool that is left to be searched for is no part of it until a search has found it.
        known = [text for tool, text in self._tools if not tool.get("defer_loading") or self._found(tool, length)]
        return json.dumps([self._system, known, self._digests[length].hexdigest()])

    def _found(self, tool: dict[str, Any], length: int) -> bool:
        """Return whether a search has found a tool before a place."""
        reference = json.dumps({"tool_name": tool.get("name"), "type": "tool_reference"}, sort_keys=True)
        return any(reference in text for text in self._sent[:length])


def last_user_turn(messages: list[dict[str, Any]]) -> list[str]:
    """Return the blocks of what the user said last."""
    said: list[str] = []
    for message in reversed(messages):
        if message["role"] != "user":
            break
        said = [*flattened([message]), *said]
    return said


def mark_of(block: Block) -> str:
    """Return what a block is recognised by, whatever a client leaves out of it."""
    kept = ("type", "id", "tool_use_id", "text", "name")
    return json.dumps({key: block[key] for key in kept if key in block}, sort_keys=True)


def encrypted_in(block: Block) -> list[str]:
    """Return the encrypted parts of a search result."""
    if block["type"] != "web_search_tool_result" or not isinstance(block.get("content"), list):
        return []
    return [str(page.get("encrypted_content")) for page in block["content"]]


def _all(messages: list[dict[str, Any]]) -> list[tuple[str, Block]]:
    return [
        (message["role"], block)
        for message in messages
        for block in (
            [{"type": "text", "text": message["content"]}]
            if isinstance(message["content"], str)
            else message["content"]
        )
    ]


def _text(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    """Return a value without marks of the cache, which may move."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items() if key != "cache_control"}
    return [_plain(part) for part in value] if isinstance(value, list) else value

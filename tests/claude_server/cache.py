"""The provider's prompt cache, as its documentation describes it.

A request is a row of blocks: tools, then the system prompt, then the messages. A mark (`cache_control`) writes one entry,
for everything up to its block; a later request finds an entry at one of its own marks, or by walking back from a mark over
at most twenty places, where calls that follow each other count as one place, and so do results. Short prefixes are not
kept. https://platform.claude.com/docs/en/build-with-claude/prompt-caching
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
import json
from time import monotonic
from typing import Any

from .stream import tokens_of

type Body = dict[str, Any]

MAX_MARKS = 4
LOOKBACK = 20
LIFETIMES = {"5m": 300.0, "1h": 3600.0}
MINIMUM = 1024
"""Tokens that a prefix must have, where a model has no number of its own."""
MINIMUM_OF = {"claude-haiku-4-5-20251001": 4096, "claude-opus-5-5": 512}
_ONE_PLACE = ("tool_use", "tool_result")


@dataclass(frozen=True)
class Block:
    """A block, what it and all before it are known by, and how much that is."""

    place: int
    key: str
    size: int
    lifetime: str | None
    """How long the mark on it keeps the prefix, or None without a mark."""


def marks(body: Body) -> dict[str, str]:
    """Return where a request is marked, in the order in which it is read, and for how long each mark keeps."""
    return {
        path: mark.get("ttl", "5m") for path, _, content in _content(body) if (mark := content.get("cache_control"))
    }


def input_tokens(body: Body) -> int:
    """Return the tokens of a whole request."""
    blocks = list(_blocks(body))
    return blocks[-1].size if blocks else 0


class PromptCache:
    """What the server has kept and for how long; `found` tells how much each request read from it."""

    def __init__(self) -> None:
        self.now: Callable[[], float] = monotonic
        self.found: list[int] = []
        self._entries: dict[str, tuple[float, float]] = {}

    def usage(self, body: Body) -> dict[str, int]:
        """Read a request with the cache, and return its tokens: new ones, written ones, and those that were found."""
        blocks = list(_blocks(body))
        total = blocks[-1].size if blocks else 0
        found = max((self._find(blocks, index) for index, block in enumerate(blocks) if block.lifetime), default=0)
        kept = 0
        least = MINIMUM_OF.get(body["model"], MINIMUM)
        for block in blocks:
            if block.lifetime and block.size >= least:
                lifetime = LIFETIMES[block.lifetime]
                self._entries[block.key] = (self.now() + lifetime, lifetime)
                kept = block.size
        self.found.append(found)
        return {
            "input_tokens": total - max(kept, found),
            "cache_creation_input_tokens": max(kept - found, 0),
            "cache_read_input_tokens": found,
        }

    def _find(self, blocks: list[Block], index: int) -> int:
        """Return the size of the longest kept prefix that a mark finds; finding it keeps it for as long again."""
        first = blocks[index].place - LOOKBACK + 1
        for block in reversed(blocks[: index + 1]):
            if block.place < first:
                break
            expires, lifetime = self._entries.get(block.key, (0.0, 0.0))
            if expires > self.now():
                self._entries[block.key] = (self.now() + lifetime, lifetime)
                return block.size
        return 0


def _blocks(body: Body) -> Iterator[Block]:
    """Yield the blocks of a request; what a setting changes is not found again."""
    digest = sha256(json.dumps([body["model"], body.get("thinking"), body.get("output_config")]).encode())
    place, size, before = -1, 0, None
    for path, kind, content in _content(body):
        if path == "messages.0.0":
            digest.update(json.dumps(body.get("tool_choice")).encode())
        mark = content.get("cache_control")
        plain = {key: value for key, value in content.items() if key != "cache_control"}
        written = json.dumps(plain)
        digest.update(f"{path} {written}".encode())
        size += tokens_of(written)
        place += not (kind in _ONE_PLACE and kind == before)
        before = kind
        yield Block(place, digest.hexdigest(), size, mark.get("ttl", "5m") if mark else None)


def _content(body: Body) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what a request holds, in the order in which it is read: where, of which kind, and what."""
    for index, tool in enumerate(tool for tool in body.get("tools") or [] if not tool.get("defer_loading")):
        yield f"tools.{index}", "tool", tool
    for index, block in enumerate(_listed(body.get("system") or [])):
        yield f"system.{index}", "system", block
    for index, message in enumerate(body["messages"]):
        for number, block in enumerate(_listed(message["content"])):
            yield f"messages.{index}.{number}", block["type"], {"role": message["role"], **block}


def _listed(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content

"""Which thinking may go back: that before which nothing has changed.

https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from homeassistant.helpers.json import json_bytes

THINKING = frozenset({"thinking", "redacted_thinking"})
"""The blocks that are bound to what came before them."""
_SHOWN = 64
"""Characters of a file's content that stand for it, with its length: whole files would take long."""


class Prefix:
    """What a request has held so far, as a number that is another for anything else."""

    def __init__(self, *beginning: Any) -> None:
        """Begin with what stands before all messages."""
        self._digest = blake2b(json_bytes(beginning), digest_size=16)

    def add(self, role: str, blocks: Iterable[dict[str, Any]]) -> None:
        """Add to it; how blocks are grouped to messages makes no difference."""
        for block in blocks:
            self._digest.update(json_bytes([role, _short(block)]))

    @property
    def digest(self) -> str:
        """The number."""
        return self._digest.hexdigest()


def _short(block: dict[str, Any]) -> Any:
    """Return a block, or a short form of one that holds a file."""
    source = block.get("source")
    if not isinstance(source, dict) or not isinstance(data := source.get("data"), str):
        return block
    return [block["type"], len(data), data[:_SHOWN], data[-_SHOWN:]]

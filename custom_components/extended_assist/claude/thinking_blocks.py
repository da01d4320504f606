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
        self.beginning = self._digest.digest()
        """The digest of what stands before all messages; tools are long, and are not kept for it."""
        self._added: list[Any] = []

    def add(self, role: str, blocks: Iterable[dict[str, Any]]) -> None:
        """Add to it; how blocks are grouped to messages makes no difference."""
        self._added += _flat(role, blocks)

    @property
    def digest(self) -> str:
        """The number."""
        if self._added:
            self._digest.update(_written(self._added))
            self._added = []
        return self._digest.hexdigest()

    def digest_with(self, role: str, blocks: Iterable[dict[str, Any]]) -> str:
        """Return the number of this and more, which is not added."""
        known = self.digest
        if not (more := _flat(role, blocks)):
            return known
        digest = self._digest.copy()
        digest.update(_written(more))
        return digest.hexdigest()


def _flat(role: str, blocks: Iterable[dict[str, Any]]) -> list[Any]:
    """Return blocks, each behind its role."""
    return [one for block in blocks for one in (role, _short(block))]


def _written(added: list[Any]) -> bytes:
    """Return additions as bytes; without brackets, so that parts that come one by one equal those that come in one go."""
    return json_bytes(added)[1:-1] + b","


def _short(block: dict[str, Any]) -> Any:
    """Return a block, or a short form of one that holds a file."""
    if isinstance(inner := block.get("content"), list):
        return {**block, "content": [_short(one) if isinstance(one, dict) else one for one in inner]}
    source = block.get("source")
    if not isinstance(source, dict) or not isinstance(data := source.get("data"), str):
        return block
    return [block["type"], len(data), data[:_SHOWN], data[-_SHOWN:]]

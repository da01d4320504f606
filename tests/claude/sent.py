"""What was sent, block by block."""

from itertools import pairwise
from typing import Any


def unmarked(value: Any) -> Any:
    """Return a part of a request without its cache marks, which are no content."""
    if isinstance(value, dict):
        return {key: unmarked(part) for key, part in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def blocks_of(value: Any) -> list[Any]:
    """Return content, or a system prompt, as blocks without marks."""
    return [{"type": "text", "text": value}] if isinstance(value, str) else unmarked(value or [])


def assert_append_only(requests: list[dict[str, Any]]) -> None:
    """Check that each request of a conversation begins with all of the one before."""
    for before, after in pairwise(requests):
        assert blocks_of(after.get("system")) == blocks_of(before.get("system"))
        assert unmarked(after.get("tools")) == unmarked(before.get("tools"))
        sent = [[message["role"], block] for message in before["messages"] for block in blocks_of(message["content"])]
        again = [[message["role"], block] for message in after["messages"] for block in blocks_of(message["content"])]
        assert again[: len(sent)] == sent

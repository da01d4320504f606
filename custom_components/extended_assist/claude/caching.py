"""Cache marks in requests, so that the server can reuse the parts of a prompt that it has already processed.

A server with a cache reads tools, system prompt and messages in this order, and stores an entry at each mark, up to four,
for everything before it. Later it finds an entry only at a mark, or up to twenty blocks before one.
https://platform.claude.com/docs/en/build-with-claude/prompt-caching
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from .client import ANTHROPIC_URL


class PromptCache(StrEnum):
    """How long the server caches tools and system prompt."""

    OFF = "off"
    FIVE_MINUTES = "5m"
    HOUR = "1h"


def default_cache(base_url: str) -> PromptCache:
    """Return the default for a server: servers of others may not know the field."""
    return PromptCache.FIVE_MINUTES if base_url == ANTHROPIC_URL else PromptCache.OFF


def with_marks(request: Mapping[str, Any], cache: PromptCache) -> dict[str, Any]:
    """Return a copy of a request with cache marks.

    The marks are at the last tool, which all agents and users share; the system prompt; the end of this request; and the
    end of the previous request, so that it is found however many blocks followed.
    """
    marked = dict(request)
    if cache is PromptCache.OFF:
        return marked
    lasting: dict[str, str] = {"type": "ephemeral"}
    if cache is PromptCache.HOUR:
        lasting["ttl"] = cache.value
    if tools := marked.get("tools"):
        last = max((index for index, tool in enumerate(tools) if not tool.get("defer_loading")), default=-1)
        marked["tools"] = [
            {**tool, "cache_control": lasting} if index == last else tool for index, tool in enumerate(tools)
        ]
    if isinstance(system := marked.get("system"), str):
        marked["system"] = [{"type": "text", "text": system, "cache_control": lasting}]
    messages = list(marked["messages"])
    # A conversation does not outlive five minutes of silence, so its messages need no longer, dearer entries.
    for index in [index for index, message in enumerate(messages) if message["role"] == "user"][-2:]:
        *blocks, end = messages[index]["content"]
        messages[index] = {
            **messages[index],
            "content": [*blocks, {**end, "cache_control": {"type": "ephemeral"}}],
        }
    marked["messages"] = messages
    return marked

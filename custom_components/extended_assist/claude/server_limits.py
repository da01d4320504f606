"""What a server refused of a model, so that the next conversation does without it from its first request on."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import monotonic
from typing import Any

from .options import AgentOptions

KEPT_FOR = 86_400.0
"""Seconds after which it is tried again: a day later, the server may have been mended."""
_FIELDS = "fields"
_ANSWER = "answer"
_CONTEXT = "context"


class Refused:
    """What a server refused, by model; kept in memory alone, so that it is tried again once the entry is loaded anew."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._kept: dict[tuple[str, str], tuple[float, Any]] = {}
        self._tools: dict[tuple[str, str], tuple[float, tuple[Mapping[str, Any], str]]] = {}

    def keep_fields(self, model: str) -> None:
        """Ask a model no more how to think."""
        self._kept[model, _FIELDS] = (monotonic(), True)

    def keep_answer(self, model: str, tokens: int) -> None:
        """Ask a model for no longer answers."""
        self._kept[model, _ANSWER] = (monotonic(), tokens)

    def keep_context(self, model: str, tokens: int) -> None:
        """Send a model no longer requests."""
        self._kept[model, _CONTEXT] = (monotonic(), tokens)

    def keep_tool(self, model: str, tool: Mapping[str, Any], why: str) -> None:
        """Send a model a tool no more while it stays as it is."""
        self._tools[model, tool["name"]] = (monotonic(), (tool, why))

    def left(self, options: AgentOptions) -> AgentOptions:
        """Return the options without those that were refused."""
        if _fresh(self._kept, (options.model, _FIELDS)):
            options = replace(options, thinking=None, effort=None)
        return with_answer(options, _fresh(self._kept, (options.model, _ANSWER)) or options.max_tokens)

    def context(self, model: str, limit: int) -> int:
        """Return the most tokens of a request, where no more than a limit is wanted."""
        return min(limit, _fresh(self._kept, (model, _CONTEXT)) or limit)

    def contexts(self) -> dict[str, int]:
        """Return the tokens that models turned out to be able to read, where that is less than was thought."""
        return {model: tokens for (model, what), (_, tokens) in self._kept.items() if what == _CONTEXT}

    def tools(self, model: str, tools: Iterable[Mapping[str, Any]]) -> dict[str, str]:
        """Return which of some tools were refused as they are, and why."""
        found = {tool["name"]: (tool, _fresh(self._tools, (model, tool["name"]))) for tool in tools}
        return {name: kept[1] for name, (tool, kept) in found.items() if kept and kept[0] == tool}


def with_answer(options: AgentOptions, tokens: int) -> AgentOptions:
    """Return options for answers of no more than so many tokens."""
    if tokens >= options.max_tokens:
        return options
    thinking = options.thinking
    if thinking and thinking.get("budget_tokens", 0) >= tokens:
        thinking = None
    return replace(options, max_tokens=tokens, thinking=thinking)


def _fresh[K, V](kept: dict[K, tuple[float, V]], key: K) -> V | None:
    moment, value = kept.get(key, (0.0, None))
    return value if value is not None and monotonic() - moment < KEPT_FOR else None

"""Leave out what a server refused: in the next try of a request, and in all later requests to that model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
import re
from time import monotonic
from typing import Any

from .options import AgentOptions

_INDEX = re.compile(r"\btools\.(\d+)\b")
_NAME = re.compile(r"\b[Tt]ool(?: name)? [`'\"]([a-zA-Z0-9_-]+)[`'\"]")
_THINKING = re.compile(r"thinking|signature|effort", re.IGNORECASE)
_THOUGHT = re.compile(r"messages\.|signature|redacted_thinking|thinking` blocks?\b", re.IGNORECASE)
"""Matches errors about earlier thinking, and not about the thinking options."""
_ANSWER = re.compile(r"max_tokens: \d+ > (\d+)")

_MOST_TOOLS = 3
"""The most tools that are left out one after the other while a user waits."""


class Repair(StrEnum):
    """The parts that can be left out, in the order in which this is tried."""

    ANSWER = "answer"
    THINKING = "thinking"
    TOOL = "tool"
    SHORTER = "shorter"


class Repairs:
    """The repairs of one request: each is tried once, but for tools, of which several may be refused."""

    def __init__(self) -> None:
        """Start without repairs."""
        self._tried: list[Repair] = []
        self.learnt: list[Callable[[], None]] = []
        """Callbacks for when the server accepts a request, so that later requests are right from the start."""

    def next(self, words: str, tools: Sequence[Any], *, has_thought: bool, asks_to_think: bool) -> tuple[Repair, str]:
        """Return the next repair, and the name of the tool if one is left out.

        `has_thought`: the conversation contains thinking. `asks_to_think`: the request has thinking options. The length comes
        last; after it there is nothing left to try.
        """
        tool = _tool_in(words, tools)
        if Repair.ANSWER not in self._tried and longest_answer(words):
            repair = Repair.ANSWER
        elif Repair.THINKING not in self._tried and (
            (has_thought and tool is None) or (asks_to_think and _THINKING.search(words))
        ):
            repair = Repair.THINKING
        elif tool is not None and self._tried.count(Repair.TOOL) < _MOST_TOOLS:
            repair = Repair.TOOL
        else:
            repair = Repair.SHORTER
        self._tried.append(repair)
        return repair, tool or ""

    @property
    def is_over(self) -> bool:
        """Return whether all repairs were tried."""
        return Repair.SHORTER in self._tried


def is_about_fields(words: str) -> bool:
    """Return whether an error is about the thinking options, and not about a message."""
    return _THINKING.search(words) is not None and _THOUGHT.search(words) is None


def longest_answer(words: str) -> int | None:
    """Return the limit for the length of an answer that an error names, or None."""
    return int(found[1]) if (found := _ANSWER.search(words)) else None


def without_fields(request: dict[str, Any]) -> None:
    """Remove the thinking options from a request."""
    request.pop("thinking", None)
    output = {key: value for key, value in request.pop("output_config", {}).items() if key != "effort"}
    request |= {"output_config": output} if output else {}


def without_budget(request: dict[str, Any], room: int = 0) -> None:
    """Remove a thinking budget that does not leave room for the answer."""
    if request.get("thinking", {}).get("budget_tokens", 0) >= max(room, 1):
        del request["thinking"]


def _tool_in(words: str, tools: Sequence[Any]) -> str | None:
    """Return the name of our tool that an error is about, or None."""
    ours = [tool["name"] if "input_schema" in tool else None for tool in tools]
    if (found := _INDEX.search(words)) and int(found[1]) < len(ours):
        return ours[int(found[1])]
    if (found := _NAME.search(words)) and found[1] in ours:
        return found[1]
    return None


KEPT_FOR = 86_400.0
"""Seconds after which a refused part is tried again: the server may be updated within a day."""
_FIELDS = "fields"
_ANSWER_TOKENS = "answer"
_CONTEXT = "context"


class Refused:
    """What a server refused for each model, in memory only: reloading the entry clears it."""

    def __init__(self) -> None:
        """Start empty."""
        self._kept: dict[tuple[str, str], tuple[float, Any]] = {}
        self._tools: dict[tuple[str, str], tuple[float, tuple[Mapping[str, Any], str]]] = {}

    def keep_fields(self, model: str) -> None:
        """Send a model no thinking options."""
        self._kept[model, _FIELDS] = (monotonic(), True)

    def keep_answer(self, model: str, tokens: int) -> None:
        """Limit the answers of a model."""
        self._kept[model, _ANSWER_TOKENS] = (monotonic(), tokens)

    def keep_context(self, model: str, tokens: int) -> None:
        """Limit the requests to a model."""
        self._kept[model, _CONTEXT] = (monotonic(), tokens)

    def keep_tool(self, model: str, tool: Mapping[str, Any], why: str) -> None:
        """Stop sending a tool to a model while the tool is unchanged."""
        self._tools[model, tool["name"]] = (monotonic(), (tool, why))

    def left(self, options: AgentOptions) -> AgentOptions:
        """Return the options without those that were refused."""
        if _fresh(self._kept, (options.model, _FIELDS)):
            options = replace(options, thinking=None, effort=None)
        return with_answer(options, _fresh(self._kept, (options.model, _ANSWER_TOKENS)) or options.max_tokens)

    def context(self, model: str, limit: int) -> int:
        """Return the most tokens of a request, at most `limit`."""
        return min(limit, _fresh(self._kept, (model, _CONTEXT)) or limit)

    def contexts(self) -> dict[str, int]:
        """Return the models that read fewer tokens than expected, with their limits."""
        return {model: tokens for (model, what), (_, tokens) in self._kept.items() if what == _CONTEXT}

    def tools(self, model: str, tools: Iterable[Mapping[str, Any]]) -> dict[str, str]:
        """Return the tools that were refused and are unchanged, with the reason."""
        found = {tool["name"]: (tool, _fresh(self._tools, (model, tool["name"]))) for tool in tools}
        return {name: kept[1] for name, (tool, kept) in found.items() if kept and kept[0] == tool}


def with_answer(options: AgentOptions, tokens: int) -> AgentOptions:
    """Return options with a limit for the tokens of an answer."""
    if tokens >= options.max_tokens:
        return options
    thinking = options.thinking
    if thinking and thinking.get("budget_tokens", 0) >= tokens:
        thinking = None
    return replace(options, max_tokens=tokens, thinking=thinking)


def _fresh[K, V](kept: dict[K, tuple[float, V]], key: K) -> V | None:
    moment, value = kept.get(key, (0.0, None))
    return value if value is not None and monotonic() - moment < KEPT_FOR else None

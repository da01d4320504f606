"""The options of an agent as request fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from anthropic import types

from homeassistant.const import CONF_MODEL

from ..const import (
    CONF_CONTEXT_TOKENS,
    CONF_EFFORT,
    CONF_MAX_TOKENS,
    CONF_MAX_TOOL_ROUNDS,
    CONF_PLAIN,
    CONF_PRESENT,
    CONF_PROMPT_CACHE,
    CONF_THINKING,
    CONF_THINKING_BUDGET,
    CONF_TOOL_SEARCH,
    CONF_WEB_FETCH,
    CONF_WEB_LOCATION,
    CONF_WEB_SEARCH,
)
from .caching import PromptCache
from .context import MAX_CONTEXT
from .models import EFFORTS, EFFORTS_THAT_THINK, Abilities

DEFAULT_MAX_TOKENS = 4_096
DEFAULT_MAX_TOOL_ROUNDS = 10
DEFAULT_CONTEXT_TOKENS = 32_000
"""The assumed context window of an unlisted model: usual for models at home, with room for the tools."""
# As in Home Assistant's own integration; models take their time by default, while a speaker waits in silence.
DEFAULT_THINKING = "adaptive"
DEFAULT_EFFORT = "low"
MIN_THINKING_BUDGET = 1_024
"""Tokens; the service refuses less."""
_MARGIN = 1_000
"""Tokens that are kept free because the size of a request is an estimate."""

_WEB_USES = 3
"""The most searches or fetches in one response."""
_FETCHED_TOKENS = 12_000
"""The most tokens of a fetched page."""
CONTEXT_EDITING = "context-management-2025-06-27"
_KEPT_TOOL_USES = 6
"""Tool calls whose results the server keeps when it clears older ones."""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The options of an agent, as far as its model supports them."""

    model: str
    abilities: Abilities
    max_tokens: int
    max_tool_rounds: int
    context_limit: int
    """The most tokens of a request; older items beyond it are left out."""
    plain: bool
    """True to send only the basic fields of the Messages API."""
    thinking: dict[str, Any] | None
    effort: str | None
    web_tools: tuple[dict[str, Any], ...]
    cache: PromptCache
    tool_search: bool
    """True if the model searches for rarely used tools."""
    present: int = 0
    """The most exposed entities whose states are sent with each message; 0 for never."""

    @property
    def binds(self) -> bool:
        """Whether thinking blocks are valid only while everything before them is unchanged."""
        return self.thinking is None or self.thinking["type"] != "enabled"

    @classmethod
    def of(
        cls,
        data: Mapping[str, Any],
        abilities: Abilities,
        location: Mapping[str, str] | None = None,
        default_cache: PromptCache = PromptCache.OFF,
    ) -> Self:
        """Read the data of a subentry; `location` is the part of the home's location that the model may know."""
        max_tokens = int(data.get(CONF_MAX_TOKENS, DEFAULT_MAX_TOKENS))
        if abilities.max_tokens:
            max_tokens = min(max_tokens, abilities.max_tokens)
        plain = bool(data.get(CONF_PLAIN, not abilities.listed))
        known = Abilities() if plain else abilities
        thinking = _thinking(data, known, max_tokens)
        return cls(
            model=data[CONF_MODEL],
            abilities=known,
            max_tokens=max_tokens,
            max_tool_rounds=int(data.get(CONF_MAX_TOOL_ROUNDS, DEFAULT_MAX_TOOL_ROUNDS)),
            context_limit=_context_limit(data, abilities, max_tokens),
            plain=plain,
            thinking=thinking,
            effort=_effort(data, known, thinking),
            web_tools=_web_tools(data, location) if known.web else (),
            cache=PromptCache.OFF if plain else PromptCache(data.get(CONF_PROMPT_CACHE, default_cache)),
            tool_search=bool(data.get(CONF_TOOL_SEARCH)) and known.tool_search,
            present=int(data.get(CONF_PRESENT, 0)),
        )


def _context_limit(data: Mapping[str, Any], abilities: Abilities, max_tokens: int) -> int:
    """Return the limit of a request that leaves room for the answer, unless the model is too small."""
    chosen = int(data.get(CONF_CONTEXT_TOKENS, 0))
    window = min(filter(None, (chosen, abilities.window)), default=DEFAULT_CONTEXT_TOKENS)
    return min(MAX_CONTEXT, max(window - max_tokens - _MARGIN, window // 2))


def _thinking(data: Mapping[str, Any], abilities: Abilities, max_tokens: int) -> dict[str, Any] | None:
    """Return the field for the chosen thinking, or for the default if the model has it."""
    chosen = (data.get(CONF_THINKING), DEFAULT_THINKING)
    kind = next((kind for kind in chosen if kind in abilities.thinking), None)
    if kind != "enabled":
        return {"type": kind} if kind else None
    budget = min(int(data.get(CONF_THINKING_BUDGET, MIN_THINKING_BUDGET)), max_tokens - 1)
    return {"type": kind, "budget_tokens": budget} if budget >= MIN_THINKING_BUDGET else None


def _effort(data: Mapping[str, Any], abilities: Abilities, thinking: dict[str, Any] | None) -> str | None:
    """Return the chosen effort, or the next lower one that the model has."""
    kind = thinking["type"] if thinking else None
    chosen = data.get(CONF_EFFORT)
    most = EFFORTS.index(chosen if chosen in EFFORTS else DEFAULT_EFFORT)
    possible = [level for level in EFFORTS[: most + 1] if level in abilities.effort and not needs_thinking(level, kind)]
    return possible[-1] if possible else None


def needs_thinking(effort: str | None, thinking: str | None) -> bool:
    """Return whether an effort level may be refused with a kind of thinking."""
    return effort in EFFORTS_THAT_THINK and thinking in ("disabled", "between_tools")


def _web_tools(data: Mapping[str, Any], location: Mapping[str, str] | None) -> tuple[dict[str, Any], ...]:
    """Return the tools that the server runs."""
    tools: list[dict[str, Any]] = []
    if data.get(CONF_WEB_SEARCH):
        search: dict[str, Any] = {"type": "web_search_20250305", "name": "web_search", "max_uses": _WEB_USES}
        if location and data.get(CONF_WEB_LOCATION):
            search["user_location"] = {"type": "approximate", **location}
        tools.append(search)
    if data.get(CONF_WEB_FETCH):
        tools.append(
            {
                "type": "web_fetch_20250910",
                "name": "web_fetch",
                "max_uses": _WEB_USES,
                "citations": {"enabled": True},
                "max_content_tokens": _FETCHED_TOKENS,
            }
        )
    return tuple(tools)


def model_fields(options: AgentOptions) -> dict[str, Any]:
    """Return the optional fields of a request that the model's abilities allow."""
    fields: dict[str, Any] = {}
    if options.thinking:
        fields["thinking"] = options.thinking
    if options.effort:
        fields["output_config"] = {"effort": options.effort}
    if options.abilities.context_editing:
        fields["context_management"] = {
            "edits": [
                {
                    "type": "clear_tool_uses_20250919",
                    "trigger": {"type": "input_tokens", "value": options.context_limit},
                    "keep": {"type": "tool_uses", "value": _KEPT_TOOL_USES},
                    # What is cleared is read anew into the cache, so that it must be worth it.
                    "clear_at_least": {"type": "input_tokens", "value": options.context_limit // 5},
                }
            ]
        }
    return fields


def inspected(request: dict[str, Any], options: AgentOptions, previous_id: str | None) -> dict[str, Any]:
    """Return a request that also asks for debugging data, which delays the first word.

    The data is a summary of the thinking, and the reason why the server read no more from its cache.
    """
    inspected = dict(request)
    if options.thinking and options.thinking["type"] in ("adaptive", "enabled") and "thinking" in request:
        inspected["thinking"] = {**request["thinking"], "display": "summarized"}
    if options.cache is not PromptCache.OFF and hasattr(types, "DiagnosticsParam"):
        inspected["diagnostics"] = {"previous_message_id": previous_id}
    return inspected

"""The models that the server lists.

They differ from one another in everything that a client must look at: thinking, effort, size, life cycle. The ids are
real ones, among them the default of core's own integration in every release served; the values beside them are
examples, not statements about those models.
"""

from dataclasses import dataclass
from typing import Any

LIFECYCLES = ("active", "deprecated", "retired")
# What a list holds when no life cycle is asked for.
DEFAULT_LIFECYCLES = ("active", "deprecated")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
THINKING_TYPES = ("adaptive", "between_tools", "disabled", "enabled")


@dataclass(frozen=True)
class Traits:
    """What the documentation says about a model and no list does."""

    thinks_unasked: str | None = None
    """How it thinks where the request does not say."""
    default_effort: str = "high"
    binds_thinking: bool = False
    """Whether its thinking is good only for the conversation in which it came about, unchanged."""
    forced_tools: bool = True
    """Whether it can be made to call a tool."""
    sampling: bool = True
    """Whether it takes temperature, top_p and top_k."""
    prefill: bool = True
    """Whether it goes on with a message that the client began in its name."""
    shows_thinking: bool = True
    """Whether a thinking block holds its text unless asked otherwise."""
    computer_tool: bool = True
    """Whether it takes the tool for using a computer that came before the toolset."""


_OLDER = Traits()
_NEWER = Traits(thinks_unasked="adaptive", sampling=False, prefill=False, shows_thinking=False)
# The pages are named in rules/pages.py: thinking, preserved thinking, effort, the migration guides.
_TRAITS = {
    "claude-opus-5-5": Traits("adaptive", "medium", True, False, False, False, False, computer_tool=False),
    "claude-sonnet-5-5": Traits("adaptive", "high", True, False, False, False, False),
    "claude-haiku-5-5": Traits("adaptive", "medium", True, True, False, False, False),
    "claude-fable-5-1": Traits("adaptive", "high", True, False, False, False, False),
    "claude-opus-5": _NEWER,
    "claude-sonnet-5": _NEWER,
    "claude-opus-4-8": Traits(sampling=False, prefill=False, shows_thinking=False),
    "claude-opus-4-7": Traits(sampling=False, prefill=False, shows_thinking=False),
    "claude-opus-4-6": Traits(prefill=False),
    "claude-sonnet-4-6": Traits(prefill=False),
}


def traits_of(model_id: str) -> Traits:
    """Return what is documented about a model; of one that is not named here, nothing is."""
    return _TRAITS.get(_alias(model_id), _OLDER)


def _support(names: tuple[str, ...], supported: tuple[str, ...]) -> dict[str, Any]:
    return {name: {"supported": name in supported} for name in names}


def capabilities(*, thinking: tuple[str, ...], effort: tuple[str, ...], programmatic: bool) -> dict[str, Any]:
    """The complete capabilities of SDK 2.3; 0.125 passes over what it does not know."""
    yes = {"supported": True}
    strategies = ("clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112")
    return {
        "batch": yes,
        "citations": yes,
        "code_execution": {"supported": programmatic},
        "context_management": {"supported": True, **_support(strategies, strategies)},
        "effort": {"supported": bool(effort), **_support(EFFORTS, effort)},
        "image_input": yes,
        "pdf_input": yes,
        "server_tools": {"supported": True, "code_execution": yes, "web_search": yes},
        "structured_outputs": yes,
        "thinking": {"supported": True, "types": _support(THINKING_TYPES, thinking)},
    }


def default_models() -> list[dict[str, Any]]:
    """Return a large model, the small default of core 2026.11, the small default of 2026.10, and a deprecated one."""
    return [
        {
            "type": "model",
            "id": "claude-opus-5-5",
            "display_name": "Claude Opus 5.5",
            "line": "opus",
            "created_at": "2026-10-13T00:00:00Z",
            "lifecycle": "active",
            "deprecated_at": None,
            "retires_at": None,
            "max_input_tokens": 1_000_000,
            "max_tokens": 128_000,
            "capabilities": capabilities(
                thinking=("adaptive", "between_tools", "disabled"), effort=EFFORTS, programmatic=True
            ),
        },
        {
            "type": "model",
            "id": "claude-haiku-5-5",
            "display_name": "Claude Haiku 5.5",
            "line": "haiku",
            "created_at": "2026-10-06T00:00:00Z",
            "lifecycle": "active",
            "deprecated_at": None,
            "retires_at": None,
            "max_input_tokens": 400_000,
            "max_tokens": 64_000,
            "capabilities": capabilities(
                thinking=("adaptive", "disabled"), effort=("low", "medium", "high"), programmatic=True
            ),
        },
        {
            "type": "model",
            "id": "claude-haiku-4-5-20251001",
            "display_name": "Claude Haiku 4.5",
            "line": "haiku",
            "created_at": "2025-10-15T00:00:00Z",
            "lifecycle": "active",
            "deprecated_at": None,
            "retires_at": None,
            "max_input_tokens": 200_000,
            "max_tokens": 64_000,
            "capabilities": capabilities(thinking=("disabled", "enabled"), effort=(), programmatic=False),
        },
        {
            "type": "model",
            "id": "claude-sonnet-4-5-20250929",
            "display_name": "Claude Sonnet 4.5",
            "line": "sonnet",
            "created_at": "2025-09-29T00:00:00Z",
            "lifecycle": "deprecated",
            "deprecated_at": "2026-06-01T00:00:00Z",
            "retires_at": "2026-11-30T00:00:00Z",
            "max_input_tokens": 200_000,
            "max_tokens": 64_000,
            "capabilities": capabilities(thinking=("disabled", "enabled"), effort=(), programmatic=True),
        },
    ]


def find_model(models: list[dict[str, Any]], model_id: str) -> dict[str, Any] | None:
    """Find a model by its id, or by its alias: the id without the date at its end."""
    return next((model for model in models if model_id in (model["id"], _alias(model["id"]))), None)


def _alias(model_id: str) -> str:
    alias, _, date = model_id.rpartition("-")
    return alias if len(date) == 8 and date.isdecimal() else model_id


def page_of_models(models: list[dict[str, Any]], query: dict[str, list[str]]) -> dict[str, Any]:
    """Return one page of the list; raises ValueError for parameters the API would refuse."""
    lifecycles = query.get("lifecycle[]") or query.get("lifecycle") or list(DEFAULT_LIFECYCLES)
    if unknown := set(lifecycles) - set(LIFECYCLES):
        raise ValueError(f"lifecycle: unknown value {', '.join(sorted(unknown))}")
    limit = int(query.get("limit", ["20"])[0])
    if not 1 <= limit <= 1000:
        raise ValueError("limit: must be between 1 and 1000")
    shown = [model for model in models if model.get("lifecycle", "active") in lifecycles]
    ids = [model["id"] for model in shown]
    if before := query.get("before_id"):
        shown = shown[: ids.index(before[0])]
        page = shown[-limit:]
    else:
        shown = shown[ids.index(query["after_id"][0]) + 1 :] if "after_id" in query else shown
        page = shown[:limit]
    return {
        "data": page,
        "has_more": len(shown) > limit,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
    }

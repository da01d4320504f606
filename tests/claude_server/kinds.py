"""The kinds of model that the list can describe, by name, so that a test can run on each.

Their thinking, effort and sizes are those of the documentation (the pages in rules/pages.py), but for the last three, which
say less or nothing of themselves, as other servers do.
"""

from typing import Any

from .models import EFFORTS, capabilities

_BELOW_XHIGH = ("low", "medium", "high", "max")
_MILLION = 1_000_000


def _model(model_id: str, window: int, longest: int, listed: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "type": "model",
        "id": model_id,
        "display_name": model_id.replace("-", " ").title(),
        "created_at": "2026-10-06T00:00:00Z",
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "max_input_tokens": window,
        "max_tokens": longest,
        **({} if listed is None else {"capabilities": listed}),
    }


def _without(listed: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return capabilities of which some are not supported."""
    return listed | {name: {"supported": False} for name in names}


MODEL_KINDS: dict[str, dict[str, Any]] = {
    "adaptive, may be off": _model(
        "claude-haiku-5-5",
        _MILLION,
        128_000,
        capabilities(thinking=("adaptive", "disabled"), effort=EFFORTS, programmatic=True),
    ),
    "adaptive, never off": _model(
        "claude-opus-5-5", _MILLION, 128_000, capabilities(thinking=("adaptive",), effort=EFFORTS, programmatic=True)
    ),
    "adaptive or between tools": _model(
        "claude-sonnet-5-5",
        _MILLION,
        128_000,
        capabilities(thinking=("adaptive", "between_tools"), effort=EFFORTS, programmatic=True),
    ),
    "adaptive only when asked": _model(
        "claude-opus-4-8",
        _MILLION,
        128_000,
        capabilities(thinking=("adaptive", "disabled"), effort=EFFORTS, programmatic=True),
    ),
    "adaptive or enabled": _model(
        "claude-sonnet-4-6",
        _MILLION,
        128_000,
        capabilities(thinking=("adaptive", "disabled", "enabled"), effort=_BELOW_XHIGH, programmatic=True),
    ),
    "enabled, without effort": _model(
        "claude-haiku-4-5-20251001",
        200_000,
        64_000,
        capabilities(thinking=("disabled", "enabled"), effort=(), programmatic=False),
    ),
    "enabled, with effort": _model(
        "claude-opus-4-5-20251101",
        200_000,
        64_000,
        capabilities(thinking=("disabled", "enabled"), effort=("low", "medium", "high"), programmatic=True),
    ),
    "without thinking": _model(
        "claude-3-5-haiku-20241022",
        200_000,
        8_192,
        _without(
            capabilities(thinking=(), effort=(), programmatic=False),
            *("server_tools", "structured_outputs", "context_management", "thinking"),
        ),
    ),
    "lists nothing as supported": _model("home-model", 32_000, 8_192, {}),
    "lists nothing": _model("bare-model", 32_000, 8_192, None),
}
"""By what a client must look at: which thinking there is, whether it can be turned off, effort, web tools, a search for tools."""

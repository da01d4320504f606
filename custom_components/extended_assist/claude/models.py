"""The abilities of models, as far as the server lists them."""

from collections.abc import Sequence
from dataclasses import dataclass
import re
from typing import Any, Self

from anthropic import types
from anthropic.resources.messages import messages
from anthropic.types import ModelInfo

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant, callback

from ..repair_issues.agents import (
    MODEL_DEPRECATED,
    MODEL_GONE,
    async_raise_issue,
    async_resolve_issue,
    async_resolve_unless_ignored,
)

# As the SDK writes days, whatever the locale.
_DAY = re.compile(r"(?P<month>[A-Z][a-z]+) (?P<day>\d{1,2})(?:st|nd|rd|th), (?P<year>\d{4})")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_PREFERRED = ("haiku", "sonnet")
"""Words in a model's id, best first: voice needs a quick answer."""

THINKING = ("disabled", "adaptive", "enabled") + (
    # Came with a version of the API that older SDKs do not ask for.
    ("between_tools",) if hasattr(types, "ThinkingConfigBetweenToolsParam") else ()
)
EFFORTS = ("low", "medium", "high", "xhigh", "max")
EFFORTS_THAT_THINK = frozenset({"xhigh", "max"})
"""Effort levels that some models refuse while thinking is off; no list says which."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """The abilities of a model; any that the server does not list count as missing."""

    listed: bool = False
    """True if the server lists abilities at all; otherwise only the basic fields of a request are used."""
    thinking: tuple[str, ...] = ()
    effort: tuple[str, ...] = ()
    images: bool = False
    documents: bool = False
    structured_output: bool = False
    web: bool = False
    """Whether the server can search the web and fetch pages."""
    tool_search: bool = False
    """Whether the server can search among many tools."""
    context_editing: bool = False
    """Whether the server can clear older tool results."""
    window: int | None = None
    """The most tokens of a request, or None if not listed."""
    max_tokens: int | None = None
    """The most tokens of an answer, or None if not listed."""

    @classmethod
    def of(cls, model: ModelInfo | None) -> Self:
        """Read the abilities that a server lists for a model."""
        listed = getattr(model, "capabilities", None)
        return cls(
            listed=listed is not None,
            thinking=tuple(kind for kind in THINKING if _supports(listed, "thinking", "types", kind)),
            effort=tuple(level for level in EFFORTS if _supports(listed, "effort", level)),
            images=_supports(listed, "image_input"),
            documents=_supports(listed, "pdf_input"),
            structured_output=_supports(listed, "structured_outputs"),
            web=_supports(listed, "server_tools", "web_search"),
            # No list tells of this tool alone; Home Assistant's own integration excludes the smallest line, and so does this.
            tool_search=_supports(listed, "server_tools") and "haiku" not in getattr(model, "id", "haiku"),
            context_editing=_supports(listed, "context_management", "clear_tool_uses_20250919"),
            window=_count(model, "max_input_tokens"),
            max_tokens=_count(model, "max_tokens"),
        )


def _part(value: Any, name: str) -> Any:
    """Return a field of a listed model; an older SDK leaves unknown fields as a mapping."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _supports(capabilities: Any, *path: str) -> bool:
    for name in path:
        capabilities = _part(capabilities, name)
    return _part(capabilities, "supported") is True


def _count(model: ModelInfo | None, name: str) -> int | None:
    """Return a positive number, or None for anything else."""
    value = getattr(model, name, None)
    return value if isinstance(value, int) and value > 0 else None


def _alias(model_id: str) -> str:
    """Return a model's id without the date at its end."""
    name, _, date = model_id.rpartition("-")
    return name if len(date) == 8 and date.isdecimal() else model_id


def find_model(models: Sequence[ModelInfo], model_id: str) -> ModelInfo | None:
    """Return the listed model with an id or alias, or None."""
    by_id = next((model for model in models if model.id == model_id), None)
    return by_id or next((model for model in models if _alias(model.id) == model_id), None)


def lifecycle(model: ModelInfo | None, model_id: str) -> str:
    """Return active, deprecated or retired; an unknown model counts as active."""
    listed = getattr(model, "lifecycle", None)
    if listed in ("deprecated", "retired"):
        return str(listed)
    return "deprecated" if _retirement_by_sdk(model, model_id) else "active"


def _retirement_by_sdk(model: ModelInfo | None, model_id: str) -> str | None:
    """Return the retirement date that the SDK knows; many servers list none."""
    told: dict[str, str] = getattr(messages, "DEPRECATED_MODELS", {})
    return told.get(model_id) or told.get(getattr(model, "id", model_id))


def retirement(model: ModelInfo | None, model_id: str) -> str | None:
    """Return the known retirement date of a model."""
    if listed := getattr(model, "retires_at", None):
        return str(listed)[:10]
    told = _retirement_by_sdk(model, model_id)
    return told and _iso_date(told)


def _iso_date(told: str) -> str:
    """Return a date such as November 6th, 2024 in ISO format, or unchanged."""
    if (parts := _DAY.fullmatch(told)) is None or (month := parts["month"]) not in _MONTHS:
        return told
    return f"{parts['year']}-{_MONTHS.index(month) + 1:02}-{int(parts['day']):02}"


def successors(models: Sequence[ModelInfo], model_id: str) -> list[ModelInfo]:
    """Return the active models, those of the same product line first."""
    line = line_of(find_model(models, model_id), model_id)
    active = [model for model in models if lifecycle(model, model.id) == "active"]
    return sorted(active, key=lambda model: line is None or line_of(model, model.id) != line)


def line_of(model: ModelInfo | None, model_id: str) -> str | None:
    """Return the product line of a model, such as haiku: as listed, or from its name."""
    if listed := getattr(model, "line", None):
        return str(listed)
    return next((word for word in ("haiku", "sonnet", "opus") if word in model_id), None)


def default_model(models: Sequence[ModelInfo]) -> str:
    """Return the id of the model for a new agent, or an empty string when the server lists none."""
    active = [model for model in models if lifecycle(model, model.id) == "active"]
    for word in _PREFERRED:
        for model in active:
            if word in model.id:
                return model.id
    return (active or models)[0].id if models else ""


@callback
def async_check_model(
    hass: HomeAssistant, entry: ConfigEntry, subentry: ConfigSubentry, *, is_gone: bool = False
) -> None:
    """Create or delete the repair issue of a model that is being retired or was not found."""
    model_id = subentry.data[CONF_MODEL]
    model = find_model(entry.runtime_data.models, model_id)
    stage = "retired" if is_gone else lifecycle(model, model_id)
    for key, is_due in ((MODEL_DEPRECATED, stage == "deprecated"), (MODEL_GONE, stage == "retired")):
        if is_due:
            placeholders = {"agent": subentry.title, "model": model_id, "date": retirement(model, model_id) or "?"}
            async_raise_issue(hass, key, entry.entry_id, subentry, placeholders)
        elif model is None:
            # The server lists no such model, or could not be asked: a turn will tell.
            async_resolve_unless_ignored(hass, subentry.subentry_id, key)
        else:
            async_resolve_issue(hass, key, subentry.subentry_id)

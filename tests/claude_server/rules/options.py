"""Fields of a request: which model takes which, and what they need."""

import typing

from anthropic.types.anthropic_beta_param import AnthropicBetaParam

from .pages import (
    BETA_HEADERS,
    CONTEXT_EDITING,
    DEFINE_TOOLS,
    EFFORT,
    ERRORS,
    EXTENDED_THINKING,
    HAIKU_5_5,
    MESSAGES,
    SONNET_5_5,
    THINKING,
    TROUBLE_WITH_THINKING,
    Page,
)
from .rule import Body, Request, rule
from .thinking import BINDING_BETA

MIN_BUDGET = 1024
MAX_USER_ID = 512
_REPORTED_SAMPLING = Page("https://github.com/BerriAI/litellm/issues/15097", "2025-10-01", documented=False)
_HIGHEST = ("xhigh", "max")

# Headers that an older SDK does not list.
_LATER_BETAS = {
    *("compact-2026-01-12", "context-management-2025-06-27", "mid-conversation-output-config-2026-07-01"),
    *("task-budgets-2026-03-13", "thinking-display-updates-2026-08-18", BINDING_BETA),
}
KNOWN_BETAS = _LATER_BETAS | set(typing.get_args(typing.get_args(AnthropicBetaParam)[1]))

NEEDS_BETA = {
    "context_management": ("context-management-2025-06-27", "compact-2026-01-12"),
    "mcp_servers": ("mcp-client-2025-04-04", "mcp-client-2025-11-20", "mcp-client-2026-09-15"),
    "fallbacks": ("server-side-fallback-2026-06-01", "server-side-fallback-2026-07-01"),
    "fallback_credit_token": ("fallback-credit-2026-06-01", "fallback-credit-2026-07-01"),
    "output_format": ("structured-outputs-2025-11-13",),
    "compaction": ("compact-2026-09-04",),
    "thread": ("message-threads-2026-08-12",),
    "thinking.block_binding": (BINDING_BETA,),
    "output_config.task_budget": ("task-budgets-2026-03-13",),
}
"""Fields that are unknown without one of these headers."""


def betas_needed(body: Body) -> frozenset[str]:
    """Return a header for each field that needs one."""
    return frozenset(betas[-1] for path, betas in NEEDS_BETA.items() if _value(body, path) is not None)


def _value(body: Body, path: str) -> typing.Any:
    """Return a field, or one inside it."""
    outer, _, inner = path.partition(".")
    value = body.get(outer)
    if not inner:
        return value
    return value.get(inner) if isinstance(value, dict) else None


@rule(MESSAGES, "Extra inputs are not permitted")
def fields(request: Request) -> str | None:
    """An unknown field, a value of another type, a missing field: as the installed SDK has it."""
    return request.type_problem


@rule(ERRORS, "model: ", status=404)
def unknown_model(request: Request) -> str | None:
    """A model that is unknown, or retired."""
    known = request.model.get("id") and request.model.get("lifecycle") != "retired"
    return None if known else f"model: {request.body['model']}"


@rule(BETA_HEADERS, "for the `anthropic-beta` header")
def unknown_beta(request: Request) -> str | None:
    """A beta header that the service does not know."""
    for name in sorted(request.betas - KNOWN_BETAS):
        return (
            f"Unexpected value(s) `{name}` for the `anthropic-beta` header. Please consult our documentation at "
            "platform.claude.com/docs or try again without the header."
        )
    return None


@rule(ERRORS, "Extra inputs are not permitted")
def field_without_its_beta(request: Request) -> str | None:
    """A field that needs a beta header, without it."""
    for path, betas in NEEDS_BETA.items():
        if _value(request.body, path) is not None and not request.betas & set(betas):
            return f"{path}: Extra inputs are not permitted"
    return None


@rule(MESSAGES, "max_tokens: ")
def max_tokens(request: Request) -> str | None:
    """A longer answer than the model can give; one of no tokens fills the cache only."""
    asked, most = request.body.get("max_tokens"), request.model.get("max_tokens")
    if asked is None:
        return None
    if asked < 0:
        return "max_tokens: Input should be greater than or equal to 0"
    if most is not None and asked > most:
        return f"max_tokens: {asked} > {most}, which is the maximum allowed number of output tokens"
    return None


@rule(MESSAGES)
def user_id(request: Request) -> str | None:
    """A name for the user that is longer than 512."""
    user = (request.body.get("metadata") or {}).get("user_id") or ""
    return "metadata.user_id: String should have at most 512 characters" if len(user) > MAX_USER_ID else None


@rule(ERRORS, "not supported")
def thinking_type(request: Request) -> str | None:
    """A kind of thinking that the model does not have."""
    asked = (request.body.get("thinking") or {}).get("type")
    if not asked or request.supports("thinking", "types", asked):
        return None
    if asked == "adaptive":
        return "adaptive thinking is not supported on this model"
    if asked == "disabled" and request.supports("thinking", "types", "between_tools"):
        return (
            'To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}. '
            'That "disabled" is not supported.'
        )
    if asked == "between_tools":
        return '"thinking.type.between_tools" is not supported for this model.'
    return (
        f'"thinking.type.{asked}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to '
        "control thinking behavior."
    )


@rule(EXTENDED_THINKING, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
def small_budget(request: Request) -> str | None:
    """A budget for thinking below the least."""
    budget = (request.body.get("thinking") or {}).get("budget_tokens")
    if budget is None or budget >= MIN_BUDGET:
        return None
    return f"thinking.enabled.budget_tokens: Input should be greater than or equal to {MIN_BUDGET}"


@rule(THINKING)
def display_without_thinking(request: Request) -> str | None:
    """How to show thinking, for a request without any."""
    thinking = request.body.get("thinking") or {}
    if thinking.get("type") in ("disabled", "between_tools") and len(thinking) > 1:
        return f"thinking.{thinking['type']}.{next(key for key in thinking if key != 'type')}: Extra inputs are not permitted"
    return None


@rule(EFFORT)
def unknown_effort(request: Request) -> str | None:
    """A level of effort that the model does not have."""
    if not (effort := request.effort) or request.supports("effort", effort):
        return None
    return f"output_config.effort: {effort} is not supported by this model"


@rule(TROUBLE_WITH_THINKING)
def effort_without_thinking(request: Request) -> str | None:
    """The highest levels of effort with thinking turned off, on models that think unless told otherwise."""
    thinking = (request.body.get("thinking") or {}).get("type")
    if request.traits.thinks_unasked and thinking == "disabled" and request.effort in _HIGHEST:
        return f"output_config.effort: {request.effort} needs thinking on this model"
    return None


@rule(SONNET_5_5)
def effort_between_tools(request: Request) -> str | None:
    """The highest levels of effort with thinking between tools only."""
    thinking = (request.body.get("thinking") or {}).get("type")
    if thinking == "between_tools" and request.effort in _HIGHEST:
        return f"output_config.effort: {request.effort} is not supported with thinking.type.between_tools"
    return None


@rule(ERRORS, 'tool_choice: type "tool" and "any" are not supported for this model.')
def forced_tool(request: Request) -> str | None:
    """Making the newest models call a tool."""
    if not request.forces_tool or request.traits.forced_tools:
        return None
    return 'tool_choice: type "tool" and "any" are not supported for this model.'


@rule(DEFINE_TOOLS, "Thinking may not be enabled when tool_choice forces tool use.")
def forced_tool_with_thinking(request: Request) -> str | None:
    """Making a model with manual thinking call a tool."""
    if not request.forces_tool or request.thinking != "enabled":
        return None
    return "Thinking may not be enabled when tool_choice forces tool use."


@rule(HAIKU_5_5)
def sampling(request: Request) -> str | None:
    """temperature, top_p or top_k other than they are anyway, on models that have dropped them."""
    if request.traits.sampling:
        return None
    for name, same in (("temperature", 1), ("top_p", 0.99), ("top_k", None)):
        if (value := request.body.get(name)) is not None and value != same:
            return f"`{name}` is not supported for this model."
    return None


@rule(THINKING, "when thinking is enabled")
def sampling_with_thinking(request: Request) -> str | None:
    """temperature, top_k or a low top_p while an older model thinks."""
    if request.thinking == "disabled" or not request.traits.sampling:
        return None
    if request.body.get("temperature") not in (None, 1):
        return "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."
    if request.body.get("top_k") is not None:
        return "`top_k` must be unset when thinking is enabled or in adaptive mode."
    if (top_p := request.body.get("top_p")) is not None and not 0.95 <= top_p <= 1:
        return "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode."
    return None


@rule(_REPORTED_SAMPLING, "`temperature` and `top_p` cannot both be specified for this model.")
def sampling_twice(request: Request) -> str | None:
    """temperature and top_p together."""
    if request.body.get("temperature") is None or request.body.get("top_p") is None:
        return None
    return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."


@rule(CONTEXT_EDITING)
def order_of_edits(request: Request) -> str | None:
    """Clearing of thinking that is not the first of the edits."""
    kinds = [edit["type"] for edit in (request.body.get("context_management") or {}).get("edits") or []]
    if "clear_thinking_20251015" in kinds[1:]:
        return "context_management.edits: clear_thinking_20251015 must be the first strategy"
    return None


RULES = (
    *(
        fields,
        unknown_model,
        unknown_beta,
        field_without_its_beta,
        max_tokens,
        user_id,
        thinking_type,
        small_budget,
        display_without_thinking,
    ),
    *(unknown_effort, effort_without_thinking, effort_between_tools, forced_tool, forced_tool_with_thinking),
    *(sampling, sampling_with_thinking, sampling_twice, order_of_edits),
)

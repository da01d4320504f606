"""What the SDKs that were looked at let a request hold, so that a new SDK with something new is noticed.

Whatever the installed SDK knows beyond this has no rule yet: read what the service says about it, add the rule, then the name.
"""

from typing import Any, Union, get_args, get_origin, get_type_hints

from anthropic.types import message_create_params, thinking_config_param, tool_choice_param, tool_union_param
from anthropic.types.beta import message_create_params as beta_params
from anthropic.types.tool_param import ToolParam
from typing_extensions import is_typeddict

FIELDS = frozenset(
    {
        *("cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model"),
        *("output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "temperature", "thinking"),
        *("tool_choice", "tools", "top_k", "top_p", "user_profile_id", "workspace_id"),
    }
)
BETA_FIELDS = frozenset(
    {
        *("betas", "compaction", "context_management", "fallback_credit_token", "fallbacks", "mcp_servers"),
        *("output_format", "thread"),
    }
)
THINKING = frozenset({"adaptive", "between_tools", "disabled", "enabled"})
TOOL_CHOICES = frozenset({"any", "auto", "none", "tool"})
TOOLS = frozenset(
    {
        *("bash_20250124", "browser_toolset_20260801", "computer_toolset_20260801", "custom"),
        *("code_execution_20250522", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"),
        *("memory_20250818", "text_editor_20250124", "text_editor_20250429", "text_editor_20250728"),
        *("tool_search_tool_bm25", "tool_search_tool_bm25_20251119"),
        *("tool_search_tool_regex", "tool_search_tool_regex_20251119"),
        *("web_fetch_20250910", "web_fetch_20260209", "web_fetch_20260309", "web_fetch_20260318"),
        *("web_search_20250305", "web_search_20260209", "web_search_20260318"),
    }
)
TOOL_FIELDS = frozenset(
    {
        *(
            "allowed_callers",
            "cache_control",
            "defer_loading",
            "description",
            "eager_input_streaming",
            "input_examples",
        ),
        *("input_schema", "name", "strict", "type"),
    }
)


def new_in_this_sdk() -> dict[str, set[str]]:
    """Return what the installed SDK knows and this module does not, by kind."""
    plain = set(get_type_hints(message_create_params.MessageCreateParamsStreaming))
    found = {
        "fields": plain - FIELDS,
        "fields of betas": set(get_type_hints(beta_params.MessageCreateParamsStreaming)) - FIELDS - BETA_FIELDS,
        "thinking": _types(thinking_config_param.ThinkingConfigParam) - THINKING,
        "tool choices": _types(tool_choice_param.ToolChoiceParam) - TOOL_CHOICES,
        "tools": _types(tool_union_param.ToolUnionParam) - TOOLS,
        "fields of tools": set(get_type_hints(ToolParam)) - TOOL_FIELDS,
    }
    return {kind: names for kind, names in found.items() if names}


def _types(union: Any) -> set[str]:
    """Return the types that the members of a union go by."""
    if get_origin(union) is Union or not is_typeddict(union):
        return {name for member in get_args(union) for name in _types(member)}
    return set(_literals(get_type_hints(union).get("type")))


def _literals(hint: Any) -> list[str]:
    return [value for part in get_args(hint) for value in ([part] if isinstance(part, str) else _literals(part))]

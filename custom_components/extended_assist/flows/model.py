"""The form for the options that depend on an agent's model; it only offers supported ones."""

from collections.abc import Mapping
from typing import Any

import voluptuous as vol

from homeassistant.helpers.selector import (
    BooleanSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
)

from ..claude.caching import PromptCache, default_cache
from ..claude.client import ANTHROPIC_URL
from ..claude.context import MAX_CONTEXT
from ..claude.models import Abilities
from ..claude.options import (
    DEFAULT_CONTEXT_TOKENS,
    DEFAULT_MAX_TOKENS,
    DEFAULT_MAX_TOOL_ROUNDS,
    MIN_THINKING_BUDGET,
    needs_thinking,
)
from ..const import (
    CONF_CONTEXT_TOKENS,
    CONF_EFFORT,
    CONF_MAX_TOKENS,
    CONF_MAX_TOOL_ROUNDS,
    CONF_MONTHLY_TOKENS,
    CONF_PLAIN,
    CONF_PROMPT_CACHE,
    CONF_THINKING,
    CONF_THINKING_BUDGET,
    CONF_TOOL_SEARCH,
    CONF_WEB_FETCH,
    CONF_WEB_LOCATION,
    CONF_WEB_SEARCH,
)

MODEL_KEYS = frozenset(
    {
        CONF_CONTEXT_TOKENS,
        CONF_EFFORT,
        CONF_MONTHLY_TOKENS,
        CONF_PLAIN,
        CONF_THINKING,
        CONF_THINKING_BUDGET,
        CONF_TOOL_SEARCH,
        CONF_WEB_FETCH,
        CONF_WEB_LOCATION,
        CONF_WEB_SEARCH,
    }
)
"""Options that only some models have, or that may be empty."""

_MIN_TOKENS = 256
_MAX_TOKENS = 128_000
_MAX_TOOL_ROUNDS = 50
_MIN_CONTEXT = 4_000
"""The fewest tokens of a context window; tools and instructions alone take about three thousand."""


def model_schema(abilities: Abilities, base_url: str) -> vol.Schema:
    """Return the form for a model; other servers than Anthropic's have additional fields."""
    limit = abilities.max_tokens or _MAX_TOKENS
    fields: dict[Any, Any] = {
        vol.Required(CONF_MAX_TOKENS, default=min(DEFAULT_MAX_TOKENS, limit)): whole_number(_MIN_TOKENS, limit),
        vol.Required(CONF_MAX_TOOL_ROUNDS, default=DEFAULT_MAX_TOOL_ROUNDS): whole_number(1, _MAX_TOOL_ROUNDS),
    }
    if abilities.thinking:
        fields[vol.Optional(CONF_THINKING)] = _choice(abilities.thinking, CONF_THINKING)
    if "enabled" in abilities.thinking:
        fields[vol.Optional(CONF_THINKING_BUDGET)] = whole_number(MIN_THINKING_BUDGET, limit - 1)
    if abilities.effort:
        fields[vol.Optional(CONF_EFFORT)] = _choice(abilities.effort, CONF_EFFORT)
    if abilities.web:
        for key in (CONF_WEB_SEARCH, CONF_WEB_FETCH, CONF_WEB_LOCATION):
            fields[vol.Required(key, default=False)] = BooleanSelector()
    if abilities.window is None:
        fields[vol.Required(CONF_CONTEXT_TOKENS, default=DEFAULT_CONTEXT_TOKENS)] = whole_number(
            _MIN_CONTEXT, MAX_CONTEXT * 2
        )
    if base_url != ANTHROPIC_URL:
        fields[vol.Required(CONF_PLAIN, default=not abilities.listed)] = BooleanSelector()
    return vol.Schema(fields | cost_fields(base_url, abilities))


def check_model(user_input: Mapping[str, Any]) -> dict[str, str]:
    """Return the errors of the form by field."""
    errors = {}
    if user_input.get(CONF_THINKING) == "enabled" and (
        user_input.get(CONF_THINKING_BUDGET, MIN_THINKING_BUDGET) >= user_input[CONF_MAX_TOKENS]
    ):
        errors[CONF_THINKING_BUDGET] = "thinking_budget_too_large"
    if needs_thinking(user_input.get(CONF_EFFORT), user_input.get(CONF_THINKING)):
        errors[CONF_EFFORT] = "effort_needs_thinking"
    return errors


def _choice(options: tuple[str, ...], translation_key: str) -> SelectSelector:
    """Return a selector with translated options."""
    return SelectSelector(
        SelectSelectorConfig(options=list(options), mode=SelectSelectorMode.DROPDOWN, translation_key=translation_key)
    )


def whole_number(minimum: int, maximum: int) -> Any:
    """Return a validator for a typed whole number."""
    selector = NumberSelector(NumberSelectorConfig(min=minimum, max=maximum, step=1, mode=NumberSelectorMode.BOX))
    return vol.All(selector, vol.Coerce(int))


_MIN_MONTHLY_TOKENS = 10_000
"""The fewest monthly tokens; a single question would use fewer."""
_MAX_MONTHLY_TOKENS = 10_000_000_000


def cost_fields(base_url: str, abilities: Abilities) -> dict[Any, Any]:
    """Return the fields for the cache lifetime, the tool search and the monthly token limit."""
    return {
        vol.Required(CONF_PROMPT_CACHE, default=default_cache(base_url).value): SelectSelector(
            SelectSelectorConfig(
                options=[cache.value for cache in PromptCache],
                mode=SelectSelectorMode.DROPDOWN,
                translation_key=CONF_PROMPT_CACHE,
            )
        ),
        **({vol.Required(CONF_TOOL_SEARCH, default=False): BooleanSelector()} if abilities.tool_search else {}),
        **monthly_tokens_field(),
    }


def monthly_tokens_field() -> dict[Any, Any]:
    """Return the field for the monthly token limit; empty means no limit."""
    selector = NumberSelector(
        NumberSelectorConfig(min=_MIN_MONTHLY_TOKENS, max=_MAX_MONTHLY_TOKENS, step=1, mode=NumberSelectorMode.BOX)
    )
    return {vol.Optional(CONF_MONTHLY_TOKENS): vol.All(selector, vol.Coerce(int))}

"""The fields of an agent that decide what it costs."""

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
from ..claude.models import Abilities
from ..const import CONF_MONTHLY_TOKENS, CONF_PROMPT_CACHE, CONF_TOOL_SEARCH

_MIN_MONTHLY_TOKENS = 10_000
"""Fewer would be used up by a single question."""
_MAX_MONTHLY_TOKENS = 10_000_000_000


def cost_fields(base_url: str, abilities: Abilities) -> dict[Any, Any]:
    """Return the fields of a form: how long a server caches, whether a model searches for tools, and a month's limit."""
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
    """Return the field for the month's tokens; empty means no limit."""
    selector = NumberSelector(
        NumberSelectorConfig(min=_MIN_MONTHLY_TOKENS, max=_MAX_MONTHLY_TOKENS, step=1, mode=NumberSelectorMode.BOX)
    )
    return {vol.Optional(CONF_MONTHLY_TOKENS): vol.All(selector, vol.Coerce(int))}

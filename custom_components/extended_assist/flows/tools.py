"""The field for an agent's tools."""

from collections.abc import Iterable, Mapping
from typing import Any

import voluptuous as vol

from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.selector import SelectOptionDict, SelectSelector, SelectSelectorConfig, SelectSelectorMode

from ..exposure.api_selection import is_toolbox


@callback
def tools_field(hass: HomeAssistant) -> dict[Any, Any]:
    """Return the field, with the APIs that there are."""
    apis = [SelectOptionDict(value=api.id, label=api.name) for api in llm.async_get_apis(hass)]
    return {
        vol.Optional(CONF_LLM_HASS_API): SelectSelector(
            SelectSelectorConfig(options=apis, multiple=True, mode=SelectSelectorMode.LIST)
        )
    }


@callback
def without_missing(hass: HomeAssistant, apis: Iterable[str]) -> list[str]:
    """Return the APIs that still exist."""
    known = {api.id for api in llm.async_get_apis(hass)}
    return [api for api in apis if api in known]


def check_tools(user_input: Mapping[str, Any]) -> dict[str, str]:
    """Return the errors of the field: Assist's tools must not be chosen twice."""
    twice = sum(map(_holds_assist, user_input.get(CONF_LLM_HASS_API, ()))) > 1
    return {CONF_LLM_HASS_API: "assist_twice"} if twice else {}


def _holds_assist(api_id: str) -> bool:
    """Return whether an API is Assist or a toolbox, which holds Assist's tools already."""
    return api_id == llm.LLM_API_ASSIST or is_toolbox(api_id)

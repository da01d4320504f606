"""The APIs of an agent: a toolbox contains Assist's tools under its rules, so Assist is left out beside it."""

from collections.abc import Iterable, Mapping
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from ..const import DOMAIN

_ALL_APIS = "all_llm_apis"


def is_toolbox(api_id: str) -> bool:
    """Return whether an API is a toolbox of ours."""
    return api_id.startswith(f"{DOMAIN}-")


def holds_twin(selected: Any) -> bool:
    """Return whether a setting selects Assist beside a toolbox; the setting may have any type."""
    apis = [selected] if isinstance(selected, str) else selected
    if not isinstance(apis, list | tuple | set):
        return False
    return llm.LLM_API_ASSIST in apis and any(isinstance(api, str) and is_toolbox(api) for api in apis)


def serves_everything(settings: Mapping[str, Any]) -> bool:
    """Return whether Home Assistant's MCP server offers all APIs, a toolbox and Assist too."""
    return settings.get(_ALL_APIS) is True


def without_twin(selected: Iterable[str]) -> list[str]:
    """Return the selected APIs, without Assist if a toolbox is among them."""
    apis = list(selected)
    return [api for api in apis if api != llm.LLM_API_ASSIST] if holds_twin(apis) else apis


@callback
def assist_name(hass: HomeAssistant) -> str:
    """Return Home Assistant's name for the tools of Assist, which differs between its versions."""
    return next((api.name for api in llm.async_get_apis(hass) if api.id == llm.LLM_API_ASSIST), "Assist")

"""Fixtures that several test files share."""

from collections.abc import Callable
from typing import Any

import pytest

from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.tools.base import ExtendedTool
from homeassistant.components.homeassistant.const import DATA_EXPOSED_ENTITIES
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component

from .databases import database, recorder_db_url, shared_database

__all__ = ["database", "recorder_db_url", "shared_database"]

ASSISTANT = "conversation"


@pytest.fixture(autouse=True)
def _custom_integrations(recorder_db_url: str, enable_custom_integrations: None) -> None:
    """Let Home Assistant find this integration; a recorder's database outlives it."""


@pytest.fixture
def llm_context() -> llm.LLMContext:
    """Return the context of a speaker at a satellite: exposure as Assist has it, no user."""
    return llm.LLMContext(platform=DOMAIN, context=Context(), language="en", assistant=ASSISTANT, device_id=None)


@pytest.fixture
async def assist(hass: HomeAssistant) -> None:
    """Set up what Assist needs; new entities are not exposed by themselves."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    hass.data[DATA_EXPOSED_ENTITIES].async_set_expose_new_entities(ASSISTANT, False)
    await hass.async_block_till_done()


def expose(hass: HomeAssistant, *entity_ids: str) -> None:
    """Expose entities to Assist."""
    for entity_id in entity_ids:
        async_expose_entity(hass, ASSISTANT, entity_id, True)


type CallTool = Callable[..., Any]


@pytest.fixture
def call_tool(hass: HomeAssistant, llm_context: llm.LLMContext) -> CallTool:
    """Return a function that calls a tool as an agent does and returns the result's data; errors are asserted."""

    async def call(tool: ExtendedTool, *, error: bool = False, **arguments: Any) -> dict[str, Any]:
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), llm_context)
        assert result.error is error, result.data
        return result.data

    return call

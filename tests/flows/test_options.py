"""Tests of the toolbox's options."""

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.api import api_id
from custom_components.extended_assist.const import CONF_FAMILIES, CONF_RESULT_BUDGET
from custom_components.extended_assist.tools import DEFAULT_FAMILIES
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import llm


async def tool_names(hass: HomeAssistant, entry: MockConfigEntry, context: llm.LLMContext) -> list[str]:
    """Return the names of the toolbox's own tools that the entry's API serves."""
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), context)
    return [tool.name for tool in instance.tools if tool.integration == "extended_assist"]


@pytest.mark.usefixtures("no_deprecations")
async def test_families_and_budget(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """What is turned off is gone after the options are saved; defaults are shown first."""
    assert "extended_assist__get_history" in await tool_names(hass, entry, llm_context)
    form = await hass.config_entries.options.async_init(entry.entry_id)
    assert form["data_schema"]({}) == {CONF_FAMILIES: list(DEFAULT_FAMILIES), CONF_RESULT_BUDGET: 4000}
    result = await hass.config_entries.options.async_configure(
        form["flow_id"], {CONF_FAMILIES: ["entities"], CONF_RESULT_BUDGET: 2000}
    )
    await hass.async_block_till_done()
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert entry.options == {CONF_FAMILIES: ["entities"], CONF_RESULT_BUDGET: 2000}
    assert await tool_names(hass, entry, llm_context) == ["extended_assist__get_entities"]


async def test_no_family_at_all(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """With every family off, what remains is Assist."""
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: []})
    await hass.async_block_till_done()
    assert await tool_names(hass, entry, llm_context) == []
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    assert "extended_assist" not in instance.api_prompt

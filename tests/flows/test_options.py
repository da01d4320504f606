"""Tests of the toolbox's options."""

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.api import api_id
from custom_components.extended_assist.call import ToolboxOptions
from custom_components.extended_assist.const import CONF_FAMILIES, CONF_RESULT_BUDGET
from custom_components.extended_assist.policy import DEFAULT_ASK_FIRST, Policy, Speaker, Tier
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
    shown = form["data_schema"]({"policy": {}})
    assert (shown[CONF_FAMILIES], shown[CONF_RESULT_BUDGET]) == (list(DEFAULT_FAMILIES), 4000)
    assert shown["policy"]["who_may_administer"] == "admin"
    changes = {CONF_FAMILIES: ["entities"], CONF_RESULT_BUDGET: 2000, "policy": {"who_may_control": "user"}}
    result = await hass.config_entries.options.async_configure(form["flow_id"], changes)
    await hass.async_block_till_done()
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert entry.options[CONF_FAMILIES] == ["entities"]
    assert entry.options[CONF_RESULT_BUDGET] == 2000
    assert entry.options["who_may_control"] == "user"
    assert Policy.of(entry.options).who_may[Tier.CONTROL] is Speaker.USER
    assert Policy.of(entry.options).ask_first == frozenset(DEFAULT_ASK_FIRST)
    assert await tool_names(hass, entry, llm_context) == ["extended_assist__get_entities"]


async def test_no_family_at_all(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """With every family off, what remains is Assist."""
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: []})
    await hass.async_block_till_done()
    assert await tool_names(hass, entry, llm_context) == []
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    assert "extended_assist" not in instance.api_prompt


async def test_web(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Hosts and ports are stored as they are compared, and shown again."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    assert ToolboxOptions.of(entry.options).web_hosts == frozenset()
    web = {"web_hosts": [" NAS.local", "192.168.1.10:8080", "nas.local."], "web_ports": ["8443", "443", "08443"]}
    await hass.config_entries.options.async_configure(form["flow_id"], {"policy": {}, "web": web})
    await hass.async_block_till_done()
    assert entry.options["web_hosts"] == ["nas.local", "192.168.1.10:8080"]
    assert entry.options["web_ports"] == ["8443"]
    assert ToolboxOptions.of(entry.options).web_ports == {8443}
    form = await hass.config_entries.options.async_init(entry.entry_id)
    (section,) = [key for key in form["data_schema"].schema if key == "web"]
    shown = {str(key): key.description["suggested_value"] for key in form["data_schema"].schema[section].schema.schema}
    assert shown == {"web_hosts": ["nas.local", "192.168.1.10:8080"], "web_ports": ["8443"]}
    await hass.config_entries.options.async_configure(form["flow_id"], {"policy": {}, "web": {}})
    await hass.async_block_till_done()
    assert "web_hosts" not in entry.options


@pytest.mark.parametrize(
    ("web", "error", "wrong"),
    [
        ({"web_hosts": ["nas.local", "http://nas.local/"]}, "invalid_host", "http://nas.local/"),
        ({"web_hosts": ["127.0.0.1"]}, "invalid_host", "127.0.0.1"),
        ({"web_hosts": ["me@nas.local"]}, "invalid_host", "me@nas.local"),
        ({"web_ports": ["0"]}, "invalid_port", "0"),
        ({"web_ports": ["65536"]}, "invalid_port", "65536"),
        ({"web_ports": ["８０"]}, "invalid_port", "８０"),  # noqa: RUF001 - digits of another script
        ({"web_ports": ["http"]}, "invalid_port", "http"),
    ],
)
async def test_web_errors(
    hass: HomeAssistant, entry: MockConfigEntry, web: dict[str, list[str]], error: str, wrong: str
) -> None:
    """What is no host or port is named, and the rest of the form is kept."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    entered = {CONF_RESULT_BUDGET: 2000, "policy": {}, "web": web}
    result = await hass.config_entries.options.async_configure(form["flow_id"], entered)
    assert result["errors"] == {"base": error}
    assert result["description_placeholders"] == {"wrong": wrong}
    suggested = {str(key): (key.description or {}).get("suggested_value") for key in result["data_schema"].schema}
    assert suggested[CONF_RESULT_BUDGET] == 2000
    entered["web"] = {}
    result = await hass.config_entries.options.async_configure(form["flow_id"], entered)
    assert result["type"] is FlowResultType.CREATE_ENTRY

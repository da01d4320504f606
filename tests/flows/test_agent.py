"""Tests of the agent's flow."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.claude.client import ANTHROPIC_URL
from custom_components.extended_assist.const import (
    CONF_MAX_TOKENS,
    CONF_MAX_TOOL_ROUNDS,
    CONF_MONTHLY_TOKENS,
    CONF_PROMPT_CACHE,
    DOMAIN,
)
from custom_components.extended_assist.flows.cost import cost_fields
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from tests.claude_server import ClaudeServer, Fault
from tests.conftest import MODEL

pytestmark = pytest.mark.usefixtures("assist", "no_deprecations")

LIMITS = {CONF_MAX_TOKENS: 1000, CONF_MAX_TOOL_ROUNDS: 3, CONF_PROMPT_CACHE: "off"}


async def add(hass: HomeAssistant, entry: MockConfigEntry) -> Any:
    """Open the flow for a new agent."""
    return await hass.config_entries.subentries.async_init((entry.entry_id, "conversation"), context={"source": "user"})


async def configure(hass: HomeAssistant, flow: Any, user_input: dict[str, Any]) -> Any:
    """Submit a form."""
    result = await hass.config_entries.subentries.async_configure(flow["flow_id"], user_input)
    await hass.async_block_till_done()
    return result


async def test_add(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """A new agent starts with the entry's own tools, and becomes an entity."""
    form = await add(hass, entry)
    assert form["step_id"] == "init"
    suggested = {str(key): (key.description or {}).get("suggested_value") for key in form["data_schema"].schema}
    assert suggested["llm_hass_api"] == [f"{DOMAIN}-{entry.entry_id}"]
    assert suggested["model"]
    form = await configure(hass, form, {"name": "Butler", "prompt": "Be brief.", "model": MODEL})
    assert form["step_id"] == "model"
    result = await configure(hass, form, LIMITS)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    agent = list(entry.subentries.values())[-1]
    assert agent.title == "Butler"
    assert dict(agent.data) == {"prompt": "Be brief.", "model": MODEL, **LIMITS}
    assert hass.states.get("conversation.butler")


async def test_reconfigure(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Changing an agent shows what it has; emptied fields are forgotten."""
    (agent,) = entry.subentries.values()
    assert {"prompt", "llm_hass_api"} < agent.data.keys()
    form = await entry.start_subentry_reconfigure_flow(hass, agent.subentry_id)
    assert "name" not in form["data_schema"].schema
    form = await configure(hass, form, {"model": MODEL})
    result = await configure(hass, form, LIMITS)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    (agent,) = entry.subentries.values()
    assert dict(agent.data) == {"model": MODEL, **LIMITS}


@pytest.mark.parametrize("second", ["assist", "extended_assist-other"])
async def test_assist_twice(hass: HomeAssistant, entry: MockConfigEntry, second: str) -> None:
    """Two APIs that both hold Assist's tools are refused, with what was typed kept."""
    MockConfigEntry(domain=DOMAIN, entry_id="other", title="Other", data={}).add_to_hass(hass)
    assert await hass.config_entries.async_setup("other")
    apis = [f"{DOMAIN}-{entry.entry_id}", second]
    form = await configure(hass, await add(hass, entry), {"name": "B", "model": MODEL, "llm_hass_api": apis})
    assert form["errors"] == {"llm_hass_api": "assist_twice"}
    form = await configure(hass, form, {"name": "B", "model": MODEL, "llm_hass_api": [second]})
    assert form["step_id"] == "model"


async def test_model_by_name(hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer) -> None:
    """A typed model is looked up; one that does not exist is refused."""
    form = await configure(hass, await add(hass, entry), {"name": "B", "model": "claude-unheard-of"})
    assert form["errors"] == {"model": "model_not_found"}
    await claude_server.stop()
    form = await configure(hass, form, {"name": "B", "model": "claude-unheard-of"})
    assert form["errors"] == {"model": "cannot_connect"}


async def test_limit_of_the_model(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """More tokens than the model can give are refused."""
    form = await configure(hass, await add(hass, entry), {"name": "B", "model": MODEL})
    limit = next(model.max_tokens for model in entry.runtime_data.models if model.id == MODEL)
    with pytest.raises(Exception, match="max_tokens"):
        await configure(hass, form, {**LIMITS, CONF_MAX_TOKENS: limit + 1})
    result = await configure(hass, form, {**LIMITS, CONF_MAX_TOKENS: limit})
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_entry_not_loaded(hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer) -> None:
    """Without a connection there are no models to choose from."""
    (agent,) = entry.subentries.values()
    claude_server.models_fault = Fault("http", status=529)
    await hass.config_entries.async_reload(entry.entry_id)
    result = await add(hass, entry)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "entry_not_loaded")
    result = await entry.start_subentry_reconfigure_flow(hass, agent.subentry_id)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "entry_not_loaded")


async def test_limit_of_the_month(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """A monthly limit is stored as a whole number, and emptied again."""
    (agent,) = entry.subentries.values()
    for limit in ({CONF_MONTHLY_TOKENS: 1_000_000}, {}):
        form = await entry.start_subentry_reconfigure_flow(hass, agent.subentry_id)
        form = await configure(hass, form, {"model": MODEL})
        await configure(hass, form, LIMITS | limit)
        (agent,) = entry.subentries.values()
        assert dict(agent.data) == {"model": MODEL, **LIMITS, **limit}


@pytest.mark.parametrize(("base_url", "default"), [(ANTHROPIC_URL, "5m"), ("http://192.168.1.10:11434", "off")])
def test_cache_is_for_servers_that_know_it(base_url: str, default: str) -> None:
    """Only Anthropic's own server is asked to cache unless the user says so."""
    (key,) = [key for key in cost_fields(base_url, None) if key == CONF_PROMPT_CACHE]
    assert key.default() == default

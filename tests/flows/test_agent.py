"""Tests of the agent's flow."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.claude.client import ANTHROPIC_URL
from custom_components.extended_assist.claude.current_states import DEFAULT_PRESENT, MAX_PRESENT
from custom_components.extended_assist.claude.models import THINKING, Abilities, find_model
from custom_components.extended_assist.const import (
    CONF_MAX_TOKENS,
    CONF_MAX_TOOL_ROUNDS,
    CONF_MONTHLY_TOKENS,
    CONF_PRESENT,
    CONF_PROMPT_CACHE,
    CONF_TOOL_SEARCH,
    DOMAIN,
)
from custom_components.extended_assist.flows.agent import default_agent
from custom_components.extended_assist.flows.model import cost_fields, model_schema
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, InvalidData
from homeassistant.helpers import llm
from tests.claude_server import ClaudeServer, Fault, Scenario
from tests.conftest import MODEL

pytestmark = pytest.mark.usefixtures("assist", "no_deprecations")

LIMITS = {CONF_MAX_TOKENS: 1000, CONF_MAX_TOOL_ROUNDS: 3, CONF_PROMPT_CACHE: "off"}
ON = {"answer_when_done": True}
OFF = {"plain": False, "web_fetch": False, "web_location": False, "web_search": False}

PRESENT = {CONF_PRESENT: DEFAULT_PRESENT, "recap_hours": 0, "show_pictures": True}


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
    assert dict(agent.data) == {"prompt": "Be brief.", "model": MODEL, **LIMITS, **ON, **OFF, **PRESENT}
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
    assert dict(agent.data) == {"model": MODEL, **LIMITS, **ON, **OFF, **PRESENT}


async def test_present(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Up to how many entities the present is told is a whole number, 0 for never; what was chosen is kept and suggested."""
    (agent,) = entry.subentries.values()
    form = await entry.start_subentry_reconfigure_flow(hass, agent.subentry_id)
    with pytest.raises(InvalidData):
        await configure(hass, form, {"model": MODEL, CONF_PRESENT: MAX_PRESENT + 1})
    form = await configure(hass, form, {"model": MODEL, CONF_PRESENT: 0.0})
    await configure(hass, form, LIMITS)
    (agent,) = entry.subentries.values()
    assert agent.data[CONF_PRESENT] == 0
    form = await entry.start_subentry_reconfigure_flow(hass, agent.subentry_id)
    suggested = {str(key): (key.description or {}).get("suggested_value") for key in form["data_schema"].schema}
    assert suggested[CONF_PRESENT] == 0


async def test_apis(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """The APIs that are chosen are stored, and those that are gone are not offered again."""
    ours = f"{DOMAIN}-{entry.entry_id}"
    form = await configure(hass, await add(hass, entry), {"name": "B", "model": MODEL, "llm_hass_api": [ours]})
    await configure(hass, form, LIMITS)
    agent = list(entry.subentries.values())[-1]
    assert agent.data["llm_hass_api"] == [ours]
    data = {**agent.data, "llm_hass_api": [ours, "gone"]}
    hass.config_entries.async_update_subentry(entry, agent, data=data)
    await hass.async_block_till_done()
    form = await entry.start_subentry_reconfigure_flow(hass, agent.subentry_id)
    suggested = {str(key): (key.description or {}).get("suggested_value") for key in form["data_schema"].schema}
    assert suggested["llm_hass_api"] == [ours]


@pytest.mark.parametrize("second", ["assist", "extended_assist-other"])
async def test_assist_twice(hass: HomeAssistant, entry: MockConfigEntry, second: str) -> None:
    """Two APIs that both hold Assist's tools are refused, with what was typed kept."""
    MockConfigEntry(domain=DOMAIN, entry_id="other", title="Other", data={}).add_to_hass(hass)
    assert await hass.config_entries.async_setup("other")
    apis = [f"{DOMAIN}-{entry.entry_id}", second]
    form = await configure(hass, await add(hass, entry), {"name": "B", "model": MODEL, "llm_hass_api": apis})
    assert form["errors"] == {"llm_hass_api": "assist_twice"}
    (name,) = [api.name for api in llm.async_get_apis(hass) if api.id == "assist"]
    assert form["description_placeholders"] == {"assist": name}
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
        assert dict(agent.data) == {"model": MODEL, **LIMITS, **ON, **OFF, **PRESENT, **limit}


@pytest.mark.parametrize(("base_url", "default"), [(ANTHROPIC_URL, "5m"), ("http://192.168.1.10:11434", "off")])
def test_cache_is_for_servers_that_know_it(base_url: str, default: str) -> None:
    """Only Anthropic's own server is asked to cache unless the user says so."""
    (key,) = [key for key in cost_fields(base_url, Abilities()) if key == CONF_PROMPT_CACHE]
    assert key.default() == default


@pytest.mark.parametrize(("base_url", "offered"), [(ANTHROPIC_URL, False), ("http://192.168.1.10:11434", True)])
def test_plain_requests_are_for_other_servers(base_url: str, offered: bool) -> None:
    """Anthropic's own server knows every field, so nobody is asked to leave some out."""
    assert ("plain" in model_schema(Abilities(), base_url).schema) is offered


@pytest.mark.parametrize(("model_id", "offered"), [("claude-opus-5-5", True), (MODEL, False), ("unheard-of", False)])
async def test_tool_search_is_offered_where_it_works(entry: MockConfigEntry, model_id: str, offered: bool) -> None:
    """Only for models whose list says that they can."""
    abilities = Abilities.of(find_model(entry.runtime_data.models, model_id))
    assert (CONF_TOOL_SEARCH in cost_fields(ANTHROPIC_URL, abilities)) is offered


async def test_fallback(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Any agent may stand in, but not the agent itself, nor one that it stands in for."""
    (agent,) = entry.subentries.values()
    form = await entry.start_subentry_reconfigure_flow(hass, agent.subentry_id)
    own = {"model": MODEL, "fallback_agent": "conversation.claude"}
    form = await configure(hass, form, own)
    assert form["errors"] == {"fallback_agent": "fallback_loop"}
    form = await configure(hass, form, {**own, "fallback_agent": "conversation.gone"})
    assert form["errors"] == {"fallback_agent": "fallback_missing"}
    form = await configure(hass, form, {**own, "fallback_agent": "conversation.home_assistant"})
    await configure(hass, form, LIMITS)
    form = await configure(hass, await add(hass, entry), {"name": "Second", **own})
    await configure(hass, form, LIMITS)
    form = await entry.start_subentry_reconfigure_flow(hass, agent.subentry_id)
    form = await configure(hass, form, {**own, "fallback_agent": "conversation.second"})
    assert form["errors"] == {"fallback_agent": "fallback_loop"}
    third = await configure(hass, await add(hass, entry), {"name": "Third", "model": MODEL})
    await configure(hass, third, LIMITS)
    form = await configure(hass, form, {**own, "fallback_agent": "conversation.third"})
    assert form["step_id"] == "model"


def fields(form: Any) -> set[str]:
    """Return the fields of a form."""
    return {str(key) for key in form["data_schema"].schema}


@pytest.mark.parametrize(
    ("model", "thinking", "effort"),
    [
        ("claude-opus-5-5", ["disabled", "adaptive", "between_tools"], ["low", "medium", "high", "xhigh", "max"]),
        ("claude-haiku-5-5", ["disabled", "adaptive"], ["low", "medium", "high"]),
        ("claude-haiku-4-5", ["disabled", "enabled"], None),
    ],
)
async def test_only_what_the_model_supports_is_offered(
    hass: HomeAssistant, entry: MockConfigEntry, model: str, thinking: list[str], effort: list[str] | None
) -> None:
    """The second form follows the abilities that the server lists."""
    form = await configure(hass, await add(hass, entry), {"name": "B", "model": model})
    schema = {str(key): value for key, value in form["data_schema"].schema.items()}
    assert schema["thinking"].config["options"] == [kind for kind in thinking if kind in THINKING]
    assert ("thinking_budget" in schema) is ("enabled" in thinking)
    assert (schema["effort"].config["options"] if "effort" in schema else None) == effort
    assert {"web_search", "web_fetch", "web_location", "plain"} < schema.keys()
    assert "context_tokens" not in schema


async def test_model_that_nothing_is_known_of(hass: HomeAssistant, assist: None, socket_enabled: None) -> None:
    """On a server that lists names only, only names and limits are asked for, and the basic fields sent."""
    models = [{"type": "model", "id": "qwen3", "display_name": "qwen3", "created_at": "2026-01-01T00:00:00Z"}]
    async with ClaudeServer(Scenario([]), models=models) as server:
        entry = MockConfigEntry(
            domain=DOMAIN,
            data={"api_key": "test-key", "base_url": server.url},
            subentries_data=[default_agent([], "qwen3")],
        )
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        form = await configure(hass, await add(hass, entry), {"name": "B", "model": "qwen3"})
        assert fields(form) == {
            *("max_tokens", "max_tool_rounds", "context_tokens", "plain"),
            *("prompt_cache", "monthly_tokens"),
        }
        result = await configure(hass, form, LIMITS)
        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert list(entry.subentries.values())[-1].data["plain"] is True


async def test_combinations_that_are_refused(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """What the service would refuse is refused here, with what was chosen kept."""
    form = await configure(hass, await add(hass, entry), {"name": "B", "model": "claude-opus-5-5"})
    chosen = {**LIMITS, "thinking": "disabled", "effort": "max"}
    form = await configure(hass, form, chosen)
    assert form["errors"] == {"effort": "effort_needs_thinking"}
    result = await configure(hass, form, {**chosen, "thinking": "adaptive"})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    form = await configure(hass, await add(hass, entry), {"name": "C", "model": "claude-haiku-4-5"})
    chosen = {CONF_MAX_TOKENS: 2000, CONF_MAX_TOOL_ROUNDS: 3, "thinking": "enabled", "thinking_budget": 2000}
    form = await configure(hass, form, chosen)
    assert form["errors"] == {"thinking_budget": "thinking_budget_too_large"}


async def test_another_model_forgets_what_it_cannot(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Options of the model before do not linger."""
    form = await configure(hass, await add(hass, entry), {"name": "B", "model": "claude-opus-5-5"})
    await configure(hass, form, {**LIMITS, "thinking": "adaptive", "effort": "max", "web_search": True})
    agent = list(entry.subentries.values())[-1]
    form = await entry.start_subentry_reconfigure_flow(hass, agent.subentry_id)
    form = await configure(hass, form, {"model": "claude-haiku-4-5"})
    await configure(hass, form, LIMITS)
    data = dict(entry.subentries[agent.subentry_id].data)
    assert data == {"model": "claude-haiku-4-5", **LIMITS, **ON, **OFF, **PRESENT}


async def test_task(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """A model for tasks has a name and a model, and no instructions or tools of its own."""
    start = hass.config_entries.subentries.async_init
    form = await start((entry.entry_id, "ai_task_data"), context={"source": "user"})
    assert fields(form) == {"name", "model"}
    form = await configure(hass, form, {"name": "Tasks", "model": MODEL})
    await configure(hass, form, LIMITS)
    assert hass.states.get("ai_task.tasks")
    task = list(entry.subentries.values())[-1]
    assert dict(task.data) == {"model": MODEL, **LIMITS, **OFF}
    form = await entry.start_subentry_reconfigure_flow(hass, task.subentry_id)
    assert fields(form) == {"model"}

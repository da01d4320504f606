"""Tests of the notices about agents and functions: when they come, when they go, and that what is ignored stays so."""

from copy import copy
from datetime import timedelta
import json
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.claude import coordinator
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.registry import FunctionTool, async_register_tool
from custom_components.extended_assist.repair_issues.agents import WITHOUT_RULES
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Turn, text
from tests.conftest import MODEL, Converse
from tests.helpers.noticed import GREET, broken, every_issue, issues, without_tools
from tests.helpers.talking import change_agent

__all__ = ["broken"]

pytestmark = pytest.mark.usefixtures("no_deprecations")


async def test_agent_without_tools(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """An agent without tools is pointed out, until it has some or is removed."""
    assert issues(hass) == {}
    (agent,) = entry.subentries.values()
    tools = agent.data["llm_hass_api"]
    talker = {key: value for key, value in agent.data.items() if key != "llm_hass_api"}
    hass.config_entries.async_update_subentry(entry, agent, data=talker)
    await hass.async_block_till_done()
    assert issues(hass)["agent_without_tools"].translation_placeholders == {"agent": "Claude"}
    hass.config_entries.async_update_subentry(entry, agent, data={**talker, "llm_hass_api": tools})
    await hass.async_block_till_done()
    assert issues(hass) == {}
    hass.config_entries.async_update_subentry(entry, agent, data=talker)
    await hass.async_block_till_done()
    hass.config_entries.async_remove_subentry(entry, agent.subentry_id)
    await hass.async_block_till_done()
    assert issues(hass) == {}


async def test_tools_that_come_back(hass: HomeAssistant, entry: MockConfigEntry, converse: Converse) -> None:
    """The notice goes with the next turn that finds all tools, or when the agent is left without any."""
    own = f"{DOMAIN}-{entry.entry_id}"
    await change_agent(hass, entry, llm_hass_api=[own, "another"])
    await converse("Hello", Turn([text("Hi.")]))
    assert set(issues(hass)) == {"agent_tools_missing"}
    api = copy(next(api for api in llm.async_get_apis(hass) if api.id == "assist"))
    api.id = "another"
    llm.async_register_api(hass, api)
    await converse("Hello", Turn([text("Hi.")]))
    assert issues(hass) == {}


async def test_news_of_models_are_heard(
    hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """The list of models is read anew from time to time, and what it says of a model is taken over."""
    for model in claude_server._models:
        model["lifecycle"] = "deprecated" if model["id"] == MODEL else "active"
    assert issues(hass) == {}
    async_fire_time_changed(hass, dt_util.utcnow() + coordinator.READ_AGAIN + timedelta(seconds=1))
    await hass.async_block_till_done(wait_background_tasks=True)
    assert set(issues(hass)) == {"model_deprecated"}


async def restart(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Unload an entry, let the registry of issues forget all that it forgets when Home Assistant starts, and load."""
    await hass.config_entries.async_unload(entry.entry_id)
    registry = ir.async_get(hass)
    stored = json.loads(json_dumps(registry._data_to_save()))
    with patch.object(registry._store, "async_load", return_value=stored):
        await registry._async_load()
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


async def reload(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Reload an entry."""
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()


@pytest.mark.parametrize("again", [reload, restart])
async def test_what_is_ignored_stays_ignored(
    hass: HomeAssistant, entry: MockConfigEntry, broken: ConfigSubentry, again: Any
) -> None:
    """As long as the cause is the same; what is not ignored is there again as well."""
    await without_tools(hass, entry)
    assert set(issues(hass)) == {"agent_without_tools", "function_not_served"}
    for ignored in ({"function_not_served"}, {"function_not_served", "agent_without_tools"}):
        for key in ignored:
            ir.async_ignore_issue(hass, DOMAIN, issues(hass)[key].issue_id, True)
        for _ in range(2):
            await again(hass, entry)
            found = issues(hass)
            assert set(found) == {"agent_without_tools", "function_not_served"}
            assert {key for key, issue in found.items() if issue.dismissed_version} == ignored
    # Another mistake is another cause, and a cause that is gone and comes back is told anew.
    hass.config_entries.async_update_subentry(entry, broken, data={"function": "7"})
    own = f"{DOMAIN}-{entry.entry_id}"
    await change_agent(hass, entry, llm_hass_api=[own])
    assert set(issues(hass)) == {"function_not_served"}
    await without_tools(hass, entry)
    assert not any(issue.dismissed_version for issue in issues(hass).values())


async def model_gone(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Give the agent a model that the server does not have."""
    await change_agent(hass, entry, model="claude-haiku-1")


async def agent_tools_missing(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Give the agent tools that do not exist."""
    await change_agent(hass, entry, llm_hass_api=["gone"])


async def function_not_served(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Add a function with the name of a tool that another integration has."""
    function = ConfigSubentry(
        data=MappingProxyType({"function": GREET}), subentry_type="function", title="Greeting", unique_id=None
    )
    hass.config_entries.async_add_subentry(entry, function)
    await hass.async_block_till_done()
    async_register_tool(hass, FunctionTool(greet))


def greet() -> str:
    """Greet."""
    return "Hi."


@pytest.mark.parametrize("cause", [model_gone, agent_tools_missing, function_not_served])
@pytest.mark.parametrize("again", [reload, restart])
async def test_what_only_a_turn_finds_stays_ignored(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, cause: Any, again: Any
) -> None:
    """Loading does not find it, but must not make it new for the turn that finds it again."""
    key = cause.__name__
    await cause(hass, entry)
    await converse("Hello", Turn([text("Hi.")]))
    assert set(issues(hass)) == {key}
    await again(hass, entry)
    assert issues(hass) == {}
    await converse("Hello", Turn([text("Hi.")]))
    ir.async_ignore_issue(hass, DOMAIN, issues(hass)[key].issue_id, True)
    await again(hass, entry)
    await converse("Hello", Turn([text("Hi.")]))
    assert set(issues(hass)) == {key}
    assert issues(hass)[key].dismissed_version


async def test_ignored_issues_go_with_what_they_are_about(
    hass: HomeAssistant, entry: MockConfigEntry, broken: ConfigSubentry
) -> None:
    """A removed agent, function or entry leaves nothing behind."""
    agent = every_issue(hass, entry)
    for issue in issues(hass).values():
        ir.async_ignore_issue(hass, DOMAIN, issue.issue_id, True)
    hass.config_entries.async_remove_subentry(entry, agent.subentry_id)
    await hass.async_block_till_done()
    registry = ir.async_get(hass)
    assert [key[1] for key in registry.issues if key[0] == DOMAIN] == [f"function_not_served_{broken.subentry_id}"]
    ir.async_ignore_issue(hass, DOMAIN, f"function_not_served_{broken.subentry_id}", True)
    await hass.config_entries.async_remove(entry.entry_id)
    assert [key for key in registry.issues if key[0] == DOMAIN] == []


def others(hass: HomeAssistant) -> dict[str, Any]:
    """Return what is told of the agents and servers of others, by their titles."""
    return {
        str((issue.translation_placeholders or {})["agent"]): issue
        for (domain, issue_id), issue in ir.async_get(hass).issues.items()
        if domain == DOMAIN and issue_id.startswith(WITHOUT_RULES)
    }


async def test_agent_of_others_with_both(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """An agent of another integration that was given Assist beside the toolbox is pointed out, until that is mended."""
    own = f"{DOMAIN}-{entry.entry_id}"
    both = {
        "subentry_type": "conversation",
        "title": "Core",
        "unique_id": None,
        "data": {"llm_hass_api": [own, "assist"]},
    }
    core = MockConfigEntry(domain="anthropic", title="Anthropic", subentries_data=[both | {"data": {}}])
    core.add_to_hass(hass)
    (agent,) = core.subentries.values()
    for mended in ([own], ["assist"], ["assist", "another"], []):
        hass.config_entries.async_update_subentry(core, agent, data=both["data"])
        await hass.async_block_till_done()
        assert others(hass)["Core"].translation_placeholders == {
            "agent": "Core",
            "integration": "anthropic",
            "assist": "Assist",
        }
        hass.config_entries.async_update_subentry(core, agent, data={"llm_hass_api": mended})
        await hass.async_block_till_done()
        assert others(hass) == {}
    hass.config_entries.async_update_subentry(core, agent, data=both["data"])
    await hass.async_block_till_done()
    assert set(others(hass)) == {"Core"}
    await hass.config_entries.async_remove(core.entry_id)
    await hass.async_block_till_done()
    assert others(hass) == {}


@pytest.mark.parametrize(
    ("both", "mended"),
    [
        ({"all_llm_apis": True, "llm_hass_api": []}, {"all_llm_apis": False, "llm_hass_api": ["assist"]}),
        ({"all_llm_apis": False, "llm_hass_api": ["assist", "own"]}, {"all_llm_apis": False, "llm_hass_api": ["own"]}),
    ],
)
async def test_server_with_both(
    hass: HomeAssistant, entry: MockConfigEntry, both: dict[str, Any], mended: dict[str, Any]
) -> None:
    """Home Assistant's own server for other programs is pointed out as well, also where it serves all there is."""

    def written(data: dict[str, Any]) -> dict[str, Any]:
        apis = [f"{DOMAIN}-{entry.entry_id}" if api == "own" else api for api in data["llm_hass_api"]]
        return {**data, "llm_hass_api": apis, "require_admin": True}

    server = MockConfigEntry(domain="mcp_server", title="MCP", data=written(both), version=1, minor_version=3)
    server.add_to_hass(hass)
    await hass.config_entries.async_reload(entry.entry_id)
    assert set(others(hass)) == {"MCP"}
    hass.config_entries.async_update_entry(server, data=written(mended))
    await hass.async_block_till_done()
    assert others(hass) == {}
    hass.config_entries.async_update_entry(server, data=written(both))
    await hass.async_block_till_done()
    assert set(others(hass)) == {"MCP"}
    await hass.config_entries.async_remove(entry.entry_id)
    assert others(hass) == {}


async def test_notices_about_others_outlast_a_second_toolbox(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """What is told of others stays when one of several toolboxes goes, and an agent of ours is never among them."""
    second = MockConfigEntry(domain=DOMAIN, title="Second", data={})
    second.add_to_hass(hass)
    assert await hass.config_entries.async_setup(second.entry_id)
    own = f"{DOMAIN}-{entry.entry_id}"
    await change_agent(hass, entry, llm_hass_api=[own, "assist"])
    server = MockConfigEntry(domain="mcp_server", title="MCP", data={"llm_hass_api": [own, "assist"]})
    server.add_to_hass(hass)
    await hass.config_entries.async_reload(entry.entry_id)
    assert set(others(hass)) == {"MCP"}
    await hass.config_entries.async_remove(second.entry_id)
    await hass.async_block_till_done()
    assert set(others(hass)) == {"MCP"}

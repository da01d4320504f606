"""Tests of the notices about agents."""

from datetime import timedelta
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.extended_assist.claude import health
from custom_components.extended_assist.const import DOMAIN
from homeassistant.components import assist_pipeline
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Turn, text
from tests.conftest import AGENT, MODEL, Converse
from tests.talking import change_agent, speech

pytestmark = pytest.mark.usefixtures("no_deprecations")


def issues(hass: HomeAssistant) -> dict[str, ir.IssueEntry]:
    """Return the issues by what they are about."""
    return {
        str(issue.translation_key): issue
        for (domain, _), issue in ir.async_get(hass).issues.items()
        if domain == DOMAIN and issue.active
    }


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


async def test_agent_bypassed(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, hass_client: ClientSessionGenerator
) -> None:
    """An assistant that handles commands locally first is pointed out, and the dialog lets sentences through."""
    assert await async_setup_component(hass, "assist_pipeline", {})
    assert await async_setup_component(hass, "repairs", {})
    (pipeline,) = assist_pipeline.async_get_pipelines(hass)
    await assist_pipeline.async_update_pipeline(
        hass, pipeline, conversation_engine=AGENT, prefer_local_intents=True, name="Kitchen"
    )
    await converse("Hello", Turn([text("Hi.")]))
    issue = issues(hass)["agent_bypassed"]
    assert issue.translation_placeholders == {"agent": "Claude", "assistants": "Kitchen"}

    client = await hass_client()
    flow = await (
        await client.post("/api/repairs/issues/fix", json={"handler": DOMAIN, "issue_id": issue.issue_id})
    ).json()
    assert flow["step_id"] == "confirm"
    assert flow["description_placeholders"]["assistants"] == "Kitchen"
    done = await (await client.post(f"/api/repairs/issues/fix/{flow['flow_id']}", json={})).json()
    assert done["type"] == "create_entry"
    (pipeline,) = assist_pipeline.async_get_pipelines(hass)
    assert not pipeline.prefer_local_intents
    await converse("Hello", Turn([text("Hi.")]))
    assert issues(hass) == {}


async def fix(client: Any, issue: ir.IssueEntry, **answer: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Go through the dialog of an issue; returns its form and its end."""
    start = {"handler": DOMAIN, "issue_id": issue.issue_id}
    form = await (await client.post("/api/repairs/issues/fix", json=start)).json()
    return form, await (await client.post(f"/api/repairs/issues/fix/{form['flow_id']}", json=answer)).json()


async def test_model_that_is_being_switched_off(
    hass: HomeAssistant, entry: MockConfigEntry, hass_client: ClientSessionGenerator
) -> None:
    """A deprecated model is pointed out with its day, and its successors are offered, those of its line first."""
    assert await async_setup_component(hass, "repairs", {})
    client = await hass_client()
    await change_agent(hass, entry, model="claude-sonnet-4-5")
    issue = issues(hass)["model_deprecated"]
    assert issue.translation_placeholders["agent"] == "Claude"
    assert "30" in issue.translation_placeholders["date"]
    form, done = await fix(client, issue, model="claude-haiku-5-5")
    assert form["description_placeholders"]["model"] == "claude-sonnet-4-5"
    offered = [option["value"] for option in form["data_schema"][0]["selector"]["select"]["options"]]
    assert offered == ["claude-opus-5-5", "claude-haiku-5-5", "claude-haiku-4-5-20251001"]
    assert done["type"] == "create_entry"
    await hass.async_block_till_done()
    (agent,) = entry.subentries.values()
    assert agent.data["model"] == "claude-haiku-5-5"
    assert issues(hass) == {}


async def test_model_that_is_gone(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, hass_client: ClientSessionGenerator
) -> None:
    """A model that a turn does not find is pointed out; another of its line is suggested."""
    assert await async_setup_component(hass, "repairs", {})
    client = await hass_client()
    await change_agent(hass, entry, model="claude-haiku-1")
    assert issues(hass) == {}
    assert "does not exist" in speech(await converse("Hello", Turn([text("Hi.")])))
    form, _ = await fix(client, issues(hass)["model_gone"], model="claude-haiku-5-5")
    assert form["data_schema"][0]["default"] == "claude-haiku-5-5"
    await hass.async_block_till_done()
    assert issues(hass) == {}
    assert speech(await converse("Hello", Turn([text("Hi.")]))) == "Hi."


async def test_news_of_models_are_heard(
    hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """The list of models is read anew from time to time, and what it says of a model is taken over."""
    for model in claude_server._models:
        model["lifecycle"] = "deprecated" if model["id"] == MODEL else "active"
    assert issues(hass) == {}
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=health.READ_AGAIN + 1))
    await hass.async_block_till_done(wait_background_tasks=True)
    assert set(issues(hass)) == {"model_deprecated"}

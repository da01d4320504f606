"""Tests of the notices about agents."""

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.extended_assist.const import DOMAIN
from homeassistant.components import assist_pipeline
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from tests.claude_server import Turn, text
from tests.conftest import AGENT, Converse

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

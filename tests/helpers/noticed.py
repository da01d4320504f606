"""What tests of notices share."""

from types import MappingProxyType

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.repair_issues.agents import SUBENTRY_ISSUES, async_raise_issue
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from ..conftest import AGENT

GREET = "spec: {name: greet}\nfunction: {type: template, value_template: Hello}"


def issues(hass: HomeAssistant) -> dict[str, ir.IssueEntry]:
    """Return the issues by what they are about."""
    return {
        str(issue.translation_key): issue
        for (domain, _), issue in ir.async_get(hass).issues.items()
        if domain == DOMAIN and issue.active
    }


async def without_tools(hass: HomeAssistant, entry: MockConfigEntry) -> ConfigSubentry:
    """Take the tools of the agent away."""
    agent = next(iter(entry.subentries.values()))
    talker = {key: value for key, value in agent.data.items() if key != "llm_hass_api"}
    hass.config_entries.async_update_subentry(entry, agent, data=talker)
    await hass.async_block_till_done()
    return agent


@pytest.fixture
async def broken(hass: HomeAssistant, entry: MockConfigEntry) -> ConfigSubentry:
    """Return a function that was written with a mistake."""
    function = ConfigSubentry(
        data=MappingProxyType({"function": "spec: {name: greet", "tier": "control"}),
        subentry_type="function",
        title="Greeting",
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(entry, function)
    await hass.async_block_till_done()
    return function


def every_issue(hass: HomeAssistant, entry: MockConfigEntry) -> ConfigSubentry:
    """Give the first agent all issues, however unlikely it is to have them together; returns the agent."""
    agent = next(iter(entry.subentries.values()))
    told = dict.fromkeys(("agent", "assistants", "date", "function", "limit", "model", "reason"), "…")
    for key in SUBENTRY_ISSUES:
        async_raise_issue(hass, key, entry.entry_id, agent, told, agent_id=AGENT)
    return agent

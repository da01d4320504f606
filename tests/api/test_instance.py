"""Tests of the toolbox as an LLM API."""

import re
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_mock_service

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.claude.request import to_tools
from custom_components.extended_assist.tools import CATALOGUE, DEFAULT_FAMILIES, FAMILIES
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.setup import async_setup_component
from tests.conftest import expose

pytestmark = pytest.mark.usefixtures("no_deprecations")

MAX_DEFAULT_SCHEMAS = 7_500
"""Characters that the default families' tools may cost in every request."""


async def test_registered_while_loaded(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """The API comes and goes with its entry, and carries its title."""
    ours = api_id(entry.entry_id)
    assert {api.id: api.name for api in llm.async_get_apis(hass)}[ours] == "Extended Assist"
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert ours not in {api.id for api in llm.async_get_apis(hass)}
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.LOADED
    assert ours in {api.id for api in llm.async_get_apis(hass)}


async def test_merges_assist(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """Assist's tools are all there, the toolbox's own come after them, and no name is there twice."""
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    assist = await llm.async_get_api(hass, "assist", llm_context)
    ours = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    names = [tool.name for tool in ours.tools]
    assert set(names[: len(assist.tools)]) == {tool.name for tool in assist.tools}
    assert len(set(names)) == len(names)
    assert ours.custom_serializer is assist.custom_serializer


@pytest.mark.parametrize("tool_class", CATALOGUE, ids=lambda tool: tool.name)
def test_every_tool_declares_itself(tool_class: type) -> None:
    """Names, texts, annotations and tiers are complete, and say the same about reading."""
    tool = tool_class()
    assert re.fullmatch(r"extended_assist__[a-z_]+", tool.name)
    assert tool.title
    assert tool.description
    assert tool.integration == "extended_assist"
    assert tool.family in FAMILIES
    assert tool.annotations is not llm.ToolAnnotations()
    assert tool.annotations.read_only is (tool.tier.name == "READ")
    (formatted,) = to_tools(llm.APIInstance(None, "", None, [tool]))
    for name, parameter in formatted["input_schema"]["properties"].items():
        assert parameter.get("description"), f"{tool.name}: {name} has no description"


def kinds_of(schema: Any) -> list[set[str]]:
    """Return the kinds of value that each choice in a schema offers."""
    if isinstance(schema, list):
        return [kinds for part in schema for kinds in kinds_of(part)]
    if not isinstance(schema, dict):
        return []
    inner = [kinds for part in schema.values() for kinds in kinds_of(part)]
    return [*inner, {part.get("type") for part in schema["anyOf"]}] if "anyOf" in schema else inner


@pytest.mark.parametrize("serializer", [None, llm.selector_serializer])
def test_what_a_parameter_is_made_of(serializer: Any) -> None:
    """A parameter with a limit says what it is, also to agents that bring no words of their own for validators."""
    tools = to_tools(llm.APIInstance(None, "", None, [tool() for tool in CATALOGUE], serializer))
    for tool in tools:
        assert not [kinds for kinds in kinds_of(tool["input_schema"]) if len(kinds) > 2], tool["name"]


def test_default_families_are_small() -> None:
    """What every request carries stays within its limit."""
    tools = [tool() for tool in CATALOGUE if tool.family in DEFAULT_FAMILIES]
    instance = llm.APIInstance(None, "", None, tools, llm.selector_serializer)
    assert len(json_dumps(to_tools(instance))) <= MAX_DEFAULT_SCHEMAS


async def test_another_agent_uses_the_tools(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext
) -> None:
    """Through the API alone, without our agent, tools work and nothing raises."""
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    result = await instance.async_call_tool(llm.ToolInput("extended_assist__get_entities", {"name": "lamp"}))
    assert not result.error
    assert "light.lamp" in result.data["entities"]
    result = await instance.async_call_tool(llm.ToolInput("extended_assist__get_entitys", {}))
    assert result.error
    assert "Nearest: extended_assist__get_entities" in result.data["error"]


async def test_exposure_follows_the_user_in_the_middle_of_a_conversation(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext
) -> None:
    """An instance that was made earlier sees what is exposed now."""
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    call = llm.ToolInput("extended_assist__get_entities", {})
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Lamp"})
    assert (await instance.async_call_tool(call)).data["count"] == 0
    expose(hass, "light.lamp")
    assert (await instance.async_call_tool(call)).data["count"] == 1


async def test_options_follow_the_user_in_the_middle_of_a_conversation(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext
) -> None:
    """Tools that were made earlier, which Home Assistant keeps for a conversation, obey the options as they are now."""
    assert await async_setup_component(hass, "intent", {})
    hass.states.async_set("light.lamp", "off", {"friendly_name": "Lamp"})
    calls = async_mock_service(hass, "light", "turn_on")
    expose(hass, "light.lamp")
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    turn_on = llm.ToolInput("intent__HassTurnOn", {"name": "Lamp"})
    act = {"action": "light.turn_on", "target": {"entity_id": "light.lamp"}}
    perform = llm.ToolInput("extended_assist__perform_action", act)
    assert not (await instance.async_call_tool(turn_on)).error
    hass.config_entries.async_update_entry(entry, options={"who_may_control": "user"})
    await hass.async_block_till_done()
    for call in (turn_on, perform):
        result = await instance.async_call_tool(call)
        assert "Nobody is logged in" in result.data["error"]
    assert len(calls) == 1
    hass.config_entries.async_update_entry(entry, options={})
    await hass.async_block_till_done()
    assert not (await instance.async_call_tool(turn_on)).error
    await hass.config_entries.async_remove(entry.entry_id)
    for call in (turn_on, perform):
        result = await instance.async_call_tool(call)
        assert "were removed" in result.data["error"]
    assert len(calls) == 2

"""What is wrong with a function is told where it is written, and never costs a turn."""

import re
from types import MappingProxyType
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.claude.request import to_tools
from custom_components.extended_assist.functions.manager import async_validate_function
from custom_components.extended_assist.functions.yaml_source import FunctionError, join_functions, split_functions
from custom_components.extended_assist.registry import (
    FunctionTool,
    async_register_tool,
    async_remove_tool,
)
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir, llm

from . import recipes
from .broken import EVERY

pytestmark = pytest.mark.usefixtures("no_deprecations")

GOOD = "spec: {name: good}\nfunction: {type: template, value_template: fine}\n"


def test_enough_kinds() -> None:
    """There are at least sixty kinds of mistakes."""
    assert len(EVERY) >= 60


@pytest.fixture
async def tools(hass: HomeAssistant, assist: None) -> MockConfigEntry:
    """Return an entry without a connection."""
    entry = MockConfigEntry(domain="extended_assist", title="Tools", data={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    return entry


async def test_each_is_refused_with_line_and_reason(hass: HomeAssistant, tools: MockConfigEntry) -> None:
    """Every mistake is found when it would be saved."""
    wrong: dict[str, Any] = {}
    for name, broken in EVERY.items():
        try:
            await async_validate_function(hass, tools, broken.text)
        except FunctionError as err:
            if not re.search(broken.words, err.reason) or (broken.line and err.line != broken.line):
                wrong[name] = str(err)
        else:
            wrong[name] = "accepted"
    assert wrong == {}


async def test_none_breaks_a_turn(hass: HomeAssistant, assist: None, llm_context: llm.LLMContext) -> None:
    """All of them at once, stored by an older version or by hand: the good one is served, the others are reported."""
    data: Any = [
        {"subentry_type": "function", "title": name, "unique_id": None, "data": {"function": text}}
        for name, text in [*((name, broken.text) for name, broken in EVERY.items()), ("good", GOOD)]
    ]
    entry = MockConfigEntry(domain="extended_assist", title="Tools", data={}, subentries_data=data)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    assert "good" in {tool["name"] for tool in to_tools(instance)}
    assert (await instance.async_call_tool(llm.ToolInput("good", {}))).data == {"result": "fine"}
    # What only Home Assistant can find out, such as a template's filter, shows when the function is called.
    for tool in instance.tools:
        if tool.name == "broken":
            assert (await instance.async_call_tool(llm.ToolInput("broken", {}))).error
    served = {tool.name for tool in instance.tools}
    issues = [issue for issue in ir.async_get(hass).issues.values() if issue.translation_key == "function_not_served"]
    # A mistake in a name that means nothing is told on saving; what was stored with it goes on.
    assert {*EVERY} - {issue.translation_placeholders["function"] for issue in issues} == {
        "open_template",
        "spec_parameter",
    }
    assert "good" not in {issue.translation_placeholders["function"] for issue in issues}
    assert served >= {"good"}
    for issue in issues:
        assert issue.translation_placeholders["reason"]


async def test_issue_goes_when_it_is_mended(hass: HomeAssistant, tools: MockConfigEntry) -> None:
    """The repair issue is settled by mending, turning off or removing the function."""

    def issues() -> list[str]:
        return [
            issue.translation_placeholders["function"]
            for issue in ir.async_get(hass).issues.values()
            if issue.translation_key == "function_not_served"
        ]

    async def update(text: str, **data: Any) -> None:
        hass.config_entries.async_update_subentry(tools, subentry, data={"function": text, **data})
        await hass.async_block_till_done()

    subentry = ConfigSubentry(
        data=MappingProxyType({"function": "3"}), subentry_type="function", title="Three", unique_id=None
    )
    hass.config_entries.async_add_subentry(tools, subentry)
    await hass.async_block_till_done()
    assert issues() == ["Three"]
    await update(GOOD)
    assert issues() == []
    await update("4")
    assert issues() == ["Three"]
    await update("4", enabled=False)
    assert issues() == []
    await update("5")
    hass.config_entries.async_remove_subentry(tools, subentry.subentry_id)
    await hass.async_block_till_done()
    assert issues() == []


async def test_name_that_is_taken_later(
    hass: HomeAssistant, tools: MockConfigEntry, llm_context: llm.LLMContext
) -> None:
    """A tool of that name that comes later has it; the function is left out and reported."""
    subentry = ConfigSubentry(
        data=MappingProxyType({"function": GOOD}), subentry_type="function", title="Good", unique_id=None
    )
    hass.config_entries.async_add_subentry(tools, subentry)
    await hass.async_block_till_done()

    def good() -> str:
        """Do good."""
        return "theirs"

    async_register_tool(hass, FunctionTool(good))
    instance = await llm.async_get_api(hass, api_id(tools.entry_id), llm_context)
    assert (await instance.async_call_tool(llm.ToolInput("good", {}))).data == {"result": "theirs"}
    (issue,) = [issue for issue in ir.async_get(hass).issues.values() if issue.translation_key == "function_not_served"]
    assert "has a tool named 'good' too" in issue.translation_placeholders["reason"]
    async_remove_tool(hass, "good")
    instance = await llm.async_get_api(hass, api_id(tools.entry_id), llm_context)
    assert (await instance.async_call_tool(llm.ToolInput("good", {}))).data == {"result": "fine"}
    assert not [one for one in ir.async_get(hass).issues.values() if one.translation_key == "function_not_served"]


@pytest.mark.parametrize("name", recipes.EVERY)
async def test_every_recipe_is_valid(hass: HomeAssistant, tools: MockConfigEntry, name: str) -> None:
    """And nothing that is right is refused."""
    text = recipes.EVERY[name].replace("SERVER", "http://192.0.2.1")
    for item in split_functions(text):
        await async_validate_function(hass, tools, item.text)
    again = join_functions([item.text for item in split_functions(text)])
    assert [item.text for item in split_functions(again)] == [item.text for item in split_functions(text)]

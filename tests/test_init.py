"""Tests of what an entry owns, from set-up to removal, and of what it says about itself."""

import json
from pathlib import Path

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist import llm as platform
from custom_components.extended_assist.claude import retry as errors
from custom_components.extended_assist.const import DOMAIN
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er, llm
from tests.claude_server import Turn, text
from tests.conftest import AGENT, Converse

PACKAGE = Path(__file__).parents[1] / "custom_components" / "extended_assist"

pytestmark = pytest.mark.usefixtures("no_deprecations")


async def test_agent_is_an_entity_with_a_device(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """An agent has a service device of its own, belongs to its subentry and can control."""
    (subentry,) = entry.subentries.values()
    entity = er.async_get(hass).async_get(AGENT)
    assert entity
    assert (entity.unique_id, entity.config_subentry_id) == (subentry.subentry_id, subentry.subentry_id)
    device = dr.async_get(hass).async_get(entity.device_id)
    assert device
    assert (device.name, device.entry_type, device.model) == ("Claude", "service", "claude-haiku-5-5")
    state = hass.states.get(AGENT)
    assert state
    assert state.attributes["supported_features"] == 1


async def test_unload_reload_remove(hass: HomeAssistant, entry: MockConfigEntry, converse: Converse) -> None:
    """Unloading takes the agent away, loading brings it back in working order, removing leaves nothing."""
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert hass.states.get(AGENT).state == "unavailable"
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.LOADED
    await hass.async_block_till_done()
    result = await converse("Hello", Turn([text("Good evening.")]))
    assert result.response.speech["plain"]["speech"] == "Good evening."
    await hass.config_entries.async_remove(entry.entry_id)
    assert hass.states.get(AGENT) is None
    assert er.async_get(hass).async_get(AGENT) is None


async def test_removed_agent_takes_its_entity_along(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Removing a subentry removes the agent."""
    (subentry,) = entry.subentries.values()
    hass.config_entries.async_remove_subentry(entry, subentry.subentry_id)
    await hass.async_block_till_done()
    assert er.async_get(hass).async_get(AGENT) is None


def _resolved(node: object, root: dict[str, object]) -> object:
    """Return texts with their references replaced, as the translations have them."""
    if isinstance(node, dict):
        return {key: _resolved(value, root) for key, value in node.items()}
    if isinstance(node, str) and node.startswith("[%key:"):
        found: object = root
        for part in node.removeprefix("[%key:").removesuffix("%]").split("::")[2:]:
            assert isinstance(found, dict)
            found = found[part]
        return _resolved(found, root)
    return node


def test_english_translation_is_the_strings() -> None:
    """What users see in English is strings.json."""
    strings = json.loads((PACKAGE / "strings.json").read_text())
    assert json.loads((PACKAGE / "translations" / "en.json").read_text()) == _resolved(strings, strings)


def test_every_failure_has_its_words() -> None:
    """Each key that the code can produce stands in strings.json."""
    strings = json.loads((PACKAGE / "strings.json").read_text())
    keys = {*errors._KEY_OF_TYPE.values(), *errors._KEY_OF_STATUS.values(), *errors._KEY_OF_WORDS.values()}
    keys |= {"timeout", "cannot_connect", "interrupted", "server_error", "not_messages_api"}
    assert keys <= strings["exceptions"].keys()
    at_the_form = keys - {"model_not_found", "model_forbidden", "invalid_request", "too_long", "interrupted"}
    assert at_the_form <= strings["config"]["error"].keys()


async def test_assist_has_nothing_of_ours_unless_it_is_chosen(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Home Assistant loads llm.py as a platform of every API; what it returns without the option is nothing."""
    context = llm.LLMContext("test", None, "en", "conversation", None)
    for api in llm.async_get_apis(hass):
        assert platform.async_get_tools(hass, context, api.id) is None
    assist = await llm.async_get_api(hass, llm.LLM_API_ASSIST, context)
    assert not [tool.name for tool in assist.tools if tool.name.startswith(DOMAIN)]

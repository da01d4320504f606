"""The entities that show tasks: there where the tools for later are turned on, and gone without a trace otherwise."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.const import DOMAIN
from homeassistant.components.homeassistant.const import DATA_EXPOSED_ENTITIES
from homeassistant.components.homeassistant.exposed_entities import KNOWN_ASSISTANTS
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from tests.conftest import AGENT

from .shown import LIST, OFF, ON, SHOWN, async_add, async_set_up_home, make_task, registered

pytestmark = pytest.mark.usefixtures("assist", "no_deprecations")


async def test_entities_have_a_device(hass: HomeAssistant) -> None:
    """An entry without a server has a list, a calendar and events, on a service device of its own."""
    entry = await async_set_up_home(hass)
    assert registered(hass) == {*SHOWN}
    entities = [er.async_get(hass).async_get(entity_id) for entity_id in SHOWN]
    (device_id,) = {entity.device_id for entity in entities}
    device = dr.async_get(hass).async_get(device_id)
    assert device
    assert (device.name, device.entry_type) == ("Home", "service")
    assert {entity.config_entry_id for entity in entities} == {entry.entry_id}
    assert {hass.states.get(entity_id).state for entity_id in SHOWN} == {"0", "off", "unknown"}


async def test_beside_agents(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """An entry with a server has them beside its agent from the start, and the agent stays when they go."""
    assert entry.options == {}
    found = {one.domain for one in er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)}
    assert found == {"conversation", "sensor", "calendar", "event", "todo"}
    hass.config_entries.async_update_entry(entry, options=OFF)
    await hass.async_block_till_done()
    found = {one.domain for one in er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)}
    assert found == {"conversation", "sensor", "event"}
    assert len(dr.async_entries_for_config_entry(dr.async_get(hass), entry.entry_id)) == 2
    assert hass.states.get(AGENT).state != "unavailable"


async def test_turned_off_and_on(hass: HomeAssistant) -> None:
    """Turned off, neither states nor registry entries are left; turned on, all is as it was."""
    entry = await async_set_up_home(hass)
    await async_add(hass, make_task(entry, "Bins"))
    assert hass.states.get(LIST).state == "1"
    hass.config_entries.async_update_entry(entry, options=OFF)
    await hass.async_block_till_done()
    assert entry.state is ConfigEntryState.LOADED
    assert registered(hass) == set()
    assert not {*SHOWN} & {*hass.states.async_entity_ids()}
    # Nothing listens any more.
    await async_add(hass, make_task(entry, "Milk"))
    hass.config_entries.async_update_entry(entry, options=ON)
    await hass.async_block_till_done()
    assert registered(hass) == {*SHOWN}
    assert hass.states.get(LIST).state == "2"


async def test_never_turned_on(hass: HomeAssistant) -> None:
    """Where the tools for later are off, there is nothing to see of them."""
    entry = await async_set_up_home(hass, OFF)
    assert registered(hass) == set()
    assert await hass.config_entries.async_unload(entry.entry_id)


async def test_unloaded(hass: HomeAssistant) -> None:
    """An unloaded entry's entities are unavailable, and follow again when it is loaded."""
    entry = await async_set_up_home(hass)
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert {hass.states.get(entity_id).state for entity_id in SHOWN} == {"unavailable"}
    await async_add(hass, make_task(entry, "Bins"))
    assert {hass.states.get(entity_id).state for entity_id in SHOWN} == {"unavailable"}
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert hass.states.get(LIST).state == "1"
    await async_add(hass, make_task(entry, "Milk"))
    assert hass.states.get(LIST).state == "2"


async def test_each_entry_shows_its_own(hass: HomeAssistant) -> None:
    """What was wished for under the options of one entry is not in the list of another."""
    home, cabin = await async_set_up_home(hass), await async_set_up_home(hass, title="Cabin")
    await async_add(hass, make_task(home, "Bins"), make_task(cabin, "Wood"), make_task(cabin, "Water"))
    assert hass.states.get(LIST).state == "1"
    assert hass.states.get("todo.cabin_for_later").state == "2"


@pytest.mark.parametrize(
    ("language", "names"), [("de", {"Home Für später", "Home Aktivität"}), ("ko", {"Home 나중에 할 일", "Home 활동"})]
)
async def test_names_are_translated(hass: HomeAssistant, language: str, names: set[str]) -> None:
    """Entities are called in the language of the home."""
    hass.config.language = language
    await async_set_up_home(hass)
    found = {
        state.attributes["friendly_name"]
        for state in hass.states.async_all(["todo", "calendar", "event"])
        if state.attributes["friendly_name"].startswith("Home")
    }
    assert found == names


async def test_removal_leaves_nothing(hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """Of a removed entry there are no states, registry entries, device, settings of exposure and stored tasks."""
    entry = await async_set_up_home(hass)
    await async_add(hass, make_task(entry, "Bins"), make_task(entry, "Present", user_id="anna"))
    assert f"{DOMAIN}.wishes" in hass_storage
    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()
    assert registered(hass) == set()
    assert not {*SHOWN} & {*hass.states.async_entity_ids()}
    assert dr.async_entries_for_config_entry(dr.async_get(hass), entry.entry_id) == []
    assert f"{DOMAIN}.wishes" not in hass_storage
    settings = hass.data[DATA_EXPOSED_ENTITIES]
    assert not {*SHOWN} & settings.entities.keys()
    for assistant in KNOWN_ASSISTANTS:
        assert not {*SHOWN} & settings.async_get_assistant_settings(assistant).keys()

"""Whom the entities that show tasks are exposed to: to nobody, until the user says so; then as long as the user says so."""

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, flush_store

from custom_components.extended_assist.exposure.entities import Exposure
from homeassistant.components.homeassistant.const import DATA_EXPOSED_ENTITIES
from homeassistant.components.homeassistant.exposed_entities import (
    KNOWN_ASSISTANTS,
    async_expose_entity,
    async_should_expose,
)
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.llm import LLMContext, async_get_api

from .shown import LIST, OFF, ON, SHOWN, async_add, async_set_up_home, make_task

pytestmark = pytest.mark.usefixtures("assist")


@pytest.fixture(autouse=True)
def _expose_new(assist: None, hass: HomeAssistant) -> None:
    """Let every assistant be given what is new."""
    for assistant in KNOWN_ASSISTANTS:
        hass.data[DATA_EXPOSED_ENTITIES].async_set_expose_new_entities(assistant, True)


def exposed(hass: HomeAssistant, *entity_ids: str) -> set[tuple[str, str]]:
    """Return which of the entities are exposed, and to whom."""
    return {
        (assistant, entity_id)
        for assistant in KNOWN_ASSISTANTS
        for entity_id in entity_ids or SHOWN
        if async_should_expose(hass, assistant, entity_id)
    }


async def _async_turn_off_and_on(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Turn the tools for later off, so that the entities go, and on again."""
    for options in (OFF, ON):
        hass.config_entries.async_update_entry(entry, options=options)
        await hass.async_block_till_done()


async def _async_restart(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Read the registry anew from what was stored, as a start does."""
    assert await hass.config_entries.async_unload(entry.entry_id)
    before = er.async_get(hass)
    await flush_store(before._store)
    del hass.data[er.DATA_REGISTRY]
    er.async_get.cache_clear()
    await er.async_load(hass)
    assert er.async_get(hass) is not before
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


async def test_another_list_is_exposed(hass: HomeAssistant) -> None:
    """A new to-do list of somebody else is exposed to all: what the other tests say is no accident."""
    other = er.async_get(hass).async_get_or_create("todo", "others", "shopping", suggested_object_id="shopping")
    assert len(exposed(hass, other.entity_id)) == len(KNOWN_ASSISTANTS)


async def test_exposed_to_nobody(hass: HomeAssistant) -> None:
    """Neither Assist, nor Alexa, nor Google Assistant sees what is new; nor do our tools, nor Assist's own."""
    entry = await async_set_up_home(hass)
    await async_add(hass, make_task(entry, "Bins"))
    assert exposed(hass) == set()
    assert not any(Exposure(hass, "conversation").is_exposed(entity_id) for entity_id in SHOWN)
    api = await async_get_api(hass, "assist", LLMContext("test", None, "en", "conversation", None))
    assert not [tool.name for tool in api.tools if "todo" in tool.name or "calendar" in tool.name]


async def test_before_it_is_there(hass: HomeAssistant) -> None:
    """Who asks as soon as an entity is registered, as the cloud does, is told the same, and decides nothing."""
    asked: list[bool] = []

    @callback
    def ask(event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        if event.data["action"] == "create":
            asked.extend(async_should_expose(hass, one, event.data["entity_id"]) for one in KNOWN_ASSISTANTS)

    hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, ask)
    await async_set_up_home(hass)
    # With the entity of what was done.
    assert asked == [False] * len(KNOWN_ASSISTANTS) * (len(SHOWN) + 1)
    assert exposed(hass) == set()


@pytest.mark.parametrize("last", [True, False])
async def test_what_the_user_decides_holds(hass: HomeAssistant, last: bool) -> None:
    """Over loading, turning off and on, and a restart: both what was exposed, and what was exposed and hidden again."""
    entry = await async_set_up_home(hass)
    decided = {("conversation", LIST), ("cloud.alexa", LIST)}
    for should_expose in (True, last):
        for assistant, entity_id in decided:
            async_expose_entity(hass, assistant, entity_id, should_expose)
    expected = decided if last else set()
    assert exposed(hass) == expected
    assert await hass.config_entries.async_reload(entry.entry_id)
    assert exposed(hass) == expected
    await _async_turn_off_and_on(hass, entry)
    assert exposed(hass) == expected
    await _async_restart(hass, entry)
    assert exposed(hass) == expected
    await _async_turn_off_and_on(hass, entry)
    assert exposed(hass) == expected
    assert Exposure(hass, "conversation").is_exposed(LIST) is last


async def test_nothing_decided(hass: HomeAssistant) -> None:
    """Where the user decided nothing, it stays hidden over a restart and when it comes back."""
    entry = await async_set_up_home(hass)
    await _async_restart(hass, entry)
    assert exposed(hass) == set()
    await _async_turn_off_and_on(hass, entry)
    assert exposed(hass) == set()


async def test_a_new_entry_begins_anew(hass: HomeAssistant) -> None:
    """What was decided for an entry that was removed says nothing about one that is added later."""
    entry = await async_set_up_home(hass)
    for assistant in KNOWN_ASSISTANTS:
        for entity_id in SHOWN:
            async_expose_entity(hass, assistant, entity_id, True)
    assert len(exposed(hass)) == len(KNOWN_ASSISTANTS) * len(SHOWN)
    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()
    await async_set_up_home(hass)
    assert all(er.async_get(hass).async_get(entity_id) for entity_id in SHOWN)
    assert exposed(hass) == set()

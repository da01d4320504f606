"""Home Assistant's intents for to-do lists, which call the lists without an action and without saying who speaks."""

import asyncio
from contextlib import suppress

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_READ_ONLY
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import intent
from homeassistant.setup import async_setup_component

from ..conftest import ASSISTANT
from ..helpers.acting import house
from .shown import LIST, async_add, async_set_up_home, make_task

__all__ = ["house"]


@pytest.fixture
async def home(hass: HomeAssistant, house: None) -> MockConfigEntry:
    """Return an entry with tools for later whose list is exposed."""
    await hass.auth.async_create_user("Olga")
    entry = await async_set_up_home(hass, {"families": ["actions", "wishes"]})
    await async_setup_component(hass, "intent", {})
    async_expose_entity(hass, ASSISTANT, LIST, True)
    return entry


@pytest.mark.parametrize("kind", ["HassListRemoveItem", "HassListCompleteItem"])
@pytest.mark.parametrize("before", [None, GROUP_ID_ADMIN, "speaker"])
async def test_reader_by_intent(hass: HomeAssistant, home: MockConfigEntry, kind: str, before: str | None) -> None:
    """A user who may only read ends nothing of the household's, also after somebody else used the list."""
    one = make_task(home, "Bins")
    await async_add(hass, one)
    if before:
        user = await hass.auth.async_create_user("Before", group_ids=[before]) if before != "speaker" else None
        context = Context(user_id=user.id if user else None)
        data = {"item": "Bins", "rename": "The bins"}
        await hass.services.async_call(
            "todo", "update_item", data, blocking=True, target={"entity_id": LIST}, context=context
        )
    reader = await hass.auth.async_create_user("Reader", group_ids=[GROUP_ID_READ_ONLY])
    slots = {"item": {"value": one.name}, "name": {"value": hass.states.get(LIST).name}}
    with pytest.raises(intent.IntentUnexpectedError) as error:
        await intent.async_handle(hass, "test", kind, slots, context=Context(user_id=reader.id), assistant=ASSISTANT)
    assert isinstance(error.value.__cause__, ServiceValidationError)
    assert error.value.__cause__.translation_key == "wish_not_allowed"
    assert one.is_standing


async def test_task_of_an_action(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A task that an action started does not change the list with the context of the action once that has ended."""
    one = make_task(home, "Bins")
    keeper = await async_add(hass, one)
    entity = hass.data["todo"].get_entity(LIST)
    ended = asyncio.Event()

    async def later() -> None:
        await ended.wait()
        with suppress(HomeAssistantError):
            await entity.async_delete_todo_items([one.id])

    tasks: list[asyncio.Task[None]] = []
    rename = keeper.async_rename

    async def start(task_id: str, name: str, author: str | None) -> object:
        tasks.append(hass.async_create_task(later()))
        return await rename(task_id, name, author)

    keeper.async_rename = start
    await hass.services.async_call(
        "todo", "update_item", {"item": "Bins", "rename": "Bin"}, blocking=True, target={"entity_id": LIST}
    )
    ended.set()
    await asyncio.gather(*tasks)
    assert tasks
    assert one.is_standing


async def test_list_of_another(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """An automation's action ends an item; what it calls meanwhile does so with its own context."""
    one = make_task(home, "Bins")
    await async_add(hass, one)

    async def call(_: ServiceCall) -> None:
        await hass.services.async_call(
            "todo", "remove_item", {"item": "Bins"}, blocking=True, target={"entity_id": LIST}, context=Context()
        )

    hass.services.async_register("test", "end", call)
    await hass.services.async_call("test", "end", blocking=True)
    assert not one.is_standing

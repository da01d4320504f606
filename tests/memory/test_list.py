"""The household's facts as a to-do list: exposed to nobody, changed by whom it is theirs to change."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.memory.fact import MAX_FACTS, Fact, Via
from custom_components.extended_assist.memory.store import async_get_memory
from custom_components.extended_assist.storage import NotStoredError
from custom_components.extended_assist.todo import FactList
from homeassistant.components.homeassistant.const import DATA_EXPOSED_ENTITIES
from homeassistant.components.homeassistant.exposed_entities import KNOWN_ASSISTANTS, async_should_expose
from homeassistant.components.todo.const import DATA_COMPONENT
from homeassistant.components.todo.entity import TodoItem
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import device_registry as dr, entity_registry as er
from tests.scheduled.shown import LIST as WISHES

from .home import LIST, OFF, ON, async_set_up_home, items
from .people import async_memory

pytestmark = pytest.mark.usefixtures("assist", "hass_storage", "no_deprecations")


@pytest.fixture
def anna(hass: HomeAssistant) -> str:
    """Return the id of somebody who lives here."""
    return MockUser(name="Anna", is_owner=True).add_to_hass(hass).id


@pytest.fixture
async def home(assist: None, hass: HomeAssistant) -> MockConfigEntry:
    """Return an entry in which memory is on."""
    return await async_set_up_home(hass)


async def change(hass: HomeAssistant, action: str, user_id: str | None, **data: Any) -> None:
    """Change the list in somebody's name."""
    await hass.services.async_call(
        "todo", action, data, blocking=True, target={"entity_id": LIST}, context=Context(user_id=user_id)
    )
    await hass.async_block_till_done()


async def refused(hass: HomeAssistant, action: str, user_id: str | None, **data: Any) -> str:
    """Return the key of the refusal of a change."""
    with pytest.raises(ServiceValidationError) as error:
        await change(hass, action, user_id, **data)
    return str(error.value.translation_key)


async def test_shown_and_changed(hass: HomeAssistant, home: MockConfigEntry, anna: str) -> None:
    """The household's facts are seen, added, changed, ticked off and deleted; nobody's own are in it."""
    memory = await async_memory(hass, Fact("Only hers", anna), Fact("The bins go out on Tuesdays.", said_by="ben"))
    assert [item["summary"] for item in await items(hass)] == ["The bins go out on Tuesdays."]
    await change(hass, "add_item", anna, item="The key is  under\nthe pot", due_datetime="2099-01-01 00:00:00")
    bins, key = await items(hass)
    assert (key["summary"], key["due"][:4]) == ("The key is under the pot", "2099")
    fact = memory.find(key["uid"])
    assert fact
    assert (fact.said_by, fact.via, fact.user_id) == (anna, Via.WRITTEN, None)
    await change(hass, "update_item", anna, item=bins["uid"], due_datetime="2099-01-01 00:00:00")
    bin_fact = memory.find(bins["uid"])
    assert bin_fact
    assert (bin_fact.said_by, bin_fact.words, bin_fact.until is None) == ("ben", bins["summary"], False)
    await change(hass, "update_item", anna, item=bins["uid"], rename="On Fridays")
    assert {item["summary"] for item in await items(hass)} == {"On Fridays", "The key is under the pot"}
    await change(hass, "update_item", anna, item=bins["uid"], status="completed")
    assert [item["summary"] for item in await items(hass)] == ["The key is under the pot"]
    assert memory.find(bins["uid"]) is not None
    await change(hass, "remove_item", anna, item=key["uid"])
    assert await items(hass) == []
    assert memory.find(key["uid"]) is None
    assert [one.words for one in memory.held] == ["Only hers"]


async def test_nobody_else(hass: HomeAssistant, home: MockConfigEntry, anna: str) -> None:
    """Automations and guests change nothing, nor does what speaks past an action; what one action was allowed, the next is not."""
    await change(hass, "add_item", anna, item="Hers")
    guest = MockUser(is_owner=True, system_generated=True).add_to_hass(hass).id
    for user_id in (None, guest):
        assert await refused(hass, "add_item", user_id, item="Not hers") == "fact_not_allowed"
        assert await refused(hass, "remove_item", user_id, item="Hers") == "fact_not_allowed"
        assert await refused(hass, "update_item", user_id, item="Hers", rename="x") == "fact_not_allowed"
    entity = hass.data[DATA_COMPONENT].get_entity(LIST)
    assert isinstance(entity, FactList)
    await change(hass, "add_item", anna, item="Hers, too")
    with pytest.raises(ServiceValidationError):
        await entity.async_create_todo_item(TodoItem(summary="By voice, where the list is exposed"))
    hass.config_entries.async_update_entry(home, options=ON | {"memory_automations": True})
    await hass.async_block_till_done()
    await change(hass, "add_item", None, item="By an automation")
    assert await refused(hass, "remove_item", None, item="Hers") == "fact_unreadable"
    await change(hass, "remove_item", None, item="By an automation")
    assert [item["summary"] for item in await items(hass)] == ["Hers", "Hers, too"]


async def test_wrong(hass: HomeAssistant, home: MockConfigEntry, anna: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no fact, is over, does not fit or cannot be stored is refused in the user's language."""
    assert await refused(hass, "add_item", anna, item="x" * 501) == "fact_unreadable"
    assert await refused(hass, "add_item", anna, item="http://a:b@nas") == "fact_unreadable"
    assert await refused(hass, "add_item", anna, item="x", due_datetime="2020-01-01 00:00:00") == "fact_over"
    memory = await async_get_memory(hass)

    async def fails(*_: Any) -> None:
        raise NotStoredError("no")

    with monkeypatch.context() as patched:
        patched.setattr(memory, "_async_save", fails)
        assert await refused(hass, "add_item", anna, item="x") == "fact_not_stored"
    await async_memory(
        hass, *(Fact(f"n{number}", said_by=f"user {number % 2}", id=f"n{number}") for number in range(MAX_FACTS))
    )
    assert await refused(hass, "add_item", anna, item="x") == "facts_full"
    entity = hass.data[DATA_COMPONENT].get_entity(LIST)
    assert isinstance(entity, FactList)
    entity.async_set_context(Context(user_id=anna))
    with pytest.raises(ServiceValidationError):
        await entity.async_delete_todo_items(["gone"])


async def test_exposed_to_nobody(hass: HomeAssistant) -> None:
    """No assistant sees it until the user says so, though new lists are exposed."""
    for assistant in KNOWN_ASSISTANTS:
        hass.data[DATA_EXPOSED_ENTITIES].async_set_expose_new_entities(assistant, True)
    other = er.async_get(hass).async_get_or_create("todo", "others", "shopping", suggested_object_id="shopping")
    await async_set_up_home(hass)
    assert er.async_get(hass).async_get(LIST)
    assert not any(async_should_expose(hass, assistant, LIST) for assistant in KNOWN_ASSISTANTS)
    assert all(async_should_expose(hass, assistant, other.entity_id) for assistant in KNOWN_ASSISTANTS)


async def test_comes_and_goes(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """The list is there while memory is on, with or without the one of what is to come, and leaves nothing behind."""
    both = {"families": ["memory", "wishes"]}
    registry, devices = er.async_get(hass), dr.async_get(hass)
    await async_memory(hass, Fact("Kept"))
    for options, expected in (
        (both, {LIST, WISHES}),
        (ON, {LIST}),
        ({"families": ["wishes"]}, {WISHES}),
        (OFF, set()),
        (ON, {LIST}),
    ):
        hass.config_entries.async_update_entry(home, options=options)
        await hass.async_block_till_done()
        assert {one for one in (LIST, WISHES) if registry.async_get(one)} == expected
        assert {one for one in (LIST, WISHES) if hass.states.get(one)} == expected
        assert (devices.async_get_device_by_identifier((DOMAIN, home.entry_id), home.entry_id) is None) is not expected
    assert [item["summary"] for item in await items(hass)] == ["Kept"]


async def test_removal(hass: HomeAssistant, home: MockConfigEntry, hass_storage: dict[str, Any]) -> None:
    """Facts go with the last entry, from memory and from the disk, and not before."""
    second = MockConfigEntry(domain=DOMAIN, title="Second")
    second.add_to_hass(hass)
    assert await hass.config_entries.async_setup(second.entry_id)
    memory = await async_memory(hass, Fact("Kept"))
    await hass.config_entries.async_remove(home.entry_id)
    assert [fact.words for fact in memory.held] == ["Kept"]
    assert "extended_assist.memory" in hass_storage
    await hass.config_entries.async_remove(second.entry_id)
    assert memory.held == []
    assert "extended_assist.memory" not in hass_storage


async def test_nobody_speaks_for_the_next(hass: HomeAssistant, home: MockConfigEntry, anna: str) -> None:
    """Who only looked at the list, or whose change was refused, is not who an assistant changes it for later."""
    memory = await async_get_memory(hass)
    listed = hass.data[DATA_COMPONENT].get_entity(LIST)
    assert isinstance(listed, FactList)
    await hass.services.async_call(
        "todo",
        "get_items",
        {},
        blocking=True,
        return_response=True,
        target={"entity_id": LIST},
        context=Context(user_id=anna),
    )
    with pytest.raises(ServiceValidationError):
        await listed.async_create_todo_item(TodoItem(summary="After a look"))
    with pytest.raises(ServiceValidationError):
        await change(hass, "remove_item", anna, item="What is not there")
    with pytest.raises(ServiceValidationError):
        await listed.async_create_todo_item(TodoItem(summary="After a refusal"))
    assert not memory.held


async def test_where_it_was_said_stays(hass: HomeAssistant, home: MockConfigEntry, anna: str) -> None:
    """A new date leaves where a fact was said."""
    memory = await async_memory(hass, Fact("Tea at four", said_by=anna, device_id="tablet"))
    await change(hass, "update_item", anna, item="Tea at four", due_datetime="2099-01-01 00:00:00")
    (fact,) = memory.held
    assert (fact.said_by, fact.device_id, fact.until is None) == (anna, "tablet", False)

"""Tests of what is kept: on the disk at once, over restarts and renamings, and not written over what cannot be read."""

import asyncio
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockUser, async_fire_time_changed

from custom_components.extended_assist.memory.fact import MAX_FACTS, MAX_PAST, PAST_DAYS, Fact, Via, now, one_line
from custom_components.extended_assist.memory.store import KEY, FullError, Memory
from custom_components.extended_assist.storage import ConfirmedStore, NotStoredError
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er

from .people import async_memory


async def _again(hass: HomeAssistant) -> Memory:
    """Return the memory as it is read at the next start."""
    memory = Memory(hass)
    await memory.async_load()
    return memory


async def test_kept_at_once(hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """All of a fact is on the disk when it was added; nothing is left where nothing is remembered."""
    fact = Fact("The bins go out on Tuesdays", "me", "me", "door", Via.WRITTEN, now() + 60, ["light.a"], ["hall"])
    memory = await async_memory(hass, fact)
    assert (await _again(hass)).held == [fact] == memory.held
    assert await memory.async_delete(lambda _: True) == 1
    assert KEY not in hass_storage
    assert (await _again(hass)).held == []


async def test_replaced_forgotten_and_brought_back(hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """What was replaced is past, and can hold again."""
    old, new = Fact("On Tuesdays"), Fact("On Fridays")
    memory = await async_memory(hass, old)
    await memory.async_add([new], [old.id])
    assert [fact.words for fact in (await _again(hass)).held] == ["On Fridays"]
    await memory.async_end([new.id], [old.id])
    assert [fact.words for fact in (await _again(hass)).held] == ["On Tuesdays"]
    assert memory.find(f" {new.id.upper()} ") is not None
    # What is gone for good, or past already, stays so.
    before = hass_storage[KEY]["data"]
    await memory.async_end([new.id, "gone"], ["gone"])
    assert hass_storage[KEY]["data"] == before


async def test_until(hass: HomeAssistant, hass_storage: dict[str, Any], freezer: FrozenDateTimeFactory) -> None:
    """A fact ceases to hold by itself, and what has been past for long is kept no more."""
    memory = await async_memory(hass, Fact("Grandma is here", until=now() + 3600), Fact("Always"))
    freezer.tick(3601)
    assert [fact.words for fact in memory.held] == ["Always"]
    freezer.tick(PAST_DAYS * 86400)
    await memory.async_add([Fact("New")])
    assert len(hass_storage[KEY]["data"]["facts"]) == 2
    await memory.async_add([Fact(f"n{number}") for number in range(MAX_PAST + 5)])
    await memory.async_end([fact.id for fact in memory.held])
    await memory.async_add([Fact("Last")])
    assert len(hass_storage[KEY]["data"]["facts"]) == MAX_PAST + 1


async def test_limit(hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """No more than the limit hold; one in the place of another fits, and what does not fit changes nothing."""
    facts = [Fact(f"Number {number}", said_by=f"user {number % 2}", id=f"n{number}") for number in range(MAX_FACTS)]
    memory = await async_memory(hass, *facts)
    with pytest.raises(FullError, match="1000 facts"):
        await memory.async_add([Fact("One more")])
    assert len(memory.held) == MAX_FACTS
    await memory.async_add([Fact("Instead", id="instead")], ["n7"])
    with pytest.raises(FullError):
        await memory.async_end([], ["n7"])
    assert {fact.id for fact in memory.held} == {fact.id for fact in facts} - {"n7"} | {"instead"}


async def test_disk_is_full(hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """What cannot be stored is not remembered, nor forgotten, and that is told."""
    fact = Fact("Kept")
    memory = await async_memory(hass, fact)

    async def fails(*_: Any) -> None:
        """Do what a store does where it cannot write: log, and go on."""

    with patch.object(ConfirmedStore, "async_save", fails):
        with pytest.raises(NotStoredError, match="disk may be full"):
            await memory.async_add([Fact("Lost")])
        with pytest.raises(NotStoredError):
            await memory.async_end([fact.id])
        await memory.async_add([])
    assert [one.words for one in memory.held] == ["Kept"]
    hass.set_state(CoreState.stopping)
    with patch.object(ConfirmedStore, "async_save", fails):
        await memory.async_add([Fact("Stored at the end")])
    hass.set_state(CoreState.running)


async def test_renamed_and_gone(hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """Facts stay with an entity that gets another id, and let go of areas and users that are removed."""
    registry, areas = er.async_get(hass), ar.async_get(hass)
    entity = registry.async_get_or_create("light", "test", "one", suggested_object_id="one")
    area = areas.async_create("Hall")
    user = MockUser().add_to_hass(hass)
    fact = Fact("It is called the moon", entities=["light.two", entity.entity_id], areas=[area.id])
    memory = await async_memory(hass, fact, Fact("Mine", user.id), Fact("Of somebody else", "other"))
    registry.async_update_entity(entity.entity_id, new_entity_id="light.moon")
    registry.async_update_entity("light.moon", name="Moon")
    await hass.async_block_till_done()
    assert memory.held[0].entities == ["light.two", "light.moon"]
    areas.async_update(area.id, name="Lobby")
    await hass.async_block_till_done()
    assert memory.held[0].areas == [area.id]
    areas.async_delete(area.id)
    await hass.async_block_till_done()
    await hass.auth.async_remove_user(user)
    await hass.async_block_till_done()
    held = (await _again(hass)).held
    assert [one.words for one in held] == ["It is called the moon", "Of somebody else"]
    assert (held[0].entities, held[0].areas) == (["light.two", "light.moon"], [])


def test_one_line() -> None:
    """Words take one line, without what cannot be seen."""
    assert one_line(" The\nbins\r\n- x:\u2028 go\u200b \x1b[0m out ") == "The bins - x: go [0m out"


async def test_listeners(hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """Whoever listens is told of each change, until they listen no more."""
    memory, heard = await async_memory(hass), list[int]()
    stop = memory.async_listen(lambda: heard.append(len(memory.held)))
    await memory.async_add([Fact("One")])
    stop()
    await memory.async_add([Fact("Two")])
    assert heard == [1]


async def test_ids_are_unique(hass: HomeAssistant) -> None:
    """A fact whose id is another's gets one of its own, so that nobody's is lost."""
    memory = await async_memory(hass, Fact("Hers", "anna", id="abc123"))
    mine, third = Fact("His", "ben", id="abc123"), Fact("Theirs", id="abc123")
    await memory.async_add([mine, third])
    assert {fact.words for fact in memory.held} == {"Hers", "His", "Theirs"}
    assert memory.find(mine.id) is mine
    assert memory.find(third.id) is third


@pytest.mark.parametrize("change", ["delete", "add", "end", "replace"])
@pytest.mark.parametrize("is_written", [False, True])
async def test_cancelled_forgetting(
    hass: HomeAssistant, hass_storage: dict[str, Any], freezer: FrozenDateTimeFactory, change: str, *, is_written: bool
) -> None:
    """A change that is cancelled while it is stored leaves memory and disk alike, also where a thread still wrote it."""
    fact = Fact("Anna wants a quagga", "anna", "anna")
    memory = await async_memory(hass, fact)
    writes, is_saved = asyncio.Event(), memory._store._async_is_saved

    async def hang(data: Any) -> bool:
        if is_written:
            await is_saved(data)
        writes.set()
        await asyncio.Event().wait()
        return True

    calls = {
        "delete": lambda: memory.async_delete(lambda one: one.user_id == "anna", "anna"),
        "add": lambda: memory.async_add([Fact("Another")]),
        "end": lambda: memory.async_end([fact.id]),
        "replace": lambda: memory.async_replace(Fact("Another", id=fact.id)),
    }
    with patch.object(memory._store, "_async_is_saved", hang):
        task = hass.async_create_task(calls[change]())
        await writes.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [one.words for one in memory.held] == ["Anna wants a quagga"]
    if is_written:
        freezer.tick(11)
        async_fire_time_changed(hass)
        await hass.async_block_till_done()
    assert (await _again(hass)).held == memory.held


async def test_blocked_and_cancelled(hass: HomeAssistant, hass_storage: dict[str, Any]) -> None:
    """What can be neither read nor set aside is not written over after a cancelled change, either."""
    memory = await async_memory(hass, Fact("Kept"))
    memory._is_blocked = True
    with (
        patch.object(memory, "_async_read_keys", side_effect=asyncio.CancelledError),
        pytest.raises(asyncio.CancelledError),
    ):
        await memory.async_add([Fact("Another")])
    assert [one.words for one in memory.held] == ["Kept"]
    assert memory._store._due is None

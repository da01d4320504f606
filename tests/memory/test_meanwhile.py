"""Two changes of facts at once, and what happens by itself while the disk takes nothing."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_fire_time_changed

from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.memory.store import Memory, async_get_memory
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er

from .home import LIST, act, async_set_up_home
from .people import Speaker
from .test_forgotten import agreed

FULL = patch("homeassistant.util.file.AtomicWriter", side_effect=OSError(28, "No space left on device"))


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """A folder of its own."""
    return str(tmp_path)


@pytest.fixture
def hass_storage() -> dict[str, Any]:
    """Let stores write files."""
    return {}


@pytest.fixture
async def home(hass: HomeAssistant, assist: None) -> MockConfigEntry:
    """Return an entry with memory."""
    return await async_set_up_home(hass)


@pytest.fixture
def anna(hass: HomeAssistant) -> Speaker:
    """A user."""
    return Speaker(MockUser(name="Anna").add_to_hass(hass).id)


@pytest.fixture
def ben(hass: HomeAssistant) -> Speaker:
    """Another one, who may change lists."""
    return Speaker(MockUser(name="Ben", is_owner=True).add_to_hass(hass).id)


async def again(hass: HomeAssistant) -> Memory:
    """Return the memory as it is read at the next start, after what is tried again."""
    for _ in range(3):
        async_fire_time_changed(hass, fire_all=True)
        await hass.async_block_till_done()
    memory = Memory(hass)
    await memory.async_load()
    return memory


async def together(*changes: Awaitable[Any]) -> None:
    """Make changes at once, of which some may be refused."""
    await asyncio.gather(*changes, return_exceptions=True)


async def test_until_of_another_change_stays(
    hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, ben: Speaker
) -> None:
    """Ben changes the words alone while Anna changes until when alone: both hold."""
    kept = await act(hass, "remember", anna.user_id, words="Bins on Monday")
    await asyncio.gather(
        act(hass, "remember", anna.user_id, id=kept["id"], words="Bins on Monday", until="2099-01-01 00:00:00"),
        act(hass, "remember", ben.user_id, id=kept["id"], words="Bins on Tuesday"),
    )
    (fact,) = (await async_get_memory(hass)).held
    assert fact.words == "Bins on Tuesday"
    assert fact.until is not None


@pytest.mark.parametrize("way", ["remember", "forget", "for good", "tool", "tick", "rename", "remove"])
async def test_what_became_somebodys_own(
    hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, ben: Speaker, way: str
) -> None:
    """While Anna makes a fact her own, Ben can neither change nor forget it any more, in whatever way."""
    kept = await act(hass, "remember", anna.user_id, words="Bins on Monday")
    number = kept["id"]

    def on_list(action: str, **data: Any) -> Awaitable[Any]:
        return hass.services.async_call(
            "todo", action, {"item": number, **data}, True, Context(user_id=ben.user_id), target={"entity_id": LIST}
        )

    ways: dict[str, Any] = {
        "remember": lambda: act(hass, "remember", ben.user_id, id=number, words="Bins on Tuesday"),
        "forget": lambda: act(hass, "forget", ben.user_id, ids=[number]),
        "for good": lambda: act(hass, "forget", ben.user_id, ids=[number], for_good=True),
        "tool": lambda: ben.remember(hass, "Bins on Tuesday", replaces=[number]),
        "tick": lambda: on_list("update_item", status="completed"),
        "rename": lambda: on_list("update_item", rename="Bins on Tuesday"),
        "remove": lambda: hass.services.async_call(
            "todo", "remove_item", {"item": [number]}, True, Context(user_id=ben.user_id), target={"entity_id": LIST}
        ),
    }
    await together(act(hass, "remember", anna.user_id, id=number, words="Anna wants a quagga", whose="me"), ways[way]())
    held = (await async_get_memory(hass)).held
    assert ("Anna wants a quagga", anna.user_id) in [(fact.words, fact.user_id) for fact in held]


async def test_private_stays_private(hass: HomeAssistant, home: MockConfigEntry, anna: Speaker) -> None:
    """Other words, without saying whose, come while the fact becomes private: it stays so."""
    kept = await act(hass, "remember", anna.user_id, words="The gift is in the shed")
    await asyncio.gather(
        act(hass, "remember", anna.user_id, id=kept["id"], words="The gift is in the shed", whose="me"),
        act(hass, "remember", anna.user_id, id=kept["id"], words="The gift is in the attic"),
    )
    (fact,) = (await async_get_memory(hass)).held
    assert fact.user_id == anna.user_id


async def test_renamed_on_a_full_disk(hass: HomeAssistant, home: MockConfigEntry, anna: Speaker) -> None:
    """What a fact is about follows a new id after a restart too, though the disk took nothing at first."""
    entry = er.async_get(hass).async_get_or_create("light", "test", "lamp", suggested_object_id="lamp")
    hass.states.async_set(entry.entity_id, "on", {"friendly_name": "Lamp"})
    async_expose_entity(hass, "conversation", "light.lamp", True)
    kept = await anna.remember(hass, "The bulb is broken", about=["Lamp"])
    with FULL:
        er.async_get(hass).async_update_entity("light.lamp", new_entity_id="light.moon")
        await hass.async_block_till_done()
    fact = (await again(hass)).find(kept["id"])
    assert fact
    assert fact.entities == ["light.moon"]


async def test_area_removed_on_a_full_disk(hass: HomeAssistant, home: MockConfigEntry, anna: Speaker) -> None:
    """Nor is it about an area that is gone."""
    hall = ar.async_get(hass).async_create("Hall")
    kept = await anna.remember(hass, "The floor is wet", about=["Hall"])
    with FULL:
        ar.async_get(hass).async_delete(hall.id)
        await hass.async_block_till_done()
    fact = (await again(hass)).find(kept["id"])
    assert fact
    assert fact.areas == []


async def test_for_good_ends_at_another_owner(
    hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, ben: Speaker
) -> None:
    """Deleting for good takes what a fact replaced, but not what another user wanted remembered."""
    own = await act(hass, "remember", anna.user_id, words="Anna wants a quagga", whose="me")
    await act(hass, "remember", anna.user_id, id=own["id"], words="Bins on Monday", whose="household")
    await act(hass, "forget", ben.user_id, ids=[own["id"]], for_good=True)
    memory = await async_get_memory(hass)
    assert [fact.words for fact in memory.all if fact.user_id == anna.user_id] == ["Anna wants a quagga"]
    kept = await ben.remember(hass, "Okapis eat leaves")
    await anna.remember(hass, "Zebras eat grass", "me", replaces=[kept["id"]])
    await agreed(hass, anna, forget=["everything"])
    assert memory.find(kept["id"]) is not None
    assert not [fact for fact in memory.all if fact.user_id == anna.user_id]


async def test_journal_of_a_removed_user(
    hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, tmp_path: Path
) -> None:
    """What the journal keeps of facts of a removed user goes at the next start, if the disk took nothing before."""
    await anna.remember(hass, "Anna wants a quagga", "me")
    await (await async_get_journal(hass)).async_save()
    file = tmp_path / ".storage" / "extended_assist.journal"
    assert str(anna.user_id) in file.read_text()
    user = await hass.auth.async_get_user(str(anna.user_id))
    assert user
    with FULL:
        await hass.auth.async_remove_user(user)
        await hass.async_block_till_done()
    MockUser(name="Cara").add_to_hass(hass)
    for key in ("extended_assist_memory", "extended_assist_journal", "extended_assist_wishes"):
        hass.data.pop(key, None)
    await async_get_memory(hass)
    await async_get_scheduled_tasks(hass)
    assert str(anna.user_id) not in file.read_text()

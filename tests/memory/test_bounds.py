"""Tests of how much room each user has, and of how much of the event loop many facts take: work is counted, not time."""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.memory import editing, fact as facts, references, search
from custom_components.extended_assist.memory.fact import MAX_FACTS, MAX_OF_ONE, Fact
from custom_components.extended_assist.memory.store import FullError, FullOfOneError, Memory, async_get_memory
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError

from .home import act, async_set_up_home
from .people import Speaker, async_memory

pytestmark = pytest.mark.usefixtures("assist", "hass_storage")


def many(count: int, name: str, **more: Any) -> list[Fact]:
    """Return facts with ids of their own."""
    return [
        Fact(f"Number {number} of {name} is in drawer {number}", id=f"{name}{number}", **more)
        for number in range(count)
    ]


@pytest.fixture
async def home(hass: HomeAssistant, assist: None) -> MockConfigEntry:
    """Return an entry in which memory is on."""
    return await async_set_up_home(hass)


@pytest.mark.parametrize("whose", ["me", "household"])
async def test_room_for_others(hass: HomeAssistant, home: MockConfigEntry, whose: str) -> None:
    """A user who has had as much remembered as one may is refused, told why, and can forget; others still have room."""
    anna, ben = (MockUser(name=name).add_to_hass(hass).id for name in ("Anna", "Ben"))
    memory = await async_memory(hass, *many(MAX_OF_ONE, "a", user_id=anna if whose == "me" else None, said_by=anna))
    speaker = Speaker(anna)
    assert "the limit for one user" in (await speaker.remember(hass, "One more", whose, replaces=[]))["error"]
    for action, data in (("remember", {"words": "x"}), ("import_facts", {"facts": "- fact: x"})):
        with pytest.raises(ServiceValidationError) as error:
            await act(hass, action, anna, **data)
        assert error.value.translation_key == "facts_full_of_one"
    assert len(memory.held) == MAX_OF_ONE
    assert "id" in await Speaker(ben).remember(hass, "His", whose, replaces=[])
    assert "id" in await speaker.remember(hass, "In its place", whose, replaces=["a3"])
    await act(hass, "forget", anna, ids=["a4"])
    assert "id" in await speaker.remember(hass, "One more", whose, replaces=[])
    with pytest.raises(FullOfOneError):
        await memory.async_end([], ["a4"])


async def test_more_than_there_is_room_for(hass: HomeAssistant) -> None:
    """Of more facts than the limits, which an earlier version let one user have, some can be forgotten and replaced."""
    memory = await async_memory(hass)
    memory._facts = {fact.id: fact for fact in many(MAX_FACTS + 5, "a", said_by="anna")}
    with pytest.raises(FullError):
        await memory.async_add([Fact("One more", said_by="ben")])
    await memory.async_end(["a1"])
    await memory.async_add([Fact("Another", said_by="anna")], ["a2"])
    await memory.async_delete(lambda fact: fact.id == "a3")
    assert len(memory.held) == MAX_FACTS + 3


async def test_searches_read_nothing_anew(hass: HomeAssistant) -> None:
    """The words of facts are read once, off the event loop: not by searches, after a start or a deletion for good either."""
    await async_memory(hass, *many(500, "a", said_by="a"), *many(500, "b", said_by="b"))
    memory, read, on_loop = Memory(hass), Counter[str](), list[str]()
    features = search.features

    def counted(text: str) -> search.Features:
        read[text] += 1
        with suppress(RuntimeError):
            on_loop.append(str(asyncio.get_running_loop() and text))
        return features(text)

    with patch.object(search, "features", counted), patch.object(facts, "features", counted):
        await memory.async_load()
        hass.data["extended_assist_memory"] = memory
        assert read.total() == MAX_FACTS
        read.clear()
        speaker = Speaker(MockUser(name="Anna").add_to_hass(hass).id)
        assert (await speaker.recall(hass, words="drawer 77"))[0].endswith("drawer 77")
        await memory.async_delete(lambda fact: fact.id == "a77")
        assert len(memory.held) == MAX_FACTS - 1
        await speaker.recall(hass, words="drawer 78")
        await speaker.remember(hass, "Something new", replaces=[])
        await memory.async_end(["a5"])
        await speaker.recall(hass, words="drawer 79")
    assert read == {"drawer 77": 1, "drawer 78": 1, "drawer 79": 1, "Something new": 1}
    assert on_loop == []


async def test_recall_lets_others_run(hass: HomeAssistant) -> None:
    """While facts are looked through, something else may run after each hundred, and each area is looked at once."""
    anna = Speaker(MockUser(name="Anna").add_to_hass(hass).id)
    await async_memory(
        hass, *many(500, "a", said_by="a", areas=["hall"]), *many(500, "b", said_by="b", areas=["attic"])
    )
    beats, at, areas = [0], list[int](), Counter[str]()
    is_told = references.is_fact_visible

    def counted(*args: Any) -> bool:
        at.append(beats[0])
        return is_told(*args)

    def looked_at(_hass: HomeAssistant, _exposure: Any, area_id: str) -> bool:
        areas[area_id] += 1
        return True

    async def beat() -> None:
        while True:
            beats[0] += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    with patch.object(references, "is_fact_visible", counted), patch.object(references, "is_area_told", looked_at):
        await anna.recall(hass, words="drawer 7")
    beating.cancel()
    assert len(at) == MAX_FACTS
    assert max(Counter(at).values()) == references.SLICE
    assert areas == {"hall": 1, "attic": 1}


async def test_import_lets_others_run(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """While a file is imported, something else may run after each fact, also a long one."""
    anna = MockUser(name="Anna").add_to_hass(hass).id
    beats, at = [0], list[int]()
    look_up = editing.look_up

    def counted(*args: Any) -> Any:
        at.append(beats[0])
        return look_up(*args)

    async def beat() -> None:
        while True:
            beats[0] += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    file = "\n".join(f"- fact: {'word ' * 90}{number}" for number in range(MAX_OF_ONE))
    with patch.object(editing, "look_up", counted):
        assert await act(hass, "import_facts", anna, facts=file) == {"imported": MAX_OF_ONE}
    beating.cancel()
    assert len(at) == MAX_OF_ONE
    assert max(Counter(at).values()) == 1
    assert len((await async_get_memory(hass)).held) == MAX_OF_ONE

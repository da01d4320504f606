"""Tests of remembering, replacing, forgetting and recalling, as a model does it."""

from dataclasses import replace
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.claude.request import to_tools
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.memory.editing import async_change
from custom_components.extended_assist.memory.fact import MAX_FACTS, Fact, Via
from custom_components.extended_assist.memory.ownership import Writer
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.memory import RecallTool, RememberTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from tests.helpers.one_home import in_one_home

from .people import GUESTS, Speaker, async_memory

pytestmark = pytest.mark.usefixtures("assist", "hass_storage")

MAX_SCHEMAS = 1_200


@pytest.fixture
def anna(hass: HomeAssistant) -> Speaker:
    """Return somebody who lives here and is logged in."""
    return Speaker(MockUser(name="Anna").add_to_hass(hass).id)


def test_schemas_are_short() -> None:
    """Both tools together cost little."""
    tools = to_tools(llm.APIInstance(None, "", None, [RememberTool(), RecallTool()]))
    assert len(json_dumps(tools)) <= MAX_SCHEMAS


async def test_remember_and_recall(hass: HomeAssistant, anna: Speaker, freezer: FrozenDateTimeFactory) -> None:
    """A fact is kept with who said it when, and told to whom it concerns."""
    freezer.move_to("2026-03-02T12:00:00+00:00")
    await hass.config.async_set_time_zone("UTC")
    answer = await anna.remember(hass, "The bins are collected\n on Tuesdays.", until="2026-12-31")
    assert answer["remembered"] == "The bins are collected on Tuesdays."
    assert (answer["whose"], answer["until"]) == ("household", "2027-01-01 00:00:00")
    await anna.remember(hass, "Anna's blood group is 0 negative.", "me")
    result = await anna.call(hass, RecallTool)
    assert [row["fact"][:4] for row in result.data["facts"]] == ["Anna", "The "]
    assert result.data["facts"][1] == {
        "id": answer["id"],
        "fact": "The bins are collected on Tuesdays.",
        "whose": "household",
        "said": "2026-03-02 12:00:00",
        "by": "the user",
        "until": "2027-01-01 00:00:00",
    }
    assert await anna.recall(hass, words="When is the trash picked up?") == ["The bins are collected on Tuesdays."]
    assert await Speaker(device_id="a satellite").recall(hass) == ["The bins are collected on Tuesdays."]
    by = await Speaker(device_id="a satellite").call(hass, RecallTool)
    assert by.data["facts"][0]["by"] == "Anna"
    freezer.move_to("2027-01-02T12:00:00+00:00")
    assert await Speaker().recall(hass) == []


async def test_contradictions(hass: HomeAssistant, anna: Speaker) -> None:
    """What is near is shown first; the model says what it replaces, and undo brings that back."""
    old = await anna.remember(hass, "The bins are collected on Tuesdays.")
    new = "The bins are collected on Thursdays."
    shown = await anna.remember(hass, new)
    assert f"{old['id']}: The bins are collected on Tuesdays." in shown["error"]
    assert await anna.recall(hass) == ["The bins are collected on Tuesdays."]
    assert "already" in (await anna.remember(hass, "the bins are collected on tuesdays."))["error"]
    answer = await anna.remember(hass, new, replaces=[old["id"]])
    assert answer["forgotten"] == ["The bins are collected on Tuesdays."]
    assert await anna.recall(hass) == [new]
    undone = await anna.call(hass, UndoLastChangeTool)
    assert undone.data["undone"] == {"forgotten": [new], "remembered_again": ["The bins are collected on Tuesdays."]}
    assert await anna.recall(hass) == ["The bins are collected on Tuesdays."]
    await anna.remember(hass, "The paper bins are collected on Mondays.", replaces=[])
    assert len(await anna.recall(hass)) == 2


async def test_forget(hass: HomeAssistant, anna: Speaker) -> None:
    """What is forgotten can be brought back, but not what is deleted for good, which asks first."""
    kept = await anna.remember(hass, "The key is under the pot.")
    assert (await anna.call(hass, RememberTool, forget=[kept["id"]])).data == {
        "forgotten": ["The key is under the pot."]
    }
    assert (await anna.call(hass, RecallTool)).data["facts"] == []
    assert (await anna.call(hass, UndoLastChangeTool)).data["undone"] == {
        "remembered_again": ["The key is under the pot."]
    }
    asked = await anna.call(hass, RememberTool, forget=[kept["id"]], for_good=True)
    assert asked.data["done"] is False
    assert asked.data["would"] == 'Delete for good: "The key is under the pot."'
    assert await anna.recall(hass) == ["The key is under the pot."]


async def test_everything_about_me(hass: HomeAssistant, anna: Speaker) -> None:
    """All of a user's own, and what the household knows of them, once they have agreed; past facts go along."""
    hass.states.async_set("person.anna", "home", {"friendly_name": "Anna", "user_id": anna.user_id})
    speaker = Speaker(anna.user_id, conversation_id="one")
    await speaker.remember(hass, "Nobody is to know.", "me")
    first = await speaker.remember(hass, "She hates onions.", about=["Anna"])
    await speaker.remember(hass, "Anna loves tulips.", replaces=[first["id"]])
    await speaker.remember(hass, "The car is red.")
    guest = Speaker(device_id="a satellite", options=GUESTS)
    assert "not known here who speaks" in (await guest.call(hass, RememberTool, forget=["everything"])).data["error"]
    asked = await speaker.call(hass, RememberTool, forget=["everything"])
    assert '"Nobody is to know."' in asked.data["would"]
    assert '"Anna loves tulips."' in asked.data["would"]
    assert '"She hates onions."' in asked.data["would"]
    assert "car" not in asked.data["would"]
    memory = await async_memory(hass)
    assert len(memory.held) == 3
    async with speaker.speaking(hass):
        call = await _as_agreed(hass, speaker, forget=["everything"])
    assert call == {"deleted_for_good": 3}
    assert [fact.words for fact in memory.held] == ["The car is red."]
    assert memory.find(first["id"]) is None
    error = (await speaker.call(hass, RememberTool, forget=["everything"])).data["error"]
    assert error == "Nothing is remembered of this user."


async def _as_agreed(hass: HomeAssistant, speaker: Speaker, **arguments: Any) -> Any:
    """Run a call that was agreed to."""
    call = ToolCall(
        hass=hass,
        arguments=arguments,
        exposure=Exposure(hass, "conversation"),
        caller=Caller.of(speaker.llm_context()),
        options=speaker.options,
    )
    return await RememberTool().async_run(call)


WRONG = {
    "nothing": ({}, "Give fact, a sentence to remember, or forget"),
    "blank": ({"fact": " "}, "Give fact"),
    "whose": ({"fact": "x"}, "Say whose it is"),
    "too long": ({"fact": "x" * 501, "whose": "me"}, "501 characters, more than the 500"),
    "both": ({"fact": "x", "whose": "me", "forget": ["y"]}, "Give either fact"),
    "a password": ({"fact": "See http://a:b@nas", "whose": "household"}, "a password in an address"),
    "unknown id": ({"forget": ["nope"]}, "No fact with id 'nope'"),
    "replaces unknown": ({"fact": "x", "whose": "me", "replaces": ["nope"]}, "No fact with id 'nope'"),
    "no time": ({"fact": "x", "whose": "me", "until": "soon"}, "is no date or time"),
    "no date": ({"fact": "x", "whose": "me", "until": "2026-02-30"}, "is no date or time"),
    "past": ({"fact": "x", "whose": "me", "until": "2020-02-20 10:00"}, "is over"),
    "about": ({"fact": "x", "whose": "me", "about": ["nothing like it"]}, "was not found or is not exposed"),
    "several": ({"fact": "x", "whose": "me", "about": ["lamp"]}, "may be several: light.one, light.two"),
}


@in_one_home("case", WRONG)
async def test_errors_teach(hass: HomeAssistant, anna: Speaker, case: str) -> None:
    """What is not clear is not remembered, and the error says what to do."""
    for name in ("one", "two"):
        hass.states.async_set(f"light.{name}", "on", {"friendly_name": f"Lamp {name}"})
        async_expose_entity(hass, "conversation", f"light.{name}", True)
    arguments, error = WRONG[case]
    result = await anna.call(hass, RememberTool, **arguments)
    assert error in result.data["error"]
    assert (await async_memory(hass)).held == []


async def test_about_things(hass: HomeAssistant, anna: Speaker) -> None:
    """What a fact is about is looked up, so that it is found by the thing, and by its name of now."""
    registry = er.async_get(hass)
    kitchen = ar.async_get(hass).async_create("Kitchen")
    lamp = registry.async_get_or_create("light", "test", "lamp", suggested_object_id="lamp", original_name="Old lamp")
    registry.async_update_entity(lamp.entity_id, area_id=kitchen.id)
    hass.states.async_set(lamp.entity_id, "on", {"friendly_name": "Old lamp"})
    async_expose_entity(hass, "conversation", lamp.entity_id, True)
    answer = await anna.remember(hass, "The old lamp is called the moon.")
    assert answer["about"] == "Old lamp"
    await anna.remember(hass, "100 ppm is normal there.", about=["Kitchen"])
    await anna.remember(hass, "It buzzes when it is cold.", about=["old lamp"], replaces=[])
    assert await anna.recall(hass, about="kitchen") == ["100 ppm is normal there."]
    assert len(await anna.recall(hass, about="light.lamp")) == 2
    assert await anna.recall(hass, about="zebra") == []
    assert await anna.recall(hass, about="moon") == ["The old lamp is called the moon."]
    registry.async_update_entity(lamp.entity_id, new_entity_id="light.round", name="Round lamp")
    hass.states.async_remove(lamp.entity_id)
    hass.states.async_set("light.round", "on", {"friendly_name": "Round lamp"})
    async_expose_entity(hass, "conversation", "light.round", True)
    await hass.async_block_till_done()
    rows = (await anna.call(hass, RecallTool, about="Round lamp")).data["facts"]
    assert [row["about"] for row in rows] == ["Round lamp", "Round lamp"]


async def test_where_it_was_said(hass: HomeAssistant, anna: Speaker, config_entry: Any) -> None:
    """The area of the device is told, unless all that is in it is hidden."""
    hall = ar.async_get(hass).async_create("Hall")
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=config_entry.entry_id, identifiers={("test", "panel")}, name="Panel"
    )
    dr.async_get(hass).async_update_device(device.id, area_id=hall.id)
    await Speaker(anna.user_id, device.id).remember(hass, "The hall is painted in May.")
    (row,) = (await anna.call(hass, RecallTool)).data["facts"]
    assert row["where"] == "Hall"
    er.async_get(hass).async_get_or_create("light", "test", "x", device_id=device.id)
    assert (await anna.call(hass, RecallTool)).data["facts"] == []


async def test_what_does_not_fit(hass: HomeAssistant, anna: Speaker) -> None:
    """A long list is cut, says so, and tells how to get the rest; a full memory says so, too."""
    await async_memory(
        hass,
        *(
            Fact(f"Number {number} is kept in drawer {number}", said_by=f"user {number % 2}", id=f"n{number}")
            for number in range(MAX_FACTS)
        ),
    )
    result = await anna.call(hass, RecallTool)
    assert len(json_dumps(result.data)) <= anna.options.budget
    assert "more. Give words or about" in result.data["left_out"]
    assert (await anna.recall(hass, words="drawer 577"))[0] == "Number 577 is kept in drawer 577"
    answer = await anna.remember(hass, "Something else entirely", replaces=[])
    assert "1000 facts are remembered already" in answer["error"]


@pytest.mark.parametrize("via", list(Via))
async def test_by_nobody(hass: HomeAssistant, anna: Speaker, via: Via) -> None:
    """Who said it is told, also where that was nobody who is known any more."""
    await async_memory(hass, Fact("x", via=via), Fact("y", said_by="gone", via=via))
    result = await anna.call(hass, RecallTool)
    assert [row["by"] for row in result.data["facts"]][1] in ("somebody who was not logged in", "an automation")
    assert result.data["facts"][0]["by"] == "a user who is gone"


async def test_nothing_left_to_undo(hass: HomeAssistant, anna: Speaker) -> None:
    """What was remembered and is deleted by now is not undone, nor is a fact changed back that was forgotten since."""
    memory = await async_memory(hass)
    await anna.remember(hass, "Ben's locker is 12.", "me")
    await memory.async_delete(lambda fact: True, None)
    undone = await anna.call(hass, UndoLastChangeTool)
    assert undone.error, undone.data
    assert memory.held == []
    kept = await anna.remember(hass, "The bins are collected on Tuesdays.")
    fact = memory.find(kept["id"])
    assert fact is not None
    writer = Writer(anna.user_id)
    await async_change(
        hass, memory, writer, fact.id, lambda read: replace(read, words="The bins are collected on Mondays.")
    )
    await memory.async_end([fact.id])
    undone = await anna.call(hass, UndoLastChangeTool)
    assert "forgotten" in str(undone.data), undone.data
    assert memory.held == []

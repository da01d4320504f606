"""Tests of who is told what, and who may have something remembered: nobody else."""

from asyncio import gather
from dataclasses import replace

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.confirmation.untrusted_text import marked
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.memory import RecallTool, RememberTool
from custom_components.extended_assist.tools.web import FetchUrlTool
from homeassistant.auth.models import Group
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er, llm

from .people import GUESTS, OPTIONS, Speaker, async_memory

pytestmark = pytest.mark.usefixtures("assist", "hass_storage")

SATELLITE = Speaker(device_id="a satellite")
ALL = replace(OPTIONS, memory_elsewhere=True, memory_automations=True, policy=Policy(allow_without_chat=True))


@pytest.fixture
def anna(hass: HomeAssistant) -> Speaker:
    """Return somebody who lives here and is logged in."""
    return Speaker(MockUser(name="Anna").add_to_hass(hass).id)


@pytest.fixture
def ben(hass: HomeAssistant) -> Speaker:
    """Return somebody else who lives here."""
    return Speaker(MockUser(name="Ben").add_to_hass(hass).id)


@pytest.fixture
def panel(hass: HomeAssistant, config_entry: MockConfigEntry) -> str:
    """Return the device of a satellite."""
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=config_entry.entry_id, identifiers={("test", "panel")}
    )
    er.async_get(hass).async_get_or_create("assist_satellite", "test", "panel", device_id=device.id)
    return device.id


async def test_own_facts(hass: HomeAssistant, anna: Speaker, ben: Speaker, panel: str) -> None:
    """A person's facts are told where that person is logged in, and nowhere else."""
    await anna.remember(hass, "The household's.")
    await anna.remember(hass, "Only hers.", "me")
    everywhere = ["The household's."]
    assert await anna.recall(hass) == ["Only hers.", *everywhere]
    assert await replace(anna, device_id="a phone").recall(hass) == ["Only hers.", *everywhere]
    for other in (
        ben,
        SATELLITE,
        Speaker(),
        # A satellite speaks in the context of whoever announced something there a moment ago.
        replace(anna, device_id=panel),
        replace(anna, has_chat=False, options=ALL, assistant="ai_task"),
        replace(anna, assistant="another", options=ALL),
    ):
        assert await other.recall(hass) == everywhere, other
        assert await other.recall(hass, words="only hers") != ["Only hers."], other
    for nothing in (
        replace(anna, has_chat=False),
        replace(anna, assistant="ai_task"),
        Speaker(assistant="ai_task"),
        replace(anna, options=replace(OPTIONS, has_memory=False)),
    ):
        assert await nothing.recall(hass) == [], nothing
        error = (await nothing.call(hass, RecallTool)).data["error"]
        assert ("turned off" in error) != ("tasks and over MCP" in error)
    assert await replace(anna, has_chat=False, options=ALL).recall(hass) == ["Only hers.", *everywhere]


async def test_heard_by_others(hass: HomeAssistant, anna: Speaker) -> None:
    """What is asked in somebody's name to be said to others tells nothing of their own, and writes nothing."""
    await anna.remember(hass, "Only hers.", "me")
    later = replace(anna, context=Context(user_id=anna.user_id))
    assert later.context
    hass.data["extended_assist_asked_later"] = {later.context.id}
    assert await later.recall(hass) == []
    assert "Automations and tasks may not" in (await later.remember(hass, "x"))["error"]
    hass.data["extended_assist_asked_later"].clear()
    assert await later.recall(hass) == ["Only hers."]


async def test_nobody_else_changes(hass: HomeAssistant, anna: Speaker, ben: Speaker) -> None:
    """Another person can neither forget, nor replace, nor take back a person's facts, nor learn of them by trying."""
    one = Speaker(anna.user_id, conversation_id="one")
    kept = await one.remember(hass, "Only hers.", "me")
    for arguments in ({"forget": [kept["id"]]}, {"fact": "x", "whose": "household", "replaces": [kept["id"]]}):
        answer = (await ben.call(hass, RememberTool, **arguments)).data
        unknown = {key: ["zzz"] if value == [kept["id"]] else value for key, value in arguments.items()}
        assert (
            answer["error"].replace(kept["id"], "zzz") == (await ben.call(hass, RememberTool, **unknown)).data["error"]
        )
    undone = await replace(ben, conversation_id="one").call(hass, UndoLastChangeTool)
    assert "Only they can take it back" in undone.data["error"]
    assert "hers" not in str(undone.data)
    assert "near" not in (await ben.remember(hass, "Only hers."))
    assert await one.recall(hass, words="only hers") == ["Only hers.", "Only hers."]


async def test_guests(hass: HomeAssistant, anna: Speaker) -> None:
    """Where nobody is logged in, nothing is remembered unless the options allow a number, and nobody else's is touched."""
    kept = await anna.remember(hass, "The piano is tuned in May.")
    refused = (await SATELLITE.remember(hass, "x"))["error"]
    assert "Nobody who is known is logged in here" in refused
    assert "Nobody who is known" in (await SATELLITE.call(hass, RememberTool, forget=[kept["id"]])).data["error"]
    guest = replace(SATELLITE, options=GUESTS)
    assert "for the household only" in (await guest.remember(hass, "x", "me"))["error"]
    facts = ["Otto likes tea.", "Snow is white.", "Seven is a prime."]
    said = await gather(*(guest.remember(hass, fact, replaces=[]) for fact in [*facts, "One too many."]))
    ids = [one["id"] for one in said[:3]]
    assert "as the options allow: 3" in said[3]["error"]
    other = await guest.remember(hass, "Otto likes cocoa.", replaces=[ids[0]])
    assert other["forgotten"] == ["Otto likes tea."]
    assert (await guest.call(hass, UndoLastChangeTool)).data["undone"]["remembered_again"] == ["Otto likes tea."]
    assert "as the options allow: 3" in (await guest.remember(hass, "One too many.", replaces=[]))["error"]
    assert "No fact with id" in (await guest.call(hass, RememberTool, forget=[kept["id"]])).data["error"]
    assert (await guest.call(hass, RememberTool, forget=[ids[0]])).data == {"forgotten": ["Otto likes tea."]}
    assert (await guest.call(hass, UndoLastChangeTool)).data["undone"] == {"remembered_again": ["Otto likes tea."]}
    forgotten = (await anna.call(hass, RememberTool, forget=ids)).data
    assert forgotten == marked({"forgotten": facts}, when=True)  # Nobody knows who said it.


@pytest.mark.parametrize("kind", ["looks only", "gone", "system"])
async def test_users_who_do_not_live_here(hass: HomeAssistant, kind: str) -> None:
    """A user who may only look, one who is not active, and a system's are guests."""
    user = MockUser(name="X", is_active=kind != "gone", system_generated=kind == "system")
    if kind == "looks only":
        user.groups.append(Group(name="Read only", policy={}, id="system-read-only"))
    speaker = Speaker(user.add_to_hass(hass).id)
    await async_memory(hass, Fact("Theirs", speaker.user_id))
    assert await speaker.recall(hass) == []
    expected = "deactivated or removed" if kind == "gone" else "Nobody who is known"
    assert expected in (await speaker.remember(hass, "x"))["error"]


async def test_automations(hass: HomeAssistant, anna: Speaker) -> None:
    """Automations and tasks have nothing remembered unless the options allow it, and then only what is theirs changed."""
    kept = await anna.remember(hass, "The piano is tuned in May.")
    allowed = replace(OPTIONS, memory_automations=True)
    for automation in (Speaker(), Speaker(assistant="ai_task"), replace(anna, assistant="ai_task")):
        options = replace(automation.options, memory_elsewhere=True)
        assert (
            "Automations and tasks may not" in (await replace(automation, options=options).remember(hass, "x"))["error"]
        )
    automation = Speaker(options=allowed)
    answer = await automation.remember(hass, "The meter was read.", replaces=[])
    assert answer["whose"] == "household"
    assert "for the household only" in (await automation.remember(hass, "x", "me"))["error"]
    assert "No fact with id" in (await automation.call(hass, RememberTool, forget=[kept["id"]])).data["error"]
    assert (await automation.call(hass, RememberTool, forget=[answer["id"]])).data["forgotten"] == [
        "The meter was read."
    ]


async def test_over_mcp(hass: HomeAssistant, anna: Speaker) -> None:
    """Programs are told nothing and change nothing, unless the options say so; never after text from outside."""
    program = replace(anna, has_chat=False)
    assert "tasks and over MCP" in (await program.remember(hass, "x"))["error"]
    allowed = replace(program, options=replace(OPTIONS, memory_elsewhere=True))
    assert (await allowed.remember(hass, "Told by a program.", "me"))["whose"] == "me"
    asked = await allowed.call(hass, RememberTool, forget=["everything"])
    assert "needs the user's own word" in asked.data["error"]
    fetched = FetchUrlTool(ALL)
    await fetched.async_call(hass, llm.ToolInput(fetched.name, {"url": "http://127.0.0.1:9/"}), program.llm_context())
    hass.data["extended_assist_heard_outside"] = {(anna.user_id,): hass.loop.time()}
    refused = await replace(program, options=ALL).remember(hass, "A page said so.")
    assert "Text that strangers may have written was read" in refused["error"]


async def test_after_text_from_outside(hass: HomeAssistant, anna: Speaker) -> None:
    """A question with the exact words comes first, whatever the user said; where nobody can be asked, it is refused."""
    reader = replace(anna, reads=True)
    answer = await reader.remember(hass, "The  plumber is\nMallory.", "me")
    assert answer["done"] is False
    assert answer["would"] == 'Remember, for you alone: "The plumber is Mallory."'
    kept = await anna.remember(hass, "The key is with Ben.")
    asked = await reader.call(hass, RememberTool, forget=[kept["id"]])
    assert asked.data["would"] == 'Forget: "The key is with Ben."'
    both = await reader.remember(hass, "It is with Mallory.", until="2099-01-01", replaces=[kept["id"]])
    assert both["would"].splitlines() == [
        "Remember one fact, and forget 1",
        '- Remember, for the household, until 2099-01-02 00:00:00: "It is with Mallory."',
        '- Forget: "The key is with Ben."',
    ]
    nobody = replace(reader, user_id=None, options=ALL)
    assert "nobody here to ask" in (await nobody.remember(hass, "x"))["error"]
    assert await anna.recall(hass) == ["The key is with Ben."]


async def test_hidden_things(hass: HomeAssistant, anna: Speaker) -> None:
    """Facts about what is hidden are kept and not told, whether it was hidden before or since."""
    registry = er.async_get(hass)
    attic = ar.async_get(hass).async_create("Attic")
    entry = registry.async_get_or_create("light", "test", "z", suggested_object_id="zebra")
    registry.async_update_entity(entry.entity_id, area_id=attic.id)
    for entity_id, name in (("light.zebra", "Zebra lamp"), ("light.pony", "Pony lamp"), ("sensor.x", "Wombat")):
        hass.states.async_set(entity_id, "on", {"friendly_name": name})
    async_expose_entity(hass, "conversation", "light.pony", True)
    await anna.remember(hass, "The pony lamp is warm.")
    about = [
        *("The zebra lamp is broken.", "See light.zebra for it.", "A wombat lives here."),
        *("The attic is cold.", "The pony lamp and the zebra lamp are alike."),
    ]
    for words in about:
        answer = await anna.remember(hass, words, replaces=[])
        assert answer["remembered"] == words
        assert "zebra" not in str(answer.get("about", "")).lower()
    memory = await async_memory(hass)
    assert len(memory.held) == 6
    assert await anna.recall(hass) == ["The pony lamp is warm."]
    for name in ("Zebra lamp", "Attic", "light.zebra"):
        result = await anna.call(hass, RecallTool, about=name)
        assert [row["fact"] for row in result.data["facts"]] in ([], ["The pony lamp is warm."])
    async_expose_entity(hass, "conversation", "light.pony", False)
    assert await anna.recall(hass) == []
    for entity_id in ("light.zebra", "light.pony", "sensor.x"):
        async_expose_entity(hass, "conversation", entity_id, True)
    assert len(await anna.recall(hass)) == 6


async def test_hidden_areas_by_their_other_names(hass: HomeAssistant, anna: Speaker) -> None:
    """What is said of an area by an alias of it is about that area: not told while all of it is hidden."""
    attic = ar.async_get(hass).async_create("Attic", aliases={"Treasure room"})
    entry = er.async_get(hass).async_get_or_create("light", "test", "z", suggested_object_id="zebra")
    er.async_get(hass).async_update_entity(entry.entity_id, area_id=attic.id)
    hass.states.async_set("light.zebra", "on")
    await anna.remember(hass, "The treasure room is behind the wall.", replaces=[])
    assert await anna.recall(hass) == []
    async_expose_entity(hass, "conversation", "light.zebra", True)
    assert await anna.recall(hass, about="treasure room") == ["The treasure room is behind the wall."]


async def test_forgotten_entry(hass: HomeAssistant, anna: Speaker) -> None:
    """Tools of a conversation hold to the options as they are now: once memory is off they tell and change nothing."""
    entry = MockConfigEntry(domain=DOMAIN, options={"families": ["memory"]}, state=ConfigEntryState.LOADED)
    entry.add_to_hass(hass)
    speaker = replace(anna, options=ToolboxOptions.of(entry.options, entry.entry_id))
    await speaker.remember(hass, "x y z")
    assert await speaker.recall(hass) == ["x y z"]
    hass.config_entries.async_update_entry(entry, options={"families": []})
    assert await speaker.recall(hass) == []
    assert "turned off" in (await speaker.remember(hass, "x"))["error"]
    assert await RecallTool(speaker.options).async_prompt_facts(hass, _caller(speaker)) == ""
    await hass.config_entries.async_remove(entry.entry_id)
    assert await RecallTool(speaker.options).async_prompt_facts(hass, _caller(speaker)) == ""


def _caller(speaker: Speaker) -> Caller:
    return Caller(speaker.llm_context())

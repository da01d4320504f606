"""Tests of what a change of a fact leaves as it was, and of who sees it afterwards: one row for each way to write facts."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.memory.store import Memory
from custom_components.extended_assist.panel.journal import async_rows
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.memory import RememberTool
from homeassistant.auth.models import User
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import area_registry as ar, entity_registry as er

from .home import LIST, act, async_set_up_home, items
from .people import Speaker, async_memory

pytestmark = pytest.mark.usefixtures("assist", "hass_storage", "no_deprecations")

UNTIL = 4_102_444_800.0
OLD, NEW = "The gift is in the shed", "The gift is in the attic"


@dataclass
class Case:
    """A household with one fact, and its people."""

    hass: HomeAssistant
    memory: Memory
    anna: User
    ben: User
    admin: User
    fact: Fact

    async def seen_by(self) -> dict[str, set[str]]:
        """Return the words that each of those who look sees."""
        seen = {}
        for name, user in (("anna", self.anna), ("ben", self.ben), ("admin", self.admin), ("automation", None)):
            user_id = user.id if user else None
            facts = (await act(self.hass, "get_facts", user_id))["facts"]
            seen[f"{name} by action"] = {fact["words"] for fact in facts}
            seen[f"{name} by voice"] = {*await Speaker(user_id).recall(self.hass)}
            if user:
                rows = await async_rows(self.hass, user, "en")
                seen[f"{name} in the panel"] = {row["title"] for row in rows if row["title"]}
        seen["satellite"] = {*await Speaker(device_id="a satellite").recall(self.hass)}
        seen["satellite of anna"] = {*await Speaker(device_id="a satellite").recall(self.hass, words="gift shed attic")}
        seen["list"] = {item["summary"] for item in await items(self.hass)}
        return seen

    async def tool(self, **arguments: Any) -> None:
        """Let Anna's assistant remember or forget."""
        result = await Speaker(self.anna.id).call(self.hass, RememberTool, **arguments)
        assert not result.error, result.data

    async def action(self, name: str, **data: Any) -> Any:
        """Perform one of the actions as Anna."""
        return await act(self.hass, name, self.anna.id, **data)

    async def todo(self, name: str, **data: Any) -> None:
        """Change the list as Anna."""
        context = Context(user_id=self.anna.id)
        await self.hass.services.async_call("todo", name, data, True, context, target={"entity_id": LIST})

    async def undo(self) -> None:
        """Let Anna undo her last change."""
        result = await Speaker(self.anna.id).call(self.hass, UndoLastChangeTool)
        assert not result.error, result.data


type Way = Callable[[Case], Awaitable[Any]]


async def _undone_action(case: Case) -> None:
    await case.action("remember", id=case.fact.id, words=NEW)
    await case.undo()


async def _undone_forgetting(case: Case) -> None:
    await case.action("forget", ids=[case.fact.id])
    await case.undo()


async def _undone_tool(case: Case) -> None:
    await case.tool(fact=NEW, replaces=[case.fact.id])
    await case.undo()


async def _twice(case: Case) -> None:
    await case.action("remember", id=case.fact.id, words="In between")
    await case.action("remember", id=case.fact.id, words=NEW)


async def _import_again(case: Case) -> None:
    """Import what was exported, and the same words without saying whose they are."""
    exported = (await case.action("get_facts"))["yaml"]
    assert await case.action("import_facts", facts=exported) == {"imported": 0}
    assert await case.action("import_facts", facts=f"- fact: {OLD}") == {"imported": 0}


async def _import_back(case: Case) -> None:
    exported = (await case.action("get_facts"))["yaml"]
    await case.action("forget", ids=[case.fact.id], for_good=True)
    assert await case.action("import_facts", facts=exported) == {"imported": 1}


async def _renamed(case: Case) -> None:
    er.async_get(case.hass).async_update_entity("light.lamp", new_entity_id="light.moon")
    await case.hass.async_block_till_done()
    case.hass.states.async_set("light.moon", "on", {"friendly_name": "Lamp"})


async def _restarted(case: Case) -> None:
    await case.memory.async_load()


OF_ANYBODY: dict[str, tuple[Way, str]] = {
    "action, other words": (lambda case: case.action("remember", id=case.fact.id, words=NEW), NEW),
    "action, the same words": (lambda case: case.action("remember", id=case.fact.id, words=OLD), OLD),
    "action, twice": (_twice, NEW),
    "action, undone": (_undone_action, OLD),
    "forgotten by action, undone": (_undone_forgetting, OLD),
    "tool, in its place": (lambda case: case.tool(fact=NEW, replaces=[case.fact.id]), NEW),
    "tool, undone": (_undone_tool, OLD),
    "imported again": (_import_again, OLD),
    "imported back": (_import_back, OLD),
    "entity renamed": (_renamed, OLD),
    "restarted": (_restarted, OLD),
}
"""Ways that say neither whose a fact is, nor until when it holds, nor what it is about, and the words afterwards."""
OF_HOUSEHOLD: dict[str, tuple[Way, str]] = {
    "list, other words": (lambda case: case.todo("update_item", item=case.fact.id, rename=NEW), NEW),
    "list, the same words": (lambda case: case.todo("update_item", item=case.fact.id, rename=OLD), OLD),
}


@pytest.fixture
async def home(hass: HomeAssistant, assist: None) -> MockConfigEntry:
    """Return an entry in which memory is on."""
    return await async_set_up_home(hass)


async def _case(hass: HomeAssistant, *, is_own: bool) -> Case:
    """Return a household with a fact that has all that a fact can have."""
    anna, ben, admin = (
        MockUser(name=name, is_owner=name != "Ben").add_to_hass(hass) for name in ("Anna", "Ben", "Admin")
    )
    entry = er.async_get(hass).async_get_or_create("light", "test", "lamp", suggested_object_id="lamp")
    hass.states.async_set(entry.entity_id, "on", {"friendly_name": "Lamp"})
    for entity_id in (entry.entity_id, "light.moon"):
        async_expose_entity(hass, "conversation", entity_id, True)
    hall = ar.async_get(hass).async_create("Hall").id
    fact = Fact(OLD, anna.id if is_own else None, anna.id, until=UNTIL, entities=[entry.entity_id], areas=[hall])
    return Case(hass, await async_memory(hass, fact), anna, ben, admin, fact)


@pytest.mark.parametrize(
    ("is_own", "way"),
    [*((True, way) for way in OF_ANYBODY), *((False, way) for way in OF_ANYBODY | OF_HOUSEHOLD)],
)
async def test_what_is_not_said_stays(hass: HomeAssistant, home: MockConfigEntry, is_own: bool, way: str) -> None:
    """Whose it is, until when it holds and what it is about stay, and so everyone sees as much of it as before."""
    case = await _case(hass, is_own=is_own)
    write, words = (OF_ANYBODY | OF_HOUSEHOLD)[way]
    await write(case)
    await hass.async_block_till_done()
    (fact,) = case.memory.held
    assert (fact.words, fact.user_id, fact.until) == (words, case.anna.id if is_own else None, UNTIL)
    assert (fact.entities, fact.areas) == (["light.moon" if way == "entity renamed" else "light.lamp"], case.fact.areas)
    seen = await case.seen_by()
    for who, what in seen.items():
        if "in the panel" in who:
            assert not what & {OLD, NEW} or who.startswith("anna") or not is_own, who
        elif is_own:
            assert what == ({words} if who in ("anna by action", "anna by voice") else set()), who
        else:
            assert what == {words}, who


async def test_what_is_said_changes(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """What is said takes effect, also that a fact holds for good; undo brings back what was private as private."""
    case = await _case(hass, is_own=True)
    await case.action("remember", id=case.fact.id, words=OLD, until=None)
    assert case.memory.held[0].until is None
    await case.action("remember", id=case.fact.id, words=OLD, until="2098-01-01 00:00:00", whose="household")
    (fact,) = case.memory.held
    assert (fact.user_id, fact.until) != (case.anna.id, None)
    assert (await case.seen_by())["ben by action"] == {OLD}
    await case.undo()
    assert [fact.user_id for fact in case.memory.held] == [case.anna.id]
    assert not (await case.seen_by())["ben by action"]
    await case.undo()
    assert [fact.until for fact in case.memory.held] == [UNTIL]
    (fact,) = case.memory.held
    await case.tool(fact="Otters swim", replaces=[fact.id], until="never")
    assert [(fact.until, fact.user_id) for fact in case.memory.held] == [(None, case.anna.id)]


async def test_shared_by_an_assistant(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """An assistant that puts a household's fact in the place of the user's own asks first, with the words."""
    case = await _case(hass, is_own=True)
    anna, ben = Speaker(case.anna.id), Speaker(case.ben.id)
    asked = await anna.remember(hass, NEW, "household", replaces=[case.fact.id])
    assert asked["done"] is False
    assert f'Remember, for the household, until 2099-12-31 16:00:00: "{NEW}"' in asked["would"]
    assert "No fact with id" in (await ben.remember(hass, NEW, "household", replaces=[case.fact.id]))["error"]
    assert [fact.words for fact in case.memory.held] == [OLD]
    both = replace(case.fact, id="other1", user_id=None)
    await case.memory.async_add([both])
    error = (await anna.call(hass, RememberTool, fact=NEW, replaces=[case.fact.id, "other1"])).data["error"]
    assert "Say whose it is" in error


async def test_changes_of_the_list_are_undone(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """What is written, changed and ticked off in the list is undone by whoever did it, and by nobody else."""
    case = await _case(hass, is_own=False)
    await case.todo("add_item", item="Zebras are striped")
    await case.todo("update_item", item=case.fact.id, rename=NEW)
    await case.todo("update_item", item="Zebras are striped", status="completed")
    assert [fact.words for fact in case.memory.held] == [NEW]
    other = await Speaker(case.ben.id).call(hass, UndoLastChangeTool)
    assert "error" in other.data
    await case.undo()
    assert {fact.words for fact in case.memory.held} == {NEW, "Zebras are striped"}
    await case.undo()
    await case.undo()
    assert [fact.words for fact in case.memory.held] == [OLD]


async def test_subjects_that_words_named(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A fact is no more about what only its earlier words named."""
    case = await _case(hass, is_own=True)
    hass.states.async_set("light.desk_lamp", "on", {"friendly_name": "Desk lamp"})
    hass.states.async_set("light.floor_lamp", "on", {"friendly_name": "Floor lamp"})
    kept = await case.action("remember", words="The desk lamp is broken")
    assert case.memory.find(kept["id"]).entities == ["light.desk_lamp"]
    await case.action("remember", id=kept["id"], words="The floor lamp is broken")
    assert case.memory.find(kept["id"]).entities == ["light.floor_lamp"]


async def test_gone_meanwhile(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A fact that was deleted while somebody changes it stays deleted."""
    case = await _case(hass, is_own=True)
    await case.memory.async_delete(lambda _: True)
    assert await case.memory.async_replace(replace(case.fact, words=NEW)) is None
    assert case.memory.all == []
    with pytest.raises(ServiceValidationError):
        await case.action("remember", id=case.fact.id, words=NEW)

"""Who may change what is pending, by every way; and what goes with a user who is removed."""

from contextlib import suppress
import json
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.journal import WISH, WISH_CHANGED, Change, async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy, may_control
from custom_components.extended_assist.confirmation.phone_approval import ANSWERED
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.panel.journal import async_undo_by_hand
from custom_components.extended_assist.panel.manual_calls import async_answer_by_hand, async_call_by_hand
from custom_components.extended_assist.panel.scheduled import EndTaskTool
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled import lifecycle
from custom_components.extended_assist.scheduled.delivery import async_deliver
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import (
    Audience,
    Hearer,
    Progress,
    ScheduledTask,
    Until,
    What,
    When,
)
from custom_components.extended_assist.tools.scheduled import PendingTool
from homeassistant.auth import models
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_READ_ONLY, GROUP_ID_USER
from homeassistant.auth.models import User
from homeassistant.components.persistent_notification import _async_get_or_create_notifications
from homeassistant.core import Context, EventOrigin, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm

from ..helpers.acting import house
from .devices import AddPhone, add_phone, anna, ben
from .keeping import async_restart
from .shown import LIST, async_add, async_set_up_home, make_task, now

__all__ = ["add_phone", "anna", "ben", "house"]

DOOR = "lock.front_door"
UNLOCK = What(actions=[{"action": "lock.unlock", "entity_ids": [DOOR], "data": {}, "targeted": True}])
READ = {"read": True}
POLICIES: dict[str, Any] = {
    "reads all": {"entities": {"all": READ}},
    "reads by domain": {"entities": {"domains": {"lock": READ, "todo": READ}, "entity_ids": {DOOR: READ}}},
    "controls lights": {"entities": {"all": READ, "domains": {"light": True, "todo": True}}},
    "nothing": {},
}
KINDS = ("admin", "user", "reader", *POLICIES, "inactive", "speaker")
MAY_CHANGE_DOOR = {"admin", "user", "speaker"}
MAY_CHANGE_WORDS = {*MAY_CHANGE_DOOR, "controls lights"}


@pytest.fixture
async def home(hass: HomeAssistant, house: None) -> MockConfigEntry:
    """Return an entry with tools for later, in a home whose owner is none of the users of the tests."""
    await hass.auth.async_create_user("Olga")
    entry = await async_set_up_home(hass, {"families": ["actions", "wishes"]})
    hass.states.async_set(DOOR, "locked", {"friendly_name": "Front Door"})
    return entry


async def user_of(hass: HomeAssistant, kind: str) -> User | None:
    """Return a user of a kind; None for a speaker, where nobody is logged in."""
    if kind == "speaker":
        return None
    groups = {"admin": GROUP_ID_ADMIN, "user": GROUP_ID_USER, "reader": GROUP_ID_READ_ONLY, "inactive": GROUP_ID_USER}
    if kind in POLICIES:
        groups[kind] = kind
        hass.auth._store._groups[kind] = models.Group(name=kind, policy=POLICIES[kind], id=kind)
    user = await hass.auth.async_create_user(kind, group_ids=[groups[kind]])
    if kind == "inactive":
        await hass.auth.async_update_user(user, is_active=False)
    return user


class Ways:
    """The ways in which a user changes a task."""

    def __init__(self, hass: HomeAssistant, home: MockConfigEntry, user: User | None) -> None:
        """Take who does it."""
        self.hass, self.user = hass, user
        self.user_id = user.id if user else None
        self.context = Context(user_id=self.user_id)
        self.options = ToolboxOptions(
            entry_id=home.entry_id, policy=Policy(allow_without_chat=True, ask_first=frozenset()), is_fixed=True
        )

    async def _tool(self, arguments: dict[str, Any]) -> None:
        tool = PendingTool(self.options)
        context = llm.LLMContext(DOMAIN, self.context, "en", "conversation", None)
        await tool.async_call(self.hass, llm.ToolInput(tool.name, arguments), context)

    async def cancel(self, one: ScheduledTask) -> None:
        """Cancel it by the tool."""
        await self._tool({"cancel": one.id})

    async def done(self, one: ScheduledTask) -> None:
        """Complete it by the tool."""
        await self._tool({"done": one.id})

    async def snooze(self, one: ScheduledTask) -> None:
        """Put it off by the tool."""
        await self._tool({"snooze": {"id": one.id, "seconds": 600}})

    async def panel(self, one: ScheduledTask) -> None:
        """End it in the panel."""
        if self.user is not None:
            made = await async_call_by_hand(
                self.hass, EndTaskTool(self.options), {"cancel": one.id}, self.context, "en"
            )
            await self._answer(made)

    async def _answer(self, made: dict[str, Any]) -> None:
        """Say yes to what is asked."""
        if "question" in made:
            await async_answer_by_hand(self.hass, made["question"]["id"], str(self.user_id), agreed=True)

    async def _list(self, action: str, **data: Any) -> None:
        await self.hass.services.async_call(
            "todo", action, data, blocking=True, target={"entity_id": LIST}, context=self.context
        )

    async def complete(self, one: ScheduledTask) -> None:
        """Complete it in the list."""
        await self._list("update_item", item=one.id, status="completed")

    async def rename(self, one: ScheduledTask) -> None:
        """Rename it in the list."""
        await self._list("update_item", item=one.id, rename="Another")

    async def delete(self, one: ScheduledTask) -> None:
        """Delete it from the list."""
        await self._list("remove_item", item=one.id)

    async def undo_making(self, one: ScheduledTask) -> None:
        """Undo, in the panel, that this user made it."""
        await self._undo(Change(WISH, "planning", {"id": one.id}, "conversation", self.user_id))

    async def undo_snooze(self, one: ScheduledTask) -> None:
        """Undo, in the panel, that this user put it off."""
        before = json.loads(json.dumps(one.stored()))
        before["progress"]["due"] += 60
        await self._undo(Change(WISH_CHANGED, "snooze", before, "conversation", self.user_id))

    async def _undo(self, change: Change) -> None:
        if self.user is not None:
            (await async_get_journal(self.hass)).add(change)
            entries = self.hass.config_entries.async_loaded_entries(DOMAIN)
            await self._answer(await async_undo_by_hand(self.hass, entries, change.id, self.context, "en"))


NAMES = [name for name, way in vars(Ways).items() if not name.startswith("_") and callable(way)]
BY_TOOL = {"cancel", "done", "snooze"}
"""A speaker uses these alone; in the list, automations have no user either."""


@pytest.mark.parametrize("kind", KINDS)
async def test_ways(hass: HomeAssistant, home: MockConfigEntry, subtests: pytest.Subtests, kind: str) -> None:
    """One rule decides for each way: the household's may be changed by those who may control what it is about."""
    user = await user_of(hass, kind)
    ways = Ways(hass, home, user)
    assert len(NAMES) == 9
    for what, may in ((UNLOCK, MAY_CHANGE_DOOR), (What(say="Bins"), MAY_CHANGE_WORDS)):
        for name in NAMES:
            if user is None and name in {"panel", "undo_making", "undo_snooze"}:
                continue
            with subtests.test(f"{name}, {'lock' if what is UNLOCK else 'words'}"):
                one = make_task(home, "The household's", what=what)
                await async_add(hass, one)
                before = json.dumps(one.stored())
                with suppress(HomeAssistantError, ToolError):
                    await getattr(ways, name)(one)
                await hass.async_block_till_done()
                assert (json.dumps(one.stored()) != before) is (kind in may)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "speaker"])
async def test_their_own(hass: HomeAssistant, home: MockConfigEntry, kind: str) -> None:
    """What users keep for themselves they may change, whoever they are; nobody else may, but administrators."""
    user = await user_of(hass, kind)
    assert user
    other = await hass.auth.async_create_user("Somebody else", group_ids=[GROUP_ID_USER])
    ways = Ways(hass, home, user)
    for name in ("cancel", "done", "snooze", "panel", "undo_making"):
        own, others = (make_task(home, "Own", user_id=one.id, what=What(say="Pills")) for one in (user, other))
        await async_add(hass, own, others)
        before = json.dumps(own.stored()), json.dumps(others.stored())
        for one in (own, others):
            with suppress(ToolError):
                await getattr(ways, name)(one)
        changed = json.dumps(own.stored()) != before[0], json.dumps(others.stored()) != before[1]
        assert changed == (kind != "inactive", kind == "admin"), name


async def test_what_is_told(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """Whoever may not change it is told so, in their own words, with whom to ask."""
    ways = Ways(hass, home, await user_of(hass, "reader"))
    one = make_task(home, "The household's")
    await async_add(hass, one)
    tool = PendingTool(ways.options)
    context = llm.LLMContext(DOMAIN, ways.context, "en", "conversation", None)
    result = await tool.async_call(hass, llm.ToolInput(tool.name, {"cancel": one.id}), context)
    assert result.error
    assert "This user may not change what the household planned" in result.data["error"]
    listed = await tool.async_call(hass, llm.ToolInput(tool.name, {}), context)
    assert [row["id"] for row in listed.data["pending"]] == [one.id]


def test_who_may_control() -> None:
    """Read, without control, is no control, in whatever part of a group's permissions it stands."""
    may = {
        "all": True,
        "some": {"domains": {"light": {"control": True}}},
        "one": {"entity_ids": {"light.x": True}},
        "areas": {"area_ids": True},
        "whole": {"all": {"read": True, "control": True}},
    }
    may_not = {
        "none": None,
        "empty": {},
        "read": {"all": READ},
        "edit": {"domains": {"light": {"read": True, "edit": True}}},
        "ids": {"entity_ids": {"light.x": READ}, "device_ids": {"x": READ}, "area_ids": {"control": READ}},
    }
    for policies, expected in ((may, True), (may_not, False)):
        for name, policy in policies.items():
            group = models.Group(name=name, policy={"entities": policy} if policy is not None else {}, id=name)
            user = User(name=name, perm_lookup=None, groups=[group], is_active=True)  # type: ignore[arg-type]
            assert may_control(user) is expected, name


@pytest.mark.parametrize("audience", [Audience(Hearer.EVERYONE), Audience(Hearer.PERSON, "person.one")])
@pytest.mark.parametrize("kind", ["user", "reader", "reads by domain", "inactive"])
async def test_buttons(
    hass: HomeAssistant, home: MockConfigEntry, add_phone: AddPhone, kind: str, audience: Audience
) -> None:
    """Who may only read is sent the words without buttons, and pressing one all the same does nothing."""
    user = await user_of(hass, kind)
    assert user
    await hass.auth.async_update_user(user, is_active=True)
    phone = await add_phone(user, "Phone")
    hass.states.async_set("person.one", "home", {"user_id": user.id})
    said = Progress(times=1, said=1, again=now() + 600)
    one = make_task(home, "Milk", until=Until(done=True), audience=audience, progress=said)
    await async_add(hass, one)
    assert await async_deliver(hass, one, "Milk.", answerable=True)
    await phone.async_shows("Milk.")
    assert ("actions" in phone.shown[-1]["data"]) is (kind in {"user", "inactive"})
    await hass.auth.async_update_user(user, is_active=kind != "inactive")
    one.progress.answers = {"token": user.id}
    hass.bus.async_fire(ANSWERED, {"action": f"{DOMAIN}_done_token"}, EventOrigin.remote, Context(user_id=user.id))
    await hass.async_block_till_done()
    assert one.is_standing is (kind != "user")


async def test_own_button(hass: HomeAssistant, home: MockConfigEntry, add_phone: AddPhone) -> None:
    """Who may only read answers what is their own."""
    user = await user_of(hass, "reader")
    assert user
    phone = await add_phone(user, "Phone")
    said = Progress(times=1, said=1, again=now() + 600)
    one = make_task(home, "Pills", user_id=user.id, until=Until(done=True), progress=said)
    await async_add(hass, one)
    assert await async_deliver(hass, one, "Pills.", answerable=True)
    await phone.async_shows("Pills.")
    await phone.async_press("Done")
    await hass.async_block_till_done()
    assert not one.is_standing


SECRET = "the ring for Maria"


async def a_private_past(hass: HomeAssistant, home: MockConfigEntry, user_id: str) -> None:
    """Let a user have something pending, something that ended and was not told, and both in the journal."""
    keeper = await async_get_scheduled_tasks(hass)
    pending = make_task(home, SECRET, user_id=user_id)
    ended = make_task(home, SECRET, user_id=user_id, progress=Progress(untold=f"10:00: {SECRET}", times=1))
    said = make_task(
        home, SECRET, user_id=user_id, until=Until(done=True), progress=Progress(again=now() + 600, times=1)
    )
    await async_add(hass, pending, said, make_task(home, "Bins"))
    lifecycle.end(ended, SECRET, now())
    keeper._store.tasks[ended.id] = ended
    await keeper._store.async_save()
    assert not await async_deliver(hass, said, SECRET, answerable=True)
    journal = await async_get_journal(hass)
    journal.add(Change(WISH, "planning", {"id": pending.id}, "conversation", user_id))
    # An administrator put it off.
    journal.add(Change(WISH_CHANGED, "snooze", json.loads(json.dumps(pending.stored())), "conversation", "an admin"))
    journal.add(Change(WISH, "planning", {"id": "bins"}, "conversation", None))
    journal.add(Change("states", "light.turn_on", {"states": {}}, "conversation", user_id))
    await journal.async_save()


async def test_removed(
    hass: HomeAssistant, home: MockConfigEntry, hass_storage: dict[str, Any], anna: User, ben: User
) -> None:
    """All that a removed user kept for themselves goes, from the disk too; the rest stays."""
    await a_private_past(hass, home, anna.id)
    keeper, journal = await async_get_scheduled_tasks(hass), await async_get_journal(hass)
    assert SECRET in json.dumps(hass_storage[f"{DOMAIN}.wishes"])
    assert SECRET in json.dumps(hass_storage[f"{DOMAIN}.journal"])
    assert _async_get_or_create_notifications(hass)
    await hass.auth.async_remove_user(anna)
    await hass.async_block_till_done()
    assert [one.name for one in [*keeper.standing, *keeper.ended]] == ["Bins"]
    assert {change.kind for change in journal.changes} == {WISH, "states"}
    for key in ("wishes", "journal"):
        assert SECRET not in json.dumps(hass_storage[f"{DOMAIN}.{key}"]), key
    assert not _async_get_or_create_notifications(hass)


async def test_removed_before(
    hass: HomeAssistant, home: MockConfigEntry, hass_storage: dict[str, Any], anna: User
) -> None:
    """What an earlier version kept of a user who is gone goes with the next start."""
    await a_private_past(hass, home, "a user who is gone")
    await async_add(hass, make_task(home, "Pills", user_id=anna.id))
    keeper = await async_restart(hass, home)
    await hass.async_block_till_done()
    assert sorted(one.name for one in keeper.standing) == ["Bins", "Pills"]
    assert keeper.ended == []
    for key in ("wishes", "journal"):
        assert SECRET not in json.dumps(hass_storage[f"{DOMAIN}.{key}"]), key


@pytest.mark.parametrize("what", [What(say=SECRET), UNLOCK, What(ask=SECRET)])
async def test_turned_off(
    hass: HomeAssistant, home: MockConfigEntry, anna: User, ben: User, freezer: FrozenDateTimeFactory, what: What
) -> None:
    """Of a user who is turned off nothing is done and nothing revealed; they hear of it once they are back."""
    one = make_task(home, SECRET, user_id=anna.id, what=what, when=When(moment=now() + 60), agreed=True)
    spoken: list[str] = []
    hass.services.async_register("lock", "unlock", lambda call: spoken.append("unlocked"))
    hass.bus.async_listen("call_service", lambda event: spoken.append(str(event.data)))
    await hass.auth.async_update_user(anna, is_active=False)
    keeper = await async_add(hass, one)
    freezer.tick(61)
    keeper._fulfilling.async_look()
    for _ in range(100):
        if not one.is_standing:
            break
        await hass.async_block_till_done(wait_background_tasks=True)
        keeper._fulfilling.async_look()
    assert not one.is_standing
    assert spoken == []
    assert _async_get_or_create_notifications(hass) == {}
    assert keeper.untold(make_task(home, "", user_id=ben.id).owner.caller()) == {}
    assert len(keeper.untold(one.owner.caller())) == 1


@pytest.mark.parametrize("language", ["en", "de"])
async def test_in_the_panel(hass: HomeAssistant, home: MockConfigEntry, language: str) -> None:
    """Who may not end it reads so in their own language."""
    ways = Ways(hass, home, await user_of(hass, "reader"))
    one = make_task(home, "The household's")
    await async_add(hass, one)
    answer = await async_call_by_hand(hass, EndTaskTool(ways.options), {"cancel": one.id}, ways.context, language)
    words = {"en": "Only users whom Home Assistant lets control", "de": "Das dürfen nur Benutzer ändern"}[language]
    assert answer["done"] is False
    assert answer["speech"].startswith(words)
    assert "answer" not in answer

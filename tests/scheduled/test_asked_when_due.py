"""Tests of tasks that need somebody's word when they are due: it is asked on a phone, and one yes does it once."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, override
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.calls.plan import Plan, Step, identity_of
from custom_components.extended_assist.confirmation.phone_approval import MAX_OPEN, VALID
from custom_components.extended_assist.confirmation.recheck import agreed_acts
from custom_components.extended_assist.scheduled import run_actions
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask
from homeassistant.auth.models import User
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from tests.confirmation.test_phone_approval import forged
from tests.helpers.slow import SlowLock, add as add_entities

from .devices import ANSWERED, AddPhone, CompanionApp
from .keeping import Add, Later, Told, add, home, later, told

__all__ = ["add", "home", "later", "told"]

YES, NO = "Yes, do it", "No"
LOCK = "lock.front_door"
UNLOCK = {"action": "lock.unlock", "entity_ids": [LOCK], "data": {}, "targeted": True}
SEQUENCE = [{"action": "lock.unlock", "target": {"entity_id": LOCK}}, {"delay": 0}]


@pytest.fixture
async def phone(add_phone: AddPhone, anna: User) -> CompanionApp:
    """Return Anna's phone."""
    return await add_phone(anna, "Phone")


def asked(phone: CompanionApp) -> list[dict[str, Any]]:
    """Return the questions that were shown, oldest first."""
    return [push for push in phone.shown if push.get("data", {}).get("actions")]


async def async_asked(phone: CompanionApp, count: int) -> None:
    """Wait until so many questions were shown."""
    async with phone.pushed:
        await phone.pushed.wait_for(lambda: len(asked(phone)) >= count)


class Unlocking:
    """Hears who unlocks."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin to hear."""
        self._calls = async_capture_events(hass, "call_service")

    @property
    def users(self) -> list[str | None]:
        """Return who was responsible each time."""
        return [call.context.user_id for call in self._calls if call.data.get("service") == "unlock"]


async def async_come(hass: HomeAssistant, freezer: FrozenDateTimeFactory, phone: CompanionApp) -> str:
    """Let ten minutes go by and return what is asked on a phone; what is due waits for the answer."""
    freezer.tick(timedelta(seconds=601))
    async_fire_time_changed(hass)
    async with phone.pushed:
        await phone.pushed.wait_for(lambda: bool(phone.shown))
    return str(phone.shown[0]["message"])


async def async_ask_anna(hass: HomeAssistant, home: MockConfigEntry, anna: User) -> None:
    """Let Anna be asked about what others want."""
    hass.config_entries.async_update_entry(home, options={"ask_on_phones": [anna.id]})
    await hass.async_block_till_done()


@pytest.mark.parametrize("actions", [[UNLOCK], SEQUENCE], ids=["action", "sequence"])
@pytest.mark.parametrize("is_household", [True, False])
async def test_yes(
    hass: HomeAssistant,
    home: MockConfigEntry,
    add: Add,
    phone: CompanionApp,
    anna: User,
    freezer: FrozenDateTimeFactory,
    actions: list[dict[str, object]],
    is_household: bool,
) -> None:
    """The one who wanted it is asked, or for the household those of the options; it is done as theirs."""
    await async_ask_anna(hass, home, anna)
    unlocking = Unlocking(hass)
    task = await add(600, say=None, actions=actions, user_id=None if is_household else anna.id)
    question = await async_come(hass, freezer, phone)
    assert question == ("Somebody wants this to be done:\n" if is_household else "") + "Unlock: Front Door"
    assert unlocking.users == []
    await phone.async_press(YES)
    await phone.async_press(YES)
    await hass.async_block_till_done()
    assert unlocking.users == [anna.id]
    assert str(task.progress.result).startswith("done")
    (change,) = (await async_get_journal(hass)).changes
    assert change.user_id == anna.id


@pytest.mark.parametrize("actions", [[UNLOCK], SEQUENCE], ids=["action", "sequence"])
@pytest.mark.parametrize("answer", [NO, "hidden", "unnamed", "late"])
async def test_not_done(
    hass: HomeAssistant,
    home: MockConfigEntry,
    add: Add,
    phone: CompanionApp,
    anna: User,
    told: Told,
    freezer: FrozenDateTimeFactory,
    answer: str,
    actions: list[dict[str, object]],
) -> None:
    """After a no, too late, or where it is hidden or somebody else is to be asked by then, nothing is done."""
    await async_ask_anna(hass, home, anna)
    unlocking = Unlocking(hass)
    task = await add(600, say=None, actions=actions, name="Front Door")
    await async_come(hass, freezer, phone)
    if answer == "hidden":
        async_expose_entity(hass, "conversation", LOCK, False)
    elif answer == "unnamed":
        hass.config_entries.async_update_entry(home, options={"ask_on_phones": []})
    elif answer == "late":
        freezer.tick(VALID)
    await phone.async_press(NO if answer == NO else YES)
    await hass.async_block_till_done()
    assert unlocking.users == []
    assert str(task.progress.result).startswith("not done: ")
    (words,) = told.words
    assert ("Front Door" in words) is (answer != "hidden")


SHED = "lock.shed"
SHED_ACTIONS: list[list[dict[str, Any]]] = [
    [UNLOCK | {"entity_ids": [SHED]}],
    [{"action": "lock.unlock", "target": {"entity_id": SHED}}, {"delay": 0}],
]


class PromptLock(SlowLock):
    """A lock that has turned at once, whatever the clock says."""

    @override
    def later(self, action: Callable[[], None]) -> None:
        """Do it now."""
        action()
        self.async_write_ha_state()


@pytest.fixture
async def shed(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """Add a lock with a unique id."""
    lock = PromptLock(SHED, 0)
    lock._attr_unique_id = "one"
    await add_entities(hass, lock)


@pytest.mark.usefixtures("shed")
@pytest.mark.parametrize("actions", SHED_ACTIONS, ids=["action", "sequence"])
async def test_another_lock_while_it_is_asked(
    hass: HomeAssistant,
    home: MockConfigEntry,
    add: Add,
    phone: CompanionApp,
    anna: User,
    freezer: FrozenDateTimeFactory,
    actions: list[dict[str, Any]],
) -> None:
    """A yes on the phone is to the lock that was asked about, and to no other one with its id."""
    await async_ask_anna(hass, home, anna)
    unlocking = Unlocking(hass)
    task = await add(600, say=None, actions=actions)
    await async_come(hass, freezer, phone)
    er.async_get(hass).async_update_entity(SHED, new_unique_id="another")
    await phone.async_press(YES)
    await hass.async_block_till_done()
    assert unlocking.users == []
    assert "has changed meanwhile" in str(task.progress.result)


@pytest.mark.usefixtures("shed")
@pytest.mark.parametrize("actions", SHED_ACTIONS, ids=["action", "sequence"])
async def test_another_lock_has_the_id_when_it_is_due(
    hass: HomeAssistant, add: Add, later: Later, actions: list[dict[str, Any]]
) -> None:
    """What was agreed to beforehand is done to the lock that was meant, and to no other one with its id."""
    unlocking = Unlocking(hass)
    things = {SHED: identity_of(hass, SHED)}
    assert things[SHED].endswith("lock one")
    parts: dict[str, Any] = {"say": None, "actions": actions, "agreed": True}
    same = await add(600, **parts)
    same.what.things = dict(things)
    await later(601)
    assert len(unlocking.users) == 1
    other = await add(600, **parts)
    other.what.things = dict(things)
    er.async_get(hass).async_update_entity(SHED, new_unique_id="another")
    await later(601)
    assert "another device has the id" in str(other.progress.result)
    assert len(unlocking.users) == 1


async def test_nobody_is_named(hass: HomeAssistant, add: Add, phone: CompanionApp, told: Told, later: object) -> None:
    """Nobody is asked of what the household wants unless the options name them."""
    task = await add(600, say=None, actions=[UNLOCK])
    await later(601)  # type: ignore[operator]
    assert task.progress.result == "not done: it needs somebody's word, and nobody can be asked."
    assert phone.shown == []


async def test_forged(
    hass: HomeAssistant,
    add: Add,
    phone: CompanionApp,
    add_phone: AddPhone,
    anna: User,
    ben: User,
    freezer: FrozenDateTimeFactory,
) -> None:
    """None of hundreds of forged and foreign events lets anything be done; then the one yes does, once."""
    other = await add_phone(ben, "Other")
    unlocking = Unlocking(hass)
    task: ScheduledTask = await add(600, say=None, actions=[UNLOCK], user_id=anna.id)
    await async_come(hass, freezer, phone)
    keys = {title: button["action"] for title, button in phone.buttons().items()}
    attempts = [*{repr(one): one for one in forged(keys[YES], keys[NO], anna, ben, {"replayed": "used"})}.values()]
    assert len(attempts) >= 200
    for attempt in attempts:
        attempt.fire(hass)
        await asyncio.sleep(0)
    for key in keys.values():
        await other.async_fire(ANSWERED, {"action": key})
    assert unlocking.users == []
    assert task.is_standing
    await asyncio.gather(*(phone.async_press(YES) for _ in range(5)))
    await hass.async_block_till_done()
    for attempt in attempts:
        attempt.fire(hass)
    await phone.async_press(YES)
    await hass.async_block_till_done()
    assert unlocking.users == [anna.id]


async def test_many_at_once(
    hass: HomeAssistant, add: Add, phone: CompanionApp, anna: User, told: Told, freezer: FrozenDateTimeFactory
) -> None:
    """What comes due together beyond the questions that one person is asked waits for them, and is asked about then."""
    unlocking = Unlocking(hass)
    tasks = [await add(600, say=None, actions=[UNLOCK], user_id=anna.id) for _ in range(MAX_OPEN + 2)]
    await async_come(hass, freezer, phone)
    for count in range(1, len(tasks) + 1):
        least = min(MAX_OPEN + count - 1, len(tasks))
        await async_asked(phone, least)
        assert len(asked(phone)) == least
        yes = asked(phone)[count - 1]["data"]["actions"][0]["action"]
        await phone.async_fire(ANSWERED, {"action": yes})
    await hass.async_block_till_done()
    assert unlocking.users == [anna.id] * len(tasks)
    assert told.words == []


async def test_no_room(
    hass: HomeAssistant,
    add: Add,
    phone: CompanionApp,
    anna: User,
    told: Told,
    freezer: FrozenDateTimeFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What cannot be asked about in time is not done, which is told, and nobody is said to have refused."""
    monkeypatch.setattr(run_actions, "_PATIENCE", 60)
    tasks = [await add(600, say=None, actions=[UNLOCK], user_id=anna.id) for _ in range(MAX_OPEN + 1)]
    await async_come(hass, freezer, phone)
    await async_asked(phone, MAX_OPEN)
    for _ in range(100):
        await hass.async_add_executor_job(int)  # Until the one that finds no room waits for it.
    freezer.tick(61)
    await phone.async_fire("meanwhile", {})
    for push in asked(phone):
        await phone.async_fire(ANSWERED, {"action": push["data"]["actions"][1]["action"]})
    await hass.async_block_till_done()
    results = sorted(str(task.progress.result) for task in tasks)
    assert results[0] == "not done: it needs somebody's word, who had too many questions open."
    assert results[1:] == ["not done: it needs the user's word, who did not agree."] * MAX_OPEN


@pytest.mark.parametrize("actions", [[UNLOCK], SEQUENCE], ids=["action", "sequence"])
@pytest.mark.parametrize("change", ["none", "not held", "hidden"])
async def test_conditions_at_the_answer(
    hass: HomeAssistant,
    add: Add,
    phone: CompanionApp,
    anna: User,
    told: Told,
    freezer: FrozenDateTimeFactory,
    actions: list[dict[str, object]],
    change: str,
) -> None:
    """What must hold is asked again once somebody has agreed, for minutes may have gone by; where it does not, that is told."""
    hass.states.async_set("binary_sensor.rain", "on")
    async_expose_entity(hass, "conversation", "binary_sensor.rain", True)
    raining = {"condition": "state", "entity_id": "binary_sensor.rain", "state": "on"}
    unlocking = Unlocking(hass)
    task = await add(600, say=None, actions=actions, user_id=anna.id, conditions=[raining])
    await async_come(hass, freezer, phone)
    if change == "not held":
        hass.states.async_set("binary_sensor.rain", "off")
    elif change == "hidden":
        async_expose_entity(hass, "conversation", "binary_sensor.rain", False)
    await phone.async_press(YES)
    await hass.async_block_till_done()
    assert unlocking.users == ([anna.id] if change == "none" else [])
    assert len(told.words) == (change != "none")
    assert ("did not hold any more" in str(task.progress.result)) is (change == "not held")
    assert "rain" not in f"{task.progress.result} {told.words}"


@pytest.mark.parametrize("is_edited", [False, True])
async def test_script_edited_since_it_was_agreed_to(
    hass: HomeAssistant, home: MockConfigEntry, add: Add, later: Later, anna: User, is_edited: bool
) -> None:
    """An agreement covers a script as it was: one that has lost its condition since needs another yes."""
    condition = {"condition": "state", "entity_id": "binary_sensor.someone", "state": "on"}
    unlock = {"action": "lock.unlock", "target": {"entity_id": LOCK}}

    async def load(steps: list[dict[str, Any]]) -> None:
        config = {"script": {"leave": {"sequence": steps}}}
        if not hass.services.has_service("script", "reload"):
            assert await async_setup_component(hass, "script", config)
        with patch("homeassistant.config.load_yaml_config_file", return_value=config):
            await hass.services.async_call("script", "reload", blocking=True)
        await hass.async_block_till_done()
        async_expose_entity(hass, "conversation", "script.leave", True)

    await load([condition, unlock])
    hass.states.async_set("binary_sensor.someone", "off" if is_edited else "on")
    unlocking = Unlocking(hass)
    agreed_to = agreed_acts(hass, Plan((Step("script.turn_on", ("script.leave",)),), "Leave"))
    run = {"action": "script.turn_on", "entity_ids": ["script.leave"], "data": {}, "targeted": True}
    task = await add(600, say=None, actions=[run], user_id=anna.id, agreed=True, agreed_to=agreed_to)
    await load([unlock] if is_edited else [condition, unlock])
    await later(601)
    await hass.async_block_till_done()
    assert len(unlocking.users) == (0 if is_edited else 1), task.progress.result
    assert str(task.progress.result).startswith("not done: it needs somebody's word") is is_edited

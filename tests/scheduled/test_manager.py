"""Tests of tasks that are fulfilled: when they are due, once, and for as long as they stand."""

import asyncio
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled import lifecycle
from custom_components.extended_assist.scheduled.lifecycle import Ending
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import MAX_ENDED, MAX_STANDING, Until, When
from custom_components.extended_assist.storage import NotStoredError
from homeassistant.core import CoreState, HomeAssistant

from ..helpers.acting import house
from .keeping import (
    LAMP,
    PARTY,
    PARTY_BEGINS,
    TURN_ON,
    Add,
    Later,
    Told,
    a_task,
    add,
    async_restart,
    crowd,
    home,
    later,
    now,
    on_disk,
    told,
)

__all__ = ["add", "home", "house", "later", "told"]

DAILY = When(rule="FREQ=DAILY", start="2026-03-02T07:00:00")


async def test_at_a_moment(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """It is said when it is due, not before, and once."""
    task = await add(600)
    await later(590)
    assert told.words == []
    assert task.is_standing
    await later(11)
    assert told.words == ["The milk!"]
    assert task.progress.result == "said"
    assert not task.is_standing
    await later(90_000)
    assert told.words == ["The milk!"]
    tasks = await async_get_scheduled_tasks(hass)
    assert tasks.standing == []
    assert tasks.ended == [task]


async def test_action(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """An action is performed when it is due, nothing is said of it, and what became of it is known."""
    task = await add(600, say=None, actions=[TURN_ON])
    await later(601)
    assert hass.states.is_state(LAMP, "on")
    assert told.words == []
    assert task.progress.result is not None
    assert task.progress.result.startswith("done: light.bed_light: off → on")


async def test_rule(add: Add, later: Later, told: Told) -> None:
    """A rule goes on; what was missed is told once, as late, with how often it was."""
    task = await add(when=DAILY)
    assert task.progress.due == now() + 19 * 3600
    await later(19 * 3600)
    assert told.words == ["The milk!"]
    assert task.progress.due == now() + 24 * 3600
    await later(3 * 24 * 3600 + 120)
    assert told.words[1:] == [
        "This was due at 07:00: The milk! It came due earlier as well and could not be told then: 2."
    ]
    assert task.progress.times == 2


async def test_times(add: Add, later: Later, told: Told) -> None:
    """A rule ends after as many times as it may happen."""
    task = await add(when=DAILY, until=Until(times=2))
    for _ in range(5):
        await later(24 * 3600)
    assert told.words[0] == "This was due at 07:00: The milk!"
    assert len(told.words) == 2
    assert not task.is_standing


async def test_until_a_moment(add: Add, later: Later, told: Told) -> None:
    """Nothing comes due after the end, whether it waits for the clock or for something to happen."""
    rule = await add(when=DAILY, until=Until(moment=now() + 30 * 3600))
    trigger = await add(when=When(triggers=[PARTY_BEGINS]), until=Until(moment=now() + 30 * 3600))
    await later(19 * 3600)
    assert len(told.words) == 1
    assert not rule.is_standing
    assert trigger.is_standing
    await later(11 * 3600 + 31)
    await later(31)
    assert trigger.progress.result == lifecycle.OVER
    assert not trigger.is_standing


async def test_when_something_happens(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """A trigger sets it off, each time; with a wait, later."""
    at_once = await add(when=When(triggers=[PARTY_BEGINS]))
    waits = await add(say="Later", when=When(triggers=[PARTY_BEGINS], wait=1200), until=Until(times=1))
    hass.states.async_set(PARTY, "on")
    await hass.async_block_till_done()
    assert told.words == ["The milk!"]
    assert waits.progress.due == now() + 1200
    await later(1201)
    assert told.words == ["The milk!", "Later"]
    assert not waits.is_standing
    hass.states.async_set(PARTY, "off")
    hass.states.async_set(PARTY, "on")
    await hass.async_block_till_done()
    assert told.words == ["The milk!", "Later", "The milk!"]
    assert at_once.is_standing


@pytest.mark.parametrize("beside", [[], [{"trigger": "late.turned_on"}]])
async def test_state_that_holds_for_a_while(
    hass: HomeAssistant, add: Add, later: Later, told: Told, beside: list[dict[str, str]]
) -> None:
    """The time that it holds is counted on while the clock is looked at, and while another trigger is tried again."""
    await add(when=When(triggers=[PARTY_BEGINS | {"for": {"minutes": 5}}, *beside]))
    hass.states.async_set(PARTY, "on")
    for passed in range(0, 300, 30):
        assert told.words == [], passed
        await later(30)
    assert len(told.words) == 1


async def test_triggers_that_fire_fast(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What fires again at once comes together, after a rest."""
    await add(when=When(triggers=[PARTY_BEGINS]))
    for _ in range(5):
        hass.states.async_set(PARTY, "off")
        hass.states.async_set(PARTY, "on")
        await hass.async_block_till_done()
    assert len(told.words) == 1
    await later(lifecycle.REST + 1)
    assert len(told.words) == 2
    await later(lifecycle.REST + 1)
    assert len(told.words) == 2


async def test_moment_or_trigger(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """With both, it comes once: whichever is first."""
    task = await add(when=When(moment=now() + 600, triggers=[PARTY_BEGINS]))
    hass.states.async_set(PARTY, "on")
    await hass.async_block_till_done()
    assert told.words == ["The milk!"]
    assert not task.is_standing
    await later(601)
    assert told.words == ["The milk!"]


async def test_until_done(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """It is said again until somebody says that it is done; a rule goes on then."""
    task = await add(when=DAILY, until=Until(done=True))
    await later(19 * 3600)
    await later(601)
    assert told.words == ["The milk!", "The milk!"]
    assert told.answerable == [True, True]
    assert await (await async_get_scheduled_tasks(hass)).async_done(task.id) is task
    await later(3600)
    assert len(told.words) == 2
    assert task.is_standing
    await later(23 * 3600)
    assert len(told.words) == 3


async def test_nobody_says_done(add: Add, later: Later, told: Told) -> None:
    """It is said so often, and no more."""
    task = await add(600, until=Until(done=True))
    for _ in range(20):
        await later(601)
    assert len(told.words) == lifecycle.MAX_SAID
    assert task.progress.result == lifecycle.UNHEARD
    assert not task.is_standing


async def test_done_ends(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What comes once has ended when it is done."""
    task = await add(600, until=Until(done=True))
    await later(601)
    tasks = await async_get_scheduled_tasks(hass)
    assert await tasks.async_done(task.id) is task
    assert not task.is_standing
    assert await tasks.async_done(task.id) is None
    await later(601)
    assert len(told.words) == 1


async def test_snooze(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What was said is said again later, also where it has ended; what acts only cannot be put off then."""
    task = await add(600, actions=[TURN_ON])
    silent = await add(600, say=None, actions=[TURN_ON])
    await later(601)
    tasks = await async_get_scheduled_tasks(hass)
    await hass.services.async_call("light", "turn_off", {"entity_id": LAMP}, blocking=True)
    assert await tasks.async_snooze(task.id, 300) is task
    assert await tasks.async_snooze(silent.id, 300) is None
    assert task.is_standing
    await later(301)
    assert told.words == ["The milk!", "The milk!"]
    assert hass.states.is_state(LAMP, "off")
    assert not task.is_standing


async def test_end_and_restore(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """An ended task does not happen; brought back, it does; too late, it cannot be brought back."""
    tasks, task = await async_get_scheduled_tasks(hass), await add(600)
    assert await tasks.async_end(task.id, "cancelled") is task
    assert await tasks.async_end(task.id, "cancelled") is None
    await tasks.async_restore(task)
    assert tasks.standing == [task]
    await later(601)
    assert told.words == ["The milk!"]
    with pytest.raises(ToolError, match="Its time is over"):
        await tasks.async_restore(task)
    assert tasks.standing == []
    late = await add(600)
    await tasks.async_end(late.id, "cancelled")
    await later(601)
    with pytest.raises(ToolError, match="Its time is over"):
        await tasks.async_restore(late)
    assert told.words == ["The milk!"]


async def test_limits(hass: HomeAssistant, home: MockConfigEntry, hass_storage: dict[str, Any], add: Add) -> None:
    """There is an end to what can stand, and to what is remembered."""
    tasks = await async_get_scheduled_tasks(hass)
    users = [f"user {number}" for number in range(4)]
    crowd(tasks, (a_task(home.entry_id, 600, user_id=users[number % 4]) for number in range(MAX_STANDING - 1)))
    await add(600, user_id=users[3])
    assert len(hass_storage["extended_assist.wishes"]["data"]["wishes"]) == MAX_STANDING
    standing = tasks.standing
    for task in standing[: MAX_ENDED - 1]:
        lifecycle.end(task, "cancelled", now())
    for task in standing[MAX_ENDED - 1 : MAX_ENDED + 10]:
        await tasks.async_end(task.id, "cancelled")
    assert len(tasks.ended) == MAX_ENDED
    stored = hass_storage["extended_assist.wishes"]["data"]["wishes"]
    assert len(stored) == MAX_STANDING - 10


async def test_time_is_over(add: Add) -> None:
    """What would never happen is refused."""
    with pytest.raises(ToolError, match="Its time is over"):
        await add(-600)


@pytest.mark.parametrize("seconds", [-7200, 7200])
async def test_clock_is_set(
    hass: HomeAssistant, add: Add, freezer: FrozenDateTimeFactory, told: Told, seconds: int
) -> None:
    """A clock that is set forward is noticed; whichever way it is set, nothing is said twice."""
    await add(when=DAILY)
    await add(7000, say="Once")
    freezer.move_to("2026-03-03T06:00:30+00:00")
    async_fire_time_changed(hass, fire_all=True)
    await hass.async_block_till_done()
    assert sorted(told.words) == ["The milk!", "This was due at 2026-03-02 13:56: Once"]
    freezer.tick(seconds)
    async_fire_time_changed(hass, fire_all=True)
    await hass.async_block_till_done()
    freezer.tick(abs(seconds) + 60)
    async_fire_time_changed(hass, fire_all=True)
    await hass.async_block_till_done()
    assert len(told.words) == 2


async def test_restart(
    hass: HomeAssistant, home: MockConfigEntry, add: Add, later: Later, told: Told, hass_storage: dict[str, Any]
) -> None:
    """What stands survives a restart; what is begun is on the disk before, and what became of it after."""
    task = await add(600)
    tasks = await async_restart(hass, home)
    assert [one.stored() for one in tasks.standing] == [task.stored()]
    await later(601)
    assert told.words == ["The milk!"]
    assert on_disk(hass_storage, task)["progress"]["result"] == "said"
    tasks = await async_restart(hass, home)
    assert tasks.standing == []
    await later(601)
    assert told.words == ["The milk!"]


@pytest.mark.parametrize(("minutes", "done"), [(4, True), (6, False)])
async def test_off_when_due(
    hass: HomeAssistant, home: MockConfigEntry, add: Add, later: Later, told: Told, minutes: int, done: bool
) -> None:
    """An action that is late by more than five minutes is not done, and that is told; a message is told as late."""
    await add(60, say=None, actions=[TURN_ON], name="The lamp")
    await add(60)
    assert await hass.config_entries.async_unload(home.entry_id)
    await later(60 + minutes * 60)
    assert told.words == []
    await async_restart(hass, home)
    assert hass.states.is_state(LAMP, "on") is done
    late = "The lamp was due at 12:01. It was too late to do it then, so I did not."
    assert sorted(told.words) == [*([] if done else [late]), "This was due at 12:01: The milk!"]


async def test_due_while_stopping(
    hass: HomeAssistant, home: MockConfigEntry, add: Add, later: Later, told: Told
) -> None:
    """What comes due while Home Assistant stops is left for the next start."""
    await add(60, actions=[TURN_ON])
    hass.set_state(CoreState.stopping)
    await later(61)
    assert told.words == []
    assert hass.states.is_state(LAMP, "off")
    await async_restart(hass, home)
    assert len(told.words) == 1
    assert hass.states.is_state(LAMP, "on")


async def test_removed_entry_and_user(
    hass: HomeAssistant, home: MockConfigEntry, add: Add, later: Later, told: Told, hass_storage: dict[str, Any]
) -> None:
    """The tasks of an entry go with it, and those of a user with them."""
    await hass.auth.async_create_user("Owner")
    user = await hass.auth.async_create_user("Guest")
    task = await add(60, user_id=user.id)
    await add(600)
    await hass.auth.async_remove_user(user)
    await hass.async_block_till_done()
    assert not task.is_standing
    await later(61)
    assert told.words == []
    await hass.config_entries.async_remove(home.entry_id)
    assert "extended_assist.wishes" not in hass_storage
    await later(600)
    assert told.words == []


async def test_listeners(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """Whoever listens hears of every change, and of each occurrence with what became of it."""
    tasks, heard, happened = await async_get_scheduled_tasks(hass), [], []
    stop = tasks.async_listen(lambda: heard.append(len(tasks.standing)))
    stop_happened = tasks.async_listen_happened(lambda *of: happened.append(of))
    task = await add(60)
    moment = now() + 60
    assert heard == [1]
    await later(61)
    assert happened == [(task, moment, Ending.HAPPENED, "said")]
    assert heard[-1] == 0
    stop()
    stop_happened()
    count = len(heard)
    await tasks.async_add(a_task(task.owner.entry_id, 60))
    await later(61)
    assert len(heard) == count
    assert len(happened) == 1


async def test_untold(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What no device took is told when the one whose it is speaks next, once."""
    told.reaches = False
    user = await hass.auth.async_create_user("Anna")
    own, household = await add(60, user_id=user.id), await add(60)
    stranger = a_task("entry", user_id="somebody else").owner.caller()
    await later(61)
    tasks = await async_get_scheduled_tasks(hass)
    told_then = "2026-03-02 12:01:00: The milk!"
    assert [*tasks.untold(own.owner.caller()).values()] == [told_then, told_then]
    assert tasks.untold(household.owner.caller()) == tasks.untold(stranger) == {(household.id, told_then): told_then}
    await tasks.async_told(tasks.untold(own.owner.caller()))
    assert tasks.untold(own.owner.caller()) == {}
    assert own.progress.result == "not said: nobody could be told yet"


async def test_two_changes_taken_back(hass: HomeAssistant, add: Add) -> None:
    """Of two changes, the second made while the first is being written, nothing is left where both fail."""
    task = await add(3600)
    tasks = await async_get_scheduled_tasks(hass)
    due, store = task.progress.due, tasks._store._store
    writes, goes_on = asyncio.Event(), asyncio.Event()

    async def fail(_: Any) -> bool:
        writes.set()
        await goes_on.wait()
        return False

    with patch.object(store, "_async_is_saved", fail):
        first = hass.async_create_task(tasks.async_snooze(task.id, 600))
        await writes.wait()
        second = hass.async_create_task(tasks.async_snooze(task.id, 600))
        await asyncio.sleep(0)
        goes_on.set()
        for change in (first, second):
            with pytest.raises(NotStoredError):
                await change
    assert task.progress.due == due

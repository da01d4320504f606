"""Tests of what is in the way of a task: a full disk, what is gone or comes late, and triggers that nobody knows yet."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled import scheduler, store
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import When
from homeassistant.const import EVENT_COMPONENT_LOADED
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from ..helpers.acting import house
from .keeping import LAMP, TURN_ON, Add, Later, Told, a_task, add, home, later, told

__all__ = ["add", "home", "house", "later", "told"]


@pytest.fixture
def fill_disk(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function after which nothing reaches the disk, and nobody says so, as a store does."""

    async def write_nothing(*_: Any) -> None:
        return None

    return lambda: monkeypatch.setattr(store.Store, "async_save", write_nothing)


async def test_full_disk(hass: HomeAssistant, home: MockConfigEntry, fill_disk: Any) -> None:
    """What cannot be stored is not promised."""
    tasks = await async_get_scheduled_tasks(hass)
    fill_disk()
    with pytest.raises(ToolError, match="could not be stored"):
        await tasks.async_add(a_task(home.entry_id, 600))
    assert tasks.standing == []


async def test_disk_full_when_due(hass: HomeAssistant, add: Add, later: Later, told: Told, fill_disk: Any) -> None:
    """An action of which it cannot be stored that it was begun is not done; words are said all the same."""
    acts, says = await add(600, say=None, actions=[TURN_ON]), await add(600)
    fill_disk()
    await later(601)
    assert hass.states.is_state(LAMP, "off")
    assert acts.progress.result == scheduler.NOT_STORED
    assert says.progress.result == "said"


@pytest.mark.parametrize("missing", ["action", "entity"])
async def test_waits_a_minute(hass: HomeAssistant, add: Add, later: Later, missing: str) -> None:
    """What an action needs and is not there is waited for, and not for ever."""
    entry = er.async_get(hass).async_get_or_create("light", "late", "1")
    step = TURN_ON | ({"action": "late.turn_on"} if missing == "action" else {"entity_ids": [entry.entity_id]})
    task = await add(600, say=None, actions=[step])
    await later(601)
    assert task.is_standing
    await later(31)
    await later(31)
    assert str(task.progress.result).startswith("not done:")


async def test_owner_is_gone(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What a user wanted who may not use Home Assistant any more is not done."""
    await hass.auth.async_create_user("Owner")
    user = await hass.auth.async_create_user("Ada")
    task = await add(600, user_id=user.id, say=None, actions=[TURN_ON])
    await hass.auth.async_update_user(user, is_active=False)
    await later(601)
    assert hass.states.is_state(LAMP, "off")
    assert task.progress.result == "not done: the user who wanted it is gone."


async def test_trigger_that_comes_late(hass: HomeAssistant, add: Add, later: Later) -> None:
    """A trigger of what is not loaded yet is tried again; one that ends meanwhile is left."""
    task = await add(when=When(triggers=[{"trigger": "late.turned_on"}]))
    await later(61)
    hass.bus.async_fire(EVENT_COMPONENT_LOADED, {"component": "late"})
    await hass.async_block_till_done()
    assert task.is_standing
    tasks = await async_get_scheduled_tasks(hass)
    assert await tasks.async_end(task.id, "cancelled") is task
    await later(61)
    assert task.progress.result == "cancelled"


async def test_forgotten(hass: HomeAssistant, home: MockConfigEntry, add: Add) -> None:
    """With an entry, its tasks go, and no others."""
    tasks = await async_get_scheduled_tasks(hass)
    await add(600)
    other = a_task("another entry", 600)
    await tasks.async_add(other)
    await tasks.async_forget(home.entry_id)
    assert tasks.standing == [other]


async def test_listener_that_fails(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """A mistake of whoever shows what happens does not keep a rule from its next time."""

    def fail(*_: object) -> None:
        raise KeyError("a mistake")

    (await async_get_scheduled_tasks(hass)).async_listen_happened(fail)
    await add(when=When(rule="FREQ=DAILY", start="2026-03-02T07:00:00"))
    for _ in range(2):
        await later(24 * 3600)
    assert len(told.words) == 2

"""Tests that what is performed later is performed at most once: over restarts, races and stops."""

import asyncio
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.actions.schedule import (
    Schedule,
    ScheduledAction,
    async_get_schedule,
)
from custom_components.extended_assist.tools.actions import PerformActionTool, ScheduledActionsTool
from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import CoreState, Event, HomeAssistant, callback
from homeassistant.helpers import chat_session
from homeassistant.util import dt as dt_util

from ..conftest import ASSISTANT, CallTool
from .conftest import KEY, LAMP, Later, is_on


async def _restart(hass: HomeAssistant, entry: MockConfigEntry) -> Schedule:
    """Forget everything in memory, and set the entry up again as a started Home Assistant does."""
    assert await hass.config_entries.async_unload(entry.entry_id)
    del hass.data["extended_assist_schedule"]
    hass.set_state(CoreState.starting)
    assert await hass.config_entries.async_setup(entry.entry_id)
    hass.set_state(CoreState.running)
    hass.bus.async_fire("homeassistant_started")
    await hass.async_block_till_done()
    return await async_get_schedule(hass)


async def test_restart(
    hass: HomeAssistant, toolbox: MockConfigEntry, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """What waits survives a restart, and runs once."""
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=600)
    schedule = await _restart(hass, toolbox)
    assert [item.action for item in schedule.waiting] == ["light.turn_on"]
    await later(601)
    assert is_on(hass)
    schedule = await _restart(hass, toolbox)
    assert schedule.waiting == []
    assert len(schedule.outcomes) == 1


@pytest.mark.parametrize(("minutes", "done"), [(4, True), (6, False), (300, False)])
async def test_down_when_due(
    hass: HomeAssistant,
    toolbox: MockConfigEntry,
    perform: PerformActionTool,
    call_tool: CallTool,
    later: Later,
    minutes: int,
    done: bool,
) -> None:
    """An action missed by a little is done when Home Assistant is back; one missed by more is not, and that is told."""
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    assert await hass.config_entries.async_unload(toolbox.entry_id)
    await later(60 + minutes * 60)
    assert not is_on(hass)
    await _restart_unloaded(hass, toolbox)
    await later(1)
    assert is_on(hass) is done
    (ended,) = (await call_tool(ScheduledActionsTool()))["ended"]
    assert ended["result"].startswith("done" if done else "missed: Home Assistant was not running")


async def _restart_unloaded(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Set an unloaded entry up with nothing in memory."""
    del hass.data["extended_assist_schedule"]
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


async def test_out_of_the_store_before_it_begins(
    hass: HomeAssistant,
    perform: PerformActionTool,
    call_tool: CallTool,
    hass_storage: dict[str, Any],
    later: Later,
) -> None:
    """When Home Assistant dies while an action runs, it is not done again."""
    stored: list[dict[str, Any]] = []

    @callback
    def look(event: Event) -> None:
        if event.data["domain"] == "light":
            stored.append(hass_storage[KEY]["data"])

    hass.bus.async_listen(EVENT_CALL_SERVICE, look)
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    assert len(hass_storage[KEY]["data"]["waiting"]) == 1
    await later(61)
    assert stored[0]["waiting"] == []
    assert "stopped before it was over" in stored[0]["outcomes"][0]["result"]


async def test_due_while_stopping(
    hass: HomeAssistant, toolbox: MockConfigEntry, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """What becomes due while Home Assistant stops is left for the next start, when it is done once."""
    await call_tool(perform, action="light.toggle", target=LAMP, delay=60)
    hass.set_state(CoreState.stopping)
    await later(61)
    assert not is_on(hass)
    hass.set_state(CoreState.running)
    schedule = await _restart(hass, toolbox)
    await later(1)
    assert is_on(hass)
    assert schedule.waiting == []
    await _restart(hass, toolbox)
    await later(1)
    assert is_on(hass)


@pytest.mark.parametrize("change", ["cancel", "unload"])
async def test_changed_while_it_is_stored(
    hass: HomeAssistant, toolbox: MockConfigEntry, later: Later, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """What is cancelled, or whose entry is unloaded, before it is on the disk is not performed all the same."""
    schedule = await async_get_schedule(hass)
    item = ScheduledAction(
        due=dt_util.utcnow().timestamp() + 60,
        action="light.turn_on",
        entity_ids=["light.bed_light"],
        data={},
        targeted=True,
        entry_id=toolbox.entry_id,
        platform="test",
        assistant=ASSISTANT,
        language=None,
        device_id=None,
        user_id=None,
    )
    slow = asyncio.Event()
    save = schedule._async_save

    async def save_slowly() -> None:
        await slow.wait()
        await save()

    monkeypatch.setattr(schedule, "_async_save", save_slowly)
    adding = hass.async_create_task(schedule.async_add(item))
    if change == "cancel":
        cancelling = hass.async_create_task(schedule.async_cancel(item.id))
        slow.set()
        assert await cancelling is item
    else:
        assert await hass.config_entries.async_unload(toolbox.entry_id)
        slow.set()
    await adding
    await later(61)
    assert not is_on(hass)
    assert schedule.outcomes == []


async def test_due_at_the_same_time(
    hass: HomeAssistant, toolbox: MockConfigEntry, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """Many that are due at once are each done once, and none of it is part of the conversation any more."""
    calls: list[tuple[str, object]] = []

    @callback
    def look(event: Event) -> None:
        if event.data["domain"] == "input_number":
            calls.append((event.data["service_data"]["value"], current_chat_log.get()))

    hass.bus.async_listen(EVENT_CALL_SERVICE, look)
    target = {"entity_id": "input_number.level"}
    with (
        chat_session.async_get_chat_session(hass) as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        token = current_chat_log.set(chat_log)
        await asyncio.gather(
            *(
                call_tool(perform, action="input_number.set_value", target=target, data={"value": value}, delay=60)
                for value in range(8)
            )
        )
        current_chat_log.reset(token)
    await later(61)
    await later(61)
    assert sorted(value for value, _ in calls) == list(range(8))
    assert {log for _, log in calls} == {None}

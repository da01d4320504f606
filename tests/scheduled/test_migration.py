"""Tests that what the first release kept for later is taken over: once, whole, and only when it is surely stored here."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.calls.journal import CANCELLED, SCHEDULED, Change, async_get_journal
from custom_components.extended_assist.scheduled.manager import ScheduledTasks, async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.migration import KEY
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.scheduled import PendingTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.storage import Store
from tests.actions.conftest import Later, is_on, later, toolbox
from tests.conftest import ASSISTANT, CallTool

from .keeping import async_restart, now

__all__ = ["later", "toolbox"]

type Record = Callable[[str, dict[str, Any]], None]

WISHES = "extended_assist.wishes"


def scheduled(entry: MockConfigEntry, due: float, **more: Any) -> dict[str, Any]:
    """Return an action as the first release stored it."""
    return {
        "due": due,
        "action": "light.turn_on",
        "entity_ids": ["light.bed_light"],
        "data": {"brightness_pct": 50},
        "targeted": True,
        "entry_id": entry.entry_id,
        "platform": "extended_assist",
        "assistant": ASSISTANT,
        "language": "en",
        "device_id": None,
        "user_id": None,
        "id": "abc123",
    } | more


def store(waiting: list[dict[str, Any]], outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the file of the first release."""
    return {"version": 1, "minor_version": 1, "key": KEY, "data": {"waiting": waiting, "outcomes": outcomes}}


async def test_is_done_once(
    hass: HomeAssistant, toolbox: MockConfigEntry, call_tool: CallTool, later: Later, hass_storage: dict[str, Any]
) -> None:
    """What waits is done at its time, what is over is told, and nothing comes twice over restarts."""
    over = {"scheduled": scheduled(toolbox, now() - 60, id="abc122"), "result": "done: light.bed_light: off → on"}
    hass_storage[KEY] = store([scheduled(toolbox, now() + 600)], [over])
    await async_restart(hass, toolbox)
    assert KEY not in hass_storage
    listed = await call_tool(PendingTool())
    what = "Turn on: Bed Light (light.turn_on), brightness 50 %"
    assert listed["pending"] == [{"id": "abc123", "next": "Monday 2026-03-02 12:10:00", "what": what}]
    assert [(one["id"], one["result"]) for one in listed["ended"]] == [("abc122", over["result"])]
    await async_restart(hass, toolbox)
    await later(601)
    assert is_on(hass)
    await hass.services.async_call("light", "turn_off", {"entity_id": "light.bed_light"}, blocking=True)
    await async_restart(hass, toolbox)
    await later(3600)
    assert not is_on(hass)


async def test_killed_before_the_file_was_removed(
    hass: HomeAssistant, toolbox: MockConfigEntry, later: Later, hass_storage: dict[str, Any]
) -> None:
    """What was taken over, and is over by now, is not taken over again."""
    hass_storage[KEY] = store([scheduled(toolbox, now() + 60)], [])
    before = dict(hass_storage)
    await async_restart(hass, toolbox)
    await later(61)
    assert is_on(hass)
    await hass.services.async_call("light", "turn_off", {"entity_id": "light.bed_light"}, blocking=True)
    hass_storage[KEY] = before[KEY]
    tasks = await async_restart(hass, toolbox)
    await later(1)
    assert not is_on(hass)
    assert tasks.standing == []
    assert KEY not in hass_storage


async def test_full_disk(
    hass: HomeAssistant, toolbox: MockConfigEntry, hass_storage: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it cannot be stored, the file of the first release stays until it can."""
    hass_storage[KEY] = store([scheduled(toolbox, now() + 600)], [])
    save = Store.async_save

    async def refuse(one: Store[Any], data: Any) -> None:
        if one.key != WISHES:
            await save(one, data)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "async_save", refuse)
        tasks = await async_restart(hass, toolbox)
    assert [task.id for task in tasks.standing] == ["abc123"]
    assert KEY in hass_storage
    tasks = await async_restart(hass, toolbox)
    assert [task.id for task in tasks.standing] == ["abc123"]
    assert KEY not in hass_storage


@pytest.mark.parametrize("data", [{"waiting": [{"id": "abc123"}], "outcomes": []}, {"waiting": 1}, [1]])
async def test_what_cannot_be_read(
    hass: HomeAssistant, toolbox: MockConfigEntry, hass_storage: dict[str, Any], data: Any
) -> None:
    """A damaged file does not keep the tasks from being loaded."""
    await (await async_get_scheduled_tasks(hass)).async_forget(toolbox.entry_id)
    hass_storage[KEY] = store([], []) | {"data": data}
    assert isinstance(tasks := await async_restart(hass, toolbox), ScheduledTasks)
    assert tasks.standing == []


class TestUndo:
    """Changes that the first release recorded are taken back as tasks are."""

    @pytest.fixture
    async def record(
        self, hass: HomeAssistant, toolbox: MockConfigEntry, hass_admin_user: MockUser, llm_context: llm.LLMContext
    ) -> Record:
        """Return a function that records a change of the user who speaks, as the first release did."""
        llm_context.context = Context(user_id=hass_admin_user.id)
        journal = await async_get_journal(hass)

        def change(kind: str, details: dict[str, Any]) -> None:
            journal.add(Change(kind, "light.turn_on", details, assistant=ASSISTANT, user_id=hass_admin_user.id))

        return change

    async def test_scheduled(
        self,
        hass: HomeAssistant,
        toolbox: MockConfigEntry,
        record: Record,
        call_tool: CallTool,
        hass_storage: dict[str, Any],
    ) -> None:
        """What was scheduled ends."""
        hass_storage[KEY] = store([scheduled(toolbox, now() + 600)], [])
        tasks = await async_restart(hass, toolbox)
        record(SCHEDULED, {"id": "abc123"})
        assert (await call_tool(UndoLastChangeTool()))["undone"].startswith("ended: Turn on: Bed Light")
        assert tasks.standing == []

    async def test_cancelled(
        self, hass: HomeAssistant, toolbox: MockConfigEntry, record: Record, call_tool: CallTool, later: Later
    ) -> None:
        """What was cancelled stands again, for its time."""
        record(CANCELLED, scheduled(toolbox, now() + 600))
        undone = await call_tool(UndoLastChangeTool())
        assert undone["undone"].startswith("to come as before: Turn on: Bed Light")
        await later(601)
        assert is_on(hass)

    async def test_too_late(self, toolbox: MockConfigEntry, record: Record, call_tool: CallTool) -> None:
        """Unless its time is over."""
        record(CANCELLED, scheduled(toolbox, now() - 1))
        assert "time is over" in (await call_tool(UndoLastChangeTool(), error=True))["error"]

    async def test_hidden(
        self, hass: HomeAssistant, toolbox: MockConfigEntry, record: Record, call_tool: CallTool
    ) -> None:
        """What is hidden by now is not named."""
        record(CANCELLED, scheduled(toolbox, now() + 600))
        async_expose_entity(hass, ASSISTANT, "light.bed_light", False)
        assert "bed" not in str(await call_tool(UndoLastChangeTool())).lower()

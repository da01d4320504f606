"""What is done for many tasks does not hold the event loop: counted, since times say nothing on a busy machine."""

import asyncio
from collections import Counter
import threading
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.scheduled import lifecycle, store
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask, When
from custom_components.extended_assist.scheduled.store import ScheduledTaskStore
from custom_components.extended_assist.tools import scheduled as tools
from custom_components.extended_assist.tools.scheduled import DoLaterTool
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from ..helpers.acting import house
from .keeping import Add, a_task, add, async_restart, crowd, home, told

__all__ = ["add", "home", "house", "told"]


async def test_many_at_once(hass: HomeAssistant, home: MockConfigEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred that are asked for at the same time share their saves, nothing is read again, and the loop runs between."""
    tasks = await async_get_scheduled_tasks(hass)
    saves, read, begun = list[int](), list[int](), Counter[int]()
    beats, what, is_crowded = 0, tools._async_what, asyncio.Event()
    kept = tasks._store
    save = kept._store._async_is_saved

    async def count_save(data: Any) -> bool:
        # The first write takes until everybody has come, as on a slow disk.
        saves.append(len(kept.tasks))
        await is_crowded.wait()
        return await save(data)

    async def count_begin(call: Any) -> Any:
        begun[beats] += 1
        return await what(call)

    monkeypatch.setattr(kept._store, "_async_is_saved", count_save)
    monkeypatch.setattr(store, "read_stored", lambda stored: read.append(1))
    monkeypatch.setattr(tools, "_async_what", count_begin)
    users = [await hass.auth.async_create_user(f"User {number}") for number in range(4)]
    options = ToolboxOptions(
        entry_id=home.entry_id, policy=Policy(allow_without_chat=True, ask_first=frozenset()), is_fixed=True
    )
    tool, is_over = DoLaterTool(options), asyncio.Event()

    async def beat() -> None:
        nonlocal beats
        while not is_over.is_set():
            await asyncio.sleep(0)
            beats += 1
            if len(kept.tasks) == 100:
                is_crowded.set()

    heart = asyncio.ensure_future(beat())
    results = await asyncio.gather(
        *(
            tool.async_call(
                hass,
                llm.ToolInput(tool.name, {"when": {"after": 3600 + number}, "say": f"Number {number}"}),
                llm.LLMContext(DOMAIN, Context(user_id=users[number % 4].id), "en", "conversation", None),
            )
            for number in range(100)
        )
    )
    is_over.set()
    await heart
    assert not any(result.error for result in results)
    assert len(tasks.standing) == 100
    assert sum(begun.values()) == 200  # Once for the plan, and once to do it.
    assert max(begun.values()) <= 2
    # One after the other they come in, and whoever comes while a save runs shares the next.
    assert saves in ([1, 100], [2, 100])
    assert read == []


async def test_saves_are_shared(hass: HomeAssistant, home: MockConfigEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that asks to be stored before a save begins is in that save."""
    tasks, saves, data = await async_get_scheduled_tasks(hass), list[int](), ScheduledTaskStore._data
    monkeypatch.setattr(ScheduledTaskStore, "_data", lambda self: saves.append(len(self.tasks)) or data(self))
    users = [f"user {number}" for number in range(4)]
    await asyncio.gather(
        *(tasks.async_add(a_task(home.entry_id, 600, user_id=users[number % 4])) for number in range(200))
    )
    assert saves == [200]


async def test_time_zone(hass: HomeAssistant, add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules are looked at in another thread; what changed meanwhile is not overwritten. It is six in the morning there."""
    tasks, expecting, threads = await async_get_scheduled_tasks(hass), lifecycle.coming, set[int]()
    rules = [await add(when=When(rule="FREQ=DAILY", start="2026-03-02T07:00:00")) for _ in range(20)]
    once = await add(600)
    before = [one.progress.due for one in rules]

    def coming(task: ScheduledTask, after: float) -> float | None:
        threads.add(threading.get_ident())
        if task is rules[0]:
            lifecycle.snooze(task, 60, after)
        return expecting(task, after)

    monkeypatch.setattr(lifecycle, "coming", coming)
    await hass.config.async_update(time_zone="America/New_York")
    await hass.async_block_till_done()
    assert threads
    assert threading.get_ident() not in threads
    assert [one.progress.due for one in rules] == [before[0] + 60, *(due - 18 * 3600 for due in before[1:])]
    assert once in tasks.standing


async def test_start(hass: HomeAssistant, home: MockConfigEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored is validated in another thread."""
    tasks, read, threads = await async_get_scheduled_tasks(hass), store.read_stored, set[int]()
    crowd(tasks, (a_task(home.entry_id, 600) for _ in range(20)))
    await tasks._store.async_save()

    def read_stored(stored: Any) -> list[ScheduledTask]:
        threads.add(threading.get_ident())
        return read(stored)

    monkeypatch.setattr(store, "read_stored", read_stored)
    tasks = await async_restart(hass, home)
    assert len(tasks.standing) == 20
    assert threads
    assert threading.get_ident() not in threads

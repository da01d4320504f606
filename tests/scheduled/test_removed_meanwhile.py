"""Users who are removed while a call of theirs runs: nothing of their own is stored afterwards."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.journal import (
    FACT,
    PRIVATE,
    STATES,
    WISH_CHANGED,
    Change,
    async_get_journal,
)
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.memory.store import async_get_memory
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.store import KEY
from custom_components.extended_assist.tools import scheduled as wish_tools
from custom_components.extended_assist.tools.scheduled import DoLaterTool, PendingTool
from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from ..conftest import ASSISTANT
from ..helpers.acting import house
from ..memory.people import async_memory
from .keeping import Add, add, home, told
from .test_meanwhile import ada

__all__ = ["ada", "add", "home", "house", "told"]


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """A folder of its own: files are looked for in it."""
    return str(tmp_path)


SET_ASIDE: dict[str, tuple[Any, bool]] = {
    "rows": (
        {"data": {"wishes": [{"owner": {"user_id": "ada", "entry_id": "one"}}, {"owner": {"user_id": "ben"}}]}},
        True,
    ),
    "a wrong row": ({"data": {"wishes": [{"kept": {"user_id": "ada"}, "entry_id": "one"}, {"owner": {}}, 7]}}, True),
    "no rows": ({"data": [{"owner": {"user_id": "ada", "entry_id": "one"}}]}, False),
    "cut off": ('{"data":{"wishes":[{"owner":{"user_id":"ada","entry_id":"one"},"what":{"say":"gift', False),
}
"""What was set aside because it could not be read, and whether what is not Ada's can be told apart in it."""


@pytest.mark.parametrize("way", ["user", "entry"])
@pytest.mark.parametrize("kind", SET_ASIDE)
async def test_copies_set_aside(
    hass: HomeAssistant, home: MockConfigEntry, tmp_path: Path, kind: str, way: str
) -> None:
    """Copies of the file that could not be read keep nothing of a user or an entry that was removed."""
    stored, can_be_cut = SET_ASIDE[kind]
    folder = tmp_path / ".storage"
    folder.mkdir(exist_ok=True)
    text = stored if isinstance(stored, str) else json.dumps(stored)
    (copy := folder / f"{KEY}.unreadable.20260101T000000").write_text(text)
    (other := folder / f"{KEY}.corrupt.2025").write_text('{"data": {"wishes": [{"owner": {"user_id": "ben"}}]}}')
    tasks = await async_get_scheduled_tasks(hass)
    if way == "user":
        hass.bus.async_fire(EVENT_USER_REMOVED, {"user_id": "ada"})
        await hass.async_block_till_done()
    else:
        await tasks.async_forget("one")
    assert copy.exists() is can_be_cut
    assert not can_be_cut or ("ada" if way == "user" else "one") not in copy.read_text()
    assert "ben" in other.read_text()


async def test_copies_on_a_full_disk(
    hass: HomeAssistant, home: MockConfigEntry, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where a copy cannot be written, the log says to delete it."""
    folder = tmp_path / ".storage"
    folder.mkdir(exist_ok=True)
    (folder / f"{KEY}.corrupt.2025").write_text(json.dumps(SET_ASIDE["rows"][0]))
    with patch("homeassistant.util.file.AtomicWriter", side_effect=OSError(28, "No space left on device")):
        await (await async_get_scheduled_tasks(hass)).async_forget("one")
    assert "cannot be changed" in caplog.text


async def remove(hass: HomeAssistant, user_id: str) -> None:
    """Remove a user, and let all that follows it run."""
    user = await hass.auth.async_get_user(user_id)
    assert user
    await hass.auth.async_remove_user(user)
    for _ in range(50):
        await asyncio.sleep(0)


@asynccontextmanager
async def removed_meanwhile(
    hass: HomeAssistant, user_id: str, where: Any, name: str, call: Any
) -> AsyncGenerator[llm.ToolResult]:
    """Yield the result of a call whose user is removed where it waits for a function."""
    waits, goes_on = asyncio.Event(), asyncio.Event()
    original = getattr(where, name)

    async def slow(*args: Any) -> Any:
        waits.set()
        await goes_on.wait()
        return await original(*args)

    with patch.object(where, name, slow):
        task = hass.async_create_task(call)
        await waits.wait()
        await remove(hass, user_id)
        goes_on.set()
        yield await task


def context_of(user_id: str) -> llm.LLMContext:
    """Return the context of a user's call."""
    return llm.LLMContext("extended_assist", Context(user_id=user_id), "en", ASSISTANT, None)


async def test_later_of_a_user_removed_meanwhile(hass: HomeAssistant, home: MockConfigEntry, ada: str) -> None:
    """A task is not stored for a user who is removed while they plan it."""
    tool = DoLaterTool(ToolboxOptions.of(home.options, home.entry_id))
    call = tool.async_call(hass, llm.ToolInput(tool.name, {"when": {"after": 60}, "say": "Quagga"}), context_of(ada))
    async with removed_meanwhile(hass, ada, wish_tools, "async_keep", call) as result:
        assert "removed" in str(result.data)
    assert [one.name for one in (await async_get_scheduled_tasks(hass)).standing] == []
    assert not [one for one in (await async_get_journal(hass)).changes if one.user_id == ada]


async def test_restored_for_a_removed_user(hass: HomeAssistant, home: MockConfigEntry, add: Add, ada: str) -> None:
    """A task of a removed user is not restored."""
    task = await add(3600, say="Quagga", user_id=ada)
    await remove(hass, ada)
    tasks = await async_get_scheduled_tasks(hass)
    with pytest.raises(ToolError, match="removed"):
        await tasks.async_restore(task)
    assert tasks.find(task.id) is None


async def test_undo_entry_of_a_removed_user(hass: HomeAssistant, home: MockConfigEntry, add: Add, ada: str) -> None:
    """The journal does not keep a change of a user's own task that ends after they were removed."""
    task = await add(3600, say="Quagga", user_id=ada)
    store = (await async_get_scheduled_tasks(hass))._store._store
    tool = PendingTool(ToolboxOptions.of(home.options, home.entry_id))
    snooze = {"snooze": {"id": task.id, "seconds": 60}}
    call = tool.async_call(hass, llm.ToolInput(tool.name, snooze), context_of(ada))
    async with removed_meanwhile(hass, ada, store, "_async_is_saved", call):
        await hass.async_block_till_done()
    assert [change.details for change in (await async_get_journal(hass)).changes if change.user_id == ada] == []


async def test_journal_of_a_removed_user(hass: HomeAssistant, home: MockConfigEntry, ada: str) -> None:
    """The journal takes nothing private by or about a removed user; changes of the household stay undoable."""
    await async_get_scheduled_tasks(hass)
    journal = await async_get_journal(hass)
    await remove(hass, ada)
    for kind in PRIVATE:
        journal.add(Change(kind, "theirs", {}, "conversation", ada))
    journal.add(Change(WISH_CHANGED, "by an admin", {"owner": {"user_id": ada}}, "conversation", "admin"))
    journal.add(Change(STATES, "light.turn_on", {}, "conversation", ada))
    journal.add(Change(FACT, "of another", {}, "conversation", "admin"))
    assert [change.what for change in journal.changes] == ["light.turn_on", "of another"]


async def test_fact_of_a_removed_user(hass: HomeAssistant, home: MockConfigEntry, ada: str) -> None:
    """No fact of their own is stored, changed or revived for a removed user; what they say for the household is."""
    past, other = Fact("Quagga", ada, ada), Fact("The bins", None, "ben")
    memory = await async_memory(hass, past, other)
    await remove(hass, ada)
    await hass.async_block_till_done()
    assert await async_get_memory(hass) is memory
    with pytest.raises(ToolError, match="removed"):
        await memory.async_add([Fact("Quagga", ada, ada)])
    with pytest.raises(ToolError, match="removed"):
        await memory.async_replace(Fact("Quagga", ada, ada, id=other.id))
    await memory.async_add([Fact("The key", None, ada)])
    assert sorted(fact.words for fact in memory.all) == ["The bins", "The key"]

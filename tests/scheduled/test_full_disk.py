"""A change that is confirmed is on the disk; on a full disk it is taken back, and whoever made it hears that."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.journal import WISH_CHANGED, Change, async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.scheduled import execution
from custom_components.extended_assist.scheduled.manager import ScheduledTasks, async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import Progress, ScheduledTask, Until, What, When
from custom_components.extended_assist.storage import NotStoredError
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.scheduled import DoLaterTool, PendingTool
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import llm
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.setup import async_setup_component

from ..conftest import expose
from .keeping import PARTY, async_restart
from .shown import LIST, async_add, async_set_up_home, make_task, now

FULL = patch("homeassistant.util.file.AtomicWriter", side_effect=OSError(28, "No space left on device"))
"""A disk that takes nothing more."""


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Return a folder that may be written to."""
    return str(tmp_path)


@pytest.fixture
def hass_storage() -> dict[str, Any]:
    """Return nothing: what is stored goes into files."""
    return {}


@pytest.fixture
async def home(hass: HomeAssistant, assist: None) -> MockConfigEntry:
    """Return an entry whose files are real ones."""
    return await async_set_up_home(hass, {"families": ["actions", "wishes"]})


def said(home: MockConfigEntry) -> ScheduledTask:
    """Return a task that was said, and is said again until it is done."""
    progress = Progress(due=now() + 86400, again=now() + 600, times=1, said=1, answers={"token": "anna"})
    return make_task(home, "Bins", until=Until(done=True), progress=progress)


CHANGES: dict[str, Callable[[ScheduledTasks, ScheduledTask], Awaitable[Any]]] = {
    "end": lambda tasks, one: tasks.async_end(one.id, "cancelled"),
    "done": lambda tasks, one: tasks.async_done(one.id),
    "snooze": lambda tasks, one: tasks.async_snooze(one.id, 60),
    "rename": lambda tasks, one: tasks.async_rename(one.id, "Paper"),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_taken_back(hass: HomeAssistant, home: MockConfigEntry, tmp_path: Path, name: str) -> None:
    """Nothing is changed, here and on the disk; what is shown stays; later it works."""
    one = said(home)
    tasks = await async_add(hass, one)
    before, file = one.stored() | {"progress": dict(one.stored()["progress"])}, tmp_path / f".storage/{DOMAIN}.wishes"
    on_disk = file.read_text()
    with FULL, pytest.raises(NotStoredError, match="disk may be full"):
        await CHANGES[name](tasks, one)
    assert one.stored() == before
    assert file.read_text() == on_disk
    await CHANGES[name](tasks, one)
    assert one.stored() != before
    stored = json.loads(file.read_text())["data"]["wishes"]
    assert stored == json.loads(json.dumps([one.stored()]))


async def test_restored(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """What cannot be stored again stays ended, and is not put off any less."""
    one = make_task(home, "Bins")
    tasks = await async_add(hass, one)
    before = make_task(home, "Bins", id=one.id, progress=Progress(due=one.progress.due))
    await tasks.async_snooze(one.id, 600)
    due = one.progress.due
    with FULL, pytest.raises(NotStoredError):
        await tasks.async_restore(before)
    assert one.progress.due == due
    await tasks.async_end(one.id, "cancelled")
    with FULL, pytest.raises(NotStoredError):
        await tasks.async_restore(before)
    assert not one.is_standing
    assert one.progress.result == "cancelled"
    gone = make_task(home, "Paper")
    with FULL, pytest.raises(NotStoredError):
        await tasks.async_restore(gone)
    assert tasks.find(gone.id) is None


async def test_at_the_same_time(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """Of changes that share a failed save, each is taken back, and what comes after them is stored without them."""
    one, other = make_task(home, "One"), make_task(home, "Other")
    tasks = await async_add(hass, one, other)

    async def change_all() -> list[Any]:
        changes = [
            hass.async_create_task(work)
            for work in (
                tasks.async_rename(one.id, "First"),
                tasks.async_rename(one.id, "Second"),
                tasks.async_end(other.id, "cancelled"),
                tasks.async_add(make_task(home, "New")),
            )
        ]
        return [type(result) async for result in _results(changes)]

    with FULL:
        assert await change_all() == [NotStoredError] * 4
    assert (one.name, [each.name for each in tasks.standing]) == ("One", ["One", "Other"])
    await tasks.async_rename(other.id, "Paper")
    restarted = await async_restart(hass, home)
    assert sorted(each.name for each in restarted.standing) == ["One", "Paper"]


async def _results(tasks: list[Any]) -> AsyncGenerator[Any]:
    """Yield the results or errors of tasks."""
    for task in tasks:
        try:
            yield await task
        except NotStoredError as err:
            yield err


async def test_by_the_tools(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """A model reads what became of it, and whom to tell."""
    options = ToolboxOptions(
        entry_id=home.entry_id, policy=Policy(allow_without_chat=True, ask_first=frozenset()), is_fixed=True
    )
    context = llm.LLMContext(DOMAIN, Context(), "en", "conversation", "a satellite")
    one = said(home)
    tasks = await async_add(hass, one)
    journal = await async_get_journal(hass)
    earlier = json.loads(json.dumps(one.stored() | {"progress": dict(one.stored()["progress"], again=now() + 60)}))
    change = Change(WISH_CHANGED, "snooze", earlier, "conversation", device_id="a satellite")
    journal.add(change)
    for tool, arguments in (
        (PendingTool(options), {"cancel": one.id}),
        (PendingTool(options), {"done": one.id}),
        (PendingTool(options), {"snooze": {"id": one.id, "seconds": 60}}),
        (DoLaterTool(options), {"when": {"after": 60}, "say": "Milk"}),
        (UndoLastChangeTool(options), {}),
    ):
        with FULL:
            result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)
        assert result.error, (tool.name, arguments, result.data)
        assert "could not be stored" in result.data["error"], result.data
        assert "disk may be full" in result.data["error"]
    assert [each.id for each in tasks.standing] == [one.id]
    assert not change.undone


@pytest.mark.parametrize(
    ("action", "data"),
    [
        ("update_item", {"item": "Bins", "status": "completed"}),
        ("update_item", {"item": "Bins", "rename": "Paper"}),
        ("remove_item", {"item": "Bins"}),
        ("add_item", {"item": "Milk", "due_datetime": "2031-01-01 07:00:00"}),
    ],
)
async def test_on_the_list(hass: HomeAssistant, home: MockConfigEntry, action: str, data: dict[str, Any]) -> None:
    """The list shows what stands still, and says that nothing was changed."""
    tasks = await async_add(hass, said(home))
    with FULL, pytest.raises(ServiceValidationError, match="could not be stored, so nothing was changed"):
        await hass.services.async_call("todo", action, data, blocking=True, target={"entity_id": LIST})
    await hass.async_block_till_done()
    assert [one.name for one in tasks.standing] == ["Bins"]
    assert hass.states.get(LIST).state == "1"


async def test_heard(hass: HomeAssistant, home: MockConfigEntry, tmp_path: Path) -> None:
    """That somebody was told holds at once, and is stored as soon as there is room; until then it may be told again."""
    one = said(home)
    one.progress.untold = "10:00: Bins"
    tasks = await async_add(hass, one)
    with FULL:
        await tasks.async_told([(one.id, "10:00: Bins")])
    assert one.progress.untold is None
    file = tmp_path / f".storage/{DOMAIN}.wishes"
    assert "10:00: Bins" in file.read_text()
    # Whatever is stored next stores it, too.
    await tasks.async_rename(one.id, "Paper")
    assert "10:00: Bins" not in file.read_text()


async def test_what_changed_meanwhile_stays(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """Only the change itself is taken back: what the scheduler noted while it was being stored is not."""
    one = said(home)
    tasks = await async_add(hass, one)
    change = hass.async_create_task(tasks.async_rename(one.id, "Paper"))
    one.progress.result = "said again"
    with FULL, pytest.raises(NotStoredError):
        await change
    assert (one.name, one.progress.result) == ("Bins", "said again")


async def test_while_it_is_done(hass: HomeAssistant, home: MockConfigEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waited between two steps does not go on, though its end could not be stored, and that is known as not all done."""
    told: list[str] = []

    async def deliver(_hass: HomeAssistant, _task: ScheduledTask, words: str, **_: Any) -> bool:
        told.append(words)
        return True

    monkeypatch.setattr(execution, "async_deliver", deliver)
    assert await async_setup_component(hass, "input_boolean", {"input_boolean": {"party": None, "guests": None}})
    expose(hass, PARTY, "input_boolean.guests")
    begun, over = asyncio.Event(), asyncio.Event()
    async_track_state_change_event(hass, PARTY, callback(lambda _: begun.set()))
    steps = [
        {"action": "input_boolean.turn_on", "target": {"entity_id": id_}} for id_ in (PARTY, "input_boolean.guests")
    ]
    one = make_task(
        home, "Party", what=What(say="All is on.", actions=[steps[0], {"delay": 20}, steps[1]]), when=When(moment=now())
    )
    tasks = await async_get_scheduled_tasks(hass)
    tasks.async_listen_happened(lambda *_: over.set())
    await tasks.async_add(one)
    await begun.wait()
    with FULL, pytest.raises(NotStoredError, match="nothing was changed"):
        await tasks.async_end(one.id, "cancelled")
    await over.wait()
    await hass.async_block_till_done()
    assert hass.states.is_state("input_boolean.guests", "off")
    assert str(one.progress.result).startswith("stopped: somebody ended it, which could not be stored")
    assert len(told) == 1
    assert "All is on." not in told[0]

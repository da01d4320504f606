"""The store of scheduled tasks."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
import json
from pathlib import Path
import re
from typing import Any

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.storage import Store
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER
from ..storage import ConfirmedStore, NotStoredError, async_load, cut_copies
from . import migration
from .parts import as_parts
from .scheduled_task import MAX_ENDED, MAX_STANDING, ScheduledTask, read_stored

KEY = f"{DOMAIN}.wishes"
_VERSION = 1
_ROWS = "wishes"
"""The key of the tasks in the stored data."""
_RETRY_DELAY = 10.0
"""Seconds until a failed save is retried if nobody waits for its confirmation."""

type Listener = Callable[[], None]
type _Data = dict[str, list[dict[str, Any]]]


@dataclass(slots=True)
class _Save:
    """A save that has not started, shared by all callers that ask for one before it starts."""

    task: asyncio.Task[bool] = field(init=False)
    restores: list[Callable[[], None]] = field(default_factory=list)
    """Callbacks that revert the changes of the waiting callers if the save fails."""
    is_shared: bool = False
    is_owed: bool = False
    """True if the save holds changes that are not reverted, so that it is retried if it fails."""


@dataclass(frozen=True)
class _OwnersGone:
    """The owners whose tasks are to be removed."""

    key: str
    """The key of the owner that is compared: "user_id" or "entry_id"."""
    is_gone: Callable[[str | None], bool]

    def has_row(self, row: Any) -> bool:
        """Return whether a stored row belongs to one of them; a row that is no task is searched as text."""
        try:
            owner_id = row["owner"][self.key]
        except LookupError, TypeError:
            return self.is_in(json.dumps(row))
        return self.is_gone(owner_id)

    def is_in(self, text: str) -> bool:
        """Return whether a text, which need not be valid JSON, contains the id of one of them."""
        return any(map(self.is_gone, re.findall(rf'"{self.key}": ?"([^"]+)"', text)))


class ScheduledTaskStore:
    """All tasks, pending and ended, in memory and on the disk."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the file store; call `async_load` before use."""
        self._hass = hass
        self._store = ConfirmedStore[_Data](hass, _VERSION, KEY)
        self._listeners: set[Listener] = set()
        self._next: _Save | None = None
        self._begun: dict[str, float | None] = {}
        """For each task in the last save, by id, the due time of its started occurrence, or None."""
        self.tasks: dict[str, ScheduledTask] = {}
        """All tasks by id."""

    async def async_load(self) -> None:
        """Load the stored tasks, divide their steps into parts, and migrate the tasks of the first release."""
        self.tasks = {task.id: task for task in await async_load(self._hass, self._store, read_stored)}
        for task in self.standing:
            task.what = as_parts(task.what)
        await self._async_take_over()

    @property
    def standing(self) -> list[ScheduledTask]:
        """Return the tasks that have not ended, sorted by due time; tasks without a due time come last."""
        standing = (task for task in self.tasks.values() if task.is_standing)
        return sorted(standing, key=lambda task: (task.next_moment is None, task.next_moment or task.created))

    @property
    def ended(self) -> list[ScheduledTask]:
        """Return the tasks that have ended, newest first."""
        ended = (task for task in self.tasks.values() if not task.is_standing)
        return sorted(ended, key=lambda task: -(task.progress.ended or 0))

    async def async_save(self) -> None:
        """Save all tasks now, then call the listeners; a failed save is retried.

        While Home Assistant stops, the save happens at its end.
        """
        save = self._joined()
        save.is_owed = True
        await self._async_saved(save)

    async def async_save_confirmed(self, restore: Callable[[], None]) -> None:
        """Save all tasks now; if that fails, call `restore`, which reverts the change, and raise NotStoredError.

        No other save happens before `restore` is called.
        """
        save = self._joined()
        save.restores.append(restore)
        if not await self._async_saved(save):
            raise NotStoredError

    async def async_is_stored(self, task: ScheduledTask) -> bool:
        """Return whether the last save wrote a task with its current start; also True while Home Assistant stops."""
        return self._hass.is_stopping or self._begun.get(task.id, -1.0) == task.progress.begun

    @callback
    def _joined(self) -> _Save:
        """Return the next save; all callers before its start share it."""
        if (save := self._next) is not None:
            save.is_shared = True
        else:
            save = self._next = _Save()
            # A separate task, so that a cancelled caller does not cancel the save of the others.
            save.task = self._hass.async_create_task(
                self._async_write(save), f"{DOMAIN} stores what is for later", eager_start=False
            )
        return save

    async def _async_saved(self, save: _Save) -> bool:
        """Wait for a save and return whether it succeeded; callers that share a save continue one after the other."""
        is_saved = await asyncio.shield(save.task)
        if save.is_shared:
            await async_take_turn(self._hass)
        return is_saved

    async def _async_write(self, save: _Save) -> bool:
        """Write all tasks; if that fails, revert the changes of the waiting callers. Return whether it succeeded."""
        begun: dict[str, float | None] = {}

        def data() -> _Data | None:
            self._next = None  # Later changes belong to the next save.
            begun.update({task.id: task.progress.begun for task in self.tasks.values()})
            return self._data()

        try:
            await self._store.async_save_confirmed(data)
        except NotStoredError:
            for restore in reversed(save.restores):
                restore()
            if save.is_owed:
                self._store.async_delay_save_confirmed(self._data, _RETRY_DELAY)
            return False
        else:
            self._begun = begun
            return True
        finally:
            if self._next is save:
                self._next = None
            self.async_tell()

    async def async_cut_copies(self, key: str, is_gone: Callable[[str | None], bool]) -> None:
        """Remove the tasks of some owners, by one of their ids, from copies of the file that could not be read."""
        path, gone = Path(self._store.path), _OwnersGone(key, is_gone)
        try:
            await self._hass.async_add_executor_job(cut_copies, path, _ROWS, gone)
        except OSError as err:
            LOGGER.error("The copies of %s cannot be changed (%s); delete them", path, type(err).__name__)

    def _data(self) -> _Data | None:
        """Return the data to store, or None if there are no tasks; the oldest ended tasks are dropped first."""
        ended = self.ended
        # Ended tasks with an undelivered message stay longer.
        told = [task for task in ended if not task.progress.untold]
        for old in {task.id for task in (*told[MAX_ENDED:], *ended[MAX_STANDING:])}:
            del self.tasks[old]
        return {_ROWS: [task.stored() for task in self.tasks.values()]} if self.tasks else None

    async def _async_take_over(self) -> None:
        """Migrate the tasks of the first release; remove its file once all of them are saved here."""
        earlier = Store[dict[str, Any]](self._hass, migration.VERSION, migration.KEY, private=True)
        taken = await async_load(self._hass, earlier, migration.read_scheduled)
        if not taken:
            return
        self.tasks = {task.id: task for task in taken} | self.tasks
        await self.async_save()
        if {task.id for task in taken if task.id in self.tasks} <= self._begun.keys():
            await earlier.async_remove()

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call a listener after each save; return the callback that removes the listener."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    @callback
    def async_tell(self) -> None:
        """Call all listeners."""
        for listener in [*self._listeners]:
            listener()


_LOCK: HassKey[asyncio.Lock] = HassKey(f"{DOMAIN}_turns")


async def async_take_turn(hass: HomeAssistant) -> None:
    """Wait for one turn of the event loop after the previous caller's turn."""
    async with hass.data.setdefault(_LOCK, asyncio.Lock()):
        await asyncio.sleep(0)

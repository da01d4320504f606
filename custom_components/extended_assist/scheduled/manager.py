"""The manager of all scheduled tasks: it finds, changes and drops them, and follows changes of entity ids."""

import asyncio
from collections.abc import Callable, Iterable
import re
from typing import Any
from weakref import WeakValueDictionary

from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_CORE_CONFIG_UPDATE
from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.json import json_bytes
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.template import is_template_string
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JSON_ENCODE_EXCEPTIONS

from ..calls.caller import Caller
from ..calls.journal import CANCELLED, FACT, SCHEDULED, WISH, WISH_CHANGED, async_get_journal, owner_id, removed_users
from ..const import DOMAIN
from ..results import ToolError
from . import lifecycle
from .camera_watch import FindVisionModel
from .delivery import async_dismiss, async_listen_answers, async_withdraw
from .ownership import check_room
from .run import TaskRun
from .run_actions import Performers
from .scheduled_task import SEVERAL, ScheduledTask, change_with_restore
from .scheduler import HappenedListener, Scheduler, now
from .store import Listener, ScheduledTaskStore

_ANSWERED = "the answer to '{name}'; ask the question again"
_GONE = "the user who wanted it was removed"
_REMOVED = "the assistant's entry was removed"
_OWNER_REMOVED = "The user who wants this was removed, so nothing is kept for later."
_PAST = "Its time is over. Give a time that is still to come."
_JOURNALED = frozenset({FACT, SCHEDULED, CANCELLED, WISH, WISH_CHANGED})
"""The kinds of journal changes to forget when their user is removed: scheduled tasks and facts."""


class ScheduledTasks:
    """The scheduled tasks of all config entries."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the store; call `async_load` before use."""
        self._hass = hass
        self._store = ScheduledTaskStore(hass)
        self._removed_users = removed_users(hass)
        self._fulfilling = Scheduler(hass, self._store)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def async_load(self) -> None:
        """Load the stored tasks, drop those of removed users, and register the event listeners."""
        await self._store.async_load()
        users = {None, *(user.id for user in await self._hass.auth.async_get_users())}
        await self._async_forget_users(lambda user_id: user_id not in users)
        self._hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._async_on_new_id, _is_new_id)
        self._hass.bus.async_listen(EVENT_USER_REMOVED, self._async_on_user_removed)
        self._hass.bus.async_listen(EVENT_CORE_CONFIG_UPDATE, self._async_on_core_config)
        async_listen_answers(self._hass, self)

    @property
    def standing(self) -> list[ScheduledTask]:
        """Return the tasks that have not ended, sorted by due time; tasks without a due time come last."""
        return self._store.standing

    @property
    def ended(self) -> list[ScheduledTask]:
        """Return the tasks that have ended, newest first."""
        return self._store.ended

    @callback
    def find(self, task_id: str) -> ScheduledTask | None:
        """Return the task with this id, pending or ended; None if there is none."""
        return self._store.tasks.get(task_id)

    @callback
    def async_start(
        self, entry: ConfigEntry, performers: Performers, find_vision_model: FindVisionModel | None = None
    ) -> CALLBACK_TYPE:
        """Run the tasks of an entry once Home Assistant has started; return the callback that stops this."""

        @callback
        def begin(_: HomeAssistant) -> None:
            self._fulfilling.async_start(entry.entry_id, performers, find_vision_model)

        cancel_start = async_at_started(self._hass, begin)

        @callback
        def stop() -> None:
            cancel_start()
            self._fulfilling.async_stop(entry.entry_id)

        return stop

    async def async_forget(self, entry_id: str) -> None:
        """Drop the tasks of a removed entry, also from copies of the file that could not be read."""
        await self._async_drop(lambda task: task.owner.entry_id == entry_id, _REMOVED)
        await self._store.async_cut_copies("entry_id", lambda one: one == entry_id)

    async def async_add(self, task: ScheduledTask) -> None:
        """Store a new task; raises ToolError if a limit is reached, its time is over, or it cannot be stored."""
        check_room(task, self.standing)
        try:
            json_bytes(task.stored())
        except JSON_ENCODE_EXCEPTIONS as err:
            # All tasks are in one file, so this task would prevent every later save.
            raise ToolError("It holds half a character, or what no file can hold. Write it anew.") from err
        await self._async_put(task, lambda: None if task.progress.due else lifecycle.expect(task, now()))

    async def async_end(self, task_id: str, result: str) -> ScheduledTask | None:
        """End a task and its later parts; return the task, or a part if it is gone; None if nothing was pending."""
        ended = await self._async_change(task_id, lambda one: lifecycle.end(one, result, now()), withdraws=True)
        while following := self.parts_of(task_id):
            await self._async_change(following[0].id, lambda one: lifecycle.end(one, result, now()), withdraws=True)
            ended = ended or self.find(task_id) or following[0]
        return ended

    @callback
    def parts_of(self, task_id: str) -> list[ScheduledTask]:
        """Return the pending later parts of a task."""
        return [task for task in self.standing if task.after == task_id]

    @callback
    def runs_of(self, task_id: str) -> list[TaskRun]:
        """Return the current runs of a task and of its later parts; each run can report the actions it has started."""
        ids = (task_id, *(part.id for part in self.parts_of(task_id)))
        return [*filter(None, map(self._fulfilling.run_of, ids))]

    async def async_done(self, task_id: str) -> ScheduledTask | None:
        """Mark a reminder as done: end this occurrence, or the task if nothing more of it is to come."""
        return await self._async_change(task_id, lambda task: lifecycle.done(task, now()), withdraws=True)

    async def async_snooze(self, task_id: str, seconds: float) -> ScheduledTask | None:
        """Repeat a task's message after some seconds, or postpone a task that was not due yet; return the task.

        The task may have ended. Returns None if there is nothing to snooze; raises ToolError if a limit is reached.
        """
        if (task := self.find(task_id)) is None:
            return None
        if not task.is_standing:
            check_room(task, self.standing)
        is_put_off = await self._async_confirm(task, lambda: lifecycle.snooze(task, seconds, now()), withdraws=True)
        return task if is_put_off else None

    async def async_rename(self, task_id: str, name: str, author: str | None = None) -> ScheduledTask | None:
        """Rename a pending task and return it, or None; a name by another author makes the task's author SEVERAL."""

        def rename_it(task: ScheduledTask) -> None:
            task.name = name
            if author != task.author:
                task.owner.author = SEVERAL

        return await self._async_change(task_id, rename_it)

    async def async_restore(self, task: ScheduledTask) -> None:
        """Make a task pending again as given; occurrences that passed meanwhile are not repeated. Raises ToolError."""
        before = task.progress
        if (known := self.find(task.id)) is None:
            task.progress.begun = None
        elif known.is_standing:

            def take_back() -> None:
                lifecycle.take_back_snooze(known, task.when)
                lifecycle.resume(known, before, now())

            await self._async_confirm(known, take_back)
            return
        else:
            task = known
        check_room(task, self.standing)
        await self._async_put(task, lambda: lifecycle.resume(task, before, now()))

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call a listener after each change; return the callback that removes the listener."""
        return self._store.async_listen(listener)

    @callback
    def async_listen_happened(self, listener: HappenedListener) -> CALLBACK_TYPE:
        """Call a listener when an occurrence has ended; return the callback that removes the listener."""
        self._fulfilling.happened.add(listener)
        return lambda: self._fulfilling.happened.discard(listener)

    @callback
    def untold(self, caller: Caller) -> dict[tuple[str, str], str]:
        """Return the undelivered messages for the caller, oldest first, under the keys for `async_told`.

        An answer of the assistant may repeat text of others, so its value gives only the task's name. The messages name
        entities that were exposed when they were written: filter them before a model reads them.
        """
        waiting = [(task, text) for task in self._of(caller) if (text := task.progress.untold)]
        return {
            (task.id, text): text if task.what.ask is None else _ANSWERED.format(name=task.name)
            for task, text in waiting
        }

    async def async_told(self, told: Iterable[tuple[str, str]]) -> None:
        """Mark these messages as delivered; newer messages stay stored."""
        for task_id, text in told:
            if (task := self.find(task_id)) is not None:
                lifecycle.heard(task, text)
                if task.progress.untold is None:
                    async_dismiss(self._hass, task)
        # If the disk is full, the save is retried; after a restart before that, the message is delivered once more.
        await self._store.async_save()

    def _of(self, caller: Caller) -> list[ScheduledTask]:
        """Return the tasks of a caller and of the household, the one that happened longest ago first."""
        found = (task for task in self._store.tasks.values() if task.owner.user_id in (None, caller.user_id))
        return sorted(found, key=lambda task: task.progress.last or task.created)

    def _lock(self, task: ScheduledTask) -> asyncio.Lock:
        return self._locks.setdefault(task.id, asyncio.Lock())

    async def _async_put(self, task: ScheduledTask, prepare: Callable[[], None]) -> None:
        """Prepare a task and store it as pending; if that fails, revert all changes and raise ToolError."""
        async with self._lock(task):
            if task.owner.user_id in self._removed_users:
                raise ToolError(_OWNER_REMOVED)
            known = self.find(task.id)
            restore = change_with_restore(task, prepare)
            if lifecycle.is_over(task, now()):
                restore()
                raise ToolError(_PAST)
            self._store.tasks[task.id] = task

            def take_back() -> None:
                restore()
                if known is None:
                    self._store.tasks.pop(task.id, None)

            await self._store.async_save_confirmed(take_back)

    async def _async_change(
        self, task_id: str, change: Callable[[ScheduledTask], None], *, withdraws: bool = False
    ) -> ScheduledTask | None:
        """Change a pending task and return it, or None; with `withdraws`, remove its notifications and buttons."""
        if (task := self.find(task_id)) is None:
            return None

        def change_standing() -> bool:
            if is_standing := task.is_standing:
                change(task)
            return is_standing

        return task if await self._async_confirm(task, change_standing, withdraws=withdraws) else None

    async def _async_confirm(
        self, task: ScheduledTask, change: Callable[[], bool | None], *, withdraws: bool = False
    ) -> bool:
        """Change a task, store it, then remove its notifications if asked to; return False if nothing changed.

        Reverts the change and raises NotStoredError if it cannot be stored. A lock lets changes of one task run one
        after the other, because a change that builds on another one could not be reverted alone.
        """
        async with self._lock(task):
            return await self._async_confirm_alone(task, change, withdraws=withdraws)

    async def _async_confirm_alone(
        self, task: ScheduledTask, change: Callable[[], bool | None], *, withdraws: bool = False
    ) -> bool:
        """Change a task as `_async_confirm` does, while its lock is held."""
        answers, is_changed = task.progress.answers, True

        def change_all() -> None:
            nonlocal is_changed
            is_changed = change() is not False
            if withdraws and is_changed:
                task.progress.answers = {}  # Buttons that others press during the save must have no effect.

        restore = change_with_restore(task, change_all)
        if not is_changed:
            return False
        run = None if task.is_standing else self._fulfilling.run_of(task.id)
        if run is not None:
            run.hold()
        try:
            await self._store.async_save_confirmed(restore)
        finally:
            if run is not None and task.is_standing:
                run.release()
            elif run is not None:
                run.stop()
                await run.async_over()
        if withdraws:
            async_withdraw(self._hass, task, answers)
        return True

    async def _async_drop(self, is_dropped: Callable[[ScheduledTask], bool], reason: str) -> None:
        """End tasks and remove them from memory, from the disk and from notifications."""
        dropped = [*filter(is_dropped, self._store.tasks.values())]
        for task in dropped:
            # A running part checks whether the task has ended.
            lifecycle.end(task, reason, now())
            self._fulfilling.stop_run(task.id)
            async_withdraw(self._hass, task, task.progress.answers)
            task.progress.answers = {}
            del self._store.tasks[task.id]
        if dropped:
            await self._store.async_save()

    async def _async_forget_users(self, is_gone: Callable[[str | None], bool]) -> None:
        """Remove the tasks of removed users, and their tasks and facts from the journal."""
        await self._async_drop(lambda task: is_gone(task.owner.user_id), _GONE)
        journal = await async_get_journal(self._hass)
        await journal.async_forget(
            lambda change: change.kind in _JOURNALED and (is_gone(change.user_id) or is_gone(owner_id(change.details)))
        )

    async def _async_on_new_id(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        """Update the tasks when an entity id changes."""
        old, new = str(event.data.get("old_entity_id")), event.data["entity_id"]
        renamed = [rename(task, old, new) for task in self._store.tasks.values()]
        if any(renamed):
            await self._store.async_save()

    async def _async_on_user_removed(self, event: Event) -> None:
        """Drop the tasks of a removed user, also from copies of the file that could not be read."""
        user_id = event.data["user_id"]
        await self._async_forget_users(lambda one: one == user_id)
        await self._store.async_cut_copies("user_id", lambda one: one == user_id)

    async def _async_on_core_config(self, event: Event) -> None:
        """Compute the due times of recurrence rules again when the time zone changes."""
        if "time_zone" not in event.data:
            return
        for task in self.standing:
            moment, due = now(), task.progress.due
            is_due = due is not None and due <= moment
            if task.when.rule is None or task.when.triggers or is_due:
                continue
            # One rule can take milliseconds and there may be hundreds, so this runs in the executor.
            after = max(moment, task.progress.last or 0.0)
            coming = await self._hass.async_add_executor_job(lifecycle.coming, task, after)
            if task.is_standing and task.progress.due == due and task.progress.begun is None:
                task.progress.due = coming
        await self._store.async_save()


@callback
def _is_new_id(data: er.EventEntityRegistryUpdatedData) -> bool:
    return "old_entity_id" in data


_TASKS: HassKey[ScheduledTasks] = HassKey(f"{DOMAIN}_wishes")


@singleton(_TASKS, async_=True)
async def async_get_scheduled_tasks(hass: HomeAssistant) -> ScheduledTasks:
    """Return the manager of scheduled tasks of this Home Assistant, loaded on the first call."""
    tasks = ScheduledTasks(hass)
    await tasks.async_load()
    return tasks


_NO_IDS = frozenset({"action", "service"})
"""Keys with an action's name: a script's action looks like its entity id but does not change with it."""


def rename(task: ScheduledTask, old: str, new: str) -> bool:
    """Replace an entity id everywhere in a task; return whether the task changed."""
    before = task.when.triggers, task.conditions, [part.actions for part in task.what.parts], task.audience.target
    task.what.things = {new if key == old else key: thing for key, thing in task.what.things.items()}
    after = _renamed(before, old, new)
    task.when.triggers, task.conditions, actions, task.audience.target = after
    for part, renamed in zip(task.what.parts, actions, strict=True):
        part.actions = renamed
    if (watch := task.when.watch) is not None and old in watch.entity_ids:
        watch.entity_ids = _renamed(watch.entity_ids, old, new)
        return True
    return bool(after != before)


def _renamed(value: Any, old: str, new: str) -> Any:
    """Return a value with an entity id replaced, also inside templates and comma-separated lists."""
    if isinstance(value, dict):
        return {
            _renamed(key, old, new): item if key in _NO_IDS else _renamed(item, old, new) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(_renamed(item, old, new) for item in value)
    if not isinstance(value, str) or old not in value:
        return value
    if is_template_string(value):
        return re.sub(rf"(?<![\w.])(states\.)?{re.escape(old)}(?!\w)", lambda found: (found[1] or "") + new, value)
    return ",".join(part.replace(old, new) if part.strip() == old else part for part in value.split(","))

"""The household's scheduled tasks and remembered facts as to-do lists."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import override

from homeassistant.components import conversation
from homeassistant.components.todo.const import TodoItemStatus, TodoListEntityFeature
from homeassistant.components.todo.entity import TodoItem, TodoListEntity
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from .calls.options import MEMORY, WISHES, ToolboxOptions
from .claude.coordinator import ExtendedAssistConfigEntry
from .const import DOMAIN
from .entity import ActionContextEntity, HouseholdEntity, ScheduledTaskEntity, shows
from .memory.editing import NoFactError, async_change, async_record, rewrite, to_change, translated, write
from .memory.fact import Fact, now
from .memory.ownership import Writer, async_writer_of
from .memory.store import Memory, async_get_memory
from .results import ToolError
from .scheduled.manager import async_get_scheduled_tasks
from .scheduled.ownership import LimitReachedError, async_may_change
from .scheduled.scheduled_task import MAX_WORDS, Audience, Hearer, Owner, ScheduledTask, Until, What, When

PARALLEL_UPDATES = 1

_DELETED = "ended on the to-do list"


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the to-do lists of an entry."""
    lists: list[TodoListEntity] = (
        [ScheduledTaskList(entry, await async_get_scheduled_tasks(hass))] if shows(entry, WISHES) else []
    )
    lists += [FactList(entry, await async_get_memory(hass))] if shows(entry, MEMORY) else []
    async_add_entities(lists)


class ScheduledTaskList(ActionContextEntity, ScheduledTaskEntity, TodoListEntity):
    """The household's pending tasks, next first; ended tasks are not listed."""

    # Home Assistant's dialog sends time and description back with every change, though it changes neither.
    _attr_supported_features = (
        TodoListEntityFeature.CREATE_TODO_ITEM
        | TodoListEntityFeature.UPDATE_TODO_ITEM
        | TodoListEntityFeature.DELETE_TODO_ITEM
        | TodoListEntityFeature.SET_DUE_DATETIME_ON_ITEM
        | TodoListEntityFeature.SET_DESCRIPTION_ON_ITEM
    )

    @property
    @override
    def todo_items(self) -> list[TodoItem]:
        """Return the pending tasks."""
        return [_item(task) for task in self._household() if task.is_standing]

    @override
    async def async_create_todo_item(self, item: TodoItem) -> None:
        """Create a reminder for everybody from a title and a time."""
        if not item.summary or not isinstance(item.due, datetime) or item.due <= dt_util.utcnow():
            raise _refusal("wish_needs_time")
        _check_length(item)
        task = ScheduledTask(
            name=item.summary,
            owner=Owner(
                entry_id=self._entry_id,
                platform=DOMAIN,
                assistant=conversation.DOMAIN,
                language=self.hass.config.language,
                device_id=None,
                user_id=None,
                author=self._user_id(),
            ),
            when=When(moment=item.due.timestamp()),
            what=What(say=item.description or item.summary),
            audience=Audience(Hearer.EVERYONE),
            until=Until(times=1),
        )
        await self._async_check(task)
        with _refusals():
            await self._tasks.async_add(task)

    @override
    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Complete or rename a task."""
        task = await self._async_find(item.uid)
        before = _item(task)
        if (_second(item.due), item.description) != (_second(before.due), before.description):
            raise _refusal("wish_fixed")
        if item.summary and item.summary != task.name:
            _check_length(item)
            with _refusals():
                await self._tasks.async_rename(task.id, item.summary, self._user_id())
        if item.status == TodoItemStatus.COMPLETED:
            self._tell_what_had_begun(task)
            with _refusals():
                await self._tasks.async_done(task.id)

    @override
    async def async_delete_todo_items(self, uids: list[str]) -> None:
        """End tasks."""
        for task in [await self._async_find(uid) for uid in uids]:
            self._tell_what_had_begun(task)
            with _refusals():
                await self._tasks.async_end(task.id, _DELETED)

    def _user_id(self) -> str | None:
        """Return the user of the current action."""
        return self.action_context.user_id if self.action_context else None

    def _tell_what_had_begun(self, task: ScheduledTask) -> None:
        """Notify the household of a task that is stopped midway: the list itself cannot answer."""
        for run in self._tasks.runs_of(task.id):
            run.tells_owner = True

    async def _async_find(self, uid: str | None) -> ScheduledTask:
        """Return a task that is to be changed; raises ServiceValidationError if it has ended or may not be changed."""
        task = self._tasks.find(uid) if uid else None
        if task is None or not task.is_standing or not self._is_shown(task):
            raise _refusal("wish_gone")
        await self._async_check(task)
        return task

    async def _async_check(self, task: ScheduledTask) -> None:
        """Raise ServiceValidationError if no action changes a task, or its user may not.

        Home Assistant's intents call the list without an action and do not pass on the user.
        """
        context = self.action_context
        if context is None or not await async_may_change(self.hass, task, context.user_id):
            raise _refusal("wish_not_allowed")


def _item(task: ScheduledTask) -> TodoItem:
    """Return the item of a task."""
    moment = task.next_moment
    return TodoItem(
        summary=task.name,
        uid=task.id,
        status=TodoItemStatus.NEEDS_ACTION,
        due=None if moment is None else dt_util.as_local(dt_util.utc_from_timestamp(moment)),
        description=task.what.say or task.what.ask,
    )


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise ServiceValidationError if a limit is reached or a change could not be stored."""
    try:
        yield
    except LimitReachedError as err:
        raise _refusal("wishes_full", limit=err.most) from err
    except ToolError as err:  # The disk is full, or no file can hold the title.
        raise _refusal("wish_not_stored") from err


def _check_length(item: TodoItem) -> None:
    """Raise ServiceValidationError for a message that is longer than an assistant's may be."""
    if max(len(item.summary or ""), len(item.description or "")) > MAX_WORDS:
        raise _refusal("wish_too_long", limit=MAX_WORDS)


def _second(due: object) -> object:
    """Return a time cut to the second, as dialogs have it."""
    return int(due.timestamp()) if isinstance(due, datetime) else due


def _refusal(key: str, **values: object) -> ServiceValidationError:
    """Return a translated error with a next step."""
    placeholders = {name: str(value) for name, value in values.items()}
    return ServiceValidationError(translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders)


class FactList(ActionContextEntity, HouseholdEntity, TodoListEntity):
    """The household's valid facts, oldest first; completing one forgets it."""

    _attr_translation_key = "memory"
    _attr_supported_features = (
        TodoListEntityFeature.CREATE_TODO_ITEM
        | TodoListEntityFeature.UPDATE_TODO_ITEM
        | TodoListEntityFeature.DELETE_TODO_ITEM
        | TodoListEntityFeature.SET_DUE_DATETIME_ON_ITEM
    )

    def __init__(self, entry: ConfigEntry, memory: Memory) -> None:
        """Store the entry, whose options apply, and the memory."""
        super().__init__(entry, MEMORY)
        self._options = ToolboxOptions.of(entry.options, entry.entry_id)
        self._memory = memory

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the memory."""
        await super().async_added_to_hass()
        self.async_on_remove(self._memory.async_listen(self.async_write_ha_state))

    @property
    @override
    def todo_items(self) -> list[TodoItem]:
        """Return the valid facts."""
        return [_fact_item(fact) for fact in self._memory.held if fact.user_id is None]

    @override
    async def async_create_todo_item(self, item: TodoItem) -> None:
        """Store a fact."""
        with translated():
            writer = await self._async_writer()
            fact = write(self.hass, writer, item.summary or "", is_own=False, until=_until(item))
            await self._memory.async_add([fact])
            await async_record(self.hass, writer, to_change(fact))

    @override
    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Change a fact, or forget a completed one; both can be undone for a while."""
        with translated():
            writer = await self._async_writer()
            fact = self._find(item.uid, writer)
            if item.status == TodoItemStatus.COMPLETED:
                await self._memory.async_end([fact.id], may_end=lambda one: _is_listed(one, writer))
                await async_record(self.hass, writer, to_change(None, [fact.id]))
                return

            def change(before: Fact) -> Fact:
                if not _is_listed(before, writer):
                    raise NoFactError("…")
                return rewrite(self.hass, writer, before, item.summary or before.words, until=_until(item))

            await async_change(self.hass, self._memory, writer, fact.id, change)

    @override
    async def async_delete_todo_items(self, uids: list[str]) -> None:
        """Delete facts for good."""
        with translated():
            writer = await self._async_writer()
            gone = {self._find(uid, writer).id for uid in uids}
            await self._memory.async_delete(lambda fact: fact.id in gone and _is_listed(fact, writer))

    async def _async_writer(self) -> Writer:
        """Return the user who changes the list; raises NotAllowedError if they may not."""
        return await async_writer_of(self.hass, self.action_context, self._options.as_of_now(self.hass))

    def _find(self, uid: str | None, writer: Writer) -> Fact:
        """Return a fact of the list; raises NoFactError if it is gone."""
        fact = self._memory.find(uid or "")
        if fact is None or not fact.holds(now()) or not _is_listed(fact, writer):
            raise NoFactError("…")
        return fact


def _is_listed(fact: Fact, writer: Writer) -> bool:
    """Return whether a fact is on the list of a user who may change it."""
    return fact.user_id is None and writer.may_change(fact)


def _fact_item(fact: Fact) -> TodoItem:
    """Return the item of a fact."""
    return TodoItem(
        summary=fact.words,
        uid=fact.id,
        status=TodoItemStatus.NEEDS_ACTION,
        due=None if fact.until is None else dt_util.as_local(dt_util.utc_from_timestamp(fact.until)),
    )


def _until(item: TodoItem) -> float | None:
    """Return the end of a fact's validity; raises ToolError if it is in the past."""
    if not isinstance(item.due, datetime):
        return None
    if (until := dt_util.as_local(item.due).timestamp()) <= now():
        raise ToolError("over")
    return until

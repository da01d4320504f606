"""The household's facts as a to-do list; nobody's own are in it, since every user sees a list."""

from datetime import datetime
from typing import override

from homeassistant.components.todo.const import TodoItemStatus, TodoListEntityFeature
from homeassistant.components.todo.entity import TodoItem, TodoListEntity
from homeassistant.config_entries import ConfigEntry
from homeassistant.util import dt as dt_util

from .fact_errors import translated
from .household import ActionContextEntity, HouseholdEntity
from .memory.fact import Fact, now
from .memory.keeper import Memory
from .memory.whose import Writer, async_writer_of
from .memory.writing import NoFactError, async_change, async_record, rewrite, to_change, write
from .results import ToolError
from .toolbox.options import MEMORY, ToolboxOptions


class FactList(ActionContextEntity, HouseholdEntity, TodoListEntity):
    """The household's facts that hold, in the order in which they were said; one that is ticked off is forgotten."""

    _attr_translation_key = "memory"
    _attr_supported_features = (
        TodoListEntityFeature.CREATE_TODO_ITEM
        | TodoListEntityFeature.UPDATE_TODO_ITEM
        | TodoListEntityFeature.DELETE_TODO_ITEM
        | TodoListEntityFeature.SET_DUE_DATETIME_ON_ITEM
    )

    def __init__(self, entry: ConfigEntry, memory: Memory) -> None:
        """Take the entry whose options hold, and what keeps the facts."""
        super().__init__(entry, MEMORY)
        self._options = ToolboxOptions.of(entry.options, entry.entry_id)
        self._memory = memory

    @override
    async def async_added_to_hass(self) -> None:
        """Follow what is remembered."""
        await super().async_added_to_hass()
        self.async_on_remove(self._memory.async_listen(self.async_write_ha_state))

    @property
    @override
    def todo_items(self) -> list[TodoItem]:
        """Return the facts that hold now."""
        return [_item(fact) for fact in self._memory.held if fact.user_id is None]

    @override
    async def async_create_todo_item(self, item: TodoItem) -> None:
        """Remember what somebody writes."""
        with translated():
            writer = await self._async_writer()
            fact = write(self.hass, writer, item.summary or "", is_own=False, until=_until(item))
            await self._memory.async_add([fact])
            await async_record(self.hass, writer, to_change(fact))

    @override
    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Change a fact, or forget one that is ticked off; both can be undone for a while."""
        with translated():
            writer = await self._async_writer()
            fact = self._find(item.uid, writer)
            if item.status == TodoItemStatus.COMPLETED:
                await self._memory.async_end([fact.id])
                await async_record(self.hass, writer, to_change(None, [fact.id]))
                return
            changed = rewrite(self.hass, writer, fact, item.summary or fact.words, until=_until(item))
            await async_change(self.hass, self._memory, writer, changed)

    @override
    async def async_delete_todo_items(self, uids: list[str]) -> None:
        """Delete facts for good."""
        with translated():
            writer = await self._async_writer()
            gone = {self._find(uid, writer).id for uid in uids}
            await self._memory.async_delete(lambda fact: fact.id in gone)

    async def _async_writer(self) -> Writer:
        """Return who changes the list; raises NotAllowedError where they may not."""
        return await async_writer_of(self.hass, self.action_context, self._options.as_of_now(self.hass))

    def _find(self, uid: str | None, writer: Writer) -> Fact:
        """Return a fact of the list; raises NoFactError when it is gone meanwhile."""
        fact = self._memory.find(uid or "")
        if fact is None or fact.user_id is not None or not fact.holds(now()) or not writer.may_change(fact):
            raise NoFactError("…")
        return fact


def _item(fact: Fact) -> TodoItem:
    """Return the item of a fact."""
    return TodoItem(
        summary=fact.words,
        uid=fact.id,
        status=TodoItemStatus.NEEDS_ACTION,
        due=None if fact.until is None else dt_util.as_local(dt_util.utc_from_timestamp(fact.until)),
    )


def _until(item: TodoItem) -> float | None:
    """Return until when a fact holds; raises ToolError where that is over."""
    if not isinstance(item.due, datetime):
        return None
    if (until := dt_util.as_local(item.due).timestamp()) <= now():
        raise ToolError("over")
    return until

"""What stands for later in the household, as a to-do list, beside the list of what is remembered."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import override

from homeassistant.components import conversation
from homeassistant.components.todo.const import TodoItemStatus, TodoListEntityFeature
from homeassistant.components.todo.entity import TodoItem, TodoListEntity
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from . import ExtendedAssistConfigEntry
from .const import DOMAIN
from .fact_list import FactList
from .household import ActionContextEntity, shows
from .memory.keeper import async_get_memory
from .results import ToolError
from .toolbox.options import MEMORY, WISHES
from .wish_entity import WishEntity
from .wishes.keeper import async_get_wishes
from .wishes.limits import LimitReachedError
from .wishes.whose import async_may_change
from .wishes.wish import MAX_WORDS, Audience, Hearer, Owner, Until, What, When, Wish

PARALLEL_UPDATES = 1

_DELETED = "ended on the to-do list"


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the to-do lists of an entry."""
    lists: list[TodoListEntity] = [WishList(entry, await async_get_wishes(hass))] if shows(entry, WISHES) else []
    lists += [FactList(entry, await async_get_memory(hass))] if shows(entry, MEMORY) else []
    async_add_entities(lists)


class WishList(ActionContextEntity, WishEntity, TodoListEntity):
    """The household's wishes that stand, next first; what has ended is not kept in it."""

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
        """Return the wishes that stand now."""
        return [_item(wish) for wish in self._household() if wish.is_standing]

    @override
    async def async_create_todo_item(self, item: TodoItem) -> None:
        """Make a reminder of a title and a time, which everybody is told."""
        if not item.summary or not isinstance(item.due, datetime) or item.due <= dt_util.utcnow():
            raise _refusal("wish_needs_time")
        _check_length(item)
        wish = Wish(
            name=item.summary,
            owner=Owner(
                entry_id=self._entry_id,
                platform=DOMAIN,
                assistant=conversation.DOMAIN,
                language=self.hass.config.language,
                device_id=None,
                user_id=None,
            ),
            when=When(moment=item.due.timestamp()),
            what=What(say=item.description or item.summary),
            audience=Audience(Hearer.EVERYONE),
            until=Until(times=1),
        )
        await self._async_check(wish)
        with _refusals():
            await self._wishes.async_add(wish)

    @override
    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Complete or rename a wish."""
        wish = await self._async_find(item.uid)
        before = _item(wish)
        if (_second(item.due), item.description) != (_second(before.due), before.description):
            raise _refusal("wish_fixed")
        if item.summary and item.summary != wish.name:
            _check_length(item)
            with _refusals():
                await self._wishes.async_rename(wish.id, item.summary)
        if item.status == TodoItemStatus.COMPLETED:
            self._tell_what_had_begun(wish)
            with _refusals():
                await self._wishes.async_done(wish.id)

    @override
    async def async_delete_todo_items(self, uids: list[str]) -> None:
        """End wishes."""
        for wish in [await self._async_find(uid) for uid in uids]:
            self._tell_what_had_begun(wish)
            with _refusals():
                await self._wishes.async_end(wish.id, _DELETED)

    def _tell_what_had_begun(self, wish: Wish) -> None:
        """Let the household hear it where a task is stopped midway: the list itself cannot answer."""
        for run in self._wishes.runs_of(wish.id):
            run.tells_owner = True

    async def _async_find(self, uid: str | None) -> Wish:
        """Return a wish of the list that is to be changed; raises ServiceValidationError where it has ended or may not be."""
        wish = self._wishes.find(uid) if uid else None
        if wish is None or not wish.is_standing or not self._is_shown(wish):
            raise _refusal("wish_gone")
        await self._async_check(wish)
        return wish

    async def _async_check(self, wish: Wish) -> None:
        """Raise ServiceValidationError where no action changes a wish, or its user may not.

        Home Assistant's intents call the list without an action and do not pass on who speaks.
        """
        context = self.action_context
        if context is None or not await async_may_change(self.hass, wish, context.user_id):
            raise _refusal("wish_not_allowed")


def _item(wish: Wish) -> TodoItem:
    """Return the item of a wish."""
    moment = wish.next_moment
    return TodoItem(
        summary=wish.name,
        uid=wish.id,
        status=TodoItemStatus.NEEDS_ACTION,
        due=None if moment is None else dt_util.as_local(dt_util.utc_from_timestamp(moment)),
        description=wish.what.say or wish.what.ask,
    )


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise ServiceValidationError where a change has no room, or could not be stored."""
    try:
        yield
    except LimitReachedError as err:
        raise _refusal("wishes_full", limit=err.most) from err
    except ToolError as err:  # The disk is full, or no file can hold the title.
        raise _refusal("wish_not_stored") from err


def _check_length(item: TodoItem) -> None:
    """Raise ServiceValidationError where more is to be said than the assistant itself may plan."""
    if max(len(item.summary or ""), len(item.description or "")) > MAX_WORDS:
        raise _refusal("wish_too_long", limit=MAX_WORDS)


def _second(due: object) -> object:
    """Return the second of a moment, which is as exact as dialogs are."""
    return int(due.timestamp()) if isinstance(due, datetime) else due


def _refusal(key: str, **values: object) -> ServiceValidationError:
    """Return an error that tells what to do instead."""
    placeholders = {name: str(value) for name, value in values.items()}
    return ServiceValidationError(translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders)

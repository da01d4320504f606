"""The standing wishes of a home: what is known of them, and every change that somebody makes to them."""

import asyncio
from collections.abc import Callable, Iterable
from weakref import WeakValueDictionary

from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_CORE_CONFIG_UPDATE
from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.json import json_bytes
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.start import async_at_started
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JSON_ENCODE_EXCEPTIONS

from ..const import DOMAIN
from ..results import ToolError
from ..toolbox.caller import Caller
from ..toolbox.journal import CANCELLED, FACT, SCHEDULED, WISH, WISH_CHANGED, async_get_journal, owner_id
from ..toolbox.removed_users import removed_users
from . import course
from .acting import Performers
from .delivery import async_dismiss, async_listen_answers, async_withdraw
from .fulfilling import Fulfilling, HappenedListener, now
from .limits import check_room
from .looking import FindEyes
from .renaming import rename
from .running import TaskRun
from .store import Listener, WishStore
from .taking_back import change_with_restore
from .wish import SEVERAL, Wish

_ANSWERED = "the answer to '{name}'; ask the question again"
_GONE = "the user who wanted it was removed"
_REMOVED = "the assistant's entry was removed"
_OWNER_REMOVED = "The user who wants this was removed, so nothing is kept for later."
_PAST = "Its time is over. Give a time that is still to come."
_JOURNALED = frozenset({FACT, SCHEDULED, CANCELLED, WISH, WISH_CHANGED})
"""The kinds of changes in the journal that hold a wish."""


class Wishes:
    """The wishes of all entries."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take where they are stored; load before use."""
        self._hass = hass
        self._store = WishStore(hass)
        self._removed_users = removed_users(hass)
        self._fulfilling = Fulfilling(hass, self._store)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def async_load(self) -> None:
        """Read what was stored, and hear of what concerns it."""
        await self._store.async_load()
        users = {None, *(user.id for user in await self._hass.auth.async_get_users())}
        await self._async_forget_users(lambda user_id: user_id not in users)
        self._hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._async_on_new_id, _is_new_id)
        self._hass.bus.async_listen(EVENT_USER_REMOVED, self._async_on_user_removed)
        self._hass.bus.async_listen(EVENT_CORE_CONFIG_UPDATE, self._async_on_core_config)
        async_listen_answers(self._hass, self)

    @property
    def standing(self) -> list[Wish]:
        """Return the wishes that have not ended, next first; those that wait for something to happen come last."""
        return self._store.standing

    @property
    def ended(self) -> list[Wish]:
        """Return the wishes that have ended, last first."""
        return self._store.ended

    @callback
    def find(self, wish_id: str) -> Wish | None:
        """Return a wish, standing or ended."""
        return self._store.wishes.get(wish_id)

    @callback
    def async_start(
        self, entry: ConfigEntry, performers: Performers, find_eyes: FindEyes | None = None
    ) -> CALLBACK_TYPE:
        """Begin to fulfil the wishes of an entry, once Home Assistant has started; return what ends that."""

        @callback
        def begin(_: HomeAssistant) -> None:
            self._fulfilling.async_start(entry.entry_id, performers, find_eyes)

        cancel_start = async_at_started(self._hass, begin)

        @callback
        def stop() -> None:
            cancel_start()
            self._fulfilling.async_stop(entry.entry_id)

        return stop

    async def async_forget(self, entry_id: str) -> None:
        """Drop the wishes of an entry that is removed."""
        await self._async_drop(lambda wish: wish.owner.entry_id == entry_id, _REMOVED)
        await self._store.async_cut_copies("entry_id", lambda one: one == entry_id)

    async def async_add(self, wish: Wish) -> None:
        """Store a new wish; raises ToolError where there are too many, nothing of it is to come, or it cannot be stored."""
        check_room(wish, self.standing)
        try:
            json_bytes(wish.stored())
        except JSON_ENCODE_EXCEPTIONS as err:
            # Nothing at all could be stored beside it.
            raise ToolError("It holds half a character, or what no file can hold. Write it anew.") from err
        await self._async_put(wish, lambda: None if wish.progress.due else course.expect(wish, now()))

    async def async_end(self, wish_id: str, result: str) -> Wish | None:
        """End a wish and the parts that are to follow it, and return it; None where nothing of it stands."""
        ended = await self._async_change(wish_id, lambda one: course.end(one, result, now()), withdraws=True)
        while following := self.parts_of(wish_id):
            await self._async_change(following[0].id, lambda one: course.end(one, result, now()), withdraws=True)
            ended = ended or self.find(wish_id) or following[0]
        return ended

    @callback
    def parts_of(self, wish_id: str) -> list[Wish]:
        """Return the later parts of a wish that stand."""
        return [wish for wish in self.standing if wish.after == wish_id]

    @callback
    def runs_of(self, wish_id: str) -> list[TaskRun]:
        """Return the runs of a wish and of its later parts, which say what they have begun; none while nothing is done."""
        ids = (wish_id, *(part.id for part in self.parts_of(wish_id)))
        return [*filter(None, map(self._fulfilling.run_of, ids))]

    async def async_done(self, wish_id: str) -> Wish | None:
        """Take it that somebody has done what they were told of: ends the occurrence of a rule, or else the wish."""
        return await self._async_change(wish_id, lambda wish: course.done(wish, now()), withdraws=True)

    async def async_snooze(self, wish_id: str, seconds: float) -> Wish | None:
        """Say again later what was said, also of a wish that has ended; return it, or None where there is nothing to say."""
        if (wish := self.find(wish_id)) is None:
            return None
        if not wish.is_standing:
            check_room(wish, self.standing)
        is_put_off = await self._async_confirm(wish, lambda: course.snooze(wish, seconds, now()), withdraws=True)
        return wish if is_put_off else None

    async def async_rename(self, wish_id: str, name: str, author: str | None = None) -> Wish | None:
        """Give a standing wish another name, in the words of a user, and return it; None where there is none."""

        def rename_it(wish: Wish) -> None:
            wish.name = name
            if author != wish.author:
                wish.owner.author = SEVERAL

        return await self._async_change(wish_id, rename_it)

    async def async_restore(self, wish: Wish) -> None:
        """Let a wish stand again as it was given; what has happened meanwhile does not happen again. Raises ToolError."""
        before = wish.progress
        if (known := self.find(wish.id)) is None:
            wish.progress.begun = None
        elif known.is_standing:

            def take_back() -> None:
                course.take_back_snooze(known, wish.when)
                course.resume(known, before, now())

            await self._async_confirm(known, take_back)
            return
        else:
            wish = known
        check_room(wish, self.standing)
        await self._async_put(wish, lambda: course.resume(wish, before, now()))

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call a listener whenever anything has changed; return what ends that."""
        return self._store.async_listen(listener)

    @callback
    def async_listen_happened(self, listener: HappenedListener) -> CALLBACK_TYPE:
        """Call a listener when an occurrence has ended; return what ends that."""
        self._fulfilling.happened.add(listener)
        return lambda: self._fulfilling.happened.discard(listener)

    @callback
    def untold(self, caller: Caller) -> dict[tuple[str, str], str]:
        """Return the messages that the caller could not be told so far, oldest first; an answer, which may repeat others, by its name.

        The keys are for `async_told`. Of the values, those are for the model alone that it may hear: they name what
        was visible when they were written.
        """
        waiting = [(wish, text) for wish in self._of(caller) if (text := wish.progress.untold)]
        return {
            (wish.id, text): text if wish.what.ask is None else _ANSWERED.format(name=wish.name)
            for wish, text in waiting
        }

    async def async_told(self, told: Iterable[tuple[str, str]]) -> None:
        """Take it that the caller was told; what came up since then is kept."""
        for wish_id, text in told:
            if (wish := self.find(wish_id)) is not None:
                course.heard(wish, text)
                if wish.progress.untold is None:
                    async_dismiss(self._hass, wish)
        # On a full disk it is told once more after a restart, and stored as soon as it can be.
        await self._store.async_save()

    def _of(self, caller: Caller) -> list[Wish]:
        """Return the wishes of a caller and of the household."""
        found = (wish for wish in self._store.wishes.values() if wish.owner.user_id in (None, caller.user_id))
        return sorted(found, key=lambda wish: wish.progress.last or wish.created)

    def _lock(self, wish: Wish) -> asyncio.Lock:
        """Return the lock of the confirmed changes of a wish."""
        return self._locks.setdefault(wish.id, asyncio.Lock())

    async def _async_put(self, wish: Wish, prepare: Callable[[], None]) -> None:
        """Store a wish that stands once it is prepared, or leave everything as it was and raise ToolError."""
        async with self._lock(wish):
            if wish.owner.user_id in self._removed_users:
                raise ToolError(_OWNER_REMOVED)
            known = self.find(wish.id)
            restore = change_with_restore(wish, prepare)
            if course.is_over(wish, now()):
                restore()
                raise ToolError(_PAST)
            self._store.wishes[wish.id] = wish

            def take_back() -> None:
                restore()
                if known is None:
                    self._store.wishes.pop(wish.id, None)

            await self._store.async_save_confirmed(take_back)

    async def _async_change(
        self, wish_id: str, change: Callable[[Wish], None], *, withdraws: bool = False
    ) -> Wish | None:
        """Change a standing wish and return it, None where there is none; what is shown of it may be withdrawn."""
        if (wish := self.find(wish_id)) is None:
            return None

        def change_standing() -> bool:
            if is_standing := wish.is_standing:
                change(wish)
            return is_standing

        return wish if await self._async_confirm(wish, change_standing, withdraws=withdraws) else None

    async def _async_confirm(self, wish: Wish, change: Callable[[], bool | None], *, withdraws: bool = False) -> bool:
        """Change a wish, store it, and then withdraw what is shown of it; return False where there is nothing to change.

        Where it cannot be stored, leaves everything as it was and raises NotStoredError. Changes of one wish are made one
        after the other: a change that is based on another one could not be taken back alone.
        """
        async with self._lock(wish):
            return await self._async_confirm_alone(wish, change, withdraws=withdraws)

    async def _async_confirm_alone(
        self, wish: Wish, change: Callable[[], bool | None], *, withdraws: bool = False
    ) -> bool:
        """Change a wish as `_async_confirm` does, while its lock is held."""
        answers, is_changed = wish.progress.answers, True

        def change_all() -> None:
            nonlocal is_changed
            is_changed = change() is not False
            if withdraws and is_changed:
                wish.progress.answers = {}  # What others press meanwhile is not done again.

        restore = change_with_restore(wish, change_all)
        if not is_changed:
            return False
        run = None if wish.is_standing else self._fulfilling.run_of(wish.id)
        if run is not None:
            run.hold()
        try:
            await self._store.async_save_confirmed(restore)
        finally:
            if run is not None and wish.is_standing:
                run.release()
            elif run is not None:
                run.stop()
                await run.async_over()
        if withdraws:
            async_withdraw(self._hass, wish, answers)
        return True

    async def _async_drop(self, is_dropped: Callable[[Wish], bool], reason: str) -> None:
        """End wishes and remove them, also from the disk, with what is shown of them."""
        dropped = [*filter(is_dropped, self._store.wishes.values())]
        for wish in dropped:
            # What is begun of it looks whether it still stands.
            course.end(wish, reason, now())
            self._fulfilling.stop_run(wish.id)
            async_withdraw(self._hass, wish, wish.progress.answers)
            wish.progress.answers = {}
            del self._store.wishes[wish.id]
        if dropped:
            await self._store.async_save()

    async def _async_forget_users(self, is_gone: Callable[[str | None], bool]) -> None:
        """Remove the wishes of users who are gone, and what the journal holds of them."""
        await self._async_drop(lambda wish: is_gone(wish.owner.user_id), _GONE)
        journal = await async_get_journal(self._hass)
        await journal.async_forget(
            lambda change: change.kind in _JOURNALED and (is_gone(change.user_id) or is_gone(owner_id(change.details)))
        )

    async def _async_on_new_id(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        """Exchange the id of an entity that was given another one."""
        old, new = str(event.data.get("old_entity_id")), event.data["entity_id"]
        renamed = [rename(wish, old, new) for wish in self._store.wishes.values()]
        if any(renamed):
            await self._store.async_save()

    async def _async_on_user_removed(self, event: Event) -> None:
        """Remove what a user kept for themselves when they are removed."""
        user_id = event.data["user_id"]
        await self._async_forget_users(lambda one: one == user_id)
        await self._store.async_cut_copies("user_id", lambda one: one == user_id)

    async def _async_on_core_config(self, event: Event) -> None:
        """Take rules as they are in another time zone."""
        if "time_zone" not in event.data:
            return
        for wish in self.standing:
            moment, due = now(), wish.progress.due
            is_due = due is not None and due <= moment
            if wish.when.rule is None or wish.when.triggers or is_due:
                continue
            # A rule can take milliseconds, and there may be hundreds.
            after = max(moment, wish.progress.last or 0.0)
            coming = await self._hass.async_add_executor_job(course.coming, wish, after)
            if wish.is_standing and wish.progress.due == due and wish.progress.begun is None:
                wish.progress.due = coming
        await self._store.async_save()


@callback
def _is_new_id(data: er.EventEntityRegistryUpdatedData) -> bool:
    """Return whether an entity was given another id."""
    return "old_entity_id" in data


_WISHES: HassKey[Wishes] = HassKey(f"{DOMAIN}_wishes")


@singleton(_WISHES, async_=True)
async def async_get_wishes(hass: HomeAssistant) -> Wishes:
    """Return the wishes of this Home Assistant."""
    wishes = Wishes(hass)
    await wishes.async_load()
    return wishes

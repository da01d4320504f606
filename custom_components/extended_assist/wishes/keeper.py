"""The standing wishes of a home: what is known of them, and every change that somebody makes to them."""

from collections.abc import Callable, Iterable

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
from . import course
from .acting import Performers
from .delivery import async_dismiss, async_listen_answers, async_withdraw
from .fulfilling import Fulfilling, HappenedListener, now
from .looking import FindEyes
from .renaming import rename
from .store import Listener, WishStore
from .wish import MAX_STANDING, MAX_WATCHES, Wish

_ANSWERED = "the answer to '{name}'; ask the question again"
_GONE = "the user who wanted it was removed"
_REMOVED = "the assistant's entry was removed"
_PAST = "Its time is over. Give a time that is still to come."
_NOT_STORED = "This could not be stored, so it was not kept. Tell the user that the disk may be full."


class Wishes:
    """The wishes of all entries."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take where they are stored; load before use."""
        self._hass = hass
        self._store = WishStore(hass)
        self._fulfilling = Fulfilling(hass, self._store)

    async def async_load(self) -> None:
        """Read what was stored, and hear of what concerns it."""
        await self._store.async_load()
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
        for wish in [*self._store.wishes.values()]:
            if wish.owner.entry_id == entry_id:
                # What is begun of it looks whether it still stands.
                course.end(wish, _REMOVED, now())
                async_withdraw(self._hass, wish)
                del self._store.wishes[wish.id]
        await self._store.async_save()

    async def async_add(self, wish: Wish) -> None:
        """Store a new wish; raises ToolError where there are too many, nothing of it is to come, or it cannot be stored."""
        self._check_room(wish)
        try:
            json_bytes(wish.stored())
        except JSON_ENCODE_EXCEPTIONS as err:
            # Nothing at all could be stored beside it.
            raise ToolError("It holds half a character, or what no file can hold. Write it anew.") from err
        if wish.progress.due is None:
            course.expect(wish, now())
        await self._async_put(wish)

    async def async_end(self, wish_id: str, result: str) -> Wish | None:
        """End a standing wish and return it; None where there is none."""
        return await self._async_change(wish_id, lambda wish: course.end(wish, result, now()), withdraws=True)

    async def async_done(self, wish_id: str) -> Wish | None:
        """Take it that somebody has done what they were told of: ends the occurrence of a rule, or else the wish."""
        return await self._async_change(wish_id, lambda wish: course.done(wish, now()), withdraws=True)

    async def async_snooze(self, wish_id: str, seconds: float) -> Wish | None:
        """Say again later what was said, also of a wish that has ended; return it, or None where there is nothing to say."""
        if (wish := self.find(wish_id)) is None or not (wish.is_standing or self._has_room):
            return None
        if not course.snooze(wish, seconds, now()):
            return None
        async_withdraw(self._hass, wish)
        await self._store.async_save()
        return wish

    async def async_rename(self, wish_id: str, name: str) -> Wish | None:
        """Give a standing wish another name, and return it; None where there is none."""
        return await self._async_change(wish_id, lambda wish: setattr(wish, "name", name))

    async def async_restore(self, wish: Wish) -> None:
        """Let a wish stand again as it was given; what has happened meanwhile does not happen again. Raises ToolError."""
        before = wish.progress
        if (known := self.find(wish.id)) is None:
            wish.progress.begun = None
        elif known.is_standing:
            course.take_back_snooze(known, wish.when)
            course.resume(known, before, now())
            await self._store.async_save()
            return
        else:
            wish = known
        self._check_room(wish)
        course.resume(wish, before, now())
        await self._async_put(wish)

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
        await self._store.async_save()

    def _of(self, caller: Caller) -> list[Wish]:
        """Return the wishes of a caller and of the household."""
        found = (wish for wish in self._store.wishes.values() if wish.owner.user_id in (None, caller.user_id))
        return sorted(found, key=lambda wish: wish.progress.last or wish.created)

    @property
    def _has_room(self) -> bool:
        """Return whether one more wish can stand."""
        return len(self.standing) < MAX_STANDING

    def _check_room(self, wish: Wish) -> None:
        """Raise ToolError where one more wish cannot stand."""
        if not self._has_room:
            raise ToolError(f"{MAX_STANDING} wishes are standing already. End some of them first.")
        if wish.when.watch is not None and sum(map(bool, map(course.watching, self.standing))) >= MAX_WATCHES:
            raise ToolError(f"{MAX_WATCHES} watches are standing already. End some of them first.")

    async def _async_put(self, wish: Wish) -> None:
        """Store a wish that is to stand, or leave everything as it was and raise ToolError."""
        if course.is_over(wish, now()):
            course.end(wish, course.OVER, now())
            raise ToolError(_PAST)
        self._store.wishes[wish.id] = wish
        await self._store.async_save()
        if not await self._store.async_is_stored(wish):
            course.end(wish, _NOT_STORED, now())
            self._store.async_tell()
            raise ToolError(_NOT_STORED)

    async def _async_change(
        self, wish_id: str, change: Callable[[Wish], None], *, withdraws: bool = False
    ) -> Wish | None:
        """Change a standing wish and return it, None where there is none; what is shown of it may be withdrawn."""
        if (wish := self.find(wish_id)) is None or not wish.is_standing:
            return None
        change(wish)
        if withdraws:
            async_withdraw(self._hass, wish)
        await self._store.async_save()
        return wish

    async def _async_on_new_id(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        """Exchange the id of an entity that was given another one."""
        old, new = str(event.data.get("old_entity_id")), event.data["entity_id"]
        renamed = [rename(wish, old, new) for wish in self._store.wishes.values()]
        if any(renamed):
            await self._store.async_save()

    async def _async_on_user_removed(self, event: Event) -> None:
        """End the wishes of a user who is removed."""
        for wish in self.standing:
            if wish.owner.user_id == event.data["user_id"]:
                await self.async_end(wish.id, _GONE)

    async def _async_on_core_config(self, event: Event) -> None:
        """Take rules as they are in another time zone."""
        if "time_zone" not in event.data:
            return
        for wish in self.standing:
            is_due = wish.progress.due is not None and wish.progress.due <= now()
            if wish.when.rule is not None and not wish.when.triggers and not is_due:
                course.expect(wish, max(now(), wish.progress.last or 0.0))
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

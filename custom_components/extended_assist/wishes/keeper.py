"""The standing wishes of a home: stored, found, ended, and told of to whoever listens."""

from collections.abc import Callable
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..actions.schedule import Performers
from ..const import DOMAIN
from ..results import ToolError
from ..storage import async_load
from ..toolbox.caller import Caller
from .wish import MAX_ENDED, MAX_STANDING, Wish, read_stored

_VERSION = 1

type Listener = Callable[[], None]
type HappenedListener = Callable[[Wish, float, str], None]
"""Is called with a wish, the moment of an occurrence that ended, and what became of it."""


class Wishes:
    """The wishes of all entries."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take where they are stored; load before use."""
        self._hass = hass
        # Written atomically, it is on the disk once it is saved.
        self._store: Store[dict[str, list[dict[str, Any]]]] = Store(
            hass, _VERSION, f"{DOMAIN}.wishes", private=True, atomic_writes=True
        )
        self._wishes: dict[str, Wish] = {}
        self._performers: dict[str, Performers] = {}
        self._listeners: set[Listener] = set()
        self._happened: set[HappenedListener] = set()

    async def async_load(self) -> None:
        """Read what was stored."""
        self._wishes = {wish.id: wish for wish in await async_load(self._hass, self._store, read_stored)}

    @property
    def standing(self) -> list[Wish]:
        """Return what has not ended, next first; what waits for something to happen comes last."""
        standing = (wish for wish in self._wishes.values() if wish.is_standing)
        return sorted(standing, key=lambda wish: (wish.next_moment is None, wish.next_moment or wish.created))

    @property
    def ended(self) -> list[Wish]:
        """Return what has ended, last first."""
        ended = (wish for wish in self._wishes.values() if not wish.is_standing)
        return sorted(ended, key=lambda wish: -(wish.progress.ended or 0))

    @callback
    def find(self, wish_id: str) -> Wish | None:
        """Return a wish, standing or ended."""
        return self._wishes.get(wish_id)

    @callback
    def async_start(self, entry: ConfigEntry, performers: Performers) -> CALLBACK_TYPE:
        """Begin to fulfil the wishes of an entry, once Home Assistant has started; return what ends that."""

        @callback
        def begin(_: HomeAssistant) -> None:
            self._performers[entry.entry_id] = performers

        cancel_start = async_at_started(self._hass, begin)

        @callback
        def stop() -> None:
            cancel_start()
            self._performers.pop(entry.entry_id, None)

        return stop

    async def async_forget(self, entry_id: str) -> None:
        """Drop the wishes of an entry that is removed."""
        self._wishes = {key: wish for key, wish in self._wishes.items() if wish.owner.entry_id != entry_id}
        if self._wishes:
            await self._async_save()
        else:
            await self._store.async_remove()
            self._tell_listeners()

    async def async_add(self, wish: Wish) -> None:
        """Store a new wish; raises ToolError where there are too many."""
        if len(self.standing) >= MAX_STANDING:
            raise ToolError(f"{MAX_STANDING} wishes are standing already. End some of them first.")
        self._wishes[wish.id] = wish
        await self._async_save()

    async def async_end(self, wish_id: str, result: str) -> Wish | None:
        """End a standing wish and return it; None where there is none."""
        if (wish := self._wishes.get(wish_id)) is None or not wish.is_standing:
            return None
        wish.progress.ended, wish.progress.result = dt_util.utcnow().timestamp(), result
        for old in self.ended[MAX_ENDED:]:
            del self._wishes[old.id]
        await self._async_save()
        return wish

    async def async_done(self, wish_id: str) -> Wish | None:
        """Take it that somebody has done what they were told of: ends the occurrence of a rule, or else the wish."""
        return await self.async_end(wish_id, "done")

    async def async_snooze(self, wish_id: str, seconds: float) -> Wish | None:
        """Say again later what was said; return the wish, or None where there is nothing to say again."""
        if (wish := self._wishes.get(wish_id)) is None:
            return None
        wish.progress.again, wish.progress.ended = dt_util.utcnow().timestamp() + seconds, None
        await self._async_save()
        return wish

    async def async_rename(self, wish_id: str, name: str) -> Wish | None:
        """Give a wish another name, and return it."""
        if (wish := self._wishes.get(wish_id)) is not None:
            wish.name = name
            await self._async_save()
        return wish

    async def async_restore(self, wish: Wish) -> None:
        """Let a wish that was ended stand again, as it was given."""
        await self.async_add(wish)

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call a listener whenever anything has changed; return what ends that."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    @callback
    def async_listen_happened(self, listener: HappenedListener) -> CALLBACK_TYPE:
        """Call a listener when an occurrence has ended; return what ends that."""
        self._happened.add(listener)
        return lambda: self._happened.discard(listener)

    @callback
    def untold(self, caller: Caller) -> list[str]:
        """Return what the caller could not be told so far, oldest first."""
        return [text for wish in self._of(caller) if (text := wish.progress.untold)]

    async def async_told(self, caller: Caller) -> None:
        """Take it that the caller was told."""
        waiting = [wish for wish in self._of(caller) if wish.progress.untold]
        for wish in waiting:
            wish.progress.untold = None
        if waiting:
            await self._async_save()

    def _of(self, caller: Caller) -> list[Wish]:
        """Return the wishes of a caller and of the household."""
        return [wish for wish in self._wishes.values() if wish.owner.user_id in (None, caller.user_id)]

    async def _async_save(self) -> None:
        """Store everything now, then tell whoever listens."""
        await self._store.async_save({"wishes": [wish.stored() for wish in self._wishes.values()]})
        self._tell_listeners()

    @callback
    def _tell_listeners(self) -> None:
        """Tell whoever listens that something has changed."""
        for listener in [*self._listeners]:
            listener()


_WISHES: HassKey[Wishes] = HassKey(f"{DOMAIN}_wishes")


@singleton(_WISHES, async_=True)
async def async_get_wishes(hass: HomeAssistant) -> Wishes:
    """Return the wishes of this Home Assistant."""
    wishes = Wishes(hass)
    await wishes.async_load()
    return wishes

"""Where wishes are kept."""

from collections.abc import Callable
from typing import Any

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.storage import Store

from ..const import DOMAIN
from ..storage import async_load
from . import first_release
from .wish import MAX_ENDED, MAX_STANDING, Wish, read_stored

KEY = f"{DOMAIN}.wishes"
_VERSION = 1

type Listener = Callable[[], None]


class WishStore:
    """All wishes, standing and ended, in memory and on the disk."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take where they are stored; load before use."""
        self._hass = hass
        self._store = _file(hass)
        self._listeners: set[Listener] = set()
        self.wishes: dict[str, Wish] = {}
        """By their ids."""

    async def async_load(self) -> None:
        """Read what was stored."""
        self.wishes = {wish.id: wish for wish in await async_load(self._hass, self._store, read_stored)}
        await self._async_take_over()

    @property
    def standing(self) -> list[Wish]:
        """Return the wishes that have not ended, next first; those that wait for something to happen come last."""
        standing = (wish for wish in self.wishes.values() if wish.is_standing)
        return sorted(standing, key=lambda wish: (wish.next_moment is None, wish.next_moment or wish.created))

    @property
    def ended(self) -> list[Wish]:
        """Return the wishes that have ended, last first."""
        ended = (wish for wish in self.wishes.values() if not wish.is_standing)
        return sorted(ended, key=lambda wish: -(wish.progress.ended or 0))

    async def async_save(self) -> None:
        """Store everything now, then tell whoever listens; while Home Assistant stops, it is stored at its end."""
        ended = self.ended
        # What somebody has still to be told is kept longer.
        told = [wish for wish in ended if not wish.progress.untold]
        for old in {wish.id for wish in (*told[MAX_ENDED:], *ended[MAX_STANDING:])}:
            del self.wishes[old]
        if self.wishes:
            await self._store.async_save({"wishes": [wish.stored() for wish in self.wishes.values()]})
        else:
            await self._store.async_remove()
        self.async_tell()

    async def async_is_stored(self, wish: Wish) -> bool:
        """Return whether a wish is on the disk, begun or not as it is: a store says nothing where it cannot write."""
        if self._hass.is_stopping:
            return True
        stored = await async_load(self._hass, _file(self._hass), read_stored)
        return any(one.id == wish.id and one.progress.begun == wish.progress.begun for one in stored)

    async def _async_take_over(self) -> None:
        """Take over what the first release kept; its file goes once all of it is on the disk here."""
        earlier = Store[dict[str, Any]](self._hass, first_release.VERSION, first_release.KEY, private=True)
        taken = await async_load(self._hass, earlier, first_release.read_scheduled)
        if not taken:
            return
        self.wishes = {wish.id: wish for wish in taken} | self.wishes
        await self.async_save()
        stored = await async_load(self._hass, _file(self._hass), read_stored)
        if {wish.id for wish in taken if wish.id in self.wishes} <= {wish.id for wish in stored}:
            await earlier.async_remove()

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call a listener whenever anything has changed; return what ends that."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    @callback
    def async_tell(self) -> None:
        """Tell whoever listens that something has changed."""
        for listener in [*self._listeners]:
            listener()


def _file(hass: HomeAssistant) -> Store[dict[str, list[dict[str, Any]]]]:
    """Return the file, which is on the disk once it is saved, because it is written atomically."""
    return Store(hass, _VERSION, KEY, private=True, atomic_writes=True)

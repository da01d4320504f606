"""The facts of a home: in memory and on the disk, and every change that somebody makes to them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..results import ToolError
from ..storage import ConfirmedStore, NotStoredError, async_load
from .fact import MAX_FACTS, MAX_PAST, Fact, new_id, now, read_stored
from .search import forget_texts

KEY = f"{DOMAIN}.memory"
_VERSION = 1
_FULL = f"{MAX_FACTS} facts are remembered already, which is the limit. Ask the user which may be forgotten."

type Listener = Callable[[], None]


class FullError(ToolError):
    """As many facts are remembered as can be."""


class Memory:
    """All facts, those that hold and those that can be brought back."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take where they are stored; load before use."""
        self._hass = hass
        self._store = ConfirmedStore[dict[str, list[dict[str, Any]]]](hass, _VERSION, KEY)
        self._facts: dict[str, Fact] = {}
        self._listeners: set[Listener] = set()
        self._lock = asyncio.Lock()
        self._is_blocked = False

    async def async_load(self) -> None:
        """Read what was stored, and hear of what concerns it."""
        self._facts = {fact.id: fact for fact in await async_load(self._hass, self._store, read_stored)}
        # What can neither be read nor set aside is not written over.
        self._is_blocked = not self._facts and await self._hass.async_add_executor_job(Path(self._store.path).exists)
        self._hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._async_on_new_id, _is_new_id)
        self._hass.bus.async_listen(ar.EVENT_AREA_REGISTRY_UPDATED, self._async_on_area_removed, _is_removed)
        self._hass.bus.async_listen(EVENT_USER_REMOVED, self._async_on_user_removed)

    @property
    def held(self) -> list[Fact]:
        """Return the facts that hold now, in the order in which they were said."""
        moment = now()
        return sorted(
            (fact for fact in self._facts.values() if fact.holds(moment)), key=lambda fact: (fact.said, fact.id)
        )

    @callback
    def find(self, fact_id: str) -> Fact | None:
        """Return a fact, whether it holds or not."""
        return self._facts.get(fact_id.strip().lower())

    async def async_add(
        self, facts: Collection[Fact], ended: Collection[str] = (), check: Callable[[], None] | None = None
    ) -> None:
        """Remember facts in the place of others; raises ToolError where there are too many, or they cannot be stored.

        The check is made with all of them in their place, and may raise ToolError. One whose id is taken gets another.
        """
        async with self._stored():
            self._end(ended)
            for fact in facts:
                while fact.id in self._facts:
                    fact.id = new_id()
                self._facts[fact.id] = fact
            self._check_room()
            if check is not None:
                check()

    async def async_change(self, fact: Fact) -> None:
        """Store a fact in the place of the one with its id, which is not kept; raises ToolError as async_add does."""
        async with self._stored():
            self._facts[fact.id] = fact

    async def async_end(self, ended: Collection[str], revived: Collection[str] = ()) -> None:
        """Let facts be past, so that they can be brought back, and others hold again; raises ToolError as async_add does."""
        async with self._stored():
            self._end(ended)
            for one in revived:
                if fact := self.find(one):
                    fact.ended = None
            self._check_room()

    async def async_delete(self, wanted: Callable[[Fact], bool]) -> int:
        """Delete facts for good, past ones as well; return how many of them held. Raises ToolError as async_add does."""
        moment = now()
        gone = [fact for fact in self._facts.values() if wanted(fact)]
        async with self._stored():
            for fact in gone:
                self._facts.pop(fact.id, None)
        forget_texts()
        return sum(fact.holds(moment) for fact in gone)

    async def async_clear(self) -> None:
        """Forget everything, also on the disk, and what was set aside because it could not be read."""
        self._facts = {}
        forget_texts()
        await self._store.async_remove()
        await self._hass.async_add_executor_job(_remove_set_aside, Path(self._store.path))
        self._tell()

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call a listener whenever anything has changed; return what ends that."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    @callback
    def _tell(self) -> None:
        for listener in [*self._listeners]:
            listener()

    def _end(self, ended: Collection[str]) -> None:
        for one in ended:
            if (fact := self.find(one)) and fact.ended is None:
                fact.ended = now()

    def _check_room(self) -> None:
        """Raise FullError where more hold than there is room for."""
        if len(self.held) > MAX_FACTS:
            raise FullError(_FULL)

    @asynccontextmanager
    async def _stored(self) -> AsyncGenerator[None]:
        """Store what is changed meanwhile, one after the other, or leave everything as it was and raise ToolError."""
        async with self._lock:
            before = {fact.id: replace(fact) for fact in self._facts.values()}
            try:
                yield
                await self._async_save()
            except ToolError:
                self._facts = before
                raise
        self._tell()

    async def _async_save(self) -> None:
        """Drop what has been past for too long, and store the rest."""
        moment = now()
        past = [fact for fact in self._facts.values() if not fact.holds(moment)]
        for number, fact in enumerate(sorted(past, key=lambda fact: -(fact.ended or fact.until or 0))):
            if number >= MAX_PAST or fact.is_over(moment):
                del self._facts[fact.id]
        if self._is_blocked:
            raise NotStoredError
        await self._store.async_save_confirmed(self._data)

    def _data(self) -> dict[str, list[dict[str, Any]]] | None:
        """Return the stored form, or None where nothing is remembered."""
        return {"facts": [fact.stored() for fact in self._facts.values()]} if self._facts else None

    async def _async_on_new_id(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        """Exchange the id of an entity that was given another one: its facts stay its own."""
        old, new = str(event.data.get("old_entity_id")), event.data["entity_id"]
        renamed = [fact for fact in self._facts.values() if old in fact.entities]
        for fact in renamed:
            fact.entities = [new if one == old else one for one in fact.entities]
        if renamed:
            await self._async_follow()

    async def _async_on_area_removed(self, event: Event[ar.EventAreaRegistryUpdatedData]) -> None:
        """Forget of facts that they are about an area that is gone: a new one may get its id."""
        about = [fact for fact in self._facts.values() if event.data["area_id"] in fact.areas]
        for fact in about:
            fact.areas.remove(str(event.data["area_id"]))
        if about:
            await self._async_follow()

    async def _async_follow(self) -> None:
        """Store what has changed by itself."""
        async with self._stored():
            pass

    async def _async_on_user_removed(self, event: Event) -> None:
        """Delete the facts of a user who is removed."""
        await self.async_delete(lambda fact: fact.user_id == event.data["user_id"])


@callback
def _is_new_id(data: er.EventEntityRegistryUpdatedData) -> bool:
    """Return whether an entity was given another id."""
    return "old_entity_id" in data


@callback
def _is_removed(data: ar.EventAreaRegistryUpdatedData) -> bool:
    """Return whether an area was removed."""
    return data["action"] == "remove"


def _remove_set_aside(path: Path) -> None:
    """Delete what was set aside of a file."""
    for aside in path.parent.glob(f"{path.name}.*"):
        aside.unlink(missing_ok=True)


_MEMORY: HassKey[Memory] = HassKey(f"{DOMAIN}_memory")


@singleton(_MEMORY, async_=True)
async def async_get_memory(hass: HomeAssistant) -> Memory:
    """Return the memory of this Home Assistant."""
    memory = Memory(hass)
    await memory.async_load()
    return memory

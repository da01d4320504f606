"""The facts of a home in memory and on the disk, and all changes of them."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..calls.journal import FACT, async_get_journal, removed_users
from ..const import DOMAIN, LOGGER
from ..results import ToolError
from ..storage import ConfirmedStore, NotStoredError, async_load, copies_hold, cut_copies, remove_copies
from .fact import MAX_FACTS, MAX_OF_ONE, MAX_PAST, Fact, Gone, new_id, now, read_search_keys, read_stored

KEY = f"{DOMAIN}.memory"
_VERSION = 1
_ROWS = "facts"
"""The key of the facts in the stored data."""
_RETRY_DELAY = 10.0
"""Seconds until a cancelled save is repeated."""
_REMOVED = "The user whose own fact this is was removed, so it is not remembered."
_FULL = f"{MAX_FACTS} facts are remembered already, which is the limit. Ask the user which may be forgotten."
_FULL_OF_ONE = (
    f"{MAX_OF_ONE} facts by this user are remembered already, which is the limit for one user. Ask the user which may be "
    "forgotten."
)

type Listener = Callable[[], None]


class FullError(ToolError):
    """The limit on facts is reached."""


class FullOfOneError(FullError):
    """The limit on facts of one user is reached."""


class Memory:
    """All facts: valid ones, and past ones that can be restored."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the store; await `async_load` before use."""
        self._hass = hass
        self._store = ConfirmedStore[dict[str, list[dict[str, object]]]](hass, _VERSION, KEY)
        self._facts: dict[str, Fact] = {}
        self._listeners: set[Listener] = set()
        self._lock = asyncio.Lock()
        self._is_blocked = False
        self._removed_users = removed_users(hass)

    async def async_load(self) -> None:
        """Load the facts and listen for changes that concern them."""
        self._facts = {fact.id: fact for fact in await async_load(self._hass, self._store, read_stored)}
        await self._async_read_keys(self._facts.values())
        # What can neither be read nor set aside is not written over.
        self._is_blocked = not self._facts and await self._hass.async_add_executor_job(Path(self._store.path).exists)
        self._hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._async_on_new_id, _is_new_id)
        self._hass.bus.async_listen(ar.EVENT_AREA_REGISTRY_UPDATED, self._async_on_area_removed, _is_removed)
        self._hass.bus.async_listen(EVENT_USER_REMOVED, self._async_on_user_removed)

    @property
    def held(self) -> list[Fact]:
        """Return the valid facts in the order in which they were said."""
        moment = now()
        return [fact for fact in self.all if fact.holds(moment)]

    @property
    def all(self) -> list[Fact]:
        """Return all facts, past ones too, in the order in which they were said."""
        return sorted(self._facts.values(), key=lambda fact: (fact.said, fact.id))

    @callback
    def find(self, fact_id: str) -> Fact | None:
        """Return a valid or past fact, or None."""
        return self._facts.get(fact_id.strip().lower())

    async def async_add(
        self,
        facts: Collection[Fact],
        ended: Collection[str] = (),
        check: Callable[[], None] | None = None,
        may_end: Callable[[Fact], bool] | None = None,
    ) -> None:
        """Remember facts in the place of others; raises ToolError where there are too many, or they cannot be stored.

        The check is made with all of them in their place, and may raise ToolError. One whose id is taken gets another.
        Whether the others may be ended is decided anew: another change can have come before this one.
        """
        async with self._stored() as before:
            self._check_may(ended, may_end)
            await self._async_read_keys(facts)
            self._check_owners(facts)
            for fact in facts:
                while fact.id in self._facts:
                    fact.id = new_id()
                self._facts[fact.id] = fact
            self._end(ended, next((fact.id for fact in facts), None))
            self._check_room(before)
            if check is not None:
                check()

    async def async_replace(self, fact: Fact, restored: str | None = None, read: Fact | None = None) -> Fact | None:
        """Store a fact in the place of the one with its id, which is past then, with another id; raises ToolError as async_add.

        Returns the past one, or None where none with the id holds any more, or it is not the one that was read; nothing is
        changed then. A past one that is restored with this goes.
        """
        async with self._stored() as before:
            await self._async_read_keys([fact])
            self._check_owners([fact])
            if (old := self._facts.get(fact.id)) is None or not old.holds(now()) or (read or old) is not old:
                return None
            past = replace(old, id=new_id(), ended=now(), replaced_by=fact.id)
            while past.id in self._facts:
                past.id = new_id()
            self._facts |= {past.id: past, fact.id: fact}
            self._facts.pop(restored or "", None)
            self._check_room(before)
        return past

    async def async_end(
        self, ended: Collection[str], revived: Collection[str] = (), may_end: Callable[[Fact], bool] | None = None
    ) -> None:
        """Mark facts as past, and others as valid again; raises ToolError as async_add does."""
        async with self._stored() as before:
            self._check_may(ended, may_end)
            self._end(ended, next(iter(revived), None))
            for one in revived:
                if fact := self.find(one):
                    fact.ended = fact.replaced_by = None
            self._check_room(before)

    async def async_delete(
        self, wanted: Callable[[Fact], bool], user_id: str | None = None, persons: Collection[str] = ()
    ) -> int:
        """Delete facts for good; return how many of them held. Raises ToolError as async_add does.

        Facts in whose place they are go with them, and copies of any of them in files that could not be read. With a user and
        their persons' entities, all of that user's is meant: what the journal keeps for undoing their changes goes, too.
        """
        moment = now()
        async with self._stored():
            gone = self._with_replaced(fact for fact in self._facts.values() if wanted(fact))
            copies = Gone(wanted, {fact.words for fact in gone}, {*filter(None, (user_id, *persons))})
            try:
                await self._hass.async_add_executor_job(cut_copies, Path(self._store.path), _ROWS, copies)
            except OSError as err:
                raise NotStoredError from err
            for fact in gone:
                del self._facts[fact.id]
        if user_id is not None:
            await (await async_get_journal(self._hass)).async_forget(
                lambda change: change.kind == FACT and change.user_id == user_id
            )
        return sum(fact.holds(moment) for fact in gone)

    async def async_has_copies(self, wanted: Callable[[Fact], bool], names: Collection[str]) -> bool:
        """Return whether copies of unreadable files hold facts of a user with these ids."""
        try:
            return await self._hass.async_add_executor_job(
                copies_hold, Path(self._store.path), _ROWS, Gone(wanted, (), names)
            )
        except OSError:
            return True

    async def async_delete_of_removed_users(self) -> None:
        """Delete the private facts of users who were removed while the integration was not loaded."""
        users = {user.id for user in await self._hass.auth.async_get_users()}
        owners = {fact.user_id for fact in self._facts.values() if fact.user_id is not None}
        # Without any user, Home Assistant could not read who they are.
        for user_id in owners - users if users else ():
            await self._async_delete_of(user_id)

    async def async_clear(self) -> None:
        """Delete everything, also on the disk and in copies of unreadable files."""
        async with self._lock:
            self._facts = {}
            await self._store.async_remove()
            await self._hass.async_add_executor_job(remove_copies, Path(self._store.path))
        self._tell()

    @callback
    def async_listen(self, listener: Listener) -> CALLBACK_TYPE:
        """Call a listener after every change; return the function that removes it."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    @callback
    def _tell(self) -> None:
        for listener in [*self._listeners]:
            listener()

    async def _async_read_keys(self, facts: Collection[Fact]) -> None:
        """Compute the search keys of facts off the event loop, so that no search waits for it."""
        if facts:
            await self._hass.async_add_executor_job(read_search_keys, [*facts])

    def _check_may(self, ended: Collection[str], may_end: Callable[[Fact], bool] | None) -> None:
        """Raise ToolError if one of some facts may no longer be ended."""
        if may_end is not None and not all((fact := self.find(one)) and may_end(fact) for one in ended):
            raise ToolError("One of these facts was changed a moment ago. Nothing was changed. Read it again.")

    def _end(self, ended: Collection[str], replaced_by: str | None) -> None:
        for one in ended:
            if (fact := self.find(one)) and fact.ended is None:
                fact.ended, fact.replaced_by = now(), replaced_by

    def _with_replaced(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return facts and all that they replaced, up to a fact of another author."""
        found = {fact.id: fact for fact in facts}
        while more := [
            one
            for one in self._facts.values()
            if (after := found.get(one.replaced_by or ""))
            and one.id not in found
            and (one.user_id == after.user_id or (one.user_id is None and one.said_by == after.said_by))
        ]:
            found |= {one.id: one for one in more}
        return [*found.values()]

    def _check_owners(self, facts: Iterable[Fact]) -> None:
        """Raise ToolError if a fact belongs to a removed user: nobody would delete it."""
        if any(fact.user_id in self._removed_users for fact in facts):
            raise ToolError(_REMOVED)

    def _check_room(self, before: Mapping[str, Fact]) -> None:
        """Raise FullError if there are more facts than before and more than a limit allows."""
        moment = now()
        held, had = (
            Counter(fact.of_whom for fact in facts.values() if fact.holds(moment)) for facts in (self._facts, before)
        )
        if MAX_FACTS < held.total() > had.total():
            raise FullError(_FULL)
        if any(MAX_OF_ONE < count > had[one] for one, count in held.items()):
            raise FullOfOneError(_FULL_OF_ONE)

    @asynccontextmanager
    async def _stored(self) -> AsyncGenerator[Mapping[str, Fact]]:
        """Store the changes of the body, one after the other, or restore all facts: on ToolError, or when cancelled.

        Yields the facts as they were before.
        """
        async with self._lock:
            before = {fact.id: replace(fact) for fact in self._facts.values()}
            try:
                yield before
                await self._async_save()
            except asyncio.CancelledError, Exception:
                self._facts = before
                raise
        self._tell()

    async def _async_save(self) -> None:
        """Drop facts that were past for too long, and save the rest."""
        moment = now()
        past = [fact for fact in self._facts.values() if not fact.holds(moment)]
        for number, fact in enumerate(sorted(past, key=lambda fact: -(fact.ended or fact.until or 0))):
            if number >= MAX_PAST or fact.is_over(moment):
                del self._facts[fact.id]
        if self._is_blocked:
            raise NotStoredError
        try:
            await self._store.async_save_confirmed(self._data)
        except asyncio.CancelledError:
            # A thread may still write what is restored now: store the facts once more after it.
            self._store.async_delay_save_confirmed(self._data, _RETRY_DELAY)
            raise

    def _data(self) -> dict[str, list[dict[str, object]]] | None:
        """Return the stored form, or None for no facts."""
        return {_ROWS: [fact.stored() for fact in self._facts.values()]} if self._facts else None

    async def _async_on_new_id(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        """Replace the id of an entity that a user gave a new id."""
        old, new = str(event.data.get("old_entity_id")), event.data["entity_id"]
        renamed = [fact for fact in self._facts.values() if old in fact.entities]
        for fact in renamed:
            fact.entities = [new if one == old else one for one in fact.entities]
        if renamed:
            await self._async_follow()

    async def _async_on_area_removed(self, event: Event[ar.EventAreaRegistryUpdatedData]) -> None:
        """Remove a deleted area from facts: a new area may get its id."""
        about = [fact for fact in self._facts.values() if event.data["area_id"] in fact.areas]
        for fact in about:
            fact.areas.remove(str(event.data["area_id"]))
        if about:
            await self._async_follow()

    async def _async_follow(self) -> None:
        """Save a change that no user waits for; a failed save is retried."""
        try:
            async with self._stored():
                pass
        except NotStoredError:
            if not self._is_blocked:
                self._store.async_delay_save_confirmed(self._data, _RETRY_DELAY)

    async def _async_on_user_removed(self, event: Event) -> None:
        await self._async_delete_of(event.data["user_id"])

    async def _async_delete_of(self, user_id: str) -> None:
        """Delete the private facts of a user."""
        try:
            await self.async_delete(lambda fact: fact.user_id == user_id, user_id)
        except NotStoredError:
            LOGGER.error(
                "%s cannot be written; facts of a removed user are deleted at the next start", self._store.path
            )


@callback
def _is_new_id(data: er.EventEntityRegistryUpdatedData) -> bool:
    return "old_entity_id" in data


@callback
def _is_removed(data: ar.EventAreaRegistryUpdatedData) -> bool:
    return data["action"] == "remove"


_MEMORY: HassKey[Memory] = HassKey(f"{DOMAIN}_memory")


@callback
def is_any_own(hass: HomeAssistant, ids: Collection[str]) -> bool:
    """Return whether one of these facts is private, as far as facts are loaded."""
    memory = hass.data.get(_MEMORY)
    return isinstance(memory, Memory) and any((fact := memory.find(one)) and fact.user_id for one in ids)


@singleton(_MEMORY, async_=True)
async def async_get_memory(hass: HomeAssistant) -> Memory:
    """Return the memory of this Home Assistant."""
    memory = Memory(hass)
    await memory.async_load()
    await memory.async_delete_of_removed_users()
    return memory

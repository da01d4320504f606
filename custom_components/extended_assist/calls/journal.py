"""Store the last changes of all assistants for undo, also over restarts."""

import asyncio
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.singleton import singleton
from homeassistant.util import dt as dt_util, ulid as ulid_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..storage import NUMBER, TEXT_OR_NONE, ConfirmedStore, NotStoredError, async_load, shape
from .caller import Caller

MAX_CHANGES = 50
MAX_STATES = 200
"""Maximum entities of one change whose states are stored."""
MAX_ALL_STATES = 1_000
"""Maximum entities of all changes together whose states are stored; the oldest changes are dropped first."""
MAX_ATTRIBUTE = 300
"""Maximum characters of a stored attribute; longer ones are lists of choices, which undo does not need."""
STATES = "states"
ASPECTS = "aspects"
SCHEDULED = "scheduled"
CANCELLED = "cancelled"
AUTOMATION = "automation"
SCRIPT = "script"
SCENE = "scene"
WISH = "wish"
WISH_CHANGED = "wish_changed"
FACT = "fact"
HABIT = "habit"
"""The kinds of changes.

STATES: whole states, as version 1.0 stored them. ASPECTS: the changed parts of states. SCHEDULED, CANCELLED: an action
scheduled or cancelled, as version 1.0 stored it. AUTOMATION, SCRIPT, SCENE: one that was written. WISH: a new scheduled
task. WISH_CHANGED: a task that was ended or postponed. FACT: facts remembered or forgotten. HABIT: a habit that was
dismissed.
"""
PRIVATE = frozenset({SCHEDULED, CANCELLED, WISH, WISH_CHANGED, FACT})
"""Kinds of changes that are not reported to other users."""

_SAVE_DELAY = 10.0
_VERSION = 1


class Speaking(Protocol):
    """The speaker of a change or call."""

    @property
    def assistant(self) -> str | None:
        """Return the assistant whose exposure counts."""

    @property
    def user_id(self) -> str | None:
        """Return the id of the user who was logged in, or None."""

    @property
    def device_id(self) -> str | None:
        """Return the id of the device that was spoken to, or None."""

    @property
    def conversation_id(self) -> str | None:
        """Return the id of the conversation, or None."""


@dataclass(slots=True)
class Change:
    """A change that an assistant made."""

    kind: str
    what: str
    """The action or tool, without entity names, which are looked up when they may be shown."""
    details: dict[str, Any]
    """The data for undo."""
    assistant: str | None = None
    user_id: str | None = None
    device_id: str | None = None
    conversation_id: str | None = None
    entry_id: str | None = None
    """The config entry whose options applied; None for changes of earlier versions."""
    time: float = field(default_factory=lambda: dt_util.utcnow().timestamp())
    """Seconds since the epoch."""
    undone: bool = False
    id: str = field(default_factory=ulid_util.ulid_now)


class Journal:
    """The last changes of all assistants, oldest first."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the journal's store; call async_load before use."""
        self._hass = hass
        self._store = ConfirmedStore[dict[str, list[dict[str, Any]]]](hass, _VERSION, f"{DOMAIN}.journal")
        self._changes: list[Change] = []
        self._removed_users = removed_users(hass)

    async def async_load(self) -> None:
        """Load the stored changes."""
        self._changes = await async_load(self._hass, self._store, _read)

    @callback
    def add(self, change: Change) -> None:
        """Add a change, once; drop the oldest above the limits. Private changes of a removed user are not added."""
        if self.find(change.id) is not None:
            return
        if change.kind in PRIVATE and not self._removed_users.isdisjoint((change.user_id, owner_id(change.details))):
            return
        kept: list[Change] = []
        room = MAX_ALL_STATES
        for one in [change, *reversed(self._changes)][:MAX_CHANGES]:
            if (room := room - len(one.details.get(STATES, ()))) < 0:
                break
            kept.insert(0, one)
        self._changes = kept
        self._save()

    @property
    def changes(self) -> Sequence[Change]:
        """Return the changes, oldest first."""
        return self._changes

    @callback
    def find(self, change_id: str) -> Change | None:
        """Return a change by its id."""
        return next((change for change in self._changes if change.id == change_id), None)

    async def async_save(self) -> bool:
        """Store the changes now; return whether the disk has them. If it has not, another attempt is scheduled."""
        try:
            await self._store.async_save_confirmed(self._data)
        except NotStoredError:
            self._save()
            return False
        except asyncio.CancelledError:
            self._save()
            raise
        return True

    async def async_forget(self, wanted: Callable[[Change], bool]) -> None:
        """Remove some changes, also from the disk, so that they cannot be undone; a failed write is retried."""
        if len(left := [change for change in self._changes if not wanted(change)]) < len(self._changes):
            self._changes = left
            await self.async_save()

    async def async_clear(self) -> None:
        """Remove all changes, also from the disk."""
        self._changes = []
        await self._store.async_remove()

    @callback
    def last(self, caller: Caller) -> Change | None:
        """Return the caller's last change that is not undone yet."""
        return next(
            (change for change in reversed(self._changes) if not change.undone and is_same_speaker(change, caller)),
            None,
        )

    @callback
    def mark(self, change: Change, *, undone: bool) -> None:
        """Mark a change as undone or not undone."""
        change.undone = undone
        self._save()

    @callback
    def _save(self) -> None:
        self._store.async_delay_save_confirmed(self._data, _SAVE_DELAY)

    def _data(self) -> dict[str, list[dict[str, Any]]]:
        return {"changes": [*map(stored, self._changes)]}


def owner_id(details: Mapping[str, Any]) -> str | None:
    """Return the owner of the task in a change; version 1.0 stored the owner beside the actions."""
    user_id: str | None = details.get("owner", details).get("user_id")
    return user_id


CHANGE = shape(
    {"kind": str, "what": str, "details": dict},
    {
        **dict.fromkeys(("assistant", "user_id", "device_id", "conversation_id", "entry_id"), TEXT_OR_NONE),
        "time": NUMBER,
        "undone": bool,
        "id": str,
    },
)
_STORED = shape({"changes": [CHANGE]})


def _read(data: Any) -> list[Change]:
    return [Change(**change) for change in _STORED(data)["changes"]] if data is not None else []


def stored(change: Change) -> dict[str, Any]:
    """Return a change as stored data, without copying its details, which may be large.

    A missing entry_id is left out, as in version 1.0.
    """
    names = [one.name for one in fields(change) if one.name != "entry_id" or change.entry_id is not None]
    return {name: getattr(change, name) for name in names}


def is_same_speaker(speaker: Speaking, caller: Caller) -> bool:
    """Return whether a caller is the speaker: same conversation, same user, or both unknown at the same device.

    The assistant must be the same. Two unknown speakers without a device are never the same.
    """
    if speaker.assistant != caller.assistant:
        return False
    if caller.conversation_id is not None and speaker.conversation_id == caller.conversation_id:
        return True
    if caller.user_id is not None or speaker.user_id is not None:
        return speaker.user_id == caller.user_id
    return caller.device_id is not None and speaker.device_id == caller.device_id


_JOURNAL: HassKey[Journal] = HassKey(f"{DOMAIN}_journal")


@singleton(_JOURNAL, async_=True)
async def async_get_journal(hass: HomeAssistant) -> Journal:
    """Return the journal of this Home Assistant."""
    journal = Journal(hass)
    await journal.async_load()
    return journal


_REMOVED_USERS: HassKey[AbstractSet[str | None]] = HassKey(f"{DOMAIN}_removed_users")


@callback
@singleton(_REMOVED_USERS)
def removed_users(hass: HomeAssistant) -> AbstractSet[str | None]:
    """Return the ids of users who were removed since the first call; the set is updated with each removal."""
    removed: set[str | None] = set()

    @callback
    def on_removed(event: Event) -> None:
        removed.add(event.data["user_id"])

    hass.bus.async_listen(EVENT_USER_REMOVED, on_removed)
    return removed

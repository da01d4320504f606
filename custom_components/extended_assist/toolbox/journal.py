"""What assistants changed, so that it can be undone: kept over restarts, the last changes only."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from homeassistant.core import Context, HomeAssistant, State, callback
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util, ulid as ulid_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..exposure import Exposure
from ..groups import is_group, members_of
from ..storage import NUMBER, TEXT_OR_NONE, async_load, shape
from .caller import Caller

MAX_CHANGES = 50
MAX_STATES = 200
"""Entities of one change whose states are kept."""
MAX_ALL_STATES = 1_000
"""Entities of all changes together whose states are kept; the oldest changes go first."""
MAX_ATTRIBUTE = 300
"""Characters of an attribute that is kept; longer ones list what could be chosen, which nothing is brought back with."""
STATES = "states"
SCHEDULED = "scheduled"
CANCELLED = "cancelled"
AUTOMATION = "automation"
"""The kinds of changes: states that were set, an action that was scheduled or cancelled, an automation that was written."""

_SAVE_DELAY = 10.0
_VERSION = 1


@dataclass(slots=True)
class Change:
    """Something that an assistant changed."""

    kind: str
    what: str
    """The action or tool, without names of entities: those are looked up when they may be told."""
    details: dict[str, Any]
    """What its undoing needs."""
    assistant: str | None = None
    user_id: str | None = None
    device_id: str | None = None
    conversation_id: str | None = None
    time: float = field(default_factory=lambda: dt_util.utcnow().timestamp())
    """Seconds since the epoch."""
    undone: bool = False
    id: str = field(default_factory=ulid_util.ulid_now)


class Journal:
    """The last changes of all assistants, oldest first."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take where it is stored; load before use."""
        self._hass = hass
        self._store: Store[dict[str, list[dict[str, Any]]]] = Store(hass, _VERSION, f"{DOMAIN}.journal", private=True)
        self._changes: list[Change] = []

    async def async_load(self) -> None:
        """Read what was stored."""
        self._changes = await async_load(self._hass, self._store, _read)

    @callback
    def add(self, change: Change) -> None:
        """Add a change; the oldest goes when there are too many."""
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

    async def async_clear(self) -> None:
        """Forget everything, also on the disk."""
        self._changes = []
        await self._store.async_remove()

    @callback
    def last(self, caller: Caller) -> Change | None:
        """Return the caller's last change that is not undone yet."""
        return next((change for change in reversed(self._changes) if _is_own(change, caller)), None)

    @callback
    def mark(self, change: Change, *, undone: bool) -> None:
        """Count a change as undone, or not."""
        change.undone = undone
        self._save()

    @callback
    def _save(self) -> None:
        """Store the changes soon."""
        self._store.async_delay_save(lambda: {"changes": [*map(_stored, self._changes)]}, _SAVE_DELAY)


_CHANGE = shape(
    {"kind": str, "what": str, "details": dict},
    {
        **dict.fromkeys(("assistant", "user_id", "device_id", "conversation_id"), TEXT_OR_NONE),
        "time": NUMBER,
        "undone": bool,
        "id": str,
    },
)
_STORED = shape({"changes": [_CHANGE]})


def _read(stored: Any) -> list[Change]:
    """Return the changes in what was stored."""
    return [Change(**change) for change in _STORED(stored)["changes"]] if stored is not None else []


def _stored(change: Change) -> dict[str, Any]:
    """Return a change as it is stored, without a copy of its details, which may be large."""
    return {one.name: getattr(change, one.name) for one in fields(change)}


def _is_own(change: Change, caller: Caller) -> bool:
    """Return whether a change may be undone from here: same conversation, same user, or nobody known at the same device."""
    if change.undone or change.assistant != caller.assistant:
        return False
    if caller.conversation_id is not None and change.conversation_id == caller.conversation_id:
        return True
    if caller.user_id is not None or change.user_id is not None:
        return change.user_id == caller.user_id
    return change.device_id == caller.device_id


_JOURNAL: HassKey[Journal] = HassKey(f"{DOMAIN}_journal")


@singleton(_JOURNAL, async_=True)
async def async_get_journal(hass: HomeAssistant) -> Journal:
    """Return the journal of this Home Assistant."""
    journal = Journal(hass)
    await journal.async_load()
    return journal


@dataclass(slots=True)
class Recording:
    """What one call of a tool adds to what is seen by itself."""

    what: str = ""
    targets: set[str] = field(default_factory=set)
    """Entities that were acted on, whether or not their states changed in time."""
    changes: list[Change] = field(default_factory=list)
    """Changes of other kinds than states."""


@contextmanager
def recording(
    hass: HomeAssistant,
    journal: Journal,
    exposure: Exposure,
    caller: Caller,
    recorded: Recording,
) -> Iterator[None]:
    """Record what a call changes, also when it fails: states set in the speaker's context, and what the tool adds.

    Only exposed entities are kept; a change seen by two calls that ran side by side is kept once.
    """
    before = {state.entity_id: state for state in hass.states.async_all()}
    try:
        yield
    finally:
        touched = _single(hass, recorded.targets | changed_in_context(hass, before, caller.context), recorded.targets)
        seen = hass.data.setdefault(_SEEN, {})
        snapshot = {}
        for entity_id in sorted(touched):
            old, new = before.get(entity_id), hass.states.get(entity_id)
            if old is None or new is None or not exposure.is_exposed(entity_id):
                continue
            if new is not old:
                if seen.get(entity_id) is new:
                    continue
                seen[entity_id] = new
            snapshot[entity_id] = _kept(exposure, old)
        if snapshot:
            kept = dict(list(snapshot.items())[:MAX_STATES])
            details = {STATES: kept, "more": len(snapshot) - len(kept)}
            recorded.changes.append(Change(STATES, recorded.what, details))
        for change in recorded.changes:
            change.assistant, change.conversation_id = caller.assistant, caller.conversation_id
            change.user_id, change.device_id = caller.user_id, caller.device_id
            journal.add(change)


_SEEN: HassKey[dict[str, State]] = HassKey(f"{DOMAIN}_seen_changes")
"""The last recorded change of each entity."""


def changed_in_context(hass: HomeAssistant, before: Mapping[str, State], context: Context | None) -> set[str]:
    """Return the entities whose states were changed in a context, or in one that was begun by it."""
    if context is None:
        return set()
    states = [state for state in hass.states.async_all() if before.get(state.entity_id) is not state]
    contexts, changed = {context.id}, set[str]()
    # A script runs in a context below that of its caller, and a script that it runs in one below that.
    while found := [
        state
        for state in states
        if state.entity_id not in changed and contexts & {state.context.id, state.context.parent_id}
    ]:
        changed |= {state.entity_id for state in found}
        contexts |= {state.context.id for state in found}
    return changed


def _single(hass: HomeAssistant, entity_ids: set[str], targets: set[str]) -> set[str]:
    """Return entities without groups, which follow their members: for a target, its members take its place."""
    found = entity_ids.union(*(members_of(hass, target) for target in targets if is_group(hass, target)))
    return {entity_id for entity_id in found if not is_group(hass, entity_id)}


def _kept(exposure: Exposure, state: State) -> dict[str, Any]:
    """Return what of a state is needed to bring it back."""
    visible = exposure.visible_attributes(state)
    return {
        "state": state.state,
        "attributes": {name: value for name, value in visible.items() if len(str(value)) <= MAX_ATTRIBUTE},
    }

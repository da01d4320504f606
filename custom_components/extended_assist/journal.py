"""What assistants changed, so that it can be undone: kept over restarts, the last changes only."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import llm
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util, ulid as ulid_util
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JsonObjectType

from .actions.members import is_group, members_of
from .const import DOMAIN
from .policy import NotAllowedError
from .storage import NUMBER, TEXT_OR_NONE, async_load, shape

if TYPE_CHECKING:
    from .call import ToolCall
    from .exposure import Exposure

MAX_CHANGES = 50
MAX_STATES = 200
"""Entities of one change whose states are kept."""
MAX_ALL_STATES = 1_000
"""Entities of all changes together whose states are kept; the oldest changes go first."""
MAX_ATTRIBUTE = 300
"""Characters of an attribute that is kept; longer ones list what could be chosen, which nothing is brought back with."""
STATES = "states"
"""The kind of change that is undone by bringing states back."""

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


type Undo = Callable[[ToolCall, Change], Awaitable[JsonObjectType]]
"""Undoes a change and says what came back and what did not; raises ToolError when nothing can be undone."""

_UNDO: dict[str, Undo] = {}


def undoes(kind: str) -> Callable[[Undo], Undo]:
    """Declare the function that undoes changes of a kind."""

    def register(undo: Undo) -> Undo:
        _UNDO[kind] = undo
        return undo

    return register


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
    def last(self, llm_context: llm.LLMContext) -> Change | None:
        """Return the last change, not undone yet, of this conversation or speaker."""
        return next((change for change in reversed(self._changes) if _is_own(change, llm_context)), None)

    async def async_undo(self, call: ToolCall, change: Change) -> JsonObjectType:
        """Undo a change; it counts as undone even where only parts of it came back, but not where this speaker may not.

        It counts from the beginning, so that a call at the same time undoes the change before it.
        """
        change.undone = True
        self._save()
        try:
            return await _UNDO[change.kind](call, change)
        except NotAllowedError:
            change.undone = False
            self._save()
            raise

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


def _is_own(change: Change, llm_context: llm.LLMContext) -> bool:
    """Return whether a change may be undone from here: same conversation, same user, or nobody known at the same device."""
    if change.undone or change.kind not in _UNDO or change.assistant != llm_context.assistant:
        return False
    conversation_id, user_id, device_id = _speaker(llm_context)
    if conversation_id is not None and change.conversation_id == conversation_id:
        return True
    if user_id is not None or change.user_id is not None:
        return change.user_id == user_id
    return change.device_id == device_id


def _speaker(llm_context: llm.LLMContext) -> tuple[str | None, str | None, str | None]:
    """Return conversation, user and device."""
    chat_log = current_chat_log.get()
    return (
        chat_log.conversation_id if chat_log else None,
        llm_context.context.user_id if llm_context.context else None,
        llm_context.device_id,
    )


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
    llm_context: llm.LLMContext,
    recorded: Recording,
    *,
    conversation_id: str | None = None,
) -> Iterator[None]:
    """Record what a call changes, also when it fails: states set in the speaker's context, and what the tool adds.

    Only exposed entities are kept; a change seen by two calls that ran side by side is kept once.
    """
    before = {state.entity_id: state for state in hass.states.async_all()}
    try:
        yield
    finally:
        touched = _single(hass, recorded.targets | changed_in_context(hass, before, llm_context), recorded.targets)
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
        current_id, user_id, device_id = _speaker(llm_context)
        for change in recorded.changes:
            change.assistant = llm_context.assistant
            change.user_id, change.device_id, change.conversation_id = user_id, device_id, current_id or conversation_id
            journal.add(change)


_SEEN: HassKey[dict[str, State]] = HassKey(f"{DOMAIN}_seen_changes")
"""The last recorded change of each entity."""


def changed_in_context(hass: HomeAssistant, before: Mapping[str, State], llm_context: llm.LLMContext) -> set[str]:
    """Return the entities whose states were changed in the context of a speaker."""
    if (context := llm_context.context) is None:
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

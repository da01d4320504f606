"""Change what is in a file of the configuration: write, load, verify, and put everything back when it does not work."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
import hashlib
from pathlib import Path
from time import time
from typing import Any

from homeassistant.const import STATE_OFF
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.storage import STORAGE_DIR
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER
from ..results import ToolError
from ..silence import log_unexpected
from ..toolbox.call import ToolCall
from ..toolbox.journal import Change
from .config_file import ConfigFile
from .copies import copy_keeper, new_name, read_copy
from .edit import Edit
from .editor import editors_lock
from .file import FileChange, change, decode
from .loading import AUTOMATIONS

_STORES: HassKey[dict[str, ConfigStore]] = HassKey(f"{DOMAIN}_config_stores")
_KINDS = {(False, True): "added", (True, True): "updated", (True, False): "removed"}
_VERBS = {"added": "adding", "updated": "changing", "removed": "removing"}


@dataclass(frozen=True, slots=True)
class VerifiedChange:
    """A change that was made, loaded and verified."""

    entity_id: str
    change: Change
    problem: str | None = None
    """What Home Assistant has against what was put back, as it had before."""


class ConfigStore:
    """The only writer of a file here."""

    def __init__(self, hass: HomeAssistant, file: ConfigFile) -> None:
        """Take the paths of the file and of its copies from Home Assistant."""
        self._hass = hass
        self._file = file
        self.path = Path(hass.config.path(file.name))
        self._copies = Path(hass.config.path(STORAGE_DIR, file.copies))
        self._lock = asyncio.Lock()
        self._last_id = 0

    @callback
    def new_id(self) -> str:
        """Return an id that no item has or had, in the form of those that the editor gives."""
        self._last_id = max(int(time() * 1000), self._last_id + 1)
        while self._entity_id(str(self._last_id)):
            self._last_id += 1
        return str(self._last_id)

    async def async_change(
        self, call: ToolCall, item_id: str, make: Callable[[str], Edit], *, may_be_off: bool = False
    ) -> VerifiedChange:
        """Change one item; raises ToolError, with everything as it was before, when it cannot be done.

        Once begun, it is finished or put back, also when nobody waits for it any more.
        """
        return await self._async_finish(self._async_change(call, item_id, make, may_be_off=may_be_off))

    async def async_restore(self, call: ToolCall, details: dict[str, Any]) -> VerifiedChange:
        """Undo a change: restore the whole file if it is as the change left it, otherwise the one item.

        What was there before is put back as it was, also where Home Assistant could not load it then either.
        """
        make = partial(_reverse, self._file, self._copies, details)
        work = self._async_change(call, details["id"], make, may_be_off=True, may_be_broken=True)
        return await self._async_finish(work)

    async def _async_finish[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work that goes on when the waiting is cancelled."""
        task = self._hass.async_create_task(work, f"change of {self._file.noun}")
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def _async_change(
        self,
        call: ToolCall,
        item_id: str,
        make: Callable[[str], Edit],
        *,
        may_be_off: bool,
        may_be_broken: bool = False,
    ) -> VerifiedChange:
        """Write, load and verify under the lock."""
        async with self._lock:
            may_be_off = may_be_off or self._is_off(item_id)
            entity_id = self._entity_id(item_id)
            name = new_name()
            written = await self._async_write(partial(change, self.path, make, copy_keeper(self._copies, name)))
            what = f"{_VERBS[_kind(written.edit)]} {self._file.noun}"
            made = Change(self._file.kind, what, _details(item_id, name, written))
            call.recording.changes.append(made)
            problem = await self._async_load(item_id, gone=written.edit.after is None, may_be_off=may_be_off)
            if problem and not may_be_broken:
                await self._async_put_back(made.details)
                call.recording.changes.remove(made)
                raise ToolError(f"{problem} Everything was put back as it was before.")
            entity_id = self._entity_id(item_id) or entity_id
        self._hass.bus.async_fire(
            self._file.event,
            {"id": item_id, "entity_id": entity_id, "change": _kind(written.edit)},
            context=call.llm_context.context,
        )
        return VerifiedChange(entity_id, made, problem)

    async def _async_write(self, write: Callable[[], FileChange]) -> FileChange:
        """Write while the editor of Home Assistant does not."""
        async with AsyncExitStack() as stack:
            if lock := editors_lock(self._hass, self._file.domain):
                await stack.enter_async_context(lock)
            return await self._hass.async_add_executor_job(write)

    async def _async_put_back(self, details: dict[str, Any]) -> None:
        """Bring back what was there before a change that did not work."""
        make = partial(_reverse, self._file, self._copies, details)
        written = await self._async_write(partial(change, self.path, make))
        if problem := await self._async_load(details["id"], gone=written.edit.after is None, may_be_off=True):
            LOGGER.warning("What was put back into %s is not loaded: %s", self._file.name, problem)

    async def _async_load(self, item_id: str, *, gone: bool, may_be_off: bool) -> str | None:
        """Let Home Assistant load what was written; return what is wrong then."""
        if gone:
            if self._entity_id(item_id):
                await self._file.async_remove(self._hass, item_id)
            return None
        try:
            await self._file.async_reload(self._hass, item_id)
        except Exception as err:  # noqa: BLE001 - whatever other parts of the configuration raise, this is put back
            if not isinstance(err, HomeAssistantError):
                log_unexpected(f"while {self._file.domain}s were loaded")
            return f"Home Assistant could not load its configuration of {self._file.domain}s."
        return self._file.problem(self._hass, item_id, may_be_off=may_be_off)

    @callback
    def _entity_id(self, item_id: str) -> str:
        """Return the entity of an item, or an empty text."""
        return self._file.entity_id(self._hass, item_id)

    @callback
    def _is_off(self, item_id: str) -> bool:
        """Return whether an item is turned off, which it may stay."""
        state = self._hass.states.get(self._entity_id(item_id))
        return state is not None and state.state == STATE_OFF


@callback
def async_get_store(hass: HomeAssistant, file: ConfigFile = AUTOMATIONS) -> ConfigStore:
    """Return the store of a file of this Home Assistant."""
    stores = hass.data.setdefault(_STORES, {})
    if file.name not in stores:
        stores[file.name] = ConfigStore(hass, file)
    return stores[file.name]


def _reverse(file: ConfigFile, copies: Path, details: dict[str, Any], text: str) -> Edit:
    """Return the text as it was before a change."""
    before, after = details["before"], details["after"]
    if _digest(text) == details["digest"] and (copy := read_copy(copies, details["copy"])) is not None:
        return Edit(decode(copy)[1], after, before, details["previous"])
    if before is None:
        return file.remove(text, details["id"], after)
    if after is None:
        return file.insert(text, before, details["previous"])
    return file.replace(text, details["id"], before, after)


def _details(item_id: str, copy: str, written: FileChange) -> dict[str, Any]:
    """Return the details that undoing the change needs, as the journal keeps them."""
    edit = written.edit
    return {
        "id": item_id,
        "before": edit.before,
        "after": edit.after,
        "previous": edit.previous,
        "copy": copy,
        "digest": _digest(edit.text),
    }


def _digest(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def _kind(edit: Edit) -> str:
    """Return the change of the event: added, updated or removed."""
    return _KINDS[edit.before is not None, edit.after is not None]

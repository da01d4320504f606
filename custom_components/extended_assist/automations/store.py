"""Change the automations of the user: write, load, verify, and put everything back when it does not work."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
import hashlib
from pathlib import Path
from time import time
from typing import Any

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.config import AUTOMATION_CONFIG_PATH
from homeassistant.const import CONF_ID, SERVICE_RELOAD, STATE_OFF
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.storage import STORAGE_DIR
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER
from ..results import ToolError
from ..silence import log_unexpected
from ..toolbox.call import ToolCall
from ..toolbox.journal import AUTOMATION, Change
from . import COMPONENT
from .copies import copy_keeper, new_name, read_copy
from .edit import Edit, insert, remove, replace
from .editor import editors_lock
from .file import FileChange, change, decode

EVENT_CHANGED = f"{DOMAIN}_automation_changed"

_STORE: HassKey[AutomationStore] = HassKey(f"{DOMAIN}_automations")
_KINDS = {(False, True): "added", (True, True): "updated", (True, False): "removed"}


@dataclass(frozen=True, slots=True)
class VerifiedChange:
    """A change that was made, loaded and verified."""

    entity_id: str
    change: Change
    problem: str | None = None
    """What Home Assistant has against what was put back, as it had before."""


class AutomationStore:
    """The only writer of automations here."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take the paths of the file and of its copies from Home Assistant."""
        self._hass = hass
        self.path = Path(hass.config.path(AUTOMATION_CONFIG_PATH))
        self._copies = Path(hass.config.path(STORAGE_DIR, f"{DOMAIN}.automations"))
        self._lock = asyncio.Lock()
        self._last_id = 0

    @callback
    def new_id(self) -> str:
        """Return an id that no automation has or had, in the form of those that the editor gives."""
        registry = er.async_get(self._hass)
        taken = {entity.unique_id for entity in self._hass.data[COMPONENT].entities}
        self._last_id = max(int(time() * 1000), self._last_id + 1)
        while str(self._last_id) in taken or registry.async_get_entity_id(
            AUTOMATION_DOMAIN, AUTOMATION_DOMAIN, str(self._last_id)
        ):
            self._last_id += 1
        return str(self._last_id)

    async def async_change(
        self,
        call: ToolCall,
        automation_id: str,
        make: Callable[[str], Edit],
        *,
        may_be_off: bool = False,
        may_be_broken: bool = False,
    ) -> VerifiedChange:
        """Change one automation; raises ToolError, with everything as it was before, when it cannot be done.

        One that Home Assistant could not load before may stay so. Once begun, it is finished or put back, also when nobody waits for it any more.
        """
        work = self._async_change(call, automation_id, make, may_be_off=may_be_off, may_be_broken=may_be_broken)
        return await self._async_finish(work)

    async def async_restore(self, call: ToolCall, details: dict[str, Any]) -> VerifiedChange:
        """Undo a change: restore the whole file if it is as the change left it, otherwise the one automation.

        What was there before is put back as it was, also where Home Assistant could not load it then either.
        """
        make = partial(_reverse, self._copies, details)
        work = self._async_change(call, details["id"], make, may_be_off=True, may_be_broken=True)
        return await self._async_finish(work)

    async def _async_finish[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work that goes on when the waiting is cancelled."""
        task = self._hass.async_create_task(work, "change of an automation")
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def _async_change(
        self,
        call: ToolCall,
        automation_id: str,
        make: Callable[[str], Edit],
        *,
        may_be_off: bool,
        may_be_broken: bool = False,
    ) -> VerifiedChange:
        """Write, load and verify under the lock."""
        async with self._lock:
            may_be_off = may_be_off or self._is_off(automation_id)
            entity_id = self._entity_id(automation_id)
            name = new_name()
            written = await self._async_write(partial(change, self.path, make, copy_keeper(self._copies, name)))
            made = Change(AUTOMATION, _what(written.edit), _details(automation_id, name, written))
            call.recording.changes.append(made)
            problem = await self._async_load(automation_id, gone=written.edit.after is None, may_be_off=may_be_off)
            if problem and not may_be_broken:
                await self._async_put_back(made.details)
                call.recording.changes.remove(made)
                raise ToolError(f"{problem} Everything was put back as it was before.")
            entity_id = self._entity_id(automation_id) or entity_id
        self._hass.bus.async_fire(
            EVENT_CHANGED,
            {"id": automation_id, "entity_id": entity_id, "change": _kind(written.edit)},
            context=call.llm_context.context,
        )
        return VerifiedChange(entity_id, made, problem)

    async def _async_write(self, write: Callable[[], FileChange]) -> FileChange:
        """Write while the editor of Home Assistant does not."""
        async with AsyncExitStack() as stack:
            if lock := editors_lock(self._hass):
                await stack.enter_async_context(lock)
            return await self._hass.async_add_executor_job(write)

    async def _async_put_back(self, details: dict[str, Any]) -> None:
        """Bring back what was there before a change that did not work."""
        make = partial(_reverse, self._copies, details)
        written = await self._async_write(partial(change, self.path, make))
        if problem := await self._async_load(details["id"], gone=written.edit.after is None, may_be_off=True):
            LOGGER.warning("An automation was put back into the file, but is not loaded: %s", problem)

    async def _async_load(self, automation_id: str, *, gone: bool, may_be_off: bool) -> str | None:
        """Let Home Assistant load what was written; return what is wrong then."""
        component, registry = self._hass.data[COMPONENT], er.async_get(self._hass)
        if gone:
            if entity_id := self._entity_id(automation_id):
                await component.async_remove_entity(entity_id)
                registry.async_remove(entity_id)
            return None
        try:
            await self._hass.services.async_call(
                AUTOMATION_DOMAIN, SERVICE_RELOAD, {CONF_ID: automation_id}, blocking=True
            )
        except Exception as err:  # noqa: BLE001 - whatever other parts of the configuration raise, this is put back
            if not isinstance(err, HomeAssistantError):
                log_unexpected("while automations were loaded")
            return "Home Assistant could not load its configuration of automations."
        entity = component.get_entity(self._entity_id(automation_id))
        if entity is None:
            return "Home Assistant did not load the automation."
        if not entity.available:
            return "Home Assistant loaded the automation as invalid; its repairs say why."
        starts_off = not cv.boolean((entity.raw_config or {}).get("initial_state", True))
        if not entity.is_on and not (starts_off or may_be_off):
            return "Home Assistant loaded the automation, but it did not become active."
        return None

    @callback
    def _entity_id(self, automation_id: str) -> str:
        """Return the entity of an automation, or an empty text."""
        registry = er.async_get(self._hass)
        return registry.async_get_entity_id(AUTOMATION_DOMAIN, AUTOMATION_DOMAIN, automation_id) or ""

    @callback
    def _is_off(self, automation_id: str) -> bool:
        """Return whether an automation is turned off, which it may stay."""
        state = self._hass.states.get(self._entity_id(automation_id))
        return state is not None and state.state == STATE_OFF


@callback
def async_get_store(hass: HomeAssistant) -> AutomationStore:
    """Return the store of this Home Assistant."""
    if (store := hass.data.get(_STORE)) is None:
        store = hass.data[_STORE] = AutomationStore(hass)
    return store


def _reverse(copies: Path, details: dict[str, Any], text: str) -> Edit:
    """Return the text as it was before a change."""
    before, after = details["before"], details["after"]
    if _digest(text) == details["digest"] and (copy := read_copy(copies, details["copy"])) is not None:
        return Edit(decode(copy)[1], after, before, details["previous"])
    if before is None:
        return remove(text, details["id"], after)
    if after is None:
        return insert(text, before, details["previous"])
    return replace(text, details["id"], before, after)


def _details(automation_id: str, copy: str, written: FileChange) -> dict[str, Any]:
    """Return the details that undoing the change needs, as the journal keeps them."""
    edit = written.edit
    return {
        "id": automation_id,
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


def _what(edit: Edit) -> str:
    """Return the title of the change in the journal."""
    return {"added": "adding", "updated": "changing", "removed": "removing"}[_kind(edit)] + " an automation"

"""Stores of the YAML files: each makes the changes of one file, one after the other, and recovers interrupted ones."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import time
from typing import Any

from homeassistant.const import STATE_OFF
from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.ulid import ulid_now

from ..calls.call import ToolCall
from ..calls.journal import Change
from ..const import DOMAIN
from ..exposure.safe_log import log_unexpected
from ..results import ToolError
from .commit import Settler
from .edit import Edit
from .loading import AUTOMATIONS, FILES, ConfigFile, UsedBlueprint, registered
from .pending_changes import SETTINGS, ChangeOutcome, Intent, Settled
from .revert import restore

UNSEEN = "unseen"
"""Key in the details of a change: the user did not want the new item to be exposed; the change can be undone all the same."""

_STORES: HassKey[dict[str, ConfigStore]] = HassKey(f"{DOMAIN}_config_stores")
_KINDS = {(False, True): "added", (True, True): "updated", (True, False): "removed"}
_SPEAKER = ("assistant", "user_id", "device_id", "conversation_id")
_FAILED = "The change failed unexpectedly; the details are in Home Assistant's log."
_UNCERTAIN = (
    "{} was cut off, and what became of it is not certain yet. It is finished or taken back when Home Assistant starts "
    "again. Change nothing in the file {} until then, do not do it again, and tell the user."
)

_CANCELLED = (
    "The change was broken off. It is finished or taken back, and which of the two is told with the next answer. Do not make "
    "it again before."
)


@dataclass(frozen=True, slots=True)
class VerifiedChange:
    """A change that Home Assistant has loaded and that was verified."""

    entity_id: str
    change: Change
    problem: str | None = None
    """Home Assistant's problem with a restored item, which it had before as well."""


class ConfigStore:
    """The only writer of a file in this integration."""

    def __init__(self, hass: HomeAssistant, file: ConfigFile) -> None:
        """Take the file."""
        self._hass = hass
        self._file = file
        self._settler = Settler(hass, file)
        self._last_id = 0

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return self._settler.path

    @callback
    def new_id(self) -> str:
        """Return a new id, in the form of those that Home Assistant's editor makes: the time in milliseconds."""
        self._last_id = max(int(time() * 1000), self._last_id + 1)
        while self._file.entity_id(self._hass, str(self._last_id)):
            self._last_id += 1
        return str(self._last_id)

    async def async_change(
        self,
        call: ToolCall,
        item_id: str,
        make: Callable[[str], Edit],
        *,
        may_be_off: bool = False,
        may_be_broken: bool = False,
        expose: bool | None = None,
        blueprint: UsedBlueprint | None = None,
    ) -> VerifiedChange:
        """Change one item; raises ToolError, with everything as it was before, when it cannot be done.

        With may_be_broken, the item may stay one that Home Assistant cannot load. A blueprint must be the one that was checked. A
        change that has started is finished or rolled back even if the caller is cancelled.
        """
        intent = self._intent(call, item_id)
        intent.may_be_off, intent.may_be_broken, intent.expose = may_be_off, may_be_broken, expose
        if expose is False:
            intent.change.details[UNSEEN] = True
        return await self._async_finish(self._async_change(call, intent, make, blueprint))

    async def async_restore(self, call: ToolCall, undone: Change) -> VerifiedChange:
        """Undo a change: restore the whole file if it is as the change left it, otherwise the one item.

        The former content is restored even if Home Assistant could not load it. Raises ChangedSinceError if somebody else has
        changed the same parts since.
        """
        intent = self._intent(call, undone.details["id"])
        intent.may_be_off = intent.may_be_broken = True
        intent.expose, intent.undoes = True if undone.details["after"] is None else None, undone.id
        return await self._async_finish(self._async_change(call, intent, self.undoing(undone)))

    def undoing(self, undone: Change) -> Callable[[str], Edit]:
        """Return a function that removes one change from a text; it blocks."""
        return partial(restore, self._file, self._settler.copies, undone.details)

    async def async_recover(self) -> None:
        """Finish or roll back interrupted changes, and notify the user."""
        if self._file.domain in self._hass.config.components:
            async with self._settler.lock:
                await self._settler.async_settle_earlier()

    async def async_clear(self) -> None:
        """Delete the log of intents."""
        async with self._settler.lock:
            await self._settler.async_clear()

    def _intent(self, call: ToolCall, item_id: str) -> Intent:
        """Return the intent of a call, whose effect on the file is not known yet."""
        speaker = {name: getattr(call.caller, name) for name in _SPEAKER}
        details = {"id": item_id, "copy": ulid_now()}
        change = Change(
            self._file.kind, f"changing {self._file.noun}", details, **speaker, entry_id=call.options.entry_id
        )
        return Intent(change=change, before="")

    async def _async_finish[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run work in a task of its own, which goes on if the caller is cancelled."""
        task = self._hass.async_create_task(work, f"change of {self._file.noun}")
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled() or (current := asyncio.current_task()) is None or current.cancelling():
                raise  # Nobody waits for the result any more.
            raise ToolError(_CANCELLED) from None

    async def _async_change(
        self, call: ToolCall, intent: Intent, make: Callable[[str], Edit], blueprint: UsedBlueprint | None = None
    ) -> VerifiedChange:
        """Make a change under the lock, then record it with the call and fire its event."""
        item_id = intent.change.details["id"]
        async with self._settler.lock:
            if not await self._settler.async_settle_earlier():
                raise ToolError(_UNCERTAIN.format("An earlier change", self._file.name))
            entity_id = self._file.entity_id(self._hass, item_id)
            state = self._hass.states.get(entity_id)
            intent.may_be_off |= state is not None and state.state == STATE_OFF
            if settings := registered(self._hass, entity_id):
                intent.change.details[SETTINGS] = settings
            settled = await self._async_settled(intent, self._settler.async_make(intent, make, blueprint))
        if settled.outcome is ChangeOutcome.NOT_MADE:
            raise ToolError(f"{settled.problem or _FAILED} Everything was put back as it was before.")
        if settled.outcome is ChangeOutcome.UNCLEAR:
            raise ToolError(f"{_FAILED} Somebody else changed the same at that moment. Look at it again.")
        if intent.undoes is None:
            call.recording.changes.append(intent.change)
        entity_id = settled.entity_id or entity_id
        details = intent.change.details
        kind = _KINDS[details["before"] is not None, details["after"] is not None]
        about = {"id": item_id, "entity_id": entity_id, "change": kind}
        self._hass.bus.async_fire(self._file.event, about, context=call.llm_context.context)
        return VerifiedChange(entity_id, intent.change, settled.problem)

    async def _async_settled(self, intent: Intent, making: Coroutine[Any, Any, Settled]) -> Settled:
        """Make a change, and settle it whatever interrupts it."""
        try:
            return await making
        except asyncio.CancelledError:
            if not self._hass.is_stopping:  # Otherwise the next start recovers it.
                self._hass.async_create_task(self.async_recover(), f"end of a change of {self._file.noun}")
            raise
        except ToolError:
            if intent.is_done:
                raise
            return await self._async_again(intent)
        except Exception:  # noqa: BLE001 - whatever interrupted it, the change must be settled
            log_unexpected(f"while {self._file.name} was changed")
            return await self._async_again(intent)

    async def _async_again(self, intent: Intent) -> Settled:
        """Settle an interrupted change; raises ToolError when that fails too."""
        try:
            return await self._settler.async_settle(intent)
        except Exception as err:
            log_unexpected(f"while a change of {self._file.name} was brought to an end")
            raise ToolError(_UNCERTAIN.format("The change", self._file.name)) from err


@callback
def async_get_store(hass: HomeAssistant, file: ConfigFile = AUTOMATIONS) -> ConfigStore:
    """Return the store of a file, which is made when it is first needed."""
    stores = hass.data.setdefault(_STORES, {})
    if file.name not in stores:
        stores[file.name] = ConfigStore(hass, file)
    return stores[file.name]


async def async_recover(hass: HomeAssistant) -> None:
    """Finish or roll back the interrupted changes of all files."""
    for file in FILES.values():
        await async_get_store(hass, file).async_recover()


async def async_forget(hass: HomeAssistant) -> None:
    """Delete the logs of intents of all files."""
    for file in FILES.values():
        await async_get_store(hass, file).async_clear()

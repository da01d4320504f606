"""Commit a change of a YAML file: write it, load it, verify it, expose and record it; or roll it back.

An intent is written to a log on the disk before the file is changed. If anything interrupts the change, the log is used to finish it
or to roll it back: at once while Home Assistant runs, otherwise after its next start.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from inspect import getclosurevars
from pathlib import Path

from homeassistant.const import EVENT_HOMEASSISTANT_CLOSE
from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.storage import STORAGE_DIR

from ..calls.journal import async_get_journal
from ..const import LOGGER
from ..exposure.safe_log import log_unexpected
from ..ha_compat.exposed_entities import async_expose_entity
from ..results import ToolError
from .edit import Edit
from .file import change, decode, digest, keep_copy
from .loading import ConfigFile, UsedBlueprint, register
from .pending_changes import (
    SETTINGS,
    ChangeOutcome,
    Intent,
    Settled,
    UnreadableError,
    notify_interrupted,
    notify_unreadable,
    read_intents,
    write_intents,
)
from .revert import TextState, restore, text_state

KEEP = 300.0
"""Seconds for which the intent of a finished change stays in the log: Home Assistant writes its own stores with a delay."""

_KINDS = {(False, True): "adding", (True, True): "changing", (True, False): "removing"}
_SAME_ID = (
    "Home Assistant runs something else under this id: another file of the configuration, such as a package, has it too. "
    "Tell the user to give one of the two another id."
)

_OTHER_BLUEPRINT = "The blueprint was changed at this moment, and would do something else than was checked."


class Settler:
    """Makes the changes of one file, and settles those that were interrupted; the caller must hold `lock`."""

    def __init__(self, hass: HomeAssistant, file: ConfigFile) -> None:
        """Take the file."""
        self._hass = hass
        self._file = file
        self._not_loaded = f"Home Assistant could not load its configuration of {file.domain}s."
        self._intents: list[Intent] = []
        self._unreported: list[Intent] = []
        """Changes that ended while Home Assistant was stopping, so that nobody was informed of their outcome."""
        self._is_read = False
        self._stop_timer: CALLBACK_TYPE | None = None
        self.lock = asyncio.Lock()
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_CLOSE, self._async_close)

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return Path(self._hass.config.path(self._file.name))

    @property
    def copies(self) -> Path:
        """Return the folder of the copies of the file."""
        return Path(self._hass.config.path(STORAGE_DIR, self._file.copies))

    @property
    def _log(self) -> Path:
        """Return the path of the log of intents."""
        return Path(self._hass.config.path(STORAGE_DIR, f"{self._file.copies}.unfinished"))

    async def async_make(
        self, intent: Intent, make: Callable[[str], Edit], blueprint: UsedBlueprint | None = None
    ) -> Settled:
        """Write a change and complete it; raises ToolError when it cannot be written.

        The change is rolled back if its blueprint is not the one that was checked any more.
        """
        self._intents.append(intent)
        try:
            await self._async_write(make, partial(self._prepare, intent))
        except ToolError:
            await self._async_end(intent, is_kept=False)
            raise
        return await self._async_complete(intent, blueprint=blueprint)

    async def async_settle(self, intent: Intent) -> Settled:
        """Finish an interrupted change, or roll it back, by comparing it with the content of the file."""
        if not intent.before:  # The file was not touched.
            await self._async_end(intent, is_kept=False)
            return Settled(ChangeOutcome.NOT_MADE)
        details = intent.change.details
        match await self._async_blocking(partial(text_state, self._file, self.path, intent)):
            case TextState.AFTER:
                return await self._async_complete(intent)
            case TextState.EDITED:
                return await self._async_complete(intent, is_ours=False)
            case TextState.BEFORE:
                if problem := await self._async_load(details["id"], details["before"], may_be_off=True):
                    LOGGER.debug("Home Assistant does not load the content of %s: %s", self._file.name, problem)
                await self._async_end(intent, is_kept=False)
                return Settled(ChangeOutcome.NOT_MADE)
        await self._async_end(intent, is_kept=False)
        return Settled(ChangeOutcome.UNCLEAR)

    async def async_settle_earlier(self) -> bool:
        """Settle changes that were interrupted earlier, and notify the user; return whether all of them are settled."""
        if is_first := not self._is_read:
            try:
                self._intents = await self._async_blocking(partial(read_intents, self._log))
            except UnreadableError:
                LOGGER.error("%s cannot be read; it was renamed", self._log)
                notify_unreadable(self._hass, self._file)
            self._is_read = True
        for intent in list(self._intents):
            try:
                if not intent.is_done:
                    settled = await self.async_settle(intent)
                    notify_interrupted(self._hass, self._file, intent.change, settled)
                    intent.told = settled.outcome
                    if intent.before and intent not in self._intents:
                        self._intents.append(intent)
                    await self._async_store()
                elif is_first:
                    await self._async_repeat(intent)
            except Exception:  # noqa: BLE001 - one change must not keep the others from being settled
                log_unexpected(f"while a change of {self._file.name} was brought to an end")
                notify_interrupted(self._hass, self._file, intent.change, Settled(ChangeOutcome.UNCLEAR))
        return all(intent.is_done for intent in self._intents)

    async def async_clear(self) -> None:
        """Delete all intents, also from the log."""
        self._intents = []
        await self._async_store()

    async def _async_repeat(self, intent: Intent) -> None:
        """Repeat those effects of a finished change that Home Assistant may not have stored before it ended."""
        if intent.told not in {None, ChangeOutcome.COMPLETED}:
            notify_interrupted(self._hass, self._file, intent.change, Settled(ChangeOutcome(intent.told)))
            return
        found = await self._async_blocking(partial(text_state, self._file, self.path, intent))
        if found not in {TextState.AFTER, TextState.EDITED}:
            return
        item_id = intent.change.details["id"]
        if intent.change.details["after"] is None and self._file.running(self._hass, item_id) is None:
            await self._async_remove(item_id)
        entity_id = await self._async_record(intent)
        if intent.told:
            notify_interrupted(self._hass, self._file, intent.change, Settled(ChangeOutcome.COMPLETED, entity_id))

    def _prepare(self, intent: Intent, before: bytes, edit: Edit) -> None:
        """Store a copy of the file, and write the intent to the log; blocks."""
        details = intent.change.details
        intent.before = digest(decode(before)[1])
        intent.change.what = f"{_KINDS[edit.before is not None, edit.after is not None]} {self._file.noun}"
        if edit.after is not None:
            details.pop(SETTINGS, None)
        details |= {"before": edit.before, "after": edit.after, "previous": edit.previous, "digest": digest(edit.text)}
        keep_copy(self.copies, details["copy"], before)
        write_intents(self._log, self._intents)

    async def _async_write(
        self, make: Callable[[str], Edit], prepare: Callable[[bytes, Edit], None] | None = None
    ) -> None:
        """Change the file under the lock of Home Assistant's editor."""
        async with AsyncExitStack() as stack:
            if lock := editors_lock(self._hass, self._file.domain):
                await stack.enter_async_context(lock)
            await self._async_blocking(partial(change, self.path, make, prepare))

    async def _async_complete(
        self, intent: Intent, *, is_ours: bool = True, blueprint: UsedBlueprint | None = None
    ) -> Settled:
        """Have a written change loaded, verify and record it, or roll it back; with is_ours false, somebody has edited it since."""
        details = intent.change.details
        item_id = details["id"]
        lines = details["after"] if is_ours else ""
        problem = await self._async_load(item_id, lines, may_be_off=intent.may_be_off)
        if blueprint is not None and not await blueprint.async_is_loaded():
            problem = _OTHER_BLUEPRINT
        if problem and is_ours and (not intent.may_be_broken or problem in (self._not_loaded, _OTHER_BLUEPRINT)):
            await self._async_write(partial(restore, self._file, self.copies, details))
            if failure := await self._async_load(item_id, details["before"], may_be_off=True):
                LOGGER.warning("Home Assistant does not load the restored content of %s: %s", self._file.name, failure)
            await self._async_end(intent, is_kept=False)
            return Settled(ChangeOutcome.NOT_MADE, problem=problem)
        entity_id = await self._async_record(intent)
        await self._async_end(intent, is_kept=True)
        return Settled(ChangeOutcome.COMPLETED, entity_id, problem)

    async def _async_record(self, intent: Intent) -> str:
        """Expose the new item if asked to, and add the change to the journal so that it can be undone; return the entity id."""
        journal = await async_get_journal(self._hass)
        undone = journal.find(intent.undoes) if intent.undoes else None
        entity_id = self._file.entity_id(self._hass, intent.change.details["id"])
        if entity_id and undone and (settings := undone.details.get(SETTINGS)):
            entity_id = register(self._hass, entity_id, settings)
        if intent.expose is not None and entity_id and intent.change.assistant:
            async_expose_entity(self._hass, intent.change.assistant, entity_id, intent.expose)
        if intent.undoes is None:
            journal.add(intent.change)
        elif undone:
            journal.mark(undone, undone=True)
        await journal.async_save()
        return entity_id

    async def _async_load(self, item_id: str, lines: str | None, *, may_be_off: bool) -> str | None:
        """Have Home Assistant load an item, and compare the running configuration with its lines; return the problem, if any.

        None as lines means that the item was removed; empty lines are not compared.
        """
        try:
            await self._file.async_reload(self._hass, item_id)
        except Exception as err:  # noqa: BLE001 - other parts of the configuration may raise anything
            if not isinstance(err, HomeAssistantError):
                log_unexpected(f"while {self._file.domain}s were loaded")
            if lines is not None:
                return self._not_loaded
            await self._async_remove(item_id)
        if lines is None:
            if self._file.running(self._hass, item_id) is not None:
                return _SAME_ID
            await self._async_remove(item_id)
            return None
        if problem := self._file.problem(self._hass, item_id, may_be_off=may_be_off):
            return problem
        if lines:
            written = await self._async_blocking(partial(self._file.load, self.path, item_id, lines))
            expected = await self._file.async_as_run(self._hass, item_id, written)
            if expected is None or expected != self._file.running(self._hass, item_id):
                return _SAME_ID
        return None

    async def _async_remove(self, item_id: str) -> None:
        """Remove the entity of an item that was removed, if there still is one."""
        if self._file.entity_id(self._hass, item_id):
            await self._file.async_remove(self._hass, item_id)

    async def _async_end(self, intent: Intent, *, is_kept: bool) -> None:
        """Mark an intent as done; one that was not made leaves the log."""
        intent.is_done = True
        if not is_kept:
            self._intents.remove(intent)
        if not self._hass.is_stopping:  # Otherwise the journal is stored at the very end.
            await self._async_store()
        if self._hass.is_stopping and intent.before:  # Stopping may have begun while the log was written.
            self._unreported.append(intent)
        if self._stop_timer:
            self._stop_timer()
        self._stop_timer = async_call_later(self._hass, KEEP, self._async_timer)

    async def _async_timer(self, _: datetime) -> None:
        """Drop finished intents: by now, Home Assistant has written its own stores."""
        async with self.lock:
            self._stop_timer = None
            await self._async_forget_done()

    async def _async_close(self, _: Event) -> None:
        """Drop finished intents once Home Assistant has stored everything, except those that the user has to be informed of."""
        if self._stop_timer:
            self._stop_timer()
        if not self.lock.locked():
            for intent in self._unreported:
                intent.is_done = False
            self._intents = [*(one for one in self._intents if one not in self._unreported), *self._unreported]
            await self._async_forget_done()

    async def _async_forget_done(self) -> None:
        """Drop the intents that are done."""
        if self._intents:
            self._intents = [intent for intent in self._intents if not intent.is_done]
            await self._async_store()

    async def _async_store(self) -> None:
        """Write the log of intents."""
        await self._async_blocking(partial(write_intents, self._log, self._intents))

    async def _async_blocking[T](self, work: Callable[[], T]) -> T:
        """Run blocking work in the executor; when this is cancelled, wait until the work has ended."""
        job = asyncio.ensure_future(self._hass.async_add_executor_job(work))
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            await asyncio.wait({job})
            raise


@callback
def editors_lock(hass: HomeAssistant, domain: str) -> asyncio.Lock | None:
    """Return the lock under which Home Assistant's editor of a domain writes; None if the editor is not set up."""
    url = f"/api/config/{domain}/config/{{config_key}}"
    for route in hass.http.app.router.routes():
        if route.resource is not None and route.resource.canonical == url:
            lock = getattr(getclosurevars(route.handler).nonlocals.get("view"), "mutation_lock", None)
            return lock if isinstance(lock, asyncio.Lock) else None
    return None

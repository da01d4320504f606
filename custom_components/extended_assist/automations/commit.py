"""Bring a change of a file of the configuration to an end: loaded, verified, exposed and recorded, or as if nothing had been.

What is to be done is on the disk before the file is touched. Whatever breaks it off, it is finished or taken back from
there: at once while Home Assistant runs, otherwise after its next start.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime
from enum import Enum, auto
from functools import partial
from inspect import getclosurevars
from pathlib import Path
from typing import Any

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
from .config_file import ConfigFile, UsedBlueprint
from .edit import Edit
from .file import change, decode, digest, keep_copy, read, read_copy
from .pending_changes import (
    SETTINGS,
    ChangeOutcome,
    Intent,
    Settled,
    UnreadableError,
    read_intents,
    tell_cut_off,
    tell_unreadable,
    write_intents,
)
from .registry_settings import register
from .revert import reverse
from .yaml_outline import outline_of
from .yaml_positions import Meaning, index_yaml

KEEP = 300.0
"""Seconds for which a change that is done is kept in mind: until then, Home Assistant may not have stored its own part."""

_KINDS = {(False, True): "adding", (True, True): "changing", (True, False): "removing"}
_SAME_ID = (
    "Home Assistant runs something else under this id: another file of the configuration, such as a package, has it too. "
    "Tell the user to give one of the two another id."
)

_OTHER_BLUEPRINT = "The blueprint was changed at this moment, and would do something else than was checked."


class Settler:
    """Makes the changes of one file, and brings to an end what was cut off; whoever has it do so holds its lock."""

    def __init__(self, hass: HomeAssistant, file: ConfigFile) -> None:
        """Take the file."""
        self._hass = hass
        self._file = file
        self._intents: list[Intent] = []
        self._unheard: list[Intent] = []
        """What ended while Home Assistant was stopping, so that nobody hears of it."""
        self._is_read = False
        self._stop_timer: CALLBACK_TYPE | None = None
        self.lock = asyncio.Lock()
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_CLOSE, self._async_close)

    @property
    def path(self) -> Path:
        """Return where the file is."""
        return Path(self._hass.config.path(self._file.name))

    @property
    def copies(self) -> Path:
        """Return the folder of its copies."""
        return Path(self._hass.config.path(STORAGE_DIR, self._file.copies))

    @property
    def _stored(self) -> Path:
        """Return where it is stored what was begun."""
        return Path(self._hass.config.path(STORAGE_DIR, self._file.unfinished))

    @property
    def _not_read(self) -> str:
        """Return the sentence for a time in which Home Assistant cannot read its configuration, which passes."""
        return f"Home Assistant could not load its configuration of {self._file.domain}s."

    async def async_make(
        self, intent: Intent, make: Callable[[str], Edit], blueprint: UsedBlueprint | None = None
    ) -> Settled:
        """Write a change and bring it to an end; raises ToolError where it cannot be written, which is an end too.

        With a blueprint that has become another one since, it is taken back.
        """
        self._intents.append(intent)
        try:
            await self._async_write(make, partial(self._prepare, intent))
        except ToolError:
            await self._async_end(intent, is_kept=False)
            raise
        return await self._async_complete(intent, blueprint=blueprint)

    async def async_settle(self, intent: Intent) -> Settled:
        """Finish a change that broke off, or take it back, from what the file holds."""
        if not intent.before:  # Nothing of it was begun.
            await self._async_end(intent, is_kept=False)
            return Settled(ChangeOutcome.NOT_MADE)
        details = intent.change.details
        match await self._async_blocking(partial(look, self._file, self.path, intent)):
            case TextState.AFTER:
                return await self._async_complete(intent)
            case TextState.EDITED:
                return await self._async_complete(intent, is_ours=False)
            case TextState.BEFORE:
                if problem := await self._async_load(details["id"], details["before"], may_be_off=True):
                    LOGGER.debug("What %s holds is not loaded: %s", self._file.name, problem)
                await self._async_end(intent, is_kept=False)
                return Settled(ChangeOutcome.NOT_MADE)
        await self._async_end(intent, is_kept=False)
        return Settled(ChangeOutcome.UNCLEAR)

    async def async_settle_earlier(self) -> bool:
        """Bring to an end what was cut off before, and tell of it; return whether that worked."""
        if is_first := not self._is_read:
            try:
                self._intents = await self._async_blocking(partial(read_intents, self._stored))
            except UnreadableError:
                LOGGER.error("%s cannot be read; it is kept beside its place", self._stored)
                tell_unreadable(self._hass, self._file)
            self._is_read = True
        for intent in list(self._intents):
            try:
                if not intent.is_done:
                    await self._async_settle_and_tell(intent)
                elif is_first:
                    await self._async_repeat(intent)
            except Exception:  # noqa: BLE001 - whatever is in its way, other changes are looked after
                log_unexpected(f"while a change of {self._file.name} was brought to an end")
                tell_cut_off(self._hass, self._file, intent.change, Settled(ChangeOutcome.UNCLEAR))
        return all(intent.is_done for intent in self._intents)

    async def async_clear(self) -> None:
        """Forget what was begun, also on the disk."""
        self._intents = []
        await self._async_store()

    async def _async_settle_and_tell(self, intent: Intent) -> None:
        """Bring one change to an end that was cut off."""
        settled = await self.async_settle(intent)
        tell_cut_off(self._hass, self._file, intent.change, settled)
        intent.told = settled.outcome
        if intent.before and intent not in self._intents:
            self._intents.append(intent)
        await self._async_store()

    async def _async_repeat(self, intent: Intent) -> None:
        """Do again what Home Assistant may not have stored of a change that is done."""
        if intent.told not in {None, ChangeOutcome.COMPLETED}:
            tell_cut_off(self._hass, self._file, intent.change, Settled(ChangeOutcome(intent.told)))
            return
        found = await self._async_blocking(partial(look, self._file, self.path, intent))
        if found not in {TextState.AFTER, TextState.EDITED}:
            return
        item_id = intent.change.details["id"]
        if intent.change.details["after"] is None and self._file.running(self._hass, item_id) is None:
            await self._async_remove(item_id)
        entity_id = await self._async_record(intent)
        if intent.told:
            tell_cut_off(self._hass, self._file, intent.change, Settled(ChangeOutcome.COMPLETED, entity_id))

    def _prepare(self, intent: Intent, before: bytes, edit: Edit) -> None:
        """Keep a copy and store what is to be done; blocks."""
        details = intent.change.details
        intent.before = digest(decode(before)[1])
        intent.change.what = f"{_KINDS[edit.before is not None, edit.after is not None]} {self._file.noun}"
        if edit.after is not None:
            details.pop(SETTINGS, None)
        details |= {"before": edit.before, "after": edit.after, "previous": edit.previous, "digest": digest(edit.text)}
        keep_copy(self.copies, details["copy"], before)
        write_intents(self._stored, self._intents)

    async def _async_write(
        self, make: Callable[[str], Edit], prepare: Callable[[bytes, Edit], None] | None = None
    ) -> None:
        """Write while the editor of Home Assistant does not."""
        async with AsyncExitStack() as stack:
            if lock := editors_lock(self._hass, self._file.domain):
                await stack.enter_async_context(lock)
            await self._async_blocking(partial(change, self.path, make, prepare))

    async def _async_complete(
        self, intent: Intent, *, is_ours: bool = True, blueprint: UsedBlueprint | None = None
    ) -> Settled:
        """Load what was written, verify it, and record it, or take it back; what others changed of it since stays."""
        details = intent.change.details
        item_id = details["id"]
        lines = details["after"] if is_ours else ""
        problem = await self._async_load(item_id, lines, may_be_off=intent.may_be_off)
        if blueprint is not None and not await blueprint.async_is_loaded():
            problem = _OTHER_BLUEPRINT
        if problem and is_ours and (not intent.may_be_broken or problem in (self._not_read, _OTHER_BLUEPRINT)):
            await self._async_write(partial(restore, self._file, self.copies, details))
            if failure := await self._async_load(item_id, details["before"], may_be_off=True):
                LOGGER.warning("What was put back into %s is not loaded: %s", self._file.name, failure)
            await self._async_end(intent, is_kept=False)
            return Settled(ChangeOutcome.NOT_MADE, problem=problem)
        entity_id = await self._async_record(intent)
        await self._async_end(intent, is_kept=True)
        return Settled(ChangeOutcome.COMPLETED, entity_id, problem)

    async def _async_record(self, intent: Intent) -> str:
        """Expose what a change made, and record it so that it can be undone; return its entity."""
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
        """Let Home Assistant load what was written, and compare what it runs with that; return what is wrong then.

        No lines are an item that is gone; empty ones are not compared.
        """
        try:
            await self._file.async_reload(self._hass, item_id)
        except Exception as err:  # noqa: BLE001 - whatever other parts of the configuration raise, this is put back
            if not isinstance(err, HomeAssistantError):
                log_unexpected(f"while {self._file.domain}s were loaded")
            if lines is not None:
                return self._not_read
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
        """Take away the entity of an item that is gone, if it is there."""
        if self._file.entity_id(self._hass, item_id):
            await self._file.async_remove(self._hass, item_id)

    async def _async_end(self, intent: Intent, *, is_kept: bool) -> None:
        """Count a change as brought to an end."""
        intent.is_done = True
        if not is_kept:
            self._intents.remove(intent)
        if not self._hass.is_stopping:  # The journal is stored at the very end then.
            await self._async_store()
        if self._hass.is_stopping and intent.before:  # It may have begun to stop meanwhile.
            self._unheard.append(intent)
        if self._stop_timer:
            self._stop_timer()
        self._stop_timer = async_call_later(self._hass, KEEP, self._async_timer)

    async def _async_timer(self, _: datetime) -> None:
        """Forget the changes that are done: Home Assistant has stored its own part."""
        async with self.lock:
            self._stop_timer = None
            await self._async_forget_done()

    async def _async_close(self, _: Event) -> None:
        """Forget them at the end, when everything was stored, but for what is to be looked at and told after the next start."""
        if self._stop_timer:
            self._stop_timer()
        if not self.lock.locked():
            for intent in self._unheard:
                intent.is_done = False
            self._intents = [*(one for one in self._intents if one not in self._unheard), *self._unheard]
            await self._async_forget_done()

    async def _async_forget_done(self) -> None:
        """Keep what is not brought to an end only."""
        if self._intents:
            self._intents = [intent for intent in self._intents if not intent.is_done]
            await self._async_store()

    async def _async_store(self) -> None:
        """Store what was begun."""
        await self._async_blocking(partial(write_intents, self._stored, self._intents))

    async def _async_blocking[T](self, work: Callable[[], T]) -> T:
        """Return the result of what blocks; when that is cut off, it is waited for all the same."""
        job = asyncio.ensure_future(self._hass.async_add_executor_job(work))
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            await asyncio.wait({job})
            raise


_URL = "/api/config/{}/config/{{config_key}}"


@callback
def editors_lock(hass: HomeAssistant, domain: str) -> asyncio.Lock | None:
    """Return the lock under which the editor of a domain writes, if it is there."""
    url = _URL.format(domain)
    for route in hass.http.app.router.routes():
        if route.resource is not None and route.resource.canonical == url:
            lock = getattr(getclosurevars(route.handler).nonlocals.get("view"), "mutation_lock", None)
            return lock if isinstance(lock, asyncio.Lock) else None
    return None


class TextState(Enum):
    """What the file holds of an item that was to be changed."""

    BEFORE = auto()
    AFTER = auto()
    EDITED = auto()
    """A new one, which somebody else changed since."""
    OTHERS = auto()
    """What is neither, and so was written by somebody else."""


def look(file: ConfigFile, path: Path, intent: Intent) -> TextState:
    """Return the state of a change in its file; raises ToolError for a file that cannot be read."""
    details = intent.change.details
    text = decode(read(path))[1]
    if digest(text) == details["digest"]:
        return TextState.AFTER
    if digest(text) == intent.before:
        return TextState.BEFORE
    now = _meaning(_lines(text, details["id"], file.domain), file.domain)
    if now == _meaning(details["after"], file.domain):
        return TextState.AFTER
    if now == _meaning(details["before"], file.domain):
        return TextState.BEFORE
    return TextState.EDITED if details["before"] is None else TextState.OTHERS


def _lines(text: str, item_id: str, kind: str) -> str | None:
    """Return the lines of an item in a text; None where it is not in it."""
    outline = outline_of(text, kind)
    if outline.find(item_id) is None:
        return None
    part = outline.part_of(item_id)
    return part.index.text[slice(*part.index.span(part.item))]


def _meaning(lines: str | None, kind: str) -> Meaning | None:
    """Return the parsed lines of an item, whatever their indentation and comments; None for none."""
    if lines is None:
        return None
    (item,) = index_yaml(lines, kind).automations
    return item.meaning


def restore(file: ConfigFile, copies: Path, details: dict[str, Any], text: str) -> Edit:
    """Return the text as it was before a change: all of it where nobody else has changed it, otherwise the one item."""
    before, after, previous = details["before"], details["after"], details["previous"]
    if digest(text) == details["digest"] and (copy := read_copy(copies, details["copy"])) is not None:
        return Edit(decode(copy)[1], after, before, previous)
    return reverse(text, details["id"], before, after, previous, kind=file.domain)

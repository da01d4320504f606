"""Loading and saving of stored data.

Loaded data are checked against a schema; an invalid file is renamed and not lost. Saved data are read back: Home
Assistant's own store only logs a failed write, and its caller does not notice.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
import json
from pathlib import Path
from typing import Any, Final, Protocol, override

import voluptuous as vol

from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.core import CALLBACK_TYPE, CoreState, HassJob, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.json import json_bytes
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from homeassistant.util.file import WriteError, write_utf8_file_atomic
from homeassistant.util.json import json_loads

from .const import LOGGER
from .results import ToolError

NUMBER = vol.Any(int, float)
TEXT_OR_NONE = vol.Any(str, None)
_RETRY_DELAY: Final = 60.0
_MAX_RETRY_DELAY: Final = 3600.0
"""The longest delay, in seconds, before a failed delayed save is retried: Home Assistant logs each failure."""
_UNREADABLE = (vol.Invalid, HomeAssistantError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def shape(required: dict[str, Any], optional: dict[str, Any] | None = None) -> vol.Schema:
    """Return a schema for stored data that drops the keys of later versions."""
    fields = {vol.Required(key): value for key, value in required.items()}
    return vol.Schema(
        fields | {vol.Optional(key): value for key, value in (optional or {}).items()}, extra=vol.REMOVE_EXTRA
    )


async def async_load[T](hass: HomeAssistant, store: Store[Any], read: Callable[[Any], T]) -> T:
    """Load stored data and return the result of `read`, which gets None if there are none."""
    try:
        # Hundreds of items take tens of milliseconds.
        return await hass.async_add_executor_job(read, await store.async_load())
    except _UNREADABLE as err:
        # The error may repeat what was stored.
        LOGGER.debug("The cause was", exc_info=err)
        cause = type(err).__name__
    path = Path(store.path)
    aside = path.with_name(f"{path.name}.unreadable.{dt_util.utcnow():%Y%m%dT%H%M%S}")
    try:
        await hass.async_add_executor_job(path.rename, aside)
    except OSError as err:
        LOGGER.error("%s cannot be read (%s), nor renamed (%s); it is begun anew", path, cause, type(err).__name__)
    else:
        LOGGER.error("%s cannot be read (%s); it is begun anew, and what it held is kept as %s", path, cause, aside)
    return read(None)


class CopyFilter(Protocol):
    """The rows to remove from copies of files that could not be read."""

    def has_row(self, row: Any) -> bool:
        """Return whether a row of a copy must be removed."""

    def is_in(self, text: str) -> bool:
        """Return whether a text that is no valid file contains anything that must be removed."""


def copies_hold(path: Path, key: str, gone: CopyFilter) -> bool:
    """Return whether a copy of a file, with its rows under a key, has anything to remove. It blocks; raises OSError."""
    return any(True for _ in _changed(path, key, gone))


def cut_copies(path: Path, key: str, gone: CopyFilter) -> None:
    """Remove rows from the copies of a file; one that cannot be parsed is deleted if it holds any. It blocks; raises OSError."""
    for copy, left in _changed(path, key, gone):
        if left is None:
            copy.unlink()
            continue
        try:
            write_utf8_file_atomic(str(copy), json.dumps(left, ensure_ascii=False), private=True)
        except WriteError as err:
            raise OSError(str(err)) from err


def remove_copies(path: Path) -> None:
    """Delete the copies of a file. It blocks."""
    for copy in path.parent.glob(f"{path.name}.*"):
        copy.unlink(missing_ok=True)


def _changed(path: Path, key: str, gone: CopyFilter) -> Iterator[tuple[Path, Any]]:
    """Yield the copies with rows to remove, and the remaining content; None if the copy cannot be parsed."""
    for copy in path.parent.glob(f"{path.name}.*"):
        text = copy.read_text(encoding="utf-8", errors="replace")
        try:
            stored = json.loads(text)
            rows = stored["data"][key]
            left = [row for row in rows if not gone.has_row(row)]
        except ValueError, LookupError, TypeError, RecursionError:
            if gone.is_in(text):
                yield copy, None
            continue
        if len(left) < len(rows):
            stored["data"][key] = left
            yield copy, stored


class NotStoredError(ToolError):
    """A change could not be stored on the disk."""

    def __init__(
        self,
        message: str = "This could not be stored, so nothing was changed. Tell the user that the disk may be full.",
    ) -> None:
        """Store the message, a sentence with a next step; the default fits callers that restore what they changed."""
        super().__init__(message)


class ConfirmedStore[T: Mapping[str, Any] | Sequence[Any]](Store[T]):
    """A store that writes atomically and reads back what it wrote.

    Only one save runs at a time. It calls its data function when it starts; None removes the file.
    """

    def __init__(self, hass: HomeAssistant, version: int, key: str, *, private: bool = True) -> None:
        """Store the file's version and name; only its owner can read a private file."""
        super().__init__(hass, version, key, private, atomic_writes=True, serialize_in_event_loop=False)
        self._save_lock = asyncio.Lock()
        self._due: Callable[[], T | None] | None = None
        """The data function of a delayed save that has not succeeded yet."""
        self._due_timer: CALLBACK_TYPE | None = None
        self._final_listener: CALLBACK_TYPE | None = None
        self._retry_delay = 0.0
        """Seconds until the next retry if the last delayed save failed, else 0."""

    async def async_save_confirmed(self, data_func: Callable[[], T | None]) -> None:
        """Save data and read them back; raises NotStoredError if the disk does not have them, and restores nothing.

        Nothing runs between the error and its caller, who can restore the old state before another save starts. While Home
        Assistant stops, the data are saved at its end, and cannot be read back.
        """
        async with self._save_lock:
            due = self._take_due()
            is_saved = False
            try:
                is_saved = await self._async_is_saved(data_func())
            finally:
                self._retry_delay = 0.0 if is_saved else self._retry_delay
                if due is not None and not is_saved:
                    self._retry(due)
            if not is_saved:
                raise NotStoredError

    @callback
    def async_delay_save_confirmed(self, data_func: Callable[[], T | None], delay: float) -> None:
        """Save data after some seconds, or when Home Assistant stops; a failure is logged once and retried."""
        self._due = data_func
        if self._final_listener is None:
            self._final_listener = self.hass.bus.async_listen_once(
                EVENT_HOMEASSISTANT_FINAL_WRITE, self._async_save_at_end
            )
        if self._due_timer is None:
            job = HassJob(self._async_save_due, cancel_on_shutdown=True)
            self._due_timer = async_call_later(self.hass, max(delay, self._retry_delay), job)

    @override
    async def async_remove(self) -> None:
        """Remove the file after a running save, and cancel a delayed one."""
        async with self._save_lock:
            self._take_due()
            await super().async_remove()

    async def _async_is_saved(self, data: T | None) -> bool:
        """Write data, or remove the file for None; return whether the disk now has the same."""
        # Another thread writes: it gets a copy that nobody else changes.
        copy: Any = None
        try:
            if data is None:
                await super().async_remove()
            else:
                copy = await self.hass.async_add_executor_job(json_loads, json_bytes(data))
                await self.async_save(copy)
            if self.hass.state is CoreState.stopping:
                return True
            # From this store, what it could not write yet would come back.
            stored = await Store[Any](self.hass, self.version, self.key).async_load()
        except OSError, HomeAssistantError, LookupError, TypeError:
            return False
        return bool(stored == copy)

    @callback
    def _take_due(self) -> Callable[[], T | None] | None:
        """Return and clear the data function of the delayed save."""
        due, self._due = self._due, None
        for stop in filter(None, (self._due_timer, self._final_listener)):
            stop()
        self._due_timer = self._final_listener = None
        return due

    @callback
    def _retry(self, due: Callable[[], T | None]) -> None:
        """Schedule a failed delayed save again, later each time."""
        if not self._retry_delay:
            LOGGER.error("%s cannot be written. Its data stay in memory; writing is tried again", self.path)
        self._retry_delay = min(max(_RETRY_DELAY, 2 * self._retry_delay), _MAX_RETRY_DELAY)
        self.async_delay_save_confirmed(self._due or due, self._retry_delay)

    async def _async_save_due(self, _: Any) -> None:
        """Run the delayed save."""
        self._due_timer = None
        await self._async_save_if_due()

    async def _async_save_at_end(self, _: Any) -> None:
        """Run the delayed save before Home Assistant ends."""
        self._final_listener = None
        await self._async_save_if_due()

    async def _async_save_if_due(self) -> None:
        """Run the delayed save if there is one; a failure is logged and retried."""
        if self._due is not None:
            with suppress(NotStoredError):
                await self.async_save_confirmed(self._due)

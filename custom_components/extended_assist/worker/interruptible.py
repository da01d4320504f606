"""Run work in a thread with a time limit that really ends it; cancelling the caller ends it, too."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from homeassistant.core import HassJob, HassJobType, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.util.thread import ThreadWithException

from ..const import LOGGER
from ..exposure.safe_log import THREAD

_TRY_AGAIN: Final = 0.1
_GIVE_UP: Final = 50


_MANY: Final = 100
"""The entities that are checked before the event loop gets a turn."""


async def async_pause(count: int) -> None:
    """Yield to the event loop if the following work covers many entities."""
    if count > _MANY:
        await asyncio.sleep(0)


def ends_task(error: BaseException) -> bool:
    """Return whether an error ends the running task, and does not come from something that it awaited."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling() > 0)


class _Stop(BaseException):
    """Raised inside the thread at the time limit; handlers of Exception do not catch it."""


async def async_run_interruptible[R](hass: HomeAssistant, name: str, time_limit: float, work: Callable[[], R]) -> R:
    """Run a function in a thread that ends at the time limit or with its caller; return the result.

    Raises TimeoutError.
    """
    future: asyncio.Future[R] = hass.loop.create_future()

    @callback
    def settle(finish: Callable[[], None]) -> None:
        if not future.done():
            finish()

    def run() -> None:
        try:
            try:
                finish = partial(future.set_result, work())
            except Exception as err:  # noqa: BLE001 - handed to the one who waits
                finish = partial(future.set_exception, err)
            hass.loop.call_soon_threadsafe(settle, finish)
        except _Stop:
            pass  # Nobody waits any more.

    thread = ThreadWithException(target=run, name=f"{THREAD}{name}", daemon=True)
    thread.start()
    try:
        async with asyncio.timeout(time_limit):
            return await future
    finally:
        if not future.done() or future.cancelled():
            _end(hass, thread)


@callback
def _end(hass: HomeAssistant, thread: ThreadWithException, tries: int = _GIVE_UP) -> None:
    """Stop a thread at its next step, and check again whether it has ended."""
    if not thread.is_alive():
        return
    if not tries:
        LOGGER.error("The thread '%s' could not be interrupted; it goes on until it ends by itself", thread.name)
        return
    try:
        thread.raise_exc(_Stop)
    except ValueError:  # It ended in this moment.
        return
    again = HassJob(lambda _: _end(hass, thread, tries - 1), cancel_on_shutdown=True, job_type=HassJobType.Callback)
    async_call_later(hass, _TRY_AGAIN, again)

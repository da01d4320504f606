"""One run of a scheduled task: the switch that stops it before its next step, and the actions that it has started."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.util.json import JsonObjectType

from ..calls.change_recorder import Act, Recording
from ..calls.outcome import outcome_of
from ..const import DOMAIN
from ..exposure.entities import Exposure
from .scheduled_task import ScheduledTask

STOPPING: Final = 2.0
"""Seconds to wait for the end of a stopped run; an action that takes longer is reported as still going on."""
ENDED: Final = "it was ended meanwhile"
NOT_ENDED: Final = "somebody ended it, which could not be stored"
UNLOADED: Final = "the assistant's entry was unloaded"
USER_GONE: Final = "the user who wanted it may not use Home Assistant any more"

_BEGUN_BEFORE: Final = " It had begun already when Home Assistant stopped; whether it was done is not known."
_TELL_FIRST: Final = "Tell the user this before you say that it is cancelled."
_GOES_ON: Final = " An action that was begun still goes on and cannot be stopped."
_NOT_TAKEN_BACK: Final = " What was done stays as it is; undo it only if the user wants that."


class StoppedError(Exception):
    """A run was stopped before its next step."""


class TaskRun:
    """A run of a task. Every way to end a task calls `stop`."""

    def __init__(self, hass: HomeAssistant, task: ScheduledTask) -> None:
        """Create a run that has started no action."""
        self._hass = hass
        self._task = task
        self._recordings: list[Recording] = []
        self._over: asyncio.Future[None] = hass.loop.create_future()
        self._ended: asyncio.Future[None] = hass.loop.create_future()
        self._stopped: asyncio.Future[None] = hass.loop.create_future()
        self._free = asyncio.Event()
        self._free.set()
        self.interrupted: asyncio.Future[None] = hass.loop.create_future()
        """Done when a sequence must end before its next step, because the run is held or stopped."""
        self.reason = ENDED
        """The reason for stopping, in words for the model."""
        self.has_asked = False
        """True once the assistant was asked, because it may have run actions."""
        self.tells_owner = False
        """True if the owner is notified of started actions, because the caller that ended the task gets no answer."""

    @property
    def has_acted(self) -> bool:
        """Return whether an action has started."""
        return bool(self._recordings)

    @property
    def has_begun(self) -> bool:
        """Return whether an action has started or the assistant was asked."""
        return self.has_acted or self.has_asked

    @property
    def acts(self) -> dict[str, Act]:
        """Return the recorded changes of all actions so far, by entity id."""
        return {entity_id: act for one in self._recordings for entity_id, act in one.acts.items()}

    @callback
    def stop(self, reason: str = ENDED) -> None:
        """Stop before the next step; a wait for a phone, the assistant, a delay or an outcome ends at once."""
        if not self._task.is_standing and not self._ended.done():
            self._ended.set_result(None)
        if not self._stopped.done():
            self.reason = reason
            self._stopped.set_result(None)
        self._interrupt()
        self._free.set()

    @callback
    def hold(self) -> None:
        """Pause before the next step until `stop` or `release`, while the end of the task is being stored."""
        self._free.clear()
        self._interrupt()

    @callback
    def release(self) -> None:
        """Continue, because the end of the task could not be stored; an interrupted sequence is not resumed."""
        if not self._stopped.done():
            self.reason = NOT_ENDED
            self.interrupted = self._hass.loop.create_future()
        self._free.set()

    async def async_decided(self) -> None:
        """Wait while the run is held."""
        await self._free.wait()

    @callback
    def _interrupt(self) -> None:
        if not self.interrupted.done():
            self.interrupted.set_result(None)

    @callback
    def close(self) -> None:
        """Mark the run as over."""
        if not self._over.done():
            self._over.set_result(None)

    async def async_over(self) -> None:
        """Wait until a stopped run is over, at most STOPPING seconds."""
        await asyncio.wait({self._over}, timeout=STOPPING)

    async def async_check(self) -> None:
        """Wait while the run is held; raises StoppedError if the run was stopped or the task has ended."""
        await self.async_decided()
        if self._stopped.done() or not self._task.is_standing:
            raise StoppedError

    async def async_begin(self, recording: Recording) -> None:
        """Register the recording of actions that start now; raises StoppedError if the run was stopped."""
        await self.async_check()
        self._recordings.append(recording)

    async def async_unless_stopped[R](self, work: Coroutine[Any, Any, R]) -> R:
        """Return the result of work that is cancelled when the run is stopped, which raises StoppedError."""
        result = await self._async_unless(self._stopped, work)
        await self.async_check()
        return result

    async def async_unless_ended[R](self, work: Coroutine[Any, Any, R]) -> R:
        """Return the result of work that is cancelled only when the task ends; unloading an entry lets it finish."""
        return await self._async_unless(self._ended, work)

    async def _async_unless[R](self, signal: asyncio.Future[None], work: Coroutine[Any, Any, R]) -> R:
        """Return the result of work, or cancel it on a signal and raise StoppedError."""
        if signal.done():
            work.close()
            raise StoppedError
        task = self._hass.async_create_task(work, f"{DOMAIN} part of a scheduled task")
        signals: set[asyncio.Future[Any]] = {task, signal}
        try:
            await asyncio.wait(signals, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=STOPPING / 2)
        raise StoppedError

    @callback
    def told(self, exposure: Exposure) -> JsonObjectType:
        """Return the actions of a stopped run so far, for the model; empty if nothing had started."""
        if not self.has_begun:
            return {}
        begun: Any = outcome_of(self._hass, exposure, self.acts) or ", ".join(
            dict.fromkeys(exposure.visible_value(one.what) or "an action" for one in self._recordings)
        )
        note = _TELL_FIRST + (_NOT_TAKEN_BACK if self._over.done() else _GOES_ON)
        return {"had_begun": begun or "the assistant was asked", "note": note}


@callback
def describe_started(
    runs: Sequence[TaskRun], task: ScheduledTask, exposure: Exposure, earlier: ScheduledTask | None = None
) -> JsonObjectType:
    """Return the actions of an ended task and its later parts so far, for the model; empty if nothing had started.

    `earlier` is the task whose first part is over, if later parts of it were ended.
    """
    if told := [begun for run in runs if (begun := run.told(exposure))]:
        going_on = [begun for begun in told if _GOES_ON in str(begun["note"])]
        all_begun = [begun["had_begun"] for begun in told]
        return {
            "had_begun": all_begun[0] if len(told) == 1 else all_begun,
            "note": (going_on or told)[0]["note"],
        }
    if earlier is not None and earlier.progress.times and earlier.progress.result:
        done = exposure.visible_value(earlier.progress.result) or "its first part"
        return {"had_begun": done, "note": _TELL_FIRST + _NOT_TAKEN_BACK}
    return {"note": _TELL_FIRST + _BEGUN_BEFORE} if not runs and task.progress.begun is not None else {}

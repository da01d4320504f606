"""The scheduler: start each due task once, and store its outcome."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context as ContextVariables
import errno
import os
import sys
import time
from typing import Any, Final

from homeassistant.auth import EVENT_USER_UPDATED
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import CALLBACK_TYPE, CoreState, Event, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..exposure.safe_log import log_unexpected
from ..results import ToolError
from ..worker.interruptible import ends_task
from . import execution, lifecycle
from .broken_triggers import BrokenTriggers
from .camera_watch import CameraWatches, FindVisionModel
from .lifecycle import Ending, Occasion, TaskOutcome
from .parts import follow_up
from .run import ENDED, UNLOADED, USER_GONE, StoppedError, TaskRun
from .run_actions import Performers
from .scheduled_task import ScheduledTask, What
from .store import ScheduledTaskStore
from .triggers import ConditionCache, Triggers, async_holds

LOOK = 30.0
"""Seconds between checks of the clock if the system reports no clock changes, or something is not ready."""
LOOK_RARELY = 6 * 3600.0
"""Seconds between checks of the clock in any case."""
READY_TIME = 60.0
"""Seconds to wait for unavailable entities and actions, such as those of an integration that loads late."""

NOT_HELD = "not done: its conditions did not hold"
NOT_STORED = "not done: that it was begun could not be stored"

type HappenedListener = Callable[[ScheduledTask, float, Ending, str], None]
"""Called with a task, the due time of an ended occurrence, its ending, and the outcome in words."""


def now() -> float:
    """Return the system time in seconds since the epoch."""
    return dt_util.utcnow().timestamp()


class Scheduler:
    """Executes the due tasks of loaded entries.

    Each step is stored before the next one: a started task is never started again, and one that could not be stored is
    never started.
    """

    def __init__(self, hass: HomeAssistant, store: ScheduledTaskStore) -> None:
        """Store the task store."""
        self._hass = hass
        self._store = store
        self._triggers = Triggers(hass, self._on_trigger)
        self._gates = ConditionCache(hass)
        self._watching = CameraWatches(hass, store, self.async_look)
        self._performers: dict[str, Performers] = {}
        """What performs the actions of each started entry that are none of Home Assistant's."""
        self._running: dict[str, TaskRun] = {}
        """The runs of the tasks of which something is being done, by the ids of these."""
        self._timer: CALLBACK_TYPE | None = None
        self._started = 0.0
        """When an entry was started last, in seconds since the epoch."""
        self._broken_triggers = BrokenTriggers(hass, store, lambda task: task.owner.entry_id in self._performers)
        self.happened: set[HappenedListener] = set()
        self._watch = async_watch_clock(hass, self.async_look)
        store.async_listen(self.async_look)
        hass.bus.async_listen(EVENT_USER_UPDATED, self._async_on_user)
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, self._on_stop)

    @callback
    def async_start(
        self, entry_id: str, performers: Performers, find_vision_model: FindVisionModel | None = None
    ) -> None:
        """Start the tasks of an entry."""
        if find_vision_model is not None:
            self._watching.find_vision_model = find_vision_model
        self._performers[entry_id] = performers
        self._started = now()
        # Integrations may load late.
        self._broken_triggers.async_look_later(READY_TIME)
        self.async_look()

    @callback
    def async_stop(self, entry_id: str) -> None:
        """Stop starting tasks of an entry, and stop its runs before their next steps."""
        self._performers.pop(entry_id, None)
        for task in self._store.tasks.values():
            if task.owner.entry_id == entry_id:
                self.stop_run(task.id, UNLOADED)
        self.async_look()

    @callback
    def run_of(self, task_id: str) -> TaskRun | None:
        """Return the run of a task, or None."""
        return self._running.get(task_id)

    @callback
    def stop_run(self, task_id: str, reason: str = ENDED) -> TaskRun | None:
        """Stop the run of a task before its next step and return it, or None."""
        if (run := self._running.get(task_id)) is not None:
            run.stop(reason)
        return run

    async def _async_on_user(self, event: Event) -> None:
        """Stop the runs of a deactivated user."""
        user = await self._hass.auth.async_get_user(event.data["user_id"])
        if user is None or not user.is_active:
            for task in self._store.standing:
                if task.owner.user_id == event.data["user_id"]:
                    self.stop_run(task.id, USER_GONE)

    @callback
    def async_look(self, _: Any = None) -> None:
        """Start all due tasks and set the timer for the next one; only the system clock decides."""
        if self._timer is not None:
            self._timer()
            self._timer = None
        if self._hass.is_stopping or not self._performers:
            self._broken_triggers.async_stop()
        started = [task for task in self._store.standing if task.owner.entry_id in self._performers]
        waiting_for_triggers = [task for task in started if lifecycle.waits_for_triggers(task)]
        self._triggers.async_set(waiting_for_triggers)
        self._gates.async_set(waiting_for_triggers)
        for task in waiting_for_triggers:
            self._broken_triggers.async_follow(task)
        # While Home Assistant stops, nothing is written until the end: it could be done now and again after the start.
        if self._hass.state is not CoreState.running or not started:
            self._watching.async_set((), now())
            return
        self._triggers.async_retry()
        moment = now()
        looks = self._watching.async_set(started, moment)
        waiting = [task for task in started if task.id not in self._running]
        is_missing = self._triggers.is_missing
        for task in waiting:
            if lifecycle.is_over(task, moment) or self._can_begin(task, moment):
                run = self._running[task.id] = TaskRun(self._hass, task)
                self._run(self._async_take_up(task, run))
            elif lifecycle.occasion(task, moment) is not None:
                is_missing = True
        rest = LOOK if is_missing or self._watch is None else LOOK_RARELY
        coming = [at - moment for task in waiting if (at := lifecycle.wakes(task)) is not None and at > moment]
        # What is done later is no part of the conversation in which it was asked for.
        self._timer = ContextVariables().run(
            async_call_later, self._hass, min([rest, *coming, *looks]), self.async_look
        )

    @callback
    def _on_stop(self, _: Event) -> None:
        """Cancel the timer and the watch of the clock."""
        self.async_look()
        if self._watch is not None:
            self._watch()
        if any(map(lifecycle.watching, self._store.standing)):
            # How many looks were answered is not stored with each of them.
            self._hass.async_create_task(self._store.async_save(), f"{DOMAIN} stores what was watched")

    def _can_begin(self, task: ScheduledTask, moment: float) -> bool:
        """Return whether a task is due, and its entities are available or were waited for long enough."""
        if (one := lifecycle.occasion(task, moment)) is None:
            return False
        most = execution.most_late(task)
        if one.again or one.repeated or one.late > most or execution.is_ready(self._hass, task):
            return True
        return moment - max(one.moment, self._started) > READY_TIME or one.late > most - LOOK

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        ContextVariables().run(self._hass.async_create_task, work, f"{DOMAIN} runs a scheduled task", eager_start=False)

    @callback
    def _on_trigger(self, task_id: str) -> None:
        """Record that a trigger fired: the task is due now."""
        if (task := self._store.tasks.get(task_id)) is None:
            return
        if task.progress.in_vain:
            self._run(self._async_on_doubtful(task))
        elif self._gates.is_shut(task):
            # Nothing comes due, so nothing is stored: it may fire all day.
            lifecycle.refuse(task, NOT_HELD)
        elif lifecycle.triggered(task, now()):
            self._run(self._store.async_save())

    async def _async_on_doubtful(self, task: ScheduledTask) -> None:
        """Accept a trigger of a task with broken triggers only if they work again.

        Otherwise it would reveal what is hidden.
        """
        if not await self._broken_triggers.async_is_broken(task) and lifecycle.triggered(task, now()):
            await self._store.async_save()

    async def _async_take_up(self, task: ScheduledTask, run: TaskRun) -> None:
        """Advance a task by one step, then check for more due tasks."""
        try:
            await self._async_step(task, run)
        except (Exception, asyncio.CancelledError) as err:
            if ends_task(err):
                self._running.pop(task.id, None)
                self.async_look()
                raise
            # It counts as being done until the next start: tried again at once, it would fail without an end.
            log_unexpected("while a scheduled task ran")
            return
        finally:
            run.close()
        self._running.pop(task.id, None)
        self.async_look()

    async def _async_step(self, task: ScheduledTask, run: TaskRun) -> None:
        """Execute the due occurrence, skip it if its conditions do not hold, or end the task."""
        holds = True
        one = lifecycle.occasion(task, now())
        if one is not None and not one.again and not one.repeated:
            holds = await self._async_holds(task)
            one = lifecycle.occasion(task, now())
        if one is None:
            lifecycle.close(task, now())
            await self._store.async_save()
        elif one.again or one.repeated:
            await self._async_finish(task, one, run)
        elif holds:
            await self._async_begin(task, one, run)
        else:
            lifecycle.skip(task, one, NOT_HELD, now())
            await self._async_tell(task, one, Ending.SKIPPED, NOT_HELD)

    async def _async_holds(self, task: ScheduledTask) -> bool:
        """Return whether the conditions hold.

        A condition that cannot be checked counts as true, and the execution reports it.
        """
        try:
            return await async_holds(self._hass, task)
        except (ToolError, asyncio.CancelledError) as err:
            if ends_task(err):
                raise
            return True

    async def _async_begin(self, task: ScheduledTask, one: Occasion, run: TaskRun) -> None:
        """Store the start, then execute, unless the task was ended or may no longer run."""
        if not self._is_open(task):
            return
        lifecycle.begin(task, one)
        await self._store.async_save()
        is_stored = not task.what.actions or await self._store.async_is_stored(task)
        if not self._is_open(task):
            lifecycle.put_back(task, one)
            await self._store.async_save()
        elif is_stored:
            await self._async_finish(task, one, run)
        else:
            # Done now, it could be done again after a crash.
            await self._async_over(task, one, TaskOutcome(Ending.FAILED, NOT_STORED))

    def _is_open(self, task: ScheduledTask) -> bool:
        """Return whether a task may start: it is pending, its entry is loaded, and Home Assistant is not stopping."""
        is_running = self._hass.state is CoreState.running
        return is_running and task.is_standing and task.owner.entry_id in self._performers

    async def _async_finish(self, task: ScheduledTask, one: Occasion, run: TaskRun) -> None:
        """Execute the started occurrence and store its outcome.

        One that was stopped before it did anything is due again.
        """
        try:
            outcome = await execution.async_do(
                self._hass,
                task,
                one.moment,
                run,
                late=one.late,
                again=one.again,
                missed=one.missed,
                repeated=one.repeated,
                performers=self._performers.get(task.owner.entry_id),
            )
        except StoppedError:
            if not one.again and not one.repeated:
                lifecycle.put_back(task, one)
            await self._store.async_save()
            return
        await run.async_decided()
        await self._async_over(task, one, outcome)

    async def _async_over(self, task: ScheduledTask, one: Occasion, outcome: TaskOutcome) -> None:
        """Store the end of an occurrence and call the listeners."""
        if outcome.rest is not None and task.is_standing:
            # After a part without steps, the delay counts from its moment, however late that is.
            begins = one.moment if one.again or not (task.what.actions or task.what.say) else now()
            self._let_follow(task, outcome.rest, begins)
        lifecycle.finish(task, one, outcome.result, now())
        await self._async_tell(task, one, outcome.kind, outcome.result)

    def _let_follow(self, task: ScheduledTask, rest: What, since: float) -> None:
        """Add the next part of a task, stored together with the end of this one.

        It replaces one of an earlier occurrence.
        """
        following = follow_up(task, rest, since)
        for old in self._store.standing:
            if old.after != following.after or old.progress.times or old.id in self._running:
                continue
            if task.after is not None and old.created > task.created:
                return  # The rest of a later occurrence stands already.
            del self._store.tasks[old.id]
        self._store.tasks[following.id] = following

    async def _async_tell(self, task: ScheduledTask, one: Occasion, kind: Ending, result: str) -> None:
        """Store the outcome of an occurrence and call the listeners."""
        await self._store.async_save()
        for listener in [*self.happened]:
            try:
                listener(task, one.moment, kind, result)
            except Exception:  # noqa: BLE001 - whoever listens, the task goes on
                log_unexpected("while the outcome of a scheduled task was shown")


_NEVER: Final = 4_102_444_800.0
"""When the system's timer would expire by itself, in seconds since the epoch: in 2100."""


@callback
def async_watch_clock(hass: HomeAssistant, changed: Callable[[], None]) -> CALLBACK_TYPE | None:
    """Call a function whenever the clock is set.

    Return the function that stops it, or None if the system does not report it.
    """
    if sys.platform != "linux":
        return None
    try:
        timer = os.timerfd_create(time.CLOCK_REALTIME, flags=os.TFD_NONBLOCK | os.TFD_CLOEXEC)
    except OSError:  # A container may forbid it.
        return None

    @callback
    def note() -> None:
        try:
            os.read(timer, 8)
        except BlockingIOError:
            return
        except OSError as err:
            if err.errno != errno.ECANCELED:
                stop()
        changed()

    @callback
    def stop() -> None:
        if hass.loop.remove_reader(timer):
            os.close(timer)

    try:
        os.timerfd_settime(timer, flags=os.TFD_TIMER_ABSTIME | os.TFD_TIMER_CANCEL_ON_SET, initial=_NEVER)
        hass.loop.add_reader(timer, note)
    except OSError, NotImplementedError:
        os.close(timer)
        return None
    return stop

"""Camera watches: run the checks of each watch at their times, one at a time, and store only their results."""

import asyncio
from collections.abc import Iterable
from contextvars import Context as ContextVariables

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..calls.call import ToolCall
from ..const import DOMAIN
from ..exposure.safe_log import log_unexpected
from ..results import ToolError
from ..worker.interruptible import ends_task
from . import camera_check
from .camera_check import Eyes, FindEyes, Look
from .lifecycle import next_look, sighted, watching
from .scheduled_task import ScheduledTask, Sighting, Watch
from .store import ScheduledTaskStore

MAX_BLIND = 5
"""The number of checks in a row without a picture after which a watch ends."""
LONGEST = 180.0
"""The timeout of a check, in seconds."""

_ENDS = {Look.SEEN: Sighting.SEEN, Look.HIDDEN: Sighting.HIDDEN, Look.NO_EYES: Sighting.BLIND}


class Watching:
    """The camera watches of started entries; missed checks are not made up."""

    def __init__(self, hass: HomeAssistant, store: ScheduledTaskStore, look_again: CALLBACK_TYPE) -> None:
        """Store the task store and the callback to call after a check."""
        self._hass = hass
        self._store = store
        self._look_again = look_again
        self.find_eyes: FindEyes = _async_no_eyes
        self._after: dict[str, float] = {}
        """For each watch, the time after which its next check comes."""
        self._blind: dict[str, int] = {}
        """For each watch, the number of checks in a row without a picture."""
        self._looks: dict[str, asyncio.Task[None]] = {}

    @callback
    def async_set(self, tasks: Iterable[ScheduledTask], moment: float) -> list[float]:
        """Start the due checks of these tasks and cancel all others; return the seconds until the next checks."""
        watches = {task.id: (task, watch) for task in tasks if (watch := watching(task)) is not None}
        for task_id in self._looks.keys() - watches.keys():
            self._looks.pop(task_id).cancel()
        for task_id in self._after.keys() - watches.keys():
            del self._after[task_id]
            self._blind.pop(task_id, None)
        coming = []
        for task_id, (task, watch) in watches.items():
            after = self._after.setdefault(task_id, moment)
            if task_id in self._looks or (following := next_look(watch, after)) is None:
                continue
            if following <= moment:
                self._begin(task, watch)
            else:
                coming.append(following - moment)
        return coming

    def _begin(self, task: ScheduledTask, watch: Watch) -> None:
        """Start a check in an empty context, outside of any conversation."""
        self._looks[task.id] = ContextVariables().run(
            self._hass.async_create_background_task, self._async_look(task, watch), f"{DOMAIN} looks", eager_start=False
        )

    async def _async_look(self, task: ScheduledTask, watch: Watch) -> None:
        """Run one check and apply its result, unless the check was cancelled meanwhile."""
        begins = watch.begins
        try:
            async with asyncio.timeout(LONGEST):
                look = await camera_check.async_look(self._hass, task, watch, self.find_eyes)
        except ToolError, TimeoutError:
            look = Look.NO_ANSWER
        except (Exception, asyncio.CancelledError) as err:
            if ends_task(err):
                if self._take_off(task):
                    self._after[task.id] = _now()
                    self._look_again()
                raise
            log_unexpected("in a camera check of a scheduled task")
            look = Look.NO_ANSWER
        if not self._take_off(task):
            return
        moment = _now()
        self._after[task.id] = moment
        # The result is dropped if the watch was snoozed or has ended meanwhile.
        if watching(task) is watch and watch.begins == begins and self._takes_in(task, watch, look, moment):
            await self._store.async_save()
        else:
            self._look_again()

    def _take_off(self, task: ScheduledTask) -> bool:
        """Remove this check from the running ones; return whether it was still among them."""
        if self._looks.get(task.id) is not asyncio.current_task():
            return False
        del self._looks[task.id]
        return True

    def _takes_in(self, task: ScheduledTask, watch: Watch, look: Look, moment: float) -> bool:
        """Apply the result of a check; return whether the tasks must be saved."""
        blind = self._blind[task.id] = self._blind.get(task.id, 0) + 1 if look is Look.NO_PICTURE else 0
        if (sighting := Sighting.BLIND if blind >= MAX_BLIND else _ENDS.get(look)) is not None:
            sighted(task, watch, sighting, moment)
            return True
        watch.answered += look is Look.UNSEEN
        if look is Look.UNSEEN and watch.sighting is Sighting.OPEN:
            watch.sighting = Sighting.UNSEEN
            return True
        return False


def _now() -> float:
    """Return the current time, in seconds since the epoch."""
    return dt_util.utcnow().timestamp()


async def _async_no_eyes(_call: ToolCall, _agent: str | None) -> Eyes | None:
    """Return None: the default until an entry provides a vision model."""
    return None

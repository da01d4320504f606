"""Camera watches: run the checks of each watch at their times, one at a time, and store only their results."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextvars import Context as ContextVariables
from enum import Enum, auto
from typing import Final

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..calls.call import ToolCall
from ..calls.options import CAMERAS
from ..calls.policy import NotAllowedError
from ..cameras.resize import most_tokens
from ..cameras.snapshot import TakenPicture, async_may_see, async_note_looks, async_take
from ..const import CONF_FAMILIES, DOMAIN
from ..exposure.safe_log import log_unexpected
from ..results import ToolError
from ..worker.interruptible import ends_task
from .lifecycle import next_look, sighted, watching
from .scheduled_task import ScheduledTask, Sighting, Watch
from .store import ScheduledTaskStore
from .tool_call import NotDoneError, async_valid_call

MAX_BLIND = 5
"""The number of checks in a row without a picture after which a watch ends."""
LONGEST = 180.0
"""The timeout of a check, in seconds."""

type VisionModel = Callable[[list[TakenPicture], str], Awaitable[bool]]
"""Returns whether something is visible in pictures; raises ToolError if that is unknown."""
type FindVisionModel = Callable[[ToolCall, str | None], Awaitable[VisionModel | None]]
"""Returns the model that looks for an agent, or None if there is none. Raises ToolError if it may not be asked now."""

_WORDS: Final = 300
"""Tokens of a check beside its pictures: the answer and a short question, rounded up."""
_SHORT: Final = 50
"""Tokens of a short question."""


class Look(Enum):
    """The outcome of a check."""

    SEEN = auto()
    UNSEEN = auto()
    NO_ANSWER = auto()
    """No check was possible; the next one may be."""
    NO_PICTURE = auto()
    NO_VISION_MODEL = auto()
    """There is no model that can see."""
    HIDDEN = auto()
    """The owner may see none of the cameras any more."""


@callback
def tokens_of_look(cameras: int, words: str = "", thought: int = 0) -> int:
    """Return the most tokens of one check of some cameras, with question, answer and thinking."""
    # A token has two letters or more of plain Latin, and a byte or more of any other script.
    latin = sum(map(str.isascii, words))
    asked = latin // 2 + len(words.encode(errors="replace")) - latin
    return cameras * most_tokens(cameras) + _WORDS + max(0, asked - _SHORT) + thought


async def async_look(
    hass: HomeAssistant, task: ScheduledTask, watch: Watch, find_vision_model: FindVisionModel
) -> Look:
    """Check once, with the current exposure, user and options; raises ToolError if this check is impossible."""
    call = await async_valid_call(hass, task)
    entry = hass.config_entries.async_get_entry(task.owner.entry_id)
    if entry is None or CAMERAS not in entry.options.get(CONF_FAMILIES, ()):
        raise NotDoneError("looking is turned off in the options.")
    if (eyes := await find_vision_model(call, watch.agent)) is None:
        return Look.NO_VISION_MODEL
    exposed = [entity for entity in map(call.exposure.entity, watch.entity_ids) if entity is not None]
    if not exposed and any(map(call.exposure.is_awaited, watch.entity_ids)):
        return Look.NO_PICTURE
    try:
        entities = await async_may_see(call, exposed)
    except NotAllowedError:
        return Look.HIDDEN
    if not entities:
        return Look.HIDDEN
    taken = [one for one in await async_take(hass, entities) if isinstance(one, TakenPicture)]
    if not taken:
        return Look.NO_PICTURE
    await async_note_looks(call, [one.entity for one in taken])
    return Look.SEEN if await eyes(taken, watch.see) else Look.UNSEEN


_ENDS = {Look.SEEN: Sighting.SEEN, Look.HIDDEN: Sighting.HIDDEN, Look.NO_VISION_MODEL: Sighting.BLIND}


class CameraWatches:
    """The camera watches of started entries; missed checks are not made up."""

    def __init__(self, hass: HomeAssistant, store: ScheduledTaskStore, look_again: CALLBACK_TYPE) -> None:
        """Store the task store and the callback to call after a check."""
        self._hass = hass
        self._store = store
        self._look_again = look_again
        self.find_vision_model: FindVisionModel = _async_no_vision_model
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
                look = await async_look(self._hass, task, watch, self.find_vision_model)
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


async def _async_no_vision_model(_call: ToolCall, _agent: str | None) -> VisionModel | None:
    """Return None: the default until an entry provides a vision model."""
    return None

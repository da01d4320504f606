"""One check of a camera watch: access, cameras, question and cost."""

from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Final

from homeassistant.core import HomeAssistant, callback

from ..calls.call import ToolCall
from ..calls.options import CAMERAS
from ..calls.policy import NotAllowedError
from ..cameras.resize import most_tokens
from ..cameras.snapshot import TakenPicture, async_may_see, async_note_looks, async_take
from ..const import CONF_FAMILIES
from .scheduled_task import ScheduledTask, Watch
from .tool_call import NotDoneError, async_valid_call

type Eyes = Callable[[list[TakenPicture], str], Awaitable[bool]]
"""Returns whether something is visible in pictures; raises ToolError if that is unknown."""
type FindEyes = Callable[[ToolCall, str | None], Awaitable[Eyes | None]]
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
    NO_EYES = auto()
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


async def async_look(hass: HomeAssistant, task: ScheduledTask, watch: Watch, find_eyes: FindEyes) -> Look:
    """Check once, with the current exposure, user and options; raises ToolError if this check is impossible."""
    call = await async_valid_call(hass, task)
    entry = hass.config_entries.async_get_entry(task.owner.entry_id)
    if entry is None or CAMERAS not in entry.options.get(CONF_FAMILIES, ()):
        raise NotDoneError("looking is turned off in the options.")
    if (eyes := await find_eyes(call, watch.agent)) is None:
        return Look.NO_EYES
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

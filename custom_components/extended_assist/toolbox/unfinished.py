"""Calls that act go on when nobody waits for them any more; what became of them is told with the next answer."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..exposure import Exposure
from ..results import ToolError, format_time
from .call import ToolCall
from .caller import Caller
from .journal import is_same_speaker
from .outcome import OUTCOME, outcome_of

LONGEST = 300.0
"""Seconds after which a call that does not end is watched no more."""

_MAX_UNHEARD = 20


@dataclass(slots=True)
class BegunCall:
    """A call whose end nobody waits for any more."""

    call: ToolCall
    name: str
    """The tool's."""
    task: asyncio.Task[llm.ToolResult] = field(repr=False)
    begun: float = field(default_factory=lambda: dt_util.utcnow().timestamp())

    @property
    def caller(self) -> Caller:
        """Return who called."""
        return self.call.caller

    def told(self, exposure: Exposure) -> str:
        """Return what became of it, as far as that may be told by now."""
        what = exposure.visible_value(self.call.recording.what) or self.name
        about = f"{what}, begun at {format_time(self.begun)},"
        if not self.task.done():
            return f"{about} still goes on."
        if self.task.cancelled():
            about += " was broken off"
        elif (result := self.task.result()).error:
            reason = str(result.data.get("error"))
            about += f" failed: {reason}" if not exposure.names_hidden(reason) else " failed"
        else:
            about += " has ended"
        if outcome := outcome_of(self.call.hass, exposure, self.call.recording.acts):
            about += f"; {OUTCOME} {json_dumps(outcome)}"
        return f"{about}. What it changed can be undone."


_UNHEARD: HassKey[list[BegunCall]] = HassKey(f"{DOMAIN}_unheard")


async def async_finish(
    call: ToolCall, name: str, work: Coroutine[Any, Any, llm.ToolResult], deadline: float | None
) -> llm.ToolResult:
    """Return the result of a call that acts, or after the deadline that it goes on; once begun, it is not cut off."""
    task = call.hass.async_create_background_task(work, f"{DOMAIN} {name}")
    try:
        done, _ = await asyncio.wait({task}, timeout=deadline)
    except asyncio.CancelledError:
        _keep(BegunCall(call, name, task))
        raise
    if done:
        return task.result()
    _keep(BegunCall(call, name, task))
    data: dict[str, Any] = {
        "begun": call.recording.what or name,
        "note": f"It has not finished after {deadline:g} seconds and goes on; when it ends, that is told with the next "
        "answer, and it can be undone.",
    }
    if outcome := outcome_of(call.hass, call.exposure, call.recording.acts):
        data[OUTCOME] = outcome
    return llm.ToolResult(data=data)


@callback
def unheard(hass: HomeAssistant, caller: Caller, *, ended: bool = False) -> list[str]:
    """Return what became of a caller's calls that they have not heard the end of; what has ended is told once.

    With ended, what still goes on is left for later.
    """
    begun = hass.data.get(_UNHEARD, [])
    mine = [one for one in begun if is_same_speaker(one.caller, caller) and (one.task.done() or not ended)]
    hass.data[_UNHEARD] = [one for one in begun if one not in mine or not one.task.done()]
    exposure = Exposure(hass, caller.assistant)
    return [one.told(exposure) for one in mine]


@callback
def check_nothing_goes_on(hass: HomeAssistant, caller: Caller) -> None:
    """Raise ToolError while a call of the caller goes on: what it will have changed comes before what is older."""
    for one in hass.data.get(_UNHEARD, ()):
        if is_same_speaker(one.caller, caller) and not one.task.done():
            raise ToolError(f"{one.told(Exposure(hass, caller.assistant))} It can be undone when it has ended.")


def _keep(begun: BegunCall) -> None:
    """Keep a call until its end was told; the oldest go."""
    hass = begun.call.hass
    hass.data[_UNHEARD] = [*hass.data.get(_UNHEARD, ()), begun][-_MAX_UNHEARD:]


async def async_watched(hass: HomeAssistant, name: str, work: Coroutine[Any, Any, llm.ToolResult]) -> llm.ToolResult:
    """Return the result of what acts, or after LONGEST that it goes on unseen; a script of the user's is not cut in two."""
    task = hass.async_create_background_task(work, f"{DOMAIN} {name}")
    try:
        done, _ = await asyncio.wait({task}, timeout=LONGEST)
    except asyncio.CancelledError:  # Home Assistant stops.
        task.cancel()
        raise
    if done:
        return task.result()
    task.add_done_callback(lambda late: late.cancelled() or late.exception())
    return llm.ToolResult(
        data={"note": f"It was not over after {LONGEST:g} seconds. What it does from then on is not seen."}
    )

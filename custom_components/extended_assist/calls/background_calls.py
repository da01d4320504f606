"""Acting calls that outlive their turn, and the report of their end with the next answer."""

import asyncio
from collections.abc import Callable, Coroutine
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..exposure.fixed_values import is_fixed_name
from ..results import MARK, ToolError, format_time
from .call import ToolCall
from .caller import Caller, outside_conversation
from .journal import Speaking, is_same_speaker
from .outcome import OUTCOME, outcome_of

LONGEST = 300.0
"""Seconds after which a call that has not ended is no longer watched."""

_CLEANING_UP = 1.0
"""Seconds that a cancelled call has to clean up."""

_MAX_UNHEARD = 20


class UnseenResult(llm.ToolResult):
    """The result of a call that continues without being watched."""


@dataclass(slots=True, eq=False)
class BackgroundCall:
    """A call that nobody waits for any more."""

    call: ToolCall
    name: str
    """The name of the tool."""
    task: asyncio.Task[llm.ToolResult] = field(repr=False)
    begun: float = field(default_factory=lambda: dt_util.utcnow().timestamp())

    @property
    def caller(self) -> Caller:
        """Return who called."""
        return self.call.caller

    @property
    def is_over(self) -> bool:
        """Return whether the call has ended."""
        return self.task.done()

    def told(self, exposure: Exposure) -> str:
        """Return a sentence on the outcome, without names and texts that the caller may not see now."""
        what = exposure.visible_value(self.call.recording.what) or self.name
        about = f"{what}, begun at {format_time(self.begun)},"
        if not self.task.done():
            return f"{about} still goes on."
        if self.task.cancelled():
            about += " was broken off"
        elif (result := self.task.result()).error:
            reason = str(result.data.get("error"))
            # This is told in a note, which no mark can be on: what a device said itself is left out.
            is_ours = MARK not in result.data and " failed: " not in reason and not exposure.names_hidden(reason)
            about += f" failed: {reason}" if is_ours else " failed"
        elif isinstance(result, UnseenResult):
            about += f" was not over after {LONGEST:g} seconds; its end will not be told"
        else:
            about += " has ended"
        hass, acts = self.call.hass, self.call.recording.acts
        states = (state for entity_id in acts if (state := hass.states.get(entity_id)) is not None)
        # Nor are names that somebody outside can have given.
        if all(is_fixed_name(hass, state) for state in states) and (outcome := outcome_of(hass, exposure, acts)):
            about += f"; {OUTCOME} {json_dumps(outcome)}"
        # Only what was recorded: what cannot be undone, or did nothing, is not promised.
        return f"{about}. What it changed can be undone." if self.call.recording.changes else f"{about}."


@dataclass(slots=True, eq=False)
class InterruptedCall:
    """An outcome to report with the next answer.

    Of a call that a restart interrupted, or that a user approved on a phone.
    """

    caller: Speaking
    told: Callable[[Exposure], str]
    """Returns a sentence on the outcome, without names that the caller may not see now."""
    is_over: bool = True


_RUNNING: HassKey[list[BackgroundCall]] = HassKey(f"{DOMAIN}_running")
_UNHEARD: HassKey[list[BackgroundCall | InterruptedCall]] = HassKey(f"{DOMAIN}_unheard")


async def async_finish(
    call: ToolCall,
    name: str,
    work: Coroutine[Any, Any, llm.ToolResult],
    deadline: float,
    *,
    reads_conversation: bool = False,
) -> llm.ToolResult:
    """Return the result of an acting call, or after the deadline a note that it continues; it is never cancelled.

    The work runs outside the conversation, so that an automation which it starts and which talks is no part of it,
    unless the tool reads the conversation itself.
    """
    begin = call.hass.async_create_background_task
    what = f"{DOMAIN} call"
    task = begin(work, what) if reads_conversation else outside_conversation(begin, work, what)
    begun = BackgroundCall(call, name, task)
    running = call.hass.data.setdefault(_RUNNING, [])
    running.append(begun)
    try:
        done, _ = await asyncio.wait({task}, timeout=deadline)
    except asyncio.CancelledError:
        _keep(begun)
        raise
    finally:
        running.remove(begun)
    if done:
        result = task.result()
        is_heard = begun not in call.hass.data.get(_UNHEARD, ())
        if not (is_heard and (told := unheard(call.hass, call.caller, ended=True))):
            return result
        data = copy(result.data)  # Of the same type as before.
        data["earlier"] = [*told]
        # This is news, so that not even a result that says all is the one that was expected.
        return llm.ToolResult(data=data, error=result.error)
    _keep(begun)
    about: dict[str, Any] = {
        "begun": call.recording.what or name,
        "note": f"It has not finished after {deadline:g} seconds and goes on; do not call it again. What becomes of it "
        "is told with the next answer, and what it is seen to change can be undone.",
    }
    if outcome := outcome_of(call.hass, call.exposure, call.recording.acts):
        about[OUTCOME] = outcome
    return llm.ToolResult(data=about)


@callback
def abandon(hass: HomeAssistant, conversation_id: str) -> None:
    """Keep the running calls of a cancelled turn, so that their outcomes are reported with the next answer."""
    for begun in hass.data.get(_RUNNING, ()):
        if begun.caller.conversation_id == conversation_id:
            _keep(begun)


@callback
def unheard(hass: HomeAssistant, caller: Caller, *, ended: bool = False) -> list[str]:
    """Return the outcomes that were not reported to a caller yet; a call that has ended is reported once.

    With `ended`, calls that still run are left for later.
    """
    begun = hass.data.get(_UNHEARD, [])
    mine = [one for one in begun if is_same_speaker(one.caller, caller) and (one.is_over or not ended)]
    hass.data[_UNHEARD] = [one for one in begun if one not in mine or not one.is_over]
    exposure = Exposure(hass, caller.assistant)
    return [one.told(exposure) for one in mine]


@callback
def check_nothing_goes_on(hass: HomeAssistant, caller: Caller) -> None:
    """Raise ToolError while a call of the caller runs.

    Undo takes the latest change first, and that call may still make one.
    """
    for one in hass.data.get(_UNHEARD, ()):
        if is_same_speaker(one.caller, caller) and not one.is_over:
            raise ToolError(f"{one.told(Exposure(hass, caller.assistant))} It can be undone when it has ended.")


@callback
def tell_later(hass: HomeAssistant, caller: Speaking, told: Callable[[Exposure], str]) -> None:
    """Report the outcome of an interrupted call with the caller's next answer."""
    _add(hass, InterruptedCall(caller, told))


def _keep(begun: BackgroundCall) -> None:
    if begun not in begun.call.hass.data.get(_UNHEARD, ()):
        _add(begun.call.hass, begun)


@callback
def _add(hass: HomeAssistant, one: BackgroundCall | InterruptedCall) -> None:
    """Add a call whose end is to be reported; drop the oldest beyond the limit."""
    hass.data[_UNHEARD] = [*hass.data.get(_UNHEARD, ()), one][-_MAX_UNHEARD:]


async def async_watched(hass: HomeAssistant, work: Coroutine[Any, Any, llm.ToolResult]) -> llm.ToolResult:
    """Return the result of acting work, or an UnseenResult after LONGEST.

    The work, such as a script, is never cancelled in the middle.
    """
    task = _begun(hass, work)
    try:
        done, _ = await asyncio.wait({task}, timeout=LONGEST)
    except asyncio.CancelledError:  # Home Assistant stops.
        task.cancel()
        raise
    return task.result() if done else UnseenResult(data={})


async def async_cut_off(
    hass: HomeAssistant, work: Coroutine[Any, Any, llm.ToolResult], deadline: float
) -> llm.ToolResult | None:
    """Return the result of reading work, or None after the deadline, even if the work ignores its cancellation."""
    if (task := _begun(hass, work)).done():  # Most read what is there, and wait for nothing.
        return task.result()
    try:
        done, _ = await asyncio.wait({task}, timeout=deadline)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_CLEANING_UP)
    # What it still returned when it was cancelled is no less of a result.
    return task.result() if done or (task.done() and not task.cancelled() and not task.exception()) else None


def _begun(hass: HomeAssistant, work: Coroutine[Any, Any, llm.ToolResult]) -> asyncio.Task[llm.ToolResult]:
    """Start a call as a task, whose error is not logged if nobody waits for it any more."""
    task = hass.async_create_background_task(work, f"{DOMAIN} call")
    if not task.done():
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    return task

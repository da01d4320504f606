"""Run a checked sequence, and say what became of it."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
import re
from typing import Any

import voluptuous as vol

from homeassistant.components.homeassistant.exposed_entities import async_listen_entity_updates
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import State, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.script import Script, ScriptRunResult
from homeassistant.helpers.trace import TraceElement, script_execution_get, trace_get
from homeassistant.util.json import JsonObjectType

from ..const import DOMAIN, LOGGER
from ..exposure import Exposure, is_secret_text
from ..groups import is_group
from ..results import ToolError
from ..toolbox.call import ToolCall
from ..toolbox.outcome import describe_change, fitting
from ..walk import texts_in
from .perform import safe_reason
from .sequences import SequenceWalker

SEQUENCE_TIME = 30.0
"""Seconds that a sequence may take: about as long as somebody waits for an answer. Nothing goes on unseen after it."""

_MAX_FAILURES = 5
_OVER = f"stopped after {SEQUENCE_TIME:g} seconds, the longest that a sequence may take"
_NOT_TOLD = "(not told: it names something that is not exposed, or is secret)"
_HIDDEN = "stopped: something that it uses is not exposed any more"


type Outcome = tuple[ScriptRunResult | None, str | None]
"""What a run returned, and how it ended."""
type Trace = Mapping[str, list[TraceElement]]


class SequenceRun:
    """One run of a checked sequence; ended when nobody waits for it, and when something it uses is hidden meanwhile."""

    def __init__(self, call: ToolCall, walker: SequenceWalker, sequence: list[dict[str, Any]]) -> None:
        """Take the sequence with the walker that checked it."""
        self._call = call
        self._walker = walker
        self._script = Script(
            call.hass, sequence, "Sequence of an assistant", DOMAIN, log_exceptions=False, logger=LOGGER
        )
        self._trace: Trace = {}
        self._is_hidden = False

    async def async_run(self) -> JsonObjectType:
        """Run to the end, or to the end of the time; raises ToolError when it failed before it changed anything."""
        call = self._call
        before = {state.entity_id: state for state in call.hass.states.async_all()}
        task = await self._async_end()
        call = as_of_now(call)
        acted = self._acted_on()
        self._forget_failed(acted)
        await call.recording.async_settle(call.hass)
        answer: JsonObjectType = {"ended": _OVER}
        failures = self._failures(call.exposure)
        if task.done() and not task.cancelled():
            if (error := task.exception()) is None:
                result, reason = task.result()
                answer = {"ended": self._ended(reason), **_response(call.exposure, result)}
            elif isinstance(error, HomeAssistantError | vol.Invalid):
                answer["ended"] = f"failed at {self._last_place()}"
                failures = failures or [safe_reason(call.exposure, error)]
            else:
                raise error
        if self._is_hidden:
            answer["ended"] = _HIDDEN
        if entities := changes(call, before, acted):
            answer["entities"] = entities
        elif failures and "failed" in str(answer["ended"]):
            raise ToolError(f"The sequence {answer['ended']} and changed nothing: {'; '.join(failures)}")
        if failures:
            answer["failures"] = list(failures)
        if left_out := sum(action.left_out for action in self._walker.actions):
            answer["left_out"] = f"{left_out} more in its targets not touched: not exposed, or moving what is not."
        return answer

    async def _async_end(self) -> asyncio.Task[Outcome]:
        """Return the task of the run when it is over, or when its time is; nothing of it goes on after that."""
        hass = self._call.hass
        stop_listening = async_listen_entity_updates(hass, str(self._call.llm_context.assistant), self._on_exposure)
        try:
            if not self._walker.is_still_exposed():
                raise ToolError("What is exposed was changed just now, so nothing was done. Call again.")
            task = hass.async_create_task(self._async_traced(), "extended_assist sequence")
            try:
                await asyncio.wait({task}, timeout=SEQUENCE_TIME)
            finally:
                task.cancel()
        finally:
            stop_listening()
            await self._script.async_unload()
        return task

    async def _async_traced(self) -> Outcome:
        """Run in a context of its own, in which the trace is not mixed with that of a script around it."""
        self._trace = trace_get()
        result = await self._script.async_run(context=self._call.llm_context.context)
        return result, script_execution_get()

    @callback
    def _on_exposure(self) -> None:
        """Stop at once when something that the sequence reads or acts on was hidden."""
        if not self._is_hidden and not self._walker.is_still_exposed():
            self._is_hidden = True
            self._call.hass.async_create_task(self._script.async_stop(), "extended_assist stop")

    def _ended(self, reason: str | None) -> str:
        """Return how a run came to its end, in words."""
        return "finished" if reason == "finished" else f"ended early at {self._last_place()}"

    def _last_place(self) -> str:
        """Return the last step that was begun."""
        steps = [path for path in self._trace if not re.search(r"/(conditions?|entity_id|if|until|while)(/|$)", path)]
        return _place(steps[-1]) if steps else "its beginning"

    def _failures(self, exposure: Exposure) -> list[str]:
        """Return what failed, innermost steps only."""
        failed = {
            path: "the time to wait was over" if error == "TimeoutError" else str(error)
            for path, elements in self._trace.items()
            for element in elements
            if (error := element.as_dict().get("error"))
        }
        innermost = [path for path in failed if not any(other.startswith(f"{path}/") for other in failed)]
        return [
            f"{_place(path)}: {safe_reason(exposure, HomeAssistantError(failed[path]))}"
            for path in innermost[:_MAX_FAILURES]
        ]

    def _forget_failed(self, acted: set[str]) -> None:
        """Expect nothing of entities whose actions failed and changed nothing."""
        acts = self._call.recording.acts
        for entity_id in {entity_id for action in self._walker.actions for entity_id in action.entity_ids} - acted:
            if entity_id in acts and self._call.hass.states.get(entity_id) is acts[entity_id].before:
                del acts[entity_id]

    def _acted_on(self) -> set[str]:
        """Return the entities of the actions that were begun and did not fail."""
        begun: set[str] = set()
        for step in (element.as_dict() for elements in self._trace.values() for element in elements):
            # What failed changed nothing; where it did all the same, that is seen by its context.
            if "error" not in step and (params := step.get("result", {}).get("params")):
                begun |= {f"{params['domain']}.{params['service']}", *params["target"].get(ATTR_ENTITY_ID, ())}
        return {
            entity_id
            for action in self._walker.actions
            if action.name in begun and action.supports_response is not SupportsResponse.ONLY
            for entity_id in action.entity_ids
            if not action.targeted or entity_id in begun
        }


def as_of_now(call: ToolCall) -> ToolCall:
    """Return a call that knows what is exposed now, so that what was hidden meanwhile is not told either."""
    return replace(call, exposure=Exposure(call.hass, call.llm_context.assistant, call.options.external_statistics))


def changes(call: ToolCall, before: Mapping[str, State], acted: Iterable[str]) -> JsonObjectType:
    """Return what became of the exposed entities that were acted on, or were changed by what was run."""
    # Groups follow their members.
    touched = {*acted} | {entity_id for entity_id in call.recording.acts if not is_group(call.hass, entity_id)}
    reports = {
        entity_id: describe_change(call.exposure, before.get(entity_id), call.hass.states.get(entity_id))
        for entity_id in sorted(filter(call.exposure.is_exposed, touched))
    }
    told = fitting(reports, call.budget // 2)
    if more := len(reports) - len(told):
        told["more"] = f"{more} more entities"
    return told


def visible_response(exposure: Exposure, response: Any) -> Any:
    """A response without credentials, and without what holds the id or name of something hidden, or None."""
    visible = exposure.visible_value(response)
    if visible is None:
        return _NOT_TOLD if isinstance(response, str) and is_secret_text(response) else None
    hides = exposure.names_hidden(" ".join(text for text, _ in texts_in(visible, keys=True)))
    return _without_names(visible, exposure.names_hidden) if hides else visible


def _without_names(value: Any, names_hidden: Callable[[str], bool]) -> Any:
    """A response without texts that a check finds to name something hidden."""
    if isinstance(value, Mapping):
        return {key: _without_names(item, names_hidden) for key, item in value.items() if not names_hidden(str(key))}
    if isinstance(value, list | tuple):
        return [_without_names(item, names_hidden) for item in value]
    return _NOT_TOLD if isinstance(value, str) and names_hidden(value) else value


def _response(exposure: Exposure, result: ScriptRunResult | None) -> JsonObjectType:
    """Return what a run has to say."""
    answer: JsonObjectType = {}
    if result is None:
        return answer
    if result.service_response is not None:
        answer["response"] = visible_response(exposure, result.service_response)
    if isinstance(result.conversation_response, str):
        answer["to_say"] = visible_response(exposure, result.conversation_response)
    return answer


def _place(path: str) -> str:
    """Return a path of a trace as the place in the sequence as it was given."""
    place = "sequence"
    parts = path.split("/")
    for index, part in enumerate(parts):
        if part.isdigit():
            repeated = parts[max(index - 2, 0) : index] == ["repeat", "sequence"]
            place += f"[{max(int(part) - repeated, 0)}]"
        else:
            place += f".{part}"
    return place

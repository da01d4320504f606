"""Run a checked sequence and report its outcome, also that of the scripts and automations that it runs."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum, auto
import re
from typing import Any, Final, Self

import voluptuous as vol

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import Context, HomeAssistant, State, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.script import Script, ScriptRunResult
from homeassistant.helpers.trace import TraceElement, script_execution_get, trace_get
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.outcome import describe_change, fitting
from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..exposure.groups import is_group
from ..exposure.responses import safe_reason
from ..exposure.safe_log import QUIET, UnloggedText
from ..ha_compat.automations import async_get_trace, async_list_traces
from ..ha_compat.exposed_entities import async_listen_entity_updates
from ..results import FreeTextError, ToolError
from ..templates.bound_template import TemplateRun
from .binding import Asked, Binder
from .check import ActionChecker, ResolvedAction
from .sequences import SequenceWalker

SEQUENCE_TIME = 30.0
"""The most seconds of a sequence: about as long as a user waits. Nothing continues after it."""

_MAX_FAILURES = 5
_OVER = "stopped after {:g} seconds, the longest that a sequence may take"
_STOPPED = "stopped before its next step"
_HIDDEN = "stopped: something that it uses is not exposed any more"


class SequenceEnd(Enum):
    """The ways in which a sequence can end."""

    FINISHED = auto()
    STOPPED_ITSELF = auto()
    """A `stop` step without an error ended it."""
    EARLY = auto()
    """A condition was not met, or a `stop` step ended it with an error."""
    FAILED = auto()
    OVER = auto()
    """Its time limit was reached."""
    HIDDEN = auto()
    """Something that it uses is no longer exposed."""
    STOPPED = auto()


type Outcome = tuple[ScriptRunResult | None, str | None]
"""The response of a run, and the reason of its end."""


class TracedScript:
    """A script of Home Assistant's script engine that runs once, with its trace."""

    def __init__(self, hass: HomeAssistant, sequence: list[dict[str, Any]], name: str, variables: Any = None) -> None:
        """Create the script from a prepared sequence."""
        self._script = Script(
            hass, sequence, UnloggedText(name), DOMAIN, variables=variables, log_exceptions=False, logger=QUIET
        )
        self.trace: Mapping[str, list[TraceElement]] = {}

    async def async_run(self, context: Context | None, variables: Mapping[str, Any] | None = None) -> Outcome:
        """Run in a task of its own, so that its trace is separate from that of an outer script."""
        self.trace = trace_get()
        return await self._script.async_run(variables, context), script_execution_get()

    async def async_stop(self) -> None:
        """Stop the run before its next step."""
        await self._script.async_stop()

    async def async_unload(self) -> None:
        """Unload the script, which also stops its run."""
        await self._script.async_unload()

    @property
    def has_stop(self) -> bool:
        """Return whether a `stop` step ended it without an error."""
        results = [one.as_dict().get("result") or {} for elements in self.trace.values() for one in elements]
        return any("stop" in result and not result.get("error") for result in results)

    @property
    def last_place(self) -> str:
        """Return the last step that started."""
        return last_place(self.trace)

    def failures(self, exposure: Exposure) -> list[str]:
        """Return the errors of the innermost steps only."""
        failed = {
            path: _reason(exposure, step)
            for path, elements in self.trace.items()
            for step in (element.as_dict() for element in elements)
            if step.get("error")
        }
        innermost = [path for path in failed if not any(other.startswith(f"{path}/") for other in failed)]
        return [f"{place_of(path)}: {failed[path]}" for path in innermost[:_MAX_FAILURES]]


def _reason(exposure: Exposure, step: Mapping[str, Any]) -> str:
    """Return why a step failed.

    The error of an action may name a hidden entity, so it is filtered. Other errors come from exposed data only and stay
    unfiltered: a filter would reveal whether a text is the name of something hidden.
    """
    if step["error"] == "TimeoutError":
        return "the time to wait was over"
    is_of_action = "params" in (step.get("result") or {})
    return safe_reason(exposure, HomeAssistantError(step["error"])) if is_of_action else str(step["error"])


class SequenceRun:
    """One run of a checked sequence; it stops at its time limit, and when something it uses is hidden."""

    def __init__(self, call: ToolCall, walker: SequenceWalker, checker: ActionChecker) -> None:
        """Store the call and the walker that checked the sequence."""
        self._call = call
        self._walker = walker
        self._checker = checker
        self._run = TemplateRun(call.hass, str(call.llm_context.assistant))
        self._performed: list[ResolvedAction] = []
        self._binder: Binder
        self._script: TracedScript
        self._is_hidden = False
        self._ended = _STOPPED
        """The reason in words, used only if the run was cut short."""
        self.end = SequenceEnd.STOPPED

    @classmethod
    async def async_create(cls, call: ToolCall, walker: SequenceWalker, sequence: list[Any]) -> Self:
        """Prepare the checked sequence; raises ToolError if Home Assistant does not accept it."""
        made = cls(call, walker, await ActionChecker.async_create(call))
        try:
            made._binder = Binder(made._run, made._prepare)
            bound = await made._binder.async_sequence(sequence)
        except (vol.Invalid, HomeAssistantError) as err:
            raise ToolError(f"sequence is not valid: {safe_reason(call.exposure, err)}") from err
        made._script = TracedScript(call.hass, bound, "Sequence of an assistant")
        return made

    @callback
    def _prepare(self, asked: Asked) -> dict[str, Any]:
        """Check an action right before it runs, with the current exposure; return its data."""
        action = self._checker.check(self._run.exposure(), asked.name, asked.target.whole, asked.data.whole)
        self._performed.append(action)
        return action.data | action.target

    async def async_run(
        self, seconds: float | None = None, stopped: asyncio.Future[None] | None = None
    ) -> JsonObjectType:
        """Run until the end, the time limit in seconds (SEQUENCE_TIME by default) or `stopped`; return the outcome.

        Raises ToolError if the sequence failed before it changed anything.
        """
        call = self._call
        before = {state.entity_id: state for state in call.hass.states.async_all()}
        task = await self._async_end(SEQUENCE_TIME if seconds is None else seconds, stopped)
        call = as_of_now(call)
        acted = self._acted_on()
        self._forget_failed(acted)
        await call.recording.async_settle(call.hass)
        answer: JsonObjectType = {"ended": self._ended}
        failures = self._script.failures(call.exposure)
        if task.done() and not task.cancelled():
            if (error := task.exception()) is None:
                result, reason = task.result()
                answer = {"ended": self._came_to(reason), **_response(self._run, result)}
                self.end = self._end_of(reason, failures)
            elif isinstance(error, HomeAssistantError | NotImplementedError | vol.Invalid):
                answer["ended"] = f"failed at {self._script.last_place}"
                self.end = SequenceEnd.FAILED
                failures = failures or [safe_reason(call.exposure, error)]
            else:
                raise error
        if any(action.domain in ENDING_DOMAINS for action in self._performed):
            failures += [f"{entity_id} {why}" for entity_id, why in (await async_not_finished(call)).items()]
            self.end = SequenceEnd.FAILED if failures else self.end
        if self._is_hidden:
            answer["ended"] = _HIDDEN
            self.end = SequenceEnd.HIDDEN
        if entities := changes(call, before, acted):
            answer["entities"] = entities
        elif failures and "failed" in str(answer["ended"]):
            raise FreeTextError(f"The sequence {answer['ended']} and changed nothing: {'; '.join(failures)}")
        if failures:
            answer["failures"] = list(failures)
        known = {(one.name, one.entity_ids): one.left_out for one in (*self._performed, *self._walker.actions)}
        if left_out := sum(known.values()):
            answer["left_out"] = f"{left_out} more in its targets not touched: not exposed, or moving what is not."
        return answer

    def has_free_text(self, answer: JsonObjectType) -> bool:
        """Return whether an answer of this run contains free text; words in the sequence itself are the model's."""
        # Templates and responses decide which steps ran, and errors contain the words of devices.
        return "failures" in answer or self._run.has_free_text or bool(self._run.responses)

    async def _async_end(self, seconds: float, stopped: asyncio.Future[None] | None) -> asyncio.Task[Outcome]:
        """Return the task of the run after it ended, was stopped or reached its time limit; nothing of it continues."""
        hass = self._call.hass
        stop_listening = async_listen_entity_updates(hass, str(self._call.llm_context.assistant), self._on_exposure)
        try:
            if not self._walker.is_still_exposed():
                raise ToolError("What is exposed was changed just now, so nothing was done. Call again.")
            task = hass.async_create_task(
                self._script.async_run(self._call.llm_context.context), "extended_assist sequence"
            )
            try:
                signals: set[asyncio.Future[Any]] = {task} if stopped is None else {task, stopped}
                await asyncio.wait(signals, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                if stopped is None or not stopped.done():
                    self._ended = _OVER.format(seconds)
                    self.end = SequenceEnd.OVER
            finally:
                task.cancel()
        finally:
            stop_listening()
            await self._script.async_unload()
        return task

    @callback
    def _on_exposure(self) -> None:
        """Stop the run if something that it reads or acts on was hidden."""
        if not self._is_hidden and not self._walker.is_still_exposed():
            self._is_hidden = True
            self._call.hass.async_create_task(self._script.async_stop(), "extended_assist stop")

    def _end_of(self, reason: str | None, failures: list[str]) -> SequenceEnd:
        """Return the kind of end of a run that was not cut short."""
        if failures:
            return SequenceEnd.FAILED
        if reason != "finished":
            return SequenceEnd.EARLY
        return SequenceEnd.STOPPED_ITSELF if self._script.has_stop else SequenceEnd.FINISHED

    @property
    def is_whole(self) -> bool:
        """Return whether every action ran and the recorded changes cover all of their entities."""
        if self.end is SequenceEnd.STOPPED_ITSELF or not self._binder.is_all_performed:
            return False
        changing = (one for one in self._performed if one.supports_response is not SupportsResponse.ONLY)
        return all(one.entity_ids and self._call.recording.acts.keys() >= {*one.entity_ids} for one in changing)

    @property
    def has_left_all_out(self) -> bool:
        """Return whether the sequence has actions and none of them ran."""
        return bool(self._walker.actions) and not self._performed

    def _came_to(self, reason: str | None) -> str:
        """Return the end of the run in words."""
        return "finished" if reason == "finished" else f"ended early at {self._script.last_place}"

    def _forget_failed(self, acted: set[str]) -> None:
        """Remove the expected changes of entities whose actions failed and changed nothing."""
        acts = self._call.recording.acts
        for entity_id in {entity_id for action in self._performed for entity_id in action.entity_ids} - acted:
            if entity_id in acts and self._call.hass.states.get(entity_id) is acts[entity_id].before:
                del acts[entity_id]

    def _acted_on(self) -> set[str]:
        """Return the entities of the actions that started and did not fail."""
        begun: set[str] = set()
        for step in (element.as_dict() for elements in self._script.trace.values() for element in elements):
            # A failed step is expected to have changed nothing; if it did, the context of the change shows it.
            if "error" not in step and (params := step.get("result", {}).get("params")):
                begun |= {f"{params['domain']}.{params['service']}", *params["service_data"].get(ATTR_ENTITY_ID, ())}
        return {
            entity_id
            for action in self._performed
            if action.name in begun and action.supports_response is not SupportsResponse.ONLY
            for entity_id in action.entity_ids
            if not action.targeted or entity_id in begun
        }


def as_of_now(call: ToolCall) -> ToolCall:
    """Return the call with the current exposure, so that the report leaves out entities that were hidden meanwhile."""
    return replace(call, exposure=Exposure(call.hass, call.llm_context.assistant, call.options.external_statistics))


def changes(call: ToolCall, before: Mapping[str, State], acted: Iterable[str]) -> JsonObjectType:
    """Return the changes of the exposed entities that the steps acted on or changed."""
    # The states of groups follow those of their members, so groups are left out.
    touched = {*acted} | {entity_id for entity_id in call.recording.acts if not is_group(call.hass, entity_id)}
    reports = {
        entity_id: describe_change(call.hass, call.exposure, before.get(entity_id), call.hass.states.get(entity_id))
        for entity_id in sorted(filter(call.exposure.is_exposed, touched))
    }
    told = fitting(reports, call.budget // 2)
    if more := len(reports) - len(told):
        told["more"] = f"{more} more entities"
    return told


def _response(run: TemplateRun, result: ScriptRunResult | None) -> JsonObjectType:
    """Return the response and the conversation response of a run."""
    answer: JsonObjectType = {}
    if result is None:
        return answer
    if result.service_response is not None:
        answer["response"] = run.told(result.service_response)
    if isinstance(result.conversation_response, str):
        answer["to_say"] = result.conversation_response
    return answer


ENDING_DOMAINS: Final = {AUTOMATION_DOMAIN: "an automation", SCRIPT_DOMAIN: "a script"}
"""Domains whose runs have an end, with the words for one that is not exposed."""
_REASONS: Final = {
    "cancelled": "was stopped",
    "disallowed_recursion_detected": "would have run itself",
    "failed_max_runs": "runs as often as it may already",
    "failed_single": "is running already",
}
_PARTS = re.compile(r"/(conditions?|entity_id|if|until|while)(/|$)")


async def async_not_finished(call: ToolCall) -> dict[str, str]:
    """Return why scripts and automations that ran in this call did not finish, by entity id.

    Those without stored traces are left out.
    """
    hass, context = call.hass, call.llm_context.context
    found: dict[str, str] = {}
    for short in [one for domain in ENDING_DOMAINS for one in await async_list_traces(hass, domain, None)]:
        ended, domain = short["script_execution"], short["domain"]
        if short["state"] != "stopped" or ended == "finished":
            continue
        key = f"{domain}.{short['item_id']}"
        run: dict[str, Any] = dict(await async_get_trace(hass, key, short["run_id"]))
        # An automation runs in a child context.
        if context is None or context.id not in (run["context"].id, run["context"].parent_id):
            continue
        entity_id = er.async_get(hass).async_get_entity_id(domain, domain, short["item_id"]) or key
        failed = {path: step["error"] for path, steps in run["trace"].items() for step in steps if step.get("error")}
        if failed and ended not in _REASONS:
            path = max(failed, key=lambda path: path.count("/"))
            words = f"was aborted at {place_of(path)}: {safe_reason(call.exposure, HomeAssistantError(failed[path]))}"
        else:
            words = _REASONS.get(ended, f"ended early at {last_place(run['trace'])}, where a condition was not met")
        found[entity_id if call.exposure.is_exposed(entity_id) else f"{ENDING_DOMAINS[domain]} that is not exposed"] = (
            words
        )
    return found


def last_place(paths: Iterable[str]) -> str:
    """Return the place of the last step that started."""
    steps = [path for path in paths if not _PARTS.search(path)]
    return place_of(steps[-1]) if steps else "its beginning"


def place_of(path: str) -> str:
    """Convert the path of a trace to the place in the given sequence."""
    place = "sequence"
    parts = path.removeprefix("sequence/").split("/")
    for index, part in enumerate(parts):
        if part.isdigit():
            repeated = parts[max(index - 2, 0) : index] == ["repeat", "sequence"]
            place += f"[{max(int(part) - repeated, 0)}]"
        else:
            place += f".{part}"
    return place

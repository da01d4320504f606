"""Perform an action and report what happened, not what was hoped for."""

import asyncio
from collections.abc import Callable, Container, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

import voluptuous as vol

from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, ServiceResponse, State, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError, Unauthorized
from homeassistant.helpers.event import async_track_state_change_event, async_track_state_report_event
from homeassistant.util.json import JsonObjectType

from ..const import LOGGER
from ..exposure import Exposure
from ..results import ToolError, format_state, size
from ..toolbox.call import ToolCall
from .check import ResolvedAction

SETTLE_TIME = 2.0
"""Seconds in which a state may follow an action; slower devices are reported as not changed yet."""
ACTION_TIME = 6.0
"""Seconds until an action that is still going on, such as a long script, is reported as such."""

_NOTES = 300
"""Characters kept free for what is said about entities left out."""
_MAX_ATTRIBUTES = 6
_MAX_VALUE = 60
_NOT_ALLOWED = "The user who speaks may not do this in Home Assistant. Tell them to ask an administrator."


class ChangeWatch:
    """Sees which of some entities write their state, changed or not, while it is entered."""

    def __init__(self, hass: HomeAssistant, entity_ids: Iterable[str]) -> None:
        """Take the states as they are now."""
        self._hass = hass
        self.before = {entity_id: hass.states.get(entity_id) for entity_id in entity_ids}
        self._written: set[str] = set()
        self._changed = asyncio.Event()
        self._stop: list[CALLBACK_TYPE] = []

    def __enter__(self) -> Self:
        """Begin to watch."""
        self._stop = [
            async_track_state_change_event(self._hass, list(self.before), self._on_written),
            async_track_state_report_event(self._hass, list(self.before), self._on_written),
        ]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """End watching."""
        for stop in self._stop:
            stop()

    @callback
    def _on_written(self, event: Event[Any]) -> None:
        """Take note of an entity."""
        self._written.add(event.data["entity_id"])
        self._changed.set()

    async def async_settle(self, entity_ids: Iterable[str]) -> None:
        """Wait until all of these have written their state, at most SETTLE_TIME."""
        waiting = set(entity_ids)
        try:
            async with asyncio.timeout(SETTLE_TIME):
                while waiting - self._written:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return

    def has_written(self, entity_id: str) -> bool:
        """Return whether an entity wrote its state."""
        return entity_id in self._written


async def async_perform(call: ToolCall, action: ResolvedAction, patience: float = ACTION_TIME) -> JsonObjectType:
    """Perform an action with the speaker's context; return its response, or what each entity was and is.

    What takes longer than patience goes on by itself.

    Raises ToolError when Home Assistant refuses or fails.
    """
    asks = action.supports_response is not SupportsResponse.NONE
    changes = action.supports_response is not SupportsResponse.ONLY
    call.recording.what = action.name
    if changes:
        call.recording.targets |= set(action.entity_ids)
    answer: JsonObjectType = {"action": action.name}
    with ChangeWatch(call.hass, action.entity_ids) as watch:
        try:
            response, finished = await _async_call(call, action, patience, return_response=asks)
        except ToolError:
            # What was refused changed nothing; where it did all the same, that is seen by its context.
            call.recording.targets.difference_update(action.entity_ids)
            raise
        if finished and not asks:
            await watch.async_settle(action.entity_ids)
    if not finished:
        answer["note"] = f"It has not finished after {patience:g} seconds and goes on."
    if response:
        answer["response"] = call.exposure.visible_value(response)
    if changes:
        reports = {
            entity_id: report
            for entity_id in action.entity_ids
            if (report := _report(call, watch, entity_id, action, quiet=asks)) is not None
        }
        if reports:
            answer["entities"] = told = fitting(reports, call.budget - size(answer) - _NOTES)
            if more := len(reports) - len(told):
                answer["more"] = f"{more} more entities were acted on."
    if action.left_out:
        answer["left_out"] = f"{action.left_out} more in this target not touched: not exposed, or moving what is not."
    return answer


def fitting(reports: Mapping[str, str], room: int) -> JsonObjectType:
    """Return as many of the first reports as fit into a number of characters."""
    kept: JsonObjectType = {}
    for entity_id, report in reports.items():
        if (room := room - size({entity_id: report})) < 0:
            break
        kept[entity_id] = report
    return kept


async def _async_call(
    call: ToolCall, action: ResolvedAction, patience: float, *, return_response: bool
) -> tuple[ServiceResponse, bool]:
    """Call and return the response, and whether it came in time; after that it goes on by itself."""
    task = call.hass.async_create_task(
        call.hass.services.async_call(
            action.domain,
            action.service,
            dict(action.data),
            blocking=True,
            context=call.llm_context.context,
            target=action.target,
            return_response=return_response,
        ),
        f"extended_assist {action.name}",
    )
    done, _ = await asyncio.wait({task}, timeout=patience)
    if not done:
        task.add_done_callback(_log_failure(action.name))
        return None, False
    try:
        return task.result(), True
    except vol.Invalid as err:
        raise ToolError(
            f"{action.name} does not take this data: {safe_reason(call.exposure, err)}. Correct it and call again."
        ) from err
    except Unauthorized as err:
        raise ToolError(_NOT_ALLOWED) from err
    except HomeAssistantError as err:
        raise ToolError(f"{action.name} failed: {safe_reason(call.exposure, err)}") from err


def _log_failure(name: str) -> Callable[[asyncio.Task[ServiceResponse]], None]:
    """Return what logs the failure of an action that nobody waits for any more."""

    def log(task: asyncio.Task[ServiceResponse]) -> None:
        if not task.cancelled() and (error := task.exception()):
            LOGGER.warning("%s failed after it was reported as going on: %s", name, error)

    return log


def safe_reason(exposure: Exposure, error: Exception) -> str:
    """Return the text of an error unless it names something hidden."""
    text = str(error) or type(error).__name__
    return "the reason names something that is not exposed" if exposure.names_hidden(text) else text


def _report(call: ToolCall, watch: ChangeWatch, entity_id: str, action: ResolvedAction, *, quiet: bool) -> str | None:
    """Say what an entity was and is; nothing for an unchanged one where an answer says more."""
    before, after = watch.before[entity_id], call.hass.states.get(entity_id)
    if after is not before:
        return describe_change(call, before, after, {name.removesuffix("_pct") for name in action.data})
    if quiet or after is None:
        return None
    state = _state(after)
    if watch.has_written(entity_id):
        return f"{state}, as before"
    return (
        f"{state}, no change seen within {SETTLE_TIME:g} seconds: it was so already, does not tell, or did not follow"
    )


def describe_change(
    call: ToolCall, before: State | None, after: State | None, asked: Container[str] = frozenset()
) -> str:
    """Return what an entity was and is, such as 'off → on, brightness 128', first what was asked for."""
    if after is None:
        return "removed"
    was = _state(before) if before else "nothing"
    parts = [_state(after) if was == _state(after) else f"{was} → {_state(after)}"]
    old = before.attributes if before else {}
    changed = [
        (name, value)
        for name, value in call.exposure.visible_attributes(after).items()
        if old.get(name) != value and value is not None and (name in asked or isinstance(value, str | int | float))
    ]
    changed.sort(key=lambda item: item[0] not in asked)
    parts += [f"{name} {_short(value)}" for name, value in changed[:_MAX_ATTRIBUTES]]
    return ", ".join(parts)


def _state(state: State) -> str:
    """Return a state with its unit."""
    unit = state.attributes.get("unit_of_measurement")
    return f"{format_state(state.state)} {unit}" if unit else format_state(state.state)


def _short(value: Any) -> str:
    """Return a value as a short text."""
    text = str(value)
    return text if len(text) <= _MAX_VALUE else text[: _MAX_VALUE - 1] + "…"

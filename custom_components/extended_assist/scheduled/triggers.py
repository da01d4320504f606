"""Triggers and conditions of tasks, attached as automations attach theirs; prepared conditions are cached."""

from collections.abc import Callable, Iterable, Mapping
from contextvars import Context as ContextVariables
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

import voluptuous as vol

from homeassistant.const import EVENT_COMPONENT_LOADED
from homeassistant.core import CALLBACK_TYPE, Context, Event, HomeAssistant, callback, valid_entity_id
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import condition as condition_helper, config_validation as cv, trigger as trigger_helper
from homeassistant.helpers.template import is_template_string

from ..actions.sequences import SequenceWalker
from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..exposure.safe_log import QUIET, UnloggedText, log_unexpected
from ..results import ToolError, texts_in
from .scheduled_task import ScheduledTask
from .tool_call import async_call

RETRY = 60.0
"""Seconds until a retry of triggers that could not be attached; loading a component retries them at once."""


type _Key = tuple[str, int]
"""The id of a task, and the index of a trigger in its triggers."""


@dataclass(slots=True, eq=False)
class _Watch:
    """One trigger of a task."""

    trigger: dict[str, Any]
    detach: CALLBACK_TYPE | None = None
    """The callback that detaches the trigger; None while it is not attached."""
    tried: float = 0.0
    """The time of the last attempt to attach it, by the event loop's clock."""

    def leave(self) -> None:
        """Detach the trigger."""
        if self.detach is not None:
            self.detach()
            self.detach = None


class Triggers:
    """The triggers of all tasks."""

    def __init__(self, hass: HomeAssistant, fired: Callable[[str], None]) -> None:
        """Store the callback that gets the id of a task when one of its triggers fires."""
        self._hass = hass
        self._fired = fired
        self._watches: dict[_Key, _Watch] = {}
        hass.bus.async_listen(EVENT_COMPONENT_LOADED, self._on_component)

    @callback
    def async_set(self, tasks: Iterable[ScheduledTask]) -> None:
        """Attach the triggers of these tasks and detach all others."""
        wanted = {(task.id, index): trigger for task in tasks for index, trigger in enumerate(task.when.triggers)}
        for key in [key for key, watch in self._watches.items() if wanted.get(key) != watch.trigger]:
            self._watches.pop(key).leave()
        for key, trigger in wanted.items():
            if key not in self._watches:
                self._watches[key] = _Watch(deepcopy(trigger))
                self._try(key)

    @property
    def is_missing(self) -> bool:
        """Return whether a trigger is not attached."""
        return any(watch.detach is None for watch in self._watches.values())

    @callback
    def async_retry(self) -> None:
        """Retry triggers whose last failed attempt was at least RETRY seconds ago."""
        now = self._hass.loop.time()
        for key, watch in self._watches.items():
            if watch.detach is None and now - watch.tried >= RETRY:
                self._try(key)

    @callback
    def _on_component(self, _: Event[Any]) -> None:
        """Retry all detached triggers when a component is loaded, which may be the missing one."""
        for key, watch in self._watches.items():
            if watch.detach is None:
                self._try(key)

    @callback
    def _try(self, key: _Key) -> None:
        """Attach a trigger in an empty context, outside of any conversation."""
        watch = self._watches[key]
        watch.tried = self._hass.loop.time()
        ContextVariables().run(
            self._hass.async_create_task, self._async_attach(key, watch), f"{DOMAIN} attaches a trigger"
        )

    async def _async_attach(self, key: _Key, watch: _Watch) -> None:
        """Attach one trigger separately, so that a failed one does not stop the `for` time of the others."""

        @callback
        def fire(_variables: dict[str, Any], _context: Context | None = None) -> None:
            if self._watches.get(key) is watch:
                self._fired(key[0])

        @callback
        def note(_level: int, message: str, **_: Any) -> None:
            QUIET.debug("A trigger of a scheduled task: %s", message)

        detach = None
        try:
            config = await trigger_helper.async_validate_trigger_config(
                self._hass, cv.TRIGGER_SCHEMA([deepcopy(watch.trigger)])
            )
            detach = await trigger_helper.async_initialize_triggers(
                self._hass, config, fire, DOMAIN, UnloggedText("a scheduled task"), note
            )
        except vol.Invalid, HomeAssistantError:
            pass
        except Exception:  # noqa: BLE001 - nobody waits for it
            log_unexpected("while a trigger of a scheduled task was attached")
        watch.leave()
        watch.detach = detach
        if self._watches.get(key) is not watch:
            watch.leave()


_PLAIN: Final = frozenset({"and", "or", "not", "state", "numeric_state", "sun", "time"})
"""Condition types that contain their entities as ids."""


@dataclass(slots=True, eq=False)
class _CachedConditions:
    """The conditions of one task."""

    conditions: list[dict[str, Any]]
    entity_ids: frozenset[str]
    checker: Any = None
    """Home Assistant's condition checker; None until it is ready, or if it cannot be created."""

    def leave(self) -> None:
        """Unload the checker."""
        if self.checker is not None:
            self.checker.async_unload()
            self.checker = None


class ConditionCache:
    """The prepared conditions of the tasks that wait for triggers, by task id."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create an empty cache."""
        self._hass = hass
        self._gates: dict[str, _CachedConditions] = {}

    @callback
    def async_set(self, tasks: Iterable[ScheduledTask]) -> None:
        """Prepare the conditions of these tasks and unload all others; tasks with a wait are checked after the wait."""
        wanted = {task.id: task.conditions for task in tasks if task.conditions and not task.when.wait}
        for task_id in [key for key, gate in self._gates.items() if wanted.get(key) != gate.conditions]:
            self._gates.pop(task_id).leave()
        for task_id, conditions in wanted.items():
            if task_id not in self._gates:
                gate = self._gates[task_id] = _CachedConditions(deepcopy(conditions), _ids_in(conditions))
                if all(map(_is_plain, conditions)) and not any(
                    is_template_string(text) for text, _ in texts_in(conditions)
                ):
                    ContextVariables().run(
                        self._hass.async_create_task, self._async_make(task_id, gate), f"{DOMAIN} readies conditions"
                    )

    @callback
    def is_shut(self, task: ScheduledTask) -> bool:
        """Return whether the prepared conditions of a task do not hold; False if one names a hidden entity."""
        gate = self._gates.get(task.id)
        if gate is None or gate.checker is None:
            return False
        exposure = Exposure(self._hass, task.owner.assistant)
        try:
            return all(map(exposure.is_exposed, gate.entity_ids)) and not gate.checker.async_check()
        except HomeAssistantError:
            return False

    async def _async_make(self, task_id: str, gate: _CachedConditions) -> None:
        """Create the checker of conditions; leave it out if they are not valid."""
        try:
            config = cv.CONDITIONS_SCHEMA(deepcopy(gate.conditions))
            valid: list[Any] = await condition_helper.async_validate_conditions_config(self._hass, config)
            gate.checker = await condition_helper.async_conditions_from_config(
                self._hass, valid, QUIET, UnloggedText("a scheduled task")
            )
        except vol.Invalid, HomeAssistantError:
            return
        except Exception:  # noqa: BLE001 - nobody waits for it
            log_unexpected("while the conditions of a scheduled task were prepared")
        if self._gates.get(task_id) is not gate:
            gate.leave()


def _is_plain(condition: Any) -> bool:
    """Return whether a condition and all nested ones are of a type that contains its entities as ids."""
    if not isinstance(condition, Mapping) or condition.get("condition") not in _PLAIN:
        return False
    inner = condition.get("conditions", [])
    return isinstance(inner, list) and all(map(_is_plain, inner))


def _ids_in(conditions: list[dict[str, Any]]) -> frozenset[str]:
    words = (word for text, _ in texts_in(conditions) for word in text.replace(",", " ").split())
    return frozenset(filter(valid_entity_id, words))


async def async_holds(hass: HomeAssistant, task: ScheduledTask) -> bool:
    """Check the conditions of a task with its current exposure; raises ToolError if they cannot be checked any more."""
    if not task.conditions:
        return True
    call = await async_call(hass, task)
    checker = None
    try:
        checked = await SequenceWalker(call, keep=True).async_conditions(task.conditions)
        valid: list[Any] = await condition_helper.async_validate_conditions_config(hass, cv.CONDITIONS_SCHEMA(checked))
        checker = await condition_helper.async_conditions_from_config(
            hass, valid, QUIET, UnloggedText("a scheduled task")
        )
        return checker.async_check()
    except (vol.Invalid, HomeAssistantError) as err:
        raise ToolError("its conditions cannot be checked any more.") from err
    finally:
        if checker is not None:
            checker.async_unload()

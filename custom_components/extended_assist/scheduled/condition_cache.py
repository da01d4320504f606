"""A cache of prepared conditions: a trigger that fires all day costs no more than in an automation.

The cache only rejects triggers whose conditions certainly do not hold. A due task checks its conditions again.
"""

from collections.abc import Iterable, Mapping
from contextvars import Context as ContextVariables
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

import voluptuous as vol

from homeassistant.core import HomeAssistant, callback, valid_entity_id
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import condition as condition_helper, config_validation as cv
from homeassistant.helpers.template import is_template_string

from ..actions.sequences import SequenceWalker
from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..exposure.safe_log import QUIET, UnloggedText, log_unexpected
from ..results import ToolError, texts_in
from .scheduled_task import ScheduledTask
from .tool_call import async_call

_PLAIN: Final = frozenset({"and", "or", "not", "state", "numeric_state", "sun", "time"})
"""Condition types that contain their entities as ids."""


@dataclass(slots=True, eq=False)
class _Gate:
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


class Gates:
    """The prepared conditions of the tasks that wait for triggers, by task id."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create an empty cache."""
        self._hass = hass
        self._gates: dict[str, _Gate] = {}

    @callback
    def async_set(self, tasks: Iterable[ScheduledTask]) -> None:
        """Prepare the conditions of these tasks and unload all others; tasks with a wait are checked after the wait."""
        wanted = {task.id: task.conditions for task in tasks if task.conditions and not task.when.wait}
        for task_id in [key for key, gate in self._gates.items() if wanted.get(key) != gate.conditions]:
            self._gates.pop(task_id).leave()
        for task_id, conditions in wanted.items():
            if task_id not in self._gates:
                gate = self._gates[task_id] = _Gate(deepcopy(conditions), _ids_in(conditions))
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

    async def _async_make(self, task_id: str, gate: _Gate) -> None:
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

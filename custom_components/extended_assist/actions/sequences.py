"""Walk what Home Assistant is to run later, before it runs or is written: sequences, conditions and triggers.

Whatever is named must be exposed and whatever is done allowed; what cannot be known beforehand is refused, with its place
and the reason. Syntax: https://www.home-assistant.io/docs/scripts/
"""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import voluptuous as vol

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback, split_entity_id, valid_entity_id
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.script import async_validate_actions_config
from homeassistant.helpers.template import is_template_string

from ..exposure import Exposure
from ..results import ToolError

MAX_STEPS = 100
MAX_DEPTH = 8

type Step = dict[str, Any]
type CheckAction = Callable[[str, Any, Any], Awaitable[Step]]
"""Takes an action, its target and its data; returns the step that performs it on exposed entities only."""
type CheckTemplate = Callable[[str], None]
"""Raises ToolError for a template that could read what is not exposed."""

_CONDITIONS = frozenset({"state", "numeric_state", "template", "time", "sun", "zone"})
_TRIGGERS = frozenset({"state", "numeric_state", "template", "time", "time_pattern", "sun", "zone"})
_NESTED = {"and", "or", "not"}
_REFUSED = {
    "event": "Firing an event may set off what is not exposed. Perform an action instead.",
    "device": "Device actions are not supported. Perform an action on an entity instead.",
}


class SequenceWalker:
    """Checks sequences, conditions and triggers for one speaker; returns them with their targets made concrete."""

    def __init__(
        self, hass: HomeAssistant, exposure: Exposure, check_action: CheckAction, check_template: CheckTemplate
    ) -> None:
        """Take what is exposed and the checks of actions and templates."""
        self._hass = hass
        self._exposure = exposure
        self._check_action = check_action
        self._check_template = check_template
        self._steps = 0

    async def async_sequence(self, sequence: Any) -> list[Step]:
        """Return a sequence that is ready to run; raises ToolError with the place and the reason."""
        walked = await self._async_steps(sequence, "sequence", 0)
        try:
            return await async_validate_actions_config(self._hass, cv.SCRIPT_SCHEMA(walked))
        except vol.Invalid as err:
            raise ToolError(f"The sequence is not valid: {err}") from err

    async def _async_steps(self, steps: Any, place: str, depth: int) -> list[Step]:
        """Check a list of steps; a single step counts as a list of one."""
        if depth > MAX_DEPTH:
            raise ToolError(f"{place}: nested more than {MAX_DEPTH} deep. Make it flatter.")
        if isinstance(steps, dict):
            steps = [steps]
        if not isinstance(steps, list):
            raise ToolError(f"{place}: this must be a list of steps.")
        return [await self._async_step(step, f"{place}[{index}]", depth) for index, step in enumerate(steps)]

    async def _async_step(self, step: Any, place: str, depth: int) -> Step:
        """Check one step."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise ToolError(f"{place}: more than {MAX_STEPS} steps. Do less at once.")
        if isinstance(step, str):
            return self._condition({"condition": "template", "value_template": step}, place)
        if not isinstance(step, dict):
            raise ToolError(f"{place}: a step must be an object.")
        try:
            kind = cv.determine_script_action(step)
        except ValueError as err:
            raise ToolError(f"{place}: this is no step of a script. Known: {', '.join(cv.ACTIONS_MAP)}.") from err
        if kind in _REFUSED:
            raise ToolError(f"{place}: {_REFUSED[kind]}")
        match kind:
            case "call_service":
                return await self._async_action(step, place)
            case "scene":
                return await self._async_action(
                    {"action": "scene.turn_on", "target": {"entity_id": step["scene"]}}, place
                )
            case "condition":
                return self._condition(step, place)
            case "choose" | "if" | "repeat" | "parallel" | "sequence":
                return await self._async_nested(step, place, depth)
            case "wait_for_trigger":
                return {
                    **self._texts(step, place, without={"wait_for_trigger"}),
                    "wait_for_trigger": self._triggers(step["wait_for_trigger"], f"{place}.wait_for_trigger"),
                }
        checked: Step = self._texts(step, place)
        return checked

    async def _async_action(self, step: Step, place: str) -> Step:
        """Check the action of a step."""
        action = step.get("action", step.get("service"))
        if not isinstance(action, str) or is_template_string(action):
            raise ToolError(f"{place}: name the action, such as light.turn_on; a template cannot be checked.")
        target = dict(step.get("target") or {})
        if "entity_id" in step:
            target["entity_id"] = step["entity_id"]
        data = step.get("data", step.get("data_template")) or {}
        self._texts(data, f"{place}.data")
        try:
            checked = await self._check_action(action, target, data)
        except ToolError as err:
            raise ToolError(f"{place}: {err}") from err
        kept = {"action", "service", "service_template", "target", "entity_id", "data", "data_template"}
        return {**self._texts(step, place, without=kept), **checked}

    async def _async_nested(self, step: Step, place: str, depth: int) -> Step:
        """Check a step that holds others."""
        walked: Step = self._texts(
            step, place, without={"choose", "if", "repeat", "parallel", "sequence", "then", "else", "default"}
        )
        for key in ("parallel", "sequence", "then", "else", "default"):
            if key in step:
                walked[key] = await self._async_steps(step[key], f"{place}.{key}", depth + 1)
        if "if" in step:
            walked["if"] = self._conditions(step["if"], f"{place}.if")
        if "choose" in step:
            walked["choose"] = [
                {
                    **self._texts(option, f"{place}.choose[{index}]", without={"conditions", "sequence"}),
                    "conditions": self._conditions(option.get("conditions"), f"{place}.choose[{index}].conditions"),
                    "sequence": await self._async_steps(
                        option.get("sequence"), f"{place}.choose[{index}].sequence", depth + 1
                    ),
                }
                for index, option in enumerate(_objects(step["choose"], f"{place}.choose"))
            ]
        if "repeat" in step:
            (repeat,) = _objects(step["repeat"], f"{place}.repeat")
            walked["repeat"] = self._texts(repeat, f"{place}.repeat", without={"sequence", "while", "until"})
            walked["repeat"]["sequence"] = await self._async_steps(
                repeat.get("sequence"), f"{place}.repeat.sequence", depth + 1
            )
            for key in ("while", "until"):
                if key in repeat:
                    walked["repeat"][key] = self._conditions(repeat[key], f"{place}.repeat.{key}")
        return walked

    def _conditions(self, conditions: Any, place: str) -> list[Any]:
        """Check conditions."""
        if isinstance(conditions, str | dict):
            conditions = [conditions]
        if not isinstance(conditions, list):
            raise ToolError(f"{place}: this must be a list of conditions.")
        return [self._condition(condition, f"{place}[{index}]") for index, condition in enumerate(conditions)]

    def _condition(self, condition: Any, place: str) -> Step:
        """Check one condition."""
        if isinstance(condition, str):
            condition = {"condition": "template", "value_template": condition}
        if not isinstance(condition, dict):
            raise ToolError(f"{place}: a condition must be an object or a template.")
        for key in _NESTED & condition.keys():
            nested = self._conditions(condition[key], f"{place}.{key}")
            return {**self._texts(condition, place, without={key}), key: nested}
        kind = condition.get("condition")
        if kind in _NESTED:
            nested = self._conditions(condition.get("conditions"), f"{place}.conditions")
            return {**self._texts(condition, place, without={"conditions"}), "conditions": nested}
        if kind not in _CONDITIONS:
            raise ToolError(
                f"{place}: conditions of type {kind!r} cannot be checked. Use {', '.join(sorted(_CONDITIONS))}."
            )
        return self._entities(self._texts(condition, place), place)

    def _triggers(self, triggers: Any, place: str) -> list[Step]:
        """Check triggers."""
        checked = []
        for index, trigger in enumerate(_objects(triggers, place)):
            kind = trigger.get("trigger", trigger.get("platform"))
            if kind not in _TRIGGERS:
                raise ToolError(
                    f"{place}[{index}]: triggers of type {kind!r} cannot be checked. Use {', '.join(sorted(_TRIGGERS))}."
                )
            checked.append(self._entities(self._texts(trigger, f"{place}[{index}]"), f"{place}[{index}]"))
        return checked

    def _entities(self, part: Step, place: str) -> Step:
        """Return a condition or trigger with its entities, given as people name them, by id."""
        if "entity_id" not in part:
            return part
        named = part["entity_id"] if isinstance(part["entity_id"], list) else str(part["entity_id"]).split(",")
        try:
            found = [entity.entity_id for text in named for entity in self._exposure.resolve(str(text).strip())]
        except ToolError as err:
            raise ToolError(f"{place}.entity_id: {err}") from err
        return {**part, "entity_id": found}

    def _texts(self, part: Any, place: str, without: frozenset[str] | set[str] = frozenset()) -> Any:
        """Return a part without some keys, once every text in it is checked."""
        if isinstance(part, dict):
            part = {key: value for key, value in part.items() if key not in without}
        for text, where in _texts(part, place):
            self._check_text(text, where)
        return part

    def _check_text(self, text: str, place: str) -> None:
        """Check a text: a template may read only what is exposed, and nothing else may name what is not."""
        if is_template_string(text):
            try:
                self._check_template(text)
            except ToolError as err:
                raise ToolError(f"{place}: {err}") from err
        elif self._names_something_hidden(text):
            raise ToolError(f"{place}: '{text}' was not found or is not exposed.")

    @callback
    def _names_something_hidden(self, text: str) -> bool:
        """Return whether a text holds an id that is not that of an exposed entity; whether it exists makes no difference."""
        known = {*Platform, *(state.domain for state in self._hass.states.async_all())} if "." in text else set()
        return any(
            valid_entity_id(name) and split_entity_id(name)[0] in known and not self._exposure.is_exposed(name)
            for name in (part.strip().lower() for part in text.split(","))
        )


def _objects(value: Any, place: str) -> list[Step]:
    """Return one object or a list of them as a list."""
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(item, dict) for item in values):
        raise ToolError(f"{place}: this must be an object or a list of objects.")
    return values


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield every text inside a value with its place, keys included."""
    if isinstance(value, str):
        yield value, place
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key), place
            yield from _texts(item, f"{place}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{place}[{index}]")

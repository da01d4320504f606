"""Functions of several steps, each of which may use the results of those before it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.const import CONF_SEQUENCE
from homeassistant.core import HomeAssistant

from ..calls.policy import Tier
from .base import FunctionRun, FunctionType, check_settings
from .yaml_source import PartError

_MAX_STEPS: Final = 20
_MAX_DEPTH: Final = 3
_RESPONSE_VARIABLE: Final = "response_variable"


@dataclass(frozen=True, slots=True)
class CompositeStep:
    """One step: a function of any type, and the variable that takes its result."""

    type: FunctionType
    settings: Mapping[str, Any]
    response_variable: str | None


class CompositeType(FunctionType):
    """Runs its steps one after another; the result of the last is the function's."""

    def __init__(self, types: Mapping[str, FunctionType]) -> None:
        """Take the types that steps can have, which are looked up when a function is read."""
        self._types = types
        self.schema = vol.Schema({vol.Required(CONF_SEQUENCE): self._read_steps})

    def _read_steps(self, value: Any) -> list[CompositeStep]:
        """Validate a sequence, or a single step; raise Invalid with the path of what is wrong."""
        steps = value if isinstance(value, list) else [value]
        if not steps or len(steps) > _MAX_STEPS:
            raise vol.Invalid(f"a composite function has 1 to {_MAX_STEPS} steps")
        if _depth(steps) > _MAX_DEPTH:
            raise vol.Invalid(f"composite functions inside each other, more than {_MAX_DEPTH} deep")
        read = []
        for index, step in enumerate(steps):
            try:
                read.append(self._read_step(step))
            except PartError as err:
                raise vol.Invalid(str(err), path=[index, *err.path]) from err
        return read

    def _read_step(self, step: Any) -> CompositeStep:
        """Validate one step; raise PartError."""
        response_variable = None
        if isinstance(step, dict):
            response_variable = step.get(_RESPONSE_VARIABLE)
            step = {key: value for key, value in step.items() if key != _RESPONSE_VARIABLE}
        function_type, settings = check_settings(self._types, step)
        if response_variable is not None and not (
            isinstance(response_variable, str) and response_variable.isidentifier()
        ):
            raise PartError("'response_variable' must be a name of letters, digits and _", [_RESPONSE_VARIABLE])
        return CompositeStep(function_type, settings, response_variable)

    @override
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Check every step."""
        for index, step in enumerate(_steps(settings)):
            try:
                await step.type.async_check(hass, step.settings)
            except PartError as err:
                raise PartError(str(err), [CONF_SEQUENCE, index, *err.path]) from err

    @override
    async def async_run(self, run: FunctionRun, settings: Mapping[str, Any]) -> Any:
        """Run the steps."""
        inner = replace(run, variables=dict(run.variables))
        result = None
        try:
            for step in _steps(settings):
                result = await step.type.async_run(inner, step.settings)
                if step.response_variable:
                    inner.variables[step.response_variable] = result
                    inner.has_free_text = inner.has_free_text or step.type.holds_outside_text(
                        inner, step.settings, result
                    )
        finally:
            run.has_free_text = inner.has_free_text
        return result

    @override
    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Tier of the step which reaches furthest."""
        return max(step.type.tier(step.settings) for step in _steps(settings))

    @override
    def least_tier(self, settings: Mapping[str, Any]) -> Tier:
        """Lowest tier of the step which reaches furthest for certain."""
        return max(step.type.least_tier(step.settings) for step in _steps(settings))

    @override
    def has_its_own_bound(self, settings: Mapping[str, Any]) -> bool:
        """Whether all steps are bound to what is exposed."""
        return all(step.type.has_its_own_bound(step.settings) for step in _steps(settings))

    @override
    def brings_outside_text(self, settings: Mapping[str, Any]) -> bool:
        """Whether the results of a step may hold text that strangers wrote."""
        return any(step.type.brings_outside_text(step.settings) for step in _steps(settings))

    @override
    def sends(self, settings: Mapping[str, Any]) -> bool:
        """Whether a step sends what its arguments say."""
        return any(step.type.sends(step.settings) for step in _steps(settings))

    @override
    def stands_for(self, settings: Mapping[str, Any]) -> frozenset[str]:
        """Tools of ours that steps are other forms of."""
        return frozenset[str]().union(*(step.type.stands_for(step.settings) for step in _steps(settings)))


def _steps(settings: Mapping[str, Any]) -> list[CompositeStep]:
    """Steps of settings that were validated."""
    steps: list[CompositeStep] = settings[CONF_SEQUENCE]
    return steps


def _depth(steps: list[Any]) -> int:
    """How many composite functions are inside each other, these steps included."""
    inner = [step.get(CONF_SEQUENCE) for step in steps if isinstance(step, dict) and step.get("type") == "composite"]
    return 1 + max((_depth(more if isinstance(more, list) else [more]) for more in inner), default=0)

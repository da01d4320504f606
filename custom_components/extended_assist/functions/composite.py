"""Functions of several steps, each of which may use the results of those before it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.const import CONF_SEQUENCE
from homeassistant.core import HomeAssistant

from ..policy import Tier
from .kinds import Kind, Run, Step, kind, read_step
from .reading import PartError

_MAX_STEPS: Final = 20
_MAX_DEPTH: Final = 3


def _steps(value: Any) -> list[Any]:
    """Return the steps of a sequence."""
    steps = value if isinstance(value, list) else [value]
    if not steps or len(steps) > _MAX_STEPS:
        raise vol.Invalid(f"a composite function has 1 to {_MAX_STEPS} steps")
    if _depth(steps) > _MAX_DEPTH:
        raise vol.Invalid(f"composite functions inside each other, more than {_MAX_DEPTH} deep")
    read = []
    for index, step in enumerate(steps):
        try:
            read.append(read_step(step, in_composite=True))
        except PartError as err:
            raise vol.Invalid(str(err), path=[index, *err.path]) from err
    return read


def _depth(steps: list[Any]) -> int:
    """Return how deep composite functions are inside each other."""
    inner = [step.get(CONF_SEQUENCE) for step in steps if isinstance(step, dict) and step.get("type") == "composite"]
    return 1 + max((_depth(more if isinstance(more, list) else [more]) for more in inner), default=0)


@kind("composite")
class CompositeKind(Kind):
    """Runs its steps one after another; the result of the last is the function's."""

    schema = vol.Schema({vol.Required(CONF_SEQUENCE): _steps})

    @override
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Check every step."""
        for index, step in enumerate(settings[CONF_SEQUENCE]):
            try:
                await step.async_check(hass)
            except PartError as err:
                raise PartError(str(err), [CONF_SEQUENCE, index, *err.path]) from err

    @override
    async def async_run(self, run: Run, settings: Mapping[str, Any]) -> Any:
        """Run the steps."""
        run = replace(run, variables=dict(run.variables))
        result = None
        for step in settings[CONF_SEQUENCE]:
            result = await step.async_run(run)
            if step.response_variable:
                run.variables[step.response_variable] = result
        return result

    @override
    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return that of the step which reaches furthest."""
        return max(step.tier for step in _of(settings))

    @override
    def least_tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return that of the step which reaches furthest for certain."""
        return max(step.least_tier for step in _of(settings))

    @override
    def has_its_own_bound(self, settings: Mapping[str, Any]) -> bool:
        """Return whether all steps have."""
        return all(step.has_its_own_bound for step in _of(settings))

    @override
    def brings_outside_text(self, settings: Mapping[str, Any]) -> bool:
        """Return whether a step does."""
        return any(step.brings_outside_text for step in _of(settings))

    @override
    def stands_for(self, settings: Mapping[str, Any]) -> frozenset[str]:
        """Return the tools of ours that steps are other forms of."""
        return frozenset[str]().union(*(step.stands_for for step in _of(settings)))


def _of(settings: Mapping[str, Any]) -> list[Step]:
    """Return the steps."""
    steps: list[Step] = settings[CONF_SEQUENCE]
    return steps

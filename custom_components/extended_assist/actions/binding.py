"""Prepare a checked sequence for Home Assistant's script engine, with our templates and action checks inside.

Home Assistant never receives a template. Its validator gets placeholders, and in the validated sequence each placeholder
is replaced by a template that reads exposed entities only, or, for the data of an action, by an object that checks the
action right before it runs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import re
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.const import (
    ATTR_ENTITY_ID,
    CONF_ACTION,
    CONF_REPEAT,
    CONF_SEQUENCE,
    CONF_SERVICE_TEMPLATE,
    CONF_TARGET,
)
from homeassistant.core import callback
from homeassistant.exceptions import HomeAssistantError, TemplateError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.script import async_validate_actions_config
from homeassistant.helpers.script_variables import ScriptVariables
from homeassistant.helpers.template import Template, is_template_string
from homeassistant.helpers.typing import TemplateVarsType

from ..results import texts_in
from ..templates.bound_template import BoundTemplate, BoundVariables, TemplateRun
from .data import RenderedPart, Values

MAX_ROUNDS: Final = 10_000
"""The most loop iterations of one run, over all loops: Home Assistant's limit for a single loop with a condition."""

_NAME = re.compile(r"\{\{ extended_assist_(\d+) \}\}")
_DATA = ("data", "data_template")
_ACTION = frozenset({CONF_ACTION, CONF_SERVICE_TEMPLATE, CONF_TARGET, ATTR_ENTITY_ID, *_DATA})

# Keys with plain values: inside them, a key such as `action` is no part of a step.
_VALUES = frozenset({"event_data", "event_data_template", "metadata"})


@dataclass(frozen=True, slots=True)
class Asked:
    """An action with rendered data, right before it runs."""

    name: str
    target: RenderedPart
    data: RenderedPart
    is_name_made: bool = False
    """True if a template rendered the name."""


type Prepare = Callable[[Asked], Values]
"""Returns the data, with the target, for an action that is about to run; raises ToolError if it may not run."""


class Binder:
    """Replaces the templates and action data of one run."""

    def __init__(self, run: TemplateRun, prepare: Prepare) -> None:
        """Store the run and the function that checks each action before it runs."""
        self._run = run
        self._prepare = prepare
        self._texts: list[str] = []
        self._actions: list[_ActionData] = []
        self._rounds = 0

    @property
    def is_all_performed(self) -> bool:
        """Return whether every action of the sequence ran at least once."""
        return all(action.is_performed for action in self._actions)

    async def async_sequence(self, steps: Any) -> list[dict[str, Any]]:
        """Return a sequence for the script engine; raises vol.Invalid if Home Assistant does not accept it."""
        await self._async_compile(steps)
        try:
            validated = await async_validate_actions_config(self._run.hass, cv.SCRIPT_SCHEMA(self._named(steps)))
        except HomeAssistantError as err:
            raise vol.Invalid(self._told(str(err))) from err
        bound: list[dict[str, Any]] = self._bound(validated)
        return bound

    async def async_variables(self, variables: Mapping[str, Any]) -> ScriptVariables:
        """Return variables that render with our templates."""
        await self._async_compile(variables)
        bound: ScriptVariables = self._bound(cv.SCRIPT_VARIABLES_SCHEMA(self._named(variables)))
        return bound

    async def _async_compile(self, part: Any) -> None:
        """Compile all templates in the executor; raises ToolError for an invalid one."""
        texts = {text.strip() for text, _ in texts_in(part, keys=True) if is_template_string(text)}
        await self._run.hass.async_add_executor_job(self._run.compile, texts)

    def _named(self, value: Any) -> Any:
        """Return a part with a placeholder for each template."""
        match value:
            case str() if is_template_string(value):
                self._texts.append(value)
                return f"{{{{ extended_assist_{len(self._texts) - 1} }}}}"
            case Mapping():
                return {self._named(key): self._named(item) for key, item in value.items()}
            case list():
                return [self._named(item) for item in value]
        return value

    def _told(self, text: str) -> str:
        return _NAME.sub(lambda name: self._texts[int(name[1])], text)

    def _bound(self, value: Any) -> Any:
        """Return a validated part in which nothing is left that Home Assistant would render or run by itself."""
        match value:
            case str():
                return self._told(value)
            case Template():
                return BoundTemplate(self._told(value.template), self._run)
            case ScriptVariables():
                return BoundVariables(self._values(value.variables), self._run)
            case list():
                return [self._bound(item) for item in value]
            case Mapping() if CONF_ACTION in value or CONF_SERVICE_TEMPLATE in value:
                return self._action(value)
            case Mapping():
                bound = {
                    self._bound(key): self._values(item) if key in _VALUES else self._bound(item)
                    for key, item in value.items()
                }
                if isinstance(repeat := bound.get(CONF_REPEAT), dict):
                    repeat[CONF_SEQUENCE] = [{"delay": {"milliseconds": _Breath(self._next)}}, *repeat[CONF_SEQUENCE]]
                return bound
        return value

    def _values(self, value: Any) -> Any:
        """Return a validated part that contains no steps, with its templates replaced."""
        match value:
            case Mapping():
                return {self._values(key): self._values(item) for key, item in value.items()}
            case list():
                return [self._values(item) for item in value]
        return self._bound(value)

    def _action(self, step: Mapping[str, Any]) -> Values:
        """Return an action step whose data is rendered and checked right before it runs."""
        name: Any = self._bound(step.get(CONF_ACTION, step.get(CONF_SERVICE_TEMPLATE)))
        if isinstance(name, BoundTemplate):
            name = _ActionName(name.template, self._run)
        if response := step.get("response_variable"):
            self._run.responses.add(response)
        beside = {ATTR_ENTITY_ID: step[ATTR_ENTITY_ID]} if ATTR_ENTITY_ID in step else {}
        targets = [self._values(step.get(CONF_TARGET, {})), beside]
        data = [self._values(step[key]) for key in _DATA if key in step]
        rest = {key: self._bound(item) for key, item in step.items() if key not in _ACTION}
        made = _ActionData(self._prepare, name, targets, data)
        self._actions.append(made)
        return {**rest, CONF_ACTION: name, "data": made}

    @callback
    def _next(self) -> None:
        self._rounds += 1
        if self._rounds > MAX_ROUNDS:
            raise TemplateError(f"It has repeated {MAX_ROUNDS} times, the most that is allowed")


class _ActionName(BoundTemplate):
    """An action name from a template; it stores the last result, which is the name to check."""

    __slots__ = ("made",)

    @override
    @callback
    def async_render(self, *args: Any, **kwargs: Any) -> Any:
        """Render and store the result."""
        self.made = super().async_render(*args, **kwargs)
        return self.made


class _Computed(Template):
    """An object that computes a value where the script engine expects a template."""

    __slots__ = ()

    def __init__(self) -> None:
        """Create an empty template without hass."""
        super().__init__("", None)  # type: ignore[arg-type] # it renders nothing of a home


class _ActionData(_Computed):
    """The data of an action, computed when the script engine renders it."""

    __slots__ = ("_data", "_name", "_prepare", "_targets", "is_performed")

    def __init__(self, prepare: Prepare, name: str | _ActionName, targets: list[Any], data: list[Any]) -> None:
        """Store the name, targets and data with their replaced templates."""
        super().__init__()
        self._prepare, self._name, self._targets, self._data = prepare, name, targets, data
        self.is_performed = False
        """True after a step with this data was checked and passed to Home Assistant."""

    @override
    @callback
    def async_render(self, variables: TemplateVarsType = None, *args: Any, **kwargs: Any) -> Values:
        """Render and check the action; return its data."""
        target, data = RenderedPart(), RenderedPart()
        for part in self._targets:
            target.add(part, variables)
        for part in self._data:
            data.add(part, variables)
        is_name_made = isinstance(self._name, _ActionName)
        name = str(self._name.made) if isinstance(self._name, _ActionName) else self._name
        prepared = self._prepare(Asked(name, target, data, is_name_made=is_name_made))
        self.is_performed = True
        return prepared


class _Breath(_Computed):
    """A short delay at the start of each loop iteration: it counts them and lets a stop take effect."""

    __slots__ = ("_next",)

    def __init__(self, following: Callable[[], None]) -> None:
        """Store the function that counts."""
        super().__init__()
        self._next = following

    @override
    @callback
    def async_render(self, *args: Any, **kwargs: Any) -> int:
        """Count, and return the delay in milliseconds."""
        self._next()
        return 1

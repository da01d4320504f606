"""Templates that users wrote: they may read what their user may, and what a model gave is never more than a value.

A template of a function is compiled as it was written; arguments are variables. Where its text means something to another
language (SQL, an address, JSON), every value that it writes stays apart from the text around it, so that the part which
knows that language can write it as a value.
"""

from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
import re
from secrets import randbelow
from types import CodeType
from typing import Any, Final

import jinja2
from jinja2 import pass_context

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import TemplateEnvironment, is_template_string
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JSON_DECODE_EXCEPTIONS, json_loads

from ..const import DOMAIN
from ..exposure import Exposure
from ..interruptible import async_run_interruptible
from ..results import ToolError
from .base import FunctionRun
from .yaml_source import PartError, YamlPath

TIME_LIMIT: Final = 5.0
"""Seconds for one template."""
MAX_OUTPUT: Final = 256 * 1024
"""Characters of a rendered text, as in Home Assistant."""
_MAX_MESSAGE = 300
_COMPILED = 200
_FIRST, _LAST = "\ue000", "\ue001"
"""Characters without meaning, around the number of a value."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a template writes."""

    value: Any

    @property
    def text(self) -> str:
        """Text of the value, as a template writes it."""
        return str(self.value)


class Encoded(str):
    """A text that a template encoded for an address."""

    __slots__ = ()


type Piece = str | Value


class _MarkedValues:
    """The values that one rendering writes."""

    def __init__(self) -> None:
        """Choose marks that nobody can guess."""
        self._nonce = str(randbelow(10**18))
        self._values: list[Any] = []
        self._mark = re.compile(f"{_FIRST}{self._nonce}-([0-9]+){_LAST}")

    def mark(self, value: Any) -> Any:
        """Return a placeholder for a value; a text that holds placeholders already stays as it is."""
        if isinstance(value, jinja2.Undefined) or value is None:
            return value
        if isinstance(value, str) and self._mark.search(value):
            return value
        self._values.append(value)
        return f"{_FIRST}{self._nonce}-{len(self._values) - 1}{_LAST}"

    def pieces(self, text: str) -> list[Piece]:
        """Return a rendered text with its values apart."""
        parts = self._mark.split(text)
        found: list[Piece] = [Value(self._values[int(part)]) if index % 2 else part for index, part in enumerate(parts)]
        return [piece for piece in found if piece != ""]


_marking: ContextVar[_MarkedValues | None] = ContextVar("marking", default=None)


class _Environment(TemplateEnvironment):
    """Home Assistant's environment, in which the values that a template writes can be kept apart."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Make the environment, with no compiled templates yet."""
        super().__init__(hass)
        usual = self.finalize

        # With the context, so that constants are written when the template is rendered, and not when it is compiled.
        @pass_context
        def finalize(_: jinja2.runtime.Context, value: Any) -> Any:
            if (values := _marking.get()) is not None:
                return values.mark(value)
            return value if usual is None else usual(value)

        self.finalize = finalize
        encode = self.filters["urlencode"]
        self.filters["urlencode"] = lambda value: Encoded(encode(value))
        self._codes: dict[str, CodeType] = {}

    def code(self, source: str) -> CodeType:
        """Return the code of a template."""
        if (code := self._codes.get(source)) is None:
            if len(self._codes) >= _COMPILED:
                self._codes.clear()
            code = self._codes[source] = self.compile(source.strip())
        return code


_ENVIRONMENT: HassKey[_Environment] = HassKey(f"{DOMAIN}_function_templates")


def _environment(hass: HomeAssistant) -> _Environment:
    """Return the environment of functions."""
    if _ENVIRONMENT not in hass.data:
        hass.data[_ENVIRONMENT] = _Environment(hass)
    return hass.data[_ENVIRONMENT]


async def async_check_template(hass: HomeAssistant, source: str, path: YamlPath) -> None:
    """Raise PartError for a template that cannot be compiled."""
    environment = _environment(hass)
    try:
        await hass.async_add_executor_job(environment.code, source)
    except jinja2.TemplateSyntaxError as err:
        raise PartError(f"The template is wrong in its line {err.lineno}: {err.message}", path) from err
    except Exception as err:
        raise PartError(f"The template cannot be read: {type(err).__name__}", path) from err


async def async_render(run: FunctionRun, source: str, variables: Mapping[str, Any] | None = None) -> str:
    """Render a template with the run's variables and more; raise ToolError when it fails or takes too long."""
    if not is_template_string(source):
        return source
    return str(await _async_render(run, source, variables, None))


async def async_render_pieces(run: FunctionRun, source: str) -> list[Piece]:
    """Render a template, and keep each value that it writes apart from the text around it."""
    if not is_template_string(source):
        return [source]
    values = _MarkedValues()
    return values.pieces(await _async_render(run, source, None, values))


async def async_render_value(
    run: FunctionRun, source: str, value: Any, variables: Mapping[str, Any] | None = None
) -> str:
    """Render a template for a value, which it gets as `value`, and as `value_json` where it is JSON."""
    more = {**(variables or {}), "value": value}
    if isinstance(value, str):
        with suppress(*JSON_DECODE_EXCEPTIONS):
            more["value_json"] = json_loads(value)
    return await async_render(run, source, more)


async def _async_render(
    run: FunctionRun, source: str, variables: Mapping[str, Any] | None, values: _MarkedValues | None
) -> str:
    """Render in a thread that is ended when it takes too long."""
    hass, exposure = run.hass, run.call.exposure
    environment = _environment(hass)
    given = {**_helpers(exposure, source), **run.variables, **(variables or {})}

    def render() -> str:
        _marking.set(values)
        template = jinja2.Template.from_code(environment, environment.code(source), environment.globals)
        text: str = template.render(given)
        if len(text) > MAX_OUTPUT:
            raise TemplateError(f"it writes more than {MAX_OUTPUT} characters")
        return text.strip()

    try:
        return await async_run_interruptible(hass, "function", TIME_LIMIT, render)
    except ToolError:
        raise
    except TimeoutError as err:
        raise ToolError(f"A template of this function took longer than {TIME_LIMIT:g} seconds. Tell the user.") from err
    except Exception as err:
        raise ToolError(f"A template of this function failed: {str(err)[:_MAX_MESSAGE] or type(err).__name__}") from err


def _helpers(exposure: Exposure, source: str) -> dict[str, Any]:
    """Return the functions that templates of functions have beyond Home Assistant's; they answer as of this call."""

    def is_exposed_entity_in_query(query: str) -> bool:
        return any(f"'{state.entity_id}'" in query for state in exposure.states())

    helpers: dict[str, Any] = {
        "is_exposed": lambda entity_id: isinstance(entity_id, str) and exposure.is_exposed(entity_id),
        "is_exposed_entity_in_query": is_exposed_entity_in_query,
        "raise": _raise,
    }
    if "exposed_entities" in source:
        helpers["exposed_entities"] = [
            {
                "entity_id": entity.entity_id,
                "name": entity.name,
                "state": entity.state.state,
                "aliases": list(entity.names[1:]),
            }
            for entity in exposure.entities.values()
        ]
    return helpers


def _raise(message: str = "This cannot be done.") -> None:
    """End a function with a message for the model."""
    raise ToolError(str(message))

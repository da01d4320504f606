"""A Python function as a tool, with its name, docstring and annotations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
import inspect
import re
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, override

import voluptuous as vol

from homeassistant.core import HomeAssistant, is_callback
from homeassistant.helpers import llm

from ..calls.caller import Caller

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

_USER_PROMPT = "user_prompt"
_INPUT = frozenset(field.name for field in fields(llm.ToolInput))
# A later version of Home Assistant has agent_id: it is filled in where there is one, and never the model's to choose.
_CONTEXT = frozenset(field.name for field in fields(llm.LLMContext)) | {"agent_id"}
_FILLED_IN = _INPUT | _CONTEXT | {"hass", _USER_PROMPT}
_SIMPLE: Mapping[Any, Any] = {str: str, int: int, float: vol.Coerce(float), bool: bool, list: list, dict: dict}

type PlainFunction = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class _ValueType:
    """The validator of an argument, and the converter to the annotated type."""

    schema: Any
    convert: Callable[[Any], Any] = lambda value: value


class FunctionTool(llm.Tool):
    """A tool that calls a function, sync or async.

    Parameters named hass or user_prompt, or like a field of ToolInput or LLMContext, are filled in and hidden from the
    model. Raises TypeError, naming the parameter, for an annotation that has no JSON Schema.
    """

    def __init__(self, function: PlainFunction, *, annotations: llm.ToolAnnotations | None = None) -> None:
        """Read the function's signature."""
        self._function = function
        self.name = function.__name__
        self.title = self.name.replace("_", " ").capitalize()
        self.description = inspect.getdoc(function) or self.title
        self.annotations = annotations or llm.ToolAnnotations()
        self.integration = integration_of(function.__module__)
        self._signature = inspect.signature(function)
        hints = get_type_hints(function, include_extras=True)
        self._value_types = {}
        schema = {}
        for name, parameter in self._signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise TypeError(f"{self.name}: parameter '{name}' cannot be given by name")
            if name in _FILLED_IN:
                continue
            if name not in hints:
                raise TypeError(f"{self.name}: parameter '{name}' has no annotation")
            hint, description = _described(hints[name])
            self._value_types[name] = value_type = _value_type(hint, f"{self.name}: parameter '{name}'")
            schema[_marker(name, parameter.default, description)] = value_type.schema
        self.parameters = vol.Schema(schema)

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Call the function; a sync function without @callback runs in the executor."""
        given = {
            name: self._value_types[name].convert(value)
            for name, value in self.parameters(tool_input.tool_args).items()
        }
        for name in self._signature.parameters.keys() & _FILLED_IN:
            given[name] = _filled_in(name, hass, tool_input, llm_context)
        if inspect.iscoroutinefunction(self._function):
            result = await self._function(**given)
        elif is_callback(self._function):
            result = self._function(**given)
        else:
            result = await hass.async_add_executor_job(lambda: self._function(**given))
        if isinstance(result, llm.ToolResult):
            return result
        return llm.ToolResult(data=result if isinstance(result, dict) else {"result": result})


def _marker(name: str, default: Any, description: str | None) -> vol.Marker:
    """Return the key of a parameter, with its default if JSON can represent it."""
    if default is inspect.Parameter.empty:
        return vol.Required(name, description=description)
    if isinstance(default, Enum):
        default = default.value
    if default is None or not isinstance(default, str | int | float | bool | list | dict):
        return vol.Optional(name, description=description)
    return vol.Optional(name, default=default, description=description)


def _described(hint: Any) -> tuple[Any, str | None]:
    """Return an annotation and its text in Annotated."""
    if get_origin(hint) is not Annotated:
        return hint, None
    inner, *more = get_args(hint)
    return inner, next((text for text in more if isinstance(text, str)), None)


def _value_type(hint: Any, where: str) -> _ValueType:
    """Return the validator and converter of an annotation; raises TypeError, naming the place, if it is not supported."""
    hint, _ = _described(hint)
    origin, args = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _ValueType(_SIMPLE[hint])
    if origin is Literal:
        return _ValueType(vol.In(list(args)))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _ValueType(vol.In([member.value for member in hint]), hint)
    if origin in (Union, UnionType) and len(args) == 2 and NoneType in args:
        inner = _value_type(next(arg for arg in args if arg is not NoneType), where)
        return _ValueType(vol.Any(inner.schema, None), lambda value: None if value is None else inner.convert(value))
    if origin is list:
        inner = _value_type(args[0], where)
        return _ValueType([inner.schema], lambda value: [inner.convert(item) for item in value])
    if origin is dict and args[0] is str:
        if args[1] is Any:
            return _ValueType(dict)
        inner = _value_type(args[1], where)
        return _ValueType({str: inner.schema}, lambda value: {key: inner.convert(item) for key, item in value.items()})
    raise TypeError(
        f"{where} has an annotation that is not supported: {hint}. Supported: str, int, float, bool, list, dict, "
        "Literal, Enum, Optional, and Annotated with a text"
    )


def _filled_in(name: str, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext) -> Any:
    """Return the value of a parameter that the model does not see."""
    if name == "hass":
        return hass
    if name == _USER_PROMPT:
        return Caller.of(llm_context).last_message
    return getattr(tool_input if name in _INPUT else llm_context, name, None)


def integration_of(module: str) -> str:
    """Return the integration of a module, or the module if it belongs to none."""
    parts = module.split(".")
    if parts[0] == "custom_components" and len(parts) > 1:
        return parts[1]
    if parts[:2] == ["homeassistant", "components"] and len(parts) > 2:
        return parts[2]
    return module

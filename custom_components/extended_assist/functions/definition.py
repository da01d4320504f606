"""The definition of a user's function, and the table of function types."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..registry.function_tool import TOOL_NAME
from .base import FunctionType, check_settings
from .composite import CompositeType
from .native import NativeType
from .parameters import WrittenSchema, check_parameters, enum_texts
from .scrape import RestType, ScrapeType
from .script import ScriptType, TemplateType
from .sqlite import SqliteType
from .yaml_source import FunctionError, PartError, parse_yaml

MAX_FUNCTION: Final = 50_000
"""Characters of one function."""
DELAY: Final = "delay"
"""The parameter with which the model asks that a function is called later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A function that was checked as far as it can be without Home Assistant."""

    name: str
    description: str
    parameters: WrittenSchema
    enum_texts: frozenset[str]
    """Texts that the parameters' enums list."""
    type: FunctionType
    settings: Mapping[str, Any]
    """Those of the type, validated."""

    @property
    def can_wait(self) -> bool:
        """Return whether the model may ask for a delay."""
        return DELAY in self.written.get("properties", {})

    @property
    def written(self) -> dict[str, Any]:
        """Return the parameters as the user wrote them."""
        return self.parameters.written


def read_definition(text: str) -> Definition:
    """Return the function in a text; raise FunctionError with the line and the reason."""
    if len(text) > MAX_FUNCTION:
        raise FunctionError(f"The function has {len(text)} characters; at most {MAX_FUNCTION} are allowed")
    written = parse_yaml(text)
    try:
        return _definition(written.value)
    except PartError as err:
        raise FunctionError(str(err), written.line(err.path)) from err


def _definition(value: Any) -> Definition:
    """Return the function that a value describes; raise PartError."""
    if isinstance(value, list) and len(value) == 1:
        # Pasted as it stood in a list.
        try:
            return _definition(value[0])
        except PartError as err:
            raise PartError(str(err), [0, *err.path]) from err
    if isinstance(value, list):
        raise PartError("These are several functions. Use the import for a list")
    if not isinstance(value, dict) or not {"spec", "function"} <= value.keys():
        raise PartError("A function has two parts: 'spec', what the model is told, and 'function', what it does")
    if unknown := value.keys() - {"spec", "function"}:
        raise PartError(f"Beside 'spec' and 'function' there is nothing else; remove '{min(unknown)}'", [min(unknown)])
    spec = value["spec"]
    if not isinstance(spec, dict):
        raise PartError("'spec' must have a name, a description and parameters", ["spec"])
    name = spec.get("name")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise PartError(f"'{name}' is no name: letters, digits, _ and - only, 64 at most", ["spec", "name"])
    description = spec.get("description")
    if not isinstance(description, str | None):
        raise PartError("The description must be a text", ["spec", "description"])
    try:
        parameters = check_parameters(spec.get("parameters"))
    except PartError as err:
        raise PartError(str(err), ["spec", "parameters", *err.path]) from err
    try:
        function_type, settings = check_settings(FUNCTION_TYPES, value["function"])
    except PartError as err:
        raise PartError(str(err), ["function", *err.path]) from err
    return Definition(
        name=name,
        description=(description or "").strip(),
        parameters=WrittenSchema(parameters),
        enum_texts=enum_texts(parameters),
        type=function_type,
        settings=settings,
    )


def _function_types() -> Mapping[str, FunctionType]:
    """Make each type once; the steps of a composite function are of any of them."""
    types: dict[str, FunctionType] = {}
    native = NativeType()
    types |= {
        "composite": CompositeType(types),
        "native": native,
        "predefined": native,
        "rest": RestType(),
        "scrape": ScrapeType(),
        "script": ScriptType(),
        "sqlite": SqliteType(),
        "template": TemplateType(),
    }
    return types


FUNCTION_TYPES: Final = _function_types()

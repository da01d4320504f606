"""The parameters of a function, as JSON Schema: told to the model as written, and validated as JSON Schema."""

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, override

from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.validators import extend
from probatio import UNSUPPORTED
from referencing import Registry
import voluptuous as vol

from homeassistant.exceptions import TemplateError

from ..const import PARAMETER_NAME
from ..templates.limits import Budget
from ..templates.patterns import MATCHING_TIME, check_pattern, regex_search
from .yaml_source import PartError

_NONE: Final = {"type": "object", "properties": {}}
_MAX_SHOWN = 300
_BUDGET: ContextVar[Budget] = ContextVar("time for the patterns of one call")
_VALUES_OF = frozenset({"enum", "const", "default", "examples"})
"""Hold values, not schemas."""
_VALIDATORS: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": vol.Coerce(float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


class _Fields(dict[Any, Any]):
    """The fields of a written schema, for those who do not know it as it is written."""

    def __init__(self, written: dict[str, Any]) -> None:
        """Describe each field by its name, description and type."""
        required = written.get("required", ())
        super().__init__(
            {
                (vol.Required if name in required else vol.Optional)(
                    name, description=field.get("description") if isinstance(field, dict) else None
                ): _validator(field)
                for name, field in written.get("properties", {}).items()
            }
        )
        self.written = written


def _validator(field: Any) -> Any:
    """Return a validator that tells the type of a field."""
    if not isinstance(field, dict):
        return object
    if isinstance(values := field.get("enum"), list):
        return vol.In(values)
    json_type = field.get("type")
    return _VALIDATORS.get(json_type, object) if isinstance(json_type, str) else object


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    """Check a text against a pattern, where that ends soon."""
    if not isinstance(instance, str):
        return
    try:
        fits = regex_search(_BUDGET.get(), instance, pattern)
    except TemplateError as err:
        yield ValidationError(f"This text cannot be compared with its pattern: {err}")
        return
    if not fits:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


_Validator: Final = extend(Draft202012Validator, {"pattern": _pattern})


class WrittenSchema(vol.Schema):
    """A schema that is told to models just as the user wrote it, and validates as JSON Schema does."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Take a schema that check_parameters returned."""
        self.written = dict(schema)
        super().__init__(_Fields(self.written), extra=vol.ALLOW_EXTRA)
        # An address in $ref leads nowhere: nothing is fetched to validate a call.
        self._validator = _Validator(_lenient(self.written), registry=Registry())

    @override
    def __call__(self, data: Any, *, context: Any = None) -> Any:
        """Return arguments that fit; raise Invalid with the place of the first that does not."""
        _BUDGET.set(Budget(MATCHING_TIME))
        for error in self._validator.iter_errors(data):
            message = error.message
            if len(message) > _MAX_SHOWN:
                message = f"{message[:_MAX_SHOWN]}…"
            raise vol.Invalid(message, path=list(error.absolute_path))
        return data


def check_parameters(parameters: Any) -> dict[str, Any]:
    """Return a schema of parameters; raise PartError for what is none."""
    if parameters is None:
        return dict(_NONE)
    if not isinstance(parameters, dict):
        raise PartError("The parameters must be a JSON Schema: 'type: object' with 'properties'")
    schema = {**_NONE, **parameters}
    if schema["type"] != "object":
        raise PartError("The parameters must have the type object", ["type"])
    if not isinstance(schema.get("properties", {}), dict):
        raise PartError("'properties' must be a mapping of names to schemas", ["properties"])
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as err:
        raise PartError(f"This is not JSON Schema: {err.message[:_MAX_SHOWN]}", tuple(err.absolute_path)) from err
    _check_references(schema)
    _check_patterns(schema)
    try:
        WrittenSchema(schema)({})
    except vol.Invalid:
        pass
    except Exception as err:
        # Such as a $ref that leads nowhere or in a circle.
        raise PartError(f"This JSON Schema cannot be used: {str(err)[:_MAX_SHOWN] or type(err).__name__}") from err
    return schema


def check_names(schema: Any, *path: str | int) -> None:
    """Raise PartError for a parameter, at any depth, whose name providers of models refuse."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            check_names(item, *path, index)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            for name, field in value.items():
                if not PARAMETER_NAME.fullmatch(str(name)):
                    raise PartError(
                        f"'{name}' cannot be the name of a parameter: a to z, digits, _ . and - only, 64 at most. "
                        "What it is called otherwise can be said in its description",
                        [*path, key, name],
                    )
                check_names(field, *path, key, name)
        elif key not in _VALUES_OF:
            check_names(value, *path, key)


def _check_references(schema: dict[str, Any]) -> None:
    """Raise PartError for references that lead out of a schema."""
    for reference in _values(schema, "$ref", "$dynamicRef"):
        if not reference.startswith("#"):
            raise PartError(f"'$ref: {reference}' leads out of the function; write that schema into it")


def _check_patterns(schema: Any, *path: str | int) -> None:
    """Raise PartError for a pattern, at any depth, that cannot be read, or could not be ended."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            _check_patterns(item, *path, index)
    if not isinstance(schema, dict):
        return
    if (
        "patternProperties" in schema
        and isinstance(schema["patternProperties"], dict)
        and not path[-1:] == ("properties",)
    ):
        raise PartError("patternProperties is not available; name the properties", [*path, "patternProperties"])
    for key, value in schema.items():
        if key == "pattern" and isinstance(value, str) and path[-1:] != ("properties",):
            try:
                check_pattern(value)
            except TemplateError as err:
                raise PartError(f"This pattern cannot be used: {err}", [*path, key]) from err
        elif key not in _VALUES_OF:
            _check_patterns(value, *path, key)


def _lenient(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that does not require what it does not describe: nobody could know how to give it."""
    known = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if name in known]
    return schema | {"required": required}


def _values(schema: Any, *keys: str) -> Iterator[str]:
    """Yield every text under some keys."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in keys and isinstance(value, str):
                yield value
            else:
                yield from _values(value, *keys)
    elif isinstance(schema, list):
        for item in schema:
            yield from _values(item, *keys)


def enum_texts(schema: Any) -> frozenset[str]:
    """Return the texts that the enums and consts of a schema list: the user's own words."""
    found: set[str] = set()
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("enum", "const"):
                found.update(word for word in (value if isinstance(value, list) else [value]) if isinstance(word, str))
            else:
                found |= enum_texts(value)
    elif isinstance(schema, list):
        found.update(*map(enum_texts, schema))
    return frozenset(found)


@cache
def as_written(serializer: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """Return a serializer that tells written schemas as they are, and everything else as another does."""

    def serialize(value: Any) -> Any:
        if isinstance(value, _Fields):
            return value.written
        return UNSUPPORTED if serializer is None else serializer(value)

    return serialize

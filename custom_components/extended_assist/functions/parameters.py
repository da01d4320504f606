"""What a function takes, as JSON Schema: told to the model as it is written, and held to it."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
import re
from typing import Any, Final, override

from jsonschema import Draft202012Validator, SchemaError
from probatio import UNSUPPORTED
from referencing import Registry
import voluptuous as vol

from .reading import PartError

_NONE: Final = {"type": "object", "properties": {}}
_MAX_SHOWN = 300


class WrittenSchema:
    """A validator that tells its JSON Schema to models just as the user wrote it."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Take a schema that was checked."""
        self.schema = dict(schema)
        # An address in $ref leads nowhere: nothing is fetched to validate a call.
        self._validator = Draft202012Validator(_lenient(self.schema), registry=Registry())

    def __call__(self, arguments: Any) -> Any:
        """Return arguments that fit; raise Invalid with the place of the first that does not."""
        for error in self._validator.iter_errors(arguments):
            message = error.message
            if len(message) > _MAX_SHOWN:
                message = f"{message[:_MAX_SHOWN]}…"
            raise vol.Invalid(message, path=list(error.absolute_path))
        return arguments

    @override
    def __repr__(self) -> str:
        """Return the schema."""
        return repr(self.schema)


def check_parameters(parameters: Any) -> dict[str, Any]:
    """Return a schema of parameters; raise PartError for what is none."""
    if parameters is None:
        return dict(_NONE)
    if not isinstance(parameters, dict):
        raise PartError("The parameters must be a JSON Schema: 'type: object' with 'properties'")
    schema = {"type": "object", **parameters}
    if schema["type"] != "object":
        raise PartError("The parameters must have the type object", ["type"])
    if not isinstance(schema.get("properties", {}), dict):
        raise PartError("'properties' must be a mapping of names to schemas", ["properties"])
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as err:
        raise PartError(f"This is not JSON Schema: {err.message[:_MAX_SHOWN]}", tuple(err.absolute_path)) from err
    except Exception as err:
        raise PartError(f"This is not JSON Schema: {str(err)[:_MAX_SHOWN]}") from err
    _check_texts(schema)
    try:
        WrittenSchema(schema)({})
    except vol.Invalid:
        pass
    except Exception as err:
        # Such as a $ref that leads nowhere or in a circle.
        raise PartError(f"This JSON Schema cannot be used: {str(err)[:_MAX_SHOWN] or type(err).__name__}") from err
    return schema


def _check_texts(schema: dict[str, Any]) -> None:
    """Raise PartError for references and patterns that lead nowhere."""
    for reference in _values(schema, "$ref", "$dynamicRef"):
        if not reference.startswith("#"):
            raise PartError(f"'$ref: {reference}' leads out of the function; write that schema into it")
    for pattern in _values(schema, "pattern"):
        try:
            re.compile(pattern)
        except re.error as err:
            raise PartError(f"The pattern '{pattern}' is no regular expression: {err}") from err


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


def words_of(schema: Any) -> frozenset[str]:
    """Return the texts that the enums and consts of a schema list: the user's own words."""
    found: set[str] = set()
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("enum", "const"):
                found.update(word for word in (value if isinstance(value, list) else [value]) if isinstance(word, str))
            else:
                found |= words_of(value)
    elif isinstance(schema, list):
        found.update(*map(words_of, schema))
    return frozenset(found)


@cache
def as_written(serializer: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """Return a serializer that tells written schemas as they are, and everything else as another does."""

    def serialize(value: Any) -> Any:
        if isinstance(value, WrittenSchema):
            return value.schema
        return UNSUPPORTED if serializer is None else serializer(value)

    return serialize

"""Replace parameter names that the service refuses in tool schemas, and restore them in the arguments of calls."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from homeassistant.util import slugify

from ..const import PARAMETER_NAME

_LENGTH = 64
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")
_ELSEWHERE = frozenset(
    {
        *("$ref", "$dynamicRef", "$defs", "definitions", "not", "if", "then", "else"),
        *("patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies"),
    }
)
"""Keywords of JSON Schema that refer to keys outside of `properties`."""

type Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class KeyNames:
    """The replaced keys of a schema."""

    schema: Schema
    """The schema with the new keys."""
    written: Mapping[str, str]
    """The original keys by the new ones."""

    def restored(self, arguments: Any) -> Any:
        """Return arguments with the original keys."""
        return self._restored(arguments, [self.schema])

    def _restored(self, value: Any, schemas: list[Schema]) -> Any:
        """Restore the keys of a nested value, along the schemas that may describe it."""
        known = [schema for one in schemas for schema in _with_alternatives(one)]
        if isinstance(value, list):
            return [self._restored(item, _parts(known, "items")) for item in value]
        if not isinstance(value, dict):
            return value
        restored = {}
        for key, inner in value.items():
            described = [schema["properties"][key] for schema in known if key in schema.get("properties", ())]
            name = self.written.get(key, key) if described else key
            parts = [part for part in described if isinstance(part, dict)]
            restored[name] = self._restored(inner, parts or _parts(known, "additionalProperties"))
        return restored


def exchanged(schema: Schema) -> tuple[Schema, KeyNames | None]:
    """Return a schema without the keys that the service refuses, and the replaced keys.

    Raises ValueError if the schema refers to its keys in a way that a replacement would miss.
    """
    keys = [key for node in _nodes(schema) for key in node.get("properties", ())]
    refused = dict.fromkeys(key for key in keys if not PARAMETER_NAME.fullmatch(key))
    if not refused:
        return schema, None
    if any(_ELSEWHERE & node.keys() for node in _nodes(schema)):
        raise ValueError(f"its parameter '{next(iter(refused))}' has a name with more than letters, digits, _ . and -")
    taken = set(keys)
    names: dict[str, str] = {}
    for key in refused:
        names[key] = name = _free_name(key, taken)
        taken.add(name)
    sent = _exchanged(schema, names)
    return sent, KeyNames(sent, {name: key for key, name in names.items()})


def _free_name(key: str, taken: set[str]) -> str:
    """Return an unused name that is similar to a key."""
    stem = slugify(key)[: _LENGTH - 4] or "parameter"
    number = 1
    while (name := stem if number == 1 else f"{stem}_{number}") in taken:
        number += 1
    return name


def _exchanged(schema: Schema, names: Mapping[str, str]) -> Schema:
    """Return a schema with new keys; the description of a parameter names the original key."""
    sent = _mapped(schema, lambda part: _exchanged(part, names))
    if isinstance(properties := sent.get("properties"), dict):
        sent["properties"] = {names.get(key, key): _named(part, key, names) for key, part in properties.items()}
    if "required" in sent:
        # Also where the parameters stand in another part, as with a choice of what is required.
        sent["required"] = [names.get(key, key) for key in sent["required"]]
    return sent


def _named(schema: Any, key: str, names: Mapping[str, str]) -> Any:
    """Return the schema of a parameter; if its key was replaced, its description names the original key."""
    if key not in names or not isinstance(schema, dict):
        return schema
    description = schema.get("description")
    return {**schema, "description": f"{key}: {description}" if description else key}


def _mapped(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """Return a schema with changed parts."""
    mapped = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(part := mapped.get(key), dict):
            mapped[key] = change(part)
    for key in (*_ALTERNATIVES, "prefixItems"):
        if isinstance(parts := mapped.get(key), list):
            mapped[key] = [change(part) if isinstance(part, dict) else part for part in parts]
    if isinstance(properties := mapped.get("properties"), dict):
        mapped["properties"] = {
            key: change(part) if isinstance(part, dict) else part for key, part in properties.items()
        }
    return mapped


def _nodes(schema: Schema) -> Iterator[Schema]:
    """Yield a schema and all its parts."""
    yield schema
    inner = [schema.get("items"), schema.get("additionalProperties"), *schema.get("properties", {}).values()]
    for key in (*_ALTERNATIVES, "prefixItems"):
        inner += schema.get(key, ())
    for part in inner:
        if isinstance(part, dict):
            yield from _nodes(part)


def _with_alternatives(schema: Schema) -> Iterator[Schema]:
    """Yield a schema and its alternatives."""
    yield schema
    for key in _ALTERNATIVES:
        for part in schema.get(key, ()):
            if isinstance(part, dict):
                yield from _with_alternatives(part)


def _parts(schemas: list[Schema], key: str) -> list[Schema]:
    """Return the schemas of the items or additional keys of schemas."""
    found = [part for schema in schemas if isinstance(part := schema.get(key), dict)]
    if key == "items":
        found += [part for schema in schemas for part in schema.get("prefixItems", ()) if isinstance(part, dict)]
    return found

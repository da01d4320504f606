"""Schemas that the service holds the model to: of strict tools, and of the answer.

Both share one subset of JSON Schema and one budget.
"""

from collections.abc import Iterator
import re
from typing import Any

from .pages import STRUCTURED_OUTPUTS
from .rule import Request, rule
from .tools import Schema, schemas_in

MAX_STRICT_TOOLS = 20
MAX_OPTIONAL = 24
MAX_UNIONS = 16
_UNSUPPORTED = frozenset(
    {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"),
        *("patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties"),
        *("if", "then", "else", "not", "oneOf", "prefixItems", "dependentSchemas", "dependentRequired"),
    }
)
"""Keywords beyond the page's own list are those that its list of supported ones leaves out."""
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
)
_PATTERN_PARTS = re.compile(r"\(\?[=!<]|\\[1-9bB]")


def _parts(request: Request) -> Iterator[tuple[str, Schema]]:
    """Yield the schemas that the service holds the model to, and all that they hold, with their places."""
    for place, schema in request.held:
        for part in schemas_in(schema):
            yield place, part


def _is_object(schema: Schema) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in schema


@rule(STRUCTURED_OUTPUTS)
def structured_outputs(request: Request) -> str | None:
    """A schema for the answer, or a strict tool, for a model that cannot be held to one."""
    if request.supports("structured_outputs"):
        return None
    return next((f"{place}: structured outputs are not supported by this model" for place, _ in request.held), None)


@rule(STRUCTURED_OUTPUTS, "additionalProperties")
def open_object(request: Request) -> str | None:
    """An object without `additionalProperties: false`."""
    for place, schema in _parts(request):
        if _is_object(schema) and schema.get("additionalProperties") is not False:
            return f"{place}: For 'object' type, 'additionalProperties' must be explicitly set to false"
    return None


@rule(STRUCTURED_OUTPUTS)
def unsupported_keyword(request: Request) -> str | None:
    """Limits of numbers, lengths and counts, and whatever else the subset does not have."""
    for place, schema in _parts(request):
        for key in sorted(schema.keys() & _UNSUPPORTED):
            return f"{place}: For '{schema.get('type')}' type, property '{key}' is not supported"
    return None


@rule(STRUCTURED_OUTPUTS)
def unsupported_count(request: Request) -> str | None:
    """A least number of items other than 0 and 1."""
    for place, schema in _parts(request):
        if schema.get("minItems", 0) not in (0, 1):
            return f"{place}: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    return None


@rule(STRUCTURED_OUTPUTS)
def unsupported_format(request: Request) -> str | None:
    """A format of texts outside the page's list."""
    for place, schema in _parts(request):
        if "format" in schema and schema["format"] not in _FORMATS:
            return f"{place}: For 'string' type, format '{schema['format']}' is not supported"
    return None


@rule(STRUCTURED_OUTPUTS)
def unsupported_pattern(request: Request) -> str | None:
    """A pattern that looks around, refers back, or asks for the borders of words."""
    for place, schema in _parts(request):
        if "pattern" in schema and _PATTERN_PARTS.search(schema["pattern"]):
            return f"{place}: pattern is not supported"
    return None


@rule(STRUCTURED_OUTPUTS)
def complex_enum(request: Request) -> str | None:
    """A choice among lists or objects."""
    for place, schema in _parts(request):
        if any(isinstance(value, dict | list) for value in schema.get("enum") or ()):
            return f"{place}: enum may hold strings, numbers, booleans and null only"
    return None


@rule(STRUCTURED_OUTPUTS)
def reference(request: Request) -> str | None:
    """A reference to itself, to another document, or inside `allOf`."""
    for place, schema in request.held:
        if _refers_wrongly(schema):
            return f"{place}: recursive and external references are not supported"
    return None


def _refers_wrongly(schema: Schema) -> bool:
    parts = list(schemas_in(schema))
    if any("$ref" in part for whole in parts for part in whole.get("allOf") or ()):
        return True
    return any(_leads_back(schema, part["$ref"], ()) for part in parts if "$ref" in part)


def _leads_back(root: Schema, target: str, way: tuple[str, ...]) -> bool:
    """Return whether a reference leaves the document, or leads back to where it was."""
    if not target.startswith("#") or target in way:
        return True
    place: Any = root
    for key in filter(None, target.removeprefix("#").split("/")):
        place = place.get(key) if isinstance(place, dict) else None
    if place is None or place is root:
        return True
    return any(_leads_back(root, part["$ref"], (*way, target)) for part in schemas_in(place) if "$ref" in part)


@rule(STRUCTURED_OUTPUTS)
def strict_tools(request: Request) -> str | None:
    """More than 20 strict tools."""
    strict = sum(bool(tool.get("strict")) for tool in request.tools)
    return (
        f"tools: {strict} strict tools, at most {MAX_STRICT_TOOLS} are allowed" if strict > MAX_STRICT_TOOLS else None
    )


@rule(STRUCTURED_OUTPUTS)
def optional_fields(request: Request) -> str | None:
    """More than 24 fields, in all schemas together, that may be left out."""
    found = sum(
        key not in (part.get("required") or ()) for _, part in _parts(request) for key in part.get("properties") or ()
    )
    if found <= MAX_OPTIONAL:
        return None
    return f"Schemas contains too many optional parameters ({found}), at most {MAX_OPTIONAL} are allowed"


@rule(STRUCTURED_OUTPUTS)
def union_fields(request: Request) -> str | None:
    """More than 16 fields, in all schemas together, that may be of several types."""
    found = sum("anyOf" in part or isinstance(part.get("type"), list) for _, part in _parts(request))
    if found <= MAX_UNIONS:
        return None
    return f"Schemas contains too many parameters with union types ({found}), at most {MAX_UNIONS} are allowed"


@rule(STRUCTURED_OUTPUTS)
def format_with_citations(request: Request) -> str | None:
    """A schema for the answer together with citations."""
    if request.output_schema is None:
        return None
    cited = any((tool.get("citations") or {}).get("enabled") for tool in request.tools)
    cited |= any((block.get("citations") or {}).get("enabled") for _, block in request.all_blocks if _cites(block))
    return "output_config.format: citations cannot be used with structured outputs" if cited else None


def _cites(block: dict[str, Any]) -> bool:
    return isinstance(block.get("citations"), dict)


@rule(STRUCTURED_OUTPUTS)
def format_with_prefill(request: Request) -> str | None:
    """A schema for the answer together with its beginning."""
    if request.output_schema is None or request.turns[-1].role == "user":
        return None
    return "output_config.format: prefilling the response cannot be used with structured outputs"


RULES = (
    *(structured_outputs, open_object, unsupported_keyword, unsupported_count, unsupported_format),
    *(unsupported_pattern, complex_enum, reference, strict_tools, optional_fields, union_fields),
    *(format_with_citations, format_with_prefill),
)

"""Tools: their names, the schemas of their arguments, and what must be true of them together."""

from collections.abc import Iterator
from functools import lru_cache
import json
import re
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from .pages import DEFINE_TOOLS, MESSAGES, TOOL_SEARCH, Page
from .rule import Request, rule

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
MAX_SEARCHED_TOOLS = 10_000

_REPORTED_KEYS = Page("https://github.com/beautyfree/appstore-connect-mcp/issues/2", "2026-04-13", documented=False)
_REPORTED_UNIONS = Page("https://github.com/anthropics/claude-code/issues/40075", "2026-03-28", documented=False)
_REPORTED_SCHEMA = Page("https://github.com/anthropics/claude-code/issues/586", "2025-07-08", documented=False)
_REPORTED_NAMES = Page("https://github.com/anthropics/claude-code/issues/10687", "2025-10-31", documented=False)

type Schema = dict[str, Any]

# Where a schema holds others: by key, in a list, or one alone.
_KEYED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTED = ("oneOf", "anyOf", "allOf", "prefixItems")
_ALONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems")


def schemas_in(schema: Any) -> Iterator[Schema]:
    """Yield a schema and every one that it holds, at any depth."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key in _KEYED:
        for inner in (schema.get(key) or {}).values() if isinstance(schema.get(key), dict) else ():
            yield from schemas_in(inner)
    for key in _LISTED:
        for inner in schema.get(key) or ():
            yield from schemas_in(inner)
    for key in _ALONE:
        yield from schemas_in(schema.get(key))


@rule(DEFINE_TOOLS, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
def tool_name(request: Request) -> str | None:
    """A tool's name with other letters than a to z, digits, _ and -, or with none, or longer than 128."""
    for index, tool in request.own_tools:
        if not TOOL_NAME.fullmatch(tool["name"]):
            return f"tools.{index}.custom.name: String should match pattern '^{TOOL_NAME.pattern}$'"
    return None


@rule(_REPORTED_NAMES, "tools: Tool names must be unique.")
def tool_names_twice(request: Request) -> str | None:
    """Two tools of one name, also where one is the server's own."""
    names = [tool.get("name") for tool in request.tools if tool.get("name")]
    return "tools: Tool names must be unique." if len(set(names)) < len(names) else None


@lru_cache(1_000)
def _keys_fit(text: str) -> bool:
    """Return whether the names of all arguments fit; each tool is sent many times, and looking at it takes time."""
    return all(PROPERTY.fullmatch(key) for part in schemas_in(json.loads(text)) for key in part.get("properties") or ())


@rule(_REPORTED_KEYS, "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'")
def property_key(request: Request) -> str | None:
    """An argument, at any depth, whose name has other letters than a to z, digits, _, . and -, or is longer than 64.

    Reports are of arguments at the top; whether the service looks deeper is not written anywhere, so this does.
    """
    for index, tool in request.own_tools:
        if not _keys_fit(json.dumps(tool["input_schema"])):
            return f"tools.{index}.custom.input_schema.properties: Property keys should match pattern '^{PROPERTY.pattern}$'"
    return None


@rule(DEFINE_TOOLS, "input_schema.type")
def schema_type(request: Request) -> str | None:
    """A schema of something else than an object."""
    for index, tool in request.own_tools:
        if (kind := tool["input_schema"].get("type")) != "object":
            fault = "Field required" if kind is None else "Input should be 'object'"
            return f"tools.{index}.custom.input_schema.type: {fault}"
    return None


@rule(_REPORTED_UNIONS, "input_schema does not support oneOf, allOf, or anyOf at the top level")
def schema_union(request: Request) -> str | None:
    """oneOf, anyOf or allOf at the top of a schema."""
    for index, tool in request.own_tools:
        if {"oneOf", "anyOf", "allOf"} & tool["input_schema"].keys():
            return f"tools.{index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
    return None


@lru_cache(1_000)
def _is_schema(text: str) -> bool:
    """Return whether a schema is one; each tool is sent many times, and looking at it takes milliseconds."""
    try:
        Draft202012Validator.check_schema(json.loads(text))
    except SchemaError:
        return False
    return True


@rule(_REPORTED_SCHEMA, "JSON schema is invalid. It must match JSON Schema draft 2020-12")
def schema_form(request: Request) -> str | None:
    """A schema that is none."""
    for index, tool in request.own_tools:
        if not _is_schema(json.dumps(tool["input_schema"])):
            return (
                f"tools.{index}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
                "(https://json-schema.org/draft/2020-12)."
            )
    return None


@rule(DEFINE_TOOLS)
def examples(request: Request) -> str | None:
    """An example of arguments that the tool's own schema does not allow."""
    for index, tool in request.own_tools:
        given = tool.get("input_examples") or ()
        if not all(Draft202012Validator(tool["input_schema"]).is_valid(example) for example in given):
            return f"tools.{index}.custom.input_examples: an example does not match the input_schema"
    return None


@rule(MESSAGES, "tool_choice: may only be specified while providing tools")
def choice_without_tools(request: Request) -> str | None:
    """A choice of tools without tools."""
    if not request.body.get("tool_choice") or request.tools:
        return None
    return "tool_choice: may only be specified while providing tools"


@rule(DEFINE_TOOLS, "not found in provided tools")
def choice_of_no_tool(request: Request) -> str | None:
    """The choice of a tool that is not there."""
    choice = request.body.get("tool_choice") or {}
    if choice.get("type") != "tool" or choice["name"] in {tool.get("name") for tool in request.tools}:
        return None
    return f"tool_choice: Tool '{choice['name']}' not found in provided tools"


@rule(TOOL_SEARCH, "At least one tool must have defer_loading=false. All tools cannot be deferred.")
def all_deferred(request: Request) -> str | None:
    """Tools that are all left to be searched for."""
    if not request.tools or not all(tool.get("defer_loading") for tool in request.tools):
        return None
    return "At least one tool must have defer_loading=false. All tools cannot be deferred."


@rule(TOOL_SEARCH)
def deferred_search(request: Request) -> str | None:
    """A search for tools that is itself left to be searched for."""
    for index, tool in enumerate(request.tools):
        if str(tool.get("type")).startswith("tool_search_tool") and tool.get("defer_loading"):
            return f"tools.{index}: defer_loading is not supported on the tool search tool"
    return None


@rule(TOOL_SEARCH, "not found in available tools")
def found_tool_gone(request: Request) -> str | None:
    """An earlier search that found a tool which is no longer there."""
    names = {tool.get("name") for tool in request.tools}
    for _, block in request.all_blocks:
        references = [block] if block["type"] == "tool_reference" else []
        if block["type"] == "tool_search_tool_result":
            references = block["content"].get("tool_references") or []
        for reference in references:
            if reference["tool_name"] not in names:
                return f"Tool reference '{reference['tool_name']}' not found in available tools"
    return None


RULES = (
    *(tool_name, tool_names_twice, schema_type, schema_union, property_key, schema_form, examples),
    *(choice_without_tools, choice_of_no_tool, all_deferred, deferred_search, found_tool_gone),
)

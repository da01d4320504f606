"""Names of parameters that the service refuses: exchanged on the way out and back, or the tool costs only itself."""

import json
import re
from typing import Any

from hypothesis import given, settings, strategies as st
import pytest
import voluptuous as vol

from custom_components.extended_assist.claude.request import offered_tools
from custom_components.extended_assist.claude.tool_keys import exchanged
from homeassistant.helpers import llm

ALLOWED = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def keys_of(schema: Any) -> list[str]:
    """Return the names of all parameters in a schema."""
    if isinstance(schema, list):
        return [key for part in schema for key in keys_of(part)]
    if not isinstance(schema, dict):
        return []
    own = list(schema.get("properties", ()))
    return own + [key for name, part in schema.items() for key in keys_of(part if name != "required" else None)]


_keys = st.text(min_size=1, max_size=70) | st.sampled_from(["Größe", "Grösse", "grosse", "filter[app]", "a", "名前"])
_leaf = st.just({"type": "string"})


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return schemas of objects, lists and alternatives of them."""
    properties = st.dictionaries(_keys, inner, max_size=4)
    return st.one_of(
        properties.map(lambda parts: {"type": "object", "properties": parts, "required": list(parts)}),
        inner.map(lambda part: {"type": "array", "items": part}),
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"anyOf": parts}),
    )


def arguments_for(schema: Any) -> Any:
    """Return arguments that a schema describes."""
    if "properties" in schema:
        return {key: arguments_for(part) for key, part in schema["properties"].items()}
    if "items" in schema:
        return [arguments_for(schema["items"])] * 2
    if "anyOf" in schema:
        return arguments_for(schema["anyOf"][-1])
    return "text"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.dictionaries(_keys, st.recursive(_leaf, _objects, max_leaves=8), max_size=5))
def test_there_and_back(properties: dict[str, Any]) -> None:
    """Whatever the keys, at any depth: what is sent is allowed, and what comes back is what the tool knows."""
    schema = {"type": "object", "properties": properties}
    before = json.dumps(schema)
    sent, names = exchanged(schema)
    assert all(ALLOWED.fullmatch(key) for key in keys_of(sent))
    assert json.dumps(schema) == before
    arguments = arguments_for(sent)
    assert (names.restored(arguments) if names else arguments) == arguments_for(schema)


def test_what_is_free_stays() -> None:
    """A key in a part of any shape is the model's own, also where it is spelled like one that was exchanged."""
    schema = {
        "type": "object",
        "properties": {"Größe": {"type": "string", "description": "In cm"}, "data": {"type": "object"}},
        "required": ["Größe"],
    }
    sent, names = exchanged(schema)
    assert sent["properties"]["grosse"] == {"type": "string", "description": "Größe: In cm"}
    assert sent["required"] == ["grosse"]
    assert names is not None
    assert names.restored({"grosse": "9", "data": {"grosse": 1}}) == {"Größe": "9", "data": {"grosse": 1}}


def test_nothing_to_exchange() -> None:
    """A schema that is allowed stays the very same."""
    schema = {"type": "object", "properties": {"a.b-c_1": {"type": "string"}}}
    assert exchanged(schema) == (schema, None)


def test_left_out_where_it_is_not_safe() -> None:
    """A schema that speaks of its keys elsewhere is not touched."""
    part = {"type": "object", "properties": {"Größe": {"type": "string"}}, "dependentRequired": {"Größe": ["a"]}}
    with pytest.raises(ValueError, match="'Größe'"):
        exchanged({"type": "object", "properties": {"inner": part}})


class Declared(llm.Tool):
    """A tool that only declares itself."""

    integration = "test"

    def __init__(self, name: str, parameters: Any) -> None:
        """Take a name and a schema."""
        self.name = name
        self.parameters = parameters


def test_a_bad_tool_costs_itself_only() -> None:
    """One with foreign keys is offered under others; one named like a tool of the server is left out, with the reason."""
    tools: list[llm.Tool] = [
        Declared("sizes", vol.Schema({vol.Required("Größe"): str, vol.Optional("filter[app]"): [{"länge": int}]})),
        Declared("web_search", vol.Schema({})),
        Declared("good", vol.Schema({"a": str})),
    ]
    offered = offered_tools(llm.APIInstance(None, "", None, tools, llm.selector_serializer), {"web_search"})
    assert [tool["name"] for tool in offered.tools] == ["sizes", "good"]
    assert all(ALLOWED.fullmatch(key) for key in keys_of(offered.tools))
    assert list(offered.left_out) == ["web_search"]
    assert "the server has a tool of this name" in offered.left_out["web_search"]
    assert offered.keys["sizes"].restored({"grosse": "9", "filter_app": [{"lange": 1}]}) == {
        "Größe": "9",
        "filter[app]": [{"länge": 1}],
    }

"""Tests of the parameters that a function declares in JSON Schema."""

from time import process_time
from typing import Any

import pytest
import voluptuous as vol

from custom_components.extended_assist.claude.request import to_tools
from custom_components.extended_assist.functions.definition import read_definition
from custom_components.extended_assist.functions.parameters import WrittenSchema, check_names, check_parameters
from custom_components.extended_assist.functions.tool import UserFunctionTool
from custom_components.extended_assist.functions.yaml_source import PartError
from homeassistant.helpers import llm


def test_anything_goes() -> None:
    """A parameter of any kind, which JSON Schema writes as true, is told as it is written and takes anything."""
    function = "spec: {name: x, parameters: {properties: {any: true}}}\nfunction: {type: template, value_template: x}"
    tool = UserFunctionTool(read_definition(function))
    (told,) = to_tools(llm.APIInstance(None, "", None, [tool], llm.selector_serializer))
    assert told["input_schema"]["properties"].keys() == {"any"}
    for value in (1, "two", [3], None):
        assert tool.parameters({"any": value}) == {"any": value}


def test_long_reasons_are_cut() -> None:
    """A reason that repeats what is long is cut: the model needs its beginning only."""
    schema = WrittenSchema(check_parameters({"properties": {"x": {"enum": ["word " * 200]}}}))
    with pytest.raises(vol.Invalid) as wrong:
        schema({"x": "other"})
    assert wrong.value.msg.startswith("'other' is not one of ['word word")
    assert wrong.value.msg.endswith("…")
    assert len(wrong.value.msg) < 310


def test_an_object_without_properties() -> None:
    """What takes nothing says so in full: Home Assistant's MCP server cannot serve a schema without properties."""
    for parameters in (None, {}, {"type": "object"}):
        assert check_parameters(parameters) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("parameters", "path"),
    [
        ({"properties": {"Größe": {}}}, ["properties", "Größe"]),
        ({"properties": {"a": {"items": {"properties": {"filter[app]": True}}}}}, [*("properties", "a"), "items"]),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"properties": {"x" * 65: {}}}]}}}, ["properties", "a"]),
    ],
)
def test_names_that_models_are_not_told(parameters: dict[str, Any], path: list[str]) -> None:
    """A name that providers refuse is found at any depth, with its place."""
    with pytest.raises(PartError, match="cannot be the name of a parameter") as wrong:
        check_names(check_parameters(parameters))
    assert list(wrong.value.path)[: len(path)] == path


def test_values_may_have_any_names() -> None:
    """What a parameter may be is not what it is called."""
    check_names(check_parameters({"properties": {"a.b-c_1": {"const": {"properties": {"Größe": 1}}}}}))


def test_patterns_end() -> None:
    """A pattern may repeat groups, and all patterns of a call have one short time together."""
    schema = WrittenSchema(
        check_parameters({"properties": {"at": {"type": "string", "pattern": r"^(\d{2}:){2}\d{2}$"}}})
    )
    assert schema({"at": "07:30:00"}) == {"at": "07:30:00"}
    with pytest.raises(vol.Invalid, match="does not match"):
        schema({"at": "07:30"})
    endless = {"type": "array", "items": {"type": "string", "pattern": "^(a|aa)+$"}}
    schema = WrittenSchema(check_parameters({"properties": {"all": endless}}))
    begun = process_time()
    with pytest.raises(vol.Invalid, match="cannot be compared"):
        schema({"all": ["a" * 300 + "b"] * 200})
    assert process_time() - begun < 2

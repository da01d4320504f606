"""Tests of the parameters that a function declares in JSON Schema."""

import pytest
import voluptuous as vol

from custom_components.extended_assist.claude.request import to_tools
from custom_components.extended_assist.functions.definition import read_definition
from custom_components.extended_assist.functions.parameters import WrittenSchema, check_parameters
from custom_components.extended_assist.functions.tool import UserFunctionTool
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

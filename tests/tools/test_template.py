"""Tests of the tool that renders templates."""

import json

from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.tools import DEFAULT_FAMILIES
from custom_components.extended_assist.tools.template import RenderTemplateTool
from homeassistant.core import HomeAssistant
from tests.conftest import CallTool
from tests.helpers.one_home import in_one_home
from tests.templates.conftest import home as home_fixture, ids as ids_fixture
from tests.templates.home import Ids

ids, home = ids_fixture, home_fixture


async def test_renders(hass: HomeAssistant, home: Ids, call_tool: CallTool) -> None:
    """The text is given as rendered."""
    data = await call_tool(
        RenderTemplateTool(), template="\n{{ states.light | selectattr('state', 'eq', 'on') | list | count }} on\n"
    )
    assert data == {"result": "1 on"}


async def test_states_are_told_apart(hass: HomeAssistant, home: Ids, call_tool: CallTool) -> None:
    """The same state met twice counts once."""
    template = "{{ [states.light.lamp, states['light.lamp'], states.light.ceiling] | unique | list | count }}"
    assert await call_tool(RenderTemplateTool(), template=template) == {"result": "2"}


async def test_variables(hass: HomeAssistant, home: Ids, call_tool: CallTool) -> None:
    """Variables are values of any kind."""
    data = await call_tool(
        RenderTemplateTool(),
        template="{{ rooms | map('area_entities') | flatten | sort }} {{ limit + 1 }}",
        variables={"rooms": ["Living Room", "Kitchen"], "limit": 2.5},
    )
    assert data == {
        "result": "['binary_sensor.door', 'light.ceiling', 'light.lamp', 'sensor.power', 'sensor.temperature'] 3.5"
    }


async def test_undefined_is_noted(hass: HomeAssistant, home: Ids, call_tool: CallTool) -> None:
    """What rendered as nothing is said, with what it may have meant."""
    data = await call_tool(RenderTemplateTool(), template="a{{ area_nam }}b{{ {'x': 1}.y }}")
    assert data["result"] == "ab"
    assert data["note"].startswith("Rendered as nothing: 'area_nam' is undefined. Nearest functions here: area_name, ")
    assert data["note"].endswith("; 'dict object' has no attribute 'y'.")


@in_one_home(
    ("template", "reason"),
    [
        ("line one\n{{ states('light.lamp' }}", "The template failed in line 2: unexpected '}'"),
        ("{{ 1 +\n\n }}", "in line 3"),
        ("{{ area_nme('x') }}", "'area_nme' is undefined. Nearest functions here: area_name"),
        ("{{ 'x' | area_nme }}", "No filter named 'area_nme'. Nearest filters here: area_name"),
        ("{{ 'x' is has_valu }}", "No test named 'has_valu'. Nearest tests here: has_value"),
        ("{{ closst(states) }}", "'closst' is undefined. Nearest functions here: closest"),
        ("{{ zzzzzz() }}", "'zzzzzz' is undefined. No function here is called like that."),
        ("{{ from_json('[]') }}", "It is a filter here: value | from_json."),
        ("{{ [1] | zip([2]) }}", "It is a function here: zip(value)."),
        ("{{ 5 | odd }}", "It is a test here: value is odd."),
        ("{{ issues() }}", "the user finds them under Settings > System > Repairs."),
        ("{% import 'tools.jinja' as tools %}", "Templates of other files cannot be used here."),
        ("{{ states.light.lamp.brightness + 1 }}", "A state has attributes, context, domain, entity_id, "),
        ("{{ 'x'.translate({}) }}", "This method is not available on a text here."),
        ("{{ ('a' * 30000) | regex_match('((a+)+)+b?c') }}", "The pattern takes too long on this text"),
        ("a\nb\n{{ 1 / 0 }}", "in line 3: division by zero"),
        ("{{ 'abc' | float }}", "float got invalid input 'abc' but no default was specified"),
        ("{% include 'x' %}", "no loader"),
        ("{{ '\\0' | regex_match('(') }}", "missing )"),
        ("{{ states.light.lamp.contxt.user_id }}", "'TemplateState' has no attribute 'contxt'"),
        ("{{ states.light.__foo__ }}", "in line 1: __foo__"),
        ("{{ area_entities(area='kitchen') }}", "unexpected keyword argument 'area'"),
        ("{{ device_attr(5, 'name') }}", "Must provide a device or entity ID"),
        ("{{ 2 ** 100000 }}", "A whole number"),
        ("{{ area_name(['x']) }}", "area_name expects text, got list"),
        ("{{ states(5) }}", "Expected an entity id, got int"),
        ("x" * 10_001 + "{{ 1 }}", "at most 10000 are allowed"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "too deeply"),
    ],
)
async def test_errors_teach(hass: HomeAssistant, home: Ids, call_tool: CallTool, template: str, reason: str) -> None:
    """An error names the line, what is wrong, and what is nearest."""
    data = await call_tool(RenderTemplateTool(), error=True, template=template)
    assert reason in data["error"]
    assert "rendering or compiling" not in data["error"]


@in_one_home("arguments", [{}, {"template": ["x"]}, {"template": "x", "variables": "y"}, {"template": "x", "other": 1}])
async def test_wrong_arguments(
    hass: HomeAssistant, home: Ids, call_tool: CallTool, arguments: dict[str, object]
) -> None:
    """Arguments that the schema does not know are refused."""
    data = await call_tool(RenderTemplateTool(), error=True, **arguments)
    assert "wrong arguments" in data["error"]


async def test_long_errors_are_cut(hass: HomeAssistant, home: Ids, call_tool: CallTool) -> None:
    """An error that quotes a long value, and a long list of undefined names, stay readable."""
    data = await call_tool(RenderTemplateTool(), error=True, template="{{ ('x' * 200000) | float }}")
    assert len(data["error"]) < 700
    data = await call_tool(RenderTemplateTool(), template="{% for i in range(1000) %}{{ {}[i ~ 'x'] }}{% endfor %}")
    assert data["note"].count("has no attribute") == 10


async def test_budget(hass: HomeAssistant, home: Ids, call_tool: CallTool) -> None:
    """A long text is cut to the budget and says so."""
    data = await call_tool(
        RenderTemplateTool(ToolboxOptions(budget=1000)), template="{% for i in range(2000) %}{{ i }} {% endfor %}"
    )
    assert len(json.dumps(data)) <= 1000
    assert data["result"].startswith("0 1 2 3")
    assert "[cut:" in data["result"]


def test_declaration() -> None:
    """The tool is off by default, reads only, and costs the model little."""
    tool = RenderTemplateTool()
    assert tool.family == "templates"
    assert tool.family not in DEFAULT_FAMILIES
    assert tool.annotations.read_only
    assert not tool.annotations.destructive
    schema = {str(key): key.description for key in tool.parameters.schema}
    assert set(schema) == {"template", "variables"}
    assert len(tool.description) + len(json.dumps(schema)) <= 900


async def test_no_deprecation(
    hass: HomeAssistant, entry: MockConfigEntry, home: Ids, call_tool: CallTool, no_deprecations: None
) -> None:
    """Device attributes that Home Assistant deprecated are not read."""
    data = await call_tool(
        RenderTemplateTool(),
        template="{{ device_attr('light.lamp', 'primary_config_entry') }} {{ device_attr('light.lamp', 'suggested_area') }}",
    )
    assert data == {"result": "None None"}

"""Whatever is passed as an argument, a tool answers with a result, or with an error that says what to do."""

from collections.abc import Iterator
from copy import deepcopy
import json
import math
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.actions.targets import Expander
from custom_components.extended_assist.calls.call import MAX_DEPTH, MAX_ITEMS
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.functions.definition import read_definition
from custom_components.extended_assist.functions.tool import UserFunctionTool
from custom_components.extended_assist.llm_tools.extended_tool import ExtendedTool
from custom_components.extended_assist.tools import CATALOGUE
from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps

from .conftest import CallTool, expose
from .helpers.one_home import in_one_home
from .test_leaks import CASES, _permitted, home, web_site  # noqa: F401 - fixtures

HALVES = ["\ud800", "kitchen\udfff", ["\ud800"], {"\ud800": 1}, {"x": "\udc00"}]
NUMBERS = [10**30, -(10**30), 2**63, 2**64, 10**400, math.nan, math.inf, -math.inf, [10**30], {"x": math.nan}]
UNUSABLE = [*HALVES, *NUMBERS]
ODD = [
    *UNUSABLE,
    *(1e308, -1e308, "nan", "inf", "1e308", "1e999", "9" * 400, "9" * 5_000, "²", "\0", "", " "),
    *(None, True, -1, [], {}, [None], [[["x"]]]),
]
ONE = "light.kitchen_lights"
MANY = 20_000
TARGETS: dict[str, dict[str, Any]] = {
    **{key: {key: ["kitchen"] * MANY} for key in ("entity_id", "area_id", "device_id", "floor_id", "label_id")},
    "distinct": {"entity_id": [f"light.lamp_{number}" for number in range(MANY)]},
    "an entity": {"entity_id": [ONE] * MANY},
    "spaces": {"entity_id": [ONE + " " * (number % 7) for number in range(MANY)]},
    "names": {"entity_id": ["Kitchen Lights"] * MANY},
    "commas": {"entity_id": ",".join(f"light.lamp_{number}" for number in range(MANY // 2))},
    "many commas": {"entity_id": f"{ONE}," * MANY},
    "a long text": {"entity_id": "light." + "x" * 300_000},
    "many texts": {"entity_id": ["x" * 1_000] * 500},
    "lists in lists": {"entity_id": [["kitchen"] * 200] * 200},
    "deep": {"entity_id": json.loads("[" * 200 + "]" * 200)},
    "many keys": {f"key_{number}": "kitchen" for number in range(MANY)},
    "long keys": {"x" * 300_000: "kitchen"},
    "excluded": {"entity_id": ONE, "exclude": {"entity_id": [ONE] * MANY}},
    "excluded, deep": {"exclude": json.loads('{"exclude":' * 100 + "{}" + "}" * 100)},
    "one too many": {"entity_id": [ONE] * (MAX_ITEMS + 1)},
}


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places inside arguments."""
    if path:
        yield path
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from _places(item, (*path, step))


def _with(arguments: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return arguments with another value at a place."""
    changed = deepcopy(arguments)
    inner: Any = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return changed


def _odd_cases(tool: ExtendedTool) -> Iterator[dict[str, Any]]:
    """Yield the first cases of a tool with an odd value at each place, and with one for each other argument."""
    seen = set()
    for base in (*CASES.get(tool.name, list)()[:6], {}):
        others = {str(key): None for key in tool.parameters.schema if str(key) not in base}
        for path in _places(base | others):
            shape = tuple("#" if isinstance(step, int) else step for step in path)
            if shape not in seen:
                seen.add(shape)
                for value in ODD:
                    yield _with(base if path[0] in base else base | {path[0]: None}, path, value)


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("home", "web_site")
@in_one_home("tool_class", CATALOGUE, ids=[tool.name for tool in CATALOGUE])
async def test_odd_values(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, tool_class: type[ExtendedTool]
) -> None:
    """At every place of every tool; the result can be written as JSON, as the next request writes it."""
    tool = _permitted(tool_class, entry)
    cases = list(_odd_cases(tool))
    assert len(cases) >= len(ODD) * len(tool.parameters.schema)
    for arguments in cases:
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), llm_context)
        assert "unexpectedly" not in json_dumps(result.data), repr(arguments)


@in_one_home("tool_class", CATALOGUE, ids=[tool.name for tool in CATALOGUE])
async def test_unusable_values(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, tool_class: type[ExtendedTool]
) -> None:
    """No tool begins with a value that cannot be stored or sent."""
    tool = _permitted(tool_class, entry)
    for value in UNUSABLE:
        result = await tool.async_call(hass, llm.ToolInput(tool.name, {"x": [value]}), llm_context)
        assert result.error
        assert str(result.data["error"]).startswith("x[0]")
        assert "Pass" in str(result.data["error"]) or "Write" in str(result.data["error"])


@in_one_home("tool_class", CATALOGUE, ids=[tool.name for tool in CATALOGUE])
async def test_without_a_recorder(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, tool_class: type[ExtendedTool]
) -> None:
    """A home without a recorder is told of, whatever is asked."""
    hass.states.async_set("light.lamp", "on")
    expose(hass, "light.lamp")
    tool = _permitted(tool_class, entry)
    for arguments in (*CASES.get(tool.name, list)()[:10], {}, {"entity": "light.lamp"}, {"entities": ["light.lamp"]}):
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), llm_context)
        assert "unexpectedly" not in json_dumps(result.data), arguments


@pytest.mark.parametrize("kind", ["type: template\nvalue_template: '{{ x }}'", "type: script\nsequence: []"])
async def test_functions(hass: HomeAssistant, llm_context: llm.LLMContext, kind: str) -> None:
    """The same holds for the user's own functions."""
    body = "".join(f"  {line}\n" for line in kind.splitlines())
    definition = read_definition(
        f"spec:\n  name: probe\n  parameters: {{additionalProperties: true}}\nfunction:\n{body}"
    )
    tool = UserFunctionTool(definition, ToolboxOptions(policy=Policy(allow_without_chat=True)))
    for value in ODD:
        result = await tool.async_call(hass, llm.ToolInput(tool.name, {"x": value}), llm_context)
        assert "unexpectedly" not in json_dumps(result.data), repr(value)
        if any(value is each for each in UNUSABLE):
            assert result.error


@pytest.mark.usefixtures("house")
async def test_long_targets(hass: HomeAssistant, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that is too long is refused before anything is looked up; what is repeated is looked up once."""
    looked_up: list[Any] = []
    find = Expander._find

    def noted(self: Expander, text: str) -> str:
        looked_up.append(text)
        return find(self, text)

    monkeypatch.setattr(Expander, "_find", noted)
    for name, target in TARGETS.items():
        looked_up.clear()
        told = await call_tool(PerformActionTool(), error=True, action="light.turn_on", target=target)
        assert "unexpectedly" not in told["error"], name
        assert "Pass" in told["error"] or "Name an area" in told["error"], (name, told)
        assert len(looked_up) <= 1, name
    assert len(TARGETS) >= 20
    for target in ({"entity_id": [ONE] * MAX_ITEMS}, {"entity_id": f"{ONE}," * 5_000}):
        looked_up.clear()
        await call_tool(PerformActionTool(), action="light.turn_on", target=target)
        assert set(looked_up) == {ONE}
        assert len(looked_up) <= 2, "to plan it, and to do it"


def test_depth() -> None:
    """What is allowed is well above what is written, and well below what ends Python's stack."""
    assert 20 < MAX_DEPTH < 200


@pytest.mark.usefixtures("house")
async def test_not_supported(hass: HomeAssistant, call_tool: CallTool) -> None:
    """An action that an entity does not have is an answer, also as a step of a sequence."""
    told = await call_tool(
        PerformActionTool(),
        error=True,
        action="media_player.browse_media",
        target={"entity_id": "media_player.kitchen"},
    )
    assert "does not support it" in told["error"]
    step = {"action": "media_player.browse_media", "target": {"entity_id": "media_player.kitchen"}}
    sequence = [step | {"response_variable": "found"}]
    told = await call_tool(ExecuteScriptTool(), error=True, sequence=sequence)
    assert "unexpectedly" not in told["error"]

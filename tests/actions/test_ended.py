"""A script of the home that does not come to its end is told as what it is, and not as done."""

from typing import Any

import pytest

from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.conftest import ASSISTANT, CallTool, expose

PARTY, ZEBRA = "input_boolean.party", "input_boolean.zebra"
TURN_ON = {"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}}
NEVER = {"condition": "state", "entity_id": PARTY, "state": "unavailable"}
SCRIPTS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "stops": ([TURN_ON, {"stop": "The pump is dry", "error": True}], "was aborted at sequence[1]: The pump is dry"),
    "inside": (
        [{"if": [], "then": [{"stop": "Too hot", "error": True}]}],
        "was aborted at sequence[0].then[0]: Too hot",
    ),
    "tells": ([{"stop": f"{ZEBRA} is off", "error": True}], "the reason names something that is not exposed"),
    "guarded": ([TURN_ON, NEVER, TURN_ON], "ended early at sequence[1], where a condition was not met"),
    "guarded_first": ([NEVER, TURN_ON], "ended early at sequence[0], where a condition was not met"),
    "fails": (
        [{"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}, "data": {"x": 1}}],
        "not a valid option",
    ),
    "waits": (
        [{"wait_template": "{{ false }}", "timeout": {"milliseconds": 1}, "continue_on_timeout": False}],
        "was aborted at sequence[0]",
    ),
}
FINE: dict[str, list[dict[str, Any]]] = {
    "fine": [TURN_ON],
    "enough": [TURN_ON, {"stop": "It is enough"}],
    "busy": [{"delay": "{{ 60 if slowly is defined else 0 }}"}],
    "chosen": [{"if": [NEVER], "then": [{"stop": "x", "error": True}]}],
}


@pytest.fixture
async def scripts(hass: HomeAssistant, assist: None) -> None:
    """Set scripts up, and one around each."""
    assert await async_setup_component(hass, "input_boolean", {"input_boolean": {"party": None, "zebra": None}})
    inner = {name: sequence for name, (sequence, _) in SCRIPTS.items()} | FINE
    config = {name: {"sequence": sequence} for name, sequence in inner.items()}
    config |= {f"around_{name}": {"sequence": [{"action": f"script.{name}"}, TURN_ON]} for name in inner}
    assert await async_setup_component(hass, "script", {"script": config})
    await hass.async_block_till_done()
    expose(hass, PARTY, *hass.states.async_entity_ids("script"))


def calls(name: str) -> list[tuple[Any, dict[str, Any]]]:
    """Return the ways to call a script, that in a sequence last."""
    return [
        (PerformActionTool, {"action": f"script.{name}"}),
        (ExecuteScriptTool, {"script": f"script.{name}"}),
        (ExecuteScriptTool, {"sequence": [{"action": f"script.{name}"}]}),
    ]


@pytest.mark.parametrize("name", SCRIPTS)
async def test_not_finished(hass: HomeAssistant, scripts: None, call_tool: CallTool, name: str) -> None:
    """It is a failure, or a failure is told beside what was changed."""
    words = SCRIPTS[name][1].split("|")
    for tool, arguments in calls(name)[:2]:
        told = (await call_tool(tool(), error=True, **arguments))["error"]
        assert any(one in told for one in words), told
        assert "zebra" not in told
    tool, arguments = calls(name)[2]
    result = await tool_result(call_tool, tool(), arguments)
    assert any(one in str(result) for one in words), result
    assert "zebra" not in str(result)


async def tool_result(call_tool: CallTool, tool: Any, arguments: dict[str, Any]) -> Any:
    """Return what a call answers, a failure or not."""
    try:
        return await call_tool(tool, **arguments)
    except AssertionError as err:
        return err


@pytest.mark.parametrize("name", ["stops", "guarded"])
async def test_inside_another(hass: HomeAssistant, scripts: None, call_tool: CallTool, name: str) -> None:
    """What another script ran and went on after is told beside what became of that one; hidden, without its name."""
    words = SCRIPTS[name][1]
    for tool, arguments in calls(f"around_{name}")[:2]:
        assert (await call_tool(tool(), **arguments))["failures"] == {f"script.{name}": words}
    tool, arguments = calls(f"around_{name}")[2]
    assert (await call_tool(tool(), **arguments))["failures"] == [f"script.{name} {words}"]


async def test_not_begun(hass: HomeAssistant, scripts: None, call_tool: CallTool) -> None:
    """One that is running already does not run again, which is told without the name of what is hidden."""
    await hass.services.async_call(
        "script", "turn_on", {"entity_id": "script.busy", "variables": {"slowly": 1}}, blocking=True
    )
    told = (await call_tool(PerformActionTool(), error=True, action="script.busy"))["error"]
    assert "is running already" in told
    async_expose_entity(hass, ASSISTANT, "script.busy", should_expose=False)
    assert (await call_tool(PerformActionTool(), action="script.around_busy"))["failures"] == {
        "a script that is not exposed": "is running already"
    }
    await hass.services.async_call("script", "turn_off", {"entity_id": "script.busy"}, blocking=True)


@pytest.mark.parametrize("name", FINE)
async def test_finished(hass: HomeAssistant, scripts: None, call_tool: CallTool, name: str) -> None:
    """What stops by itself without an error has ended well, also after one that did not."""
    await call_tool(PerformActionTool(), error=True, action="script.stops")
    for tool, arguments in calls(name) + calls(f"around_{name}"):
        assert "failures" not in await call_tool(tool(), **arguments)

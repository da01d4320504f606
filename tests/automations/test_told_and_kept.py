"""Tests of what is told of an automation while it is changed, and of what stays in it."""

from copy import deepcopy
from typing import Any

import pytest

from custom_components.extended_assist.automations.describe import diff
from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.tools.automations import GetAutomationsTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.yaml import dump, parse_yaml
from tests.conftest import CallTool, expose
from tests.helpers.automating import ADD, FREE, MOTION, PORCH, REMOVE, UPDATE, StartHome, start_home

__all__ = ["start_home"]

GET = GetAutomationsTool(FREE)
ZEBRA, LAMP = "input_boolean.zebra", "input_boolean.lamp"
NUMBER = "+4915112345"


def do(entity_id: str, **more: Any) -> dict[str, Any]:
    """Return a step."""
    return {"action": "input_boolean.turn_on", "target": {"entity_id": entity_id}, **more}


async def start(hass: HomeAssistant, start_home: StartHome, config: dict[str, Any]) -> Any:
    """Start a home with one automation."""
    whole = {"id": "1", "alias": "A", "triggers": [], "actions": [], **config}
    path = await start_home(dump([parse_yaml(dump(whole))]))
    hass.states.async_set("lock.door", "locked")
    expose(hass, "automation.a", "lock.door")
    return path


async def plan_of(hass: HomeAssistant, tool: Any, llm_context: llm.LLMContext, **arguments: Any) -> str:
    """Return all that a question holds: words, lines and parts."""
    call = ToolCall(
        hass=hass,
        arguments=arguments,
        exposure=Exposure(hass, "conversation"),
        caller=Caller.of(llm_context),
        options=FREE,
    )
    plan = await tool.async_plan(call)
    steps = [(step.words, step.title, step.shown, [part.words for part in step.parts]) for step in plan.steps]
    return "\n".join(map(str, (plan.words, plan.sentence, *(part for step in steps for part in step))))


async def test_a_text_with_a_secret_in_it_is_put_back(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool
) -> None:
    """A text that was told without the secret inside of it comes back whole, or is refused: it is never lost."""
    steps = [
        {"action": "lock.unlock", "target": {"entity_id": "lock.door"}, "data": {"code": "4711"}},
        {"action": "persistent_notification.create", "data": {"message": "The code is 4711"}},
    ]
    path = await start(hass, start_home, {"actions": steps})
    told = (await call_tool(GET, name="A", details=True))["configuration"]["actions"]
    assert "4711" not in str(told)
    changed = await call_tool(UPDATE, automation="A", changes={"actions": [*told, do(LAMP)]})
    (written,) = parse_yaml(path.read_text())
    assert written["actions"] == [*steps, do(LAMP)], changed
    before = path.read_bytes()
    other = [told[0], {**told[1], "continue_on_error": True}]
    error = (await call_tool(UPDATE, automation="A", changes={"actions": other}, error=True))["error"]
    assert "stands in the place of what is not told" in error
    assert path.read_bytes() == before


@pytest.mark.parametrize("key", ["data", "data_template"])
async def test_recipients_that_stay_are_not_told(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, llm_context: llm.LLMContext, key: str
) -> None:
    """Who gets a message is not told by changing or removing something else."""
    step = {"action": "notify.sms", key: {"message": "Hello", "target": [NUMBER]}}
    hass.services.async_register("notify", "sms", lambda call: None)
    await start(hass, start_home, {"actions": [{"if": [], "then": [deepcopy(step)]}, step]})
    details = await call_tool(GET, name="A", details=True)
    assert NUMBER not in str(details)
    told = details["configuration"]["actions"]
    for changes in ({"description": "x"}, {"conditions": []}, {"actions": [*told, do(LAMP)]}):
        asked = await plan_of(hass, UPDATE, llm_context, automation="A", changes=changes)
        assert NUMBER not in asked, changes
        assert NUMBER not in str(await call_tool(UPDATE, automation="A", changes=changes))
    assert NUMBER not in await plan_of(hass, REMOVE, llm_context, automation="A")
    assert NUMBER not in str(await call_tool(REMOVE, automation="A"))


async def test_a_place_beside_something_hidden(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """A place in an added step is told and written as entities; what stays beside it stays as it is, hidden or not."""
    steps = [do(ZEBRA), {"action": "input_boolean.turn_off", "target": {"area_id": "kitchen"}}]
    path = await start(hass, start_home, {"actions": steps})
    told = (await call_tool(GET, name="A", details=True))["configuration"]["actions"]
    added = {"action": "input_boolean.toggle", "target": {"area_id": "kitchen"}}
    for given in ([added, *told], [told[0], added, told[1]], [*told, added]):
        asked = await plan_of(hass, UPDATE, llm_context, automation="A", changes={"actions": given})
        assert "zebra" not in asked.casefold()
        assert "+    area_id" not in asked
        assert "+    - input_boolean.lamp" in asked
        await call_tool(UPDATE, automation="A", changes={"actions": given})
        (written,) = parse_yaml(path.read_text())
        assert written["actions"] == [
            {"action": "input_boolean.toggle", "target": {"entity_id": [LAMP]}}
            if step is added
            else steps[told.index(step)]
            for step in given
        ]
        await call_tool(UPDATE, automation="A", changes={"actions": told})


async def test_prose_that_does_something_is_told_whole(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """A value under the name of prose is one that does something: it is told to its end."""
    event = {"action": "calendar.create_event", "data": {"description": f"{'x' * 300} the end"}}
    assert "the end" in diff({}, {"actions": [event]})
    await start(hass, start_home, {})
    long = f"{{{{ '{'x' * 300}' ~ states('{PORCH}') }}}}"
    for changes in (
        {"variables": {"description": long}},
        {"variables": {"alias": long}},
        {"actions": [{"variables": {"alias": long}}]},
    ):
        asked = await plan_of(hass, UPDATE, llm_context, automation="A", changes=changes)
        lines = "\n".join(line for line in asked.splitlines() if line.startswith("+"))
        assert PORCH in lines.replace("\n+ ", ""), changes
        assert "states('" in asked.partition("```")[0], changes


async def test_what_a_hidden_condition_found(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """The last runs do not tell which hidden condition was false, or which hidden branch was taken."""
    hidden = {"condition": "state", "entity_id": ZEBRA, "state": "on"}
    seen = {"condition": "state", "entity_id": MOTION, "state": "off"}
    await start(hass, start_home, {"conditions": [seen, hidden], "actions": [do(LAMP)]})
    await hass.services.async_call(
        "automation", "trigger", {"entity_id": "automation.a", "skip_condition": False}, blocking=True
    )
    (run,) = (await call_tool(GET, name="A", details=True))["last_runs"]
    assert run["result"] == "did not run: a condition was false"


async def test_which_hidden_branch_was_taken(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """The place of the last step names no branch of a hidden choice."""
    hidden = {"condition": "state", "entity_id": ZEBRA, "state": "off"}
    branch = {"if": [hidden], "then": [{"stop": "x", "error": True}], "else": [{"delay": 0}, {"stop": "x"}]}
    await start(hass, start_home, {"actions": [do(LAMP), branch]})
    await hass.services.async_call("automation", "trigger", {"entity_id": "automation.a"}, blocking=True)
    (run,) = (await call_tool(GET, name="A", details=True))["last_runs"]
    assert run.get("last_step") in (None, "action/1"), run


async def test_a_scene_of_the_user_is_not_its_own(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool
) -> None:
    """An added step may not turn on a scene that a step of the user's makes of what is hidden."""
    made = {"action": "scene.create", "data": {"scene_id": "before", "snapshot_entities": [ZEBRA]}}
    path = await start(hass, start_home, {"actions": [made]})
    before = path.read_bytes()
    told = (await call_tool(GET, name="A", details=True))["configuration"]["actions"]
    for target in ("scene.before", "scene.before_ea00000000"):
        step = {"action": "scene.turn_on", "target": {"entity_id": target}}
        assert "error" in await call_tool(UPDATE, automation="A", changes={"actions": [*told, step]}, error=True)
    assert path.read_bytes() == before


async def test_a_variable_that_is_given_another_value(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool
) -> None:
    """A name that stands for an entity may not stand for another one later in the run."""
    await start(hass, start_home, {})
    message = {"action": "persistent_notification.create", "data": {"message": "{{ states(lamp) }}"}}
    computed = "{{ 'input_boolean.' ~ 'zeb' ~ 'ra' }}"
    for actions, variables in (
        ([{"variables": {"lamp": computed}}, message], {"lamp": LAMP}),
        ([{"repeat": {"for_each": ["x"], "sequence": [{"variables": {"lamp": computed}}, message]}}], {"lamp": LAMP}),
        ([{"action": "weather.get_forecasts", "response_variable": "lamp"}, message], {"lamp": LAMP}),
        ([message], {"lamp": computed}),
    ):
        changes = {"variables": variables, "actions": actions}
        assert "error" in await call_tool(UPDATE, automation="A", changes=changes, error=True), changes
        new = {"alias": "B", "triggers": [], **changes}
        assert "error" in await call_tool(ADD, automation=new, error=True), changes
    triggers = [{"trigger": "state", "entity_id": MOTION, "variables": {"lamp": computed}}]
    new = {"alias": "B", "triggers": triggers, "variables": {"lamp": LAMP}, "actions": [message]}
    assert "error" in await call_tool(ADD, automation=new, error=True)


async def test_errors_tell_nothing_of_what_stays(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool
) -> None:
    """Home Assistant's errors about a unit that stays are not told."""
    broken = {"action": "lock.unlock", "data": {"code": "4711"}, "delay": "4711 x"}
    await start(hass, start_home, {"actions": [do(LAMP), {"delay": "4711 x", "code": "4711"}, broken]})
    expose(hass, "automation.a")
    told = (await call_tool(GET, name="A", details=True))["configuration"]
    assert "4711" not in str(told)
    answer = await call_tool(UPDATE, automation="A", changes={"actions": [do(PORCH), *told["actions"][1:]]}, error=True)
    assert "4711" not in str(answer)

"""Tests of how a sequence runs: its limits, its end, and what is told and recorded of it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from custom_components.extended_assist.actions.run import SequenceRun
from custom_components.extended_assist.actions.sequences import SequenceWalker
from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.confirmation.untrusted_text import MARK
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.exposure.responses import visible_response
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant, ServiceCall, callback
from homeassistant.helpers import llm
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.script import DATA_NEW_SCRIPT_RUNS_NOT_ALLOWED, DATA_SCRIPTS
from tests.conftest import ASSISTANT, CallTool, expose
from tests.helpers.steps import BED, LEVEL, PARTY, PARTY_ON, act, level
from tests.tools.test_scripts import AT_ONCE

pytestmark = pytest.mark.usefixtures("house")

LIGHT_ON = act("light.turn_on", BED)
LONG = {"delay": 60}
TIME = "custom_components.extended_assist.actions.run.SEQUENCE_TIME"


def state_of(hass: HomeAssistant, entity_id: str) -> str:
    """Return a state."""
    state = hass.states.get(entity_id)
    assert state
    return state.state


async def begun(hass: HomeAssistant) -> None:
    """Wait until a sequence has taken its first step."""
    event = asyncio.Event()
    stop = async_track_state_change_event(hass, [PARTY], callback(lambda _: event.set()))
    async with asyncio.timeout(5):
        await event.wait()
    stop()


@pytest.fixture(autouse=True)
def _nothing_left(hass: HomeAssistant, house: None) -> Any:
    """Every sequence is unloaded when it is over."""
    before = set(hass.data[DATA_SCRIPTS])
    yield
    assert set(hass.data[DATA_SCRIPTS]) == before


@pytest.mark.parametrize(
    "endless",
    [
        LONG,
        {"wait_for_trigger": {"trigger": "time", "at": "03:04:05"}},
        {"wait_template": "{{ is_state('input_boolean.party', 'off') }}"},
        {"repeat": {"count": 10**9, "sequence": [{"variables": {"x": 1}}]}},
        {"repeat": {"count": "{{ 10 ** 9 }}", "sequence": []}},
        {"repeat": {"count": 10**9, "sequence": [{"condition": "{{ false }}"}]}},
        {"repeat": {"while": "{{ true }}", "sequence": [{"repeat": {"until": "{{ true }}", "sequence": []}}]}},
        {"parallel": [LONG, {"repeat": {"count": 10**9, "sequence": []}}]},
    ],
    ids="-".join,
)
async def test_time_limit(
    hass: HomeAssistant, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch, endless: dict[str, Any]
) -> None:
    """What takes too long is ended, whatever it does, and what was done until then is told."""
    monkeypatch.setattr(TIME, 0.1)
    sequence = [PARTY_ON, endless, LIGHT_ON]
    async with asyncio.timeout(3):
        data = await call_tool(ExecuteScriptTool(AT_ONCE), sequence=sequence)
    assert data["ended"].startswith("stopped after")
    assert data["entities"] == {PARTY: "off → on"}
    await hass.async_block_till_done()
    assert state_of(hass, BED) == "off"


async def test_cancelled(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """When the turn is cancelled, a sequence that was begun comes to its end, and all that it did is recorded."""
    tool = ExecuteScriptTool(AT_ONCE)
    sequence = [PARTY_ON, {"delay": {"milliseconds": 100}}, LIGHT_ON]
    task = hass.async_create_task(tool.async_call(hass, llm.ToolInput(tool.name, {"sequence": sequence}), llm_context))
    await begun(hass)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.3)
    assert (state_of(hass, PARTY), state_of(hass, BED)) == ("on", "on")
    change = (await async_get_journal(hass)).last(Caller(llm_context))
    assert change
    assert list(change.details["states"]) == [PARTY, BED]


@pytest.mark.parametrize(
    "step",
    [
        LIGHT_ON,
        {
            "if": {"condition": "state", "entity_id": BED, "state": "off"},
            "then": [act("input_number.increment", LEVEL)],
        },
        {"parallel": [LIGHT_ON]},
        act("homeassistant.turn_on", "group.visible"),
    ],
)
async def test_hidden_meanwhile(hass: HomeAssistant, call_tool: CallTool, step: dict[str, Any]) -> None:
    """A sequence ends when something that it acts on or reads is hidden while it waits, even if only for a moment."""
    sequence = [PARTY_ON, {"sequence": [{"delay": {"milliseconds": 100}}]}, step]
    task = hass.async_create_task(call_tool(ExecuteScriptTool(AT_ONCE), sequence=sequence))
    await begun(hass)
    async_expose_entity(hass, ASSISTANT, BED, False)
    async_expose_entity(hass, ASSISTANT, BED, True)
    data = await task
    assert data["ended"] == "stopped: something that it uses is not exposed any more"
    assert data["entities"] == {PARTY: "off → on"}
    assert (state_of(hass, BED), state_of(hass, LEVEL), state_of(hass, "input_text.note")) == ("off", "0.0", "unknown")


async def test_hidden_between_check_and_run(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """What was hidden since the check is not used."""
    exposure = Exposure(hass, ASSISTANT)
    call = ToolCall(hass=hass, arguments={}, exposure=exposure, caller=Caller(llm_context), options=AT_ONCE)
    walker = SequenceWalker(call)
    run = await SequenceRun.async_create(call, walker, await walker.async_actions([LIGHT_ON]))
    async_expose_entity(hass, ASSISTANT, BED, False)
    with pytest.raises(ToolError, match="changed just now"):
        await run.async_run()
    assert state_of(hass, BED) == "off"


async def test_member_hidden_meanwhile(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A group is not used any more when one of its members is hidden while the sequence waits."""
    sequence = [PARTY_ON, {"delay": {"milliseconds": 100}}, act("light.turn_off", "light.whole")]
    task = hass.async_create_task(call_tool(ExecuteScriptTool(AT_ONCE), sequence=sequence))
    await begun(hass)
    async_expose_entity(hass, ASSISTANT, "light.ceiling_lights", False)
    assert (await task)["ended"].startswith("stopped")
    assert state_of(hass, "light.ceiling_lights") == "on"


async def test_something_else_hidden_meanwhile(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What the sequence does not use may be hidden or shown."""
    task = hass.async_create_task(
        call_tool(ExecuteScriptTool(AT_ONCE), sequence=[PARTY_ON, {"delay": {"milliseconds": 100}}, LIGHT_ON])
    )
    await begun(hass)
    async_expose_entity(hass, ASSISTANT, LEVEL, False)
    assert (await task)["ended"] == "finished"
    assert state_of(hass, BED) == "on"


async def test_failures(hass: HomeAssistant, call_tool: CallTool, llm_context: llm.LLMContext) -> None:
    """A failure is told with its place and reason, with what was done before it; without that, as an error."""
    tool = ExecuteScriptTool(AT_ONCE)
    data = await call_tool(tool, sequence=[{"repeat": {"count": 2, "sequence": [PARTY_ON, level(99)]}}])
    assert data["ended"] == "failed at sequence[0].repeat.sequence[1]"
    (failure,) = data["failures"]
    assert failure.startswith("sequence[0].repeat.sequence[1]: Invalid value for input_number.level: 99.0")
    assert data["entities"][PARTY] == "off → on"
    change = (await async_get_journal(hass)).last(Caller(llm_context))
    assert change
    assert list(change.details["states"]) == [PARTY]
    ignored = {**act("todo.remove_item", "todo.shopping_list", item=["none"]), "continue_on_error": True}
    data = await call_tool(tool, sequence=[ignored, LIGHT_ON])
    assert data["ended"] == "finished"
    assert data["failures"][0].startswith("sequence[0]: ")
    data = await call_tool(
        tool, error=True, sequence=[{"choose": [{"conditions": [], "sequence": [{"stop": "x"}, {}]}]}]
    )
    assert data["error"].startswith("sequence[0].choose[0].sequence[1]: this is no step of a script.")
    data = await call_tool(tool, sequence=[PARTY_ON, {"condition": "{{ false }}"}])
    assert data["ended"] == "ended early at sequence[1]"
    data = await call_tool(
        tool, sequence=[{"wait_template": "{{ false }}", "timeout": 0.01, "continue_on_timeout": False}]
    )
    assert data["ended"] == "ended early at sequence[0]"
    assert data["failures"] == ["sequence[0]: the time to wait was over"]
    assert data.keys() == {"ended", "failures", MARK}
    data = await call_tool(tool, error=True, sequence=[{"repeat": {"sequence": []}}])
    assert data["error"].startswith("sequence is not valid: ")


async def test_nothing_but_failures(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A sequence that fails before it changes anything is an error; a defect of an integration is no more than that."""
    tool = ExecuteScriptTool(AT_ONCE)
    failing = {"action": "todo.remove_item", "target": {"entity_id": "todo.shopping_list"}, "data": {"item": ["none"]}}
    data = await call_tool(tool, error=True, sequence=[failing])
    assert data["error"].startswith("The sequence failed at sequence[0] and changed nothing: sequence[0]: ")

    async def defect(_: ServiceCall) -> None:
        raise ValueError("narwhal")

    hass.services.async_register("light", "turn_off", defect)
    data = await call_tool(tool, error=True, sequence=[PARTY_ON, act("light.turn_off", BED)])
    assert data["error"].startswith("extended_assist__execute_script failed unexpectedly")
    assert "narwhal" not in data["error"]
    undone = await call_tool(UndoLastChangeTool())
    assert undone["undone"].keys() == {PARTY}


async def test_shutting_down(hass: HomeAssistant, call_tool: CallTool) -> None:
    """While Home Assistant shuts down, it runs nothing any more, and the answer says that nothing was done."""
    hass.data[DATA_NEW_SCRIPT_RUNS_NOT_ALLOWED] = None
    data = await call_tool(ExecuteScriptTool(AT_ONCE), sequence=[PARTY_ON])
    assert data == {"ended": "ended early at its beginning"}
    assert state_of(hass, PARTY) == "off"


async def test_many_changes(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Of very many changes, the first are told, and how many more there are."""
    names = [f"light.lamp_{number}" for number in range(40)]
    for name in names:
        hass.states.async_set(name, "off")
    expose(hass, *names)

    async def light_up(call: ServiceCall) -> None:
        for name in names:
            hass.states.async_set(name, "on", context=call.context)

    hass.services.async_register("light", "turn_off", light_up)
    tool = ExecuteScriptTool(replace(AT_ONCE, budget=1000))
    data = await call_tool(tool, sequence=[act("light.turn_off", names)])
    assert len(data["entities"]) < 40
    assert data["entities"]["light.lamp_0"] == "off → on"
    assert data["entities"]["more"] == f"{41 - len(data['entities'])} more entities"


async def test_only_what_ran_is_recorded_and_undone(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Undoing brings back what the sequence changed, and leaves what it only might have changed."""
    sequence = [
        {"if": "{{ false }}", "then": [LIGHT_ON], "else": [PARTY_ON, level(5)]},
        {"action": "script.visible"},
        act("lock.unlock", "lock.front_door"),
    ]
    data = await call_tool(ExecuteScriptTool(AT_ONCE), sequence=sequence)
    assert data["entities"].keys() == {PARTY, LEVEL, "lock.front_door", "script.visible"}
    await hass.services.async_call("light", "turn_on", {"entity_id": BED}, blocking=True)
    data = await call_tool(UndoLastChangeTool())
    assert data["change"] == "running a sequence"
    assert (state_of(hass, PARTY), state_of(hass, LEVEL), state_of(hass, "lock.front_door")) == ("off", "0.0", "locked")
    assert state_of(hass, BED) == "on"


def test_responses_are_filtered(hass: HomeAssistant) -> None:
    """Of a response, what names something hidden by its id or its name is not told."""
    exposure = Exposure(hass, ASSISTANT)
    response = {"lamp": "light.zebra", "said": "The Zebra lamp is on", "list": ["Bed Light", 1, {"Zebra lamp": 2}]}
    assert visible_response(exposure, response) == {
        "said": "(not told: it names something that is not exposed, or is secret)",
        "list": ["Bed Light", 1, {}],
    }
    assert visible_response(exposure, {"text": "Bed Light", "n": None, "deep": [[1.5]]}) == {
        "text": "Bed Light",
        "deep": [[1.5]],
    }
    assert visible_response(exposure, "light.zebra") is None
    secret = {
        "access_token": "x",
        "thumbnail": "/api/image?token=x",
        "url": "/api/image?size=2",
        "all": ["?token=x", 1],
    }
    assert visible_response(exposure, secret) == {"url": "/api/image?size=2", "all": [1]}
    assert visible_response(exposure, "/api/image?token=x").startswith("(not told:")

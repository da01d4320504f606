"""Tests of running scripts and sequences, with real integrations."""

import asyncio
from dataclasses import replace
import json
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_capture_events

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.confirmation.untrusted_text import _HEARD as HEARD
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.service import async_get_all_descriptions
from tests.attacks import sequences as attacks
from tests.attacks.actions import DEVICE, HIDDEN_DEVICE, REGISTRY_ID
from tests.claude_server import Turn, text, tool_use
from tests.conftest import ASSISTANT, CallTool, Converse, expose
from tests.helpers import honest_sequences
from tests.helpers.acting import device_of, hidden_states, traces
from tests.helpers.random_sequences import Grammar
from tests.helpers.seeds import seeds
from tests.helpers.steps import BED, LEVEL, NOTE, PARTY, PARTY_ON, act, answer
from tests.helpers.talking import speech

AT_ONCE = ToolboxOptions(policy=Policy(ask_first=frozenset(), allow_without_chat=True), budget=20_000)
"""Options under which sequences run without a question."""
START = {PARTY: "off", LEVEL: "0", NOTE: "", BED: "off", "lock.front_door": "locked", "switch.decorative_lights": "on"}


async def reset(hass: HomeAssistant) -> None:
    """Bring the house back to where every sequence begins."""
    for action, entity_id, data in (
        ("input_boolean.turn_off", PARTY, {}),
        ("input_number.set_value", LEVEL, {"value": 0}),
        ("input_text.set_value", NOTE, {"value": ""}),
        ("light.turn_off", BED, {}),
        ("lock.lock", "lock.front_door", {}),
        ("climate.set_hvac_mode", "climate.hvac", {"hvac_mode": "cool"}),
        ("switch.turn_on", "switch.decorative_lights", {}),
        ("fan.turn_off", "fan.living_room_fan", {}),
    ):
        await hass.services.async_call(*action.split("."), data, target={"entity_id": entity_id}, blocking=True)
    await hass.async_block_till_done()


def found(hass: HomeAssistant, what: str) -> str:
    """Return a state, or an attribute named after it."""
    domain, name, *attribute = what.split(".")
    state = hass.states.get(f"{domain}.{name}")
    assert state, what
    return str(state.attributes[attribute[0]]) if attribute else state.state


async def test_honest_sequences(hass: HomeAssistant, house: None, llm_context: llm.LLMContext) -> None:
    """Every kind of step runs and does what it says."""
    assert len(honest_sequences.ALL) >= 40
    place = {"latitude": hass.config.latitude, "longitude": hass.config.longitude, "gps_accuracy": 1}
    hass.states.async_set("device_tracker.phone", "home", place)
    expose(hass, "device_tracker.phone", "zone.home")
    wrong: dict[str, Any] = {}
    for name, sequence, effects, response in honest_sequences.ALL:
        await reset(hass)
        tool = ExecuteScriptTool(AT_ONCE)
        result = await tool.async_call(hass, llm.ToolInput(tool.name, {"sequence": _copy(sequence)}), llm_context)
        got = {what: found(hass, what) for what in effects}
        if (
            result.error
            or got != effects
            or result.data.get("response") != response
            or "stopped" in result.data["ended"]
        ):
            wrong[name] = got, result.data
    assert wrong == {}, json.dumps(wrong, indent=1, default=str)


def _copy(value: Any) -> Any:
    """Return a value as a model sends it."""
    return json.loads(json.dumps(value))


def _filled(hass: HomeAssistant, value: Any) -> Any:
    """Return a sequence with the ids that <…> stands for."""
    zebra = er.async_get(hass).async_get(attacks.HIDDEN)
    assert zebra
    written = json.dumps(value)
    for mark, real in (
        (DEVICE, device_of(hass, "light.narwhal")),
        (HIDDEN_DEVICE, device_of(hass, attacks.HIDDEN)),
        (REGISTRY_ID, zebra.id),
    ):
        written = written.replace(json.dumps(mark), json.dumps(real))
    return json.loads(written)


async def test_attacks(
    hass: HomeAssistant, house: None, llm_context: llm.LLMContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No sequence reaches what is hidden: it is refused with its place and reason, or runs the same whatever is hidden."""
    assert len(attacks.ALL) >= 80
    monkeypatch.setattr("custom_components.extended_assist.actions.run.SEQUENCE_TIME", 0.2)
    calls = async_capture_events(hass, EVENT_CALL_SERVICE)
    tool = ExecuteScriptTool(AT_ONCE)
    wrong: dict[str, Any] = {}
    for name, sequence, reason in attacks.ALL:
        filled = _filled(hass, sequence)
        await reset(hass)
        calls.clear()
        hass.data.pop(HEARD, None)
        before = hidden_states(hass)
        result = await tool.async_call(hass, llm.ToolInput(tool.name, {"sequence": filled}), llm_context)
        await hass.async_block_till_done()
        if traces(json_dumps(result.data), json_dumps(filled)) or "unexpectedly" in str(result.data):
            wrong[name] = result.data
        if result.error is (reason is None) or (reason and reason not in result.data["error"]):
            wrong[name] = reason, result.data
        reached = json_dumps([call.data["service_data"] for call in calls])
        if hidden_states(hass) != before or any(json.dumps(entity_id) in reached for entity_id in before):
            wrong[name] = "reached", reached
        if result.error:
            if calls:
                wrong[name] = "ran", reached
            continue
        for entity_id, (state, attributes) in before.items():
            hass.states.async_set(entity_id, "on" if state == "off" else "off", attributes | {"x": name})
        await reset(hass)
        hass.data.pop(HEARD, None)
        again = await tool.async_call(hass, llm.ToolInput(tool.name, {"sequence": filled}), llm_context)
        await hass.async_block_till_done()
        if again.data != result.data:
            wrong[name] = "differs", result.data, again.data
        for entity_id, (state, attributes) in before.items():
            hass.states.async_set(entity_id, state, attributes)
    assert wrong == {}, json.dumps(wrong, indent=1, default=str)


async def test_random_sequences(hass: HomeAssistant, house: None, llm_context: llm.LLMContext) -> None:
    """Whatever is accepted leaves everything hidden as it was, and tells nothing of it."""
    tool = ExecuteScriptTool(AT_ONCE)
    before = hidden_states(hass)
    accepted = refused = 0
    for seed in seeds(400):
        sequence = Grammar(seed).sequence()
        result = await tool.async_call(hass, llm.ToolInput(tool.name, {"sequence": sequence}), llm_context)
        await hass.async_block_till_done()
        assert hidden_states(hass) == before, (seed, sequence, result.data)
        assert "unexpectedly" not in str(result.data), (seed, sequence)
        ran = not result.error or "The sequence failed" in result.data["error"]
        assert traces(json_dumps(result.data), "" if ran else json_dumps(sequence)) == [], (seed, sequence, result.data)
        accepted, refused = accepted + ran, refused + (not ran)
    assert accepted > 100, refused
    assert refused > 100, accepted


async def test_exposed_script(hass: HomeAssistant, house: None, call_tool: CallTool) -> None:
    """An exposed script runs at once, by id or name, and what it changed is told."""
    for script in ("script.visible", "Party time"):
        await reset(hass)
        data = await call_tool(ExecuteScriptTool(), script=script, variables={"lamp": "Bed Light"})
        assert data["response"] == {"lamp": BED}
        assert data["entities"][PARTY] == "off → on"
    er.async_get(hass).async_update_entity("script.visible", new_entity_id="script.renamed")
    await hass.async_block_till_done()
    expose(hass, "script.renamed")
    assert "response" in await call_tool(ExecuteScriptTool(), script="script.renamed")


async def test_refused_scripts(hass: HomeAssistant, house: None, call_tool: CallTool) -> None:
    """What is no exposed script, and variables that could reach further, are refused."""
    tool = ExecuteScriptTool(AT_ONCE)
    for arguments, reason in (
        ({"script": "script.zebra"}, "'script.zebra' was not found or is not exposed."),
        ({"script": "script.zebxx"}, "'script.zebxx' was not found or is not exposed."),
        ({"script": BED}, "means 0 scripts"),
        ({"script": "script.visible", "variables": {"lamp": "light.zebra"}}, attacks.UNKNOWN),
        (
            {"script": "script.visible", "variables": {"lamp": "{{ states('light.zebra') }}"}},
            "Templates cannot be used",
        ),
        (
            {"script": "script.visible", "variables": {"room": "{% if 1 %}{% endif %}"}},
            "Templates cannot be used",
        ),
        ({"script": "script.visible", "variables": {"room": "kitchen"}}, "as a whole"),
        ({"script": "script.visible", "sequence": [PARTY_ON]}, "either script or sequence"),
        ({}, "either script or sequence"),
        ({"sequence": [PARTY_ON], "variables": {"x": 1}}, "variables are for a script"),
        ({"sequence": []}, "wrong arguments"),
    ):
        assert reason in (await call_tool(tool, error=True, **arguments))["error"], arguments


async def test_a_slow_script_goes_on(
    hass: HomeAssistant, house: None, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script of the user's is not ended in the middle."""
    slow = {"script": {"slow": {"sequence": [{"delay": {"milliseconds": 100}}, PARTY_ON]}}}
    with patch("homeassistant.config.load_yaml_config_file", return_value=slow):
        await hass.services.async_call("script", "reload", blocking=True)
    expose(hass, "script.slow")
    await async_get_all_descriptions(hass)
    monkeypatch.setattr(ExecuteScriptTool, "deadline", 0.05)
    data = await call_tool(ExecuteScriptTool(), script="script.slow")
    assert data["note"].startswith("It has not finished after 0.05 seconds and goes on")
    assert found(hass, PARTY) == "off"
    await asyncio.sleep(0.15)
    assert found(hass, PARTY) == "on"


async def test_a_slow_script_that_fails(
    hass: HomeAssistant,
    house: None,
    call_tool: CallTool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That a script fails after it was reported as going on is told with the next result."""
    slow = {"script": {"slow": {"sequence": [{"delay": {"milliseconds": 100}}, {"action": "light.fly"}]}}}
    with patch("homeassistant.config.load_yaml_config_file", return_value=slow):
        await hass.services.async_call("script", "reload", blocking=True)
    expose(hass, "script.slow")
    await async_get_all_descriptions(hass)
    monkeypatch.setattr(ExecuteScriptTool, "deadline", 0.05)
    assert "goes on" in (await call_tool(ExecuteScriptTool(), script="script.slow"))["note"]
    await asyncio.sleep(0.15)
    monkeypatch.setattr(ExecuteScriptTool, "deadline", 5)
    (told,) = (await call_tool(ExecuteScriptTool(AT_ONCE), sequence=[PARTY_ON]))["earlier"]
    assert told.startswith("script.slow, begun at ")
    assert " failed; outcome " in told
    assert "light.fly" not in told


async def test_sequences_ask_first(
    hass: HomeAssistant, house: None, entry: MockConfigEntry, converse: Converse
) -> None:
    """A sequence waits for the user's word, told in words; a script that the user exposed does not."""
    hass.config_entries.async_update_entry(entry, options={"families": ["scripts"]})
    await hass.async_block_till_done()
    sequence = {"sequence": [{"delay": {"milliseconds": 1}}, PARTY_ON, act("light.turn_on", "bed light", brightness=9)]}

    def use(arguments: dict[str, Any]) -> list[Turn]:
        return [Turn([tool_use("extended_assist__execute_script", arguments)]), Turn([text("Well.")])]

    asked = await converse("Party!", *use(sequence), device_id="speaker")
    assert speech(asked).endswith("Shall I do that?")
    assert (found(hass, PARTY), found(hass, BED)) == ("off", "off")
    done = Turn([text("Well.")])
    await converse("Yes", done, conversation_id=asked.conversation_id, device_id="speaker")
    assert (found(hass, PARTY), found(hass, BED)) == ("on", "on")
    await reset(hass)
    await converse("Party!", *use({"script": "script.visible"}))
    assert found(hass, PARTY) == "on"


async def test_preview(hass: HomeAssistant, house: None, llm_context: llm.LLMContext) -> None:
    """What would be done is said in words, with what templates compute."""
    arguments = {
        "sequence": [PARTY_ON, {"if": "{{ true }}", "then": [act("light.turn_on", BED, brightness="{{ 1 }}")]}]
    }
    call = ToolCall(
        hass=hass,
        arguments=arguments,
        exposure=Exposure(hass, ASSISTANT),
        caller=Caller(llm_context),
        options=ToolboxOptions(),
    )
    tool = ExecuteScriptTool()
    assert tool.asks_first(call)
    assert (await tool.async_plan(call)).words.splitlines() == [
        "Run a sequence of 3 steps, 2 of them actions",
        "- Turn on: Party (input_boolean.turn_on)",
        "- Depending on conditions: Turn on: Bed Light (light.turn_on), brightness {{ 1 }}",
    ]
    call = replace(call, arguments={"script": "Party time"})
    assert not tool.asks_first(call)
    assert (await tool.async_plan(call)).words == "Visible: Party time (script.visible)"


async def test_long_answers(hass: HomeAssistant, house: None, call_tool: CallTool) -> None:
    """A response that is too long is cut, and what was done is told all the same."""
    tool = ExecuteScriptTool(replace(AT_ONCE, budget=1000))
    data = await call_tool(tool, sequence=[PARTY_ON, *answer("{{ range(900) | list }}")])
    assert data["entities"] == {PARTY: "off → on"}
    assert "[cut: " in data["response"]
    assert len(json_dumps(data)) <= 1000

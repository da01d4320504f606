"""Tests of running scripts and sequences, with real integrations."""

import json
from typing import Any

from custom_components.extended_assist.call import ToolboxOptions
from custom_components.extended_assist.policy import Policy
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Event, HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from tests import honest_sequences
from tests.acting import device_of, hidden_states, traces
from tests.attacks import sequences as attacks
from tests.attacks.actions import DEVICE, HIDDEN_DEVICE, REGISTRY_ID
from tests.conftest import expose
from tests.honest_sequences import BED, LEVEL, NOTE, PARTY
from tests.random_sequences import Grammar

AT_ONCE = ToolboxOptions(policy=Policy(ask_first=frozenset()), budget=20_000)
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
    text = json.dumps(value)
    for mark, real in (
        (DEVICE, device_of(hass, "light.narwhal")),
        (HIDDEN_DEVICE, device_of(hass, attacks.HIDDEN)),
        (REGISTRY_ID, zebra.id),
    ):
        text = text.replace(json.dumps(mark), json.dumps(real))
    return json.loads(text)


async def test_attacks(hass: HomeAssistant, house: None, llm_context: llm.LLMContext) -> None:
    """No sequence reaches what is hidden: it is refused with its place and reason, or runs the same whatever is hidden."""
    assert len(attacks.ALL) >= 80
    calls: list[Event] = []
    hass.bus.async_listen(EVENT_CALL_SERVICE, calls.append)
    tool = ExecuteScriptTool(AT_ONCE)
    wrong: dict[str, Any] = {}
    for name, sequence, reason in attacks.ALL:
        filled = _filled(hass, sequence)
        await reset(hass)
        calls.clear()
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
    for seed in range(400):
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

"""Tests of running scripts and sequences, with real integrations."""

import json
from typing import Any

from custom_components.extended_assist.call import ToolboxOptions
from custom_components.extended_assist.policy import Policy
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from tests import honest_sequences
from tests.conftest import expose
from tests.honest_sequences import BED, LEVEL, NOTE, PARTY

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
    assert wrong == {}


def _copy(value: Any) -> Any:
    """Return a value as a model sends it."""
    return json.loads(json.dumps(value))

"""What calls would do: resolved, complete, and for Assist's own tools too."""

from typing import Any

import pytest

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.plan import Plan
from custom_components.extended_assist.confirmation.wording import MAX_NAMED, async_lines, step_for
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.llm_tools.extended_tool import PolicedTool
from custom_components.extended_assist.tools.scripts import ExecuteScriptTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from tests.conftest import ASSISTANT, expose


def call_with(hass: HomeAssistant, context: llm.LLMContext, **arguments: Any) -> ToolCall:
    """Return a call of a speaker."""
    return ToolCall(
        hass=hass,
        arguments=arguments,
        exposure=Exposure(hass, ASSISTANT),
        caller=Caller(context),
        options=ToolboxOptions(),
    )


async def plan_of(hass: HomeAssistant, context: llm.LLMContext, tool: str, /, **arguments: Any) -> Plan:
    """Return what a tool of Assist would do."""
    tools = {one.name: one for one in (await llm.async_get_api(hass, "assist", context)).tools}
    return await PolicedTool(tools[tool]).async_plan(call_with(hass, context, **arguments))


def acts(plan: Plan) -> dict[str, set[str]]:
    """Return the entities of each action."""
    return {step.action: set(step.entity_ids) for step in plan.steps}


async def test_assists_intents(hass: HomeAssistant, house: None, llm_context: llm.LLMContext) -> None:
    """The plan of an intent is what it calls: the action for each kind of entity, hidden ones left out."""
    assert await async_setup_component(hass, "intent", {})
    off, on = "intent__HassTurnOff", "intent__HassTurnOn"
    assert acts(await plan_of(hass, llm_context, off, name="Front Door")) == {"lock.unlock": {"lock.front_door"}}
    assert acts(await plan_of(hass, llm_context, on, name="Front Door")) == {"lock.lock": {"lock.front_door"}}
    assert acts(await plan_of(hass, llm_context, on, name="Hall Window")) == {"cover.open_cover": {"cover.hall_window"}}
    kitchen = acts(await plan_of(hass, llm_context, off, area="Kitchen", domain=["light"]))
    assert kitchen == {"light.turn_off": {"light.kitchen_lights", "light.ceiling_lights"}}
    moved = await plan_of(hass, llm_context, "intent__HassSetPosition", name="Hall Window", position=30)
    assert acts(moved) == {"cover.set_cover_position": {"cover.hall_window"}}
    assert moved.words == "Set cover position: Hall Window (cover.set_cover_position), position 30"
    assert acts(await plan_of(hass, llm_context, off, name="Zebra lamp")) == {}
    script = await plan_of(hass, llm_context, "script__visible", lamp="light.bed_light")
    assert acts(script) == {"script.visible": {"script.visible"}}
    assert all(plan.is_whole for plan in (moved, script))


@pytest.mark.usefixtures("assist")
async def test_what_cannot_be_known(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """What a tool of anybody else would do is not known, and the plan says so."""

    class Others(llm.Tool):
        name, title, description = "others__do", "Do", "Does."
        integration = "others"

        async def async_call(self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext) -> Any:
            return {}

    plan = await PolicedTool(Others()).async_plan(call_with(hass, llm_context, what="it"))
    assert (plan.is_whole, [step.action for step in plan.steps]) == (False, [""])
    assert plan.words == 'Do: {"what":"it"}'


@pytest.mark.usefixtures("assist")
async def test_only_repetition_is_summed_up(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """Many lamps are counted, with what is done to them; each lock among them is named."""
    many = [f"{domain}.n{number}" for domain in ("light", "lock") for number in range(MAX_NAMED + 1)]
    for entity_id in many:
        hass.states.async_set(entity_id, "off", {"friendly_name": entity_id.upper()})
    expose(hass, *many)
    step = step_for(call_with(hass, llm_context), "homeassistant.turn_off", many, {"transition": 3})
    assert step.entity_ids == tuple(many)
    assert all(f"LOCK.N{number}" in step.words for number in range(MAX_NAMED + 1))
    assert "LIGHT" not in step.words
    assert "13 of the kind light (homeassistant.turn_off), transition 3" in step.words
    few = step_for(call_with(hass, llm_context), "light.turn_off", many[:MAX_NAMED], {})
    assert all(f"LIGHT.N{number}" in few.words for number in range(MAX_NAMED))


async def test_every_branch(hass: HomeAssistant, house: None, llm_context: llm.LLMContext) -> None:
    """Actions in branches and loops are steps like all others, in the user's language where it has words for them."""

    def light(action: str) -> dict[str, Any]:
        return {"action": action, "target": {"entity_id": "light.bed_light"}, "data": {"brightness_pct": 7}}

    unlock = {"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}}
    sequence = [
        light("light.turn_on"),
        {"choose": [{"conditions": "{{ true }}", "sequence": [unlock]}], "default": [{"scene": "scene.visible"}]},
        {"repeat": {"count": 2, "sequence": [{"if": "{{ true }}", "then": [], "else": [unlock]}]}},
        {"parallel": [unlock, {"delay": 1}]},
    ]
    call = call_with(hass, llm_context, sequence=sequence)
    plan = await ExecuteScriptTool().async_plan(call)
    assert [step.action for step in plan.steps] == [
        *("light.turn_on", "scene.turn_on", "lock.unlock", "lock.unlock", "lock.unlock")
    ]
    assert await async_lines(hass, call.exposure, plan, "de") == [
        "Leuchte einschalten: Bed Light, Helligkeit 7 %",
        "Je nach Bedingungen: Szene aktivieren: Visible, Bed Light",
        "Je nach Bedingungen: Schloss entriegeln: Front Door",
        "Je nach Bedingungen: Immer wieder: Schloss entriegeln: Front Door",
        "Schloss entriegeln: Front Door",
    ]
    again = await ExecuteScriptTool().async_plan(call)
    assert plan.fingerprint() == again.fingerprint()
    other = call_with(hass, llm_context, sequence=[light("light.turn_on"), *sequence[2:]])
    assert (await ExecuteScriptTool().async_plan(other)).fingerprint() != plan.fingerprint()

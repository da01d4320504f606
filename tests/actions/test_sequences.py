"""Tests of the walker of sequences, conditions and triggers."""

from typing import Any

import pytest

from custom_components.extended_assist.actions.sequences import BREATH, MAX_STEPS, SequenceWalker
from custom_components.extended_assist.call import ToolboxOptions, ToolCall
from custom_components.extended_assist.exposure import Exposure
from custom_components.extended_assist.results import ToolError
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.script import Script
from tests.conftest import ASSISTANT

pytestmark = pytest.mark.usefixtures("house")

BED = {"action": "light.turn_on", "target": {"entity_id": "light.bed_light"}}


@pytest.fixture
def call(hass: HomeAssistant, llm_context: llm.LLMContext) -> ToolCall:
    """Return a call by nobody in particular."""
    exposure = Exposure(hass, ASSISTANT)
    return ToolCall(hass=hass, arguments={}, exposure=exposure, llm_context=llm_context, options=ToolboxOptions())


async def refusal(call: ToolCall, sequence: Any, **options: Any) -> str:
    """Return why a sequence is refused."""
    with pytest.raises(ToolError) as refused:
        await SequenceWalker(call, **options).async_actions(sequence)
    return str(refused.value)


async def test_concrete(hass: HomeAssistant, call: ToolCall) -> None:
    """What is ready to run names entities by id, and nothing hidden."""
    walker = SequenceWalker(call)
    walked = await walker.async_actions(
        [
            {"action": "light.turn_on", "target": {"area_id": "Kitchen"}, "data": {"brightness_pct": "{{ 10 + 20 }}"}},
            {"if": {"condition": "state", "entity_id": "party", "state": "on"}, "then": {"scene": "scene.visible"}},
            {"repeat": {"count": 2, "sequence": [{"delay": 1}]}},
        ]
    )
    assert walked[0]["target"] == {"entity_id": ["light.ceiling_lights", "light.kitchen_lights"]}
    assert walked[0]["data"]["brightness_pct"].template == "{{ 10 + 20 }}"
    assert walked[1]["if"][0]["entity_id"] == ["input_boolean.party"]
    assert walked[1]["then"] == [{"action": "scene.turn_on", "target": {"entity_id": ["scene.visible"]}}]
    assert len(walked[2]["repeat"]["sequence"]) == 2
    assert BREATH["delay"]["milliseconds"] == 1
    assert [action.name for action in walker.actions] == ["light.turn_on", "scene.turn_on"]
    assert walker.entity_ids == {
        *("light.ceiling_lights", "light.kitchen_lights", "scene.visible", "input_boolean.party"),
    }
    script = Script(hass, walked, "test", "test")
    await script.async_unload()


async def test_kept(hass: HomeAssistant, call: ToolCall) -> None:
    """What is kept as it is written comes back unchanged, or is refused where Home Assistant would reach further."""
    walker = SequenceWalker(call, keep=True, variables=["given"])
    actions = [
        {**BED, "data": {"brightness_pct": "{{ given }}"}},
        {"action": "light.turn_off", "entity_id": "light.bed_light"},
        {"action": "light.turn_off", "data": {"entity_id": ["light.bed_light"], "transition": 1}},
    ]
    assert await walker.async_actions(actions, "actions") is actions
    triggers = [{"trigger": "state", "entity_id": ["input_boolean.party"], "to": "on"}]
    assert await walker.async_triggers(triggers) is triggers
    conditions = [{"condition": "sun", "after": "sunset"}, "{{ is_state('input_boolean.party', 'on') }}"]
    assert await walker.async_conditions(conditions) is conditions
    for target, reason in (
        ({"area_id": "kitchen"}, "sequence[0].target: this also means 2 not exposed."),
        ({"entity_id": "bed light"}, "sequence[0].target.entity_id: 'bed light' is not an id"),
        ({"label_id": "cosy"}, "sequence[0].target: this also means 1 not exposed."),
    ):
        assert (await refusal(call, {**BED, "target": target}, keep=True)).startswith(reason)
    with pytest.raises(ToolError, match=r"triggers\[0\].entity_id: write the id input_boolean.party"):
        await walker.async_triggers({"trigger": "state", "entity_id": "party"})


async def test_limits(call: ToolCall) -> None:
    """What is too long or too deep is refused with a sentence, whatever it is."""
    assert "more than 100 steps" in await refusal(call, [BED] * (MAX_STEPS + 1))
    deep: Any = BED
    conditions: Any = "{{ true }}"
    for _ in range(10):
        deep, conditions = {"sequence": [deep]}, {"or": [conditions]}
    assert "nested more than 8 deep" in await refusal(call, deep)
    assert "nested more than 8 deep" in await refusal(call, conditions)
    value: Any = 1
    for _ in range(500):
        value = [value]
    assert "nested too deeply" in await refusal(call, {"variables": {"x": value}})
    assert "at most 40000" in await refusal(call, {"variables": {"x": "y" * 50_000}})

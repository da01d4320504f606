"""Tests of the walker of sequences, conditions and triggers."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.actions.sequences import MAX_STEPS, SequenceWalker
from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.results import ToolError
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from tests.conftest import ASSISTANT
from tests.helpers.acting import device_of
from tests.helpers.one_home import in_one_home

pytestmark = pytest.mark.usefixtures("house")

BED = {"action": "light.turn_on", "target": {"entity_id": "light.bed_light"}}


@pytest.fixture
def call(hass: HomeAssistant, llm_context: llm.LLMContext) -> ToolCall:
    """Return a call by nobody in particular."""
    exposure = Exposure(hass, ASSISTANT)
    return ToolCall(hass=hass, arguments={}, exposure=exposure, caller=Caller(llm_context), options=ToolboxOptions())


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
    assert walked[0]["data"]["brightness_pct"] == "{{ 10 + 20 }}"
    assert walked[1]["if"][0]["entity_id"] == "input_boolean.party"
    assert walked[1]["then"] == [{"action": "scene.turn_on", "target": {"entity_id": ["scene.visible"]}}]
    assert [action.name for action in walker.actions] == ["light.turn_on", "scene.turn_on"]
    assert walker.entity_ids == {
        *("light.ceiling_lights", "light.kitchen_lights", "scene.visible", "input_boolean.party"),
    }


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


LIGHT_ON = {"condition": "light.is_on"}


@in_one_home(
    ("sequence", "reason"),
    [
        ([5], "sequence[0]: a step must be an object."),
        (["light.turn_on"], "sequence[0]: a step must be an object."),
        ([{**BED, "data": {"effect": "{{ 1 +"}}], "sequence[0].data.effect: "),
        ([{"if": 5, "then": []}], "sequence[0].if: this must be a list of conditions."),
        ([{"if": ["sunset"], "then": []}], "sequence[0].if[0]: a condition must be an object or a template."),
        ([{"if": [5], "then": []}], "sequence[0].if[0]: a condition must be an object or a template."),
        ([{"wait_for_trigger": ["sunset"]}], "sequence[0].wait_for_trigger[0]: a trigger must be an object."),
        ([{**LIGHT_ON, "options": ["for"]}], "sequence[0].options: this must be an object."),
        ([LIGHT_ON], "sequence[0].target: name what it is about"),
        ([{**LIGHT_ON, "target": {"room": "kitchen"}}], "sequence[0].target: 'room' is no part of a target."),
        (
            [{**LIGHT_ON, "target": {"area_id": "Bed Room"}}, {**LIGHT_ON, "target": {"entity_id": "none"}}],
            "sequence[1]",
        ),
        (
            [{"condition": "state", "entity_id": "lights", "state": "on"}],
            "sequence[0].entity_id: 'lights' means several: ",
        ),
        ([{"device_id": "x", "domain": "light", "type": "turn_on"}], "sequence[0]: Device actions are not supported."),
    ],
)
async def test_what_is_wrong_is_said(call: ToolCall, sequence: Any, reason: str) -> None:
    """What is no step, condition or trigger is refused with its place and a reason."""
    assert (await refusal(call, sequence)).startswith(reason)


async def test_hidden_registry_ids(hass: HomeAssistant, call: ToolCall) -> None:
    """The registry id of a hidden entity is as unknown in any text as the entity."""
    zebra = er.async_get(hass).async_get("light.zebra")
    assert zebra
    reason = f"sequence[0].variables.x: '{zebra.id}' was not found or is not exposed. Use exposed entities only."
    assert await refusal(call, {"variables": {"x": zebra.id}}) == reason


async def test_kept_targets(hass: HomeAssistant, call: ToolCall) -> None:
    """What conditions and triggers are about stays as it is written, when Home Assistant understands just that."""
    walker = SequenceWalker(call, keep=True)
    triggers = [{"trigger": "light.turned_on", "target": {"entity_id": "light.bed_light"}}]
    assert await walker.async_triggers(triggers) is triggers
    assert walker.entity_ids == {"light.bed_light"}
    for target, reason in (
        ({"area_id": "kitchen"}, "this also means 2 not exposed."),
        ({"entity_id": "Bed Light"}, "entity_id: 'Bed Light' is not an id"),
    ):
        with pytest.raises(ToolError, match=reason):
            await walker.async_triggers([{"trigger": "light.turned_on", "target": target}])


# The demonstration integration is not set up as a whole, and cannot be unloaded beside other sensors.
@pytest.mark.parametrize("expected_lingering_timers", [True])
async def test_the_sun(hass: HomeAssistant, call: ToolCall) -> None:
    """Conditions about the sun need no target, and their thresholds are exposed."""
    sun = MockConfigEntry(domain="sun")
    sun.add_to_hass(hass)
    assert await hass.config_entries.async_setup(sun.entry_id)
    elevation = {"condition": "sun.elevation", "options": {"threshold": {"type": "above", "value": {"number": 3}}}}
    conditions = [{"condition": "sun.is_up"}, elevation]
    assert await SequenceWalker(call).async_conditions(conditions) == conditions
    elevation["options"] = {"threshold": {"type": "above", "value": {"entity": "input_number.zebra"}}}
    with pytest.raises(
        ToolError, match=r"conditions\[1\]\.options\.threshold\.value\.entity: 'input_number\.zebra' was"
    ):
        await SequenceWalker(call).async_conditions(conditions)


async def test_kept_data(hass: HomeAssistant, call: ToolCall) -> None:
    """Data that Home Assistant would take differently than it was checked is refused where it is kept."""
    step = {"action": "script.visible", "data": {"lamp": "Bed Light"}}
    assert "name entities by id here" in await refusal(call, [step], keep=True)
    kept = [{"action": "script.visible", "data": {"lamp": "light.bed_light"}}]
    assert await SequenceWalker(call, keep=True).async_actions(kept) is kept


async def test_kept_device_actions(hass: HomeAssistant, call: ToolCall) -> None:
    """An action on a device, as the editor writes it, is kept when all of the device is exposed."""
    registry = er.async_get(hass)
    bed, zebra = registry.async_get("light.bed_light"), registry.async_get("light.zebra")
    assert bed
    assert zebra
    step = {"type": "turn_on", "domain": "light", "device_id": bed.device_id, "entity_id": bed.id}
    assert await SequenceWalker(call, keep=True).async_actions([step]) == [step]
    for change, reason in (
        ({"device_id": device_of(hass, "light.narwhal")}, "as a whole"),
        ({"device_id": zebra.device_id}, "No device"),
        ({"entity_id": zebra.id}, "was not found or is not exposed"),
        ({"entity_id": "{{ 'light.zebra' }}"}, "cannot be known beforehand"),
        ({"domain": "mqtt"}, "actions on devices of this kind cannot be checked"),
    ):
        assert reason in await refusal(call, [step | change], keep=True)

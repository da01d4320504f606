"""Tests of undoing what was changed, by whichever tool."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from tests.conftest import ASSISTANT, CallTool

pytestmark = pytest.mark.usefixtures("house")


def state_of(hass: HomeAssistant, entity_id: str) -> tuple[str, Any]:
    """Return the state and brightness of an entity."""
    state = hass.states.get(entity_id)
    assert state
    return state.state, state.attributes.get("brightness")


async def test_undo_one_after_the_other(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Undo takes back the last change, then the one before, and then says that there is none."""
    start = state_of(hass, "light.bed_light")
    target = {"entity_id": "light.bed_light"}
    await call_tool(PerformActionTool(), action="light.turn_on", target=target, data={"brightness": 77})
    await call_tool(PerformActionTool(), action="cover.open_cover", target={"entity_id": "cover.kitchen_window"})
    assert state_of(hass, "light.bed_light") == ("on", 77)
    data = await call_tool(UndoLastChangeTool())
    assert data["change"] == "cover.open_cover"
    assert data["undone"].keys() == {"cover.kitchen_window"}
    assert data["undone"]["cover.kitchen_window"].startswith("open → closed")
    assert state_of(hass, "light.bed_light") == ("on", 77)
    data = await call_tool(UndoLastChangeTool())
    assert data["undone"]["light.bed_light"].startswith("on → off")
    assert state_of(hass, "light.bed_light")[0] == start[0]
    data = await call_tool(UndoLastChangeTool(), error=True)
    assert "changed nothing" in data["error"]


@pytest.mark.parametrize(
    ("arguments", "entity_id", "expected"),
    [
        (
            {"action": "climate.set_hvac_mode", "target": {"entity_id": "climate.hvac"}, "data": {"hvac_mode": "heat"}},
            "climate.hvac",
            "heat → cool",
        ),
        ({"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}}, "lock.front_door", "unlocked → lock"),
        (
            {"action": "input_number.set_value", "target": {"entity_id": "input_number.level"}, "data": {"value": 5}},
            "input_number.level",
            "5 → 0",
        ),
        (
            {"action": "input_text.set_value", "target": {"entity_id": "input_text.note"}, "data": {"value": "x"}},
            "input_text.note",
            "a text → a text",
        ),
        ({"action": "fan.turn_on", "target": {"entity_id": "fan.living_room_fan"}}, "fan.living_room_fan", "on → off"),
        (
            {"action": "media_player.media_pause", "target": {"entity_id": "media_player.kitchen"}},
            "media_player.kitchen",
            "paused → playing",
        ),
        (
            {"action": "automation.turn_off", "target": {"entity_id": "automation.visible"}},
            "automation.visible",
            "off → on",
        ),
        (
            {"action": "homeassistant.turn_on", "target": {"entity_id": "group.visible"}},
            "input_boolean.party",
            "on → off",
        ),
        ({"action": "scene.turn_on", "target": {"entity_id": "scene.visible"}}, "light.bed_light", "on → off"),
        ({"action": "script.outer"}, "input_boolean.party", "on → off"),
        (
            {"action": "automation.trigger", "target": {"entity_id": "automation.visible"}},
            "input_boolean.party",
            "on → off",
        ),
    ],
)
async def test_undo_domains(
    hass: HomeAssistant, call_tool: CallTool, arguments: dict[str, Any], entity_id: str, expected: str
) -> None:
    """States come back in every domain that can take them, also those that a scene or a script changed."""
    await hass.services.async_call(
        "input_text", "set_value", {"entity_id": "input_text.note", "value": "y"}, blocking=True
    )
    await call_tool(PerformActionTool(), **arguments)
    await hass.async_block_till_done()
    data = await call_tool(UndoLastChangeTool())
    assert data["undone"][entity_id].startswith(expected), data


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "todo.add_item", "target": {"entity_id": "todo.shopping_list"}, "data": {"item": "Eggs"}},
        {"action": "notify.send_message", "target": {"entity_id": "notify.notifier"}, "data": {"message": "Hello"}},
    ],
)
async def test_what_cannot_be_undone_is_said(
    hass: HomeAssistant, call_tool: CallTool, arguments: dict[str, Any]
) -> None:
    """An item on a list or a message that was sent is not taken back, and the answer says so."""
    await call_tool(PerformActionTool(), **arguments)
    data = await call_tool(UndoLastChangeTool())
    (entity_id,) = arguments["target"].values()
    assert "cannot be taken back" in data["cannot_be_undone"][entity_id]
    assert "undone" not in data


async def test_reading_is_not_a_change(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Asking for a forecast leaves nothing to undo."""
    target = {"entity_id": "weather.demo_weather_south"}
    await call_tool(PerformActionTool(), action="weather.get_forecasts", target=target, data={"type": "daily"})
    await call_tool(UndoLastChangeTool(), error=True)


async def test_hidden_since(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What is not exposed any more stays as it is and is told by number only."""
    target = {"entity_id": ["light.bed_light", "input_boolean.party"]}
    await call_tool(PerformActionTool(), action="homeassistant.turn_on", target=target)
    async_expose_entity(hass, ASSISTANT, "light.bed_light", False)
    data = await call_tool(UndoLastChangeTool())
    assert data["undone"] == {"input_boolean.party": "on → off"}
    assert data["note"].startswith("1 more of that change")
    assert "bed_light" not in json_dumps(data)
    assert state_of(hass, "light.bed_light")[0] == "on"


async def test_group(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What was done to a group comes back member by member; those hidden by now stay as they are."""
    await call_tool(PerformActionTool(), action="light.turn_off", target={"entity_id": "light.whole"})
    await hass.async_block_till_done()
    async_expose_entity(hass, ASSISTANT, "light.kitchen_lights", False)
    before = state_of(hass, "light.kitchen_lights")
    data = await call_tool(UndoLastChangeTool())
    assert data["undone"].keys() == {"light.ceiling_lights"}
    assert data["note"].startswith("1 more")
    assert state_of(hass, "light.kitchen_lights") == before


async def test_group_of_hidden_members_since(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What has become a group since is not put back where that would move what is hidden."""
    await call_tool(PerformActionTool(), action="light.turn_on", target={"entity_id": "light.bed_light"})
    state = hass.states.get("light.bed_light")
    assert state
    hass.states.async_set("light.bed_light", state.state, {**state.attributes, "entity_id": ["light.zebra"]})
    data = await call_tool(UndoLastChangeTool())
    assert data["cannot_be_undone"] == {"light.bed_light": "it would also move what is not exposed"}


async def test_whose_change(
    hass: HomeAssistant, llm_context: llm.LLMContext, hass_admin_user: MockUser, call_tool: CallTool
) -> None:
    """A user undoes their own changes from anywhere, and nobody else does."""
    target = {"entity_id": "input_boolean.party"}
    llm_context.context = Context(user_id=hass_admin_user.id)
    await call_tool(PerformActionTool(), action="input_boolean.turn_on", target=target)
    llm_context.context = Context()
    await call_tool(UndoLastChangeTool(), error=True)
    llm_context.context = Context(user_id=MockUser(name="Guest").add_to_hass(hass).id)
    await call_tool(UndoLastChangeTool(), error=True)
    llm_context.context, llm_context.device_id = Context(user_id=hass_admin_user.id), "another device"
    data = await call_tool(UndoLastChangeTool())
    assert data["undone"] == {"input_boolean.party": "on → off"}
    llm_context.context = Context()
    await call_tool(PerformActionTool(), action="input_boolean.turn_on", target=target)
    llm_context.device_id = "a satellite"
    await call_tool(UndoLastChangeTool(), error=True)
    llm_context.device_id, llm_context.assistant = "another device", "another assistant"
    await call_tool(UndoLastChangeTool(), error=True)
    llm_context.assistant = ASSISTANT
    await call_tool(UndoLastChangeTool())


async def test_script_hidden_since(hass: HomeAssistant, call_tool: CallTool, llm_context: llm.LLMContext) -> None:
    """The id of a script that was hidden after it ran is not told."""
    await call_tool(PerformActionTool(), action="script.visible")
    async_expose_entity(hass, ASSISTANT, "script.visible", False)
    call = ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, ASSISTANT),
        caller=Caller(llm_context),
        options=ToolboxOptions(),
    )
    assert "script.visible" not in (await UndoLastChangeTool().async_plan(call)).words
    data = await call_tool(UndoLastChangeTool())
    assert data["change"] == "running a script"
    assert "script.visible" not in json_dumps(data)


async def test_preview(hass: HomeAssistant, call_tool: CallTool, llm_context: llm.LLMContext) -> None:
    """Before it is confirmed, undo says what would come back."""
    await call_tool(PerformActionTool(), action="light.turn_on", target={"entity_id": "light.bed_light"})
    call = ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, ASSISTANT),
        caller=Caller(llm_context),
        options=ToolboxOptions(),
    )
    plan = await UndoLastChangeTool().async_plan(call)
    assert plan.sentence.startswith("Undo light.turn_on of ")
    assert plan.words == f"{plan.sentence}\n- Bed Light back to off"
    assert [(step.action, step.entity_ids) for step in plan.steps] == [("light.turn_off", ("light.bed_light",))]


async def test_preview_of_nothing(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """Where there is nothing to undo, nothing waits for a confirmation."""
    call = ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, ASSISTANT),
        caller=Caller(llm_context),
        options=ToolboxOptions(),
    )
    with pytest.raises(ToolError, match="changed nothing"):
        await UndoLastChangeTool().async_plan(call)


async def test_unavailable_before(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What was not available before it was changed cannot be so again."""
    assert state_of(hass, "input_text.note")[0] == "unknown"
    target = {"entity_id": "input_text.note"}
    await call_tool(PerformActionTool(), action="input_text.set_value", target=target, data={"value": "x"})
    data = await call_tool(UndoLastChangeTool())
    assert data["cannot_be_undone"] == {"input_text.note": "it was unknown before"}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (HomeAssistantError("The bulb is loose"), "its device failed: The bulb is loose"),
        (
            HomeAssistantError("The Zebra lamp is loose"),
            "its device failed: the reason names something that is not exposed",
        ),
        (ValueError("narwhal"), "the light refused"),
    ],
)
async def test_refused(hass: HomeAssistant, call_tool: CallTool, error: Exception, reason: str) -> None:
    """What an integration refuses to take back is told with its reason, as far as that may be told."""
    await call_tool(PerformActionTool(), action="light.turn_on", target={"entity_id": "light.bed_light"})

    async def refuse(_: ServiceCall) -> None:
        raise error

    hass.services.async_register("light", "turn_off", refuse)
    data = await call_tool(UndoLastChangeTool())
    assert data["cannot_be_undone"] == {"light.bed_light": reason}
    assert state_of(hass, "light.bed_light")[0] == "on"

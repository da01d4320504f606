"""Tests of Home Assistant's own permissions: an action is the speaker's, whichever way it is performed."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_fire_time_changed
import voluptuous as vol

from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.journal import Change, async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from custom_components.extended_assist.tools.scheduled import DoLaterTool
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.helpers import llm
from homeassistant.helpers.service import async_register_admin_service, async_set_service_schema
from tests.helpers.one_home import in_one_home

from ..conftest import ASSISTANT, CallTool
from ..helpers.acting import listing

ALLOWED = ("light.bed_light", "input_boolean.party")


@pytest.fixture
def guest(hass: HomeAssistant, house: None, llm_context: llm.LLMContext) -> MockUser:
    """Let a user speak who may control two entities only."""
    user = MockUser(name="Guest").add_to_hass(hass)
    user.mock_policy({"entities": {"entity_ids": dict.fromkeys(ALLOWED, True)}})
    llm_context.context = Context(user_id=user.id)
    return user


@pytest.mark.parametrize("entity_id", ALLOWED)
async def test_allowed(hass: HomeAssistant, guest: MockUser, call_tool: CallTool, entity_id: str) -> None:
    """What the user may control, the assistant may control for them, and undo."""
    action = f"{entity_id.split('.', maxsplit=1)[0]}.turn_on"
    await call_tool(PerformActionTool(), action=action, target={"entity_id": entity_id})
    assert hass.states.is_state(entity_id, "on")
    await call_tool(UndoLastChangeTool())
    assert hass.states.is_state(entity_id, "off")


@in_one_home(
    "arguments",
    [
        {"action": "light.turn_off", "target": {"entity_id": "light.kitchen_lights"}},
        {"action": "light.turn_off", "target": {"entity_id": ["light.bed_light", "light.kitchen_lights"]}},
        {"action": "light.turn_off", "target": {"area_id": "kitchen"}},
        {"action": "homeassistant.turn_off", "target": {"entity_id": "light.kitchen_lights"}},
        {"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}},
        {
            "action": "calendar.get_events",
            "target": {"entity_id": "calendar.calendar_1"},
            "data": {"duration": {"hours": 9}},
        },
        {"action": "scene.turn_on", "target": {"entity_id": "scene.visible"}},
    ],
)
async def test_not_allowed(
    hass: HomeAssistant, guest: MockUser, call_tool: CallTool, arguments: dict[str, Any]
) -> None:
    """What the user may not control stays as it is, and the answer says whom to ask."""
    before = {state.entity_id: state.state for state in hass.states.async_all()}
    data = await call_tool(PerformActionTool(), error=True, **arguments)
    assert "may not do this in Home Assistant" in data["error"]
    assert {state.entity_id: state.state for state in hass.states.async_all()} == before
    caller = Caller(llm.LLMContext("", Context(user_id=guest.id), None, ASSISTANT, None))
    assert (await async_get_journal(hass)).last(caller) is None


async def test_undo_is_the_speakers(hass: HomeAssistant, guest: MockUser, call_tool: CallTool) -> None:
    """Undoing needs the permission that doing needs."""
    kept = {"light.kitchen_lights": {"state": "off", "attributes": {}}}
    change = Change("states", "light.turn_on", {"states": kept}, assistant=ASSISTANT, user_id=guest.id)
    (await async_get_journal(hass)).add(change)
    data = await call_tool(UndoLastChangeTool())
    assert data["cannot_be_undone"] == {"light.kitchen_lights": "the user who speaks may not do this"}
    assert hass.states.is_state("light.kitchen_lights", "on")


async def test_later_is_the_speakers(
    hass: HomeAssistant, guest: MockUser, call_tool: CallTool, freezer: FrozenDateTimeFactory
) -> None:
    """What is done later needs the permission as it is then."""
    entry = MockConfigEntry(domain="extended_assist", data={}, options={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    tool = DoLaterTool(ToolboxOptions.of({}, entry.entry_id))
    for entity_id in ("light.bed_light", "light.kitchen_lights"):
        toggle = {"action": "light.toggle", "target": {"entity_id": entity_id}}
        await call_tool(tool, when={"after": 60}, action=toggle)
    freezer.tick(61)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert hass.states.is_state("light.bed_light", "on")
    assert hass.states.is_state("light.kitchen_lights", "on")
    results = [task.progress.result or "" for task in (await async_get_scheduled_tasks(hass)).ended]
    assert any("may not do this" in result for result in results)


async def test_for_administrators(
    hass: HomeAssistant, guest: MockUser, call_tool: CallTool, llm_context: llm.LLMContext, hass_admin_user: MockUser
) -> None:
    """An action for administrators is theirs alone, although Home Assistant lets a call without a user pass."""
    calls: list[ServiceCall] = []

    async def handle(call: ServiceCall) -> None:
        calls.append(call)

    schema = vol.Schema({}, extra=vol.ALLOW_EXTRA)
    async_register_admin_service(hass, "secret_service", "run", handle, schema)
    async_set_service_schema(hass, "secret_service", "run", {"target": {"entity": {}}})
    arguments = {"action": "secret_service.run", "target": {"entity_id": "light.bed_light"}}
    for context in (Context(user_id=guest.id), Context()):
        llm_context.context = context
        data = await call_tool(listing("secret_service.run"), error=True, **arguments)
        assert "Only an administrator" in data["error"]
    assert calls == []
    llm_context.context = Context(user_id=hass_admin_user.id)
    await call_tool(listing("secret_service.run"), **arguments)
    assert len(calls) == 1

"""Tests of actions for later as a model asks for them: what they reach when they are due, once, whoever is there by then."""

import asyncio
from collections.abc import Awaitable, Callable
import logging
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_capture_events

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.tools.scheduled import DoLaterTool, PendingTool
from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Context, Event, HomeAssistant, ServiceCall, callback
from homeassistant.helpers import chat_session
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from tests.actions.conftest import LAMP, Later, is_on, later, toolbox
from tests.conftest import ASSISTANT, CallTool
from tests.helpers.acting import hidden_states

from .keeping import async_restart

__all__ = ["later", "toolbox"]

type Plan = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def plan(toolbox: MockConfigEntry, call_tool: CallTool) -> Plan:
    """Return a function that asks for an action in a minute, or after other seconds."""
    tool = DoLaterTool(ToolboxOptions.of(toolbox.options, toolbox.entry_id))

    async def ask(action: str, after: float = 60, **parts: Any) -> dict[str, Any]:
        return await call_tool(tool, when={"after": after}, action={"action": action, **parts})

    return ask


async def results(call_tool: CallTool) -> list[str]:
    """Return what became of what is over, last first."""
    return [item["result"] for item in (await call_tool(PendingTool()))["ended"]]


async def test_hidden_when_due(hass: HomeAssistant, plan: Plan, call_tool: CallTool, later: Later) -> None:
    """What is hidden by then is not touched and not told of; the rest is done."""
    await plan("light.turn_off", target={"entity_id": ["light.bed_light", "light.kitchen_lights"]})
    await plan("light.turn_on", target=LAMP)
    async_expose_entity(hass, ASSISTANT, "light.bed_light", False)
    before = hidden_states(hass), hass.states.get("light.bed_light")
    assert is_on(hass, "light.kitchen_lights")
    listed = await call_tool(PendingTool())
    assert [item["what"] for item in listed["pending"]] == ["Turn off: Kitchen Lights (light.turn_off)"]
    await later(61)
    assert not is_on(hass, "light.kitchen_lights")
    assert (hidden_states(hass), hass.states.get("light.bed_light")) == before
    listed = await call_tool(PendingTool())
    assert "bed" not in json_dumps(listed).lower()
    assert "; 1 not exposed any more" in listed["ended"][0]["result"]
    async_expose_entity(hass, ASSISTANT, "light.bed_light", True)
    assert "not done: none of its entities is exposed any more." in "".join(await results(call_tool))


async def test_newly_exposed_is_not_touched(hass: HomeAssistant, plan: Plan, later: Later) -> None:
    """An area means what it meant when the action was asked for."""
    await plan("light.turn_off", target={"area_id": "kitchen"})
    async_expose_entity(hass, ASSISTANT, "light.zebra", True)
    before = hass.states.get("light.zebra")
    await later(61)
    assert not is_on(hass, "light.kitchen_lights")
    assert hass.states.get("light.zebra") == before


async def test_group_that_gained_a_hidden_member(hass: HomeAssistant, plan: Plan, later: Later) -> None:
    """Members are looked at when the action is due."""
    await plan("light.turn_off", target={"entity_id": "light.whole"})
    async_expose_entity(hass, ASSISTANT, "light.kitchen_lights", False)
    await later(61)
    assert not is_on(hass, "light.ceiling_lights")
    assert is_on(hass, "light.kitchen_lights")


async def test_whose_action(
    hass: HomeAssistant, toolbox: MockConfigEntry, plan: Plan, call_tool: CallTool, llm_context: Any, later: Later
) -> None:
    """The user must still be there and still be allowed, and the action is theirs."""
    calls = async_capture_events(hass, EVENT_CALL_SERVICE)
    user = MockUser(name="Resident", is_owner=True).add_to_hass(hass)
    guest = MockUser(name="Guest", is_owner=True).add_to_hass(hass)
    for speaker in (user, guest):
        llm_context.context = Context(user_id=speaker.id)
        await plan("light.turn_on", target=LAMP)
    guest.is_active = False
    await later(61)
    (call,) = [call for call in calls if call.data["domain"] == "light"]
    assert call.context.user_id == user.id
    llm_context.context = Context(user_id=user.id)
    assert any(result.startswith("not done: the user who wanted it is gone.") for result in await results(call_tool))

    await hass.services.async_call("light", "turn_off", LAMP, blocking=True)
    llm_context.context = Context()
    await plan("light.turn_on", target=LAMP)
    hass.config_entries.async_update_entry(toolbox, options={"who_may_control": "user"})
    await hass.async_block_till_done()
    await later(61)
    assert not is_on(hass)


async def test_two_entries(
    hass: HomeAssistant, toolbox: MockConfigEntry, plan: Plan, call_tool: CallTool, later: Later
) -> None:
    """What one entry is to do waits and is done whatever becomes of another entry."""
    other = MockConfigEntry(domain="extended_assist", data={}, options={})
    other.add_to_hass(hass)
    await plan("light.turn_on", target=LAMP)
    assert await hass.config_entries.async_setup(other.entry_id)
    off = {"action": "light.turn_off", "target": LAMP}
    await call_tool(DoLaterTool(ToolboxOptions.of({}, other.entry_id)), when={"after": 120}, action=off)
    assert await hass.config_entries.async_unload(other.entry_id)
    await later(121)
    assert is_on(hass)
    (waiting,) = (await async_get_scheduled_tasks(hass)).standing
    assert waiting.owner.entry_id == other.entry_id


async def test_unloaded_in_this_moment(
    hass: HomeAssistant, toolbox: MockConfigEntry, plan: Plan, later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An action whose entry is unloaded while it is stored as begun waits until the entry is back, and is done once."""
    await plan("light.toggle", target=LAMP)
    save = Store.async_save

    async def unload_meanwhile(store: Store[Any], data: Any) -> None:
        if store.key == "extended_assist.wishes" and toolbox.state is ConfigEntryState.LOADED:
            await hass.config_entries.async_unload(toolbox.entry_id)
        await save(store, data)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "async_save", unload_meanwhile)
        await later(61)
    assert not is_on(hass)
    (waiting,) = (await async_get_scheduled_tasks(hass)).standing
    assert waiting.progress.begun is None
    tasks = await async_restart(hass, toolbox)
    await later(1)
    assert is_on(hass)
    assert tasks.standing == []
    await async_restart(hass, toolbox)
    await later(1)
    assert is_on(hass)


async def test_defect_when_due(
    hass: HomeAssistant, plan: Plan, call_tool: CallTool, later: Later, caplog: pytest.LogCaptureFixture
) -> None:
    """A defect of an integration is told without its text, and logged without it above debug."""

    async def defect(_: ServiceCall) -> None:
        raise ValueError("narwhal")

    hass.services.async_register("light", "turn_off", defect)
    await plan("light.turn_off", target=LAMP)
    await later(61)
    (result,) = await results(call_tool)
    assert result.startswith("not done: it failed unexpectedly")
    assert "Unexpected error in a scheduled task" in caplog.text
    assert "ValueError" in caplog.text
    assert not [
        one for one in caplog.records if one.levelno >= logging.INFO and "narwhal" in caplog.handler.format(one)
    ]


async def test_begun_is_stored_before_it_is_done(
    hass: HomeAssistant, plan: Plan, hass_storage: dict[str, Any], later: Later
) -> None:
    """When Home Assistant dies while an action runs, it is not done again."""
    stored: list[dict[str, Any]] = []

    @callback
    def look(event: Event) -> None:
        if event.data["domain"] == "light":
            stored.append(hass_storage["extended_assist.wishes"]["data"]["wishes"][0]["progress"])

    hass.bus.async_listen(EVENT_CALL_SERVICE, look)
    await plan("light.turn_on", target=LAMP)
    due = dt_util.utcnow().timestamp() + 60
    await later(61)
    assert [(one["begun"], one["last"], one["due"]) for one in stored] == [(due, due, None)]


@pytest.mark.parametrize("change", ["cancel", "unload"])
async def test_changed_while_it_is_stored(
    hass: HomeAssistant,
    toolbox: MockConfigEntry,
    plan: Plan,
    later: Later,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
) -> None:
    """What is cancelled, or whose entry is unloaded, before it is on the disk is not done all the same."""
    tasks, save = await async_get_scheduled_tasks(hass), Store.async_save
    is_saved, slow = asyncio.Event(), asyncio.Event()

    async def save_slowly(store: Store[Any], data: Any) -> None:
        is_saved.set()
        await slow.wait()
        await save(store, data)

    monkeypatch.setattr(Store, "async_save", save_slowly)
    adding = hass.async_create_task(plan("light.turn_on", target=LAMP))
    await is_saved.wait()
    (task,) = tasks.standing
    if change == "cancel":
        ending = hass.async_create_task(tasks.async_end(task.id, "cancelled"))
        slow.set()
        assert await ending is task
    else:
        assert await hass.config_entries.async_unload(toolbox.entry_id)
        slow.set()
    await adding
    await later(61)
    assert not is_on(hass)
    assert task.progress.times == 0


async def test_due_at_the_same_time(hass: HomeAssistant, plan: Plan, later: Later) -> None:
    """Many that are due at once are each done once, and none of it is part of the conversation any more."""
    calls: list[tuple[str, object]] = []

    @callback
    def look(event: Event) -> None:
        if event.data["domain"] == "input_number":
            calls.append((event.data["service_data"]["value"], current_chat_log.get()))

    hass.bus.async_listen(EVENT_CALL_SERVICE, look)
    target = {"entity_id": "input_number.level"}
    with (
        chat_session.async_get_chat_session(hass) as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        token = current_chat_log.set(chat_log)
        await asyncio.gather(
            *(plan("input_number.set_value", target=target, data={"value": value}) for value in range(8))
        )
        current_chat_log.reset(token)
    await later(61)
    await later(61)
    assert sorted(value for value, _ in calls) == list(range(8))
    assert {log for _, log in calls} == {None}

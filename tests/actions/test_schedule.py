"""Tests of actions that are performed later."""

import logging
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_capture_events

from custom_components.extended_assist.actions.schedule import (
    MAX_WAITING,
    async_get_schedule,
)
from custom_components.extended_assist.toolbox.options import ToolboxOptions
from custom_components.extended_assist.tools.actions import PerformActionTool, ScheduledActionsTool, UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util

from ..acting import hidden_states
from ..conftest import ASSISTANT, CallTool
from .conftest import LAMP, Later, is_on


async def test_delay(hass: HomeAssistant, perform: PerformActionTool, call_tool: CallTool, later: Later) -> None:
    """A delayed action is listed, runs when due, once, and its outcome is told; the user's undo takes it back."""
    data = await call_tool(perform, action="light.turn_on", target=LAMP, data={"brightness_pct": 50}, delay=600)
    assert data["at"] == "2026-03-02 12:10:00"
    assert data["what"] == "Turn on: Bed Light (light.turn_on), brightness 50 %"
    listed = await call_tool(ScheduledActionsTool())
    assert listed == {"scheduled": [{"id": data["scheduled"], "at": data["at"], "what": data["what"]}]}
    await later(590)
    assert not is_on(hass)
    await later(11)
    assert is_on(hass)
    listed = await call_tool(ScheduledActionsTool())
    assert listed["scheduled"] == []
    assert listed["ended"][0]["result"].startswith("done: light.bed_light: off → on, brightness 128")
    await hass.services.async_call("light", "turn_off", LAMP, blocking=True)
    await later(3600)
    assert not is_on(hass)
    data = await call_tool(UndoLastChangeTool())
    assert data["change"] == "light.turn_on"


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("17:30", "2026-03-02 17:30:00"),
        ("07:15:30", "2026-03-03 07:15:30"),
        ("12:00", "2026-03-03 12:00:00"),
        ("2026-03-04 08:00", "2026-03-04 08:00:00"),
        ("2026-03-04T08:00:00+00:00", "2026-03-04 09:00:00"),
        ("2026-03-30 08:00", "2026-03-30 08:00:00"),
    ],
)
async def test_at(perform: PerformActionTool, call_tool: CallTool, at: str, expected: str) -> None:
    """A time is local, the next one of that clock time, also across the change of clocks."""
    data = await call_tool(perform, action="light.turn_on", target=LAMP, at=at)
    assert data["at"] == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"at": "soon"}, "is not a time"),
        ({"at": "2026-02-30 10:00"}, "is not a time"),
        ({"at": "25:00"}, "is not a time"),
        ({"at": "2026-03-02 11:59"}, "not within the next 31 days"),
        ({"at": "2027-03-02 11:59"}, "not within the next 31 days"),
        ({"at": "17:30", "delay": 5}, "either delay or at"),
        ({"delay": 0}, "delay must be from 1 second to 2678400"),
        ({"delay": 1e9}, "delay must be from 1 second to 2678400"),
        ({"delay": "nan"}, "delay must be from 1 second to 2678400"),
        ({"delay": 60, "target": {"entity_id": "light.zebra"}}, "not found or is not exposed"),
        (
            {"delay": 60, "action": "weather.get_forecasts", "target": {"entity_id": "all"}, "data": {"type": "daily"}},
            "only answers",
        ),
    ],
)
async def test_refused_when_scheduled(
    hass: HomeAssistant, perform: PerformActionTool, call_tool: CallTool, arguments: dict[str, Any], expected: str
) -> None:
    """What could never be done is refused at once."""
    data = await call_tool(perform, error=True, **({"action": "light.turn_on", "target": LAMP} | arguments))
    assert expected in data["error"]
    assert (await async_get_schedule(hass)).waiting == []


async def test_cancel(hass: HomeAssistant, perform: PerformActionTool, call_tool: CallTool, later: Later) -> None:
    """A cancelled action does not run; cancelling can be undone, and scheduling too."""
    data = await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    missing = await call_tool(ScheduledActionsTool(), error=True, cancel="zzzzzz")
    assert "Nothing with id 'zzzzzz'" in missing["error"]
    cancelled = await call_tool(ScheduledActionsTool(), cancel=data["scheduled"])
    assert cancelled["what"] == "Turn on: Bed Light (light.turn_on)"
    undone = await call_tool(UndoLastChangeTool())
    assert undone["undone"].startswith("scheduled again: Turn on")
    undone = await call_tool(UndoLastChangeTool())
    assert undone["undone"].startswith("cancelled: Turn on")
    await later(120)
    assert not is_on(hass)
    assert (await call_tool(ScheduledActionsTool())) == {"scheduled": []}


async def test_not_exposed_when_due(
    hass: HomeAssistant, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """What is hidden by then is not touched and not told of; the rest is done."""
    target = {"entity_id": ["light.bed_light", "light.kitchen_lights"]}
    await call_tool(perform, action="light.turn_off", target=target, delay=60)
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    async_expose_entity(hass, ASSISTANT, "light.bed_light", False)
    before = hidden_states(hass), hass.states.get("light.bed_light")
    assert is_on(hass, "light.kitchen_lights")
    listed = await call_tool(ScheduledActionsTool())
    assert [item["what"] for item in listed["scheduled"]] == ["Turn off: Kitchen Lights (light.turn_off)"]
    await later(61)
    assert not is_on(hass, "light.kitchen_lights")
    assert (hidden_states(hass), hass.states.get("light.bed_light")) == before
    listed = await call_tool(ScheduledActionsTool())
    assert "bed" not in json_dumps(listed).lower()
    assert listed["ended"][0]["result"].endswith("; 1 not exposed any more")
    async_expose_entity(hass, ASSISTANT, "light.bed_light", True)
    ended = (await call_tool(ScheduledActionsTool()))["ended"]
    assert "not done: none of its entities is exposed any more." in [item["result"] for item in ended]


async def test_newly_exposed_is_not_touched(
    hass: HomeAssistant, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """An area means what it meant when the action was scheduled."""
    await call_tool(perform, action="light.turn_off", target={"area_id": "kitchen"}, delay=60)
    async_expose_entity(hass, ASSISTANT, "light.zebra", True)
    before = hass.states.get("light.zebra")
    await later(61)
    assert not is_on(hass, "light.kitchen_lights")
    assert hass.states.get("light.zebra") == before


async def test_group_that_gained_a_hidden_member(
    hass: HomeAssistant, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """Members are looked at when the action is due."""
    await call_tool(perform, action="light.turn_off", target={"entity_id": "light.whole"}, delay=60)
    async_expose_entity(hass, ASSISTANT, "light.kitchen_lights", False)
    await later(61)
    assert not is_on(hass, "light.ceiling_lights")
    assert is_on(hass, "light.kitchen_lights")


async def test_policy_when_due(
    hass: HomeAssistant,
    toolbox: MockConfigEntry,
    call_tool: CallTool,
    llm_context: llm.LLMContext,
    later: Later,
) -> None:
    """The user must still be there and still be allowed, and the action is theirs."""
    calls = async_capture_events(hass, EVENT_CALL_SERVICE)
    tool = PerformActionTool(ToolboxOptions.of(toolbox.options, toolbox.entry_id))
    user = MockUser(name="Resident", is_owner=True).add_to_hass(hass)
    guest = MockUser(name="Guest", is_owner=True).add_to_hass(hass)
    for speaker in (user, guest):
        llm_context.context = Context(user_id=speaker.id)
        await call_tool(tool, action="light.turn_on", target=LAMP, delay=60)
    guest.is_active = False
    await later(61)
    (call,) = [call for call in calls if call.data["domain"] == "light"]
    assert call.context.user_id == user.id
    llm_context.context = Context(user_id=user.id)
    results = [item["result"] for item in (await call_tool(ScheduledActionsTool()))["ended"]]
    assert "not done: the user who scheduled it is gone." in results

    await hass.services.async_call("light", "turn_off", LAMP, blocking=True)
    llm_context.context = Context()
    await call_tool(tool, action="light.turn_on", target=LAMP, delay=60)
    hass.config_entries.async_update_entry(toolbox, options={"who_may_control": "user"})
    await hass.async_block_till_done()
    await later(61)
    assert not is_on(hass)

    llm_context.context = Context(user_id=user.id)
    await call_tool(tool, action="light.turn_on", target=LAMP, delay=60)
    hass.config_entries.async_update_entry(toolbox, options={"families": ["entities"]})
    await hass.async_block_till_done()
    await later(61)
    assert not is_on(hass)


async def test_removed_entry(
    hass: HomeAssistant, toolbox: MockConfigEntry, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """What was scheduled through an entry goes with it."""
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    await hass.config_entries.async_remove(toolbox.entry_id)
    assert (await async_get_schedule(hass)).waiting == []
    await later(61)
    assert not is_on(hass)


async def test_too_many(hass: HomeAssistant, perform: PerformActionTool, call_tool: CallTool) -> None:
    """There is an end to what can wait."""
    for _ in range(MAX_WAITING):
        await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    data = await call_tool(perform, error=True, action="light.turn_on", target=LAMP, delay=60)
    assert "Cancel some" in data["error"]
    ids = [item.id for item in (await async_get_schedule(hass)).waiting]
    assert len(set(ids)) == MAX_WAITING
    assert dt_util.utcnow().timestamp() < min(item.due for item in (await async_get_schedule(hass)).waiting)


async def test_without_an_entry(hass: HomeAssistant, toolbox: MockConfigEntry, call_tool: CallTool) -> None:
    """A tool that belongs to no entry schedules nothing: nobody's options would allow it later."""
    data = await call_tool(PerformActionTool(), error=True, action="light.turn_on", target=LAMP, delay=60)
    assert "can be scheduled from here" in data["error"]


async def test_two_entries(
    hass: HomeAssistant, toolbox: MockConfigEntry, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """What one entry has scheduled waits and is performed whatever becomes of another entry."""
    other = MockConfigEntry(domain="extended_assist", data={}, options={})
    other.add_to_hass(hass)
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    assert await hass.config_entries.async_setup(other.entry_id)
    await call_tool(
        PerformActionTool(ToolboxOptions.of({}, other.entry_id)), action="light.turn_off", target=LAMP, delay=120
    )
    assert await hass.config_entries.async_unload(other.entry_id)
    await later(121)
    assert is_on(hass)
    (waiting,) = (await async_get_schedule(hass)).waiting
    assert waiting.entry_id == other.entry_id


async def test_unloaded_in_this_moment(
    hass: HomeAssistant,
    toolbox: MockConfigEntry,
    perform: PerformActionTool,
    call_tool: CallTool,
    later: Later,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An action whose entry is unloaded while it is taken out of the store is not performed, and that is kept."""
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    save = Store.async_save

    async def unload_meanwhile(store: Store[Any], data: Any) -> None:
        if toolbox.state is ConfigEntryState.LOADED:
            await hass.config_entries.async_unload(toolbox.entry_id)
        await save(store, data)

    monkeypatch.setattr(Store, "async_save", unload_meanwhile)
    await later(61)
    assert not is_on(hass)
    (outcome,) = (await async_get_schedule(hass)).outcomes
    assert outcome.result == "not done: the assistant's entry is not loaded."


async def test_defect_when_due(
    hass: HomeAssistant, perform: PerformActionTool, call_tool: CallTool, later: Later, caplog: pytest.LogCaptureFixture
) -> None:
    """A defect of an integration is told without its text, and logged."""

    async def defect(_: ServiceCall) -> None:
        raise ValueError("narwhal")

    hass.services.async_register("light", "turn_off", defect)
    await call_tool(perform, action="light.turn_off", target=LAMP, delay=60)
    await later(61)
    (ended,) = (await call_tool(ScheduledActionsTool()))["ended"]
    assert ended["result"] == "failed unexpectedly"
    assert "Unexpected error in a scheduled action" in caplog.text
    assert "ValueError" in caplog.text
    assert not [
        one for one in caplog.records if one.levelno >= logging.INFO and "narwhal" in caplog.handler.format(one)
    ]


async def test_undone_too_late(
    hass: HomeAssistant, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """Scheduling cannot be undone once the action was performed, nor cancelling once its time is over."""
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    data = await call_tool(perform, action="light.turn_off", target=LAMP, delay=90)
    await call_tool(ScheduledActionsTool(), cancel=data["scheduled"])
    await later(100)
    assert is_on(hass)
    assert (await call_tool(UndoLastChangeTool()))["change"] == "light.turn_on"
    refused = await call_tool(UndoLastChangeTool(), error=True)
    assert refused["error"].startswith("The time of the cancelled action is over")
    refused = await call_tool(UndoLastChangeTool(), error=True)
    assert refused["error"].startswith("The scheduled action was performed or cancelled already.")

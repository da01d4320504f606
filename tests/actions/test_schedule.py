"""Tests of actions that are performed later."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_fire_time_changed

from custom_components.extended_assist.actions.schedule import (
    MAX_WAITING,
    Schedule,
    ScheduledAction,
    async_get_schedule,
)
from custom_components.extended_assist.call import ToolboxOptions
from custom_components.extended_assist.tools.actions import PerformActionTool, ScheduledActionsTool, UndoLastChangeTool
from homeassistant.components import conversation
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Context, CoreState, Event, HomeAssistant, callback
from homeassistant.helpers import chat_session, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util

from ..acting import hidden_states
from ..conftest import ASSISTANT, CallTool

LAMP = {"entity_id": "light.bed_light"}
KEY = "extended_assist.schedule"

type Later = Callable[[float], Awaitable[None]]


@pytest.fixture
async def toolbox(hass: HomeAssistant, house: None, freezer: FrozenDateTimeFactory) -> MockConfigEntry:
    """Return a loaded entry that holds tools only, at a known time: 2026-03-02 12:00 in Berlin."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to("2026-03-02T11:00:00+00:00")
    entry = MockConfigEntry(domain="extended_assist", data={}, options={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    return entry


@pytest.fixture
def later(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Later:
    """Return a function that lets seconds go by."""

    async def go_by(seconds: float) -> None:
        freezer.tick(timedelta(seconds=seconds))
        async_fire_time_changed(hass)
        await hass.async_block_till_done()

    return go_by


@pytest.fixture
def perform(toolbox: MockConfigEntry) -> PerformActionTool:
    """Return the tool as the entry offers it."""
    return PerformActionTool(ToolboxOptions.of(toolbox.options, toolbox.entry_id))


def is_on(hass: HomeAssistant, entity_id: str = "light.bed_light") -> bool:
    """Return whether something is on."""
    return hass.states.is_state(entity_id, "on")


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
    calls: list[Event] = []
    hass.bus.async_listen(EVENT_CALL_SERVICE, calls.append)
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


async def _restart(hass: HomeAssistant, entry: MockConfigEntry) -> Schedule:
    """Forget everything in memory, and set the entry up again as a started Home Assistant does."""
    assert await hass.config_entries.async_unload(entry.entry_id)
    del hass.data["extended_assist_schedule"]
    hass.set_state(CoreState.starting)
    assert await hass.config_entries.async_setup(entry.entry_id)
    hass.set_state(CoreState.running)
    hass.bus.async_fire("homeassistant_started")
    await hass.async_block_till_done()
    return await async_get_schedule(hass)


async def test_restart(
    hass: HomeAssistant, toolbox: MockConfigEntry, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """What waits survives a restart, and runs once."""
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=600)
    schedule = await _restart(hass, toolbox)
    assert [item.action for item in schedule.waiting] == ["light.turn_on"]
    await later(601)
    assert is_on(hass)
    schedule = await _restart(hass, toolbox)
    assert schedule.waiting == []
    assert len(schedule.outcomes) == 1


@pytest.mark.parametrize(("minutes", "done"), [(4, True), (6, False), (300, False)])
async def test_down_when_due(
    hass: HomeAssistant,
    toolbox: MockConfigEntry,
    perform: PerformActionTool,
    call_tool: CallTool,
    later: Later,
    minutes: int,
    done: bool,
) -> None:
    """An action missed by a little is done when Home Assistant is back; one missed by more is not, and that is told."""
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    assert await hass.config_entries.async_unload(toolbox.entry_id)
    await later(60 + minutes * 60)
    assert not is_on(hass)
    await _restart_unloaded(hass, toolbox)
    await later(1)
    assert is_on(hass) is done
    (ended,) = (await call_tool(ScheduledActionsTool()))["ended"]
    assert ended["result"].startswith("done" if done else "missed: Home Assistant was not running")


async def _restart_unloaded(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Set an unloaded entry up with nothing in memory."""
    del hass.data["extended_assist_schedule"]
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


async def test_out_of_the_store_before_it_begins(
    hass: HomeAssistant,
    perform: PerformActionTool,
    call_tool: CallTool,
    hass_storage: dict[str, Any],
    later: Later,
) -> None:
    """When Home Assistant dies while an action runs, it is not done again."""
    stored: list[dict[str, Any]] = []

    @callback
    def look(event: Event) -> None:
        if event.data["domain"] == "light":
            stored.append(hass_storage[KEY]["data"])

    hass.bus.async_listen(EVENT_CALL_SERVICE, look)
    await call_tool(perform, action="light.turn_on", target=LAMP, delay=60)
    assert len(hass_storage[KEY]["data"]["waiting"]) == 1
    await later(61)
    assert stored[0]["waiting"] == []
    assert "stopped before it was over" in stored[0]["outcomes"][0]["result"]


async def test_due_while_stopping(
    hass: HomeAssistant, toolbox: MockConfigEntry, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
    """What becomes due while Home Assistant stops is left for the next start, when it is done once."""
    await call_tool(perform, action="light.toggle", target=LAMP, delay=60)
    hass.set_state(CoreState.stopping)
    await later(61)
    assert not is_on(hass)
    hass.set_state(CoreState.running)
    schedule = await _restart(hass, toolbox)
    await later(1)
    assert is_on(hass)
    assert schedule.waiting == []
    await _restart(hass, toolbox)
    await later(1)
    assert is_on(hass)


@pytest.mark.parametrize("change", ["cancel", "unload"])
async def test_changed_while_it_is_stored(
    hass: HomeAssistant, toolbox: MockConfigEntry, later: Later, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """What is cancelled, or whose entry is unloaded, before it is on the disk is not performed all the same."""
    schedule = await async_get_schedule(hass)
    item = ScheduledAction(
        due=dt_util.utcnow().timestamp() + 60,
        action="light.turn_on",
        entity_ids=["light.bed_light"],
        data={},
        targeted=True,
        entry_id=toolbox.entry_id,
        platform="test",
        assistant=ASSISTANT,
        language=None,
        device_id=None,
        user_id=None,
    )
    slow = asyncio.Event()
    save = schedule._async_save

    async def save_slowly() -> None:
        await slow.wait()
        await save()

    monkeypatch.setattr(schedule, "_async_save", save_slowly)
    adding = hass.async_create_task(schedule.async_add(item))
    if change == "cancel":
        cancelling = hass.async_create_task(schedule.async_cancel(item.id))
        slow.set()
        assert await cancelling is item
    else:
        assert await hass.config_entries.async_unload(toolbox.entry_id)
        slow.set()
    await adding
    await later(61)
    assert not is_on(hass)
    assert schedule.outcomes == []


async def test_due_at_the_same_time(
    hass: HomeAssistant, toolbox: MockConfigEntry, perform: PerformActionTool, call_tool: CallTool, later: Later
) -> None:
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
            *(
                call_tool(perform, action="input_number.set_value", target=target, data={"value": value}, delay=60)
                for value in range(8)
            )
        )
        current_chat_log.reset(token)
    await later(61)
    await later(61)
    assert sorted(value for value, _ in calls) == list(range(8))
    assert {log for _, log in calls} == {None}


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
    assert "cannot be scheduled from here" in data["error"]

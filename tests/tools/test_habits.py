"""Tests of finding habits, and of declining them."""

from collections.abc import AsyncGenerator
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.habits import dismissed, find
from custom_components.extended_assist.habits.after_event import Followers
from custom_components.extended_assist.habits.habit import Habit
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.automation_changes import AddAutomationTool
from custom_components.extended_assist.tools.habits import DeclineHabitTool, FindHabitsTool, _is_consequential
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from tests.conftest import ASSISTANT, CallTool, expose
from tests.habits.lived import AUTOMATIONS, BATH, FAN, GATE, HALL, PORCH, Weeks, async_live
from tests.helpers.automating import FREE, StartHome, start_home
from tests.helpers.databases import EVERY_ENGINE

__all__ = ["start_home"]

FIND, DECLINE = FindHabitsTool(ToolboxOptions()), DeclineHabitTool(ToolboxOptions())


@pytest.fixture
async def lived(
    hass: HomeAssistant, recorder_mock: Recorder, start_home: StartHome, freezer: FrozenDateTimeFactory
) -> AsyncGenerator[Weeks]:
    """Set up a home with six weeks behind it."""
    await start_home(AUTOMATIONS)
    yield await async_live(hass, freezer)
    await hass.services.async_call("automation", "turn_off", {"entity_id": "all"}, blocking=True)


@EVERY_ENGINE
async def test_found(lived: Weeks, call_tool: CallTool) -> None:
    """What is done by hand after something, in the dark, at a time, and what is left on, each with its automation."""
    answer: dict[str, Any] = await call_tool(FIND)
    assert len(json_dumps(answer)) < 3_000
    fan, porch, hall, cellar = sorted(
        answer["habits"], key=lambda habit: "Fan Porch Hall Cellar".index(habit["automation"]["alias"].split()[0])
    )
    assert fan["habit"].startswith("77 of 84 times that Bath became on, you turned on Fan within 60 seconds, mostly")
    assert fan["rehearsal"] == "would have been right 77 times and wrong 7 times"
    assert fan["by"] == "at the device, or by the device itself"
    assert porch["habit"].startswith("40 of 42 times that Front door became on in the dark, you turned on Porch")
    assert porch["rehearsal"] == "would have been right 39 times and wrong 2 times; once it was so already"
    assert porch["automation"]["conditions"][0]["conditions"][0] == {"condition": "sun", "after": "sunset"}
    assert hall["habit"] == "On 27 of 29 weekdays you turned on Hall between 06:40 and 06:54"
    assert hall["exceptions"] == "2, the last: 2026-10-13, 2026-10-29"
    assert hall["rehearsal"] == "would have been right 27 times and wrong 2 times"
    assert hall["automation"]["triggers"][0]["weekday"] == ["mon", "tue", "wed", "thu", "fri"]
    assert cellar["rehearsal"] == "would have been right 23 times and wrong never"
    assert cellar["habit"].startswith("On 24 of 41 nights Cellar stayed on while nobody did anything")


async def done(call_tool: CallTool, **arguments: Any) -> dict[str, dict[str, Any]]:
    """Return what is told, by the name of what is set."""
    answer = await call_tool(FIND, **arguments)
    return {habit["automation"]["alias"].split()[0]: habit for habit in answer["habits"]}


async def test_only_what_may_be(lived: Weeks, hass: HomeAssistant, call_tool: CallTool) -> None:
    """Nothing of a garage, of what is hidden, or of an automation that does it already; one that is off does nothing."""
    assert (await done(call_tool)).keys() == {"Fan", "Porch", "Hall", "Cellar"}
    await hass.services.async_call("automation", "turn_off", {"entity_id": "automation.garden"}, blocking=True)
    assert (await done(call_tool)).keys() == {"Fan", "Porch", "Hall", "Cellar", "Garden"}
    await hass.services.async_call(
        "automation", "turn_on", {"entity_id": "automation.hall_in_the_morning"}, blocking=True
    )
    assert "Hall" not in await done(call_tool)
    async_expose_entity(hass, ASSISTANT, PORCH, False)
    async_expose_entity(hass, ASSISTANT, BATH, False)
    assert (await done(call_tool)).keys() == {"Cellar", "Garden"}


async def test_groups_that_open(lived: Weeks, hass: HomeAssistant, call_tool: CallTool) -> None:
    """A group in which there is a garage door is a garage door."""
    assert "Nothing that people set" in (await call_tool(FIND, error=True, entity="Garage"))["error"]
    assert _is_consequential(hass, GATE)
    hass.states.async_set("cover.all", "closed", {"entity_id": [GATE]})
    assert _is_consequential(hass, "cover.all")
    assert not _is_consequential(hass, HALL)


async def test_of_one_device(lived: Weeks, hass: HomeAssistant, call_tool: CallTool) -> None:
    """What a device tells after it was used is nothing that people do."""
    entry = MockConfigEntry(domain="test")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(config_entry_id=entry.entry_id, identifiers={("test", "1")})
    registry = er.async_get(hass)
    assert "Fan" in await done(call_tool)
    for entity_id in (BATH, FAN):
        state = hass.states.get(entity_id)
        assert state
        hass.states.async_remove(entity_id)
        domain, _, name = entity_id.partition(".")
        made = registry.async_get_or_create(domain, "test", name, suggested_object_id=name, device_id=device.id)
        assert made.entity_id == entity_id
        hass.states.async_set(entity_id, state.state, state.attributes)
        expose(hass, entity_id)
    assert "Fan" not in await done(call_tool)


async def test_one_entity(lived: Weeks, call_tool: CallTool) -> None:
    """What is done with one entity, after any other; what nobody sets has no habits."""
    assert (await done(call_tool, entity="Fan")).keys() == {"Fan"}
    error = await call_tool(FIND, error=True, entity="Stairs")
    assert error["error"].startswith("Nothing that people set by hand")


async def test_presence(lived: Weeks, call_tool: CallTool) -> None:
    """Motion leads to habits only when that is asked for."""
    assert "triggers" in (await done(call_tool))["Hall"]["automation"]
    told = await call_tool(FIND, presence=True)
    assert "Stairs" in json_dumps(told)
    assert "Stairs" not in json_dumps(await call_tool(FIND))


async def test_add(lived: Weeks, call_tool: CallTool) -> None:
    """Its automation can be added as it is, and then the habit is told no more."""
    for name, habit in (await done(call_tool)).items():
        await call_tool(AddAutomationTool(FREE), automation=habit["automation"])
        assert name not in await done(call_tool)


async def test_decline(lived: Weeks, hass: HomeAssistant, call_tool: CallTool) -> None:
    """What was declined is told no more, not after a start nor under another name, until that is undone."""
    habits = await done(call_tool)
    answer = await call_tool(DECLINE, habit=habits["Hall"]["id"])
    assert answer == {"declined": "On 27 of 29 weekdays you turned on Hall between 06:40 and 06:54"}
    await call_tool(DECLINE, habit=habits["Fan"]["id"])
    assert (await done(call_tool)).keys() == {"Porch", "Cellar"}
    er.async_get(hass).async_update_entity(HALL, new_entity_id="light.corridor")
    hass.states.async_remove(HALL)
    hass.states.async_set("light.corridor", "off", {"friendly_name": "Corridor"})
    await async_wait_recording_done(hass)
    hass.data.pop(dismissed._DECLINED)
    assert (await done(call_tool)).keys() == {"Porch", "Cellar"}
    assert "Call find_habits" in (await call_tool(DECLINE, error=True, habit=habits["Hall"]["id"]))["error"]
    await call_tool(UndoLastChangeTool(FREE))
    assert (await done(call_tool)).keys() == {"Fan", "Porch", "Cellar"}
    await call_tool(UndoLastChangeTool(FREE))
    assert (await done(call_tool)).keys() == {"Fan", "Porch", "Cellar", "Corridor"}


def test_the_same_habit() -> None:
    """Another time near the first is the same habit; another time of the day or another cause is not."""
    one = dismissed.Declined("a", "light", "on", minute=405)
    assert one.is_like(dismissed.Declined("b", "light", "on", minute=500))
    assert one.is_like(dismissed.Declined("b", "light", "on", "door", "on", minute=500))
    assert not one.is_like(dismissed.Declined("b", "light", "on", minute=1_080))
    assert not one.is_like(dismissed.Declined("b", "light", "off", minute=405))
    late = dismissed.Declined("a", "light", "off", minute=1_435)
    assert late.is_like(dismissed.Declined("b", "light", "off", minute=1_450))
    after = dismissed.Declined("a", "light", "on", "door", "on")
    assert after.is_like(dismissed.Declined("b", "light", "on", "door", "on", 700))
    assert not after.is_like(dismissed.Declined("b", "light", "on", "window", "on"))


async def test_too_little(
    hass: HomeAssistant, lived: Weeks, freezer: FrozenDateTimeFactory, call_tool: CallTool
) -> None:
    """Without some whole days nothing is told."""
    freezer.move_to(dt_util.utc_from_timestamp(lived.at(5, 720)))
    assert (await call_tool(FIND))["note"].startswith("7 whole days are needed")


async def test_no_time(lived: Weeks, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no time for all of it, it is said how far it came."""
    monkeypatch.setattr(find, "TIME_LIMIT", -1.0)
    answer = await call_tool(FIND)
    assert answer["habits"] == []
    assert answer["only_until"].startswith("2026-10-06 13:00; it took too long")


async def test_no_time_to_compare(lived: Weeks, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all was read and there was no time to compare it, finding nothing is not told as all that there is to find."""

    def break_off(followers: Followers, settable: object, seconds: float) -> list[Habit]:
        followers.is_whole = False
        return []

    monkeypatch.setattr(Followers, "find", break_off)
    for name in ("find_left_on", "find_times"):
        monkeypatch.setattr(find, name, lambda *_: [])
    note = (await call_tool(FIND))["note"]
    assert "There was no time for everything" in note
    assert "In what there was time for" in note

"""Tests of finding habits, and of declining them."""

from collections.abc import AsyncGenerator
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.extended_assist.toolbox.options import ToolboxOptions
from custom_components.extended_assist.tools.habits import DeclineHabitTool, FindHabitsTool
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_dumps
from tests.automating import StartHome, start_home
from tests.conftest import CallTool
from tests.databases import EVERY_ENGINE
from tests.habits.lived import AUTOMATIONS, Weeks, async_live

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
    assert fan["habit"].startswith("76 of 79 times that Bath became on, you turned on Fan within 60 seconds")
    assert fan["rehearsal"] == "would have been right 75 times and wrong 3 times; 2 times it was so already"
    assert fan["by"] == "at the device, or by the device itself"
    assert porch["habit"].startswith("38 of 41 times that Front door became on in the dark, you turned on Porch")
    assert porch["automation"]["conditions"][0]["conditions"][0] == {"condition": "sun", "after": "sunset"}
    assert hall["habit"] == "On 27 of 29 weekdays you turned on Hall between 06:40 and 06:53"
    assert hall["exceptions"] == "2, the last: 10-13 06:45, 10-29 06:45"
    assert hall["rehearsal"] == "would have been right 27 times and wrong 2 times"
    assert hall["automation"]["triggers"][0]["weekday"] == ["mon", "tue", "wed", "thu", "fri"]
    assert cellar["habit"].startswith("On 27 of 41 nights Cellar stayed on while nobody did anything")

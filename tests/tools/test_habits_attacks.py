"""Tests of habits that were told, or kept, wrongly once."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.extended_assist.habits.dismissed import Declined, DeclinedHabits, async_get_declined
from custom_components.extended_assist.tools import habits
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from tests.conftest import CallTool, expose
from tests.habits.lived import Weeks
from tests.helpers.automating import start_home
from tests.tools.test_habits import DECLINE, FIND, done, lived

__all__ = ["lived", "start_home"]


async def test_declined_at_once(hass: HomeAssistant, assist: None) -> None:
    """Two that are declined at the same time are both kept, and so over a start."""
    declined = await async_get_declined(hass)

    async def at_once(*changes: Coroutine[Any, Any, Any]) -> None:
        async with declined._lock:  # As while the first one is being written.
            tasks = [hass.async_create_task(one) for one in changes]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)

    await at_once(*(declined.async_decline(Declined(one, f"light.{one}", "on", minute=405)) for one in ("a", "b")))
    assert {one.id for one in declined.all} == {"a", "b"}
    again = DeclinedHabits(hass)
    await again.async_load()
    assert {one.id for one in again.all} == {"a", "b"}
    await at_once(declined.async_allow("a"), declined.async_decline(Declined("c", "light.c", "on")))
    assert {one.id for one in declined.all} == {"b", "c"}


async def test_a_week(hass: HomeAssistant, lived: Weeks, freezer: FrozenDateTimeFactory, call_tool: CallTool) -> None:
    """The fewest days that may be asked for are enough."""
    answer = await call_tool(FIND, days=7)
    assert "note" not in answer or "whole days" not in answer["note"], answer
    assert answer["start"] == "2026-11-10 12:00"


async def test_big_home(
    hass: HomeAssistant, recorder_mock: Recorder, assist: None, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other things go on while what is exposed is looked through."""
    lights = [f"light.l{number}" for number in range(350)]
    for entity_id in lights:
        hass.states.async_set(entity_id, "off")
    expose(hass, *lights)
    turns, seen = 0, []
    is_consequential = habits._is_consequential

    def watched(hass: HomeAssistant, entity_id: str) -> bool:
        seen.append(turns)
        return is_consequential(hass, entity_id)

    async def spin() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(habits, "_is_consequential", watched)
    task = hass.async_create_background_task(spin(), "turns")
    await call_tool(FIND)
    task.cancel()
    assert len(seen) == len(lights)
    assert max(Counter(seen).values()) <= habits._SLICE


async def test_nothing_new(hass: HomeAssistant, lived: Weeks, call_tool: CallTool) -> None:
    """It is not said that nothing is done by habit where that was declined, or an automation does it."""
    habit = (await done(call_tool, entity="Fan"))["Fan"]
    await call_tool(DECLINE, habit=habit["id"])
    answer = await call_tool(FIND, entity="Fan")
    assert answer["habits"] == []
    assert answer["note"] == "What is done by hand regularly was declined, or an automation does it already."
    answer = await call_tool(FIND, entity="Garden")
    assert answer["note"] == "What is done by hand regularly was declined, or an automation does it already."

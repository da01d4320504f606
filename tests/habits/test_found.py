"""Habits that were planted are found, and in what has no meaning there is nothing to find.

script/soak habits makes a table of other seeds than those that this is developed with.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from custom_components.extended_assist.habits.habit import Habit
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from tests.helpers.seeds import seeds

from .homes import Maker, Planted, shuffled
from .recorded import async_move, async_write
from .scoring import async_found, score

KEPT, HOMES = "FOUND_HABITS", "FOUND_HOMES"
"""Names of variables: the file to which a soak wants what was found, and how many homes it wants."""


@pytest.mark.parametrize("seed", seeds(int(os.environ.get(HOMES, "3"))))
async def test_planted(seed: int, recorder_mock: Recorder, hass: HomeAssistant) -> None:
    """What people do by habit is found, and little else."""
    maker = Maker(hass, seed)
    await async_move(hass, maker.home)
    home = maker.make()
    await async_write(hass, home)
    found = await async_found(hass, home)
    result = score(home.planted, found.habits)
    told = f"missed {result.missed}, wrong {[habit.told(str) for habit in result.wrong]}"
    if kept := os.environ.get(KEPT):
        line = {
            "seed": seed,
            "days": maker.days,
            "planted": [_kind(one) for one in result.planted],
            "found": [_kind(one) for one in result.found],
            "wrong": [_kind(one) for one in result.wrong],
            "told": told,
        }
        await hass.async_add_executor_job(_keep, kept, line)
        return
    assert len(result.missed) <= 1, told
    assert len(result.wrong) <= 1, told


def _kind(one: Planted | Habit) -> str:
    return "dark" if one.dark else one.what


def _keep(name: str, line: dict[str, Any]) -> None:
    with Path(name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


@pytest.mark.parametrize("uses", [False, True])
@pytest.mark.parametrize("seed", seeds(int(os.environ.get(HOMES, "2"))))
async def test_shuffled(seed: int, uses: bool, recorder_mock: Recorder, hass: HomeAssistant) -> None:
    """The same things at times of no meaning are no habits."""
    maker = Maker(hass, seed)
    await async_move(hass, maker.home)
    home = shuffled(maker.make(), seed, uses=uses)
    await async_write(hass, home)
    found = await async_found(hass, home)
    told = [habit.told(str) for habit in found.habits]
    if kept := os.environ.get(KEPT):
        await hass.async_add_executor_job(_keep, kept, {"seed": seed, "shuffled": len(told), "told": str(told)})
        return
    assert not told

"""What is found in a home, compared with what was planted."""

from collections.abc import Iterable
from dataclasses import dataclass

from custom_components.extended_assist.habits.find import FoundHabits, Sought, find_habits, read_home
from custom_components.extended_assist.habits.habit import Habit
from custom_components.extended_assist.recorder import async_read
from homeassistant.core import HomeAssistant

from .homes import Home, Planted


async def async_found(hass: HomeAssistant, home: Home) -> FoundHabits:
    """Return what is found in a home."""
    sought = Sought(
        start=home.start,
        end=home.end,
        settable=frozenset(home.settable),
        leading=dict.fromkeys([*home.leading, *home.settable], ""),
        members={},
        is_over=lambda _: False,
    )
    found = await async_read(hass, read_home, sought)
    return await hass.async_add_executor_job(find_habits, hass, sought, found)


@dataclass
class Score:
    """What was found of what was planted."""

    planted: list[Planted]
    found: list[Planted]
    missed: list[Planted]
    wrong: list[Habit]


def score(planted: list[Planted], habits: Iterable[Habit]) -> Score:
    """Return what of the habits was planted."""
    found: list[Planted] = []
    wrong: list[Habit] = []
    for habit in habits:
        if one := next((one for one in planted if _is(one, habit)), None):
            found += [one] if one not in found else []
        else:
            wrong.append(habit)
    return Score(planted, found, [one for one in planted if one not in found], wrong)


def _is(planted: Planted, habit: Habit) -> bool:
    """Return whether a habit is the planted one."""
    if planted.what != habit.what or planted.does != habit.does or planted.dark != habit.dark:
        return False
    if planted.what == "after":
        return habit.cause is not None and planted.cause is not None and habit.cause[0] == planted.cause[0]
    if planted.what == "time":
        return planted.kind == habit.kind and abs((habit.minute or 0) - planted.minute) <= 15
    return True

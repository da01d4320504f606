"""How many tasks can be pending: nobody can use up all the room."""

import pytest

from custom_components.extended_assist.scheduled import lifecycle
from custom_components.extended_assist.scheduled.manager import ScheduledTasks, async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.ownership import LimitReachedError
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask, Watch, When
from homeassistant.core import HomeAssistant

from ..helpers.acting import house
from .keeping import Add, a_task, add, crowd, home, now, told

__all__ = ["add", "home", "house", "told"]


def fill(tasks: ScheduledTasks, user_id: str | None, number: int) -> None:
    """Let some tasks of a user stand."""
    crowd(tasks, (a_task("entry", 600, user_id=user_id) for _ in range(number)))


def a_watch(user_id: str | None) -> ScheduledTask:
    """Return a watch of a user."""
    watch = Watch("the pizza is brown", ["camera.door"], now() + 5, 60, 60)
    return a_task("entry", when=When(moment=now() + 3600, watch=watch), say=None, user_id=user_id)


@pytest.mark.parametrize("user_id", [None, "anna"])
async def test_one_owner(hass: HomeAssistant, add: Add, user_id: str | None) -> None:
    """One user, or the household, can have fifty; others still have room, and so have they once one has ended."""
    tasks = await async_get_scheduled_tasks(hass)
    fill(tasks, user_id, 49)
    last = await add(600, user_id=user_id)
    whose, ends = ("The household", "the household's") if user_id is None else ("This user", "the user's own")
    with pytest.raises(
        LimitReachedError, match=f"{whose} already has 50 pending tasks.* end one of {ends} first: call pending"
    ):
        await add(600, user_id=user_id)
    await add(600, user_id="ben")
    await add(600, user_id=None if user_id else "carl")
    await tasks.async_end(last.id, "cancelled")
    await add(600, user_id=user_id)


async def test_many_owners(hass: HomeAssistant, add: Add) -> None:
    """Where others have used up all the room, each still has room for five."""
    tasks = await async_get_scheduled_tasks(hass)
    for number in range(4):
        fill(tasks, f"user {number}", 50)
    for user_id in (None, "anna"):
        for _ in range(5):
            await add(600, user_id=user_id)
        with pytest.raises(
            LimitReachedError, match=r"The home already has 200 pending tasks.* fewer than 5\. Tell the user, and end"
        ):
            await add(600, user_id=user_id)
    ended = tasks.standing[0]
    lifecycle.end(ended, "cancelled", now())
    with pytest.raises(LimitReachedError, match="200"):
        await add(600, user_id="anna")


async def test_watches(hass: HomeAssistant, add: Add) -> None:
    """Of watches one owner can have five, all together ten, and each at least one."""
    tasks = await async_get_scheduled_tasks(hass)
    crowd(tasks, (a_watch(user_id) for user_id in ("anna", "ben") for _ in range(5)))
    with pytest.raises(LimitReachedError, match="This user already has 5 watches"):
        await tasks.async_add(a_watch("anna"))
    await tasks.async_add(a_watch("carl"))
    await tasks.async_add(a_watch(None))
    with pytest.raises(LimitReachedError, match="The home already has 10 watches"):
        await tasks.async_add(a_watch("carl"))
    await add(600, user_id="carl")


async def test_brought_back(hass: HomeAssistant, add: Add) -> None:
    """What is put off or brought back counts like what is new, and what stands already is no second one."""
    tasks = await async_get_scheduled_tasks(hass)
    one = await add(600, user_id="anna")
    other = await add(600, user_id="anna")
    await tasks.async_end(one.id, "cancelled")
    fill(tasks, "anna", 49)
    with pytest.raises(LimitReachedError):
        await tasks.async_restore(one)
    assert not one.is_standing
    assert await tasks.async_snooze(other.id, 60) is other

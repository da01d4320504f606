"""How many tasks can be pending: nobody can use up all the room."""

import pytest

from custom_components.extended_assist.wishes import course
from custom_components.extended_assist.wishes.keeper import Wishes, async_get_wishes
from custom_components.extended_assist.wishes.limits import LimitReachedError
from custom_components.extended_assist.wishes.wish import Watch, When, Wish
from homeassistant.core import HomeAssistant

from ..acting import house
from .keeping import Add, a_wish, add, crowd, home, now, told

__all__ = ["add", "home", "house", "told"]


def fill(wishes: Wishes, user_id: str | None, number: int) -> None:
    """Let some wishes of a user stand."""
    crowd(wishes, (a_wish("entry", 600, user_id=user_id) for _ in range(number)))


def a_watch(user_id: str | None) -> Wish:
    """Return a watch of a user."""
    watch = Watch("the pizza is brown", ["camera.door"], now() + 5, 60, 60)
    return a_wish("entry", when=When(moment=now() + 3600, watch=watch), say=None, user_id=user_id)


@pytest.mark.parametrize("user_id", [None, "anna"])
async def test_one_owner(hass: HomeAssistant, add: Add, user_id: str | None) -> None:
    """One user, or the household, can have fifty; others still have room, and so have they once one has ended."""
    wishes = await async_get_wishes(hass)
    fill(wishes, user_id, 49)
    last = await add(600, user_id=user_id)
    whose, ends = ("The household", "the household's") if user_id is None else ("This user", "the user's own")
    with pytest.raises(
        LimitReachedError, match=f"{whose} already has 50 pending tasks.* end one of {ends} first: call pending"
    ):
        await add(600, user_id=user_id)
    await add(600, user_id="ben")
    await add(600, user_id=None if user_id else "carl")
    await wishes.async_end(last.id, "cancelled")
    await add(600, user_id=user_id)


async def test_many_owners(hass: HomeAssistant, add: Add) -> None:
    """Where others have used up all the room, each still has room for five."""
    wishes = await async_get_wishes(hass)
    for number in range(4):
        fill(wishes, f"user {number}", 50)
    for user_id in (None, "anna"):
        for _ in range(5):
            await add(600, user_id=user_id)
        with pytest.raises(
            LimitReachedError, match=r"The home already has 200 pending tasks.* fewer than 5\. Tell the user, and end"
        ):
            await add(600, user_id=user_id)
    ended = wishes.standing[0]
    course.end(ended, "cancelled", now())
    with pytest.raises(LimitReachedError, match="200"):
        await add(600, user_id="anna")


async def test_watches(hass: HomeAssistant, add: Add) -> None:
    """Of watches one owner can have five, all together ten, and each at least one."""
    wishes = await async_get_wishes(hass)
    crowd(wishes, (a_watch(user_id) for user_id in ("anna", "ben") for _ in range(5)))
    with pytest.raises(LimitReachedError, match="This user already has 5 watches"):
        await wishes.async_add(a_watch("anna"))
    await wishes.async_add(a_watch("carl"))
    await wishes.async_add(a_watch(None))
    with pytest.raises(LimitReachedError, match="The home already has 10 watches"):
        await wishes.async_add(a_watch("carl"))
    await add(600, user_id="carl")


async def test_brought_back(hass: HomeAssistant, add: Add) -> None:
    """What is put off or brought back counts like what is new, and what stands already is no second one."""
    wishes = await async_get_wishes(hass)
    one = await add(600, user_id="anna")
    other = await add(600, user_id="anna")
    await wishes.async_end(one.id, "cancelled")
    fill(wishes, "anna", 49)
    with pytest.raises(LimitReachedError):
        await wishes.async_restore(one)
    assert not one.is_standing
    assert await wishes.async_snooze(other.id, 60) is other

"""Tests of the course of a wish at its edges, without a home."""

import pytest

from custom_components.extended_assist.wishes import course
from custom_components.extended_assist.wishes.course import AGAIN_AFTER, MAX_SAID, UNHEARD, Occasion
from custom_components.extended_assist.wishes.wish import Owner, Until, What, When, Wish

NOW = 1_790_000_000.0
OPENS = {"trigger": "state", "entity_id": "binary_sensor.door", "to": "on"}
ONE = Occasion(NOW, NOW, 0.0)


def a_wish(when: When, until: Until | None = None) -> Wish:
    """Return a wish of nobody in particular."""
    owner = Owner("entry", "test", "conversation", "en", None, None)
    return Wish("milk", owner, when, What(say="The milk!"), until=until or Until())


def test_what_no_trigger_sets_off() -> None:
    """What waits for none, or is over, does not come due by one; what waits does, once."""
    assert not course.triggered(a_wish(When(moment=NOW + 60)), NOW)
    assert not course.triggered(a_wish(When(triggers=[OPENS]), Until(moment=NOW - 1)), NOW)
    wish = a_wish(When(triggers=[OPENS], wait=20.0))
    assert course.triggered(wish, NOW)
    assert wish.progress.due == NOW + 20
    assert not course.triggered(wish, NOW + 5)


def test_fired_in_vain() -> None:
    """What fired in vain is told of what waits, and not of what is being done."""
    wish = a_wish(When(triggers=[OPENS]), Until(times=5))
    course.refuse(wish, "not done")
    assert wish.progress.result == "not done"
    course.begin(wish, ONE)
    course.refuse(wish, "not done again")
    assert wish.progress.result == "not done"


@pytest.mark.parametrize(
    ("said", "end", "again", "result"),
    [
        (0, None, NOW + AGAIN_AFTER, "said"),
        (0, NOW + AGAIN_AFTER - 1, None, "said"),
        (MAX_SAID - 2, NOW + AGAIN_AFTER, NOW + AGAIN_AFTER, "said"),
        (MAX_SAID - 1, None, None, UNHEARD),
        (MAX_SAID, None, None, "said"),
    ],
)
def test_until_done(said: int, end: float | None, again: float | None, result: str) -> None:
    """It is said again while there is time, and so often at most."""
    wish = a_wish(When(triggers=[OPENS]), Until(moment=end, times=5, done=True))
    course.begin(wish, ONE)
    wish.progress.said = said
    course.finish(wish, ONE, "said", NOW)
    assert (wish.progress.again, wish.progress.result) == (again, result)


def test_untold() -> None:
    """What was kept for somebody goes when they heard it, and what was kept since then stays."""
    wish = a_wish(When(moment=NOW))
    course.note_told(wish, "12:00: ", "The milk!", is_told=False)
    heard = wish.progress.untold or ""
    course.note_told(wish, "13:00: ", "The bread!", is_told=False)
    course.heard(wish, "something else")
    assert wish.progress.untold == "12:00: The milk!\n13:00: The bread!"
    course.heard(wish, heard)
    assert wish.progress.untold == "13:00: The bread!"
    course.note_told(wish, "14:00: ", "The bread!", is_told=True)
    assert wish.progress.untold is None
    course.heard(wish, "13:00: The bread!")
    assert wish.progress.untold is None

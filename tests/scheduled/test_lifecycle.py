"""Tests of the course of a task at its edges, without a home."""

import pytest

from custom_components.extended_assist.scheduled import lifecycle
from custom_components.extended_assist.scheduled.lifecycle import AGAIN_AFTER, MAX_SAID, UNHEARD, Occasion
from custom_components.extended_assist.scheduled.scheduled_task import Owner, ScheduledTask, Until, What, When

NOW = 1_790_000_000.0
OPENS = {"trigger": "state", "entity_id": "binary_sensor.door", "to": "on"}
ONE = Occasion(NOW, NOW, 0.0)


def a_task(when: When, until: Until | None = None) -> ScheduledTask:
    """Return a task of nobody in particular."""
    owner = Owner("entry", "test", "conversation", "en", None, None)
    return ScheduledTask("milk", owner, when, What(say="The milk!"), until=until or Until())


def test_what_no_trigger_sets_off() -> None:
    """What waits for none, or is over, does not come due by one; what waits does, once."""
    assert not lifecycle.triggered(a_task(When(moment=NOW + 60)), NOW)
    assert not lifecycle.triggered(a_task(When(triggers=[OPENS]), Until(moment=NOW - 1)), NOW)
    task = a_task(When(triggers=[OPENS], wait=20.0))
    assert lifecycle.triggered(task, NOW)
    assert task.progress.due == NOW + 20
    assert not lifecycle.triggered(task, NOW + 5)


def test_fired_in_vain() -> None:
    """What fired in vain is told of what waits, and not of what is being done."""
    task = a_task(When(triggers=[OPENS]), Until(times=5))
    lifecycle.refuse(task, "not done")
    assert task.progress.result == "not done"
    lifecycle.begin(task, ONE)
    lifecycle.refuse(task, "not done again")
    assert task.progress.result == "not done"


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
    task = a_task(When(triggers=[OPENS]), Until(moment=end, times=5, done=True))
    lifecycle.begin(task, ONE)
    task.progress.said = said
    lifecycle.finish(task, ONE, "said", NOW)
    assert (task.progress.again, task.progress.result) == (again, result)


def test_untold() -> None:
    """What was kept for somebody goes when they heard it, and what was kept since then stays."""
    task = a_task(When(moment=NOW))
    lifecycle.note_told(task, "12:00: ", "The milk!", is_told=False)
    heard = task.progress.untold or ""
    lifecycle.note_told(task, "13:00: ", "The bread!", is_told=False)
    lifecycle.heard(task, "something else")
    assert task.progress.untold == "12:00: The milk!\n13:00: The bread!"
    lifecycle.heard(task, heard)
    assert task.progress.untold == "13:00: The bread!"
    lifecycle.note_told(task, "14:00: ", "The bread!", is_told=True)
    assert task.progress.untold is None
    lifecycle.heard(task, "13:00: The bread!")
    assert task.progress.untold is None

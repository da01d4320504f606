"""Tests of the limits of templates that run on the event loop."""

import gc
from time import thread_time

import pytest

from custom_components.extended_assist.templates.bound_template import WorkBudget
from custom_components.extended_assist.templates.limits import TooLongError


def test_garbage_collection_is_no_work_of_a_template() -> None:
    """A collection that starts in the middle of a template does not use up its time; work beside it does."""

    def work(seconds: float) -> None:
        end = thread_time() + seconds
        while thread_time() < end:
            pass

    budget = WorkBudget(0.05)
    for collect in gc.callbacks:
        collect("start", {})
    work(0.1)
    for collect in gc.callbacks:
        collect("stop", {})
    budget.tick()
    work(0.1)
    with pytest.raises(TooLongError):
        budget.tick()

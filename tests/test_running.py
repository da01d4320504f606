"""How the tests are run: what is spared is not missed, and something is done while end-to-end tests wait."""

from collections import OrderedDict
import sys
import time
from types import ModuleType

import freezegun
import pytest
from xdist.scheduler import LoadGroupScheduling

from .running import END_TO_END, Together

NEW_YEAR = 1_767_225_600.0


def test_a_module_that_takes_the_clock_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that held no clock when it was frozen before is looked at again once it has another name."""
    module = ModuleType("late")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with freezegun.freeze_time("2026-01-01"):
        assert time.time() == NEW_YEAR
    vars(module)["now"] = time.time
    for _ in range(2):
        with freezegun.freeze_time("2026-01-01"):
            assert vars(module)["now"]() == NEW_YEAR
        assert vars(module)["now"] is time.time
        assert time.time() > NEW_YEAR


class Process:
    """A process that is told which tests to run, by their place among all."""

    def __init__(self) -> None:
        self.told: list[list[int]] = []

    def send_runtest_some(self, tests: list[int]) -> None:
        """Be told."""
        self.told.append(tests)


def test_half_of_the_processes_do_not_wait() -> None:
    """End-to-end tests come first, but not in more than half of the processes while there is something else."""
    first, second, other, last = (
        f"{END_TO_END}first",
        f"{END_TO_END}second",
        "tests/test_other.py",
        "tests/test_last.py",
    )
    scheduler = object.__new__(Together)
    assert isinstance(scheduler, LoadGroupScheduling)
    one, two = Process(), Process()
    scheduler.workqueue = OrderedDict((scope, {scope: False}) for scope in (other, first, second, last))
    scheduler.assigned_work = {one: {}, two: {}}
    scheduler.registered_collections = {process: [other, first, second, last] for process in (one, two)}
    scheduler._assign_work_unit(one)
    scheduler._assign_work_unit(two)
    assert (one.told, two.told) == ([[1]], [[0]])
    scheduler.assigned_work[one][first][first] = True
    scheduler._assign_work_unit(two)
    scheduler._assign_work_unit(one)
    assert (one.told, two.told) == ([[1], [3]], [[0], [2]])

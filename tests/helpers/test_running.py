"""How the tests are run: what is spared is not missed, and something is done while end-to-end tests wait."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
import inspect
import logging
import sys
import time
from types import MethodType, ModuleType

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


async def test_the_loop_refuses_other_threads(request: pytest.FixtureRequest) -> None:
    """What is called from another thread is refused, and no coroutine keeps where it was made, unless that is asked for."""
    loop = asyncio.get_running_loop()
    with pytest.raises(RuntimeError, match="Non-thread-safe"):
        await asyncio.to_thread(loop.call_soon, print)
    assert bool(sys.get_coroutine_origin_tracking_depth()) is bool(request.config.getoption("asyncio_debug"))


async def test_the_loop_refuses_what_it_cannot_call() -> None:
    """However often something else of its kind was called."""

    async def waits() -> None:
        pass

    class Text(str):
        __slots__ = ()

    class Part(partial[None]):
        pass

    def marks() -> Callable[[], None]:
        return lambda: None

    loop = asyncio.get_running_loop()
    for good in (print, scheduled, partial(print), Part(print), MethodType(partial(print), 1), marks(), Process):
        loop.call_soon(good, []).cancel()
    marked = inspect.markcoroutinefunction(marks())
    for _ in range(2):
        for bad in (waits, partial(waits), Part(waits), MethodType(partial(waits), 1), marked, Text("print")):
            with pytest.raises(TypeError):
                loop.call_soon(bad)


class Process:
    """A process that is told which tests to run, by their place among all."""

    shutting_down = False

    def __init__(self) -> None:
        self.told: list[list[int]] = []

    def send_runtest_some(self, tests: list[int]) -> None:
        """Be told."""
        self.told.append(tests)


def scheduled(scopes: list[str], *processes: Process) -> Together:
    """Return a scheduler of units with a test each, for processes of which none has one yet."""
    scheduler = object.__new__(Together)
    assert isinstance(scheduler, LoadGroupScheduling)
    scheduler.log = logging.getLogger(__name__).debug
    scheduler.workqueue = OrderedDict((scope, {scope: False}) for scope in scopes)
    scheduler.assigned_work = {process: {} for process in processes}
    scheduler.registered_collections = dict.fromkeys(processes, scopes)
    return scheduler


FIRST, SECOND = f"{END_TO_END}first", f"{END_TO_END}second"
OTHER, LAST = "tests/test_other.py", "tests/test_last.py"


def test_half_of_the_processes_do_not_wait() -> None:
    """End-to-end tests come first, but not in more than half of the processes while there is something else."""
    one, two = Process(), Process()
    scheduler = scheduled([OTHER, FIRST, SECOND, LAST], one, two)
    scheduler._assign_work_unit(one)
    scheduler._assign_work_unit(two)
    assert (one.told, two.told) == ([[1]], [[0]])
    scheduler.assigned_work[one][FIRST][FIRST] = True
    scheduler._assign_work_unit(two)
    scheduler._assign_work_unit(one)
    assert (one.told, two.told) == ([[1], [3]], [[0], [2]])


def test_a_process_that_crashes() -> None:
    """What it had done is not given out again, what it was at comes last, and who takes its place collects first."""
    one, two, new = Process(), Process(), Process()
    scheduler = scheduled([FIRST, SECOND, OTHER, LAST], one, two)
    scheduler.workqueue[SECOND] = {f"{SECOND} a": False, f"{SECOND} b": False}
    scheduler.registered_collections[one] = scheduler.registered_collections[two] = [
        *(FIRST, f"{SECOND} a", f"{SECOND} b", OTHER, LAST)
    ]
    scheduler._assign_work_unit(one)
    scheduler._assign_work_unit(one)
    scheduler.assigned_work[one][FIRST][FIRST] = True
    scheduler.assigned_work[one][SECOND][f"{SECOND} a"] = True
    scheduler.add_node(new)
    assert scheduler.remove_node(one) == f"{SECOND} b"
    assert two.told == [[3]]
    assert (list(scheduler.workqueue), new.told) == ([LAST, SECOND], [])
    scheduler._assign_work_unit(two)
    scheduler._assign_work_unit(two)
    assert two.told == [[3], [4], [2]]

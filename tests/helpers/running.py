"""How the tests are run: what each process is spared, and which are run together, in which order."""

from collections import defaultdict
from collections.abc import Mapping
import gc
import logging
import sys
from types import ModuleType
from typing import Any

import freezegun.api
import pytest
from pytest_homeassistant_custom_component import patch_time
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

END_TO_END = "end-to-end "
"""What the groups of end-to-end tests begin with."""


def write_no_log_file(config: pytest.Config) -> None:
    """Spare pytest from writing each record to a file that nobody asked for, which is the null device."""
    plugin = config.pluginmanager.get_plugin("logging-plugin")
    if plugin is not None and not config.getoption("--log-file") and not config.getini("log_file"):
        plugin.log_file_handler.setLevel(logging.CRITICAL + 1)


def freeze_quickly() -> None:
    """Let whoever freezes the clock look only at modules that hold it, or that may since the last time.

    There are thousands, and each test would look at all of them: that takes as long as a home.
    """
    patch_time.ha_get_module_attributes_hash = _known_by
    freezegun.api.sys = _Interpreter()


def _known_by(module: ModuleType) -> tuple[int, int]:
    """Return what tells that a module has the names it had: their number."""
    return id(module), len(getattr(module, "__dict__", ()))


class _ModulesOfClock(dict[str, ModuleType]):
    """The modules that are there, and of their items those which hold the clock or are not known."""

    def items(self) -> Any:
        """Return these items."""
        known = freezegun.api._GLOBAL_MODULES_CACHE
        return [
            (name, module)
            for name, module in super().items()
            if name not in known or known[name][1] or known[name][0] != _known_by(module)
        ]


class _Interpreter:
    """What whoever freezes the clock asks of `sys`."""

    @property
    def modules(self) -> _ModulesOfClock:
        """Return the modules."""
        return _ModulesOfClock(sys.modules)


def collect_no_garbage() -> None:
    """Look for no garbage while modules are imported and tests collected, all of which stay."""
    gc.disable()


def collect_garbage_of_tests() -> None:
    """Look for garbage again, but not among what is there before the first test."""
    gc.freeze()
    gc.enable()


class Together(LoadGroupScheduling):
    """Gives a process whole files, so that what the tests of one share is made once; groups stay as they are marked.

    End-to-end tests are begun first, and wait much: half of the processes are left to others, so that there is something to do.
    """

    def __init__(self, config: pytest.Config, log: object) -> None:
        """Keep the order in which the tests were collected: `in_order` knows better than their number."""
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        group = super()._split_scope(nodeid)
        return nodeid.split("::", 1)[0] if group == nodeid else group

    def remove_node(self, node: WorkerController) -> str | None:
        """Put back what a process that crashed has not done; what it has done would be given to another as nothing to do."""
        units = self.assigned_work[node]
        for scope in [scope for scope, done in units.items() if all(done.values())]:
            del units[scope]
        return super().remove_node(node)

    def _reschedule(self, node: WorkerController) -> None:
        if node in self.registered_collections:  # Who takes the place of a process that crashed may still collect.
            super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        waiting = sum(_waits(units) for other, units in self.assigned_work.items() if other is not node)
        may_wait = waiting < len(self.assigned_work) // 2
        for scope in self.workqueue:
            # What is begun is of a process that crashed, and may crash this one: it stays where it is, at the end.
            if scope.startswith(END_TO_END) is may_wait and not any(self.workqueue[scope].values()):
                self.workqueue.move_to_end(scope, last=False)
                break
        super()._assign_work_unit(node)


def _waits(units: Mapping[str, Mapping[str, bool]]) -> bool:
    """Return whether end-to-end tests are among those that a process has not done yet."""
    return any(scope.startswith(END_TO_END) and not all(done.values()) for scope, done in units.items())


def together_of(item: pytest.Item) -> str:
    """Return what an item is run together with: its group, or its file."""
    marker = item.get_closest_marker("xdist_group")
    return marker.args[0] if marker else item.nodeid.split("::", 1)[0]


def in_order(items: list[pytest.Item], usual: float) -> list[pytest.Item]:
    """Return the items as they are begun: what may take long first, so that nothing long is left for the end.

    What may take long has a time limit of its own, and a file with many tests takes longer than one with few.
    """
    units: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        units[together_of(item)].append(item)

    def longest(unit: list[pytest.Item]) -> tuple[float, int]:
        limits = [mark.args[0] for item in unit for mark in item.iter_markers("timeout")]
        return -max(limits, default=usual), -len(unit)

    return [item for unit in sorted(units.values(), key=longest) for item in unit]

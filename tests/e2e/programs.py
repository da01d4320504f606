"""Programs of ours that are run beside a Home Assistant, as copies of what its homes begin with: importing it takes longer."""

from collections.abc import Mapping
from pathlib import Path
import time

import pytest
import pytest_socket

from .copies import start_copy
from .instance import CHECKOUT, Environment, interpreter, kill_group, process_environment

LONGEST = 200.0
"""Seconds until programs must have ended, on a loaded machine."""


class Program:
    """A module that runs, with what it prints."""

    def __init__(
        self, environment: Environment, module: str, folder: Path, *arguments: str, variables: Mapping[str, str] = {}
    ) -> None:
        """Start it with its arguments and variables of its environment; a folder of its own keeps what it prints.

        Skips the test where the environment of that Home Assistant is missing.
        """
        try:
            python = interpreter(environment)
        except FileNotFoundError as err:
            pytest.skip(str(err))
        folder.mkdir(parents=True)
        pytest_socket.socket_allow_hosts(["127.0.0.1"], allow_unix_socket=True)
        self._module = module
        self._printed, self._errors = folder / "printed.log", folder / "errors.log"
        own = {"PYTHONPATH": str(CHECKOUT), **variables}
        self._process = start_copy(
            python, process_environment(), self._printed, module, arguments, own, errors=self._errors
        )

    def lines(self, until: float) -> list[str]:
        """Wait for the end, and return what was printed; the program must not fail, nor run for longer."""
        status = self._process.wait(max(0.0, until - time.monotonic()))
        assert status == 0, f"{self._module} ended with {status}:\n{self._errors.read_text(encoding='utf-8')[-6000:]}"
        return self._printed.read_text(encoding="utf-8").splitlines()

    def end(self) -> None:
        """End what still runs of it and of all that it started."""
        kill_group(self._process.pid)


def lines_of(*programs: Program) -> list[list[str]]:
    """Wait for programs, and return what each printed; whatever happens, none of them goes on afterwards."""
    until = time.monotonic() + LONGEST
    try:
        return [program.lines(until) for program in programs]
    finally:
        for program in programs:
            program.end()

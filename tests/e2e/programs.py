"""Programs of ours that are run beside a Home Assistant, as copies of what its homes begin with: importing it takes longer."""

from collections.abc import Mapping
from pathlib import Path
import subprocess

import pytest
import pytest_socket

from .copies import CopiedProcess, start_copy
from .instance import CHECKOUT, Environment, interpreter, process_environment

LONGEST = 280.0
"""Seconds until a program must have ended, on a loaded machine."""


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
        self._printed = folder / "printed.log"
        own = {"PYTHONPATH": str(CHECKOUT), **variables}
        self._process: CopiedProcess = start_copy(python, process_environment(), self._printed, module, arguments, own)

    def lines(self) -> list[str]:
        """Wait for the end, and return what was printed, with what was said of errors; the program must not fail."""
        try:
            status = self._process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            self._process.send_signal(9)
            raise
        printed = self._printed.read_text(encoding="utf-8")
        assert status == 0, f"{self._module} ended with {status}:\n{printed}"
        return printed.splitlines()

"""Homes that begin as copies of a process that has imported Home Assistant: one such process for each interpreter."""

import atexit
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
import json
import os
from pathlib import Path
import subprocess
from threading import Lock
import time

_SERVER = Path(__file__).with_name("start_server.py")
_ASKING = Lock()
_POLL_INTERVAL = 0.05  # seconds


@dataclass
class CopiedProcess:
    """A running home, with what is asked of a `subprocess.Popen`."""

    pid: int
    status: Path
    returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, or none while it runs."""
        if self.returncode is None and self.status.exists():
            self.returncode = int(self.status.read_text())
            self.status.unlink()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raises subprocess.TimeoutExpired."""
        until = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired("a home", timeout or 0)
            time.sleep(_POLL_INTERVAL)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal while it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)


def start_copy(
    python: Path,
    environment: Mapping[str, str],
    log: Path,
    module: str,
    arguments: Sequence[str],
    extra_environment: Mapping[str, str],
) -> CopiedProcess:
    """Start a program of Home Assistant in the folder of its log, which it writes to."""
    log.touch()
    status = log.with_suffix(".status")
    status.unlink(missing_ok=True)
    home = {"log": str(log), "module": module, "arguments": arguments, "environment": dict(extra_environment)}
    with _ASKING:
        server = _server(python, tuple(environment.items()))
        assert server.stdin
        assert server.stdout
        server.stdin.write(json.dumps(home | {"folder": str(log.parent), "status": str(status)}) + "\n")
        server.stdin.flush()
        if not (pid := server.stdout.readline()):
            raise RuntimeError(f"The process of which homes are copies has ended: {_log(environment).read_text()}")
        return CopiedProcess(int(pid), status)


@cache
def _server(python: Path, environment: tuple[tuple[str, str], ...]) -> subprocess.Popen[str]:
    """Start the process of which homes are copies.

    What Python, Home Assistant and the SDK deprecate in our files is a line of a home's log too; this is set before Python begins.
    """
    with _log(dict(environment)).open("wb") as log:
        server = subprocess.Popen(
            [python, "-P", _SERVER],
            env=dict(environment) | {"PYTHONWARNINGS": "default::DeprecationWarning"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    atexit.register(server.communicate)
    return server


def _log(environment: Mapping[str, str]) -> Path:
    """What is said while Home Assistant is imported."""
    return Path(environment["TMPDIR"], f"start_server.{os.getpid()}.log")

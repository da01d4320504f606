"""Homes that begin as copies of a process that has imported Home Assistant: one such process for each interpreter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import fcntl
from functools import cache
import hashlib
import json
import os
from pathlib import Path
import socket
import subprocess
import tempfile
from threading import Lock
import time
from typing import TextIO

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
    *,
    errors: Path | None = None,
) -> CopiedProcess:
    """Start a program in the folder of its log, which it writes to; its errors too, unless they have a file of their own."""
    errors = errors or log
    log.touch()
    errors.touch()
    status = log.with_suffix(".status")
    status.unlink(missing_ok=True)
    home = {
        "log": str(log),
        "errors": str(errors),
        "module": module,
        "arguments": arguments,
        "environment": dict(extra_environment),
    }
    line = json.dumps(home | {"folder": str(log.parent), "status": str(status)}) + "\n"
    with _ASKING:
        server = _server(python, tuple(environment.items()))
        try:
            server.write(line)
            server.flush()
            pid = server.readline()
        except BaseException:
            # The answer is still to come, and would be taken for that to the next question.
            _server.cache_clear()
            server.close()
            raise
        if not pid:
            raise RuntimeError(f"The process of which homes are copies has ended; {environment['TMPDIR']} has its log")
        return CopiedProcess(int(pid), status)


@cache
def _server(python: Path, environment: tuple[tuple[str, str], ...]) -> TextIO:
    """Connect to the process of which homes are copies, which all processes of a run of the tests share; start it first."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    name = f"homes-{hashlib.sha256(repr((run, python, environment)).encode()).hexdigest()[:16]}"
    path = Path(tempfile.gettempdir(), name)  # Not in the checkout: the path of a socket may have a hundred characters.
    files = Path(dict(environment)["TMPDIR"], name)
    connection = socket.socket(socket.AF_UNIX)
    with files.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            connection.connect(str(path))
        except FileNotFoundError, ConnectionRefusedError:
            path.unlink(missing_ok=True)
            _start_server(python, dict(environment), path, files.with_suffix(".log"))
            connection.connect(str(path))
    return connection.makefile("rw")


def _start_server(python: Path, environment: Mapping[str, str], path: Path, log: Path) -> None:
    """Start the process of which homes are copies, and wait until it listens; what it says is in the log.

    What Python, Home Assistant and the SDK deprecate in our files is a line of a home's log too; this is set before Python begins.
    """
    with log.open("wb") as stderr:
        server = subprocess.Popen(
            [python, "-P", _SERVER, path],
            env=dict(environment) | {"PYTHONWARNINGS": "default::DeprecationWarning"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    assert server.stdout
    with server.stdout as said:
        if not said.readline():
            raise RuntimeError(f"The process of which homes are copies does not start: {log.read_text()}")

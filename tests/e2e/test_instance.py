"""The helper that runs `hass`: it fails early, and names what is refused; `test_restart.py` starts one again."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any
from unittest.mock import Mock

import pytest

from . import copies, programs
from .client import Client, CommandError
from .conftest import VERSIONS
from .copies import CopiedProcess, start_copy
from .instance import CHECKOUT, Environment, HomeAssistantInstance, StartError, interpreter, process_environment
from .programs import Program, lines_of


async def test_a_start_that_fails_is_reported_at_once_with_the_log(tmp_path: Path) -> None:
    (tmp_path / "configuration.yaml").write_text("homeassistant:\n  latitude: nowhere\nfrontend: [\n")
    instance = HomeAssistantInstance("test", tmp_path)
    began = time.monotonic()

    with pytest.raises(StartError, match=r"configuration\.yaml"):
        await instance.start()

    assert time.monotonic() - began < 60
    assert instance.pid is None


@pytest.mark.parametrize("environment", VERSIONS, ids=VERSIONS.values())
async def test_a_copy_ends_as_the_program_does(tmp_path: Path, environment: Environment) -> None:
    (tmp_path / "ending.py").write_text("import os, sys; print(os.getcwd(), sys.argv); exec(os.environ['END'])")

    def begin(end: str) -> CopiedProcess:
        log, extra = tmp_path / "said.log", {"PYTHONPATH": str(tmp_path), "END": end}
        return start_copy(interpreter(environment), process_environment(), log, "ending", ["-c", "x"], extra)

    deprecated = "import warnings; warnings.warn('Old', DeprecationWarning, stacklevel=1); sys.exit(3)"
    full = "os.dup2(os.open('/dev/full', os.O_WRONLY), 1); print('lost')"
    for end, status in (
        *((deprecated, 3), ("os.abort()", -6), ("1 / 0", 1), ("os.kill(os.getpid(), 9)", -9), ("", 0)),
        *((full, 120), (f"{full}; sys.exit(7)", 7), ("sys.exit('For a reason')", 1)),
    ):
        assert begin(end).wait(60) == status, end
    waiting = begin("import time; time.sleep(60)")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(0.1)
    waiting.send_signal(signal.SIGTERM)
    assert waiting.wait(60) == -signal.SIGTERM
    said = (tmp_path / "said.log").read_text()
    assert f"{tmp_path} ['" in said
    assert "ending.py', '-c', 'x']" in said
    assert "ZeroDivisionError" in said
    assert "DeprecationWarning: Old" in said
    assert "For a reason" in said


def test_a_start_that_is_broken_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is told its own process, not the one whose answer nobody waited for."""
    (tmp_path / "telling.py").write_text("import os; print(os.getpid())")
    server = copies._server

    def begin(name: str) -> CopiedProcess:
        log, extra = tmp_path / f"{name}.log", {"PYTHONPATH": str(tmp_path)}
        return start_copy(interpreter("test"), process_environment(), log, "telling", [], extra)

    def impatient(*asked: Any) -> Mock:
        known = server(*asked)
        return Mock(write=known.write, flush=known.flush, close=known.close, readline=Mock(side_effect=TimeoutError))

    with monkeypatch.context() as patched:
        patched.setattr(copies, "_server", Mock(side_effect=impatient, cache_clear=server.cache_clear))
        with pytest.raises(TimeoutError):
            begin("broken off")
    next_one = begin("next")
    assert next_one.wait(60) == 0
    assert (tmp_path / "next.log").read_text().split() == [str(next_one.pid)]


ASKER = """
import os, sys
from pathlib import Path
from tests.e2e.copies import start_copy
from tests.e2e.instance import interpreter, process_environment

folder = Path(sys.argv[1])
extra = {"PYTHONPATH": str(folder)}
assert start_copy(interpreter("newest"), process_environment(), folder / "said.log", "telling", [], extra).wait(60) == 0
print((folder / "said.log").read_text(), flush=True)
input()
"""


def test_one_server_for_all(tmp_path: Path) -> None:
    """The processes of a run share what their homes are copies of; it ends with the last of them."""
    askers = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        # The home's parent waits for it, and the server is the parent of that one.
        (folder / "telling.py").write_text("import os; print(open(f'/proc/{os.getppid()}/stat').read().split()[3])")
        command = [sys.executable, "-c", ASKER, folder]
        run = os.environ | {"PYTEST_XDIST_TESTRUNUID": str(tmp_path)}
        pipe = subprocess.PIPE
        askers.append(subprocess.Popen(command, cwd=CHECKOUT, env=run, stdin=pipe, stdout=pipe, text=True))
    servers = {asker.stdout.readline() for asker in askers if asker.stdout}
    assert len(servers) == 1
    server = Path("/proc", servers.pop().strip())
    for asker in askers:
        assert server.exists()
        asker.communicate("\n", timeout=60)
        assert asker.returncode == 0
    until = time.monotonic() + 60
    while server.exists():
        assert time.monotonic() < until
        time.sleep(0.1)


SLEEPING = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(60)
"""


def test_no_program_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is told by its errors; what runs beside it, or for too long, is ended with all that it started."""
    here = {"PYTHONPATH": str(tmp_path)}
    (tmp_path / "sleeping.py").write_text(SLEEPING)
    (tmp_path / "failing.py").write_text("import sys; sys.exit('for a reason')")
    sleeping = [Program("test", "sleeping", tmp_path / name, variables=here) for name in ("beside", "too long")]
    started: list[str] = []
    until = time.monotonic() + 60
    while len(started) < 4:
        assert time.monotonic() < until
        time.sleep(0.1)
        started = [pid for file in tmp_path.glob("*/printed.log") for pid in file.read_text().split()]
    with pytest.raises(AssertionError, match="failing ended with 1:\nfor a reason"):
        lines_of(Program("test", "failing", tmp_path / "failed", variables=here), sleeping[0])
    monkeypatch.setattr(programs, "LONGEST", 0.5)
    with pytest.raises(subprocess.TimeoutExpired):
        lines_of(sleeping[1])
    while any(Path("/proc", pid).exists() for pid in started):
        assert time.monotonic() < until
        time.sleep(0.1)


async def test_a_refused_command_is_an_error_with_its_code(client: Client) -> None:
    with pytest.raises(CommandError) as refused:
        await client.call("no/such/command")

    assert refused.value.code == "unknown_command"

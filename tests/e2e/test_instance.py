"""The helper that runs `hass`: it fails early, and names what is refused; `test_restart.py` starts one again."""

from pathlib import Path
import signal
import subprocess
import time

import pytest

from .client import Client, CommandError
from .conftest import VERSIONS
from .copies import CopiedProcess, start_copy
from .instance import Environment, HomeAssistantInstance, StartError, interpreter, process_environment


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
    for end, status in ((deprecated, 3), ("os.abort()", -6), ("1 / 0", 1), ("os.kill(os.getpid(), 9)", -9), ("", 0)):
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


async def test_a_refused_command_is_an_error_with_its_code(client: Client) -> None:
    with pytest.raises(CommandError) as refused:
        await client.call("no/such/command")

    assert refused.value.code == "unknown_command"

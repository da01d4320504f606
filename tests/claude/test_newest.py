"""Our agent on the newest Home Assistant and its SDK: every fault at every point of a stream, tools, tasks and the web."""

import json
from pathlib import Path
import subprocess
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NEWEST = ROOT / ".cache" / "environments" / "newest" / "bin" / "python"
TIMEOUT = 110


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    """Run all checks in the newest environment, and return what each reported."""
    if not NEWEST.exists():
        pytest.skip("The environment 'newest' is not there; script/bootstrap newest makes it")
    command = [str(NEWEST), "-m", "tests.claude_server.outside.our_agent"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert run.returncode == 0, run.stderr[-3_000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_newest(reports: list[dict[str, Any]]) -> None:
    """No check failed, and the SDK was the new one."""
    assert len(reports) >= 24
    assert all(report["sdk"].startswith("2.") for report in reports)
    assert {report["name"]: report["failure"] for report in reports if report["failure"]} == {}

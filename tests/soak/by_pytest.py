"""Soaks that are tests with other numbers."""

from collections.abc import Mapping
import os
from pathlib import Path
import re
import subprocess
import sys

CHECKOUT = Path(__file__).parents[2]
LONGEST = 3600
"""Seconds that one test may take."""


def run_tests(
    *arguments: str, folder: Path = CHECKOUT, environment: Mapping[str, str] | None = None, timeout: int = LONGEST
) -> tuple[int, str]:
    """Run tests in this environment; return how many passed, and what to say of those that did not."""
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "0", f"--timeout={timeout}", *arguments]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    return int(passed[1]) if passed else 0, "" if done.returncode == 0 else done.stdout[-4000:] or done.stderr[-4000:]

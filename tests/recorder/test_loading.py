"""Tests of loading sqlglot."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

_LOAD = """
import sys
from custom_components.extended_assist.recorder import sql
assert "sqlglot" not in sys.modules
sql.prepare()
assert "sqlglot" not in sys.modules
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which nothing is compiled yet."""
    return {"PATH": os.environ["PATH"], "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}


def _compiled(folder: Path) -> list[str]:
    return sorted(path.name.split(".")[0] for path in folder.glob("**/sqlglot/*.pyc"))


def test_compiled_elsewhere(environment: dict[str, str], tmp_path: Path) -> None:
    """Compiles sqlglot in another process, once."""
    subprocess.run([sys.executable, "-c", _LOAD], env=environment, check=True, cwd=Path(__file__).parents[2])
    assert {"parser", "generator"} <= set(_compiled(tmp_path))
    times = {path: path.stat().st_mtime_ns for path in tmp_path.glob("**/sqlglot/*.pyc")}
    subprocess.run([sys.executable, "-c", _LOAD], env=environment, check=True, cwd=Path(__file__).parents[2])
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("**/sqlglot/*.pyc")} == times


def test_nothing_written_where_that_is_off(environment: dict[str, str], tmp_path: Path) -> None:
    """Respects that Python is told to write nothing."""
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    subprocess.run([sys.executable, "-c", _LOAD], env=environment, check=True, cwd=Path(__file__).parents[2])
    assert _compiled(tmp_path) == []

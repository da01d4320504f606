"""Tests of what the package uses of Home Assistant and the SDK, on every version at hand."""

import json
import os
from pathlib import Path
import subprocess

import pytest

from tests.helpers import names_used
from tests.helpers.names_used import all_names_used

ENVIRONMENTS = names_used.CHECKOUT / ".cache" / "environments"


@pytest.fixture(params=["test", "newest"])
def environment(request: pytest.FixtureRequest) -> Path:
    """Return the Python of an environment."""
    python = ENVIRONMENTS / request.param / "bin" / "python"
    if not python.exists():
        pytest.skip(f"the environment {request.param!r} is missing: run script/bootstrap {request.param}")
    return python


AGING = """
from warnings import deprecated
from homeassistant.helpers import deprecation

_DEPRECATED_constant = deprecation.DeprecatedConstant(1, "another", "2027.1")
function = deprecation.deprecated_function("another")(lambda: None)
type = deprecation.deprecated_class("another")(type("Type", (), {}))
marked = deprecated("for the type checker")(lambda: None)
current = 1
"""
OLD = ("constant", "function", "marked", "type")


@pytest.mark.timeout(240)
def test_every_name_is_there_and_none_is_deprecated(environment: Path, tmp_path: Path) -> None:
    """Every file can be imported, every name is found, and so is the lock that no name leads to.

    A module that is not as it should be is looked at with them, so that the check is seen to find something.
    """
    (tmp_path / "aging.py").write_text(AGING)
    names = all_names_used()
    assert {"Tool", "APIInstance"} <= set(names["homeassistant.helpers.llm"])
    assert "AsyncAnthropic" in names["anthropic"]
    process = subprocess.run(
        [environment, "-P", names_used.__file__],
        input=json.dumps({**names, "aging": [*OLD, "current", "gone"], "aging.gone": ["anything"]}),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    *found, missing = json.loads(process.stdout)
    assert found == [*(f"aging.{name} is deprecated" for name in OLD), "aging.gone is missing"]
    assert missing.startswith("aging.gone: ")


def test_what_a_file_takes_from_modules_is_seen() -> None:
    """Whether it was imported by name, under another name, or with its module."""
    source = """
import anthropic
from homeassistant.helpers import llm, issue_registry as ir
from homeassistant.core import HomeAssistant
from .here import other
def use(tool: llm.Tool):
    ir.async_get(other.thing)
    raise anthropic.APIError
"""
    assert set(names_used.names_used(source)) == {
        ("homeassistant.helpers", "llm"),
        ("homeassistant.helpers", "issue_registry"),
        ("homeassistant.core", "HomeAssistant"),
        ("homeassistant.helpers.llm", "Tool"),
        ("homeassistant.helpers.issue_registry", "async_get"),
        ("anthropic", "APIError"),
    }

"""Tests of what the package uses of Home Assistant and the SDK, on every version at hand."""

import json
from pathlib import Path

import pytest

from tests import names_used
from tests.e2e.instance import ENVIRONMENTS, Environment
from tests.e2e.programs import Program
from tests.names_used import all_names_used

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
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_name_is_there_and_none_is_deprecated(environment: Environment, tmp_path: Path) -> None:
    """Every file can be imported, every name is found, and so is the lock that no name leads to.

    A module that is not as it should be is looked at with them, so that the check is seen to find something.
    """
    (tmp_path / "aging.py").write_text(AGING)
    names = all_names_used()
    assert {"Tool", "APIInstance"} <= set(names["homeassistant.helpers.llm"])
    assert "AsyncAnthropic" in names["anthropic"]
    asked = tmp_path / "names.json"
    asked.write_text(json.dumps({**names, "aging": [*OLD, "current", "gone"], "aging.gone": ["anything"]}))
    program = Program(environment, "tests.names_used", tmp_path / "run", str(asked))
    *found, missing = json.loads(program.lines()[-1])
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

"""Each symbol that we use of Home Assistant beside its public interfaces is as we use it, on both versions."""

import ast
import json
from pathlib import Path

import pytest

from ..e2e.instance import ENVIRONMENTS, Environment
from ..e2e.programs import Program, lines_of
from ..test_structure import MODULES, room

PUBLIC = frozenset({"todo.entity", "websocket_api.connection", "websocket_api.decorators"})
"""Modules of components whose names the component itself does not export for type checkers."""


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_symbols(environment: Environment, tmp_path: Path) -> None:
    """Every symbol has a check of what we use of it, and passes it."""
    ((printed,),) = lines_of(Program(environment, "tests.ha_compat.symbols", tmp_path / "run"))
    assert json.loads(printed) == {}


def test_nothing_else_reaches_inside() -> None:
    """Outside of `ha_compat`, only names are imported that components export, and none of their keys of hass.data."""
    inside = [
        f"{module}: {node.module}.{alias.name}"
        for module, tree in MODULES.items()
        if room(module) != "ha_compat"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
        if is_inside(node.module, alias.name)
    ]
    assert inside == []


def is_inside(module: str, name: str) -> bool:
    """Return whether a name is not among those that a component exports."""
    if name.startswith("_"):
        return True
    component = module.removeprefix("homeassistant.components.")
    if component == module:
        return module.startswith("homeassistant.helpers.template.")
    part = component.partition(".")[2]
    is_key = name.startswith("DATA_") or name in ("TIMER_DATA", "KEY_HASS_USER")
    return is_key or (part not in ("", "const") and component not in PUBLIC)

"""The files of the checkout that are published."""

import ast
from collections.abc import Iterator
from functools import cache
import importlib.util
import json
from pathlib import Path
from typing import Any

import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
INTEGRATION = CHECKOUT / "custom_components" / "extended_assist"
_spec = importlib.util.find_spec("homeassistant.components")
assert _spec
assert _spec.submodule_search_locations
CORE = Path(_spec.submodule_search_locations[0])
"""The integrations of the installed Home Assistant."""
NEWEST = next(CHECKOUT.glob(".cache/environments/newest/lib/python3.*/site-packages/homeassistant/components"), None)
"""The integrations of the newest one, where it is installed."""


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; the second of two equal keys would silently win."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        assert len(found) == len(pairs), f"{path.name} says twice what stands beside {list(found)[:3]}"
        return found

    return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique)


def read_yaml(path: Path) -> Any:
    """Return what a YAML file holds."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def manifest() -> dict[str, Any]:
    """Return the manifest."""
    found: dict[str, Any] = read_json(INTEGRATION / "manifest.json")
    return found


def strings() -> dict[str, Any]:
    """Return strings.json with its references."""
    found: dict[str, Any] = read_json(INTEGRATION / "strings.json")
    return found


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module of the integration by its path inside of it."""
    return {
        path.relative_to(INTEGRATION).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(INTEGRATION.rglob("*.py"))
    }


def nodes[Node: ast.AST](kind: type[Node], only: str | None = None) -> Iterator[Node]:
    """Yield the nodes of a kind in all modules, or in one."""
    for path, module in modules().items():
        if only in (None, path):
            yield from (node for node in ast.walk(module) if isinstance(node, kind))


@cache
def literals() -> frozenset[str]:
    """Return every string that is written in the code."""
    return frozenset(node.value for node in nodes(ast.Constant) if isinstance(node.value, str))


def leaves(tree: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return the texts of a file of translations by their paths, such as config::step::user::title."""
    found: dict[str, str] = {}
    for key, value in tree.items():
        path = f"{prefix}::{key}" if prefix else key
        found |= leaves(value, path) if isinstance(value, dict) else {path: value}
    return found

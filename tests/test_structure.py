"""How the package is put together: a name means one thing, and imports lead one way."""

import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import custom_components.extended_assist

PACKAGE = Path(custom_components.extended_assist.__file__).parent
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip("."): ast.parse(
        path.read_text("utf-8")
    )
    for path in sorted(PACKAGE.rglob("*.py"))
}
FOLDERS = {".".join(path.parent.relative_to(PACKAGE).parts) for path in PACKAGE.rglob("__init__.py")}

TWICE = {
    "Meter": "tools/energy_dashboard.py has those of the house, claude/usage.py those of an agent's tokens",
    "_MariaDB": "recorder/engine.py and recorder/sql/dialects.py each have a class for each database",
    "_PostgreSQL": "as _MariaDB",
    "_SQLite": "as _MariaDB",
}
"""Names that stand twice, with the reason."""


def imported(module: str, node: ast.ImportFrom) -> set[str]:
    """Return the modules of the package that a relative import names; "" is the package itself."""
    folder = module.split(".") if module else []
    above = node.level - (module in FOLDERS)
    parts = [*folder[: len(folder) - above], *(node.module.split(".") if node.module else ())]
    target = ".".join(parts)
    return {name if (name := f"{target}.{alias.name}".strip(".")) in MODULES else target for alias in node.names}


def test_names_of_classes_are_unique() -> None:
    """A reader who looks for a class finds one, whatever room it is in."""
    modules: defaultdict[str, list[str]] = defaultdict(list)
    for module, tree in MODULES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                modules[node.name].append(module)
    assert {name: found for name, found in modules.items() if len(found) > 1 and name not in TWICE} == {}


def test_imports_make_no_circle() -> None:
    """Neither at run time nor for the sake of types; what is imported inside a function is not looked at."""
    graph: dict[str, set[str]] = {}
    for module, tree in MODULES.items():
        graph[module] = set()
        for statement in tree.body:
            inner = statement.body if isinstance(statement, ast.If) else [statement]
            for node in inner:
                if isinstance(node, ast.ImportFrom) and node.level:
                    graph[module] |= imported(module, node) - {module}
    assert len(graph) > 100
    assert sum(map(len, graph.values())) > len(graph)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as err:
        circle = " -> ".join(err.args[1])
        raise AssertionError(circle) from err

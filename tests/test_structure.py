"""How the package is put together: a name means one thing, and imports lead one way."""

import ast
from collections import defaultdict
from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
import re

import pytest

import custom_components.extended_assist

PACKAGE = Path(custom_components.extended_assist.__file__).parent
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip("."): ast.parse(
        path.read_text("utf-8")
    )
    for path in sorted(PACKAGE.rglob("*.py"))
}
FOLDERS = {".".join(path.parent.relative_to(PACKAGE).parts) for path in PACKAGE.rglob("__init__.py")}


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
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}


def imports(tree: ast.Module) -> list[ast.ImportFrom]:
    """Return the relative imports of a module, those for the sake of types too."""
    inner = [
        node for statement in tree.body for node in (statement.body if isinstance(statement, ast.If) else [statement])
    ]
    return [node for node in inner if isinstance(node, ast.ImportFrom) and node.level]


def room(module: str) -> str:
    """Return the folder that a module is in, or the module itself where it is in none."""
    return module.split(".", maxsplit=1)[0]


@pytest.mark.parametrize("part", [str, room], ids=["files", "rooms"])
def test_imports_make_no_circle(part: Callable[[str], str]) -> None:
    """Between files and between rooms; what is imported inside a function is not looked at."""
    graph: defaultdict[str, set[str]] = defaultdict(set)
    for module, tree in MODULES.items():
        for node in imports(tree):
            graph[part(module)] |= {part(other) for other in imported(module, node)} - {part(module)}
    assert len(graph) > 30
    assert sum(map(len, graph.values())) > len(graph)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as err:
        circle = " -> ".join(err.args[1])
        raise AssertionError(circle) from err


def test_docstrings_name_what_is_returned() -> None:
    """A reader is told "the SHA-256 of the file" and not "what identifies a text"."""
    vague = [
        f"{module}.{node.name}"
        for module, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (ast.get_docstring(node) or "").startswith(("Return what ", "Yield what "))
    ]
    assert vague == []


def test_imports_follow_the_map() -> None:
    """A room imports those of its own row and of the rows below it in CONTRIBUTING.md."""
    table = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text("utf-8").partition("| room |")[2].partition("\n\n")[0]
    rows = [set(re.findall(r"`(\w+)/`", line.split("|")[1])) for line in table.splitlines() if line.startswith("| `")]
    floors = {name: number for number, row in enumerate(rows) for name in row}
    assert floors.keys() == FOLDERS - {""}
    upwards = {
        f"{module} imports {other}"
        for module, tree in MODULES.items()
        for node in imports(tree)
        for other in imported(module, node)
        if room(module) in floors and room(other) in floors and floors[room(other)] < floors[room(module)]
    }
    assert upwards == set()


@pytest.mark.parametrize(("page", "words"), [("CONTRIBUTING.md", 1_200), ("docs/architecture.md", 800)])
def test_guides(page: str, words: int) -> None:
    """The guides stay short, and each file that they name exists."""
    text = (PACKAGE.parents[1] / page).read_text("utf-8")
    assert len(text.split()) <= words
    named = set(re.findall(r"[`\"]((?:\w+/)+\w+\.py)[`\"]", text)) - {"tests/tools/test_counting.py"}
    assert len(named) > 5
    roots = (PACKAGE, PACKAGE.parents[1])
    made = "custom_components/extended_assist/tools/counting.py"
    assert [name for name in sorted(named) if name != made and not any((root / name).exists() for root in roots)] == []

"""Every test that a document names is there, where the document says."""

import ast
from functools import cache
from pathlib import Path
import re

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob(".github/*.md"), *ROOT.glob("docs/**/*.md")])
MADE = {"tests/tools/test_counting.py", "test_count"}
"""What a reader of CONTRIBUTING.md makes; tests/docs/test_contributing.py does it."""

_PATH = re.compile(r"(?<![\w/.-])tests/[\w/.*-]*\w")
_NAME = re.compile(r"\btest_\w+\b(?!\.(?:json|ya?ml))")
_IN_FILE = re.compile(r"(tests/[\w/]+\.py)(?:::| -k )(test_\w+)")
_PART = re.compile(r"`(\w+)`,? in\s+`(tests/[\w/]+\.py)`")


@cache
def defined(path: Path) -> frozenset[str]:
    """Return the names of functions and classes in a file."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, kinds))


@cache
def known_names() -> frozenset[str]:
    """Return the names of all tests, and of all their files."""
    paths = [*ROOT.glob("tests/**/*.py")]
    return frozenset({path.stem for path in paths}.union(*map(defined, paths)))


def missing(text: str) -> list[str]:
    """Return the tests that a text names and that are not there."""
    paths = [path for path in _PATH.findall(text) if path not in MADE and not [*ROOT.glob(path)]]
    names = [
        name for name in _NAME.findall(text) if name not in MADE | known_names() | {Path(one).stem for one in MADE}
    ]
    elsewhere = [
        f"{path}::{name}"
        for path, name in _IN_FILE.findall(text)
        if (ROOT / path).is_file() and name not in defined(ROOT / path)
    ]
    parts = [
        f"{name} in {path}"
        for name, path in _PART.findall(text)
        if (ROOT / path).is_file() and not re.search(rf"\b{name}\b", (ROOT / path).read_text("utf-8"))
    ]
    return [*paths, *names, *elsewhere, *parts]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_named_tests_exist(document: Path) -> None:
    """A reader who looks for a named test finds it."""
    assert missing(document.read_text("utf-8")) == []


def test_what_is_missing_is_found() -> None:
    """Paths, names, and names in the wrong file are found."""
    text = "`tests/nowhere/test_gone.py`, `test_never_was`, tests/docs/test_pages.py -k test_what_is_missing_is_found"
    text += ", `NOT_THERE`, in `tests/docs/pages.py`"
    assert missing(text) == [
        "tests/nowhere/test_gone.py",
        "test_gone",
        "test_never_was",
        "tests/docs/test_pages.py::test_what_is_missing_is_found",
        "NOT_THERE in tests/docs/pages.py",
    ]

"""Mistakes made on purpose in the files that bound what a model may do: do the tests see them?

Each round makes one small change in a copy of the checkout, as somebody could by mistake, and runs the tests of that file. A
change that no test sees is told; some of them change nothing that could be seen.
"""

import ast
from pathlib import Path
from random import Random
import shutil
import tempfile

from .budget import Budget, Found
from .by_pytest import CHECKOUT, run_tests

PACKAGE = "custom_components/extended_assist"
TESTS: dict[str, tuple[str, ...]] = {
    "actions/rules.py": ("tests/actions", "tests/tools/test_actions.py", "tests/tools/test_scripts.py"),
    "actions/targets.py": ("tests/actions", "tests/tools/test_actions.py", "tests/tools/test_scripts.py"),
    "flows/redaction.py": ("tests/flows/test_redaction.py", "tests/test_diagnostics.py"),
    "calls/policy.py": (
        "tests/calls",
        "tests/confirmation",
        "tests/actions/test_confirmation.py",
        "tests/actions/test_permissions.py",
    ),
    "web/guard.py": ("tests/web/test_guard.py",),
}
"""Files, and the tests that must see what is wrong in them."""
LONGEST = 60
"""Seconds for one test; a change that lets it go on for ever is seen."""
LEFT_OUT = shutil.ignore_patterns(".cache", ".git", "__pycache__")
_OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def places(tree: ast.Module) -> list[ast.AST]:
    """Return the nodes of a file that can be changed."""
    return [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.Compare) and type(node.ops[0]) in _OPPOSITE)
        or isinstance(node, ast.BoolOp | ast.If)
        or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        or (isinstance(node, ast.Constant) and isinstance(node.value, bool))
    ]


def change(node: ast.AST) -> None:
    """Make a node say the opposite, or nearly."""
    match node:
        case ast.Compare():
            node.ops[0] = _OPPOSITE[type(node.ops[0])]()  # type: ignore[call-overload] # one operator for another
        case ast.BoolOp():
            node.op = _OPPOSITE[type(node.op)]()  # type: ignore[assignment] # one operator for another
        case ast.If():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.UnaryOp():
            node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant():
            node.value = not node.value


def mutated(source: str, seed: int) -> tuple[str, str]:
    """Return a file with one change, and where and what it is."""
    tree = ast.parse(source)
    node = Random(seed).choice(places(tree))
    line = source.splitlines()[node.lineno - 1].strip()  # type: ignore[attr-defined] # statements and expressions only
    change(node)
    return ast.unparse(ast.fix_missing_locations(tree)), f"{node.lineno} ({line[:60]})"  # type: ignore[attr-defined]


def run(budget: Budget) -> Found:
    """Change, test, and count what nobody saw."""
    seen, missed = 0, []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(CHECKOUT, copy, ignore=LEFT_OUT)
        (copy / ".cache").mkdir()
        (copy / ".cache" / "environments").symlink_to(CHECKOUT / ".cache" / "environments")
        for seed in budget:
            name = Random(seed).choice(sorted(TESTS))
            file = copy / PACKAGE / name
            source = file.read_text(encoding="utf-8")
            changed, where = mutated(source, seed)
            file.write_text(changed, encoding="utf-8")
            _, problem = run_tests("-x", *TESTS[name], folder=copy, timeout=LONGEST)
            file.write_text(source, encoding="utf-8")
            seen += bool(problem)
            if not problem:
                missed.append(f"{name}:{where}")
    return Found(f"{budget.done} mistakes, {seen} seen", "; ".join(missed))

"""What must hold for any input, with more inputs than the tests have time for."""

from .budget import Budget, Found
from .by_pytest import CHECKOUT, run_tests
from .more_examples import TIMES

LEFT_OUT = "tests/recorder/"
"""What asks a database takes minutes for what these do in seconds, and has a soak of its own to come."""
TAKEN_IN = "tests/recorder/test_hours.py"
"""Where few examples say little: an answer must be right whatever a sensor did."""


def run(budget: Budget) -> Found:
    """Run one file's tests of properties after the other, each time with another seed."""
    files = [
        name
        for path in sorted((CHECKOUT / "tests").rglob("test_*.py"))
        if "from hypothesis import" in path.read_text(encoding="utf-8")
        and (not (name := str(path.relative_to(CHECKOUT))).startswith(LEFT_OUT) or name == TAKEN_IN)
    ]
    wrong, held = [], 0
    for seed in budget:
        file = files[seed % len(files)]
        passed, problem = run_tests(
            "-m", "hypothesis", "-p", "tests.soak.more_examples", f"--hypothesis-seed={seed}", file
        )
        held += passed
        if problem:
            wrong.append(f"seed {seed}: {problem}")
    did = (
        f"{held} properties with {TIMES} times their examples, in {min(budget.done, len(files))} of {len(files)} files"
    )
    return Found(did, wrong=tuple(wrong))

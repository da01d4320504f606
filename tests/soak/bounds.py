"""Attacks on running homes of every version, others each time."""

from tests.helpers.seeds import VARIABLE

from .budget import Budget, Found
from .by_pytest import run_tests

FILE = "tests/e2e/test_bounds.py"
TESTS = (f"{FILE}::test_nothing_hidden_is_reached", f"{FILE}::test_the_house_is_no_web")


def run(budget: Budget) -> Found:
    """Run the tests with other seeds."""
    wrong, held = [], 0
    for number in budget:
        # The first one is that of the tests.
        passed, problem = run_tests(*TESTS, environment={VARIABLE: str(number + 1)})
        held += passed
        if problem:
            wrong.append(f"seed {number + 1}: {problem}")
    return Found(f"{held} samples of attacks", wrong=tuple(wrong))

"""Crashes of a home in which tasks come due, with other seeds each time."""

from tests.helpers.seeds import COUNT, VARIABLE

from .budget import Budget, Found
from .by_pytest import run_tests

TEST = "tests/scheduled/test_crashes.py::test_crashes"
FIRST, PER_ROUND = 14, 28


def run(budget: Budget) -> Found:
    """Run the test with other seeds."""
    wrong = []
    for number in budget:
        # Those before are those that the tests take.
        first = FIRST + number * PER_ROUND
        _, problem = run_tests(TEST, environment={VARIABLE: str(first), COUNT: str(PER_ROUND)})
        if problem:
            wrong.append(f"seeds from {first}: {problem}")
    return Found(f"{budget.done * PER_ROUND:,} crashes", wrong=tuple(wrong))

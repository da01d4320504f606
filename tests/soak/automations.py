"""Automations of every kind that are changed and removed, and written by two at once, with other seeds each time."""

from tests.helpers.seeds import VARIABLE

from .budget import Budget, Found
from .by_pytest import run_tests

TESTS = ("tests/automations/test_always.py::test_always", "tests/automations/test_together.py::test_at_once")
PER_ROUND = 10
"""Seeds that a round takes: the batches of the former."""


def run(budget: Budget) -> Found:
    """Run the tests with other seeds."""
    wrong, held = [], 0
    for number in budget:
        # The first ones are those that the tests take.
        first = (number + 1) * PER_ROUND
        passed, problem = run_tests(*TESTS, environment={VARIABLE: str(first)})
        held += passed
        if problem:
            wrong.append(f"seeds from {first}: {problem}")
    return Found(f"{held} files of automations", wrong=tuple(wrong))

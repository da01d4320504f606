"""Random sequences of actions in a home of which a part is hidden, with other seeds each time."""

from tests.helpers.seeds import VARIABLE

from .budget import Budget, Found
from .by_pytest import run_tests

TEST = "tests/tools/test_scripts.py::test_random_sequences"
PER_ROUND = 400


def run(budget: Budget) -> Found:
    """Run the test with other seeds."""
    wrong = []
    for number in budget:
        # The first ones are those that the tests take.
        first = (number + 1) * PER_ROUND
        _, problem = run_tests(TEST, environment={VARIABLE: str(first)})
        if problem:
            wrong.append(f"seeds from {first}: {problem}")
    return Found(f"{budget.done * PER_ROUND:,} sequences", wrong=tuple(wrong))

"""Whole months of many automations, lived through and rehearsed."""

from tests.helpers.seeds import VARIABLE
from tests.simulation.test_agreement import AUTOMATIONS, DAYS

from .budget import Budget, Found
from .by_pytest import run_tests

TEST = "tests/simulation/test_agreement.py::test_agreement"
MANY, MONTH = 60, 30


def run(budget: Budget) -> Found:
    """Run the test with more automations and days, a month in each round."""
    wrong = []
    for number in budget:
        environment = {VARIABLE: str(number), AUTOMATIONS: str(MANY), DAYS: str(MONTH)}
        _, problem = run_tests(f"{TEST}[{number}]", "--show-capture=no", "--tb=short", environment=environment)
        if problem:
            wrong.append(f"month {number}: {problem}")
    return Found(f"{budget.done} months of {MANY} automations", wrong=tuple(wrong))

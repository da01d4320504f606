"""Random templates, with other seeds each time."""

import json
import subprocess
import sys

from tests.helpers.seeds import VARIABLE

from .budget import Budget, Found
from .by_pytest import CHECKOUT, LONGEST, run_tests

PER_ROUND = 100
FORMS = "tests/templates/test_forms.py::test_random_templates"
SEEDS = 2
"""Of a run of it."""


def run(budget: Budget) -> Found:
    """Render them in processes that may die of them, and write others that run later."""
    wrong = []
    for number in budget:
        first = number * PER_ROUND
        command = [sys.executable, "-W", "ignore", "-m", "tests.templates.hammer", str(first), str(PER_ROUND)]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=LONGEST, check=False)
        if done.returncode or json.loads(done.stdout):
            wrong.append(f"seeds from {first}: {done.stdout or done.stderr[-2000:]}")
        _, problem = run_tests(FORMS, environment={VARIABLE: str(number * SEEDS)})
        if problem:
            wrong.append(f"written ones, seeds from {number * SEEDS}: {problem}")
    return Found(f"{budget.done * PER_ROUND:,} templates", wrong=tuple(wrong))

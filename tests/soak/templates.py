"""Random templates, with other seeds each time."""

import json
import subprocess
import sys

from .budget import Budget, Found
from .by_pytest import CHECKOUT, LONGEST

PER_ROUND = 100


def run(budget: Budget) -> Found:
    """Render them in processes that may die of them."""
    wrong = []
    for number in budget:
        # The first ones are those that the tests take.
        first = (number + 1) * PER_ROUND
        command = [sys.executable, "-W", "ignore", "-m", "tests.templates.hammer", str(first), str(PER_ROUND)]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=LONGEST, check=False)
        if done.returncode or json.loads(done.stdout):
            wrong.append(f"seeds from {first}: {done.stdout or done.stderr[-2000:]}")
    return Found(f"{budget.done * PER_ROUND:,} templates", wrong=tuple(wrong))

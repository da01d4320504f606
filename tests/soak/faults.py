"""Changes of automations, scripts and scenes that are cut off in a real Home Assistant: every step, every way, every kind of change."""

import asyncio
from pathlib import Path
import random
import tempfile

from tests.e2e.changes import CASES
from tests.e2e.faults import run_cases
from tests.e2e.instance import Environment

from .budget import Budget, Found

AT_ONCE = 12
"""Cases of one home; setting it up takes as long as three that start it anew."""
ENVIRONMENTS: tuple[Environment, ...] = ("newest", "test")


def run(budget: Budget) -> Found:
    """Cut off as many as there is time for, all of them once before any for a second time."""
    wrong: list[str] = []
    cut = 0
    for seed in budget:
        whole, part = divmod(seed, len(CASES) // AT_ONCE)
        cases = random.Random(whole).sample(CASES, len(CASES))[part * AT_ONCE : (part + 1) * AT_ONCE]
        environment = ENVIRONMENTS[whole % len(ENVIRONMENTS)]
        with tempfile.TemporaryDirectory() as folder:
            failed = asyncio.run(run_cases(Path(folder), environment, cases))
        cut += len(cases)
        wrong += [f"{', '.join(case)}: {reason}" for case, reason in failed.items()]
    return Found(f"{cut} changes cut off", wrong=tuple(wrong))

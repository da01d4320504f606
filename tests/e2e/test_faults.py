"""A few changes of automations that are cut off in a running Home Assistant; script/soak cuts off all of them."""

import asyncio
from pathlib import Path
import random
import shutil
import tempfile

import pytest

from tests.automations.faulty import HOWS, STEPS
from tests.seeds import seeds

from .faults import CASES, CHANGES, run_cases
from .instance import CACHE, interpreter

WITHOUT_A_START = 3
"""How many are taken of those that need no further start of Home Assistant, for each of them that does."""


def test_all_are_there() -> None:
    """Each step fails in each way during each change."""
    assert len(set(CASES)) == len(STEPS) * len(HOWS) * len(CHANGES)


@pytest.mark.timeout(900)
async def test_cut_off() -> None:
    """What is cut off is not there, or there, loaded, exposed, recorded and undoable, and the user is told."""
    try:
        interpreter("newest")
    except FileNotFoundError as err:
        pytest.skip(str(err))
    (seed,) = seeds(1)
    sampled = random.Random(seed)
    cases = []
    for change in CHANGES:
        of_change = [case for case in CASES if case[2] == change]
        cases += sampled.sample([case for case in of_change if case[1] == "kill"], 1)
        cases += sampled.sample([case for case in of_change if case[1] in {"cancel", "fail"}], WITHOUT_A_START)
    cases += sampled.sample([case for case in CASES if case[1] == "stop"], 1)
    (CACHE / "e2e").mkdir(parents=True, exist_ok=True)
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=CACHE / "e2e", prefix="faults-"))
    assert await run_cases(folder, "newest", cases) == {}
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

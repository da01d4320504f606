"""A few changes of automations, scripts and scenes that are cut off in a running Home Assistant; script/soak cuts off all."""

import asyncio
from pathlib import Path
import random
import shutil
import tempfile

import pytest

from tests.automations.faulty import HOWS, STEPS
from tests.helpers.seeds import seeds

from .changes import CASES, CHANGES, KINDS, WHATS, Case
from .faults import run_cases
from .instance import CACHE, interpreter


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
    # What ends the process needs a start, which takes long: each kind of change and each kind of item is killed once.
    kinds = [*sampled.sample(list(KINDS), len(KINDS)), sampled.choice(list(KINDS))]
    cases = [_any(sampled, {"kill"}, f"{what} {kind}") for what, kind in zip(WHATS, kinds, strict=True)]
    cases += [_any(sampled, {"cancel", "fail"}, change) for change in CHANGES]
    cases.append(_any(sampled, {"stop"}, sampled.choice(CHANGES)))
    (CACHE / "e2e").mkdir(parents=True, exist_ok=True)
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=CACHE / "e2e", prefix="faults-"))
    assert await run_cases(folder, "newest", cases) == {}
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _any(sampled: random.Random, hows: set[str], change: str) -> Case:
    """Return any step of a change that fails in one of these ways."""
    return sampled.choice([case for case in CASES if case[1] in hows and case[2] == change])

"""What a rehearsal says would have been is what is: the same automation lives through the same month."""

from freezegun.api import FrozenDateTimeFactory
import pytest

from tests.seeds import seeds

from .agreement import disagreements
from .living import Clock


@pytest.mark.parametrize("seed", seeds(2))
async def test_agreement(
    seed: int, freezer: FrozenDateTimeFactory, async_test_recorder, socket_enabled, tmp_path
) -> None:
    """Every single run agrees."""
    clock = Clock(freezer)
    count, wrong = await disagreements(seed, 10, 4, clock, f"sqlite:///{tmp_path}/home.db")
    assert not wrong, "\n".join(wrong)
    assert count > 20

"""What a rehearsal says would have been is what is: the same automations live through the same month.

script/soak makes it whole months of more automations, by the two variables.
"""

import os
from pathlib import Path

from freezegun.api import FrozenDateTimeFactory
import pytest

from tests.helpers.seeds import seeds

from .agreement import disagreements
from .living import Clock

AUTOMATIONS, DAYS = "REHEARSED_AUTOMATIONS", "REHEARSED_DAYS"


@pytest.mark.timeout(240)
@pytest.mark.usefixtures("async_test_recorder", "socket_enabled")
@pytest.mark.parametrize("seed", seeds(2))
async def test_agreement(seed: int, freezer: FrozenDateTimeFactory, tmp_path: Path) -> None:
    """Every single run agrees, over restarts and whatever sensors say."""
    automations, days = int(os.environ.get(AUTOMATIONS, "30")), float(os.environ.get(DAYS, "2"))
    count, wrong = await disagreements(seed, automations, days, Clock(freezer), tmp_path)
    assert not wrong, "\n".join(wrong)
    assert count > automations

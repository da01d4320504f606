"""What the log must not hold: a canary is put where texts of a home are."""

from collections.abc import Callable, Iterator
import logging

import pytest

CANARY = "canary"

type Heard = Callable[[], list[str]]


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> Iterator[Heard]:
    """Return a function that returns what was logged at info or above and holds a canary; in the end there is nothing."""
    caplog.set_level(logging.INFO)
    formatter = logging.Formatter("%(name)s %(levelname)s %(message)s")

    def told() -> list[str]:
        records = [*caplog.get_records("setup"), *caplog.get_records("call")]
        # The servers of tests log whom they answer.
        lines = [
            formatter.format(one) for one in records if one.levelno >= logging.INFO and one.name != "aiohttp.access"
        ]
        return [line for line in lines if CANARY in line.lower()]

    yield told
    assert told() == []

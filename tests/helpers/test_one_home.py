"""Cases that share a home: each is run, with its own values, and sees nothing of the ones before."""

from contextlib import contextmanager
import inspect
import logging
from typing import Any

import pytest

from .one_home import in_one_home

LOGGER = logging.getLogger(__name__)


class Places:
    """What cases patch."""

    patched = False


class Seen:
    """In place of pytest's subtests: which cases were begun, and which of them failed."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.failed: list[str] = []

    @contextmanager
    def test(self, name: str) -> Any:
        self.begun.append(name)
        try:
            yield
        except AssertionError:
            self.failed.append(name)


async def test_every_case(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case is run, also after one that fails; patches and logged lines of one are gone before the next."""
    ran = []

    @in_one_home("first, second", [(1, "a"), pytest.param(2, "b", id="two"), (3, "c")])
    async def cases(
        caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, first: int, second: str, other: str
    ) -> None:
        assert not Places.patched
        assert "heard" not in caplog.text
        monkeypatch.setattr(Places, "patched", True)
        LOGGER.warning("heard")
        ran.append((first, second, other))
        assert first != 2

    assert list(inspect.signature(cases).parameters) == ["caplog", "monkeypatch", "other", "subtests"]
    seen = Seen()
    await cases(caplog=caplog, monkeypatch=monkeypatch, other="same", subtests=seen)
    assert ran == [(1, "a", "same"), (2, "b", "same"), (3, "c", "same")]
    assert seen.begun == ["0: (1, 'a')", "two", "2: (3, 'c')"]
    assert seen.failed == ["two"]
    assert not Places.patched


@pytest.mark.parametrize("cases", [[], [pytest.param(1, marks=pytest.mark.skip)]])
def test_no_cases(cases: list[Any]) -> None:
    """No case at all, and one that asks for something else than to be run, are refused."""
    with pytest.raises(AssertionError):
        in_one_home("number", cases)

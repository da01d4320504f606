"""Tests of how every query reaches the recorder's database."""

from time import monotonic

import pytest
from sqlalchemy import text

from custom_components.extended_assist import recorder
from custom_components.extended_assist.recorder import async_read, read_session
from custom_components.extended_assist.results import ToolError
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from tests.helpers.databases import EVERY_ENGINE

# Counts far longer than the limit, in one statement that all engines know.
ENDLESS = text(
    "WITH RECURSIVE digits (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM digits WHERE n < 99) "
    "SELECT count(*) FROM digits a, digits b, digits c, digits d, digits e WHERE a.n + b.n + c.n + d.n + e.n = 1"
)


@EVERY_ENGINE
async def test_the_database_itself_stops(
    recorder_mock: Recorder, hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement that takes too long ends in the database, becomes a sentence, and leaves the connection usable."""

    def count(hass: HomeAssistant, statement: str) -> int:
        with read_session(hass) as session:
            return int(session.execute(ENDLESS if statement == "endless" else text(statement)).scalar_one())

    monkeypatch.setattr(recorder, "TIME_LIMIT", 1.0)
    start = monotonic()
    with pytest.raises(ToolError, match="The recorder's database could not be read"):
        await async_read(hass, count, "endless")
    assert monotonic() - start < 5
    assert await async_read(hass, count, "SELECT 1") == 1


async def test_other_failures_stay_what_they_are(recorder_mock: Recorder, hass: HomeAssistant) -> None:
    """A mistake in a query is not taken for a recorder that is gone."""

    def broken(hass: HomeAssistant) -> None:
        raise RuntimeError("a mistake")

    with pytest.raises(RuntimeError, match="a mistake"):
        await async_read(hass, broken)

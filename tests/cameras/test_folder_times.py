"""The time that a name tells: forms that other programs write, numbers that only look like one, the repeated hour."""

from datetime import UTC, datetime, timedelta

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.extended_assist.cameras.media_folders import _made
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

CHANGED = datetime(2026, 11, 20, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # What comes before is no time, what follows is one.
        ("2048_1536_2026-11-20_08-15-00.jpg", "2026-11-20T08:15:00-08:00"),
        ("20159999999999_20261120081530.jpg", "2026-11-20T08:15:30-08:00"),
        ("20231399/1763655300.jpg", "2025-11-20T16:15:00+00:00"),
        ("20231399_2026-11-20_08-15-00.jpg", "2026-11-20T08:15:00-08:00"),
        ("2026-11-20_99-99-99/1763655300123.jpg", "2025-11-20T16:15:00.123+00:00"),
        # The zone that a name says.
        ("2026-11-20T16-15-00Z.jpg", "2026-11-20T16:15:00+00:00"),
        ("20261120T161500Z_door.jpg", "2026-11-20T16:15:00+00:00"),
        ("2026-11-20T16:15:00.123+01:00.jpg", "2026-11-20T16:15:00+01:00"),
        ("20261120T161500+0100.jpg", "2026-11-20T16:15:00+01:00"),
        ("2026-11-20 08-15-00 Zoe.jpg", "2026-11-20T08:15:00-08:00"),
        ("2026-11-20T08-15-00-0001.jpg", "2026-11-20T08:15:00-08:00"),
        # A folder of the day, and a name with seconds since the epoch.
        ("2026-11-20/1763655300.jpg", "2025-11-20T16:15:00+00:00"),
        # The day first: its year begins no time.
        ("20-11-2026_08-15-00-12.jpg", None),
        ("20.11.2026_081500-123.jpg", None),
        # Serial numbers, which tell a time that is still to come.
        ("20450912101530.jpg", None),
        ("cam 1999999999.jpg", None),
        ("20261231235959.jpg", None),
        ("cam_01_2026-11-20_08-15-00.jpg", "2026-11-20T08:15:00-08:00"),
        ("192.168.1.64_01_20261120081530123_MOTION.jpg", "2026-11-20T08:15:30-08:00"),
        ("2026-11-20_08-15-00.jpg", "2026-11-20T08:15:00-08:00"),
        ("2026112008153099887766.jpg", None),
    ],
)
def test_names(hass: HomeAssistant, freezer: FrozenDateTimeFactory, name: str, expected: str | None) -> None:
    """The first time in it that is one counts, and where there is none, the time of the file."""
    freezer.move_to(CHANGED + timedelta(hours=1))
    expected_time = datetime.fromisoformat(expected) if expected else CHANGED
    assert abs(_made(name, CHANGED.timestamp()) - expected_time) < timedelta(seconds=1)


@pytest.mark.parametrize("hour", [8, 9])
def test_the_repeated_hour(hass: HomeAssistant, hour: int) -> None:
    """When clocks are set back, half past one comes twice; the file's own time tells which it is."""
    assert dt_util.get_default_time_zone().key == "US/Pacific"  # type: ignore[attr-defined]
    moment = datetime(2025, 11, 2, hour, 30, tzinfo=UTC)
    assert _made("2025-11-02_01-30-00.jpg", (moment + timedelta(seconds=3)).timestamp()) == moment
    # Of a copy, the first.
    copied = _made("2025-11-02_01-30-00.jpg", datetime(2025, 1, 1, tzinfo=UTC).timestamp())
    assert copied == datetime(2025, 11, 2, 8, 30, tzinfo=UTC)

"""The sky over the home: closed curves of time, with seeded noise that is smooth everywhere."""

from datetime import UTC, datetime
from functools import lru_cache
import math
from random import Random

LATITUDE = math.radians(52.37)
LONGITUDE = 4.89  # degrees
HOUR = 3600.0


@lru_cache(maxsize=4096)
def _lattice(name: str, index: int) -> float:
    return Random(f"{name} {index}").uniform(-1.0, 1.0)


def noise(name: str, timestamp: float, period: float) -> float:
    """Return a smooth value from -1 to 1 that wanders over about `period` seconds."""
    index, part = divmod(timestamp / period, 1.0)
    weight = (1.0 - math.cos(math.pi * part)) / 2.0
    return _lattice(name, int(index)) * (1.0 - weight) + _lattice(name, int(index) + 1) * weight


def sun_height(timestamp: float) -> float:
    """Return the sine of the sun's elevation; accurate to about a degree."""
    moment = datetime.fromtimestamp(timestamp, UTC)
    year_angle = math.tau * (moment.timetuple().tm_yday - 81) / 365.25
    declination = math.radians(23.44) * math.sin(year_angle)
    hours = moment.hour + moment.minute / 60 + LONGITUDE / 15
    hour_angle = math.tau * (hours - 12.0) / 24.0
    return math.sin(LATITUDE) * math.sin(declination) + math.cos(LATITUDE) * math.cos(declination) * math.cos(
        hour_angle
    )


def clouds(timestamp: float) -> float:
    """Return the cover from 0 (clear) to 1."""
    days = noise("clouds of days", timestamp, 40 * HOUR)
    hours = noise("clouds of hours", timestamp, 3 * HOUR)
    return min(1.0, max(0.0, 0.55 + 0.6 * days + 0.25 * hours))


def temperature(timestamp: float) -> float:
    """Return the outdoor temperature in °C."""
    moment = datetime.fromtimestamp(timestamp, UTC)
    hour = moment.hour + moment.minute / 60
    day = moment.timetuple().tm_yday + hour / 24
    season = 10.8 - 7.8 * math.cos(math.tau * (day - 25) / 365.25)
    swing = 2.4 + 1.4 * noise("swing", timestamp, 36 * HOUR)
    # Warmest in the middle of the afternoon.
    daily = -swing * math.cos(math.tau * (hour + LONGITUDE / 15 - 3.5) / 24)
    return season + daily + 3.4 * noise("fronts", timestamp, 60 * HOUR)


def humidity(timestamp: float, height: float) -> float:
    """Return the relative outdoor humidity in percent; `height` is the sun's."""
    value = 86 - 38 * max(0.0, height) * (1.2 - clouds(timestamp)) + 8 * noise("humidity", timestamp, 9 * HOUR)
    return min(99.0, max(30.0, value))


def solar_power(timestamp: float, height: float, peak: float) -> float:
    """Return what panels of `peak` watts produce; `height` is the sun's."""
    if height <= 0.02:
        return 0.0
    cover = clouds(timestamp)
    flicker = 1.0 - 0.5 * cover * (1.0 - cover) * (1.0 + noise("flicker", timestamp, 420))
    return peak * min(1.0, 1.35 * math.pow(height, 0.9)) * (1.0 - 0.82 * cover**1.4) * flicker

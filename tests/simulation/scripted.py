"""A month of a home, made from a seed: what its entities say, when it restarts, and what is wrong with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
import random
from typing import Any
from zoneinfo import ZoneInfo

MONTHS = (
    ("2026-03-10", "Europe/Berlin"),  # The clock goes forward on the 29th,
    ("2026-10-05", "Europe/Berlin"),  # and back on the 25th.
    ("2026-01-01", "America/St_Johns"),
    ("2026-03-20", "Australia/Lord_Howe"),  # Half an hour back, on April 5.
)
MOTION, DOOR, TEMPERATURE, HUMIDITY = (
    "binary_sensor.motion",
    "binary_sensor.door",
    "sensor.temperature",
    "sensor.humidity",
)
LAMP, TV, ANNA, TRACKER = "light.lamp", "media_player.tv", "person.anna", "device_tracker.phone"
HOME, WORK = "zone.around", "zone.work"
CALENDAR = "calendar.home"
WAKE, ALARM, LIMIT, MODE = "input_datetime.wake", "sensor.next_alarm", "sensor.limit", "input_select.mode"
ENTITIES = (MOTION, DOOR, TEMPERATURE, HUMIDITY, LAMP, TV, ANNA, TRACKER, HOME, WORK, WAKE, ALARM, LIMIT, MODE)

_PLACES = {"home": (52.5, 13.4), "work": (52.6, 13.5), "not_home": (53.0, 14.0)}


@dataclass(frozen=True, slots=True)
class Said:
    """What an entity says at a moment; a state of None is its removal."""

    moment: float
    entity_id: str
    state: str | None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    force: bool = False


@dataclass(frozen=True, slots=True)
class Life:
    """A time in which Home Assistant runs: from when it begins to load, when it has started, when it ends."""

    begin: float
    started: float
    end: float


@dataclass(frozen=True, slots=True)
class Month:
    """All that happens."""

    zone: str
    lives: tuple[Life, ...]
    said: tuple[Said, ...]
    events: str = ""
    """The file of a calendar."""

    def within(self, life: Life) -> list[Said]:
        """Return what is said while Home Assistant runs."""
        return [one for one in self.said if life.begin < one.moment < life.end]


def month(seed: int, days: float = 30) -> Month:
    """Return the month of a seed."""
    chance = random.Random(f"month {seed}")
    first, zone = MONTHS[seed % len(MONTHS)]
    start = datetime.fromisoformat(first).replace(tzinfo=ZoneInfo(zone)).timestamp() + 0.7
    end = start + days * 86_400
    lives, moment = [], start
    while moment < end:
        started = moment + chance.uniform(20, 90)
        stop = min(started + chance.uniform(days / 6, days / 1.5) * 86_400, end)
        if end - stop < 3600:
            stop = end
        lives.append(Life(_fraction(moment), _fraction(started), _fraction(stop)))
        moment = stop + chance.choice((30, 120, 3600, 9 * 3600)) * chance.uniform(0.8, 1.2)
    said = [one for entity_id in ENTITIES for one in _says(random.Random(f"{seed} {entity_id}"), entity_id, start, end)]
    for life in lives:
        said += _loaded(chance, life, said)
    events = _events(random.Random(f"calendar {seed}"), datetime.fromtimestamp(start, ZoneInfo(zone)), days)
    return Month(zone, tuple(lives), tuple(sorted(said, key=lambda one: one.moment)), events)


def _events(chance: random.Random, first: datetime, days: float) -> str:
    """Return the file of a calendar: events of hours and of whole days, some in UTC, some that come again."""
    lines = ["BEGIN:VCALENDAR", "PRODID:test", "VERSION:2.0"]
    for number in range(int(days * 2) + 4):
        start = first.replace(tzinfo=None, microsecond=0) + timedelta(seconds=chance.randint(0, int(days * 86_400)))
        length = timedelta(minutes=chance.choice((0, 1, 30, 61, 1500)))
        begin, end = (f":{moment:%Y%m%dT%H%M%S}{'Z' * (number % 5 == 0)}" for moment in (start, start + length))
        if number % 4 == 1:
            begin, end = (f";VALUE=DATE:{day:%Y%m%d}" for day in (start, start + timedelta(days=number % 3)))
        lines += ["BEGIN:VEVENT", f"UID:{number}", f"DTSTAMP:{start:%Y%m%dT%H%M%S}Z", f"SUMMARY:{chance.choice('abc')}"]
        lines += [f"DTSTART{begin}", f"DTEND{end}"]
        lines += [f"RRULE:FREQ={chance.choice(('DAILY', 'WEEKLY'))};COUNT=9"] if number % 7 == 2 else []
        lines.append("END:VEVENT")
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def _fraction(moment: float) -> float:
    """Return a moment in the second half of its second: in the first one, Home Assistant's clocks tick at random."""
    return int(moment) + 0.55 + (moment % 1) * 0.4


def _loaded(chance: random.Random, life: Life, said: list[Said]) -> Iterator[Said]:
    """Yield what entities say after a restart: most at once, some only when it has started, some not at all."""
    for entity_id in ENTITIES:
        drawn = chance.random()
        before = [one for one in said if one.entity_id == entity_id and one.moment < life.begin and one.state]
        if not before or (drawn < 0.05 and entity_id not in (HOME, WORK)):
            continue
        last = before[-1]
        loaded = _fraction(life.begin + chance.uniform(2, 15))
        if drawn < 0.25:
            yield Said(loaded, entity_id, chance.choice(("unavailable", "unknown")), {"restored": True})
            loaded = _fraction(life.started + chance.uniform(3, 200))
        yield Said(loaded, entity_id, last.state, last.attributes)


def _moments(chance: random.Random, start: float, end: float, mean: float) -> Iterator[float]:
    """Yield random moments."""
    moment = start + 1 + chance.random() * 10
    while moment < end:
        yield _fraction(moment)
        moment += max(2.0, chance.expovariate(1 / mean))


def _says(chance: random.Random, entity_id: str, start: float, end: float) -> Iterator[Said]:
    """Yield all that one entity says."""
    name = {"friendly_name": entity_id.partition(".")[2].title()}
    if entity_id in (HOME, WORK):
        latitude, longitude = _PLACES["home" if entity_id == HOME else "work"]
        where = {"latitude": latitude, "longitude": longitude, "radius": 500, "passive": False}
        yield Said(start + 1, entity_id, "0", {**name, **where})
        return
    means = {MOTION: 1800, DOOR: 5000, TEMPERATURE: 1500, HUMIDITY: 2400, LAMP: 9000, TV: 20_000, ANNA: 15_000}
    state, attributes, number = "off", dict(name), 20.0
    for moment in _moments(chance, start, end, means.get(entity_id, 40_000)):
        drawn = chance.random()
        if drawn < 0.03:
            yield Said(moment, entity_id, chance.choice(("unavailable", "unknown")), name)
            continue
        if drawn < 0.035:
            yield Said(moment, entity_id, None)
            continue
        if drawn < 0.1:  # Only an attribute changes.
            attributes = {**attributes, "battery": chance.randint(0, 100)}
            yield Said(moment, entity_id, state, attributes)
            continue
        if drawn < 0.15:  # It says the same again.
            yield Said(moment, entity_id, state, attributes, force=drawn < 0.12)
            continue
        number += chance.gauss(0, 2) - (number - 20) * 0.05
        state, attributes = _next(chance, entity_id, state, {**name, **attributes}, number, moment)
        yield Said(moment, entity_id, state, attributes)


def _next(
    chance: random.Random, entity_id: str, state: str, attributes: dict[str, Any], number: float, moment: float
) -> tuple[str, dict[str, Any]]:
    """Return the next state and attributes of an entity."""
    if entity_id in (MOTION, DOOR):
        return "off" if state == "on" else "on", attributes
    if entity_id in (TEMPERATURE, HUMIDITY):
        if chance.random() < 0.01:
            return "broken", attributes
        return f"{number:.1f}", attributes | {"unit_of_measurement": "°C", "offset": round(number / 3)}
    if entity_id == LIMIT:
        return f"{number:.0f}", attributes
    if entity_id == LAMP:
        return chance.choice((("on", attributes | {"brightness": chance.randint(1, 255)}), ("off", attributes)))
    if entity_id == TV:
        return chance.choice(("off", "idle", "playing", "paused")), attributes
    if entity_id == MODE:
        return chance.choice(("day", "night", "away")), attributes
    if entity_id in (ANNA, TRACKER):
        place = chance.choice(tuple(_PLACES))
        latitude, longitude = _PLACES[place]
        return place, attributes | {"latitude": latitude, "longitude": longitude, "gps_accuracy": 10}
    if entity_id == WAKE:
        hour, minute = chance.randint(0, 23), chance.randint(0, 59)
        parts = {"has_date": False, "has_time": True, "hour": hour, "minute": minute, "second": 40}
        return f"{hour:02}:{minute:02}:40", attributes | parts
    due = datetime.fromtimestamp(int(moment) + chance.randint(-3600, 90_000), ZoneInfo("UTC")) + timedelta(
        milliseconds=800
    )
    return due.isoformat(), attributes | {"device_class": "timestamp"}

"""Homes made from a seed: what people do in them by habit is known, and everything else is noise."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
import math
import random
from typing import Any
from zoneinfo import ZoneInfo

from homeassistant.helpers.sun import get_astral_event_date

PLACES = (
    ("2026-03-02", "Europe/Berlin", 52.5, 13.4),  # The clock goes forward on March 29,
    ("2026-09-21", "Europe/Berlin", 52.5, 13.4),  # and back on October 25.
    ("2026-02-02", "America/New_York", 40.7, -74.0),
    ("2026-03-16", "Australia/Sydney", -33.9, 151.2),
)
WEEKDAYS = {
    "days": range(7),
    "weekdays": range(5),
    "weekend days": (5, 6),
    "Wednesdays": (2,),
}
MACHINES = ("automation by time", "automation by state", "script", "scene", "assistant", "Assist", "satellite")
"""Who acts beside people, none of whom counts."""
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0


@dataclass(frozen=True)
class Planted:
    """A habit that people in a home have."""

    what: str
    does: tuple[str, str]
    cause: tuple[str, str] | None = None
    minute: float = 0.0
    kind: str = "days"
    dark: bool = False


@dataclass(frozen=True, order=True)
class Written:
    """A row, or an event, as the recorder writes it."""

    moment: float
    entity_id: str
    state: str
    own: bytes | None = None
    user: bytes | None = None
    parent: bytes | None = None


@dataclass
class Home:
    """Everything that is recorded of a home."""

    zone: str
    latitude: float
    longitude: float
    start: float
    end: float
    settable: list[str] = field(default_factory=list)
    leading: list[str] = field(default_factory=list)
    planted: list[Planted] = field(default_factory=list)
    rows: list[Written] = field(default_factory=list)
    events: list[tuple[str, Written]] = field(default_factory=list)
    runs: list[tuple[float, float]] = field(default_factory=list)


class Maker:
    """Makes one home."""

    def __init__(
        self, hass: Any, seed: int, days: int | None = None, count: int | None = None, first: str = ""
    ) -> None:
        """Take a seed, which decides everything but what is given: how many days and entities, and the first day."""
        self._chance = chance = random.Random(f"habits {seed}")
        self._hass = hass
        usual, zone, latitude, longitude = PLACES[seed % len(PLACES)]
        self._zone = ZoneInfo(zone)
        self.days = days or chance.randint(14, 90)
        self._first = datetime.fromisoformat(first or usual)
        self.home = Home(zone, latitude, longitude, self._at(0, 0), self._at(self.days, 0))
        self._count = count or chance.choice((20, 35, 60, 100, 200))
        self._user = chance.randbytes(16)
        self._away = self._holiday()
        self._without_context = chance.choice((0.0, 0.0, 0.03, 0.1))
        self._said: dict[str, list[tuple[float, str, str]]] = {}
        """Of each entity: when, what state, and who."""

    def _at(self, day: int, minute: float) -> float:
        """Return the moment of a local minute of a day."""
        local = self._first + timedelta(days=day, minutes=minute)
        return local.replace(tzinfo=self._zone).timestamp()

    def _holiday(self) -> range:
        """Return the days on which nobody is there."""
        if self.days < 28 or self._chance.random() < 0.5:
            return range(0)
        begin = self._chance.randint(5, self.days - 12)
        return range(begin, begin + self._chance.randint(4, 8))

    def _people(self) -> str:
        """Return who of those that count does something."""
        return self._chance.choice(("user", "user", "device"))

    def make(self) -> Home:
        """Return the home."""
        home, chance = self.home, self._chance
        domains = ("light", "light", "light", "switch", "media_player", "input_boolean", "cover", "fan")
        many = max(self._count * 2 // 5, 8)
        home.settable = [f"{domains[number % len(domains)]}.one_{number}" for number in range(many)]
        home.leading = [f"binary_sensor.door_{number}" for number in range(max(self._count // 5, 4))]
        free, doors = home.settable.copy(), home.leading.copy()
        chance.shuffle(free)
        chance.shuffle(doors)
        for door in doors:
            self._door(door, chance.uniform(0.5, 15))
        self._plant(free, doors)
        for _ in range(len(free) // 4):
            self._machine(free.pop())
        for entity_id in free:
            self._sessions(entity_id, 0.1 * 25 ** chance.random())
        self._write()
        return home

    # Noise

    def _door(self, entity_id: str, rate: float) -> None:
        """Let a door be opened and closed in the waking hours."""
        for day in range(self.days):
            if day in self._away:
                continue
            for _ in range(_poisson(self._chance, rate)):
                moment = self._at(day, self._chance.uniform(380, 1_390))
                self._say(entity_id, moment, "on", "device")
                self._say(entity_id, moment + self._chance.expovariate(1 / 60) + 3, "off", "device")

    def _sessions(self, entity_id: str, rate: float) -> None:
        """Let something be used now and then, at hours of its own."""
        on, off = _states(entity_id)
        begin = self._chance.uniform(380, 900)
        end = begin + self._chance.uniform(300, 500)
        for day in range(self.days):
            if day in self._away:
                continue
            for _ in range(_poisson(self._chance, rate)):
                moment = self._at(day, self._chance.uniform(begin, end))
                self._say(entity_id, moment, on, self._people())
                self._say(entity_id, moment + self._long(), off, self._people())

    def _long(self) -> float:
        """Return for how long something is used."""
        return min(40 * MINUTE * math.exp(self._chance.gauss(0, 0.9)), 5 * HOUR)

    def _machine(self, entity_id: str) -> None:
        """Let an automation or an assistant set something every day, as people would by habit."""
        (on, off), who = _states(entity_id), self._chance.choice(MACHINES)
        minute = self._chance.uniform(400, 1_200)
        for day in range(self.days):
            moment = self._at(day, minute) + (0 if who.startswith("automation") else self._chance.gauss(0, 3 * MINUTE))
            self._say(entity_id, moment, on, who)
            self._say(entity_id, moment + self._long(), off, self._people() if day % 9 == 0 else who)

    # Habits

    def _plant(self, free: list[str], doors: list[str]) -> None:
        """Let people have some habits."""
        kinds = ["days", "weekdays"]
        kinds += ["weekend days"] if self.days >= 35 else []
        kinds += ["Wednesdays"] if self.days >= 63 else []
        wanted = ["time", "time", "after", "dark", "left_on", "time", "after"][: min(3 + len(free) // 8, 7)]
        for what in wanted:
            if what == "time":
                self._plant_time(free.pop(), self._chance.choice(kinds))
            elif what == "left_on":
                if one := next((one for one in free if one.startswith("light.")), None):
                    free.remove(one)
                    self._plant_left_on(one)
            elif doors:
                self._plant_after(free.pop(), doors.pop(), dark=what == "dark")

    def _misses(self) -> bool:
        return self._chance.random() < self._missing

    def _plant_time(self, entity_id: str, kind: str) -> None:
        """At a time of some days."""
        on, off = _states(entity_id)
        minute, jitter = self._chance.uniform(390, 1_380), self._chance.uniform(1, 15)
        self._missing = self._chance.uniform(0, 0.2)
        self.home.planted.append(Planted("time", (entity_id, on), minute=minute, kind=kind))
        for day in range(self.days):
            local = self._first + timedelta(days=day)
            if day in self._away or local.weekday() not in WEEKDAYS[kind] or self._misses():
                continue
            moment = self._at(day, minute + self._chance.gauss(0, jitter))
            self._say(entity_id, moment, on, self._people())
            self._say(entity_id, moment + 5 * MINUTE + 2 * self._long(), off, self._people())
        self._rarely(entity_id)

    def _plant_after(self, entity_id: str, door: str, *, dark: bool) -> None:
        """After a door was opened."""
        on, off = _states(entity_id)
        delay, self._missing = self._chance.choice((8, 30, 60, 240)), self._chance.uniform(0, 0.15)
        self._said.pop(door, None)
        self._door(door, self._chance.uniform(2, 5) if dark else self._chance.uniform(0.7, 4))
        self.home.planted.append(Planted("after", (entity_id, on), cause=(door, "on"), dark=dark))
        until = 0.0
        for moment, state, _ in sorted(self._said.get(door, ())):
            if state != "on" or moment < until or (dark and not self._is_dark(moment)) or self._misses():
                continue
            done = moment + delay * math.exp(self._chance.gauss(0, 0.25))
            until = done + 20 * MINUTE + self._long() * (0.3 if dark else 1)
            self._say(entity_id, done, on, self._people())
            self._say(entity_id, until, off, self._people())
        self._rarely(entity_id, 0.05)

    def _plant_left_on(self, entity_id: str) -> None:
        """Forgotten in the evening, and found in the morning."""
        self.home.planted.append(Planted("left_on", (entity_id, "off")))
        often = self._chance.uniform(0.45, 0.8)
        for day in range(self.days - 1):
            if day in self._away or self._chance.random() > often:
                continue
            self._say(entity_id, self._at(day, self._chance.uniform(1_050, 1_380)), "on", self._people())
            self._say(entity_id, self._at(day + 1, self._chance.uniform(420, 690)), "off", self._people())

    def _rarely(self, entity_id: str, rate: float = 0.1) -> None:
        """Use something at other times as well."""
        self._sessions(entity_id, rate)

    def _is_dark(self, moment: float) -> bool:
        local = datetime.fromtimestamp(moment, self._zone)
        rise, fall = (get_astral_event_date(self._hass, event, local.date()) for event in ("sunrise", "sunset"))
        return not (rise and fall and rise <= local < fall)

    # Rows

    def _say(self, entity_id: str, moment: float, state: str, who: str) -> None:
        if self.home.start < moment < self.home.end:
            self._said.setdefault(entity_id, []).append((moment, state, who))

    def _write(self) -> None:
        """Make rows of all that is said, over restarts and whatever is unavailable."""
        home, chance = self.home, self._chance
        home.runs = self._runs()
        for entity_id in [*home.settable, *home.leading]:
            _, off = _states(entity_id)
            said = sorted(self._said.get(entity_id, ()))
            current, index, last_said = off, 0, ""
            for begin, end in home.runs:
                # What is said while Home Assistant does not run is what it finds when it starts.
                while index < len(said) and said[index][0] <= begin + 30:
                    current = said[index][1]
                    index += 1
                home.rows.append(self._row(begin + chance.uniform(1, 20), entity_id, current, "device"))
                while index < len(said) and said[index][0] < end:
                    moment, state, who = said[index]
                    index += 1
                    if state == current:
                        continue
                    current = state
                    home.rows.append(self._row(moment, entity_id, state, who))
                    if chance.random() < 0.004:
                        home.rows.append(self._row(moment + 1, entity_id, "unavailable", "device"))
                        home.rows.append(self._row(moment + 30, entity_id, state, "device"))
                last_said = current
            assert last_said
        home.rows.sort(key=lambda row: row.moment)

    def _runs(self) -> list[tuple[float, float]]:
        """Return when Home Assistant ran."""
        home, chance = self.home, self._chance
        runs, begin = [], home.start - DAY
        while begin < home.end:
            end = begin + chance.uniform(4, 30) * DAY
            runs.append((begin, min(end, home.end)))
            begin = end + chance.choice((60.0, 60.0, 10 * MINUTE, 4 * HOUR))
        return runs

    def _row(self, moment: float, entity_id: str, state: str, who: str) -> Written:
        """Return a row in the context of whoever did it, which is written elsewhere as well."""
        chance, made = self._chance, moment - self._chance.uniform(0.02, 0.8)
        own, home = ulid(chance, made), self.home
        outer = ulid(chance, made - 2)
        row = Written(moment, entity_id, state, own)
        if chance.random() < self._without_context:
            return Written(moment, entity_id, state)
        match who:
            case "user":
                row = Written(moment, entity_id, state, own, self._user)
                home.events.append(("call_service", Written(made, entity_id, "turn", own, self._user)))
            case "device":
                row = Written(moment, entity_id, state, ulid(chance, moment - 0.001))
            case "automation by time":
                home.events.append(("automation_triggered", Written(made, "automation.one", "", own)))
            case "automation by state":
                row = Written(moment, entity_id, state, own, None, outer)
                home.events.append(("automation_triggered", Written(made, "automation.one", "", own, None, outer)))
            case "script":
                row = Written(moment, entity_id, state, own, self._user)
                home.rows.append(Written(made, "script.one", "on", own, self._user))
            case "scene":
                row = Written(moment, entity_id, state, own, self._user)
                home.rows.append(Written(made, "scene.one", f"{made}", own, self._user))
            case "assistant":
                row = Written(moment, entity_id, state, own, self._user, outer)
            case "Assist" | "satellite":
                user = self._user if who == "Assist" else None
                row = Written(moment, entity_id, state, own, user)
                home.rows.append(Written(made, "conversation.home_assistant", f"{made}", own, user))
                home.events.append(("call_service", Written(made, entity_id, "turn", own, user)))
        return row


def _states(entity_id: str) -> tuple[str, str]:
    """Return what an entity is in use, and else."""
    return ("open", "closed") if entity_id.startswith("cover.") else ("on", "off")


def _poisson(chance: random.Random, rate: float) -> int:
    """Return how often something happens."""
    limit, count, product = math.exp(-rate), 0, chance.random()
    while product > limit:
        count += 1
        product *= chance.random()
    return count


def ulid(chance: random.Random, moment: float) -> bytes:
    """Return the id of a context that is made at a moment."""
    return int(moment * 1_000).to_bytes(6) + chance.randbytes(10)


def shuffled(home: Home, seed: int, *, uses: bool) -> Home:
    """Return a home in which the same things happen at times of no meaning.

    With uses, what is turned on and off again is moved as one; else each change for itself.
    """
    chance = random.Random(f"shuffled {seed}")
    known = {*home.settable, *home.leading}
    rows = [row for row in home.rows if row.entity_id not in known]
    for entity_id in sorted(known):
        own = [row for row in home.rows if row.entity_id == entity_id and row.state != "unavailable"]
        rows += _moved_uses(chance, own, home) if uses else _moved(chance, own, home)
    return Home(
        home.zone,
        home.latitude,
        home.longitude,
        home.start,
        home.end,
        home.settable,
        home.leading,
        [],
        sorted(rows, key=lambda row: row.moment),
        [],
        [(home.start - DAY, home.end)],
    )


def _moved(chance: random.Random, rows: list[Written], home: Home) -> Iterator[Written]:
    """Yield rows at other moments, in which the states take turns as they did."""
    moments = sorted(chance.uniform(home.start, home.end) for _ in rows)
    for row, moment in zip(rows, moments, strict=True):
        yield _as_of(chance, row, moment)


def _moved_uses(chance: random.Random, rows: list[Written], home: Home) -> Iterator[Written]:
    """Yield uses, as long as they were, at other times."""
    uses = [
        (begin, end)
        for begin, end in pairwise(rows)
        if begin.state in ("on", "open") and end.state in ("off", "closed") and end.moment - begin.moment < DAY / 3
    ]
    busy = 0.0
    moments = sorted(chance.uniform(home.start, home.end) for _ in uses)
    for (begin, end), moment in zip(uses, moments, strict=True):
        if moment <= busy:
            continue
        busy = moment + end.moment - begin.moment
        yield _as_of(chance, begin, moment)
        yield _as_of(chance, end, busy)


def _as_of(chance: random.Random, row: Written, moment: float) -> Written:
    """Return a row at another moment, done by the same."""
    return Written(moment, row.entity_id, row.state, row.own and ulid(chance, moment), row.user, row.parent)

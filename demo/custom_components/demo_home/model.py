"""The one source of every value in the home, recorded or live.

The home is simulated minute by minute from the moment its record begins. The same beginning gives the same values, whoever
asks and whenever, so that recorded history runs on into live states.
"""

from array import array
from datetime import UTC, datetime, timedelta
from functools import lru_cache
import math
from typing import Any, Self
from zoneinfo import ZoneInfo

from . import weather
from .catalogue import BY_ID, ITEMS
from .habits import MINUTES, Day, plan

TIME_ZONE = ZoneInfo("Europe/Amsterdam")

OUTDOOR_CO2 = 420.0  # ppm
SOLAR_PEAK = 4200.0  # W
STANDBY = 135.0  # W: router, chargers, ventilation
CLOSED, OPEN = 0.0, 100.0
SLOW = (
    5  # minutes between two looks at the sky and at what changes slowly; every item's own interval is 1 or a multiple
)

# What the meters showed when the record began.
READINGS = {
    "sensor.fridge_energy": 412.6,
    "sensor.washing_machine_energy": 187.3,
    "sensor.heat_pump_energy": 3120.8,
    "sensor.solar_energy": 9874.2,
    "sensor.grid_import": 14203.5,
    "sensor.grid_export": 5210.9,
    "sensor.electricity_cost": 0.0,
    "sensor.water_meter": 612.417,
}
# Watts of the washing machine, by the minute its program has reached.
WASHING = ((8, 60.0), (28, 2050.0), (70, 190.0), (75, 420.0), (95, 150.0), (105, 480.0), (112, 90.0))
LIGHTS = tuple(item.entity_id for item in ITEMS if item.platform == "light")
BINARY_SENSORS = tuple(item.entity_id for item in ITEMS if item.platform == "binary_sensor")
# Beside the entities: whether a room is being heated, by the room's thermostat.
HEATING = {item.entity_id: f"{item.entity_id} heating" for item in ITEMS if item.platform == "climate"}
# Minutes between two readings.
EVERY = {item.entity_id: item.every for item in ITEMS} | {HEATING[key]: BY_ID[key].every for key in HEATING}


class Room:
    """Air and heating of one room."""

    def __init__(self, name: str, temperature: float, retention: float, sleepers: float = 0.0) -> None:
        """Begin at a temperature in °C."""
        self.name = name
        self.temperature = temperature  # °C
        self.retention = retention  # hours in which the difference to outside falls to a third
        self.sleepers = sleepers  # share of the people at home who sleep here
        self.heating = False
        self.target = temperature
        self.co2 = 550.0
        self.damp = 0.0  # percent above the home's ordinary humidity

    def step(self, outdoor: float, people: float, *, window: bool, heated: bool) -> None:
        """Advance by one minute."""
        hour = 1 / 60
        if heated:
            if self.temperature < self.target - 0.3:
                self.heating = True
            elif self.temperature > self.target + 0.2:
                self.heating = False
        loss = (self.temperature - outdoor) / self.retention * (6.0 if window else 1.0)
        self.temperature += (1.9 * self.heating + 0.08 * people - loss) * hour
        exchange = 5.0 if window else 0.38  # times an hour
        self.co2 += (190.0 * people - exchange * (self.co2 - OUTDOOR_CO2)) * hour
        self.damp -= self.damp * (4.0 if window else 1.1) * hour


class Home:
    """The whole home; `value_at` answers for any minute since its beginning, or since the checkpoint it continues."""

    def __init__(self, beginning: datetime, *, keep_days: int | None = 3) -> None:
        """Begin at a full hour; `keep_days` bounds what is remembered, None keeps all."""
        self.beginning = beginning.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        self._first = int(self.beginning.timestamp()) // 60
        self._keep = keep_days
        self._days: dict[int, dict[str, array[float]]] = {}
        self._done = 0  # days simulated
        self._checkpoint: dict[str, Any] = {}
        self._sky = (0.0, 0.0, 0.0)  # the sun's height, °C, humidity
        self._meters = dict(READINGS)
        self._rooms = {
            "living_room": Room("living_room", 18.6, 42),
            "kitchen": Room("kitchen", 18.4, 48),
            "bedroom": Room("bedroom", 17.2, 44, sleepers=1.0),
            "bathroom": Room("bathroom", 18.8, 46),
            "study": Room("study", 17.4, 40),
        }

    @classmethod
    def continued(cls, checkpoint: dict[str, Any]) -> Self:
        """Return the home whose `checkpoint` was taken, without simulating its past again."""
        home = cls(datetime.fromisoformat(checkpoint["beginning"]))
        home._done = checkpoint["days"]
        home._meters |= checkpoint["meters"]
        for name, state in checkpoint["rooms"].items():
            vars(home._rooms[name]).update(state)
        return home

    def checkpoint(self) -> dict[str, Any]:
        """Return, as JSON, the state at the start of the last day simulated."""
        return self._checkpoint

    def value_at(self, key: str, when: datetime) -> float:
        """Return an entity's reading at a moment: lights as brightness, locks and sensors of two states as 0 or 1."""
        minute = int(when.timestamp()) // 60
        return self.minute_value(key, minute - minute % EVERY[key])

    def minute_value(self, key: str, minute: int) -> float:
        """Return the value of a minute, counted from 1970."""
        day, offset = divmod(minute - self._first, MINUTES)
        while self._done <= day:
            self._days[self._done] = self._simulate(self._first + self._done * MINUTES)
            self._done += 1
            if self._keep is not None:
                self._days.pop(self._done - 1 - self._keep, None)
        return self._days[day][key][offset]

    def series(self, key: str, end: int) -> array[float]:
        """Return a key's value of every minute from the beginning up to minute `end`, each reading held until the next."""
        self.minute_value(key, end - 1)
        values: array[float] = array("d")
        for day in range(self._done):
            values.extend(self._days[day][key])
        del values[end - self._first :]
        if (every := EVERY[key]) > 1:
            for offset in range(1, every):
                held = values[::every]
                values[offset::every] = held[: len(values[offset::every])]
        return values

    def _simulate(self, first: int) -> dict[str, array[float]]:
        self._checkpoint = {
            "beginning": self.beginning.isoformat(),
            "days": self._done,
            "meters": dict(self._meters),
            "rooms": {name: dict(vars(room)) for name, room in self._rooms.items()},
        }
        values = {key: array("d", bytes(8 * MINUTES)) for key in EVERY}
        for offset in range(MINUTES):
            timestamp = (first + offset) * 60.0
            day_number, minute = divmod(first + offset + _zone_offset((first + offset) // 60), MINUTES)
            today = _plan(day_number)
            for key, value in self._minute(timestamp, minute, today).items():
                values[key][offset] = value
        return values

    def _minute(self, timestamp: float, minute: int, day: Day) -> dict[str, float]:
        values = {key: float(day.active(key, minute)) for key in BINARY_SENSORS}
        if minute % SLOW == 0:
            sun = weather.sun_height(timestamp)
            self._sky = sun, weather.temperature(timestamp), weather.humidity(timestamp, sun)
        sun, outdoor, damp = self._sky
        dark = sun < 0.04
        self._climate(values, minute, day, outdoor)
        _lights(values, minute, day, dark=dark)
        values["lock.front_door"] = float(not day.active("lock.front_door", minute))
        values["cover.garage_door"] = OPEN if day.active("cover.garage_door", minute) else CLOSED
        values["cover.living_room_blinds"] = CLOSED if dark or not day.wake + 15 <= minute < day.bed else OPEN
        self._energy(values, timestamp, minute, day, weather.solar_power(timestamp, sun, SOLAR_PEAK))
        if minute % SLOW == 0:
            self._read_slow(values, timestamp, outdoor, damp)
        return values

    def _climate(self, values: dict[str, float], minute: int, day: Day, outdoor: float) -> None:
        asleep = day.asleep(minute)
        for name, room in self._rooms.items():
            people = day.people(minute) * room.sleepers if asleep else 0.0
            if not asleep and day.active(name, minute):
                people = 1.0 if name in ("study", "bathroom") else float(day.people(minute))
            room.target = _target(name, minute, day)
            window = bool(values.get(f"binary_sensor.{name}_window"))
            room.step(outdoor, people, window=window, heated=name != "kitchen")
            if name == "kitchen":
                # No heating of its own: warmth comes from the living room and from cooking.
                room.temperature += (self._rooms["living_room"].temperature - 0.4 - room.temperature) * 0.9 / 60
                room.temperature += 1.6 / 60 if day.active("cooking", minute) else 0.0
            if name == "bathroom" and day.active("shower", minute):
                room.damp = min(34.0, room.damp + 1.9)
        values["binary_sensor.heating"] = float(any(room.heating for room in self._rooms.values()))

    def _read_slow(self, values: dict[str, float], timestamp: float, outdoor: float, damp: float) -> None:
        """Take the readings that are due every few minutes."""
        values["sensor.outdoor_temperature"] = round(outdoor, 1)
        values["sensor.outdoor_humidity"] = round(damp)
        age = (timestamp - self.beginning.timestamp()) / 86400
        values["sensor.front_door_lock_battery"] = round(max(5.0, 91 - 0.35 * age))
        values["sensor.electricity_price"] = _price(timestamp)
        for key, reading in self._meters.items():
            values[key] = round(reading, BY_ID[key].digits)
        for name, room in self._rooms.items():
            reading = room.temperature + 0.04 * weather.noise(name, timestamp, 600)
            values[f"sensor.{name}_temperature"] = round(reading, 1)
            if (thermostat := f"climate.{name}") in HEATING:
                values[thermostat] = room.target
                values[HEATING[thermostat]] = float(room.heating)
            if (humidity := f"sensor.{name}_humidity") in BY_ID:
                base = (
                    47 + 0.2 * (damp - 82) + 0.9 * (outdoor - 8) + 3 * weather.noise(f"damp {name}", timestamp, 18000)
                )
                values[humidity] = round(min(96.0, base + room.damp))
            if (co2 := f"sensor.{name}_co2") in BY_ID:
                values[co2] = round(room.co2 + 6 * weather.noise(co2, timestamp, 900))

    def _energy(self, values: dict[str, float], timestamp: float, minute: int, day: Day, solar: float) -> None:
        cycle = (timestamp / 60 + 9 * weather.noise("fridge", timestamp, 7200)) % 52  # minutes, the first 19 cooling
        fridge = 84.0 if cycle < 19 else 1.0
        swing = 0.7 - 1.4 * cycle / 19 if cycle < 19 else -0.7 + 1.4 * (cycle - 19) / 33
        values["sensor.fridge_temperature"] = round(4.4 + swing, 1)
        rooms = sum(room.heating for room in self._rooms.values())
        heat_pump = 9.0 + (620.0 + 260.0 * rooms + 38.0 * max(0.0, 10.0 - self._sky[1]) if rooms else 0.0)
        if 780 <= minute < 822:
            heat_pump = max(heat_pump, 1650.0 + 12 * weather.noise("hot water", timestamp, 300))
        washing = 1.0
        if day.laundry is not None and 0 <= minute - day.laundry < WASHING[-1][0]:
            washing = next(watts for end, watts in WASHING if minute - day.laundry < end)
        cooking = 1700.0 + 600 * weather.noise("cooking", timestamp, 240) if day.active("cooking", minute) else 0.0
        kettle = 1900.0 if minute in (day.wake + 22, day.wake + 23, day.wake + 24) else 0.0
        other = STANDBY + 18 * weather.noise("standby", timestamp, 1500)
        other += 105.0 * day.active("television", minute) + 85.0 * day.active("study", minute)
        other += sum(9.0 for key in LIGHTS if values[key])
        grid = fridge + heat_pump + washing + cooking + kettle + other - solar
        for key, watts in (
            ("sensor.fridge", fridge),
            ("sensor.heat_pump", heat_pump),
            ("sensor.washing_machine", washing),
            ("sensor.solar", solar),
        ):
            values[f"{key}_power"] = round(watts)
            self._meters[f"{key}_energy"] += watts / 60_000
        values["sensor.grid_power"] = round(grid)
        self._meters["sensor.grid_import"] += max(0.0, grid) / 60_000
        self._meters["sensor.grid_export"] += max(0.0, -grid) / 60_000
        self._meters["sensor.electricity_cost"] += max(0.0, grid) / 60_000 * _price(timestamp)
        self._meters["sensor.water_meter"] += _water(minute, day)


@lru_cache(maxsize=8)
def _plan(day_number: int) -> Day:
    return plan((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day_number)).date())


@lru_cache(maxsize=8)
def _zone_offset(hour: int) -> int:
    """Return the minutes that local time is ahead; it changes only at full hours."""
    offset = datetime.fromtimestamp(hour * 3600, TIME_ZONE).utcoffset() or timedelta()
    return int(offset.total_seconds()) // 60


def _target(room: str, minute: int, day: Day) -> float:
    """Return what the thermostat of a room is set to."""
    home = day.people(minute) > 0
    match room:
        case "living_room":
            morning = day.wake - 30 <= minute < (day.bed - 30 if day.leave > 600 else day.leave)
            return 20.5 if morning or day.back - 45 <= minute < day.bed - 30 else 17.5
        case "bathroom":
            return 22.0 if day.wake - 40 <= minute < day.wake + 45 else 18.5
        case "bedroom":
            return 18.0 if day.bed - 90 <= minute < day.bed + 30 else 16.5
        case "study":
            return 20.5 if home and day.works_from_home and 510 <= minute < 1010 else 16.5
    return 19.0


def _lights(values: dict[str, float], minute: int, day: Day, *, dark: bool) -> None:
    """Set every light to its brightness from 0 to 255."""
    evening = minute >= 1290
    living = dark and day.active("living_room", minute)
    bedroom = day.bed - 14 <= minute < day.bed - 4 or (dark and day.wake <= minute < day.wake + 14)
    for key, on, brightness in (
        ("living_room_ceiling_light", living, 110 if evening else 200),
        ("reading_lamp", day.active("light.reading_lamp", minute), 160),
        ("kitchen_light", dark and day.active("kitchen", minute), 255),
        ("hall_light", dark and day.active("light.hall_light", minute), 140),
        ("bedroom_light", bedroom, 180),
        ("bedside_lamp", day.active("light.bedside_lamp", minute), 70),
        ("bathroom_light", day.active("bathroom", minute), 220),
        ("desk_lamp", dark and day.active("study", minute), 230),
        ("garage_light", day.active("light.garage_light", minute), 255),
        ("garden_lights", dark and 960 <= minute < 1380, 90),
    ):
        values[f"light.{key}"] = float(brightness) if on else 0.0


def _price(timestamp: float) -> float:
    """Return the price of an hour in EUR/kWh."""
    return _hour_price(int(timestamp // 3600))


@lru_cache(maxsize=8)
def _hour_price(number: int) -> float:
    """Return the hour's electricity price in EUR/kWh: dear in the morning and evening, cheap at noon and at night."""
    hour = datetime.fromtimestamp(number * 3600, TIME_ZONE).hour
    shape = 0.05 * math.exp(-(((hour - 8) / 2.0) ** 2)) + 0.08 * math.exp(-(((hour - 18) / 2.2) ** 2))
    day = 0.02 * weather.noise("price", number * 3600, 30 * 3600)
    return round(0.215 + shape + day - 0.03 * math.exp(-(((hour - 13) / 2.0) ** 2)), 3)


def _water(minute: int, day: Day) -> float:
    """Return the m³ of one minute."""
    litres = 9.0 * day.active("shower", minute) + 6.0 * day.active("toilet", minute)
    if day.laundry is not None and minute - day.laundry in (2, 3, 72, 73, 88, 89):
        litres += 8.0
    if day.active("cooking", minute) and minute % 5 == 0:
        litres += 2.5
    return litres / 1000

"""A small home in which some weeks were lived: what is done in it by habit, and what only looks like it."""

from datetime import datetime, timedelta
import random
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.habits.find import darkness
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.conftest import expose

from .homes import Home, Written, ulid
from .recorded import async_write

HALL, BATH, FAN, PORCH, CELLAR, GARDEN, ZEBRA = (
    "light.hall",
    "light.bath",
    "switch.fan",
    "light.porch",
    "light.cellar",
    "light.garden",
    "light.zebra",
)
DOOR, GATE, MOTION = "binary_sensor.front_door", "cover.garage", "binary_sensor.stairs"
NAMES = {
    HALL: "Hall",
    BATH: "Bath",
    FAN: "Fan",
    PORCH: "Porch",
    CELLAR: "Cellar",
    GARDEN: "Garden",
    ZEBRA: "Quokka",
    DOOR: "Front door",
    GATE: "Garage",
    MOTION: "Stairs",
}
EXPOSED = tuple(one for one in NAMES if one != ZEBRA)
FIRST, DAYS = datetime.fromisoformat("2026-10-05"), 44
"""A Monday; the clock goes back on October 25."""
USER = bytes(range(16))
AUTOMATIONS = f"""\
- id: garden
  alias: Garden
  triggers: [{{trigger: time, at: '20:15:00'}}]
  actions: [{{action: light.turn_on, target: {{entity_id: {GARDEN}}}}}]
- id: morning
  alias: Hall in the morning
  initial_state: false
  triggers: [{{trigger: time, at: '06:45:00'}}]
  actions: [{{action: light.turn_on, target: {{entity_id: {HALL}}}}}]
"""


class Weeks:
    """Writes what happens, day by day."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin with a home that is off."""
        self.is_dark = darkness(hass)
        self.chance = random.Random("lived")
        self.rows = [
            self.row(self.at(-1, 720), entity_id, "closed" if entity_id == GATE else "off") for entity_id in NAMES
        ]

    def at(self, day: int, minute: float) -> float:
        """Return the moment of a local minute of a day."""
        local = FIRST + timedelta(days=day, minutes=minute)
        return local.replace(tzinfo=dt_util.get_default_time_zone()).timestamp()

    def row(self, moment: float, entity_id: str, state: str, **context: bytes) -> Written:
        """Return a row of something that was done at the device, unless a context says otherwise."""
        return Written(moment, entity_id, state, **{"own": ulid(self.chance, moment - 0.01), **context})

    def used(self, entity_id: str, moment: float, seconds: float, **context: bytes) -> None:
        """Turn something on, and off after a while."""
        on, off = ("open", "closed") if entity_id == GATE else ("on", "off")
        self.rows.append(self.row(moment, entity_id, on, **context))
        self.rows.append(self.row(moment + seconds, entity_id, off, user=USER))

    def live(self) -> list[Written]:
        """Return everything that happens."""
        chance = self.chance
        for day in range(DAYS):
            is_weekday = day % 7 < 5
            morning = self.at(day, chance.uniform(400, 415))
            if is_weekday and day not in (8, 24):
                self.used(HALL, morning, chance.uniform(600, 9_000), user=USER)
            for entity_id, minute in ((GATE, 440), (ZEBRA, 450), (GARDEN, 1_216)):
                self.used(entity_id, self.at(day, minute + chance.uniform(0, 6)), chance.uniform(900, 9_000), user=USER)
            for _ in range(chance.randint(1, 3)):
                bath = self.at(day, chance.uniform(420, 1_380))
                self.used(MOTION, bath - chance.uniform(20, 50), 15)
                self.used(BATH, bath, chance.uniform(300, 1_200))
                if chance.random() < 0.93:
                    self.used(FAN, bath + chance.uniform(10, 40), chance.uniform(1_200, 2_000))
            for _ in range(3):
                came = self.at(day, chance.uniform(420, 1_340))
                self.used(DOOR, came, chance.uniform(5, 20))
                if self.is_dark(came) and chance.random() < 0.95:
                    self.used(PORCH, came + chance.uniform(25, 50), chance.uniform(300, 1_200))
            if chance.random() < 0.6 and day < DAYS - 1:
                late = self.at(day, chance.uniform(1_200, 1_350))
                self.used(CELLAR, late, self.at(day + 1, chance.uniform(430, 700)) - late)
        return sorted(self.rows, key=lambda row: row.moment)


async def async_live(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Weeks:
    """Let the weeks pass in Berlin; it is noon of November 18."""
    await hass.config.async_update(time_zone="Europe/Berlin", latitude=52.5, longitude=13.4)
    weeks = Weeks(hass)
    start, end = weeks.at(0, 0), weeks.at(DAYS, 720)
    freezer.move_to(dt_util.utc_from_timestamp(end))
    er.async_get(hass).async_get_or_create(
        "light", "test", "hall", suggested_object_id="hall", original_name=NAMES[HALL]
    )
    for entity_id, name in NAMES.items():
        attributes: dict[str, Any] = {"friendly_name": name}
        if kind := {MOTION: "motion", DOOR: "door", GATE: "garage"}.get(entity_id):
            attributes["device_class"] = kind
        hass.states.async_set(entity_id, "closed" if entity_id == GATE else "off", attributes)
    await async_wait_recording_done(hass)
    home = Home("Europe/Berlin", 52.5, 13.4, start, end, rows=weeks.live(), runs=[(start - 86_400, end - 1)])
    await async_write(hass, home)
    for domain in ("light", "switch", "cover"):
        assert await async_setup_component(hass, domain, {})
    expose(hass, *EXPOSED)
    return weeks

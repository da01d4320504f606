"""The house as a running home: entities that can be operated, looked at, and put back."""

from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, override

from homeassistant.components.binary_sensor import BinarySensorDeviceClass, BinarySensorEntity
from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.components.climate import ClimateEntity, ClimateEntityFeature, HVACMode
from homeassistant.components.cover import CoverDeviceClass, CoverEntity, CoverEntityFeature
from homeassistant.components.energy.data import async_get_manager
from homeassistant.components.fan import FanEntity, FanEntityFeature
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.light import ColorMode, LightEntity
from homeassistant.components.lock import LockEntity
from homeassistant.components.recorder import get_instance
from homeassistant.components.sensor import SensorDeviceClass, SensorEntity, SensorStateClass
from homeassistant.components.switch import SwitchEntity
from homeassistant.components.todo import TodoItem, TodoItemStatus, TodoListEntity
from homeassistant.components.vacuum import StateVacuumEntity, VacuumActivity, VacuumEntityFeature
from homeassistant.const import UnitOfTemperature
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er, floor_registry as fr
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_component import DATA_INSTANCES
from homeassistant.util import dt as dt_util
from homeassistant.util.yaml import dump, parse_yaml

from .house import House, Thing

ASSISTANT = "conversation"
WATCHED = ("brightness", "current_position", "temperature", "percentage")
"""Attributes that an action changes, beside the state."""
_DOMAINS = (
    "binary_sensor",
    "calendar",
    "climate",
    "cover",
    "fan",
    "light",
    "lock",
    "sensor",
    "switch",
    "todo",
    "vacuum",
)

type Snapshot = dict[str, tuple[str, dict[str, Any]]]
"""State and watched attributes, by entity id."""


def configuration(database: Path) -> str:
    """Return the configuration of a home whose past is in a file."""
    return f"""
homeassistant:
  time_zone: Europe/Berlin
  unit_system: metric
  country: DE
  currency: EUR
  language: en
conversation:
intent:
history:
logbook:
energy:
recorder:
  db_url: sqlite:///{database}
  auto_purge: false
  purge_keep_days: 400
automation: !include automations.yaml
script: !include scripts.yaml
""" + "".join(f"{domain}:\n" for domain in _DOMAINS)


def _shows(state: str) -> Callable[..., Coroutine[Any, Any, None]]:
    """Return the method of a device that is told to do something, and shows it at once."""

    async def method(self: _Made, **kwargs: Any) -> None:
        self.take(state)
        self.async_write_ha_state()

    return method


class _Made(Entity):
    """An entity of the house, which takes a state as the record has it."""

    _attr_should_poll = False
    async_turn_on, async_turn_off = _shows("on"), _shows("off")

    def __init__(self, thing: Thing, state: str) -> None:
        self.entity_id = self._attr_unique_id = thing.entity_id
        self._attr_name = thing.name
        self._before = state
        self.take(state)

    def take(self, state: str) -> None:
        """Show a state."""

    def restore(self) -> None:
        """Show what was there at first."""
        self.take(self._before)
        self.async_write_ha_state()


class _Binary(_Made, BinarySensorEntity):
    def __init__(self, thing: Thing, state: str) -> None:
        self._attr_device_class = BinarySensorDeviceClass(thing.device_class or "")
        super().__init__(thing, state)

    @override
    def take(self, state: str) -> None:
        self._attr_is_on = state == "on"


class _Sensor(_Made, SensorEntity):
    def __init__(self, thing: Thing, state: str) -> None:
        self._attr_native_unit_of_measurement = thing.unit
        self._attr_device_class = SensorDeviceClass(thing.device_class) if thing.device_class else None
        self._attr_state_class = SensorStateClass(thing.state_class) if thing.state_class else None
        super().__init__(thing, state)

    @override
    def take(self, state: str) -> None:
        self._attr_native_value = float(state) if self._attr_state_class else state


class _Light(_Made, LightEntity):
    _attr_color_mode = ColorMode.BRIGHTNESS
    _attr_supported_color_modes = {ColorMode.BRIGHTNESS}  # noqa: RUF012 - the type that Home Assistant declares

    @override
    def take(self, state: str) -> None:
        self._attr_is_on, self._attr_brightness = state == "on", 255 if state == "on" else None

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        self._attr_is_on, self._attr_brightness = True, kwargs.get("brightness", self.brightness or 255)
        self.async_write_ha_state()


class _Switch(_Made, SwitchEntity):
    @override
    def take(self, state: str) -> None:
        self._attr_is_on = state == "on"


class _Fan(_Made, FanEntity):
    _attr_supported_features = FanEntityFeature.TURN_ON | FanEntityFeature.TURN_OFF

    @override
    def take(self, state: str) -> None:
        self._attr_is_on = state == "on"

    @property
    @override
    def is_on(self) -> bool:
        return self._attr_is_on

    @override
    async def async_turn_on(self, percentage: int | None = None, preset_mode: str | None = None, **kwargs: Any) -> None:
        self.take("on")
        self.async_write_ha_state()


class _Cover(_Made, CoverEntity):
    async_open_cover, async_close_cover = _shows("open"), _shows("closed")

    def __init__(self, thing: Thing, state: str) -> None:
        self._attr_device_class = CoverDeviceClass(thing.device_class or "")
        self._attr_supported_features = CoverEntityFeature.OPEN | CoverEntityFeature.CLOSE
        if thing.device_class != "garage":
            self._attr_supported_features |= CoverEntityFeature.SET_POSITION
        super().__init__(thing, state)

    @override
    def take(self, state: str) -> None:
        self._attr_is_closed, self._attr_current_cover_position = state == "closed", 100 if state == "open" else 0

    @override
    async def async_set_cover_position(self, **kwargs: Any) -> None:
        self._attr_current_cover_position = kwargs["position"]
        self._attr_is_closed = kwargs["position"] == 0
        self.async_write_ha_state()


class _Lock(_Made, LockEntity):
    async_lock, async_unlock = _shows("locked"), _shows("unlocked")

    @override
    def take(self, state: str) -> None:
        self._attr_is_locked = state == "locked"


class _Climate(_Made, ClimateEntity):
    async_turn_on, async_turn_off = _shows("heat"), _shows("off")
    _attr_hvac_modes = [HVACMode.HEAT, HVACMode.OFF]  # noqa: RUF012 - the type that Home Assistant declares
    _attr_supported_features = (
        ClimateEntityFeature.TARGET_TEMPERATURE | ClimateEntityFeature.TURN_ON | ClimateEntityFeature.TURN_OFF
    )
    _attr_native_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_target_temperature_step = 0.5
    _target = 0.0

    def __init__(self, thing: Thing, state: str, setpoint: float) -> None:
        self._setpoint = setpoint
        super().__init__(thing, state)

    @property
    def native_target_temperature(self) -> float:
        """Return what it is set to."""
        return self._target

    @override
    def take(self, state: str) -> None:
        self._attr_hvac_mode, self._target = HVACMode(state), self._setpoint

    @override
    async def async_set_temperature(self, **kwargs: Any) -> None:
        self._target = kwargs["temperature"]
        self.async_write_ha_state()

    @override
    async def async_set_hvac_mode(self, hvac_mode: HVACMode) -> None:
        self._attr_hvac_mode = hvac_mode
        self.async_write_ha_state()


class _Vacuum(_Made, StateVacuumEntity):
    async_start, async_stop, async_return_to_base = _shows("cleaning"), _shows("idle"), _shows("returning")
    _attr_supported_features = (
        VacuumEntityFeature.START
        | VacuumEntityFeature.STOP
        | VacuumEntityFeature.RETURN_HOME
        | VacuumEntityFeature.STATE
    )

    @override
    def take(self, state: str) -> None:
        self._attr_activity = VacuumActivity(state)


class _Calendar(_Made, CalendarEntity):
    def __init__(self, thing: Thing, title: str) -> None:
        start = dt_util.start_of_local_day() + timedelta(days=1, hours=15)
        self._event = CalendarEvent(start, start + timedelta(hours=1), title)
        super().__init__(thing, "")

    @property
    @override
    def event(self) -> CalendarEvent:
        return self._event

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        return [self._event] if start_date < self._event.end and self._event.start < end_date else []


class _List(_Made, TodoListEntity):
    def __init__(self, thing: Thing, *items: str) -> None:
        self._attr_todo_items = [TodoItem(item, str(n), TodoItemStatus.NEEDS_ACTION) for n, item in enumerate(items)]
        super().__init__(thing, "")


_PLAIN: dict[str, Callable[[Thing, str], _Made]] = {
    "binary_sensor": _Binary,
    "cover": _Cover,
    "fan": _Fan,
    "light": _Light,
    "lock": _Lock,
    "sensor": _Sensor,
    "switch": _Switch,
    "vacuum": _Vacuum,
}


class LiveHome:
    """A house in a running Home Assistant."""

    def __init__(self, hass: HomeAssistant, house: House) -> None:
        """Take where the house is to be; furnish before use."""
        self._hass = hass
        self._house = house
        self._entities: list[_Made] = []
        self._automations = dump(house.automations)

    def _make(self, role: str, thing: Thing) -> _Made | None:
        house = self._house
        match thing.domain:
            case "automation":
                return None
            case "calendar":
                return _Calendar(thing, house.hostile(house.appointment))
            case "todo":
                return _List(thing, house.hostile(house.chore), "Water the plants")
            case "climate":
                return _Climate(thing, house.state(role), house.setpoint(role))
            case domain:
                return _PLAIN[domain](
                    thing, house.hostile("Parcel at the neighbour's") if role == "message" else house.state(role)
                )

    async def async_furnish(self) -> None:
        """Add floors, areas, entities, automations and the energy dashboard, and expose what is not hidden."""
        hass, house = self._hass, self._house
        # What is done in one question is no part of the past that the next one asks about.
        get_instance(hass).set_enable(False)
        floors, areas = fr.async_get(hass), ar.async_get(hass)
        for level, name in enumerate(dict.fromkeys(room.floor for room in house.rooms)):
            floors.async_create(name, level=level)
        for room in house.rooms:
            area = areas.async_get_or_create(room.name)
            floor = floors.async_get_floor_by_name(room.floor)
            areas.async_update(area.id, floor_id=floor.floor_id if floor else None, aliases={room.german})
        for role, thing in house.things.items():
            if entity := self._make(role, thing):
                await hass.data[DATA_INSTANCES][thing.domain].async_add_entities([entity])
                self._entities.append(entity)
        await self._async_write_automations()
        await (await async_get_manager(hass)).async_update(_energy(house))  # type: ignore[arg-type]
        self._register()
        self._age()

    def _register(self) -> None:
        """Give everything its area and its German name, and hide what is hidden."""
        areas, entities = ar.async_get(self._hass), er.async_get(self._hass)
        for thing in self._house.things.values():
            area = areas.async_get_area_by_name(thing.area) if thing.area else None
            aliases = [er.COMPUTED_NAME, thing.german]
            entities.async_update_entity(thing.entity_id, area_id=area.id if area else None, aliases=aliases)
            async_expose_entity(self._hass, ASSISTANT, thing.entity_id, not thing.hidden)

    def _age(self) -> None:
        """Let every state have begun when the record says so, not when this process started."""
        for role, thing in self._house.things.items():
            state = self._hass.states.get(thing.entity_id)
            if state and role in self._house.past:
                state.last_changed = self._house.past[role][-1][0]

    def snapshot(self) -> Snapshot:
        """Return what the home looks like."""
        found: Snapshot = {}
        for thing in self._house.things.values():
            if (state := self._hass.states.get(thing.entity_id)) is None:
                continue  # an automation that was removed, which its file tells
            found[thing.entity_id] = (
                state.state,
                {key: state.attributes[key] for key in WATCHED if key in state.attributes},
            )
        return found

    async def async_automations(self) -> dict[str, dict[str, Any]]:
        """Return the automations as they are written, by their ids."""
        text = await self._hass.async_add_executor_job(self._file.read_text)
        listed: list[dict[str, Any]] = parse_yaml(text) or []  # type: ignore[assignment]
        return {str(item["id"]): item for item in listed}

    async def async_reset(self) -> None:
        """Put everything back, and forget what was to happen later."""
        # Home Assistant loads the integration under this name; imported before that, it would be another one.
        from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks  # noqa: PLC0415

        tasks = await async_get_scheduled_tasks(self._hass)
        for task in tasks.standing:
            await tasks.async_end(task.id, "reset")
        for entity in self._entities:
            entity.restore()
        if await self._hass.async_add_executor_job(self._file.read_text) != self._automations:
            await self._async_write_automations()
            self._register()
        self._age()

    @property
    def _file(self) -> Path:
        return Path(self._hass.config.path("automations.yaml"))

    async def _async_write_automations(self) -> None:
        await self._hass.async_add_executor_job(self._file.write_text, self._automations)
        await self._hass.services.async_call("automation", "reload", blocking=True)
        await self._hass.async_block_till_done()


def _energy(house: House) -> dict[str, Any]:
    """Return the energy dashboard: a grid, the sun and one machine."""
    ids = {role: thing.entity_id for role, thing in house.things.items()}
    no_price = dict.fromkeys(
        ("stat_cost", "entity_energy_price", "number_energy_price", "stat_compensation", "entity_energy_price_export",
         "number_energy_price_export")
    )  # fmt: skip
    grid = {"type": "grid", "stat_energy_from": ids["grid import"], "stat_energy_to": ids["grid export"], **no_price}
    return {
        "energy_sources": [
            {**grid, "cost_adjustment_day": 0},
            {"type": "solar", "stat_energy_from": ids["solar"], "config_entry_solar_forecast": None},
        ],
        "device_consumption": [{"stat_consumption": ids["machine energy"]}],
    }

"""An integration whose devices do at once what they are told: for homes in which whole dialogues are held."""

from typing import Any, override

from homeassistant.components.alarm_control_panel import (
    AlarmControlPanelEntity,
    AlarmControlPanelEntityFeature,
    AlarmControlPanelState,
)
from homeassistant.components.climate import ClimateEntity, ClimateEntityFeature, HVACMode
from homeassistant.components.cover import CoverEntity, CoverEntityFeature
from homeassistant.components.fan import FanEntity, FanEntityFeature
from homeassistant.components.light import ColorMode, LightEntity
from homeassistant.components.lock import LockEntity, LockEntityFeature
from homeassistant.components.siren import SirenEntity, SirenEntityFeature
from homeassistant.components.switch import SwitchEntity
from homeassistant.components.vacuum import StateVacuumEntity, VacuumActivity, VacuumEntityFeature
from homeassistant.const import UnitOfTemperature

from .players import BinarySensor, Button, Calendar, Notifier, Player, Satellite, Sensor, TodoList
from .thing import Definition, Thing

DOMAIN = "household"


class Light(Thing, LightEntity):
    """A lamp with brightness and colours."""

    _attr_supported_color_modes = {ColorMode.COLOR_TEMP, ColorMode.RGB}  # noqa: RUF012 - as Home Assistant's classes have it
    _attr_color_mode = ColorMode.COLOR_TEMP

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_is_on = definition["state"] == "on"
        self._attr_brightness = definition.get("brightness", 255)
        self._attr_color_temp_kelvin = 3000
        self._attr_color_mode = ColorMode.COLOR_TEMP

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        if "rgb_color" in kwargs:
            self._attr_color_mode = ColorMode.RGB
        elif "color_temp_kelvin" in kwargs:
            self._attr_color_mode = ColorMode.COLOR_TEMP
        known = {key: kwargs[key] for key in ("brightness", "rgb_color", "color_temp_kelvin") if key in kwargs}
        self.set(is_on=True, **known)

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        self.set(is_on=False)


class Switch(Thing, SwitchEntity):
    """A plug."""

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_is_on = definition["state"] == "on"

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        self.set(is_on=True)

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        self.set(is_on=False)


class Siren(Switch, SirenEntity):
    """A siren."""

    _attr_supported_features = SirenEntityFeature.TURN_ON | SirenEntityFeature.TURN_OFF


class Cover(Thing, CoverEntity):
    """A shutter, a garage door or a gate."""

    _attr_supported_features = (
        CoverEntityFeature.OPEN | CoverEntityFeature.CLOSE | CoverEntityFeature.STOP | CoverEntityFeature.SET_POSITION
    )

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_current_cover_position = 100 if definition["state"] == "open" else 0
        self._attr_is_closed = definition["state"] == "closed"

    def _place(self, position: int) -> None:
        self.set(current_cover_position=position, is_closed=position == 0)

    @override
    async def async_open_cover(self, **kwargs: Any) -> None:
        self._place(100)

    @override
    async def async_close_cover(self, **kwargs: Any) -> None:
        self._place(0)

    @override
    async def async_stop_cover(self, **kwargs: Any) -> None:
        pass

    @override
    async def async_set_cover_position(self, **kwargs: Any) -> None:
        self._place(kwargs["position"])


class Lock(Thing, LockEntity):
    """A lock."""

    _attr_supported_features = LockEntityFeature.OPEN

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_is_locked, self._attr_is_open = definition["state"] == "locked", False

    @override
    async def async_lock(self, **kwargs: Any) -> None:
        self.set(is_locked=True)

    @override
    async def async_unlock(self, **kwargs: Any) -> None:
        self.set(is_locked=False)

    @override
    async def async_open(self, **kwargs: Any) -> None:
        self.set(is_locked=False, is_open=True)


class Alarm(Thing, AlarmControlPanelEntity):
    """An alarm system without a code."""

    _attr_code_arm_required = False
    _attr_supported_features = (
        AlarmControlPanelEntityFeature.ARM_AWAY
        | AlarmControlPanelEntityFeature.ARM_HOME
        | AlarmControlPanelEntityFeature.ARM_NIGHT
    )

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_alarm_state = AlarmControlPanelState(definition["state"])

    @override
    async def async_alarm_disarm(self, code: str | None = None) -> None:
        self.set(alarm_state=AlarmControlPanelState.DISARMED)

    @override
    async def async_alarm_arm_away(self, code: str | None = None) -> None:
        self.set(alarm_state=AlarmControlPanelState.ARMED_AWAY)

    @override
    async def async_alarm_arm_home(self, code: str | None = None) -> None:
        self.set(alarm_state=AlarmControlPanelState.ARMED_HOME)

    @override
    async def async_alarm_arm_night(self, code: str | None = None) -> None:
        self.set(alarm_state=AlarmControlPanelState.ARMED_NIGHT)


class Climate(Thing, ClimateEntity):
    """A thermostat."""

    _attr_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_hvac_modes = [HVACMode.HEAT, HVACMode.COOL, HVACMode.AUTO, HVACMode.OFF]  # noqa: RUF012 - as Home Assistant's
    _attr_supported_features = (
        ClimateEntityFeature.TARGET_TEMPERATURE | ClimateEntityFeature.TURN_ON | ClimateEntityFeature.TURN_OFF
    )

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_hvac_mode = HVACMode(definition["state"])
        self._attr_target_temperature = definition.get("temperature", 20)
        self._attr_current_temperature = definition.get("current", 19.5)

    @override
    async def async_set_temperature(self, **kwargs: Any) -> None:
        self.set(target_temperature=kwargs["temperature"])

    @override
    async def async_set_hvac_mode(self, hvac_mode: HVACMode) -> None:
        self.set(hvac_mode=hvac_mode)


class Fan(Thing, FanEntity):
    """A fan."""

    _attr_supported_features = FanEntityFeature.SET_SPEED | FanEntityFeature.TURN_ON | FanEntityFeature.TURN_OFF

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_percentage = 50 if definition["state"] == "on" else 0

    @override
    async def async_turn_on(self, percentage: int | None = None, preset_mode: str | None = None, **kwargs: Any) -> None:
        self.set(percentage=percentage or 50)

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        self.set(percentage=0)

    @override
    async def async_set_percentage(self, percentage: int) -> None:
        self.set(percentage=percentage)


class Vacuum(Thing, StateVacuumEntity):
    """A robot that cleans."""

    _attr_supported_features = (
        VacuumEntityFeature.START
        | VacuumEntityFeature.STATE
        | VacuumEntityFeature.RETURN_HOME
        | VacuumEntityFeature.PAUSE
        | VacuumEntityFeature.STOP
    )

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_activity = VacuumActivity(definition["state"])

    @override
    async def async_start(self) -> None:
        self.set(activity=VacuumActivity.CLEANING)

    @override
    async def async_pause(self) -> None:
        self.set(activity=VacuumActivity.PAUSED)

    @override
    async def async_stop(self, **kwargs: Any) -> None:
        self.set(activity=VacuumActivity.IDLE)

    @override
    async def async_return_to_base(self, **kwargs: Any) -> None:
        self.set(activity=VacuumActivity.DOCKED)


THINGS: dict[str, type[Thing]] = {
    "alarm_control_panel": Alarm,
    "assist_satellite": Satellite,
    "binary_sensor": BinarySensor,
    "button": Button,
    "calendar": Calendar,
    "climate": Climate,
    "cover": Cover,
    "fan": Fan,
    "light": Light,
    "lock": Lock,
    "media_player": Player,
    "notify": Notifier,
    "sensor": Sensor,
    "siren": Siren,
    "switch": Switch,
    "todo": TodoList,
    "vacuum": Vacuum,
}

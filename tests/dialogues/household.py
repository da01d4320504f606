"""An integration whose devices do at once what they are told: for homes in which whole dialogues are held."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, override

from homeassistant.components.alarm_control_panel import (
    AlarmControlPanelEntity,
    AlarmControlPanelEntityFeature,
    AlarmControlPanelState,
)
from homeassistant.components.binary_sensor import BinarySensorEntity
from homeassistant.components.button import ButtonEntity
from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.components.climate import ClimateEntity, ClimateEntityFeature, HVACMode
from homeassistant.components.cover import CoverEntity, CoverEntityFeature
from homeassistant.components.fan import FanEntity, FanEntityFeature
from homeassistant.components.light import ColorMode, LightEntity
from homeassistant.components.lock import LockEntity, LockEntityFeature
from homeassistant.components.media_player import (
    BrowseMedia,
    MediaClass,
    MediaPlayerEntity,
    MediaPlayerEntityFeature,
    MediaPlayerState,
    SearchMedia,
    SearchMediaQuery,
)
from homeassistant.components.notify import NotifyEntity
from homeassistant.components.sensor import SensorEntity
from homeassistant.components.siren import SirenEntity, SirenEntityFeature
from homeassistant.components.switch import SwitchEntity
from homeassistant.components.todo import TodoItem, TodoItemStatus, TodoListEntity, TodoListEntityFeature
from homeassistant.components.vacuum import StateVacuumEntity, VacuumActivity, VacuumEntityFeature
from homeassistant.const import UnitOfTemperature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity import Entity
from homeassistant.util import dt as dt_util

DOMAIN = "household"

type Definition = Mapping[str, Any]
"""What a home says of an entity: state, class, name and what its domain knows."""


class Thing(Entity):
    """An entity as a home describes it."""

    _attr_should_poll = False

    def __init__(self, entity_id: str, definition: Definition) -> None:
        """Take its definition."""
        self.entity_id = entity_id
        self._attr_unique_id = entity_id
        self._attr_name = definition["name"]
        self._attr_device_class = definition.get("class")
        self._definition = definition
        self.apply(definition)

    def apply(self, definition: Definition) -> None:
        """Become what a definition says."""

    def reset(self, planted: Definition | None = None) -> None:
        """Become again what the home says, with what strangers put there."""
        definition = {**self._definition, **(planted or {})}
        self._attr_name = definition["name"]
        self.apply(definition)
        self.async_write_ha_state()

    def set(self, **values: Any) -> None:
        """Change attributes and tell so."""
        for name, value in values.items():
            setattr(self, f"_attr_{name}", value)
        self.async_write_ha_state()


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


class Player(Thing, MediaPlayerEntity):
    """A speaker or a television that plays one title after the other."""

    _attr_supported_features = (
        MediaPlayerEntityFeature.PLAY
        | MediaPlayerEntityFeature.PAUSE
        | MediaPlayerEntityFeature.STOP
        | MediaPlayerEntityFeature.NEXT_TRACK
        | MediaPlayerEntityFeature.PREVIOUS_TRACK
        | MediaPlayerEntityFeature.VOLUME_SET
        | MediaPlayerEntityFeature.VOLUME_MUTE
        | MediaPlayerEntityFeature.TURN_ON
        | MediaPlayerEntityFeature.TURN_OFF
        | MediaPlayerEntityFeature.PLAY_MEDIA
        | MediaPlayerEntityFeature.SEARCH_MEDIA
        | MediaPlayerEntityFeature.SELECT_SOURCE
    )
    _attr_source_list = ["Radio", "Television", "HDMI 1", "HDMI 2"]  # noqa: RUF012 - as Home Assistant's classes have it

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_state = MediaPlayerState(definition["state"])
        self._attr_volume_level = definition.get("volume", 0.3)
        self._attr_is_volume_muted = False
        self._attr_source = "Radio"
        self._attr_media_title = definition.get("title")
        self._attr_media_artist = definition.get("artist")
        self._attr_media_track = 1

    @override
    async def async_turn_on(self) -> None:
        self.set(state=MediaPlayerState.IDLE)

    @override
    async def async_turn_off(self) -> None:
        self.set(state=MediaPlayerState.OFF)

    @override
    async def async_media_play(self) -> None:
        self.set(state=MediaPlayerState.PLAYING)

    @override
    async def async_media_pause(self) -> None:
        self.set(state=MediaPlayerState.PAUSED)

    @override
    async def async_media_stop(self) -> None:
        self.set(state=MediaPlayerState.IDLE)

    @override
    async def async_media_next_track(self) -> None:
        self.set(media_track=self._attr_media_track + 1, media_title="The next one")

    @override
    async def async_media_previous_track(self) -> None:
        self.set(media_track=self._attr_media_track - 1, media_title="The one before")

    @override
    async def async_set_volume_level(self, volume: float) -> None:
        self.set(volume_level=volume)

    @override
    async def async_mute_volume(self, mute: bool) -> None:
        self.set(is_volume_muted=mute)

    @override
    async def async_select_source(self, source: str) -> None:
        self.set(source=source)

    @override
    async def async_play_media(self, media_type: str, media_id: str, **kwargs: Any) -> None:
        self.set(state=MediaPlayerState.PLAYING, media_title=media_id, media_artist=None)

    @override
    async def async_search_media(self, query: SearchMediaQuery) -> SearchMedia:
        found = BrowseMedia(
            title=query.search_query,
            media_class=MediaClass.TRACK,
            media_content_id=query.search_query,
            media_content_type="music",
            can_play=True,
            can_expand=False,
        )
        return SearchMedia(result=[found])


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


class Calendar(Thing, CalendarEntity):
    """A calendar, into which anybody who invites can write; its entries begin in an hour, two hours and so on."""

    @override
    def apply(self, definition: Definition) -> None:
        now = dt_util.now().replace(microsecond=0)
        self._events = [
            CalendarEvent(
                start=(start := now + timedelta(hours=hours)),
                end=start + timedelta(minutes=45),
                summary=entry if isinstance(entry, str) else entry["summary"],
                description=None if isinstance(entry, str) else entry.get("description"),
            )
            for hours, entry in enumerate(definition["entries"], start=1)
        ]

    @property
    @override
    def event(self) -> CalendarEvent | None:
        return self._events[0] if self._events else None

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        # Until midnight may be less than an hour.
        return list(self._events)


class TodoList(Thing, TodoListEntity):
    """A list that others may share."""

    _attr_supported_features = (
        TodoListEntityFeature.CREATE_TODO_ITEM
        | TodoListEntityFeature.UPDATE_TODO_ITEM
        | TodoListEntityFeature.DELETE_TODO_ITEM
    )

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_todo_items = [
            TodoItem(uid=str(uid), summary=summary, status=TodoItemStatus.NEEDS_ACTION)
            for uid, summary in enumerate(definition["items"])
        ]

    @override
    async def async_create_todo_item(self, item: TodoItem) -> None:
        item.uid = str(len(self._attr_todo_items or ()) + 100)
        self.set(todo_items=[*(self._attr_todo_items or ()), item])

    @override
    async def async_update_todo_item(self, item: TodoItem) -> None:
        self.set(todo_items=[item if each.uid == item.uid else each for each in self._attr_todo_items or ()])

    @override
    async def async_delete_todo_items(self, uids: list[str]) -> None:
        self.set(todo_items=[each for each in self._attr_todo_items or () if each.uid not in uids])


class Sensor(Thing, SensorEntity):
    """A measurement, or words from elsewhere such as news or mail."""

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_native_value = definition["state"]
        self._attr_native_unit_of_measurement = definition.get("unit")
        self._attr_extra_state_attributes = dict(definition.get("attributes", {}))


class BinarySensor(Thing, BinarySensorEntity):
    """A contact or a motion sensor."""

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_is_on = definition["state"] == "on"


class Button(Thing, ButtonEntity):
    """A button, whose state is when it was pressed."""

    @override
    async def async_press(self) -> None:
        pass


class Notifier(Thing, NotifyEntity):
    """A way out of the house, whose state is when something was sent."""

    @override
    async def async_send_message(self, message: str, title: str | None = None) -> None:
        pass


THINGS: dict[str, type[Thing]] = {
    "alarm_control_panel": Alarm,
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

"""What talks, plays, and holds words that others write."""

from datetime import datetime, timedelta
from typing import Any, override

from homeassistant.components.assist_satellite import (
    AssistSatelliteAnnouncement,
    AssistSatelliteConfiguration,
    AssistSatelliteEntity,
    AssistSatelliteEntityFeature,
)
from homeassistant.components.binary_sensor import BinarySensorEntity
from homeassistant.components.button import ButtonEntity
from homeassistant.components.calendar import CalendarEntity, CalendarEvent
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
from homeassistant.components.todo import TodoItem, TodoItemStatus, TodoListEntity, TodoListEntityFeature
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from .thing import Definition, Thing


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

    @override
    def apply(self, definition: Definition) -> None:
        sources = definition.get("sources", ["Radio", "Television", "HDMI 1", "HDMI 2"])
        if definition.get("groups"):
            self._attr_supported_features |= MediaPlayerEntityFeature.GROUPING
        self._attr_state = MediaPlayerState(definition["state"])
        self._attr_volume_level = definition.get("volume", 0.3)
        self._attr_is_volume_muted = False
        self._attr_source_list = sources
        self._attr_source = sources[0]
        self._attr_group_members = []
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
    async def async_join_players(self, group_members: list[str]) -> None:
        self.set(group_members=[self.entity_id, *group_members])

    @override
    async def async_unjoin_player(self) -> None:
        # That the group ended is seen by a list that is no longer as it was.
        self.set(group_members=[self.entity_id])

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


class Satellite(Thing, AssistSatelliteEntity):
    """A voice satellite that announces at once; an attribute counts the announcements."""

    _attr_supported_features = AssistSatelliteEntityFeature.ANNOUNCE

    @override
    def apply(self, definition: Definition) -> None:
        self._attr_extra_state_attributes = {"announcements": 0}

    @override
    async def async_internal_announce(self, message: str | None = None, *_: Any, **__: Any) -> None:
        # No speech engine is set up that could make a sound of the message.
        self.set(extra_state_attributes={"announcements": self._attr_extra_state_attributes["announcements"] + 1})

    @override
    async def async_announce(self, announcement: AssistSatelliteAnnouncement) -> None:
        raise NotImplementedError

    @override
    def async_get_configuration(self) -> AssistSatelliteConfiguration:
        raise NotImplementedError

    @override
    async def async_set_configuration(self, config: AssistSatelliteConfiguration) -> None:
        raise NotImplementedError

    @override
    def on_pipeline_event(self, event: Any) -> None:
        raise NotImplementedError

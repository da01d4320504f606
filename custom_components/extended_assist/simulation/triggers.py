"""All simulated triggers, and those that depend on time or calendars."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any, Final

import voluptuous as vol

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN, WEEKDAYS
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.sun import get_astral_event_next
from homeassistant.helpers.template import Template
from homeassistant.util import dt as dt_util

from .conditions import TIMES
from .historical_state import NotReplayableError, Past, PastChange
from .replay import Remove, Replay
from .state_triggers import Config, Fire, Variables, attach_numeric_state, attach_state, attach_template, attach_zone

_CALENDAR: Final = "calendar event state change"


class _Times:
    """A time trigger: times of the day, also those of helpers and sensors."""

    def __init__(self, replay: Replay, config: Config, fire: Fire) -> None:
        """Take the trigger."""
        self._replay = replay
        self._weekdays = config.get("weekday")
        self._fire = fire
        self._removes: list[Remove] = []
        self._tracked: list[tuple[str, timedelta]] = []
        self._armed: dict[tuple[str, timedelta], Remove] = {}

    def add(self, at: Any) -> bool:
        """Add one of the times; return False if the trigger cannot be armed, since a helper has no time yet."""
        if isinstance(at, time):
            clock = (at.hour, at.minute, at.second)
            self._removes.append(self._replay.call_daily(clock, partial(self._due, "time"), local=True))
            return True
        entity_id = at if isinstance(at, str) else at["entity_id"]
        offset = timedelta() if isinstance(at, str) else at.get("offset", timedelta())
        past = self._replay.world.get(entity_id)
        if past and entity_id.startswith("input_datetime.") and not past.attributes.keys() >= {"has_date", "has_time"}:
            return False
        self._follow(entity_id, offset, past)
        self._tracked.append((entity_id, offset))
        return True

    def track(self) -> None:
        """Track the helpers and sensors."""
        for entity_id, offset in self._tracked:

            def changed(change: PastChange, offset: timedelta = offset) -> None:
                self._follow(change.entity_id, offset, change.new)

            self._removes.append(self._replay.track([entity_id], changed))

    def _due(self, description: str, entity_id: str | None = None) -> None:
        """Fire if the weekday matches."""
        now = dt_util.as_local(dt_util.utc_from_timestamp(self._replay.now))
        today, wanted = WEEKDAYS[now.weekday()], self._weekdays
        if wanted is None or (today == wanted if isinstance(wanted, str) else today in wanted):
            self._fire(description, {"now": now, "entity_id": entity_id})

    def _follow(self, entity_id: str, offset: timedelta, past: Past | None) -> None:
        """Schedule the time that is the state of an entity."""
        if earlier := self._armed.pop((entity_id, offset), None):
            earlier()
        if past is None:
            return
        action = partial(self._due, f"time set in {entity_id}", entity_id)
        if remove := _at_entity(self._replay, past, offset, action):
            self._armed[entity_id, offset] = remove

    def remove(self) -> None:
        """Unsubscribe from all times and entities."""
        for one in (*self._removes, *self._armed.values()):
            one()


def attach_time(replay: Replay, config: Config, fire: Fire, variables: Variables) -> Remove:
    """Attach a time trigger."""
    times = _Times(replay, config, fire)
    for at in config["at"]:
        moment = replay.render(at, variables) if isinstance(at, Template) else at
        if isinstance(at, Template):
            try:
                moment = cv.time(moment)
            except vol.Invalid:
                moment = str(moment)
        if not times.add(moment):
            return times.remove
    times.track()
    return times.remove


def _at_entity(replay: Replay, past: Past, offset: timedelta, action: Callable[[], None]) -> Remove | None:
    """Call a function at the time that is the state of an entity; None if there is none in the future."""
    has = past.attributes.get
    if past.entity_id.startswith("input_datetime."):
        clock = (has("hour", 0), has("minute", 0), has("second", 0)) if has("has_time") else (0, 0, 0)
        if has("has_date"):
            day = date(has("year", 1), has("month", 1), has("day", 1))
            moment = datetime.combine(day, time(*clock), dt_util.get_default_time_zone()) + offset
            return replay.call_at(moment.timestamp(), action) if moment.timestamp() >= replay.now else None
        if not has("has_time"):
            return None
        if offset:
            now = dt_util.as_local(dt_util.utc_from_timestamp(replay.now))
            shifted = now.replace(hour=clock[0], minute=clock[1], second=clock[2], microsecond=0) + offset
            clock = (shifted.hour, shifted.minute, shifted.second)
        return replay.call_daily(clock, action, local=True)
    if has("device_class") not in TIMES or past.state in (STATE_UNAVAILABLE, STATE_UNKNOWN):
        return None
    if (parsed := dt_util.parse_datetime(past.state)) is None:
        return None
    due = (parsed + offset).timestamp()
    return replay.call_at(due, action) if due > replay.now else None


def attach_time_pattern(replay: Replay, config: Config, fire: Fire, _: Variables) -> Remove:
    """Attach a time_pattern trigger."""
    hours, minutes, seconds = (config.get(key) for key in ("hours", "minutes", "seconds"))
    if minutes is None and hours is not None:
        minutes = 0
    if seconds is None and minutes is not None:
        seconds = 0

    def due() -> None:
        fire("time pattern", {"now": dt_util.as_local(dt_util.utc_from_timestamp(replay.now))})

    return replay.call_daily((hours, minutes, seconds), due, local=True)


def attach_sun(replay: Replay, config: Config, fire: Fire, _: Variables) -> Remove:
    """Attach a sun trigger."""
    event, offset = config["event"], config.get("offset") or timedelta()
    pending: list[Remove] = []

    def schedule() -> None:
        now = dt_util.utc_from_timestamp(replay.now)
        following = get_astral_event_next(replay.hass, event, now, offset)
        pending[:] = [replay.call_at(following.timestamp(), due)]

    def due() -> None:
        schedule()
        fire(f"sun event {event}", {"event": event, "offset": offset})

    schedule()

    def remove() -> None:
        for one in pending:
            one()

    return remove


def attach_calendar(replay: Replay, config: Config, fire: Fire, _: Variables) -> Remove:
    """Attach a calendar trigger; events that are over at this time do not fire."""
    entity_id, event, offset = config["entity_id"], config["event"], config["offset"]
    found = [
        (
            (one.start_datetime_local if event == "start" else one.end_datetime_local).timestamp()
            + offset.total_seconds(),
            one,
        )
        for one in replay.events.get(entity_id, ())
    ]
    found = sorted((due for due in found if due[0] >= replay.now), key=lambda due: due[0])[::-1]
    pending: list[Remove] = []

    def schedule() -> None:
        pending[:] = [replay.call_at(found[-1][0], due)] if found else []

    def due() -> None:
        moment = found[-1][0]
        while found and found[-1][0] == moment:
            one = found.pop()[1]
            fire(_CALENDAR, {"event": event, "offset": offset, "entity_id": entity_id, "calendar_event": one.as_dict()})
        schedule()

    def remove() -> None:
        found.clear()
        for one in pending:
            one()

    schedule()
    return remove


def attach_homeassistant(replay: Replay, config: Config, fire: Fire, _: Variables) -> Remove:
    """Attach a homeassistant trigger, which fires at the start only: at the shutdown, triggers are not attached any more."""
    if config["event"] == "start" and replay.is_starting:
        replay.call_at(replay.now, partial(fire, "Home Assistant starting", {"event": "start"}))
    return lambda: None


def check_trigger(config: Config, place: str) -> None:
    """Raise NotReplayableError for a trigger that cannot be simulated."""
    kind = config["platform"]
    if kind not in _ATTACH:
        raise NotReplayableError(f"{place}: a trigger of the type '{kind}'")
    if isinstance(config.get("enabled"), Template):
        raise NotReplayableError(f"{place}: whether it is enabled is a template")


def attach(replay: Replay, config: Config, fire: Fire, variables: Variables) -> Remove:
    """Attach a trigger: fire is called whenever it fires, until the returned function is called."""
    options = {**config, **(config.get("options") or {})}
    return _ATTACH[config["platform"]](replay, options, fire, variables)


_ATTACH: Final[Mapping[str, Callable[[Replay, Config, Fire, Variables], Remove]]] = {
    "calendar": attach_calendar,
    "homeassistant": attach_homeassistant,
    "numeric_state": attach_numeric_state,
    "state": attach_state,
    "sun": attach_sun,
    "template": attach_template,
    "time": attach_time,
    "time_pattern": attach_time_pattern,
    "zone": attach_zone,
}
"""The triggers that can be simulated."""

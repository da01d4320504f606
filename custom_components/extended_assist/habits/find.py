"""Find all habits of a home, the best first, without those that an automation already covers."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from itertools import batched
from time import monotonic
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.sun import get_astral_event_date
from homeassistant.util import dt as dt_util

from ..automations.loading import loaded_entities
from ..confirmation.consequential import acts_of
from ..recorder import read_session
from ..recorder.states import oldest_moment
from ..simulation.row_reader import read_stretches
from .after_event import Followers, find_times
from .changes import By, Changes
from .days import DAY, Days
from .habit import LEFT_ON, TIME, Habit
from .kinds import CLOSED, OFF, action
from .left_on import find_left_on
from .row_reader import RowReader

TIME_LIMIT = 30.0
"""The time limit for reading, in seconds, and for the search after events; the rest is left out."""
_DAY = 86_400.0
_SAME = 5.0
"""The most seconds between two changes of one action, such as a group and its members."""
_OVERLAP = 0.5
"""The share of its times that a habit may have in common with a better one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """The parameters of the search."""

    start: float
    end: float
    settable: frozenset[str]
    """The entities that a habit may control."""
    leading: Mapping[str, str]
    """The entities that may come before an action, with their devices."""
    members: Mapping[str, frozenset[str]]
    """The members of each group among them."""
    is_over: Callable[[Habit], bool]
    """Returns whether an automation covers a habit, or it was dismissed."""


@dataclass(slots=True)
class FoundHabits:
    """The result of the search."""

    changes: Changes
    days: Days
    habits: list[Habit] = field(default_factory=list)
    since: float | None = None
    """The time of the first record."""
    until: float | None = None
    """The time up to which the records were read, if the time limit ended it."""
    is_whole: bool = True
    """True if the time limit allowed a full search."""
    over: int = 0
    """The number of habits that are left out because they were dismissed or an automation covers them."""

    def counts(self) -> dict[By, int]:
        """Return the number of changes by source."""
        return {by: self.changes.count(by) for by in By}


def read_home(hass: HomeAssistant, sought: Sought) -> FoundHabits:
    """Return the changes of a home; runs in the recorder's executor."""
    reader = RowReader(hass, sought.settable | sought.leading.keys(), monotonic() + TIME_LIMIT)
    stretches = read_stretches(hass, sought.start - _DAY, sought.end)
    with read_session(hass) as session:
        oldest = oldest_moment(session)
    changes = reader.read(stretches, sought.start, sought.end)
    start = max(sought.start, oldest if oldest is not None else sought.end)
    days = Days(start, reader.until or sought.end, stretches)
    return FoundHabits(changes, days, since=oldest, until=reader.until)


def find_habits(hass: HomeAssistant, sought: Sought, found: FoundHabits) -> FoundHabits:
    """Search for habits; runs in a thread."""
    changes, days = found.changes, found.days
    days.leave_out({days.place(moment)[0] for moment in changes.hand_made()})
    settable = [
        series for series in changes.series if series[0] in sought.settable and series[0] not in changes.too_many
    ]
    habits = [*find_left_on(changes, days, settable), *find_times(changes, days, settable)]
    followers = Followers(changes, days, darkness(hass), sought.leading)
    habits += followers.find(settable, TIME_LIMIT)
    found.is_whole = followers.is_whole
    for alike in _alike(habits, sought.members):
        if any(map(sought.is_over, alike)):
            found.over += 1
        else:
            found.habits.append(alike[0])
    return found


def _alike(habits: list[Habit], members: Mapping[str, frozenset[str]]) -> list[list[Habit]]:
    """Return lists of habits with the same actions, the best of each first."""
    found: list[list[Habit]] = []
    for habit in sorted(habits, key=_rank):
        for alike in found:
            if _is_same(alike[0], habit, members):
                alike.append(habit)
                break
        else:
            found.append([habit])
    return sorted(found, key=lambda alike: -alike[0].worth)


def _rank(habit: Habit) -> tuple[Any, ...]:
    """Return the rank of a habit, lower for a better explanation: a door that opens comes before one that closes."""
    is_end = habit.cause is not None and habit.cause[1] in (OFF, CLOSED)
    return habit.what != LEFT_ON, -round(habit.worth, 1), is_end, -habit.worth, habit.delay, habit.id


def _is_same(better: Habit, habit: Habit, members: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a habit has the same actions as a better one."""
    one, other = better.does[0], habit.does[0]
    if better.does[1] != habit.does[1]:
        return False
    if one != other and other not in members.get(one, ()) and one not in members.get(other, ()):
        return False
    if {better.what, habit.what} == {TIME} and better.minute is not None and habit.minute is not None:
        return abs(better.minute - habit.minute) < 30 and better.kind == habit.kind
    done = {round(moment / _SAME) for moment in better.supports}
    near = {number + beside for number in done for beside in (-1, 0, 1)}
    shared = sum(round(moment / _SAME) in near for moment in habit.supports)
    return shared >= _OVERLAP * min(len(better.supports), len(habit.supports))


def darkness(hass: HomeAssistant) -> Callable[[float], bool]:
    """Return a function that tells whether the sun was down at a time, as sun conditions define it."""

    @lru_cache(maxsize=1_000)
    def events(day: date) -> list[tuple[float, bool]]:
        """Return the times of sunrise and sunset near a day, and whether the sun was down; dates in UTC differ."""
        near = [day + timedelta(days=beside) for beside in (-1, 0, 1)]
        found = [
            (moment.timestamp(), event == "sunset")
            for event in ("sunrise", "sunset")
            for one in near
            if (moment := get_astral_event_date(hass, event, one))
        ]
        return sorted(found)

    def is_dark(moment: float) -> bool:
        past = [
            event for event in events(dt_util.as_local(dt_util.utc_from_timestamp(moment)).date()) if event[0] <= moment
        ]
        return past[-1][1] if past else True

    return is_dark


_SLICE: Final = 20
_NEAR: Final = 60.0
"""Minutes around a habit within which an automation covers it."""
_OTHER_TIMES: Final = frozenset({"sun", "time_pattern", "calendar", "template"})
"""Triggers that can fire at any time."""


@dataclass(frozen=True, slots=True)
class Doer:
    """The actions and triggers of an automation."""

    acts: frozenset[tuple[str, str]]
    """Pairs of an entity and an action."""
    triggers: str
    """All triggers as one text."""
    minutes: tuple[float, ...]
    is_any_time: bool

    def does(self, habit: Habit) -> bool:
        """Return whether the automation covers a habit."""
        entity_id, state = habit.does
        domain, _, verb = action(entity_id, state)["action"].partition(".")
        if not {(entity_id, f"{domain}.{verb}"), (entity_id, f"{domain}.toggle")} & self.acts:
            return False
        if habit.cause is not None and f'"{habit.cause[0]}"' in self.triggers:
            return True
        if habit.what == LEFT_ON or (habit.minute is not None and self.is_any_time):
            return True
        return habit.minute is not None and any(_apart(habit.minute, minute) <= _NEAR for minute in self.minutes)


def _apart(one: float, other: float) -> float:
    """Return the minutes between two times of the day."""
    apart = abs(one - other) % DAY
    return min(apart, DAY - apart)


async def async_doers(hass: HomeAssistant) -> list[Doer]:
    """Return the actions and triggers of the automations that are on."""
    found: list[Doer] = []
    for some in batched(loaded_entities(hass, "automation"), _SLICE, strict=False):
        for entity in some:
            script = getattr(entity, "action_script", None)
            if script is not None and entity.is_on:
                found.append(_doer(hass, entity.raw_config or {}, script.sequence))
        await asyncio.sleep(0)
    return found


def _doer(hass: HomeAssistant, config: Mapping[str, Any], sequence: Any) -> Doer:
    """Return the actions and triggers of one automation."""
    acts = {(entity_id, step.action) for step in acts_of(hass, sequence) for entity_id in step.entity_ids}
    given = config.get("triggers", config.get("trigger")) or []
    triggers = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, Mapping)]
    minutes, is_any_time = [], False
    for trigger in triggers:
        kind = trigger.get("trigger", trigger.get("platform"))
        is_any_time = is_any_time or kind in _OTHER_TIMES
        at = trigger.get("at") if kind == "time" else []
        for one in at if isinstance(at, list) else [at]:
            parsed = dt_util.parse_time(str(one)) if isinstance(one, str | int) else None
            if parsed is None:
                is_any_time = True
            else:
                minutes.append(parsed.hour * 60 + parsed.minute)
    return Doer(frozenset(acts), _resolved(hass, triggers), tuple(minutes), is_any_time)


def _resolved(hass: HomeAssistant, triggers: list[Mapping[str, Any]]) -> str:
    """Return triggers as a text with entity ids."""
    registry = er.async_get(hass)

    def resolve(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(key): resolve(one) for key, one in value.items()}
        if isinstance(value, list):
            return [resolve(one) for one in value]
        if not isinstance(value, str):
            return str(value)
        found = [er.async_resolve_entity_id(registry, one.strip()) or one.strip() for one in value.split(",")]
        return found if len(found) > 1 else found[0]

    return json_dumps(resolve(triggers))

"""Replay recorded changes and timers in their order, and call the listeners that wait for them.

A replay has the functions of Home Assistant's helpers for triggers: track entities, and be called later or at times of the day.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from heapq import heapify, heappop, heappush
from itertools import count as counted
from math import inf
from time import monotonic
from typing import Any, Final

import voluptuous as vol

from homeassistant.components.calendar import CalendarEvent
from homeassistant.core import HomeAssistant, State
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.script_variables import ScriptVariables
from homeassistant.helpers.template import Template
from homeassistant.util import dt as dt_util

from ..exposure.entities import Exposure
from ..templates.historical import PastHome, parsed, render_past
from .historical_state import NotReplayableError, OutOfTimeError, Past, PastChange, Row

AFTER_THE_SECOND: Final = 0.275
"""Seconds by which Home Assistant is late at a time of the day: the mean of 0.05 to 0.5, which are random."""
SOONEST: Final = 0.05
"""The least of these: earlier than the recorded effects of the real automation."""

LATE: Final = 5e-6
"""Least seconds by which a timer is late, so that a state has lasted for longer than the wanted time."""
MOST_AT_ONCE: Final = 10_000
"""Largest number of changes at one time, after which the automation is taken to trigger itself without end."""
_CHECK_EVERY: Final = 64
"""Number of rows between two checks of the time limit."""
_AT_ONCE: Final = 0.001
"""Timers within these seconds are due together: Home Assistant calls them all before tasks that waited for one of them go on."""
_MANY: Final = 1_000
"""Number of timers from which on cancelled ones are removed."""

type Remove = Callable[[], None]
type Listener = Callable[[PastChange], None]


class Replay:
    """The home at one time of the past, which advances."""

    def __init__(
        self,
        hass: HomeAssistant,
        exposure: Exposure,
        known: Mapping[str, Collection[str]],
        events: Mapping[str, Sequence[CalendarEvent]] | None = None,
    ) -> None:
        """Take the entities to read, each with the attributes that are not recorded, and the events of calendars."""
        self.hass = hass
        self.known = known
        self.events = events or {}
        self.now = 0.0
        self.late = AFTER_THE_SECOND
        """Seconds by which actions at a time of the day are late."""
        self.stops_at = inf
        """Value of time.monotonic() at which the simulation has to end."""
        self.world: dict[str, Past] = {}
        self.is_starting = False
        """Whether Home Assistant is just starting."""
        self._exposure = exposure
        self._listeners: dict[str, list[Listener]] = {}
        self._timers: list[tuple[float, int, list[Callable[[], None]]]] = []
        self._most_timers = _MANY
        self._count = counted()
        self._set: set[str] = set()
        self._changes: deque[PastChange] = deque()
        self._soon: deque[Callable[[], None]] = deque()
        self._is_calling = False

    # Changes and timers

    def go_on(self, rows: Iterable[Row]) -> None:
        """Apply recorded changes, oldest first, and call the timers in between; raises OutOfTimeError."""
        for number, (moment, entity_id, new) in enumerate(rows):
            if self._timers and self._timers[0][0] <= moment:
                self.advance(moment)
            elif moment > self.now:
                self.now = moment
            if number % _CHECK_EVERY == 0:
                self._check_time_limit()
            self.feed(entity_id, new)

    def advance(self, until: float) -> None:
        """Call all timers that are due up to a time; raises OutOfTimeError."""
        while self._timers and self._timers[0][0] <= until:
            moment, _, action = heappop(self._timers)
            if action:
                self.now = max(self.now, moment)
                self._check_time_limit()
                action.pop()()
            if self._soon and not (self._timers and self._timers[0][0] <= moment + _AT_ONCE):
                self._settle()
        self._settle()
        self.now = max(self.now, until)
        self._check_time_limit()

    def _check_time_limit(self) -> None:
        """Raise OutOfTimeError if no time is left."""
        if monotonic() > self.stops_at:
            raise OutOfTimeError

    def feed(self, entity_id: str, new: Past | None) -> None:
        """Apply a recorded change."""
        if entity_id in self._set and new is not None:
            new = self._after_own(self.world.get(entity_id), new)
        if new is None and entity_id not in self.world:
            return
        self._change(entity_id, new)
        if self._soon:
            self._settle()

    def soon(self, action: Callable[[], None]) -> None:
        """Call a function after all listeners were called, as the event loop resumes a task."""
        self._soon.append(action)

    def _settle(self) -> None:
        """Call the functions that were given to soon()."""
        while self._soon:
            self._check_time_limit()
            self._soon.popleft()()

    def set(self, entity_id: str, state: str | None, attributes: Mapping[str, Any]) -> None:
        """Set an entity as a step of the automation would have done."""
        if (old := self.world.get(entity_id)) is None or old.state == "unavailable":
            return
        told = {**old.attributes, **attributes}
        wanted = old.state if state is None else state
        if wanted == old.state and told == old.attributes:
            return
        self._set.add(entity_id)
        changed = old.changed if wanted == old.state else self.now
        self._change(entity_id, Past(entity_id, wanted, told, changed, self.now), is_own=True)

    def _change(self, entity_id: str, new: Past | None, *, is_own: bool = False) -> None:
        """Change an entity, and call its listeners, after those of all earlier changes."""
        old = self.world.get(entity_id)
        if new is None:
            del self.world[entity_id]
        else:
            self.world[entity_id] = new
        if not self._listeners.get(entity_id):
            return
        self._changes.append(PastChange(entity_id, old, new, is_own=is_own))
        if self._is_calling:
            return
        self._is_calling = True
        try:
            for count in counted(1):
                if not self._changes:
                    break
                if count > MOST_AT_ONCE:
                    self._changes.clear()
                    raise NotReplayableError("it would set itself off again and again")
                change = self._changes.popleft()
                for listener in self._listeners[change.entity_id].copy():
                    listener(change)
        finally:
            self._is_calling = False

    def _after_own(self, old: Past | None, new: Past) -> Past:
        """Return the state that would have been recorded, since the automation had set the entity before."""
        if old is None:
            return new
        if new.changed < new.updated:
            return Past(new.entity_id, old.state, new.attributes, old.changed, new.updated)
        self._set.discard(new.entity_id)
        changed = old.changed if old.state == new.state else new.changed
        return Past(new.entity_id, new.state, new.attributes, changed, new.updated)

    def stop(self) -> None:
        """Remove all timers, listeners and states, as at the shutdown of Home Assistant."""
        self._timers.clear()
        self._listeners.clear()
        self._set.clear()
        self._soon.clear()
        self.world.clear()

    # Listeners

    def track(self, entity_ids: Iterable[str], listener: Listener) -> Remove:
        """Call a listener whenever one of some entities changes."""
        lists = [self._listeners.setdefault(entity_id, []) for entity_id in entity_ids]
        for listeners in lists:
            listeners.append(listener)

        def remove() -> None:
            for listeners in lists:
                if listener in listeners:
                    listeners.remove(listener)

        return remove

    def call_at(self, moment: float, action: Callable[[], None]) -> Remove:
        """Call a function at a time."""
        if len(self._timers) > self._most_timers:  # Cancelled timers would otherwise stay until they are due.
            self._timers = [timer for timer in self._timers if timer[2]]
            heapify(self._timers)
            self._most_timers = 2 * len(self._timers) + _MANY
        entry = [action]
        heappush(self._timers, (moment + LATE, next(self._count), entry))
        return entry.clear

    def call_daily(self, clock: tuple[Any, Any, Any], action: Callable[[], None], *, local: bool) -> Remove:
        """Call a function whenever hours, minutes and seconds match, as Home Assistant computes it."""
        hours, minutes, seconds = clock
        if all(part is None or part == "*" for part in clock):
            return self._every_second(action)
        expression = (
            dt_util.parse_time_expression(seconds, 0, 59),
            dt_util.parse_time_expression(minutes, 0, 59),
            dt_util.parse_time_expression(hours, 0, 23),
        )
        pending: list[Remove] = []

        def schedule(after: float) -> None:
            moment = dt_util.utc_from_timestamp(after)
            following = dt_util.find_next_time_expression_time(
                dt_util.as_local(moment) if local else moment, *expression
            )
            due = following.replace(microsecond=0).timestamp() + self.late
            pending[:] = [self.call_at(due, fire)]

        def fire() -> None:
            schedule(self.now + 1)
            action()

        schedule(self.now)
        return lambda: _remove_all(pending)

    def _every_second(self, action: Callable[[], None]) -> Remove:
        """Call a function every second from now on."""
        pending: list[Remove] = []

        def fire() -> None:
            pending[:] = [self.call_at(self.now + 1, fire)]
            action()

        pending[:] = [self.call_at(self.now + 1, fire)]
        return lambda: _remove_all(pending)

    # States and templates

    def state(self, entity_id: str) -> State | None:
        """Return an entity as Home Assistant's own state."""
        past = self.world.get(entity_id)
        return past.as_state() if past else None

    def home(self) -> PastHome:
        """Return the home for a template that is rendered now."""
        moment, left = dt_util.utc_from_timestamp(self.now), self.stops_at - monotonic()
        return PastHome(self.hass, self._exposure, self.state, self.known, moment, seconds=left)

    def text(self, template: Template, variables: Mapping[str, Any], home: PastHome | None = None) -> str:
        """Return the rendered text of a template; raises TemplateError, or NotOfThePastError for values that are not recorded."""
        return render_past(home or self.home(), template.template, variables)

    def render(self, value: Any, variables: Mapping[str, Any]) -> Any:
        """Return a value with its templates rendered; raises as text() does."""
        if isinstance(value, Template):
            return parsed(self.hass, self.text(value, variables)) if not value.is_static else value.async_render()
        if isinstance(value, Mapping):
            return {self.render(key, variables): self.render(item, variables) for key, item in value.items()}
        return [self.render(item, variables) for item in value] if isinstance(value, list) else value

    def define(self, defined: ScriptVariables, variables: dict[str, Any]) -> None:
        """Add the variables that an automation, a trigger or a step defines; each can use those before it."""
        for name, value in defined.as_dict().items():
            variables[name] = self.render(value, variables)

    def seconds(self, period: Any, variables: Mapping[str, Any]) -> float:
        """Return the seconds of a period, which may be a template; raises TemplateError if it is invalid."""
        if isinstance(period, timedelta):
            return period.total_seconds()
        rendered = self.render(period, variables)
        try:
            return float(cv.positive_time_period(rendered).total_seconds())
        except vol.Invalid as err:
            raise TemplateError(err) from err


def _remove_all(pending: list[Remove]) -> None:
    """Cancel all pending calls."""
    for remove in pending:
        remove()

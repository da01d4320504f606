"""The hours in which a sensor said something else than a number, which no statistic tells.

Finding them among its rows takes half the time of reading all of these. So they are noticed as they happen, and what was
looked up of the time before is remembered: what is recorded of a past hour does not change.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
import math
from typing import Any

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session

from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, State, callback
from homeassistant.helpers.singleton import singleton
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from .engine import Engine
from .periods import HOUR
from .states import STATES, Series, as_number, find_rows, within

_MOST = 1_000
"""Rows without a number; a sensor that has more of them is read row by row."""
_REMEMBERED = 500
"""Sensors of which is remembered what was looked up."""


@dataclass(frozen=True, slots=True)
class _LookedUp:
    """What the rows of a span say; start and end are full hours, in seconds since the epoch."""

    start: float
    end: float
    hours: frozenset[int]


class Interruptions:
    """Hours, counted from the epoch, in which there was something else than a number, or may have been."""

    def __init__(self, noticed_from: float = math.inf) -> None:
        """Begin with nothing; noticed_from is the moment from which on all that happens is noticed."""
        self.noticed_from = noticed_from
        self._appeared: dict[str, float] = {}
        self._noticed: dict[str, set[int]] = {}
        self._looked_up: dict[int, _LookedUp] = {}

    @callback
    def async_notice(self, event: Event[EventStateChangedData]) -> None:
        """Notice that a sensor began or ceased to say a number."""
        data, moment = event.data, event.time_fired_timestamp
        entity_id, new = data["entity_id"], data["new_state"]
        if new is not None:
            moment = new.last_updated_timestamp
        if data["old_state"] is None:
            # Who had this id before may have been another one, and what it had as another id was not noticed here.
            self._appeared[entity_id] = moment
            self._noticed.pop(entity_id, None)
        self._noticed.setdefault(entity_id, set()).add(_hour(moment))

    def read(self, session: Session, series: Series, entity_id: str, start: float, end: float) -> set[int] | None:
        """Return the interrupted hours from one full hour to another, or None where there are too many to be told."""
        noticed_from = max(self.noticed_from, self._appeared.get(entity_id, 0))
        until = end if noticed_from >= end else max(start, math.ceil(noticed_from / HOUR) * HOUR)
        looked_up = self._look_up(session, series, start, until) if start < until else ()
        return None if looked_up is None else {*looked_up, *self._noticed.get(entity_id, set()).copy()}

    def _look_up(self, session: Session, series: Series, start: float, end: float) -> Iterable[int] | None:
        """Return what the rows say, where that is not remembered yet."""
        known = self._looked_up.pop(series.metadata_id, None)
        if known is None or start > known.end or end < known.start:
            known = _LookedUp(start, start, frozenset())
        missing = ((start, known.start), (known.end, end))
        for begin, stop in missing:
            if begin < stop:
                found = _read(session, series, begin, stop)
                if found is None:
                    return None
                known = _LookedUp(min(begin, known.start), max(stop, known.end), known.hours | found)
        self._looked_up[series.metadata_id] = known
        if len(self._looked_up) > _REMEMBERED:
            del self._looked_up[next(iter(self._looked_up))]
        return known.hours


def _hour(moment: float) -> int:
    """Return the hour of a moment."""
    return int(moment // HOUR)


def _read(session: Session, series: Series, start: float, end: float) -> set[int] | None:
    """Return the hours that rows without a number reach into."""
    hours: set[int] = set()
    if rows := find_rows(session, series, start, end):
        found = rows.run(session, _without_number(series.engine), most=_MOST + 1).all()
        if len(found) > _MOST:
            return None
        for moment, following in found:
            last = end if following is None else min(following, end)
            hours.update(range(_hour(max(moment, start)), _hour(last) + 1))
    return hours


@cache
def _without_number(engine: Engine) -> Select[Any]:
    """Select the rows that may not be numbers, and when the next row of any kind came."""
    table, later = STATES.c, STATES.alias().c
    following = (
        select(later.last_updated_ts)
        .where(later.metadata_id == bindparam("metadata_id"), later.last_updated_ts > table.last_updated_ts)
        .order_by(later.last_updated_ts)
        .limit(1)
        .correlate(STATES)
        .scalar_subquery()
    )
    rows = within(table.last_updated_ts, following, attribute=False)
    return rows.where(engine.may_be_no_number(table.state)).limit(bindparam("most"))


@callback
def _interrupts(data: EventStateChangedData) -> bool:
    """Return whether a sensor with statistics began or ceased to say a number."""
    if not data["entity_id"].startswith("sensor."):
        return False
    states = (data["old_state"], data["new_state"])
    return not all(map(_is_number, states)) and any(state and "state_class" in state.attributes for state in states)


def _is_number(state: State | None) -> bool:
    """Return whether a state is a number."""
    return state is not None and as_number(state.state) is not None


@singleton(f"{DOMAIN}_interruptions")
@callback
def async_get_interruptions(hass: HomeAssistant) -> Interruptions:
    """Return what is known of interruptions; what happens from the first call on is noticed."""
    interruptions = Interruptions(dt_util.utcnow().timestamp())
    hass.bus.async_listen(EVENT_STATE_CHANGED, interruptions.async_notice, event_filter=_interrupts)
    return interruptions

"""The recorded rows of some entities in their order, read a part of the time at once, so that few are held."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from itertools import batched
from math import inf
from time import monotonic
from typing import Any, Final

from sqlalchemy import Select, bindparam, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance
from homeassistant.util import dt as dt_util
from homeassistant.util.json import json_loads_object

from ..ha_compat.recorder import Events, EventTypes, RecorderRuns
from ..recorder import TIME_LIMIT, read_session
from ..recorder.states import ATTRIBUTES, STATES, oldest_moment
from .historical_state import OutOfTimeError, Past, Row, Stretch

ROWS_AT_ONCE: Final = 20_000
"""About how many rows are held."""
_FIRST_WIDTH: Final = 86_400.0
_WIDTHS: Final = (60.0, 30 * 86_400.0)
_IDS_AT_ONCE: Final = 500
_MOST_ATTRIBUTES: Final = 20_000
"""Sets of attributes that are remembered."""
_STARTED: Final = "homeassistant_started"

type Visible = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class RecordedRows:
    """Reads the rows of some entities, in a session for each part: one that lasts would be given up, and be in the way."""

    def __init__(
        self, hass: HomeAssistant, entity_ids: Collection[str], visible: Visible = dict, stops_at: float = inf
    ) -> None:
        """Find the entities in the database; visible returns what may be seen of attributes.

        Nothing is read any more when time.monotonic() has come to stops_at: OutOfTimeError is raised.
        """
        self._visible = visible
        self._stops_at = stops_at
        self._hass = hass
        manager = get_instance(hass).states_meta_manager
        with self._session() as session:
            found = manager.get_many(list(entity_ids), session, from_recorder=False)
        self._names = {number: entity_id for entity_id, number in found.items() if number is not None}
        self._attributes: dict[int | None, Mapping[str, Any]] = {None: {}}

    def first(self) -> dict[str, float]:
        """Return since when each entity is recorded; without those of which nothing is kept any more."""
        found = {}
        with self._session() as session:
            for number, entity_id in self._names.items():
                moment = session.connection().execute(_first(), {"metadata_id": number}).scalar()
                if moment is not None:
                    found[entity_id] = float(moment)
        return found

    def at(self, moment: float, since: float) -> Iterator[Row]:
        """Yield the newest row of each entity up to a moment, unless that is older than since."""
        for number in self._names:
            yield from self._made(self._read(_newest(), metadata_id=number, moment=moment, since=since))

    def between(self, start: float, end: float) -> Iterator[Row]:
        """Yield the rows after start and up to end, oldest first."""
        width = _FIRST_WIDTH
        while start < end and self._names:
            stop = min(start + width, end)
            rows = self._read(_between(), ids=list(self._names), start=start, end=stop)
            yield from self._made(rows)
            start = stop
            wanted = width * (ROWS_AT_ONCE / max(len(rows), 1))
            width = min(max(min(wanted, width * 4), _WIDTHS[0]), _WIDTHS[1])

    @contextmanager
    def _session(self) -> Iterator[Session]:
        """Yield a session whose statements end when there is no time left; a second is the least that all databases know."""
        if (left := self._stops_at - monotonic()) <= 0:
            raise OutOfTimeError
        try:
            with read_session(self._hass, min(max(left, 1.0), TIME_LIMIT)) as session:
                yield session
        except SQLAlchemyError as err:
            if monotonic() < self._stops_at:
                raise
            raise OutOfTimeError from err

    def _read(self, statement: Select[Any], **given: Any) -> Sequence[Any]:
        """Return rows of the table, of which the attributes are known then."""
        with self._session() as session:
            rows = session.connection().execute(statement, given).all()
            self._read_attributes(session, {row[4] for row in rows})
        return rows

    def _made(self, rows: Sequence[Any]) -> Iterator[Row]:
        """Yield changes made of rows one by one: many at once would be looked through for garbage again and again."""
        known, names = self._attributes, self._names
        for number, state, updated, changed, attributes_id in rows:
            attributes = known[attributes_id]
            entity_id = names[number]
            # What is removed is written as a state without a text.
            is_gone = state is None or (state == "" and not attributes)
            past = None if is_gone else Past(entity_id, state, attributes, changed or updated, updated)
            yield updated, entity_id, past

    def _read_attributes(self, session: Session, wanted: set[int | None]) -> None:
        """Read the attributes that are not known yet."""
        if len(self._attributes) > _MOST_ATTRIBUTES:
            self._attributes = {None: {}}
        missing = sorted(number for number in wanted - self._attributes.keys() if number is not None)
        for some in batched(missing, _IDS_AT_ONCE, strict=False):
            self._attributes |= {number: {} for number in some}
            for number, text in session.connection().execute(_attributes(), {"ids": list(some)}):
                self._attributes[number] = self._visible(json_loads_object(text)) if text else {}


def read_stretches(hass: HomeAssistant, start: float, end: float) -> list[Stretch]:
    """Return when Home Assistant ran within a span."""
    with read_session(hass) as session:
        return _stretches(session, start, end)


def _stretches(session: Session, start: float, end: float) -> list[Stretch]:
    """Return when Home Assistant ran within a span."""
    first, last = map(dt_util.utc_from_timestamp, (start, end))
    runs = session.connection().execute(_runs(), {"start": first, "end": last}).all()
    armed = list(session.connection().execute(_started(), {"type": _STARTED, "end": end}).scalars())
    found = []
    # Of the run in which what is still kept begins, the recorder forgets when it began.
    oldest = oldest_moment(session)
    first_run = _seconds(runs[0][0]) if runs else end
    if oldest is not None and max(oldest, start) < first_run:
        ended = session.connection().execute(_last(), {"start": oldest, "end": first_run}).scalar() or oldest
        if (stop := ended if runs else end) > start:
            found.append(Stretch(oldest, oldest, stop))
    for index, (begin, stop, is_broken) in enumerate(runs):
        begun = _seconds(begin)
        following = _seconds(runs[index + 1][0]) if index + 1 < len(runs) else None
        if following is not None and (stop is None or is_broken):
            # It ended without a word: after the last thing that it wrote.
            given = {"start": begun, "end": following}
            ended = session.connection().execute(_last(), given).scalar() or begun
        else:
            ended = end if stop is None else _seconds(stop)
        until = end if following is None else following
        started = next((moment for moment in armed if begun <= moment < until), begun)
        if min(ended, end) > start:
            found.append(Stretch(begun, started, min(ended, end)))
    return found


def switched_elsewhere(hass: HomeAssistant, entity_ids: Collection[str], start: float, end: float) -> list[float]:
    """Return when an automation or a script turned one of some entities on, oldest first; at most so many."""
    with read_session(hass) as session:
        found = get_instance(hass).states_meta_manager.get_many(list(entity_ids), session, from_recorder=False)
        ids = [number for number in found.values() if number is not None]
        given = {"ids": ids, "start": start, "end": end, "most": ROWS_AT_ONCE}
        return list(session.connection().execute(_automated(), given).scalars()) if ids else []


def _seconds(moment: datetime) -> float:
    """Return a moment of the database, which is in UTC, in seconds since the epoch."""
    return moment.replace(tzinfo=dt_util.UTC).timestamp() if moment.tzinfo is None else moment.timestamp()


_COLUMNS: Final = (
    STATES.c.metadata_id,
    STATES.c.state,
    STATES.c.last_updated_ts,
    STATES.c.last_changed_ts,
    STATES.c.attributes_id,
)


@cache
def _newest() -> Select[Any]:
    """Select the newest row of an entity up to :moment."""
    moment = STATES.c.last_updated_ts
    wanted = (STATES.c.metadata_id == bindparam("metadata_id"), moment <= bindparam("moment"))
    order = (moment.desc(), STATES.c.state_id.desc())
    return select(*_COLUMNS).where(*wanted, moment >= bindparam("since")).order_by(*order).limit(1)


@cache
def _first() -> Select[Any]:
    """Select the moment of the oldest row of an entity."""
    return select(func.min(STATES.c.last_updated_ts)).where(STATES.c.metadata_id == bindparam("metadata_id"))


@cache
def _between() -> Select[Any]:
    """Select the rows of some entities."""
    moment = STATES.c.last_updated_ts
    is_one = STATES.c.metadata_id.in_(bindparam("ids", expanding=True))
    wanted = (is_one, moment > bindparam("start"), moment <= bindparam("end"))
    return select(*_COLUMNS).where(*wanted).order_by(moment, STATES.c.state_id)


@cache
def _automated() -> Select[Any]:
    """Select the moments at which something that has a parent turned an entity on."""
    moment, changed = STATES.c.last_updated_ts, STATES.c.last_changed_ts
    is_one = STATES.c.metadata_id.in_(bindparam("ids", expanding=True))
    is_on = STATES.c.state.in_(("on", "open", "playing")) & (changed.is_(None) | (changed == moment))
    has_parent = STATES.c.context_parent_id_bin.is_not(None)
    within = (moment > bindparam("start"), moment <= bindparam("end"))
    return select(moment).where(is_one, is_on, has_parent, *within).order_by(moment).limit(bindparam("most"))


@cache
def _attributes() -> Select[Any]:
    """Select some sets of attributes."""
    number = ATTRIBUTES.c.attributes_id
    return select(number, ATTRIBUTES.c.shared_attrs).where(number.in_(bindparam("ids", expanding=True)))


@cache
def _runs() -> Select[Any]:
    """Select the runs of Home Assistant that touch a span."""
    runs = RecorderRuns
    touches = ((runs.end.is_(None)) | (runs.end >= bindparam("start")), runs.start < bindparam("end"))
    return select(runs.start, runs.end, runs.closed_incorrect).where(*touches).order_by(runs.start)


@cache
def _started() -> Select[Any]:
    """Select the moments at which Home Assistant had started."""
    named = (EventTypes.event_type == bindparam("type"), Events.time_fired_ts <= bindparam("end"))
    joined = select(Events.time_fired_ts).join(EventTypes, Events.event_type_id == EventTypes.event_type_id)
    return joined.where(*named).order_by(Events.time_fired_ts)


@cache
def _last() -> Select[Any]:
    """Select the moment of the last row of a span."""
    moment = STATES.c.last_updated_ts
    return select(func.max(moment)).where(moment > bindparam("start"), moment < bindparam("end"))

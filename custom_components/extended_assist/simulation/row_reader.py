"""Read the recorded rows of entities in their order, in parts of the time, so that few rows are in memory at once."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
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
"""Approximate number of rows in memory."""
_FIRST_WIDTH: Final = 86_400.0
_WIDTHS: Final = (60.0, 30 * 86_400.0)
_IDS_AT_ONCE: Final = 500
_MOST_ATTRIBUTES: Final = 20_000
"""Number of cached sets of attributes."""

type Visible = Callable[[Mapping[str, Any]], Mapping[str, Any]]

_updated: Final = STATES.c.last_updated_ts
_IS_ONE: Final = STATES.c.metadata_id.in_(bindparam("ids", expanding=True))
_WITHIN: Final = (_updated > bindparam("start"), _updated <= bindparam("end"))
_COLUMNS: Final = (
    STATES.c.metadata_id,
    STATES.c.state,
    _updated,
    STATES.c.last_changed_ts,
    STATES.c.attributes_id,
)

_NEWEST: Final = (
    select(*_COLUMNS)
    .where(
        STATES.c.metadata_id == bindparam("metadata_id"),
        _updated <= bindparam("moment"),
        _updated >= bindparam("since"),
    )
    .order_by(_updated.desc(), STATES.c.state_id.desc())
    .limit(1)
)
"""The newest row of an entity up to :moment."""
_FIRST: Final = select(func.min(_updated)).where(STATES.c.metadata_id == bindparam("metadata_id"))
"""The time of the oldest row of an entity."""
_BETWEEN: Final = select(*_COLUMNS).where(_IS_ONE, *_WITHIN).order_by(_updated, STATES.c.state_id)
"""The rows of some entities."""
_AUTOMATED: Final = (
    select(_updated)
    .where(
        _IS_ONE,
        STATES.c.state.in_(("on", "open", "playing")),
        STATES.c.last_changed_ts.is_(None) | (STATES.c.last_changed_ts == _updated),
        STATES.c.context_parent_id_bin.is_not(None),
        *_WITHIN,
    )
    .order_by(_updated)
    .limit(bindparam("most"))
)
"""The times at which an entity was turned on by something that has a parent context."""
_ATTRIBUTES: Final = select(ATTRIBUTES.c.attributes_id, ATTRIBUTES.c.shared_attrs).where(
    ATTRIBUTES.c.attributes_id.in_(bindparam("ids", expanding=True))
)
_RUNS: Final = (
    select(RecorderRuns.start, RecorderRuns.end, RecorderRuns.closed_incorrect)
    .where(RecorderRuns.end.is_(None) | (RecorderRuns.end >= bindparam("start")), RecorderRuns.start < bindparam("end"))
    .order_by(RecorderRuns.start)
)
"""The runs of Home Assistant that touch a span."""
_STARTED: Final[Select[Any]] = (
    select(Events.time_fired_ts)
    .join(EventTypes, Events.event_type_id == EventTypes.event_type_id)
    .where(EventTypes.event_type == "homeassistant_started", Events.time_fired_ts <= bindparam("end"))
    .order_by(Events.time_fired_ts)
)
"""The times at which Home Assistant had started."""
_LAST: Final = select(func.max(_updated)).where(_updated > bindparam("start"), _updated < bindparam("end"))
"""The time of the last row within a span."""


class RecordedRows:
    """Reads the rows of entities, in one session for each part: a long session would time out, and block the recorder."""

    def __init__(
        self, hass: HomeAssistant, entity_ids: Collection[str], visible: Visible = dict, stops_at: float = inf
    ) -> None:
        """Find the entities in the database; visible removes hidden attributes.

        Reading raises OutOfTimeError once time.monotonic() has reached stops_at.
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
        """Return the time of the oldest row of each entity, for entities that have one."""
        found = {}
        with self._session() as session:
            for number, entity_id in self._names.items():
                moment = session.connection().execute(_FIRST, {"metadata_id": number}).scalar()
                if moment is not None:
                    found[entity_id] = float(moment)
        return found

    def at(self, moment: float, since: float) -> Iterator[Row]:
        """Yield the newest row of each entity up to a moment, unless that is older than since."""
        for number in self._names:
            yield from self._made(self._read(_NEWEST, metadata_id=number, moment=moment, since=since))

    def between(self, start: float, end: float) -> Iterator[Row]:
        """Yield the rows after start and up to end, oldest first."""
        width = _FIRST_WIDTH
        while start < end and self._names:
            stop = min(start + width, end)
            rows = self._read(_BETWEEN, ids=list(self._names), start=start, end=stop)
            yield from self._made(rows)
            start = stop
            wanted = width * (ROWS_AT_ONCE / max(len(rows), 1))
            width = min(max(min(wanted, width * 4), _WIDTHS[0]), _WIDTHS[1])

    @contextmanager
    def _session(self) -> Iterator[Session]:
        """Yield a session whose statements time out when no time is left; one second is the shortest timeout of some databases."""
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
        """Return rows of the table, and cache their attributes."""
        with self._session() as session:
            rows = session.connection().execute(statement, given).all()
            self._read_attributes(session, {row[4] for row in rows})
        return rows

    def _made(self, rows: Sequence[Any]) -> Iterator[Row]:
        """Yield changes, made of rows one by one: the garbage collector would scan many of them again and again."""
        known, names = self._attributes, self._names
        for number, state, updated, changed, attributes_id in rows:
            attributes = known[attributes_id]
            entity_id = names[number]
            # The recorder writes an empty state for a removed entity.
            is_gone = state is None or (state == "" and not attributes)
            past = None if is_gone else Past(entity_id, state, attributes, changed or updated, updated)
            yield updated, entity_id, past

    def _read_attributes(self, session: Session, wanted: set[int | None]) -> None:
        """Read the attributes that are not cached yet."""
        if len(self._attributes) > _MOST_ATTRIBUTES:
            self._attributes = {None: {}}
        missing = sorted(number for number in wanted - self._attributes.keys() if number is not None)
        for some in batched(missing, _IDS_AT_ONCE, strict=False):
            self._attributes |= {number: {} for number in some}
            for number, text in session.connection().execute(_ATTRIBUTES, {"ids": list(some)}):
                self._attributes[number] = self._visible(json_loads_object(text)) if text else {}


def read_stretches(hass: HomeAssistant, start: float, end: float) -> list[Stretch]:
    """Return the times in which Home Assistant ran within a span; blocks."""
    with read_session(hass) as session:
        return _stretches(session, start, end)


def _stretches(session: Session, start: float, end: float) -> list[Stretch]:
    first, last = map(dt_util.utc_from_timestamp, (start, end))
    runs = session.connection().execute(_RUNS, {"start": first, "end": last}).all()
    armed = list(session.connection().execute(_STARTED, {"end": end}).scalars())
    found = []
    # The recorder purges the start of the run that the oldest rows belong to.
    oldest = oldest_moment(session)
    first_run = _seconds(runs[0][0]) if runs else end
    if oldest is not None and max(oldest, start) < first_run:
        ended = session.connection().execute(_LAST, {"start": oldest, "end": first_run}).scalar() or oldest
        if (stop := ended if runs else end) > start:
            found.append(Stretch(oldest, oldest, stop))
    for index, (begin, stop, is_broken) in enumerate(runs):
        begun = _seconds(begin)
        following = _seconds(runs[index + 1][0]) if index + 1 < len(runs) else None
        if following is not None and (stop is None or is_broken):
            # It was killed: take the time of its last row.
            given = {"start": begun, "end": following}
            ended = session.connection().execute(_LAST, given).scalar() or begun
        else:
            ended = end if stop is None else _seconds(stop)
        until = end if following is None else following
        started = next((moment for moment in armed if begun <= moment < until), begun)
        if min(ended, end) > start:
            found.append(Stretch(begun, started, min(ended, end)))
    return found


def switched_elsewhere(hass: HomeAssistant, entity_ids: Collection[str], start: float, end: float) -> list[float]:
    """Return the times at which an automation or a script turned one of the entities on, oldest first; at most ROWS_AT_ONCE."""
    with read_session(hass) as session:
        found = get_instance(hass).states_meta_manager.get_many(list(entity_ids), session, from_recorder=False)
        ids = [number for number in found.values() if number is not None]
        given = {"ids": ids, "start": start, "end": end, "most": ROWS_AT_ONCE}
        return list(session.connection().execute(_AUTOMATED, given).scalars()) if ids else []


def _seconds(moment: datetime) -> float:
    """Return a time of the database, which is in UTC, in seconds since the epoch."""
    return moment.replace(tzinfo=dt_util.UTC).timestamp() if moment.tzinfo is None else moment.timestamp()

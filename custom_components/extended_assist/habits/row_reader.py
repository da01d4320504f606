"""Read the actions of persons from the recorder: states, and the contexts that caused them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import batched
from time import monotonic
from typing import Any, Final

from sqlalchemy import Select, bindparam, or_, select
from sqlalchemy.orm import Session

from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance
from homeassistant.util.json import json_loads_object

from ..ha_compat.recorder import EventData, Events, EventTypes, StatesMeta
from ..recorder import read_session
from ..recorder.states import STATES
from ..simulation.historical_state import Stretch
from .changes import By, Changes
from .kinds import meant

_PART: Final = 86_400.0
"""The seconds of one read."""
_BEFORE: Final = 60.0
"""The seconds before a read whose contexts are read, too."""
_PAGE: Final = 10_000
"""The rows in memory at a time."""
_TOO_MANY: Final = 3_000
"""The rows of one entity in one day from which on it is left out."""
_IDS_AT_ONCE: Final = 500

type _Row = tuple[int, float, int, str | None, bytes | None, bytes | None, bytes | None]


class RowReader:
    """Reads the changes of some entities."""

    def __init__(self, hass: HomeAssistant, entity_ids: Collection[str], stops_at: float) -> None:
        """Store the entities, and the time limit as a value of monotonic()."""
        self._hass = hass
        self._stops_at = stops_at
        manager = get_instance(hass).states_meta_manager
        with read_session(hass) as session:
            found = manager.get_many(list(entity_ids), session, from_recorder=False)
            self._makers, self._types = makers(session), event_types(session)
        self._names = {number: entity_id for entity_id, number in found.items() if number is not None}
        self._states: dict[str, str | None] = {}
        self._last: dict[str, str] = {}
        self._read: Counter[int] = Counter()
        self._start = 0.0
        self.changes = Changes()
        self.until: float | None = None
        """The time up to which rows were read; None for all."""

    def read(self, stretches: Sequence[Stretch], start: float, end: float) -> Changes:
        """Return the changes of a time span in which Home Assistant ran.

        Reading begins a day earlier, for the states at the start.
        """
        self._start = start
        for stretch in stretches:
            # What changed while nobody looked, nobody did; and what is restored while it starts is no change.
            self._states.clear()
            moment, stop = max(start - _PART, stretch.begin), min(end, stretch.end)
            while moment < stop:
                part = min(moment + _PART, stop)
                if monotonic() > self._stops_at:
                    self.until = moment
                    self.changes.finish()
                    return self.changes
                self._read_part(moment, part, stretch.armed)
                moment = part
        self.changes.finish()
        return self.changes

    def _read_part(self, start: float, end: float, armed: float) -> None:
        """Read the rows of a time span."""
        self._read.clear()
        with read_session(self._hass) as session:
            contexts = read_contexts(session, self._makers, self._types, start - _BEFORE, end)
        rows = (self._rows(ids, start, end) for ids in batched(sorted(self._names), _IDS_AT_ONCE, strict=False))
        found = list(rows)
        if len(found) == 1:
            for row in found[0]:
                self._take(row, contexts, armed)
            return
        for row in sorted((row for some in found for row in some), key=lambda row: (row[1], row[2])):
            self._take(row, contexts, armed)

    def _rows(self, ids: Collection[int], start: float, end: float) -> Iterator[_Row]:
        """Yield the rows of some entities in order, without those that change too often."""
        after, last = start, -1
        while True:
            wanted = [number for number in ids if number in self._names]
            if not wanted:
                return
            given = {"ids": wanted, "after": after, "last": last, "end": end, "most": _PAGE}
            with read_session(self._hass) as session:
                rows = _page(session, given)
            yield from rows
            if len(rows) < _PAGE:
                return
            self._read.update(row[0] for row in rows)
            for number, count in self._read.items():
                if count > _TOO_MANY and (entity_id := self._names.pop(number, None)):
                    self.changes.too_many.add(entity_id)
            after, last = rows[-1][1], rows[-1][2]
            if monotonic() > self._stops_at:
                return

    def _take(self, row: _Row, contexts: Contexts, armed: float) -> None:
        """Store the change of a row."""
        number, moment, _, text, *context = row
        if (entity_id := self._names.get(number)) is None:
            return
        state = meant(entity_id.partition(".")[0], text)
        before = self._states.get(entity_id)
        self._states[entity_id] = state
        if state is None or state == (before or self._last.get(entity_id)):
            return
        self._last[entity_id] = state
        if moment < self._start:
            return
        own, user, parent = context
        if before is None or moment < armed:
            by = By.FOUND
        elif entity_id.startswith("binary_sensor."):
            by = By.SENSOR
        else:
            by = contexts.by(moment, entity_id, (own, user, parent))
        self.changes.add(moment, entity_id, state, by)


def _page(session: Session, given: dict[str, Any]) -> list[Any]:
    """Return some rows."""
    return list(session.connection().execute(_changed(), given))


@cache
def _changed() -> Select[Any]:
    """Select the rows of some entities with a new state, after a row at a time."""
    table, moment = STATES.c, STATES.c.last_updated_ts
    columns = (table.metadata_id, moment, table.state_id, table.state, table.context_id_bin)
    after = or_(moment > bindparam("after"), table.state_id > bindparam("last"))
    is_change = or_(table.last_changed_ts.is_(None), table.last_changed_ts == moment)
    wanted = (table.metadata_id.in_(bindparam("ids", expanding=True)), moment >= bindparam("after"), after)
    return (
        select(*columns, table.context_user_id_bin, table.context_parent_id_bin)
        .where(*wanted, moment < bindparam("end"), is_change)
        .order_by(moment, table.state_id)
        .limit(bindparam("most"))
    )


MAKERS: Final = ("automation", "script", "scene", "conversation", "assist_satellite")
"""Domains whose entities change in the context of their own actions."""
_RUNS: Final = ("automation_triggered", "script_started")
_CALL: Final = "call_service"
_HOME_APP: Final = "homekit_state_change"
"""Contexts of a user of an app outside of Home Assistant, who is no user here."""
_ECHO: Final = 15.0
"""Seconds in which a device reports the result of an action in a context of its own."""
_OLD: Final = 10.0
"""The age of a context, in seconds, from which on a delay and no person made the change."""
_AHEAD: Final = 60.0
"""Seconds by which a context id may be younger than its event; ids beyond that have no valid time."""
_MOST: Final = 100_000
"""The most events of one read."""

type Context = tuple[bytes | None, bytes | None, bytes | None]
"""The ids of a context, of its user, and of its parent."""


@dataclass(slots=True)
class Contexts:
    """The contexts of a time span."""

    machines: set[bytes] = field(default_factory=set)
    """Contexts of automations, scripts, scenes and assistants."""
    apps: set[bytes] = field(default_factory=set)
    """Contexts of apps outside of Home Assistant."""
    called: set[bytes] = field(default_factory=set)
    """Contexts of actions without a user and without a parent."""
    calls: dict[str, list[float]] = field(default_factory=dict)
    """The times of actions by others than persons on an entity or a whole domain, oldest first."""
    is_whole: bool = True
    """True if all events were read; otherwise unexplained changes have no known source."""

    def by(self, moment: float, entity_id: str, context: Context) -> By:
        """Return the source of a change."""
        own, user, parent = context
        if not own:
            return By.NO_CONTEXT
        own = bytes(own)
        age = moment - int.from_bytes(own[:6]) / 1000
        if parent or own in self.machines:
            return By.MACHINE
        if age < -_AHEAD:
            return By.NO_CONTEXT
        if age > _OLD:
            return By.MACHINE
        if own in self.called or not self.is_whole:
            return By.NOBODY_KNOWN
        if user or own in self.apps:
            return By.USER
        return By.MACHINE if self._is_echo(moment, entity_id) else By.DEVICE

    def _is_echo(self, moment: float, entity_id: str) -> bool:
        """Return whether something else than a person acted on an entity shortly before."""
        for name in (entity_id, entity_id.partition(".")[0]):
            calls = self.calls.get(name, ())
            index = bisect_right(calls, moment) - 1
            if index >= 0 and moment - calls[index] <= _ECHO:
                return True
        return False


def makers(session: Session) -> list[int]:
    """Return the metadata ids of all entities of MAKERS."""
    named = or_(*(StatesMeta.entity_id.like(f"{domain}.%") for domain in MAKERS))
    return list(session.execute(select(StatesMeta.metadata_id).where(named)).scalars())


def event_types(session: Session) -> dict[int, str]:
    """Return the relevant event types by their ids in the recorder."""
    wanted = EventTypes.event_type.in_((*_RUNS, _CALL, _HOME_APP))
    rows = session.execute(select(EventTypes.event_type_id, EventTypes.event_type).where(wanted))
    return {number: str(name) for number, name in rows}


def read_contexts(session: Session, ids: Iterable[int], types: Mapping[int, str], start: float, end: float) -> Contexts:
    """Return the contexts of a time span."""
    found = Contexts()
    given: dict[str, Any] = {"start": start, "end": end, "most": _MOST}
    connection = session.connection()
    if numbers := list(ids):
        rows = connection.execute(_made(), given | {"ids": numbers}).all()
        found.machines.update(bytes(own) for (own,) in rows if own)
        found.is_whole = len(rows) < _MOST
    if runs := [number for number, name in types.items() if name != _CALL]:
        rows = connection.execute(_happened(), given | {"types": runs}).all()
        found.is_whole &= len(rows) < _MOST
        for own, number in rows:
            (found.apps if types[number] == _HOME_APP else found.machines).add(bytes(own or b""))
    if calls := [number for number, name in types.items() if name == _CALL]:
        rows = connection.execute(_called(), given | {"types": calls}).all()
        found.is_whole &= len(rows) < _MOST
        for row in rows:
            _add_call(found, row)
    return found


def _add_call(found: Contexts, row: Any) -> None:
    """Store an action and its entities, unless a person called it."""
    moment, own, user, parent, text = row
    context = bytes(own or b"")
    if parent or context in found.machines or (not user and context not in found.apps):
        for name in _called_for(text):
            found.calls.setdefault(name, []).append(moment)
        if not parent:
            found.called.add(context)


def _called_for(text: str | None) -> list[str]:
    """Return the entities that an action names; if it names places, its domain stands for all of them."""
    try:
        data = json_loads_object(text or "{}")
    except ValueError:
        return []
    given = data.get("service_data")
    named = given.get("entity_id") if isinstance(given, dict) else None
    if isinstance(named, str):
        named = [one.strip() for one in named.split(",")]
    found = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    return found if found and "all" not in found else [str(data.get("domain"))]


@cache
def _made() -> Select[Any]:
    """Select the contexts of the rows of some entities."""
    moment = STATES.c.last_updated_ts
    wanted = (STATES.c.metadata_id.in_(bindparam("ids", expanding=True)), moment >= bindparam("start"))
    return select(STATES.c.context_id_bin).where(*wanted, moment < bindparam("end")).limit(bindparam("most"))


@cache
def _happened() -> Select[Any]:
    """Select the contexts of events of some types."""
    return select(Events.context_id_bin, Events.event_type_id).where(*_of_types()).limit(bindparam("most"))


@cache
def _called() -> Select[Any]:
    """Select the calls of actions."""
    ids = (Events.context_id_bin, Events.context_user_id_bin, Events.context_parent_id_bin)
    joined = select(Events.time_fired_ts, *ids, EventData.shared_data).outerjoin(
        EventData, Events.data_id == EventData.data_id
    )
    return joined.where(*_of_types()).order_by(Events.time_fired_ts).limit(bindparam("most"))


def _of_types() -> tuple[Any, ...]:
    """Return the conditions on the type and time of events."""
    moment = Events.time_fired_ts
    named = Events.event_type_id.in_(bindparam("types", expanding=True))
    return named, moment >= bindparam("start"), moment < bindparam("end")

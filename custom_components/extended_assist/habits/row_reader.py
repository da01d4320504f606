"""The rows of a home, read a part of the time at once, and kept as changes; runs in the recorder's executor."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import batched
from time import monotonic
from typing import Any, Final

from sqlalchemy import Select, bindparam, or_, select
from sqlalchemy.orm import Session

from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance

from ..recorder import read_session
from ..recorder.states import STATES
from ..simulation.historical_state import Stretch
from .changes import By, Changes
from .contexts import Contexts, event_types, makers, read_contexts
from .kinds import meant

_PART: Final = 86_400.0
"""Seconds that are read at once."""
_BEFORE: Final = 60.0
"""Seconds before a part, of which contexts are read as well."""
_PAGE: Final = 10_000
"""Rows that are held."""
_TOO_MANY: Final = 3_000
"""Rows of one entity in one day, from which on it is left out."""
_IDS_AT_ONCE: Final = 500

type _Row = tuple[int, float, int, str | None, bytes | None, bytes | None, bytes | None]


class RowReader:
    """Reads the changes of some entities."""

    def __init__(self, hass: HomeAssistant, entity_ids: Collection[str], stops_at: float) -> None:
        """Take the entities, and when, by monotonic(), to stop."""
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
        """How far it came; None where it read everything."""

    def read(self, stretches: Sequence[Stretch], start: float, end: float) -> Changes:
        """Return the changes from start to end in the times in which Home Assistant ran.

        Stretches begin a day earlier, for what was so at the start.
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
        """Take the rows from start to end."""
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
        """Yield the rows of some entities in their order, those that change too often left out."""
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
        """Keep what a row changed."""
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
    """Select the rows of some entities in which the state is another one, after a row of a moment."""
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

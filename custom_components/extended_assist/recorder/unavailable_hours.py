"""The hours in which a sensor's state was not a number, which statistics do not show.

Searching them in its rows takes half the time of reading all rows. So they are recorded as they happen, and the results of
searches are cached, also over restarts: the records of a past hour do not change. The cache is valid up to the last full
hour before it was saved, and for the same database only.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
import math
from typing import Any

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session
import voluptuous as vol

from homeassistant.const import EVENT_HOMEASSISTANT_STOP, EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, State, callback
from homeassistant.helpers.recorder import DATA_INSTANCE
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..ha_compat.recorder import RecorderRuns
from ..storage import NUMBER, async_load, shape
from .engine import Engine
from .periods import HOUR
from .states import STATES, Series, as_number, find_rows, within

_MOST = 1_000
"""The most rows without a number; sensors with more are read row by row."""
_REMEMBERED = 500
"""The most sensors with cached searches."""
_MOST_KEPT = 300
"""The latest unavailable hours of a sensor that are stored; earlier ones are searched again after a restart."""
_SAME_RUN = 0.001
"""Seconds to which databases round the start of a recorder run."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The result of a search in a sensor's rows; start and end are full hours, in seconds since the epoch."""

    entity_id: str
    start: float
    end: float
    hours: frozenset[int]


@dataclass(frozen=True, slots=True)
class Kept:
    """The stored results, by the metadata id of each sensor."""

    run: float
    """The start of the recorder run at that time; a database without such a run is another one."""
    sensors: dict[int, LookedUp]

    @property
    def end(self) -> float:
        """Return the time up to which the results are valid."""
        return max((known.end for known in self.sensors.values()), default=0.0)

    def up_to(self, moment: float) -> Kept:
        """Return the results for full hours before a time; those for later hours come from a wrong clock."""
        last = moment // HOUR * HOUR
        cut = {key: replace(known, end=min(known.end, last)) for key, known in self.sensors.items()}
        return Kept(self.run, {key: known for key, known in cut.items() if known.start < known.end})


class Interruptions:
    """Hours, counted from the epoch, in which a sensor was, or may have been, no number."""

    def __init__(self, noticed_from: float = math.inf, changed: Callable[[], None] = lambda: None) -> None:
        """Start empty; all state changes from `noticed_from` on are recorded.

        `changed` is called, from any thread, when there is more to store.
        """
        self.noticed_from = noticed_from
        self._changed = changed
        self._kept: Kept | None = None
        self._kept_until = 0.0
        self._appeared: dict[str, float] = {}
        self._noticed: dict[str, set[int]] = {}
        self._looked_up: dict[int, LookedUp] = {}

    @callback
    def async_notice(self, event: Event[EventStateChangedData]) -> None:
        """Record that a sensor became or stopped being a number."""
        data, moment = event.data, event.time_fired_timestamp
        entity_id, new = data["entity_id"], data["new_state"]
        if new is not None:
            moment = new.last_updated_timestamp
        if data["old_state"] is None:
            # Who had this id before may have been another one, and what it had as another id was not noticed here.
            self._appeared[entity_id] = moment
            self._noticed.pop(entity_id, None)
        self._noticed.setdefault(entity_id, set()).add(_hour(moment))
        if moment < self._kept_until:  # The clock went back.
            self._changed()

    @callback
    def async_begin_with(self, kept: Kept) -> None:
        """Use the stored results of the time before."""
        self._kept, self._kept_until = kept, kept.end
        # Where the clock went back, there is something after the moment from which on all is noticed.
        self.noticed_from = max(self.noticed_from, kept.end)

    def forget(self) -> None:
        """Drop the cached searches."""
        self._kept = None
        self._looked_up.clear()

    @callback
    def async_known(self, now: float, run: float, is_there: Callable[[str], bool]) -> Kept:
        """Return the results to store for the full hours before now.

        A sensor that no longer exists under its id is left out: it may continue under another one unnoticed.
        """
        if self._kept is not None:  # Nobody has looked yet whether it is of this database.
            self._kept_until = min(self._kept_until, now)
            return self._kept.up_to(now)
        known: dict[int, LookedUp] = {}
        for metadata_id, one in self._looked_up.copy().items():
            noticed = frozenset(self._noticed.get(one.entity_id, ()))
            is_whole = is_there(one.entity_id) and one.end >= self._noticed_since(one.entity_id)
            hours = sorted(one.hours | noticed)
            start = one.start
            if len(hours) > _MOST_KEPT:
                hours = hours[-_MOST_KEPT:]
                start = max(start, float(hours[0] * HOUR))
            end = now // HOUR * HOUR if is_whole else one.end
            known[metadata_id] = LookedUp(one.entity_id, start, end, frozenset(hours))
        kept = Kept(run, known).up_to(now)
        self._kept_until = kept.end
        return kept

    def _noticed_since(self, entity_id: str) -> float:
        """Return the first full hour from which all changes of a sensor were recorded."""
        since = max(self.noticed_from, self._appeared.get(entity_id, 0))
        return since if math.isinf(since) else math.ceil(since / HOUR) * HOUR

    def read(self, session: Session, series: Series, entity_id: str, start: float, end: float) -> set[int] | None:
        """Return the unavailable hours between two full hours, or None if there are too many."""
        if self._kept is not None:
            self._take_kept(session, self._kept)
        until = min(end, max(start, self._noticed_since(entity_id)))
        looked_up = self._look_up(session, series, entity_id, start, until) if start < until else ()
        return None if looked_up is None else {*looked_up, *self._noticed.get(entity_id, set()).copy()}

    def _take_kept(self, session: Session, kept: Kept) -> None:
        """Use the stored results if they are of this database."""
        if session.execute(_run(), _moments_near(kept.run)).first():
            for metadata_id, known in kept.sensors.items():
                self._looked_up.setdefault(metadata_id, known)
        self._kept = None

    def _look_up(
        self, session: Session, series: Series, entity_id: str, start: float, end: float
    ) -> Iterable[int] | None:
        """Search the rows, unless the result is cached."""
        before = known = self._looked_up.pop(series.metadata_id, None)
        if known is None or start > known.end or end < known.start:
            known = LookedUp(entity_id, start, start, frozenset())
        missing = ((start, known.start), (known.end, end))
        for begin, stop in missing:
            if begin < stop:
                found = _read(session, series, begin, stop)
                if found is None:
                    return None
                known = LookedUp(entity_id, min(begin, known.start), max(stop, known.end), known.hours | found)
        self._looked_up[series.metadata_id] = known = replace(known, entity_id=entity_id)
        if known != before:
            self._changed()
        if len(self._looked_up) > _REMEMBERED:
            del self._looked_up[next(iter(self._looked_up))]
        return known.hours


def _hour(moment: float) -> int:
    """Return the hour of a time."""
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
    """Select the rows that may not be numbers, and the time of the next row."""
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


@cache
def _run() -> Select[Any]:
    """Select a recorder run that began between two times."""
    return select(RecorderRuns.run_id).where(
        RecorderRuns.start >= bindparam("first"), RecorderRuns.start <= bindparam("last")
    )


def _moments_near(run: float) -> dict[str, Any]:
    """Return the times between which a run began."""
    return {
        "first": dt_util.utc_from_timestamp(run - _SAME_RUN),
        "last": dt_util.utc_from_timestamp(run + _SAME_RUN),
    }


@callback
def interrupts(data: EventStateChangedData) -> bool:
    """Return whether a sensor with statistics became or stopped being a number."""
    if not data["entity_id"].startswith("sensor."):
        return False
    states = (data["old_state"], data["new_state"])
    return not all(map(_is_number, states)) and any(state and "state_class" in state.attributes for state in states)


def _is_number(state: State | None) -> bool:
    """Return whether a state is a number."""
    return state is not None and as_number(state.state) is not None


_VERSION = 1
_SAVE_DELAY = 1.0
"""Seconds, less than the recorder's commit interval: after a clock went back, the file is corrected before the rows."""

_STORED = shape(
    {
        "run": NUMBER,
        "sensors": [
            shape({"metadata_id": int, "entity_id": str, "start": NUMBER, "end": NUMBER, "hours": [int]}),
        ],
    }
)


def _read_cache(stored: Any) -> Kept | None:
    """Return the stored interruptions."""
    if stored is None:
        return None
    valid = _STORED(stored)
    sensors = {
        one["metadata_id"]: LookedUp(one["entity_id"], one["start"], one["end"], frozenset(one["hours"]))
        for one in valid["sensors"]
    }
    if any(known.start > known.end for known in sensors.values()):
        raise vol.Invalid("a span ends before it begins")
    return Kept(valid["run"], sensors)


def _written(kept: Kept) -> dict[str, Any]:
    """Return interruptions in the stored form."""
    sensors = [
        {
            "metadata_id": metadata_id,
            "entity_id": known.entity_id,
            "start": known.start,
            "end": known.end,
            "hours": sorted(known.hours),
        }
        for metadata_id, known in kept.sensors.items()
    ]
    return {"run": kept.run, "sensors": sensors}


class UnavailableHours:
    """The unavailable hours with their store."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the store; async_load must run before use."""
        self.interruptions = Interruptions(dt_util.utcnow().timestamp(), self._changed)
        self._hass = hass
        self._store: Store[dict[str, Any]] = Store(hass, _VERSION, f"{DOMAIN}.interruptions")
        self._run = self._run_now

    async def async_load(self) -> None:
        """Record changes from now on, and load the stored results."""
        now = self.interruptions.noticed_from
        self._hass.bus.async_listen(EVENT_STATE_CHANGED, self.interruptions.async_notice, event_filter=interrupts)
        self._hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, self._async_stop)
        if (kept := await async_load(self._hass, self._store, _read_cache)) is None:
            return
        if kept.end > now:
            # The clock went back: what is written must not say that the hours to come are known.
            await self._store.async_save(_written(kept.up_to(now)))
        self.interruptions.async_begin_with(kept)

    async def async_clear(self) -> None:
        """Delete all results, also on the disk."""
        self.interruptions.forget()
        await self._store.async_remove()

    @property
    def _run_now(self) -> float | None:
        """Return the start of the current recorder run; it changes if the recorder starts with another database."""
        instance = self._hass.data.get(DATA_INSTANCE)
        return instance.recorder_runs_manager.recording_start.timestamp() if instance else None

    def _changed(self) -> None:
        """Store soon."""
        self._hass.loop.call_soon_threadsafe(self._async_store)

    @callback
    def _async_stop(self, _: Event) -> None:
        """Store the results when Home Assistant stops."""
        self._async_store()

    @callback
    def _async_store(self) -> None:
        """Schedule saving, at the latest when Home Assistant stops."""
        if self._run_now is not None:
            self._store.async_delay_save(self._data, _SAVE_DELAY)

    @callback
    def _data(self) -> dict[str, Any]:
        """Return the known interruptions in the stored form."""
        run = self._run_now
        if run != self._run:
            self.interruptions.forget()
            self._run = run
        is_there = self._hass.states.get
        known = self.interruptions.async_known(
            dt_util.utcnow().timestamp(), run or 0.0, lambda entity_id: is_there(entity_id) is not None
        )
        return _written(known)


_KEPT: HassKey[UnavailableHours] = HassKey(f"{DOMAIN}_interruptions")


@singleton(_KEPT, async_=True)
async def async_get_kept(hass: HomeAssistant) -> UnavailableHours:
    """Return the unavailable hours; the first call starts the recording."""
    kept = UnavailableHours(hass)
    await kept.async_load()
    return kept

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
"""Rows without a number; a sensor that has more of them is read row by row."""
_REMEMBERED = 500
"""Sensors of which is remembered what was looked up."""
_MOST_KEPT = 300
"""Interrupted hours of a sensor that are kept over a restart, the latest; what was before them is looked up again."""
_SAME_RUN = 0.001
"""Seconds by which databases round when a run of the recorder began."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What the rows of a span say of a sensor; start and end are full hours, in seconds since the epoch."""

    entity_id: str
    start: float
    end: float
    hours: frozenset[int]


@dataclass(frozen=True, slots=True)
class Kept:
    """What was known when it was written, by the recorder's number of each sensor."""

    run: float
    """When the recorder's run of that time began; a database in which there is no such run is another one."""
    sensors: dict[int, LookedUp]

    @property
    def end(self) -> float:
        """The moment up to which something is known."""
        return max((known.end for known in self.sensors.values()), default=0.0)

    def up_to(self, moment: float) -> Kept:
        """Return the interruptions of the full hours before a moment; those that a clock told of later hours were wrong once."""
        last = moment // HOUR * HOUR
        cut = {key: replace(known, end=min(known.end, last)) for key, known in self.sensors.items()}
        return Kept(self.run, {key: known for key, known in cut.items() if known.start < known.end})


class Interruptions:
    """Hours, counted from the epoch, in which there was something else than a number, or may have been."""

    def __init__(self, noticed_from: float = math.inf, changed: Callable[[], None] = lambda: None) -> None:
        """Begin with nothing; noticed_from is the moment from which on all that happens is noticed.

        changed is called, from any thread, when there is more to keep.
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
        if moment < self._kept_until:  # The clock went back.
            self._changed()

    @callback
    def async_begin_with(self, kept: Kept) -> None:
        """Take what was kept of the time before."""
        self._kept, self._kept_until = kept, kept.end
        # Where the clock went back, there is something after the moment from which on all is noticed.
        self.noticed_from = max(self.noticed_from, kept.end)

    def forget(self) -> None:
        """Forget what was looked up."""
        self._kept = None
        self._looked_up.clear()

    @callback
    def async_known(self, now: float, run: float, is_there: Callable[[str], bool]) -> Kept:
        """Return the interruptions to keep of the full hours before now: those looked up, and those noticed since.

        A sensor that is not there under its id any more may go on under another one, where that was not noticed.
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
        """Return the first full hour from which on everything about a sensor was noticed."""
        since = max(self.noticed_from, self._appeared.get(entity_id, 0))
        return since if math.isinf(since) else math.ceil(since / HOUR) * HOUR

    def read(self, session: Session, series: Series, entity_id: str, start: float, end: float) -> set[int] | None:
        """Return the interrupted hours from one full hour to another, or None where there are too many to be told."""
        if self._kept is not None:
            self._take_kept(session, self._kept)
        until = min(end, max(start, self._noticed_since(entity_id)))
        looked_up = self._look_up(session, series, entity_id, start, until) if start < until else ()
        return None if looked_up is None else {*looked_up, *self._noticed.get(entity_id, set()).copy()}

    def _take_kept(self, session: Session, kept: Kept) -> None:
        """Take over what was kept, where it is of this database."""
        if session.execute(_run(), _moments_near(kept.run)).first():
            for metadata_id, known in kept.sensors.items():
                self._looked_up.setdefault(metadata_id, known)
        self._kept = None

    def _look_up(
        self, session: Session, series: Series, entity_id: str, start: float, end: float
    ) -> Iterable[int] | None:
        """Return the interruptions in the rows, where they are not remembered yet."""
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


@cache
def _run() -> Select[Any]:
    """Select a run of the recorder that began between two moments."""
    return select(RecorderRuns.run_id).where(
        RecorderRuns.start >= bindparam("first"), RecorderRuns.start <= bindparam("last")
    )


def _moments_near(run: float) -> dict[str, Any]:
    """Return the moments between which a run began."""
    return {
        "first": dt_util.utc_from_timestamp(run - _SAME_RUN),
        "last": dt_util.utc_from_timestamp(run + _SAME_RUN),
    }


@callback
def interrupts(data: EventStateChangedData) -> bool:
    """Return whether a sensor with statistics began or ceased to say a number."""
    if not data["entity_id"].startswith("sensor."):
        return False
    states = (data["old_state"], data["new_state"])
    return not all(map(_is_number, states)) and any(state and "state_class" in state.attributes for state in states)


def _is_number(state: State | None) -> bool:
    """Return whether a state is a number."""
    return state is not None and as_number(state.state) is not None


_VERSION = 1
_SAVE_DELAY = 1.0
"""Seconds, fewer than it takes the recorder to write: where a clock went back, what is kept is put right before its rows."""

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


class KeptInterruptions:
    """What is known of interruptions, with the file in which it is kept."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take where it is stored; load before use."""
        self.interruptions = Interruptions(dt_util.utcnow().timestamp(), self._changed)
        self._hass = hass
        self._store: Store[dict[str, Any]] = Store(hass, _VERSION, f"{DOMAIN}.interruptions")
        self._run = self._run_now

    async def async_load(self) -> None:
        """Notice interruptions from now on, and read what was stored of the time before."""
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
        """Forget everything, also on the disk."""
        self.interruptions.forget()
        await self._store.async_remove()

    @property
    def _run_now(self) -> float | None:
        """When the recorder's run began; it is another one where it has to begin with another database."""
        instance = self._hass.data.get(DATA_INSTANCE)
        return instance.recorder_runs_manager.recording_start.timestamp() if instance else None

    def _changed(self) -> None:
        """Store soon."""
        self._hass.loop.call_soon_threadsafe(self._async_store)

    @callback
    def _async_stop(self, _: Event) -> None:
        """Store what was noticed up to the end."""
        self._async_store()

    @callback
    def _async_store(self) -> None:
        """Store soon, and in any case before Home Assistant stops."""
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


_KEPT: HassKey[KeptInterruptions] = HassKey(f"{DOMAIN}_interruptions")


@singleton(_KEPT, async_=True)
async def async_get_kept(hass: HomeAssistant) -> KeptInterruptions:
    """Return the known interruptions; those from the first call on are noticed."""
    kept = KeptInterruptions(hass)
    await kept.async_load()
    return kept

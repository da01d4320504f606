"""The activity of entities, and the contexts that caused it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, or_, select
from sqlalchemy.orm import Session, aliased

from homeassistant.core import HomeAssistant
from homeassistant.util.json import json_loads_object

from ..ha_compat.recorder import EventData, Events, EventTypes, States, StatesMeta
from . import read_session
from .engine import engine_of
from .states import GAPS, Held, Series, find_rows, is_gap_value, last_change, oldest_moment

_RUNS = ("automation_triggered", "script_started")
"""Events that record a run."""
_MAX_LEVELS = 5
"""The most parents of a context that are followed."""
_MAX_CONTEXTS = 500
_MAX_QUIET = 20
"""The most entities without an entry in the span whose last entry before it is read."""


@dataclass(frozen=True, slots=True)
class ContextIds:
    """The ids of a context in the recorder's format."""

    id: bytes | None
    parent: bytes | None
    user: bytes | None


_NO_CONTEXT = ContextIds(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A change of state, or a run of an automation or script."""

    moment: float
    entity_id: str
    state: str | None
    """The new state; None for a run."""
    context: ContextIds
    is_change: bool = True
    """True if there was another value before; otherwise nothing older is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    """The current state, which may not be recorded yet."""

    moment: float
    """The time of its last change."""
    state: str
    context: ContextIds
    ran: float | None = None
    """The time of the last run of an automation or script."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run of an automation or script, with the description of what triggered it."""

    moment: float
    entity_id: str
    source: str | None


@dataclass(slots=True)
class Origin:
    """The origin of a context, as far as it is known."""

    runs: list[RecordedRun] = field(default_factory=list)
    """Automations and scripts that ran in it, the last one first."""
    state: tuple[str, str] | None = None
    """The first entity that changed in it, and its state."""
    parent: bytes | None = None
    user: bytes | None = None


@dataclass(frozen=True, slots=True)
class LogbookEntries:
    """The activity of entities."""

    entries: list[Entry]
    """The newest entries of a span, newest first."""
    before: list[Entry]
    """The last entries before the span, of entities without one in it."""
    origins: dict[bytes, Origin]
    recorded_since: float | None


def read_logbook(
    hass: HomeAssistant, latest: dict[str, Latest], span: tuple[float, float], count: int
) -> LogbookEntries:
    """Read the newest entries of entities in a span and, for few entities, those before it if all entries are listed."""
    with read_session(hass) as session:
        found = {
            str(entity_id): metadata_id
            for entity_id, metadata_id in session.execute(
                select(StatesMeta.entity_id, StatesMeta.metadata_id).where(StatesMeta.entity_id.in_(list(latest)))
            ).tuples()
        }
        entries = [
            entry
            for entity_id, metadata_id in found.items()
            for entry in _changes(session, (entity_id, metadata_id), latest[entity_id], span, count)
        ]
        runs = [entity_id for entity_id in latest if entity_id.startswith(("automation.", "script."))]
        entries += _runs(session, runs, span, count)
        entries = sorted(entries, key=lambda entry: entry.moment, reverse=True)[:count]
        quiet = latest.keys() - {entry.entity_id for entry in entries}
        before = []
        if len(entries) < count and len(latest) <= _MAX_QUIET:
            earlier = (_before(session, (one, found.get(one)), latest[one], span[0]) for one in quiet)
            before = sorted(filter(None, earlier), key=lambda entry: entry.moment, reverse=True)
        origins = _origins(session, (entry.context for entry in (*entries, *before)))
        return LogbookEntries(entries, before, origins, oldest_moment(session))


def _before(session: Session, entity: tuple[str, int | None], latest: Latest, start: float) -> Entry | None:
    """Return the last change or run of an entity before a time by a few index look-ups."""
    entity_id, metadata_id = entity
    if latest.ran is not None and latest.ran <= start:
        return Entry(moment=latest.ran, entity_id=entity_id, state=None, context=_NO_CONTEXT)
    series = None if metadata_id is None else Series(engine_of(session), metadata_id)
    if latest.moment <= start:
        value: str | None = latest.state
        since = latest.moment
    elif series and (rows := find_rows(session, series, start, start)):
        value, since = rows.first.value, rows.since
    else:
        return None
    context = latest.context
    if series:
        held = last_change(session, series, value, since)
    else:
        held = None if is_gap_value(value) else Held(str(value), since, is_change=False)
    if held is None:
        return None
    if series and held.since != latest.moment:
        at = {"metadata_id": metadata_id, "moment": held.since}
        context = ContextIds(*(session.execute(_contexts(), at).first() or (None, None, None)))
    return Entry(
        moment=held.since,
        entity_id=entity_id,
        state=held.value,
        context=context if held.is_change else _NO_CONTEXT,
        is_change=held.is_change,
    )


@cache
def _contexts() -> Select[Any]:
    """Select the context of the row written at :moment."""
    return select(States.context_id_bin, States.context_parent_id_bin, States.context_user_id_bin).where(
        States.metadata_id == bindparam("metadata_id"), States.last_updated_ts == bindparam("moment")
    )


def _changes(
    session: Session, entity: tuple[str, int], latest: Latest, span: tuple[float, float], count: int
) -> list[Entry]:
    """Return the newest changes of an entity from one known state to another."""
    (entity_id, metadata_id), (start, end) = entity, span
    rows = session.execute(_changed(), {"metadata_id": metadata_id, "start": start, "end": end, "count": count})
    entries = [
        Entry(moment=moment, entity_id=entity_id, state=state, context=ContextIds(*context))
        for moment, state, *context in rows
    ]
    if (
        start < latest.moment < end
        and latest.state not in GAPS
        and not (entries and entries[0].moment >= latest.moment)
    ):
        before = session.execute(_known_before(), {"metadata_id": metadata_id, "moment": latest.moment}).scalar()
        if before is not None and before != latest.state:
            entry = Entry(moment=latest.moment, entity_id=entity_id, state=latest.state, context=latest.context)
            entries.insert(0, entry)
    return entries


@cache
def _known_before() -> Select[Any]:
    """Select the last known state before :moment."""
    return (
        select(States.state)
        .where(
            States.metadata_id == bindparam("metadata_id"),
            States.last_updated_ts < bindparam("moment"),
            States.state.not_in(GAPS),
        )
        .order_by(States.last_updated_ts.desc())
        .limit(1)
    )


@cache
def _changed() -> Select[Any]:
    """Select the newest rows whose state differs from the last known one before."""
    earlier = aliased(States)
    before = (
        select(earlier.state)
        .where(
            earlier.metadata_id == bindparam("metadata_id"),
            earlier.last_updated_ts < States.last_updated_ts,
            earlier.state.not_in(GAPS),
        )
        .order_by(earlier.last_updated_ts.desc())
        .limit(1)
        .scalar_subquery()
    )
    return (
        select(
            States.last_updated_ts,
            States.state,
            States.context_id_bin,
            States.context_parent_id_bin,
            States.context_user_id_bin,
        )
        .where(
            States.metadata_id == bindparam("metadata_id"),
            States.last_updated_ts > bindparam("start"),
            States.last_updated_ts < bindparam("end"),
            or_(States.last_changed_ts.is_(None), States.last_changed_ts == States.last_updated_ts),
            States.state.not_in(GAPS),
            States.state != before,
        )
        .order_by(States.last_updated_ts.desc())
        .limit(bindparam("count"))
    )


def _runs(session: Session, entity_ids: list[str], span: tuple[float, float], count: int) -> list[Entry]:
    """Return the newest runs of automations and scripts."""
    if not entity_ids:
        return []
    entity = engine_of(session).json_text(EventData.__table__.c.shared_data, "entity_id")
    rows = session.execute(
        select(
            Events.time_fired_ts,
            entity,
            Events.context_id_bin,
            Events.context_parent_id_bin,
            Events.context_user_id_bin,
        )
        .join(EventData, Events.data_id == EventData.data_id)
        .where(
            Events.event_type_id.in_(_run_types(session)),
            Events.time_fired_ts > span[0],
            Events.time_fired_ts < span[1],
            entity.in_(entity_ids),
        )
        .order_by(Events.time_fired_ts.desc())
        .limit(count)
    )
    return [
        Entry(moment=moment or 0, entity_id=entity_id, state=None, context=ContextIds(*context))
        for moment, entity_id, *context in rows
    ]


def _run_types(session: Session) -> list[int]:
    """Return the ids of the event types that record a run."""
    return list(session.execute(select(EventTypes.event_type_id).where(EventTypes.event_type.in_(_RUNS))).scalars())


def _origins(session: Session, contexts: Iterable[ContextIds]) -> dict[bytes, Origin]:
    """Return the origins of contexts and of their parents."""
    origins: dict[bytes, Origin] = {}
    wanted = {known for context in contexts for known in (context.id, context.parent) if known}
    types = _run_types(session)
    for _ in range(_MAX_LEVELS):
        new = [known for known in wanted if known not in origins][:_MAX_CONTEXTS]
        if not new:
            break
        origins |= {known: Origin() for known in new}
        _add_runs(session, origins, new, types)
        _add_states(session, origins, new)
        wanted = {origin.parent for origin in origins.values() if origin.parent}
    return origins


def _add_runs(session: Session, origins: dict[bytes, Origin], contexts: list[bytes], types: list[int]) -> None:
    """Add the automations and scripts that ran in contexts."""
    rows = session.execute(
        select(
            Events.context_id_bin,
            Events.context_parent_id_bin,
            Events.context_user_id_bin,
            Events.time_fired_ts,
            EventData.shared_data,
        )
        .join(EventData, Events.data_id == EventData.data_id)
        .where(Events.context_id_bin.in_(contexts), Events.event_type_id.in_(types))
        .order_by(Events.time_fired_ts.desc())
    )
    for context, parent, user, moment, shared_data in rows:
        origin = origins[bytes(context or b"")]
        data = json_loads_object(shared_data or "{}")
        source = data.get("source")
        origin.runs.append(
            RecordedRun(moment or 0, str(data.get("entity_id")), None if source is None else str(source))
        )
        origin.parent, origin.user = origin.parent or parent, origin.user or user


def _add_states(session: Session, origins: dict[bytes, Origin], contexts: list[bytes]) -> None:
    """Add the first change of state in each context, of which there may be many."""
    first = (
        select(func.min(States.state_id))
        .where(States.context_id_bin.in_(contexts))
        .group_by(States.context_id_bin)
        .scalar_subquery()
    )
    rows = session.execute(
        select(
            States.context_id_bin,
            States.context_parent_id_bin,
            States.context_user_id_bin,
            StatesMeta.entity_id,
            States.state,
        )
        .join(StatesMeta, States.metadata_id == StatesMeta.metadata_id)
        .where(States.state_id.in_(first))
    )
    for context, parent, user, entity_id, state in rows:
        origin = origins[bytes(context or b"")]
        origin.state = (str(entity_id), str(state))
        origin.parent, origin.user = origin.parent or parent, origin.user or user

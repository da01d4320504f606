"""Writes a home into the recorder of a running Home Assistant."""

from itertools import batched
from typing import Any

from sqlalchemy import insert, select

from homeassistant.components.recorder.db_schema import (
    EventData,
    Events,
    EventTypes,
    RecorderRuns,
    States,
    StatesMeta,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.recorder import get_instance, session_scope
from homeassistant.util import dt as dt_util

from .homes import Home, Written

_AT_ONCE = 5_000


async def async_move(hass: HomeAssistant, home: Home) -> None:
    """Let Home Assistant be where a home is."""
    await hass.config.async_update(time_zone=home.zone, latitude=home.latitude, longitude=home.longitude)


async def async_write(hass: HomeAssistant, home: Home) -> None:
    """Write everything of a home in bulk."""
    await get_instance(hass).async_add_executor_job(_write, hass, home)


def _write(hass: HomeAssistant, home: Home) -> None:
    with session_scope(hass=hass) as session:
        for begin, end in home.runs:
            span = {"start": dt_util.utc_from_timestamp(begin), "end": dt_util.utc_from_timestamp(end)}
            session.add(RecorderRuns(**span, closed_incorrect=False, created=span["start"]))
        entities = {row.entity_id for row in home.rows}
        known = dict(session.execute(select(StatesMeta.entity_id, StatesMeta.metadata_id)).tuples().all())
        if missing := sorted(entities - known.keys()):
            session.execute(insert(StatesMeta), [{"entity_id": entity_id} for entity_id in missing])
        known = dict(session.execute(select(StatesMeta.entity_id, StatesMeta.metadata_id)).tuples().all())
        for some in batched(home.rows, _AT_ONCE, strict=False):
            session.execute(
                insert(States.__table__),
                [
                    {"metadata_id": known[row.entity_id], "state": row.state, "last_updated_ts": row.moment}
                    | _context(row)
                    for row in some
                ],
            )
        _write_events(session, home.events)


def _context(row: Written) -> dict[str, Any]:
    return {"context_id_bin": row.own, "context_user_id_bin": row.user, "context_parent_id_bin": row.parent}


def _write_events(session: Any, events: list[tuple[str, Written]]) -> None:
    names = {name for name, _ in events}
    known = dict(session.execute(select(EventTypes.event_type, EventTypes.event_type_id)).tuples().all())
    if missing := sorted(names - known.keys()):
        session.execute(insert(EventTypes), [{"event_type": name} for name in missing])
    known = dict(session.execute(select(EventTypes.event_type, EventTypes.event_type_id)).tuples().all())
    data: dict[str, int] = {}
    for entity_id in sorted({row.entity_id for _, row in events}):
        domain = entity_id.partition(".")[0]
        text = json_dumps({"domain": domain, "service": "turn_on", "service_data": {"entity_id": entity_id}})
        kept = EventData(shared_data=text, hash=len(data))
        session.add(kept)
        session.flush()
        data[entity_id] = kept.data_id
    for some in batched(events, _AT_ONCE, strict=False):
        session.execute(
            insert(Events.__table__),
            [
                {"event_type_id": known[name], "time_fired_ts": row.moment, "data_id": data[row.entity_id]}
                | _context(row)
                for name, row in some
            ],
        )

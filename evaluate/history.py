"""Writes the past of a house into a new recorder database, as Home Assistant itself would have recorded it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
import json
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, insert

from demo.history import (
    COMPILE_DELAY,
    PERIOD,
    SHORT_TERM_DAYS,
    STATE_COLUMNS,
    STATISTIC_COLUMNS,
    context_id,
    insert_rows,
    mean_of_hour,
    statistic_metadata,
    sum_of_hour,
    write_runs,
)
from homeassistant.components.recorder.db_schema import (
    Base,
    EventData,
    Events,
    EventTypes,
    StateAttributes,
    States,
    StatesMeta,
    Statistics,
    StatisticsMeta,
    StatisticsShortTerm,
)

from .house import House, Thing, midnight

CAUSES = {"light 1": "dusk", "light 2": "arrival"}
"""What an automation turns on, and which."""
_ON_AT_DUSK = "time"
_NOT_RECORDED = frozenset({"calendar", "todo"})

type Contexts = dict[tuple[str, datetime], bytes]
"""The contexts of changes and runs, by role and moment."""


def write_past(file: Path, house: House) -> None:
    """Write states, runs of automations and statistics into a database that does not exist yet."""
    engine = create_engine(f"sqlite:///{file}")
    Base.metadata.create_all(engine)
    contexts: Contexts = {}
    with engine.begin() as connection:
        write_runs(connection, midnight(house.first_day), house.end)
        _write_states(connection, house, contexts)
        _write_automation_runs(connection, house, contexts)
        _write_statistics(connection, house)
    engine.dispose()


def attributes_of(thing: Thing) -> dict[str, Any]:
    """Return the attributes that are recorded of a thing."""
    found = {
        "friendly_name": thing.name,
        "device_class": thing.device_class,
        "unit_of_measurement": thing.unit,
        "state_class": thing.state_class,
    }
    return {key: value for key, value in found.items() if value is not None}


def _context(contexts: Contexts, role: str, at: datetime) -> bytes:
    return contexts.setdefault((role, at), context_id(at.timestamp()))


def _write_states(connection: Connection, house: House, contexts: Contexts) -> None:
    rows: list[tuple[Any, ...]] = []
    attributes: list[tuple[Any, ...]] = []
    for number, (role, thing) in enumerate(house.things.items(), 1):
        connection.execute(insert(StatesMeta), {"metadata_id": number, "entity_id": thing.entity_id})
        if thing.domain in _NOT_RECORDED:
            continue
        shared = json.dumps(attributes_of(thing)).encode()
        attributes.append((number, StateAttributes.hash_shared_attrs_bytes(shared), shared.decode()))
        last, last_id = None, None
        for at, state in house.past[role]:
            if state == last:
                continue
            context = _context(contexts, CAUSES.get(role, role) if state == "on" else role, at)
            rows.append((len(rows) + 1, number, state, number, at.timestamp(), None, last_id, 0, context))
            last, last_id = state, len(rows)
    insert_rows(connection, StateAttributes, ("attributes_id", "hash", "shared_attrs"), attributes)
    insert_rows(connection, States, STATE_COLUMNS, rows)


def _write_automation_runs(connection: Connection, house: House, contexts: Contexts) -> None:
    """Write what tells that an automation turned a light on: a run in the same context."""
    connection.execute(insert(EventTypes), {"event_type_id": 1, "event_type": "automation_triggered"})
    events = []
    door = house.things["door"].entity_id
    for number, (role, cause) in enumerate(CAUSES.items(), 1):
        automation = house.things[cause]
        source = _ON_AT_DUSK if cause == "dusk" else f"state of {door}"
        data = json.dumps({"name": automation.name, "entity_id": automation.entity_id, "source": source})
        connection.execute(
            insert(EventData),
            {"data_id": number, "hash": EventData.hash_shared_data_bytes(data.encode()), "shared_data": data},
        )
        for at in house.times(role, "on", midnight(house.first_day), house.end):
            parent = contexts.get(("door", at - timedelta(seconds=1))) if cause == "arrival" else None
            # The run comes before what it does, by less than a person sees.
            events.append((1, number, 0, at.timestamp() - 0.01, contexts[cause, at], parent))
    columns = ("event_type_id", "data_id", "origin_idx", "time_fired_ts", "context_id_bin", "context_parent_id_bin")
    insert_rows(connection, Events, columns, events)


def _write_statistics(connection: Connection, house: House) -> None:
    per_hour = 60 // PERIOD
    with_statistics = [(role, thing) for role, thing in house.things.items() if thing.state_class]
    for number, (role, thing) in enumerate(with_statistics, 1):
        has_sum = thing.state_class != "measurement"
        metadata = statistic_metadata(thing.entity_id, thing.unit, thing.device_class, has_sum=has_sum)
        connection.execute(insert(StatisticsMeta), {"id": number, **metadata})
        rows = list(_periods(house, role, number, has_sum=has_sum))
        join = sum_of_hour if has_sum else mean_of_hour
        hours = [join(rows[first : first + per_hour]) for first in range(0, len(rows) - per_hour + 1, per_hour)]
        columns = (*STATISTIC_COLUMNS, *(("state", "sum") if has_sum else ("mean", "min", "max")))
        insert_rows(connection, StatisticsShortTerm, columns, rows[-SHORT_TERM_DAYS * 24 * per_hour :])
        insert_rows(connection, Statistics, columns, hours)


def _periods(house: House, role: str, number: int, *, has_sum: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the row of every whole period: a meter as it stood at the end, a reading as it held all the time."""
    past, index = house.past[role], 0
    start, step = past[0][0].timestamp(), PERIOD * 60
    while (end := start + step) <= house.end.timestamp():
        while index + 1 < len(past) and past[index + 1][0].timestamp() < end:
            index += 1
        value = float(past[index][1])
        known = (value, value - float(past[0][1])) if has_sum else (value, value, value)
        yield number, start, end + COMPILE_DELAY, *known
        start = end

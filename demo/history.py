"""Writes the home's past into a new recorder database, as Home Assistant itself would have recorded it.

Run by the Python of the environment whose Home Assistant will open the database: `python -m demo.history FOLDER [DAYS]`.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
import json
from pathlib import Path
import random
import sys
from typing import Any

from sqlalchemy import Connection, create_engine, insert

from homeassistant.components.recorder.db_schema import (
    SCHEMA_VERSION,
    Base,
    RecorderRuns,
    SchemaChanges,
    StateAttributes,
    States,
    StatesMeta,
    Statistics,
    StatisticsMeta,
    StatisticsRuns,
    StatisticsShortTerm,
)
from homeassistant.components.recorder.models import StatisticMeanType
from homeassistant.components.recorder.statistics import STATISTIC_UNIT_TO_UNIT_CONVERTER
from homeassistant.components.sensor.const import UNIT_CONVERTERS
from homeassistant.helpers.json import json_bytes

from .custom_components.demo_home.catalogue import ITEMS, Item
from .custom_components.demo_home.const import CHECKPOINT_FILE
from .custom_components.demo_home.model import HEATING, Home

DAYS = 30
SHORT_TERM_DAYS = 10  # of five-minute statistics
PERIOD = 5  # minutes of a short-term statistic
COMPILE_DELAY = 10.0  # seconds after a period's end when the recorder writes its row

STATE_COLUMNS = (
    "state_id",
    "metadata_id",
    "state",
    "attributes_id",
    "last_updated_ts",
    "last_changed_ts",
    "old_state_id",
    "origin_idx",
    "context_id_bin",
)
STATISTIC_COLUMNS = ("metadata_id", "start_ts", "created_ts")

type Row = dict[str, Any]
type Reading = tuple[int, str, tuple[tuple[str, Any], ...]]  # minute, state, changing attributes


def write_history(config_dir: Path, days: int = DAYS, end: datetime | None = None) -> int:
    """Write `days` of states and statistics up to `end` (now), and the live home's checkpoint; return the states written."""
    end = (end or datetime.now(UTC)).replace(second=0, microsecond=0)
    beginning = (end - timedelta(days=days)).replace(minute=0)
    home = Home(beginning, keep_days=None)
    span = range(int(beginning.timestamp()) // 60, int(end.timestamp()) // 60)
    engine = create_engine(f"sqlite:///{config_dir / 'home-assistant_v2.db'}")
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        write_runs(connection, beginning, end)
        written = _write_states(connection, home, span)
        _write_statistics(connection, home, span)
    engine.dispose()
    (config_dir / CHECKPOINT_FILE).write_text(json.dumps(home.checkpoint()))
    return written


def write_runs(connection: Connection, beginning: datetime, end: datetime) -> None:
    """Leave the database as a recorder does that was shut down in order, with nothing to migrate or to compile again."""
    compiled = end - timedelta(minutes=end.minute % PERIOD + PERIOD)
    connection.execute(insert(SchemaChanges), {"schema_version": SCHEMA_VERSION, "changed": beginning})
    connection.execute(
        insert(RecorderRuns), {"start": beginning, "end": end, "closed_incorrect": False, "created": beginning}
    )
    connection.execute(insert(StatisticsRuns), {"start": compiled})


# States


def _write_states(connection: Connection, home: Home, span: range) -> int:
    rows: list[tuple[Any, ...]] = []
    attributes: dict[bytes, int] = {}
    for metadata_id, item in enumerate(ITEMS, 1):
        connection.execute(insert(StatesMeta), {"metadata_id": metadata_id, "entity_id": item.entity_id})
        fixed = _fixed_attributes(item)
        last: Reading | None = None
        last_changed = 0.0
        old_state_id = None
        for reading in _readings(home, item, span):
            minute, state, changing = reading
            if last and last[1:] == (state, changing):
                continue
            timestamp = minute * 60.0
            if last is None or last[1] != state:
                last_changed = timestamp
            shared = json_bytes({**dict(changing), **fixed})
            attributes_id = attributes.setdefault(shared, len(attributes) + 1)
            # The recorder leaves the change's time empty when it is the update's.
            changed = None if last_changed == timestamp else last_changed
            state_id = len(rows) + 1
            rows.append(
                (
                    state_id,
                    metadata_id,
                    state,
                    attributes_id,
                    timestamp,
                    changed,
                    old_state_id,
                    0,
                    context_id(timestamp),
                )
            )
            last, old_state_id = reading, state_id
    insert_rows(
        connection,
        StateAttributes,
        ("attributes_id", "hash", "shared_attrs"),
        [
            (number, StateAttributes.hash_shared_attrs_bytes(shared), shared.decode())
            for shared, number in attributes.items()
        ],
    )
    insert_rows(connection, States, STATE_COLUMNS, rows)
    return len(rows)


def context_id(timestamp: float) -> bytes:
    """Return a ULID in its binary form: milliseconds, then chance."""
    return int(timestamp * 1000).to_bytes(6) + random.randbytes(10)


def insert_rows(
    connection: Connection, table: type[Base], columns: tuple[str, ...], rows: list[tuple[Any, ...]]
) -> None:
    """Insert many rows by the driver's own means, which takes a third of the time."""
    marks = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {table.__tablename__} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - own names only
    connection.exec_driver_sql(statement, rows)


def _readings(home: Home, item: Item, span: range) -> Iterator[Reading]:
    """Yield what may be a change of state."""
    keys = [item.entity_id]
    if item.platform == "climate":
        keys += [item.entity_id.replace("climate.", "sensor.") + "_temperature", HEATING[item.entity_id]]
    last: tuple[float, ...] = ()
    for minute, values in zip(span, zip(*(home.series(key, span.stop) for key in keys), strict=True), strict=True):
        if values != last:
            yield (minute, *_state(item, *values))
            last = values


def _state(item: Item, value: float, *others: float) -> tuple[str, tuple[tuple[str, Any], ...]]:
    match item.platform:
        case "lock":
            return "locked" if value else "unlocked", ()
        case "cover":
            return "open" if value else "closed", (("is_closed", not value), ("current_position", int(value)))
        case "binary_sensor" | "light":
            # Of a light, the recorder leaves out everything but the state.
            return "on" if value else "off", ()
        case "climate":
            current, heating = others
            action = "heating" if heating else "idle"
            return "heat", (("current_temperature", current), ("temperature", value), ("hvac_action", action))
        case _:
            return str(item.reading(value)), ()


def _fixed_attributes(item: Item) -> Row:
    wanted = {
        "state_class": item.state_class,
        "unit_of_measurement": item.unit,
        "device_class": item.device_class,
        "friendly_name": item.name,
    }
    return {name: value for name, value in wanted.items() if value is not None}


# Statistics


def _write_statistics(connection: Connection, home: Home, span: range) -> None:
    per_hour = 60 // PERIOD
    for metadata_id, item in enumerate((item for item in ITEMS if item.state_class), 1):
        has_sum = item.state_class != "measurement"
        connection.execute(
            insert(StatisticsMeta),
            {"id": metadata_id, **statistic_metadata(item.entity_id, item.unit, item.device_class, has_sum=has_sum)},
        )
        rows = list(_periods(home, item, span, metadata_id, has_sum=has_sum))
        join = sum_of_hour if has_sum else mean_of_hour
        hours = [join(rows[first : first + per_hour]) for first in range(0, len(rows) - per_hour + 1, per_hour)]
        columns = (*STATISTIC_COLUMNS, *(("state", "sum") if has_sum else ("mean", "min", "max")))
        insert_rows(connection, StatisticsShortTerm, columns, rows[-SHORT_TERM_DAYS * 24 * per_hour :])
        insert_rows(connection, Statistics, columns, hours)


def statistic_metadata(entity_id: str, unit: str | None, device_class: str | None, *, has_sum: bool) -> Row:
    """Return what the recorder notes about the statistics of a sensor."""
    converter = UNIT_CONVERTERS.get(device_class) if device_class else None
    if converter is None or unit not in converter.VALID_UNITS:
        converter = STATISTIC_UNIT_TO_UNIT_CONVERTER.get(unit)
    return {
        "statistic_id": entity_id,
        "source": "recorder",
        "unit_of_measurement": unit,
        "unit_class": converter.UNIT_CLASS if converter else None,
        "has_sum": has_sum,
        "mean_type": StatisticMeanType.NONE if has_sum else StatisticMeanType.ARITHMETIC,
    }


def _periods(home: Home, item: Item, span: range, metadata_id: int, *, has_sum: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the row of every whole period."""
    series = home.series(item.entity_id, span.stop)
    for first in range(0, len(span) - PERIOD + 1, PERIOD):
        values = series[first : first + PERIOD]
        start = span[first] * 60.0
        times = (metadata_id, start, start + PERIOD * 60 + COMPILE_DELAY)
        if has_sum:
            yield *times, values[-1], values[-1] - series[0]
        else:
            yield *times, sum(values) / PERIOD, min(values), max(values)


def sum_of_hour(rows: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Join the rows of a meter's short periods into the row of an hour."""
    return *rows[0][:2], *rows[-1][2:]


def mean_of_hour(rows: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Join the rows of a measurement's short periods into the row of an hour."""
    mean = sum(row[3] for row in rows) / len(rows)
    return *rows[0][:2], rows[-1][2], mean, min(row[4] for row in rows), max(row[5] for row in rows)


if __name__ == "__main__":
    print(write_history(Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else DAYS), "states written")

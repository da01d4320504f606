"""A large recorder database, built once with bulk SQL and kept in the ignored cache folder."""

from bisect import bisect_right
from itertools import pairwise
from math import inf
from pathlib import Path
import sqlite3
from statistics import fmean
import time

from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from homeassistant.components.recorder.db_schema import SCHEMA_VERSION, Base, SchemaChanges

DATABASE = Path(__file__).parents[1] / ".cache" / "bench" / "home-assistant_v2.db"

DAYS = 30
STEP = 45
"""Seconds between two rows of a sensor."""
SENSORS = 176
"""Sensors that write every STEP seconds: together more than ten million rows."""
SENSOR = "sensor.chatty"
DOOR = "binary_sensor.door"

_SHORT = 300
"""Seconds of a short-term row of statistics."""
_MARK = "bench_end"
"""Table that tells when the rows end."""

type _Statistics = list[tuple[float, float, float, float, float]]
"""When each was made, its start, mean, minimum and maximum."""

_ENTITIES = """
INSERT INTO states_meta (metadata_id, entity_id)
WITH RECURSIVE turns (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM turns WHERE id <= :sensors)
SELECT id, CASE id WHEN 1 THEN :sensor WHEN :sensors + 1 THEN :door ELSE 'sensor.number_' || id END FROM turns
"""
_ATTRIBUTES = """
INSERT INTO state_attributes (attributes_id, hash, shared_attrs)
SELECT metadata_id, metadata_id, iif(metadata_id <= :sensors,
  '{"state_class":"measurement","unit_of_measurement":"°C","friendly_name":"' || entity_id || '"}',
  '{"device_class":"door","friendly_name":"' || entity_id || '"}')
FROM states_meta
"""
# Entities take turns, as in a real database, where the rows of one lie far apart. A sensor follows a daily curve with a
# little noise; the door opens and closes in turns of uneven length, about 2,600 in all.
_STATES = """
INSERT INTO states (metadata_id, attributes_id, state, last_updated_ts, origin_idx, context_id_bin)
WITH RECURSIVE steps (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM steps WHERE n < :steps - 1),
rows AS (SELECT n, metadata_id AS id, :start + n * :step + metadata_id * 0.2 AS moment FROM steps CROSS JOIN states_meta)
SELECT id, id,
  CASE WHEN id <= :sensors THEN round(20 + id % 7 + 5 * sin(n * :step * 7.27e-5) + abs(random() % 100) / 100.0, 2)
    ELSE iif(n / 22 % 2, 'on', 'off') END,
  moment, 0, unhex(printf('%012x', moment * 1000)) || randomblob(10)
FROM rows WHERE id <= :sensors OR n % 22 = n / 22 * 7 % 22
"""
_STATISTICS_META = """
INSERT INTO statistics_meta (id, statistic_id, source, unit_of_measurement, unit_class, has_mean, has_sum, mean_type)
SELECT metadata_id, entity_id, 'recorder', '°C', 'temperature', 1, 0, 1 FROM states_meta WHERE metadata_id <= :sensors
"""
_STATISTICS = "INSERT INTO {table} (created_ts, metadata_id, start_ts, mean, min, max) VALUES (?, 1, ?, ?, ?, ?)"


def ensure_database() -> float:
    """Build the database unless it is there, and return the moment at which its rows end."""
    if not DATABASE.exists():
        print(f"building {DATABASE.name} with more than ten million rows, about two minutes", flush=True)
        _build(DATABASE)
    connection = sqlite3.connect(DATABASE)
    (end,) = connection.execute(f"SELECT moment FROM {_MARK}").fetchone()  # noqa: S608 - a constant
    # So that a recorder has no statistics to compile when it starts.
    connection.execute("INSERT INTO statistics_runs (start) VALUES (datetime('now'))")
    connection.commit()
    connection.close()
    return float(end)


def _build(path: Path) -> None:
    """Fill a new database, and give it its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    engine = create_engine(f"sqlite:///{unfinished}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(SchemaChanges(schema_version=SCHEMA_VERSION))
        session.commit()
    engine.dispose()
    connection = sqlite3.connect(unfinished)
    _fill(connection, float(int(time.time()) // 3600 * 3600))
    connection.close()
    unfinished.rename(path)


def _fill(connection: sqlite3.Connection, end: float) -> None:
    """Insert states and statistics; indexes are made afterwards, which is many times faster."""
    run = connection.execute
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):
        run(f"PRAGMA {pragma}")
    indexes = run(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'states' AND sql NOT NULL"
    ).fetchall()
    for name, _ in indexes:
        run(f"DROP INDEX {name}")
    start = end - DAYS * 86400
    sizes = {"sensors": SENSORS, "sensor": SENSOR, "door": DOOR}
    run(_ENTITIES, sizes)
    run(_ATTRIBUTES, sizes)
    run(_STATES, sizes | {"steps": DAYS * 86400 // STEP, "start": start, "step": STEP})
    for _, sql in indexes:
        run(sql)
    run(_STATISTICS_META, sizes)
    for table, rows in zip(("statistics_short_term", "statistics"), _statistics(connection, start, end), strict=True):
        connection.executemany(_STATISTICS.format(table=table), rows)
    run(f"CREATE TABLE {_MARK} AS SELECT ? AS moment", (end,))
    run("ANALYZE")
    connection.commit()


def _statistics(connection: sqlite3.Connection, start: float, end: float) -> tuple[_Statistics, _Statistics]:
    """Return what Home Assistant would compile every five minutes and every hour, of the sensor that is asked for.

    Of the others it would make no difference but a longer time to build.
    """
    rows = connection.execute(
        "SELECT last_updated_ts, CAST(state AS REAL) FROM states WHERE metadata_id = 1 ORDER BY last_updated_ts"
    ).fetchall()
    short: _Statistics = []
    for begin in range(int(start), int(end), _SHORT):
        first = bisect_right(rows, (begin, inf)) - 1
        found = rows[max(first, 0) : bisect_right(rows, (begin + _SHORT, -inf))]
        moments = [*(max(moment, begin) for moment, _ in found), begin + _SHORT]
        weighted = sum(
            number * (until - since) for (_, number), (since, until) in zip(found, pairwise(moments), strict=True)
        )
        numbers = [number for _, number in found]
        mean = weighted / (moments[-1] - moments[0])
        short.append((begin + _SHORT, begin, mean, min(numbers), max(numbers)))
    parts = 3600 // _SHORT
    hours = [short[index : index + parts] for index in range(0, len(short), parts)]
    return short, [
        (
            hour[-1][0],
            hour[0][1],
            fmean(row[2] for row in hour),
            min(row[3] for row in hour),
            max(row[4] for row in hour),
        )
        for hour in hours
    ]

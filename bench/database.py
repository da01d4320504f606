"""A large recorder database, built once with bulk SQL and kept in the ignored cache folder."""

from pathlib import Path
import sqlite3
import time

from sqlalchemy import create_engine
from sqlalchemy.orm import Session

DATABASE = Path(__file__).parent.parent / ".cache" / "bench" / "home-assistant_v2.db"

DAYS = 30
STEP = 45
"""Seconds between two rows of a sensor."""
SENSORS = 176
"""Sensors that write every STEP seconds: together more than ten million rows."""
SENSOR = "sensor.chatty"
DOOR = "binary_sensor.door"
_DOOR_STEP = 990
"""Seconds between two rows of the door: about 2,600 in all, in open and closed turns."""


def ensure_database() -> float:
    """Build the database unless it is there, and return the moment at which its rows end."""
    if not DATABASE.exists():
        _build(DATABASE)
    with sqlite3.connect(DATABASE) as connection:
        (end,) = connection.execute("SELECT start FROM bench_end").fetchone()
    return float(end)


def _build(path: Path) -> None:
    """Fill a new database, entities taking turns as they do in a real one, and name it only when it is complete."""
    from homeassistant.components.recorder.db_schema import SCHEMA_VERSION, Base, SchemaChanges  # noqa: PLC0415

    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    engine = create_engine(f"sqlite:///{unfinished}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(SchemaChanges(schema_version=SCHEMA_VERSION))
        session.commit()
    engine.dispose()
    with sqlite3.connect(unfinished) as connection:
        _fill(connection, float(int(time.time()) // 3600 * 3600))
    connection.close()
    unfinished.rename(path)


def _fill(connection: sqlite3.Connection, end: float) -> None:
    """Insert states and statistics; indexes are made afterwards, which is many times faster."""
    run = connection.execute
    run("PRAGMA journal_mode = OFF")
    run("PRAGMA synchronous = OFF")
    run("PRAGMA cache_size = -1000000")
    indexes = run("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'states' AND sql NOT NULL")
    indexes = indexes.fetchall()
    for name, _ in indexes:
        run(f"DROP INDEX {name}")
    start = end - DAYS * 86400
    sensors = [SENSOR, *(f"sensor.number_{index}" for index in range(1, SENSORS))]
    names = [*sensors, DOOR]
    connection.executemany("INSERT INTO states_meta (metadata_id, entity_id) VALUES (?, ?)", enumerate(names, 1))
    connection.executemany(
        "INSERT INTO state_attributes (attributes_id, hash, shared_attrs) VALUES (?, ?, ?)",
        (
            (number, number, f'{{"friendly_name":"{name}","unit_of_measurement":"°C","state_class":"measurement"}}')
            for number, name in enumerate(names, 1)
        ),
    )
    # A daily curve per sensor with a little noise; the door opens in turns of uneven length.
    run(
        f"""
        INSERT INTO states (metadata_id, attributes_id, state, last_updated_ts, origin_idx, context_id_bin)
        WITH RECURSIVE steps (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM steps WHERE n < ? - 1),
        turns (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM turns WHERE id < {SENSORS + 1}),
        rows AS (SELECT n, id, ? + n * {STEP} + id * 0.2 AS moment FROM steps CROSS JOIN turns)
        SELECT id, id,
          CASE WHEN id <= {SENSORS} THEN round(20 + id % 7 + 5 * sin(n * {STEP} * 7.27e-5) + abs(random() % 100) / 100.0, 2)
            ELSE iif((n / {_DOOR_STEP // STEP}) % 2, 'on', 'off') END,
          moment, 0, unhex(printf('%012x', moment * 1000)) || randomblob(10)
        FROM rows WHERE id <= {SENSORS} OR n % {_DOOR_STEP // STEP} = 0
        """,
        (DAYS * 86400 // STEP, start),
    )
    for _, sql in indexes:
        run(sql)
    _fill_statistics(connection, start, end)
    run("CREATE TABLE bench_end AS SELECT ? AS start", (end,))
    run("ANALYZE")
    connection.commit()


def _fill_statistics(connection: sqlite3.Connection, start: float, end: float) -> None:
    """Insert what the recorder would have compiled: hourly statistics, and 5-minute ones of the last ten days."""
    run = connection.execute
    run(
        f"""
        INSERT INTO statistics_meta (id, statistic_id, source, unit_of_measurement, unit_class, has_mean, has_sum, mean_type)
        SELECT metadata_id, entity_id, 'recorder', '°C', 'temperature', 1, 0, 1 FROM states_meta WHERE metadata_id <= {SENSORS}
        """
    )
    for table, seconds, since in (
        ("statistics", 3600, start),
        ("statistics_short_term", 300, end - 10 * 86400),
    ):
        run(
            f"""
            INSERT INTO {table} (created_ts, metadata_id, start_ts, mean, min, max)
            SELECT last_updated_ts, metadata_id, CAST(last_updated_ts / {seconds} AS INTEGER) * {seconds} AS bucket,
              avg(state), min(CAST(state AS REAL)), max(CAST(state AS REAL))
            FROM states WHERE metadata_id = 1 AND last_updated_ts >= ? GROUP BY bucket
            """,
            (since,),
        )
    run("INSERT INTO statistics_runs (start) VALUES (datetime(?, 'unixepoch'))", (end - 300,))

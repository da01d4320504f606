"""What a rehearsal of three months costs beside reading the bare rows of the same twenty entities."""

import asyncio
from collections.abc import Awaitable, Callable
import gc
from math import sin
from pathlib import Path
import sqlite3
from statistics import median
from time import process_time, time
from typing import Any

from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.recorder.db_schema import SCHEMA_VERSION, Base, SchemaChanges, States, StatesMeta
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.recorder import get_instance, session_scope
from homeassistant.util import dt as dt_util

from .hass import running_home_assistant
from .table import Row
from .watch import forget_peak, heartbeat, peak

DATABASE = Path(__file__).parents[1] / ".cache" / "bench" / "rehearsal_v2.db"

_DAYS, _FEWER = 90, 30
_SENSORS, _DOORS = 12, 8
_STEPS = (240, 2_400)
"""Seconds between two rows of a sensor, and of a door."""
_TURNS = 3
_GOAL = 3.0
"""The longest that a rehearsal may take as a multiple of reading the bare rows."""
_FLAT = 1.1
"""How much more memory three months may take than one."""
_HELD = 1.5
"""The longest that the event loop may be held, as a multiple of what it is while the bare rows are read beside it."""
_LAMP = "light.lamp"
_CONFIGURATION = f"""
homeassistant:
  time_zone: Europe/Berlin
conversation:
automation:
light:
recorder:
  db_url: sqlite:///{DATABASE}
  auto_purge: false
  purge_keep_days: 400
"""
_SENSOR_IDS = [f"sensor.number_{number}" for number in range(_SENSORS)]
_DOOR_IDS = [f"binary_sensor.door_{number}" for number in range(_DOORS)]
_LIGHT = [
    {"action": "light.turn_on", "target": {"entity_id": _LAMP}},
    {"delay": "00:02:00"},
    {"action": "light.turn_off", "target": {"entity_id": _LAMP}},
]
_WARM = {"trigger": "numeric_state", "entity_id": _SENSOR_IDS, "above": 22}
_OPENED = {"trigger": "state", "entity_id": _DOOR_IDS, "to": "on"}
_DARK = {"condition": "time", "after": "18:00:00", "before": "08:00:00"}
_COLD = "{{ states('sensor.number_1') | float(0) < 20 and now().hour > 3 }}"
_AUTOMATIONS: dict[str, dict[str, Any]] = {
    "numbers and doors": {"triggers": [_WARM, _OPENED], "conditions": [_DARK]},
    "with times to wait for": {
        "triggers": [{**_WARM, "for": "00:10:00"}, {**_OPENED, "for": "00:05:00"}],
        "mode": "restart",
    },
    "with a template": {"triggers": [_WARM, _OPENED], "conditions": [_COLD], "mode": "single"},
}

type Kind = Callable[[], Awaitable[Any]]


async def run() -> list[Row]:
    """Compare rehearsals of three kinds of automations with reading."""
    end = await asyncio.to_thread(_ensure_database)
    async with running_home_assistant(_CONFIGURATION) as hass:
        for entity_id in (*_SENSOR_IDS, *_DOOR_IDS, _LAMP):
            hass.states.async_set(entity_id, "20" if entity_id in _SENSOR_IDS else "off")
            async_expose_entity(hass, "conversation", entity_id, True)
        await hass.async_block_till_done()
        rows = await _memory(hass, end)
        for name, automation in _AUTOMATIONS.items():
            rows += await _measure(hass, name, automation, end)
        return rows


def _rehearsal(hass: HomeAssistant, automation: dict[str, Any], end: float, days: int = _DAYS) -> Kind:
    """Return what rehearses an automation."""
    # Home Assistant loads the integration under this name; imported before that, it would be another one.
    from custom_components.extended_assist.calls.options import ToolboxOptions  # noqa: PLC0415
    from custom_components.extended_assist.tools import simulation  # noqa: PLC0415

    # On a busy machine, the time by which people wait says nothing of the work.
    simulation._ONE = simulation.RehearseAutomationTool.deadline = 600.0  # type: ignore[misc] # noqa: SLF001
    tool = simulation.RehearseAutomationTool(ToolboxOptions())
    context = llm.LLMContext("bench", Context(), "en", "conversation", None)
    start = dt_util.utc_from_timestamp(end - days * 86_400)
    arguments = {"config": {"alias": "x", "actions": _LIGHT, **automation}, "start": start.isoformat()}
    arguments["end"] = dt_util.utc_from_timestamp(end).isoformat()

    async def rehearse() -> None:
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)
        assert not result.error, result.data
        assert result.data["runs"] > 0, result.data
        assert "only_until" not in result.data, result.data

    return rehearse


def _reading(hass: HomeAssistant, end: float) -> Kind:
    """Return what reads the bare rows."""

    def read() -> int:
        with session_scope(hass=hass, read_only=True) as session:
            ids = session.scalars(
                select(StatesMeta.metadata_id).where(StatesMeta.entity_id.in_([*_SENSOR_IDS, *_DOOR_IDS]))
            ).all()
            rows = select(States.metadata_id, States.state, States.last_updated_ts).where(
                States.metadata_id.in_(ids),
                States.last_updated_ts > end - _DAYS * 86_400,
                States.last_updated_ts <= end,
            )
            return len(session.execute(rows.order_by(States.last_updated_ts)).all())

    async def in_executor() -> None:
        assert await get_instance(hass).async_add_executor_job(read) > _DAYS * 3_000

    return in_executor


async def _measure(hass: HomeAssistant, name: str, automation: dict[str, Any], end: float) -> list[Row]:
    """Time both in turns, each first as often as last, and watch the event loop during ours."""
    kinds = {"ours": _rehearsal(hass, automation, end), "rows": _reading(hass, end)}
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for turn in range(_TURNS):
        for kind in [*kinds] if turn % 2 else reversed([*kinds]):
            gc.collect()
            begin = process_time()
            await kinds[kind]()
            times[kind].append((process_time() - begin) * 1000)
    # Looking through all of Home Assistant for garbage holds the loop longer than any of these, whatever allocates.
    holds: dict[str, list[float]] = {kind: [] for kind in kinds}
    gc.collect()
    gc.disable()
    for turn in range(_TURNS):
        for kind in [*kinds] if turn % 2 else reversed([*kinds]):
            async with heartbeat() as beat:
                await kinds[kind]()
            holds[kind].append(beat[0])
    gc.enable()
    ratio = median(ours / rows for ours, rows in zip(*times.values(), strict=True))
    ours, rows = (median(found) for found in times.values())
    case = f"{_DAYS} days of {_SENSORS + _DOORS} entities, {name}, other: bare rows"
    return [
        Row("rehearsal, processor, ms", case, ours, rows, ratio, _GOAL, ratio <= _GOAL),
        Row.of("rehearsal, loop held, ms", case, *map(median, holds.values()), goal=_HELD),
    ]


async def _memory(hass: HomeAssistant, end: float) -> list[Row]:
    """Compare the highest size of the process during rehearsals of three months and of one."""
    (automation, *_) = _AUTOMATIONS.values()
    peaks = {}
    for days in (1, _FEWER, _FEWER, _DAYS):
        forget_peak()
        await _rehearsal(hass, automation, end, days)()
        peaks[days] = peak()
    case = f"{_DAYS} days, other: {_FEWER} days"
    return [Row.of("rehearsal, peak memory, MiB", case, peaks[_DAYS], peaks[_FEWER], goal=_FLAT)]


def _ensure_database() -> float:
    """Build the database unless it is there, and return the moment at which its rows end."""
    if not DATABASE.exists():
        DATABASE.parent.mkdir(parents=True, exist_ok=True)
        unfinished = DATABASE.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        engine = create_engine(f"sqlite:///{unfinished}")
        Base.metadata.create_all(engine)
        with Session(engine) as session:
            session.add(SchemaChanges(schema_version=SCHEMA_VERSION))
            session.commit()
        engine.dispose()
        connection = sqlite3.connect(unfinished)
        _fill(connection, float(int(time())))
        connection.close()
        unfinished.rename(DATABASE)
    connection = sqlite3.connect(DATABASE)
    (moment,) = connection.execute("SELECT moment FROM bench_end").fetchone()
    connection.close()
    return float(moment)


def _fill(connection: sqlite3.Connection, end: float) -> None:
    """Write what sensors and doors said, in the order of time as a recorder does; every tenth row has attributes of its own."""
    names = [*_SENSOR_IDS, *_DOOR_IDS, _LAMP]
    connection.executemany("INSERT INTO states_meta VALUES (?, ?)", enumerate(names, 1))
    attributes = [
        (number, number, f'{{"friendly_name": "{number}", "battery": {number % 100}}}') for number in range(1, 2_000)
    ]
    connection.executemany(
        "INSERT INTO state_attributes (attributes_id, hash, shared_attrs) VALUES (?, ?, ?)", attributes
    )
    start = end - (_DAYS + 1) * 86_400
    rows: list[tuple[Any, ...]] = [(len(names), 1, "off", start, 0)]
    for number in range(_SENSORS + _DOORS):
        step = _STEPS[number >= _SENSORS]
        for turn in range(int((end - start) / step)):
            moment = start + 1 + turn * step + number * 7.3
            if number < _SENSORS:
                state = f"{20 + 4 * sin((moment + number * 3_600) * 7.27e-5) + turn * 37 % 61 / 100:.1f}"
            else:
                state = ("on", "off")[turn % 2]
            own = len(names) + turn // 10 % 1_900 if turn % 10 == 0 else number + 1
            rows.append((number + 1, own, state, moment, 0))
    rows.sort(key=lambda row: row[3])
    connection.executemany(
        "INSERT INTO states (metadata_id, attributes_id, state, last_updated_ts, origin_idx) VALUES (?, ?, ?, ?, ?)",
        rows,
    )
    connection.execute("CREATE TABLE bench_end AS SELECT ? AS moment", (end,))
    connection.execute("INSERT INTO statistics_runs (start) VALUES (datetime('now'))")
    connection.execute("ANALYZE")
    connection.commit()

"""The history of a chatty sensor and of a door, ours beside what others do, on a database of ten million rows."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
import gc
from statistics import median
from time import perf_counter
from typing import Any

from sqlalchemy import select

from homeassistant.components.history.llm import GetHistoryTool as CoreHistoryTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.recorder.db_schema import States, StatesMeta
from homeassistant.components.recorder.history import get_significant_states
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.recorder import get_instance, session_scope
from homeassistant.util import dt as dt_util

from .database import DATABASE, DOOR, SENSOR, SENSORS, ensure_database
from .hass import running_home_assistant
from .table import Row
from .watch import forget_peak, heartbeat, peak

_SPANS = (1, 7, 30)
_SECONDS = 3.0
"""How long each kind of each case is repeated, in turns with the others."""
_ROUNDS = 9
"""How often at least."""
_GOAL, _GOAL_BY_HOURS = 1.2, 0.15
"""The longest that an answer may take as a share of reading the bare rows; the second where hours of statistics help."""
_ANEW, _STARTED = "nothing known yet", "after a start"
"""As after a restart: in which hours the sensor said no number has to be looked up in its rows."""
_MAX_CHARACTERS = 4_000
_FLAT = 1.02
"""SQLite keeps up to two mebibytes of a temporary table in memory and the rest in a file; a dump grows by 25 or more."""
_MAX_HOLD = 20.0
"""Milliseconds for which the event loop may be held."""

_CONFIGURATION = f"""
homeassistant:
  time_zone: Europe/Berlin
conversation:
history:
recorder:
  db_url: sqlite:///{DATABASE}
  auto_purge: false
  purge_keep_days: 400
"""

type Kind = Callable[[], Awaitable[int]]
"""Answers a question and returns the number of characters that a model would read."""


async def run() -> list[Row]:
    """Measure every span of both entities."""
    end = await asyncio.to_thread(ensure_database)
    async with running_home_assistant(_CONFIGURATION) as hass:
        for index in range(2, SENSORS + 1):
            _add(hass, f"sensor.number_{index}", "20", {"unit_of_measurement": "°C", "state_class": "measurement"})
        _add(hass, SENSOR, "20", {"unit_of_measurement": "°C", "state_class": "measurement"})
        _add(hass, DOOR, "off", {"device_class": "door"})
        await hass.async_block_till_done()
        rows: list[Row] = []
        cases = ((SENSOR, "sensor"), (DOOR, "door"))
        # First, as long as no memory is left over from a dump that an answer could use unseen.
        for entity_id, name in cases:
            rows += await _memory(hass, entity_id, name, end)
        for entity_id, name in cases:
            for days in _SPANS:
                rows += await _measure(hass, entity_id, f"{name}, {days} days", end, days)
        return rows


def _add(hass: HomeAssistant, entity_id: str, state: str, attributes: dict[str, str]) -> None:
    """Add an exposed entity."""
    hass.states.async_set(entity_id, state, attributes)
    async_expose_entity(hass, "conversation", entity_id, True)


def _kinds(hass: HomeAssistant, entity_id: str, end: float, days: int) -> dict[str, Kind]:
    """Return the ways in which the question can be answered."""
    # Home Assistant loads the integration under this name; imported before that, it would be another one.
    from custom_components.extended_assist.recorder.unavailable_hours import async_get_kept  # noqa: PLC0415
    from custom_components.extended_assist.tools.history import GetHistoryTool  # noqa: PLC0415

    stop = datetime.fromtimestamp(end, UTC)
    start = stop - timedelta(days=days)
    context = llm.LLMContext(
        platform="bench", context=Context(), language="en", assistant="conversation", device_id=None
    )

    async def tool(tool: llm.Tool, arguments: dict[str, Any]) -> int:
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)
        assert not result.error, result.data
        return len(json_dumps(result.data))

    async def in_executor(read: Callable[[], int]) -> int:
        return await get_instance(hass).async_add_executor_job(read)

    def read_rows() -> int:
        with session_scope(hass=hass, read_only=True) as session:
            return len(
                session.execute(
                    select(States.state, States.last_updated_ts)
                    .join(StatesMeta, States.metadata_id == StatesMeta.metadata_id)
                    .where(
                        StatesMeta.entity_id == entity_id,
                        States.last_updated_ts >= start.timestamp(),
                        States.last_updated_ts < end,
                    )
                    .order_by(States.last_updated_ts)
                ).all()
            )

    def dump() -> int:
        states = get_significant_states(
            hass, start, stop, [entity_id], significant_changes_only=False, minimal_response=True, no_attributes=True
        )
        return len(json_dumps(states))

    async def anew() -> int:
        (await async_get_kept(hass)).interruptions.forget()
        return await kinds["ours"]()

    async def started() -> int:
        found = (await async_get_kept(hass)).interruptions
        run = get_instance(hass).recorder_runs_manager.recording_start.timestamp()
        kept = found.async_known(dt_util.utcnow().timestamp(), run, lambda _: True)
        found.forget()
        found.async_begin_with(kept)
        return await kinds["ours"]()

    span = {"start": start.isoformat(), "end": stop.isoformat()}
    kinds: dict[str, Kind] = {
        "ours": lambda: tool(GetHistoryTool(), {"entities": [entity_id], **span}),
        "bare rows": lambda: in_executor(read_rows),
        "dump": lambda: in_executor(dump),
    }
    if entity_id == SENSOR:
        core = {"start_time": span["start"], "end_time": span["end"]}
        kinds |= {_ANEW: anew, _STARTED: started}
        kinds["core's tool"] = lambda: tool(CoreHistoryTool(), {"entity_ids": [entity_id], **core})
    return kinds


async def _measure(hass: HomeAssistant, entity_id: str, case: str, end: float, days: int) -> list[Row]:
    """Time all kinds in turns, each first as often as last, and watch the event loop during ours."""
    kinds = _kinds(hass, entity_id, end, days)
    times: dict[str, list[float]] = {name: [] for name in kinds}
    characters = {name: await kind() for name, kind in kinds.items()}
    holds: list[float] = []
    stop = perf_counter() + _SECONDS * len(kinds)
    gc.collect()
    gc.disable()
    while perf_counter() < stop or len(times["ours"]) < _ROUNDS:
        for name in [*kinds] if len(times["ours"]) % 2 else reversed([*kinds]):
            async with heartbeat() as beat:
                begin = perf_counter()
                await kinds[name]()
                times[name].append((perf_counter() - begin) * 1000)
            if name == "ours":
                holds.append(beat[0])
    gc.enable()
    rows = []
    for name, found in times.items():
        if name in ("ours", _ANEW, _STARTED):
            continue
        goal = _GOAL if name == "bare rows" else None
        by_hours = name == "bare rows" and entity_id == SENSOR and days == max(_SPANS)
        rows.append(_ratio(f"{case}, other: {name}", times["ours"], found, _GOAL_BY_HOURS if by_hours else goal))
    for name in (_ANEW, _STARTED) if _ANEW in times else ():
        goal = _GOAL_BY_HOURS if name == _STARTED and days == max(_SPANS) else _GOAL
        rows.append(_ratio(f"{case}, {name}, other: bare rows", times[name], times["bare rows"], goal))
    dump = characters["dump"]
    rows.append(Row.of("history, characters", f"{case}, other: dump", characters["ours"], dump, goal=None))
    rows.append(Row.of("history, characters", f"{case}, other: limit", characters["ours"], _MAX_CHARACTERS, goal=1.0))
    # The longest in each call, in the middle of all: what holds the loop does so in every call, a busy machine in some.
    rows.append(Row.of("history, loop held, ms", f"{case}, other: limit", median(holds), _MAX_HOLD, goal=1.0))
    return rows


def _ratio(case: str, ours: list[float], other: list[float], goal: float | None) -> Row:
    """Return the ratio within a round, in the middle of all: the pace of a machine changes, for both of them alike."""
    ratio = median(mine / theirs for mine, theirs in zip(ours, other, strict=True))
    met = None if goal is None else ratio <= goal
    return Row("history, ms", case, median(ours), median(other), ratio, goal, met)


async def _memory(hass: HomeAssistant, entity_id: str, name: str, end: float) -> list[Row]:
    """Compare the highest size of the process during answers for 30 and for 7 days."""
    rows = []
    for kind, goal in (("ours", _FLAT), ("dump", None)):
        peaks = {}
        for days in (1, 7, 7, 30):
            forget_peak()
            await _kinds(hass, entity_id, end, days)[kind]()
            peaks[days] = peak()
        case = f"{name}, {kind}, 30 days, other: 7 days"
        rows.append(Row.of("history, peak memory, MiB", case, peaks[30], peaks[7], goal=goal))
    return rows

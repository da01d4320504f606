"""Finding habits in 90 days of 200 entities, beside reading their bare rows."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
import gc
import random
from statistics import median
from time import perf_counter
import tracemalloc
from typing import Any

from sqlalchemy import select

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.recorder.db_schema import States, StatesMeta
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.recorder import get_instance, session_scope
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.habits.homes import Home, Maker, Written, ulid
from tests.habits.recorded import async_move, async_write

from .hass import running_home_assistant
from .table import Row

_DAYS, _ENTITIES = 90, 200
_STEP = 1_800
"""Seconds between two rows of a sensor."""
_ROUNDS = 5
_GOAL = 10.0
_SMALL = 0.5
"""The part of the rows' size that may be held: what people did is kept, in some bytes for each change; rows are not."""
_MAX_HOLD = 100.0
"""Milliseconds for which the event loop may be held."""
_CONFIGURATION = """
homeassistant:
conversation:
recorder:
  auto_purge: false
  purge_keep_days: 400
"""

_CASE = f"{_DAYS} days of {_ENTITIES} entities, other: bare rows of {{}}"

type _Kind = Callable[[], Awaitable[int]]


async def run() -> list[Row]:
    """Measure the whole tool, with its rehearsals, and the rows, in turns."""
    async with running_home_assistant(_CONFIGURATION) as hass:
        first = dt_util.now().date() - timedelta(days=_DAYS)
        maker = Maker(hass, 4, _DAYS, _ENTITIES, first.isoformat())
        await async_move(hass, maker.home)
        home = maker.make()
        sensors = _sensors(home)
        await async_write(hass, home)
        entity_ids = [*home.settable, *home.leading, *sensors]
        for domain in {entity_id.partition(".")[0] for entity_id in home.settable}:
            assert await async_setup_component(hass, domain, {})
        for entity_id in entity_ids:
            hass.states.async_set(entity_id, "off", {"friendly_name": entity_id.partition(".")[2]})
            async_expose_entity(hass, "conversation", entity_id, True)
        await hass.async_block_till_done()
        kinds = {
            "ours": lambda: _find(hass),
            "all entities": lambda: _read(hass, home, entity_ids),
            "those that people set, or that lead there": lambda: _read(hass, home, entity_ids[: -len(sensors)]),
        }
        return await _memory(kinds) + await _measure(kinds)


def _sensors(home: Home) -> list[str]:
    """Add sensors that say numbers, as many as are missing; return their ids."""
    chance = random.Random("sensors")
    names = [f"sensor.number_{index}" for index in range(_ENTITIES - len(home.settable) - len(home.leading))]
    for entity_id in names:
        for moment in range(int(home.start), int(home.end), _STEP):
            late = moment + chance.uniform(0, _STEP / 2)
            home.rows.append(Written(late, entity_id, f"{chance.uniform(18, 24):.1f}", ulid(chance, late)))
    home.rows.sort(key=lambda row: row.moment)
    return names


async def _find(hass: HomeAssistant) -> int:
    """Call the tool; return how many habits it tells."""
    # Home Assistant loads the integration under this name; imported before that, it would be another one.
    from custom_components.extended_assist.tools.habits import FindHabitsTool  # noqa: PLC0415

    context = llm.LLMContext("bench", Context(), "en", "conversation", None)
    tool = FindHabitsTool()
    result = await tool.async_call(hass, llm.ToolInput(tool.name, {"days": _DAYS}), context)
    assert not result.error, result.data
    data: Any = result.data
    assert data["habits"], data
    return len(data["habits"])


async def _read(hass: HomeAssistant, home: Home, entity_ids: list[str]) -> int:
    """Read the bare rows; return how many there are."""

    def read() -> int:
        with session_scope(hass=hass, read_only=True) as session:
            ids = select(StatesMeta.metadata_id).where(StatesMeta.entity_id.in_(entity_ids))
            wanted = (States.metadata_id.in_(session.scalars(ids).all()), States.last_updated_ts >= home.start)
            columns = select(States.metadata_id, States.state, States.last_updated_ts)
            return len(session.execute(columns.where(*wanted)).all())

    return await get_instance(hass).async_add_executor_job(read)


async def _measure(kinds: dict[str, _Kind]) -> list[Row]:
    """Time all kinds in turns, and watch the event loop during ours."""
    times: dict[str, list[float]] = {name: [] for name in kinds}
    holds: list[float] = []
    for kind in kinds.values():
        await kind()
    for _ in range(_ROUNDS):
        for name, kind in kinds.items():
            gc.collect()
            watch = asyncio.create_task(_longest_hold())
            begin = perf_counter()
            await kind()
            times[name].append((perf_counter() - begin) * 1000)
            watch.cancel()
            if name == "ours":
                holds.append(await watch)
    ours = times.pop("ours")
    rows = [
        Row.of("habits, ms", _CASE.format(name), median(ours), median(found), goal=_GOAL)
        for name, found in times.items()
    ]
    return [*rows, Row.of("habits, loop held, ms", "other: limit", median(holds), _MAX_HOLD, goal=1.0)]


async def _longest_hold() -> float:
    """Return the longest time between two beats of the event loop, until it is cancelled."""
    longest, last = 0.0, perf_counter()
    try:
        while True:
            await asyncio.sleep(0.001)
            now = perf_counter()
            longest, last = max(longest, (now - last) * 1000 - 1), now
    except asyncio.CancelledError:
        return longest


async def _memory(kinds: dict[str, _Kind]) -> list[Row]:
    """Compare what is held at most in Python, whatever is written to the database meanwhile."""
    peaks: dict[str, float] = {}
    for name, kind in kinds.items():
        await kind()
        gc.collect()
        tracemalloc.start()
        await kind()
        peaks[name] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    ours = peaks.pop("ours")
    return [
        Row.of("habits, peak memory, MiB", _CASE.format(name), ours, found, goal=_SMALL)
        for name, found in peaks.items()
    ]

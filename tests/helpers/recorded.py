"""What is written into the recorder under test, and what Home Assistant's WebSocket API says of them."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
import time
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done
from pytest_homeassistant_custom_component.typing import MockHAClientWebSocket
from sqlalchemy import insert, select

from homeassistant.components.recorder import get_instance
from homeassistant.components.recorder.db_schema import States, StatesMeta, Statistics, StatisticsShortTerm
from homeassistant.components.recorder.models import StatisticData, StatisticMeanType, StatisticMetaData
from homeassistant.components.recorder.statistics import (
    async_add_external_statistics,
    async_import_statistics,
    get_metadata,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import session_scope
from homeassistant.util import dt as dt_util

_VALUES = ("mean", "min", "max", "state", "sum")
HOUR = timedelta(hours=1)
SHORT = timedelta(minutes=5)


def local(text: str) -> datetime:
    """Return a local time as a moment."""
    parsed = dt_util.parse_datetime(text if " " in text else f"{text} 00:00:00")
    assert parsed
    return dt_util.as_utc(parsed)


def steps(start: datetime, end: datetime, step: timedelta = HOUR) -> list[datetime]:
    """Return the moments from start up to end."""
    return [start + step * index for index in range((end - start) // step)]


def meter(moments: Iterable[datetime], change: Callable[[int], float], before: float = 0.0) -> list[StatisticData]:
    """Return the rows of a meter that grows by change(index) at each moment."""
    rows: list[StatisticData] = []
    for index, moment in enumerate(moments):
        before += change(index)
        rows.append({"start": moment, "state": before + 1_000, "sum": before})
    return rows


def measurement(moments: Iterable[datetime], value: Callable[[int], float]) -> list[StatisticData]:
    """Return the rows of a measurement with a mean of value(index) at each moment."""
    return [
        {"start": moment, "mean": value(index), "min": value(index) - 1.25, "max": value(index) + 2.5}
        for index, moment in enumerate(moments)
    ]


def _metadata(statistic_id: str, rows: list[StatisticData], **known: Any) -> StatisticMetaData:
    external = ":" in statistic_id
    return {
        "has_sum": "sum" in rows[0],
        "mean_type": StatisticMeanType.ARITHMETIC if "mean" in rows[0] else StatisticMeanType.NONE,
        "name": None,
        "source": statistic_id.partition(":")[0] if external else "recorder",
        "statistic_id": statistic_id,
        "unit_class": None,
        "unit_of_measurement": None,
        **known,
    }


async def record(hass: HomeAssistant, statistic_id: str, rows: list[StatisticData], **known: Any) -> None:
    """Write long-term statistics; known are fields of the metadata, such as the unit."""
    write = async_add_external_statistics if ":" in statistic_id else async_import_statistics
    write(hass, _metadata(statistic_id, rows, **known), rows[:1])
    await async_wait_recording_done(hass)
    await _async_add(hass, Statistics, statistic_id, rows[1:])


async def record_short(hass: HomeAssistant, statistic_id: str, rows: list[StatisticData]) -> None:
    """Write short-term statistics of a statistic that has long-term ones."""
    await _async_add(hass, StatisticsShortTerm, statistic_id, rows)


async def _async_add(
    hass: HomeAssistant, kind: type[Statistics | StatisticsShortTerm], statistic_id: str, rows: list[StatisticData]
) -> None:
    """Add rows in bulk: Home Assistant's import looks for each of them first, and an object of each takes longer than all else."""

    def write() -> None:
        metadata_id, _ = get_metadata(hass, statistic_ids={statistic_id})[statistic_id]
        same = {"metadata_id": metadata_id, "created_ts": time.time(), **dict.fromkeys(_VALUES)}
        written = [same | row | {"start_ts": row["start"].timestamp()} for row in rows]
        for each in written:
            del each["start"]
        if written:
            with session_scope(hass=hass) as session:
                session.execute(insert(kind.__table__), written)

    await get_instance(hass).async_add_executor_job(write)


async def record_states(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    entity_id: str,
    states: Sequence[tuple[float, str]],
    **attributes: Any,
) -> None:
    """Let an entity have thousands of states, each of a moment: Home Assistant sees the first and the last one.

    The others are written in bulk, as the recorder writes them.
    """
    first, *between, last = states

    def write() -> None:
        known = select(States.metadata_id, States.attributes_id).join(StatesMeta)
        latest = known.where(StatesMeta.entity_id == entity_id).order_by(States.state_id.desc()).limit(1)
        with session_scope(hass=hass) as session:
            metadata_id, attributes_id = session.execute(latest).one()
            same = {"metadata_id": metadata_id, "attributes_id": attributes_id, "origin_idx": 0}
            session.execute(
                insert(States.__table__),
                [
                    same | {"last_updated_ts": moment, "last_reported_ts": moment, "state": state}
                    for moment, state in between
                ],
            )

    for moment, state in (first, last):
        freezer.move_to(dt_util.utc_from_timestamp(moment))
        hass.states.async_set(entity_id, state, attributes, force_update=True)
        await async_wait_recording_done(hass)
        if (moment, state) == first:
            await get_instance(hass).async_add_executor_job(write)


async def ask(client: MockHAClientWebSocket, command: str, **arguments: Any) -> Any:
    """Return the answer of Home Assistant's WebSocket API."""
    await client.send_json_auto_id({"type": command, **arguments})
    response = await client.receive_json()
    assert response["success"], response
    return response["result"]

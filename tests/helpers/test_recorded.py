"""Tests of how other tests record a past."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
from sqlalchemy import select

from homeassistant.components.recorder import Recorder
from homeassistant.components.recorder.db_schema import States, StatesMeta
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance, session_scope
from homeassistant.util import dt as dt_util

from .recorded import local, record_states

BEGIN = local("2026-03-10 12:00:00").timestamp()
OF_A_WRITER = ("state_id", "old_state_id", "metadata_id", "context_id_bin")
"""What tells who wrote a row, and which one."""


async def test_states_in_bulk(recorder_mock: Recorder, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """They stand there as the recorder writes what Home Assistant sees."""
    states = [(BEGIN + index, state) for index, state in enumerate(("1", "2", "2", "unavailable", "3"))]
    for moment, state in states:
        freezer.move_to(dt_util.utc_from_timestamp(moment))
        hass.states.async_set("sensor.recorded", state, {"unit_of_measurement": "W"}, force_update=True)
    await record_states(hass, freezer, "sensor.in_bulk", states, unit_of_measurement="W")

    def read(entity_id: str) -> list[dict[str, Any]]:
        columns = [each for name, each in States.__table__.columns.items() if name not in OF_A_WRITER]
        ours = select(*columns).join(StatesMeta, StatesMeta.metadata_id == States.metadata_id)
        with session_scope(hass=hass) as session:
            found = session.execute(ours.where(StatesMeta.entity_id == entity_id).order_by(States.state_id))
            return [dict(row._mapping) for row in found]

    alone, in_bulk = [
        await get_instance(hass).async_add_executor_job(read, entity_id)
        for entity_id in ("sensor.recorded", "sensor.in_bulk")
    ]
    assert len(alone) == len(states)
    assert in_bulk == alone

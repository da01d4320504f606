"""Tests of the databases that other tests stand on."""

import pytest
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done
from sqlalchemy import Engine, inspect, select, text
from sqlalchemy.orm import Session

from homeassistant.components.recorder import Recorder
from homeassistant.components.recorder.db_schema import ALL_TABLES, States, StatesMeta
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance

from .databases import ENGINES, EVERY_DATABASE, EVERY_ENGINE

DIALECTS = {"sqlite": "sqlite", "postgresql": "postgresql", "mariadb": "mysql"}


@EVERY_ENGINE
async def test_recorder_records(recorder_mock: Recorder, hass: HomeAssistant, request: pytest.FixtureRequest) -> None:
    """A real recorder runs on the engine that the mark asks for, and writes what happens."""
    hass.states.async_set("sensor.recorded", "1")
    hass.states.async_set("sensor.recorded", "2")
    await async_wait_recording_done(hass)
    instance = get_instance(hass)
    assert instance.engine is not None
    assert instance.engine.dialect.name == DIALECTS[request.node.callspec.params["recorder_db_url"]]

    def read() -> list[str]:
        with instance.get_session() as session:
            return list(session.execute(select(States.state).order_by(States.state_id)).scalars())

    assert await instance.async_add_executor_job(read) == ["1", "2"]


@EVERY_DATABASE
def test_schema_without_home_assistant(database: Engine) -> None:
    """The recorder's tables are there, empty, and take rows."""
    assert set(ALL_TABLES) <= set(inspect(database).get_table_names())
    with Session(database) as session:
        assert session.execute(select(States)).all() == []
        meta = StatesMeta(entity_id="sensor.recorded")
        session.add(meta)
        session.flush()
        session.add(States(metadata_id=meta.metadata_id, state="1", last_updated_ts=1.0))
        session.commit()
        assert session.execute(text("SELECT count(*) FROM states")).scalar_one() == 1


def test_engines_are_told_apart() -> None:
    """Every engine that the recorder serves has its place."""
    assert list(DIALECTS) == list(ENGINES)

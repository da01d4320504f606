"""Tests of the databases that other tests stand on."""

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
import threading

import pytest
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done
from sqlalchemy import Engine, create_engine, event, func, inspect, select, text
from sqlalchemy.orm import Session

from homeassistant.components.recorder import Recorder
from homeassistant.components.recorder.db_schema import ALL_TABLES, Base, States, StatesMeta
from homeassistant.components.recorder.tasks import RecorderTask
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance

from .databases import ENGINES, EVERY_DATABASE, EVERY_ENGINE, temporary_database
from .quick_recorder import tables_made_as_before

DIALECTS = {"sqlite": "sqlite", "postgresql": "postgresql", "mariadb": "mysql"}


@dataclass(slots=True)
class _Blocks(RecorderTask):
    """Lets a recorder wait."""

    until: threading.Event

    def run(self, instance: Recorder) -> None:
        """Wait."""
        self.until.wait()


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


async def test_rows_that_are_queued_are_committed_together(recorder_mock: Recorder, hass: HomeAssistant) -> None:
    """Not each by itself, and whoever waits for what is recorded finds all of them."""
    await async_wait_recording_done(hass)
    instance = get_instance(hass)
    commits: list[object] = []
    event.listen(instance.engine, "commit", commits.append)
    let_go = threading.Event()
    instance.queue_task(_Blocks(let_go))
    for number in range(250):
        hass.states.async_set("sensor.recorded", str(number))
    let_go.set()
    await hass.async_add_executor_job(instance.block_till_done)
    assert len(commits) == 3

    def count() -> int:
        with instance.get_session() as session:
            return session.execute(select(func.count()).select_from(States)).scalar_one()

    assert await instance.async_add_executor_job(count) == 250


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


@pytest.mark.parametrize("engine", ENGINES)
def test_tables_are_made_as_before(engine: str, tmp_path: Path) -> None:
    """By the statements that made them first, and then by these alone, they are what Home Assistant makes them."""
    found = []
    for made_by in (nullcontext, tables_made_as_before, tables_made_as_before):
        folder = tmp_path / str(len(found))
        folder.mkdir()
        with temporary_database(engine, folder) as url, made_by():
            database = create_engine(url)
            Base.metadata.create_all(database)
            tables = inspect(database)
            found.append(
                {
                    table: repr((tables.get_columns(table), tables.get_indexes(table), tables.get_foreign_keys(table)))
                    for table in sorted(tables.get_table_names())
                }
            )
            database.dispose()
    assert "states" in found[0]
    assert found[0] == found[1] == found[2]


def test_engines_are_told_apart() -> None:
    """Every engine that the recorder serves has its place."""
    assert list(DIALECTS) == list(ENGINES)

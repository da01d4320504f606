"""Tests of which database a function reads."""

from pathlib import Path
import sqlite3

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from tests.conftest import expose
from tests.databases import EVERY_ENGINE

from .conftest import Ask, Install
from .test_injection import written

pytestmark = [pytest.mark.usefixtures("no_deprecations"), EVERY_ENGINE]

QUERY = "query: SELECT entity_id FROM states_meta"


async def test_empty(recorder_mock: Recorder, install: Install, ask: Ask) -> None:
    """A query that comes out empty is none."""
    await install(written("type: sqlite\nquery: '{% if x %}SELECT 1{% endif %}'", "x"))
    assert await ask("probe", {"x": 0}, error=True) == "The query is empty. Give one."


async def test_addresses(
    recorder_mock: Recorder, hass: HomeAssistant, entry: MockConfigEntry, install: Install, ask: Ask, tmp_path: Path
) -> None:
    """The recorder by its address, or by that of its usual file, is read as without one: what is exposed only."""
    for entity_id in ("light.lamp", "light.zebra"):
        hass.states.async_set(entity_id, "on")
    expose(hass, "light.lamp")
    await async_wait_recording_done(hass)
    in_file = recorder_mock.db_url.startswith("sqlite")
    address = recorder_mock.db_url if in_file else "sqlite:///home-assistant_v2.db"
    await install(written(f"type: sqlite\ndb_url: {address}\n{QUERY}"))
    assert await ask("probe") == [{"entity_id": "light.lamp"}]

    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE states_meta (entity_id TEXT)")
    connection.close()
    await install(written(f"type: sqlite\ndb_url: sqlite:///{other}\n{QUERY}").replace("probe", "other"))
    assert "do not list" in await ask("other", error=True)
    hass.config_entries.async_update_entry(entry, options={"database_files": [str(other)]})
    await hass.async_block_till_done()
    assert await ask("other") == []

"""Tests of which database a function reads."""

from pathlib import Path
import sqlite3

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.functions.yaml_source import FunctionError
from custom_components.extended_assist.recorder import query, user_queries
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from tests.conftest import expose
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.one_home import in_one_home

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


@pytest.fixture
async def lamps(
    recorder_mock: Recorder, hass: HomeAssistant, entry: MockConfigEntry, freezer: FrozenDateTimeFactory
) -> None:
    """A lamp and a hidden one that turned on and off."""
    freezer.move_to("2026-11-20 10:00:00+00:00")
    for state in ("off", "on", "off"):
        for name in ("lamp", "zebra"):
            hass.states.async_set(f"light.{name}", state, {"token": "s3cret", "unit": "lx"})
        await hass.async_block_till_done()
        freezer.tick(60)
    expose(hass, "light.lamp")
    await async_wait_recording_done(hass)


HOW_OFTEN = """type: sqlite
query: >-
  WITH turns AS (SELECT now.state, now.last_updated FROM states now JOIN states_meta m ON m.metadata_id = now.metadata_id
  JOIN states prior ON prior.state_id = now.old_state_id WHERE m.entity_id LIKE 'light.%' AND now.state <> prior.state)
  SELECT count(*) AS n, ':x' AS colon FROM turns WHERE state = '{{ x }}' AND last_updated > {{ y }}
"""


async def test_own_queries(lamps: None, install: Install, ask: Ask) -> None:
    """A query of the user's runs where the recorder is, sees exposed rows, and takes values as values."""
    await install(written(HOW_OFTEN, "x", "y"))
    assert await ask("probe", {"x": "on", "y": 5}) == [{"n": 1, "colon": ":x"}]
    assert await ask("probe", {"x": "off' OR '1' = '1", "y": 5}) == [{"n": 0, "colon": ":x"}]
    assert await ask("probe", {"x": "on", "y": 1e12}) == [{"n": 0, "colon": ":x"}]


@in_one_home(
    "query",
    [
        "DELETE FROM states_meta",
        "INSERT INTO states_meta (entity_id) VALUES ('light.x')",
        "UPDATE states SET state = 'x'",
        "CREATE TABLE x (a integer)",
        "DROP TABLE states",
    ],
)
async def test_own_queries_change_nothing(lamps: None, install: Install, ask: Ask, query: str) -> None:
    """Whatever the user wrote, it only reads."""
    with pytest.raises(FunctionError, match="must be a SELECT"):
        await install(written(f"type: sqlite\nquery: {query}"))
    await install(written("type: sqlite\nquery: SELECT count(*) AS n FROM states").replace("probe", "after"), anew=True)
    assert await ask("after") == [{"n": 3}]


async def test_own_queries_end(lamps: None, install: Install, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query without end is ended, by the process or by the server, and the next one works."""
    for module in (query, user_queries):
        monkeypatch.setattr(module, "TIME_LIMIT", 0.5)
    tables = ", ".join(f"states s{number}" for number in range(15))
    await install(written(f"type: sqlite\nquery: SELECT count(*) AS n FROM {tables}"))  # noqa: S608 - constants
    assert "stopped after 0.5 seconds" in await ask("probe", error=True)
    await install(
        written("type: sqlite\nquery: SELECT max(state) AS most FROM states\nsingle: true").replace("probe", "after")
    )
    assert await ask("after") == {"most": "on"}


MOMENTS = """type: sqlite
query: >-
  SELECT CAST('2026-03-10 17:04:59.9996' AS {}) AS nearly, CAST('2026-03-10 17:05:00.4' AS {}) AS just,
  CAST('9999-12-31 23:59:59.9' AS {}) AS never
single: true
"""


async def test_moments_are_rounded(lamps: None, install: Install, ask: Ask, request: pytest.FixtureRequest) -> None:
    """What a server returns as a moment is rounded to the second, but for the end of time."""
    kind = {"sqlite": "TEXT", "postgresql": "timestamp", "mariadb": "datetime(6)"}
    await install(written(MOMENTS.replace("{}", kind[request.node.callspec.params["recorder_db_url"]])))
    answer = await ask("probe")
    if request.node.callspec.params["recorder_db_url"] != "sqlite":
        assert answer == {
            "nearly": "2026-03-10 17:05:00",
            "just": "2026-03-10 17:05:00",
            "never": "9999-12-31 23:59:59",
        }


ODD_QUOTES = """type: sqlite
query: SELECT count(*) AS n FROM states WHERE state = 'it\\'s {{ x }}' OR state = 'it\\'s'
"""


async def test_quotes_of_other_engines(lamps: None, install: Install, ask: Ask, request: pytest.FixtureRequest) -> None:
    """Where a server ends texts elsewhere than SQLite does, a value would stand inside one: it is refused."""
    await install(written(ODD_QUOTES, "x"))
    answer = await ask("probe", {"x": " OR 1 = 1 -- "}, error=True)
    if request.node.callspec.params["recorder_db_url"] != "sqlite":
        assert "a quote inside a text twice" in answer


async def test_the_models_own_query(lamps: None, install: Install, ask: Ask) -> None:
    """A query of the model's is asked of a copy of exposed rows, in SQLite's dialect, whatever the recorder is."""
    await install(written("type: sqlite", "query"))
    asked = {"query": "SELECT entity_id, strftime('%Y', last_updated) AS year, count(*) AS n FROM states GROUP BY 1, 2"}
    assert await ask("probe", asked) == [{"entity_id": "light.lamp", "year": "2026", "n": 3}]
    asked = {"query": "SELECT shared_attrs FROM state_attributes"}
    (row,) = await ask("probe", asked)
    assert "lx" in row["shared_attrs"]
    assert "s3cret" not in row["shared_attrs"]
    assert "Only SELECT" in await ask("probe", {"query": "DELETE FROM states"}, error=True)

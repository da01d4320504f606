"""Tests of queries as the model asks them."""

import asyncio
import csv
from dataclasses import replace
from datetime import UTC, datetime, timedelta
import io
from pathlib import Path
from time import monotonic
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from probatio import to_openapi
import pytest
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.recorder import query as query_module
from custom_components.extended_assist.recorder.query import MAX_ROWS
from custom_components.extended_assist.results import format_time
from custom_components.extended_assist.tools import CATALOGUE, DEFAULT_FAMILIES
from custom_components.extended_assist.tools.database import QueryDatabaseTool
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from tests.conftest import CallTool, expose
from tests.helpers.databases import EVERY_ENGINE
from tests.helpers.one_home import in_one_home

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def table(text: str) -> list[dict[str, str]]:
    """Return CSV as one dictionary per row."""
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
async def home(recorder_mock: Recorder, hass: HomeAssistant, assist: None, freezer: FrozenDateTimeFactory) -> None:
    """A sensor and a hidden one with a past."""
    for number in range(12):
        freezer.move_to(NOW.replace(hour=number))
        hass.states.async_set(
            "sensor.outside", str(10 + number / 4), {"unit_of_measurement": "°C", "source": "lock.hidden"}
        )
        hass.states.async_set("lock.hidden", f"SECRET{number}")
    freezer.move_to(NOW)
    await async_wait_recording_done(hass)
    expose(hass, "sensor.outside")


@EVERY_ENGINE
async def test_query(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """Rows come as CSV with the columns' names once, and hidden entities do not exist."""
    tool = QueryDatabaseTool()
    data = await call_tool(
        tool,
        query="SELECT m.entity_id, count(*) AS n, min(s.last_updated_ts) AS first_ts FROM states s "
        "JOIN states_meta m ON m.metadata_id = s.metadata_id GROUP BY m.entity_id",
    )
    start = NOW.replace(hour=0).timestamp()
    assert table(data["result"]) == [{"entity_id": "sensor.outside", "n": "12", "first_ts": f"{start:.0f}"}]
    data = await call_tool(tool, query="SELECT state FROM states WHERE state LIKE :p", parameters={"p": "SECRET%"})
    assert data == {"rows": 0, "columns": "state", "note": "No exposed row matches."}
    numbers = {"least": 12.5, "flag": True, "nothing": None}
    data = await call_tool(
        tool,
        query="SELECT count(*) AS n FROM states WHERE :flag AND :nothing IS NULL AND CAST(state AS float) >= :least",
        parameters=numbers,
    )
    assert table(data["result"]) == [{"n": "2"}]
    data = await call_tool(tool, query="SELECT DISTINCT shared_attrs FROM state_attributes")
    assert "hidden" not in data["result"]
    assert "°C" in data["result"]


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
async def test_span_is_echoed(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """What words meant is in the answer, be there rows or not; nobody asked for it where no span was named."""
    now = format_time(NOW)
    query = "SELECT count(*) AS n FROM states"
    data = await call_tool(QueryDatabaseTool(), query=query, start="last 4 hours")
    assert (data["start"], data["end"]) == (format_time(NOW - timedelta(hours=4)), now)
    data = await call_tool(QueryDatabaseTool(), query="SELECT 1 FROM states WHERE false", hours=2)
    assert (data["rows"], data["end"]) == (0, now)
    assert "start" not in await call_tool(QueryDatabaseTool(), query=query)


@EVERY_ENGINE
async def test_exposure_is_of_the_moment(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """What is exposed between two calls is seen by the second."""
    query = "SELECT count(*) AS n FROM states"
    assert table((await call_tool(QueryDatabaseTool(), query=query))["result"]) == [{"n": "12"}]
    expose(hass, "lock.hidden")
    assert table((await call_tool(QueryDatabaseTool(), query=query))["result"]) == [{"n": "24"}]


@EVERY_ENGINE
async def test_a_copy_serves_its_conversation_alone(
    hass: HomeAssistant,
    home: None,
    llm_context: llm.LLMContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time that an answer takes does not tell what somebody else has asked."""
    filled = []
    fill = query_module._async_fill

    async def fill_and_note(*given: Any) -> None:
        filled.append(given)
        await fill(*given)

    monkeypatch.setattr(query_module, "_async_fill", fill_and_note)
    tool = QueryDatabaseTool()
    for device_id, fillings in (("kitchen", 1), ("kitchen", 1), ("hall", 2), ("hall", 2)):
        context = replace(llm_context, device_id=device_id)
        given = llm.ToolInput(tool.name, {"query": "SELECT count(*) FROM states"})
        result = await tool.async_call(hass, given, context)
        assert not result.error
        assert len(filled) == fillings


async def test_a_broken_file_is_not_narrowed(
    hass: HomeAssistant, home: None, call_tool: CallTool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the recorder's file cannot be read, asking for less does not help, and nothing says so."""
    (file := tmp_path / "other.db").write_bytes(b"no database" * 1_000)
    monkeypatch.setattr(query_module, "recorder_uri", lambda _: f"{file.as_uri()}?mode=ro")
    data = await call_tool(QueryDatabaseTool(), query="SELECT count(*) FROM states", error=True)
    assert data["error"] == (
        "The rows for this query were not copied: the recorder's file cannot be opened (SQLITE_NOTADB). Tell the user."
    )


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
async def test_budget(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """What does not fit is left out and counted."""
    query = "SELECT a.state, b.last_updated_ts FROM states a CROSS JOIN states b ORDER BY 1, 2"
    data = await call_tool(QueryDatabaseTool(ToolboxOptions(budget=1_000)), query=query)
    shown = table(data["result"])
    assert len(json_dumps(data)) <= 1_000
    assert 20 < len(shown) < 144
    assert data["note"].startswith(f"{144 - len(shown)} more rows are left out")
    data = await call_tool(
        QueryDatabaseTool(ToolboxOptions(budget=1_000)), query=query.replace("ORDER", ", states c, states d ORDER")
    )
    assert data["note"].startswith("more than ")
    data = await call_tool(
        QueryDatabaseTool(ToolboxOptions(budget=40_000)),
        query="SELECT 1 AS x FROM states a, states b, states c, states d",
    )
    assert len(table(data["result"])) == MAX_ROWS
    assert data["note"].startswith(f"Only the first {MAX_ROWS} rows are listed")


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
@in_one_home(
    ("arguments", "words"),
    [
        ({"query": "DELETE FROM states"}, "Only SELECT is allowed"),
        ({"query": "SELECT * FROM events"}, "no such table: events"),
        ({"query": "SELECT 1", "parameters": {"a": [1]}}, "The parameters are wrong"),
        ({"query": "SELECT 1", "parameters": {"a": "x" * 2000}}, "The parameters are wrong"),
        ({"query": ""}, "wrong arguments"),
        ({"query": "x" * 20_000}, "wrong arguments"),
        ({"query": "SELECT json_extract(state, '$') FROM states", "parameters": {}}, ""),
    ],
)
async def test_errors(
    hass: HomeAssistant, home: None, call_tool: CallTool, arguments: dict[str, Any], words: str
) -> None:
    """Errors say what is wrong."""
    data = await call_tool(QueryDatabaseTool(), error=bool(words), **arguments)
    assert words in data.get("error", "")


async def test_memory(hass: HomeAssistant, recorder_mock: Recorder, assist: None, call_tool: CallTool) -> None:
    """A recorder in memory is out of reach, and the model is told so."""
    assert "in memory" in (await call_tool(QueryDatabaseTool(), error=True, query="SELECT 1"))["error"]


async def test_without_recorder(hass: HomeAssistant, assist: None, call_tool: CallTool) -> None:
    """Without a recorder, the model is told so."""
    assert "recorder is not set up" in (await call_tool(QueryDatabaseTool(), error=True, query="SELECT 1"))["error"]


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
async def test_event_loop_stays_free(
    hass: HomeAssistant, recorder_mock: Recorder, assist: None, call_tool: CallTool
) -> None:
    """While a heavy query runs, the event loop turns."""
    for number in range(30):
        hass.states.async_set("sensor.outside", str(number))
    await async_wait_recording_done(hass)
    expose(hass, "sensor.outside")
    pauses = []

    async def watch() -> None:
        while True:
            before = monotonic()
            await asyncio.sleep(0.001)
            pauses.append(monotonic() - before)

    query = "SELECT count(*) AS n FROM states a, states b, states c, states d, states e WHERE a.state < b.state"
    await call_tool(QueryDatabaseTool(), query="SELECT 1")
    watcher = asyncio.create_task(watch())
    await call_tool(QueryDatabaseTool(), query=query)
    watcher.cancel()
    assert max(pauses) < 0.2  # Generous: the machine that tests may be busy. The benchmark measures it.


def test_declaration() -> None:
    """Off by default, read-only, and described in few words."""
    assert QueryDatabaseTool in CATALOGUE
    assert "database" not in DEFAULT_FAMILIES
    tool = QueryDatabaseTool()
    assert tool.annotations.read_only
    schema = json_dumps(to_openapi(tool.parameters, openapi_version="3.1.0"))
    assert len(schema) + len(tool.description or "") <= 1_500

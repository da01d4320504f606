"""Charts beside the answers about the past: what is drawn, when, and that no number depends on it."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
import re
from typing import Any
from xml.etree import ElementTree as ET

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done
from pytest_homeassistant_custom_component.typing import (
    ClientSessionGenerator,
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from custom_components.extended_assist.calls import chat_images as shown
from custom_components.extended_assist.calls.chat_images import async_get_gallery
from custom_components.extended_assist.tools import charts
from custom_components.extended_assist.tools.history import GetHistoryTool
from custom_components.extended_assist.tools.statistics import GetStatisticsTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.calls.test_chat_images import ask, link_in
from tests.claude_server import ClaudeServer, Turn, text, tool_use
from tests.conftest import ASSISTANT, CallTool, expose
from tests.helpers.recorded import local, measurement, meter, record, steps

pytestmark = pytest.mark.usefixtures("no_deprecations")

ROOM, DOOR, WIND, USED = "sensor.room", "binary_sensor.door", "sensor.wind", "sensor.used"
NAMES = {ROOM: "Room ](x) <script>", DOOR: "Front door", WIND: "Wind", USED: "Used"}
NOW = "2026-03-10 14:00:00"
SAID = "That is how it went."
HISTORY, STATISTICS = GetHistoryTool.name, GetStatisticsTool.name

type AskAbout = Callable[..., Awaitable[tuple[dict[str, Any], str]]]


@pytest.fixture
async def recorded(
    recorder_mock: Recorder, hass: HomeAssistant, entry: MockConfigEntry, freezer: FrozenDateTimeFactory
) -> None:
    """A room, a door, a vane, a meter, and their past; the client's models must be made before time stands still."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    units = {ROOM: "°C", WIND: "°", USED: "kWh"}
    attributes = {one: {"friendly_name": name, "unit_of_measurement": units.get(one)} for one, name in NAMES.items()}
    attributes[WIND]["state_class"] = "measurement_angle"
    del attributes[DOOR]["unit_of_measurement"]
    for minute in range(0, 480, 20):
        freezer.move_to(local("2026-03-10 06:00:00") + timedelta(minutes=minute))
        hass.states.async_set(ROOM, "unknown" if minute == 200 else f"{18 + minute % 70 / 10}", attributes[ROOM])
        hass.states.async_set(WIND, f"{minute % 360}", attributes[WIND])
        hass.states.async_set(USED, f"{minute}", attributes[USED])
        if minute % 100 == 0:
            hass.states.async_set(DOOR, "on" if minute % 200 else "off", attributes[DOOR])
    freezer.move_to(local(NOW))
    await async_wait_recording_done(hass)
    hours = steps(local("2026-03-01"), local("2026-03-10 13:00:00"))
    await record(hass, USED, meter(hours, lambda index: index % 5 / 2), unit_of_measurement="kWh", unit_class="energy")
    room = measurement(hours, lambda index: 18 + index % 24 / 4)
    await record(hass, ROOM, room, unit_of_measurement="°C", unit_class="temperature")
    for component in ("assist_pipeline", "intent"):
        assert await async_setup_component(hass, component, {})
    expose(hass, *NAMES)


@pytest.fixture
async def client(hass: HomeAssistant, recorded: None, hass_ws_client: WebSocketGenerator) -> Any:
    """A dialog."""
    client = await hass_ws_client(hass)
    yield client
    await client.close()


@pytest.fixture
def about(client: MockHAClientWebSocket, claude_server: ClaudeServer) -> AskAbout:
    """Return a function that lets the model call a tool; it returns the result and what is said."""

    async def about(tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        _, said, events = await ask(client, claude_server, Turn([tool_use(tool, arguments)]), Turn([text(SAID)]))
        (result,) = [
            delta["result"]["data"] if "data" in delta["result"] else delta["result"]
            for event in events
            if event["type"] == "intent-progress" and (delta := event["data"].get("chat_log_delta", {})).get("result")
        ]
        return result, said

    return about


def drawn(hass: HomeAssistant) -> ET.Element:
    """Return the newest chart."""
    *_, newest = async_get_gallery(hass)._pictures.values()
    assert newest.content_type == "image/svg+xml"
    return ET.fromstring(newest.content)  # noqa: S314 - it is ours, and must be XML


def marks(svg: ET.Element, style: str) -> int:
    """Return how many paths have a style."""
    return sum(re.fullmatch(style, element.get("class", "")) is not None for element in svg.iter())


@pytest.mark.parametrize(
    ("tool", "arguments", "style", "count"),
    [
        (HISTORY, {"entities": [ROOM]}, r"l c0 o", 2),
        (HISTORY, {"entities": [DOOR]}, r"n|c0 s", 5),
        (HISTORY, {"entities": [DOOR], "state": "on"}, r"n|c0 s", 5),
        (HISTORY, {"entities": [ROOM], "above": 20}, r"l c0 o", 2),
        (HISTORY, {"entities": [ROOM, DOOR], "hours": 8}, r"l c0 o", 2),
        (HISTORY, {"entities": [ROOM], "start": "2026-03-08", "end": "2026-03-09"}, r"l c0 o", 1),
        (STATISTICS, {"statistics": [USED], "start": "2026-03-02", "end": "2026-03-09", "period": "day"}, r"c0 s", 8),
        (STATISTICS, {"statistics": [USED], "start": "2026-03-02", "end": "2026-03-09"}, r"c0 s", 8),
        (STATISTICS, {"statistics": [ROOM], "start": "2026-03-09", "end": "2026-03-10"}, r"c0 a", 1),
        (STATISTICS, {"statistics": [USED, ROOM], "start": "2026-03-02", "end": "2026-03-09"}, r"c0 a", 1),
    ],
)
async def test_drawn(
    hass: HomeAssistant,
    about: AskAbout,
    call_tool: CallTool,
    tool: str,
    arguments: dict[str, Any],
    style: str,
    count: int,
) -> None:
    """What was asked about is drawn, and the numbers are the same as without a picture."""
    result, said = await about(tool, **arguments)
    assert marks(drawn(hass), style) == count
    assert said.startswith(f"{SAID}\n\n![2026-03-")
    assert "<" not in said
    assert link_in(said)
    made = GetHistoryTool() if tool == HISTORY else GetStatisticsTool()
    assert result.pop("chart") == "shown to the user with your answer"
    assert result == await call_tool(made, **arguments)
    assert len(async_get_gallery(hass)) == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (HISTORY, {"entities": [WIND]}),  # A line through directions would say that north lies beyond south.
        (HISTORY, {"entities": [DOOR], "hours": 0.1}),  # Nothing happened.
        (HISTORY, {"entities": [ROOM], "hours": 0.5}),  # Two numbers.
        (HISTORY, {"entities": [DOOR], "cursor": "1773140000.0"}),  # More rows of what was shown.
        (STATISTICS, {"statistics": [USED], "start": "2026-03-02", "end": "2026-03-02 02:00"}),
    ],
)
async def test_not_worth_it(hass: HomeAssistant, about: AskAbout, tool: str, arguments: dict[str, Any]) -> None:
    """Where there is no course to be seen, there is no chart."""
    result, said = await about(tool, **arguments)
    assert said == SAID
    assert "chart" not in result
    assert len(async_get_gallery(hass)) == 0


async def test_from_the_first_record(hass: HomeAssistant, about: AskAbout) -> None:
    """A span of which most was before the recording began is drawn from where something is known."""
    result, said = await about(HISTORY, entities=[DOOR], hours=30 * 24)
    assert result["start"] < "2026-02-09"
    assert "![2026-03-10 06:00 … 2026-03-10 14:00: Front door]" in said
    assert "2026-03-10 06:00 … 2026-03-10 14:00" in str(drawn(hass)[1].text)


async def test_no_cost_elsewhere(
    hass: HomeAssistant,
    recorded: None,
    call_tool: CallTool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where nobody reads, nothing is read for a chart and none is drawn."""
    monkeypatch.delattr(charts, "read_points")
    monkeypatch.delattr(charts, "read_rows")
    monkeypatch.delattr(charts, "draw")
    assert "chart" not in await call_tool(GetHistoryTool(), entities=[ROOM])
    assert "chart" not in await call_tool(GetStatisticsTool(), statistics=[USED])
    assert "while a chart was drawn" not in caplog.text


async def test_answers_stand(
    hass: HomeAssistant, about: AskAbout, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong with a picture costs the picture alone, and is in the log, without names."""

    def fail(*_: object) -> str:
        raise ZeroDivisionError(NAMES[ROOM])

    monkeypatch.setattr(charts, "draw", fail)
    for tool, arguments in ((HISTORY, {"entities": [ROOM]}), (STATISTICS, {"statistics": [USED], "hours": 100})):
        result, said = await about(tool, **arguments)
        assert said == SAID
        assert "chart" not in result
        assert "error" not in result
    records = [record for record in caplog.records if "while a chart was drawn" in record.getMessage()]
    assert len([record for record in records if record.levelname == "ERROR"]) == 2


async def test_hidden_meanwhile(
    hass: HomeAssistant, about: AskAbout, hass_client_no_auth: ClientSessionGenerator
) -> None:
    """A chart of what was hidden since cannot be opened; another of what is exposed can."""
    _, said = await about(HISTORY, entities=[ROOM, DOOR])
    _, other = await about(HISTORY, entities=[ROOM])
    async_expose_entity(hass, ASSISTANT, DOOR, False)
    browser = await hass_client_no_auth()
    assert (await browser.get(link_in(said))).status == 404
    response = await browser.get(link_in(other))
    assert response.status == 200
    assert response.headers["Content-Type"] == "image/svg+xml"
    assert (await response.text()).startswith("<svg ")


async def test_asked_again(hass: HomeAssistant, client: MockHAClientWebSocket, claude_server: ClaudeServer) -> None:
    """What the model asks twice in one turn is shown once."""
    call = tool_use(HISTORY, {"entities": [ROOM]})
    _, said, _ = await ask(client, claude_server, Turn([call]), Turn([{**call}]), Turn([text(SAID)]))
    assert link_in(said)
    assert shown.MAX_SHOWN > 1


async def test_far_away(hass: HomeAssistant, about: AskAbout) -> None:
    """External statistics have no entity that could be hidden; they are drawn as long as the options name them."""
    moment = dt_util.utcnow().replace(minute=0, second=0, microsecond=0)
    rows = meter(steps(moment - timedelta(hours=50), moment), float)
    await record(hass, "utility:garage", rows, unit_of_measurement="kWh", unit_class="energy", name="Garage")
    (entry,) = hass.config_entries.async_entries("extended_assist")
    hass.config_entries.async_update_entry(entry, options={"external_statistics": ["utility:garage"]})
    await hass.async_block_till_done()
    _, said = await about(STATISTICS, statistics=["utility:garage"], hours=48)
    assert link_in(said)
    assert marks(drawn(hass), "c0 s") == 49

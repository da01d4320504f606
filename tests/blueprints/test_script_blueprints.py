"""The script blueprints: whoever starts one gets the agent's answer told and returned, and hears of a failure."""

from pathlib import Path
import shutil
from typing import Any

import pytest

from homeassistant.components.blueprint import BLUEPRINT_SCHEMA, Blueprint
from homeassistant.components.trace.const import DATA_TRACE
from homeassistant.core import HomeAssistant
from homeassistant.helpers.selector import selector
from homeassistant.setup import async_setup_component
from homeassistant.util import yaml as yaml_util
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text

from ..conftest import AGENT
from ..helpers.blueprints import models
from ..helpers.telling import PHONE, SATELLITE, Told, told

__all__ = ["models", "told"]

FOLDER = Path(__file__).parents[2] / "blueprints" / "script" / "extended_assist"
NAME = "ask_and_tell"
FAILED = "It did not work."
INPUTS: dict[str, Any] = {
    "agent": AGENT,
    "question": "Is the cellar dry?",
    "language": "de",
    "notifiers": [PHONE],
    "satellites": [SATELLITE],
    "title": "Title",
    "failure_message": FAILED,
}


def read(schema: Any = BLUEPRINT_SCHEMA) -> Blueprint:
    """Read the blueprint as Home Assistant does."""
    return Blueprint(yaml_util.load_yaml_dict(FOLDER / f"{NAME}.yaml"), expected_domain="script", schema=schema)


async def test_description(hass: HomeAssistant) -> None:
    """Home Assistant accepts it, and people learn what each input is for; none is without use."""
    assert [path.stem for path in FOLDER.iterdir()] == [NAME]
    found = read()
    assert found.validate() is None
    assert found.metadata["homeassistant"]["min_version"] == "2026.10.0"
    assert found.metadata["source_url"].endswith(f"/blob/main/blueprints/script/extended_assist/{NAME}.yaml")
    assert "**What it needs**" in found.metadata["description"]
    assert set(found.inputs) == yaml_util.extract_inputs(found.data) == set(INPUTS)
    for key, settings in read(dict).inputs.items():
        assert settings["name"], key
        assert settings["description"], key
        assert selector(settings["selector"])(INPUTS[key]) == INPUTS[key]


@pytest.fixture
async def script(hass: HomeAssistant, models: None, told: Told, tmp_path: Path) -> None:
    """Make a script of the blueprint."""
    shutil.copytree(FOLDER, tmp_path / "blueprints" / "script" / "extended_assist")
    used = {"path": f"extended_assist/{NAME}.yaml", "input": INPUTS}
    assert await async_setup_component(hass, "script", {"script": {"ask": {"alias": "Ask", "use_blueprint": used}}})
    await hass.async_block_till_done()


@pytest.mark.parametrize(
    ("fields", "asked"), [({}, "Is the cellar dry?"), ({"question": "And the attic?"}, "And the attic?")]
)
@pytest.mark.usefixtures("script")
async def test_answer(
    hass: HomeAssistant, told: Told, claude_server: ClaudeServer, fields: dict[str, Any], asked: str
) -> None:
    """The answer is told where it was chosen, and returned."""
    claude_server.responder = Scenario([Turn([text("It is dry.")])])
    result = await hass.services.async_call("script", "ask", fields, blocking=True, return_response=True)
    await hass.async_block_till_done()
    assert result == {"answer": "It is dry."}
    assert (told.messages, told.announced) == ([("Title", "It is dry.")], ["It is dry."])
    assert asked in str(claude_server.message_requests[-1]["messages"][-1])


@pytest.mark.usefixtures("script")
async def test_failure(hass: HomeAssistant, told: Told, claude_server: ClaudeServer) -> None:
    """A failure is told as it was chosen, and whoever started the script gets no answer; the trace shows it."""
    claude_server.responder = Scenario([Turn(fault=Fault("http", status=401))])
    result = await hass.services.async_call("script", "ask", {}, blocking=True, return_response=True)
    await hass.async_block_till_done()
    assert not result
    assert told.messages == [("Title", FAILED)]
    (run,) = hass.data[DATA_TRACE]["script.ask"].runs.values()
    assert run.as_extended_dict()["script_execution"] == "aborted"

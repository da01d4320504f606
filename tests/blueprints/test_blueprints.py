"""Blueprints: what Home Assistant says of them, and what they tell of a recorded past, or do not."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from homeassistant.components import tts
from homeassistant.components.automation.config import ValidationStatus, async_validate_config_item
from homeassistant.components.blueprint import BLUEPRINT_SCHEMA, Blueprint
from homeassistant.core import HomeAssistant, SupportsResponse
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers.selector import selector
from homeassistant.setup import async_setup_component
from homeassistant.util import yaml as yaml_util
from tests.claude_server import ClaudeServer
from tests.conftest import AGENT
from tests.tools.test_energy import home, totals
from tests.tools.test_history import DOOR, House, house as past

from ..helpers.blueprints import (
    AUTOMATION,
    DOOR_TODAY,
    FOLDER,
    NAMES,
    OPEN,
    TASK,
    TELL,
    At,
    Model,
    SetUp,
    at,
    door,
    models,
    set_up,
    trace,
)
from ..helpers.telling import Told, told

__all__ = ["at", "home", "models", "past", "set_up", "told"]

pytestmark = pytest.mark.usefixtures("no_deprecations")

MOTION = "binary_sensor.motion"
FILLED: dict[str, dict[str, Any]] = {
    "morning_report": {
        "agent": AGENT,
        "trigger": [
            {"trigger": "state", "entity_id": MOTION, "to": "on"},
            {"trigger": "time", "at": "sensor.phone_next_alarm"},
        ],
        "weekdays": ["mon", "tue"],
        "earliest": "06:00:00",
        "latest": "10:00:00",
        "topics": ["Birds"],
        "entities": [DOOR],
        "areas": ["kitchen"],
        "sentences": 3,
    },
    "unusual_today": {
        "agent": AGENT,
        "ai_task": TASK,
        "time": "20:00:00",
        "weekdays": ["sat"],
        "sensitivity": "anything",
        "days": 5,
        "entities": [DOOR],
        "areas": ["kitchen"],
    },
    "weekly_energy": {
        "agent": AGENT,
        "time": "09:30:00",
        "weekdays": ["sun"],
        "topics": ["Gas"],
        "meters": ["sensor.gas"],
        "sentences": 2,
    },
}
FOR_ALL = TELL | {
    "language": "de",
    "extra_instructions": "Be kind.",
    "conditions": [{"condition": "state", "entity_id": "person.ann", "state": "home"}],
    "failure_notice": False,
}


def filled(name: str) -> dict[str, Any]:
    """Return a value for every input."""
    return FOR_ALL | FILLED[name]


def blueprint(name: str, schema: Callable[[Any], Any] = BLUEPRINT_SCHEMA) -> Blueprint:
    """Read a blueprint as Home Assistant does."""
    data = yaml_util.load_yaml_dict(FOLDER / f"{name}.yaml")
    return Blueprint(data, expected_domain="automation", schema=schema)


def test_all_are_here() -> None:
    """No blueprint goes untested."""
    assert {path.stem for path in FOLDER.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
async def test_description(hass: HomeAssistant, name: str) -> None:
    """Home Assistant accepts the blueprint, and people learn what each input is for; none is without use."""
    found = blueprint(name)
    assert found.validate() is None
    # What is imported is written anew, and not every selector can be read again then.
    again = Blueprint(yaml_util.parse_yaml(found.yaml()), expected_domain="automation", schema=BLUEPRINT_SCHEMA)
    assert again.data == found.data
    metadata = found.metadata
    assert metadata["homeassistant"]["min_version"] == "2026.10.0"
    assert metadata["source_url"].endswith(
        f"/extended-assist/blob/main/blueprints/automation/extended_assist/{name}.yaml"
    )
    assert "**What it needs**" in metadata["description"]
    assert set(found.inputs) == yaml_util.extract_inputs(found.data) == set(filled(name))
    for key, settings in blueprint(name, schema=dict).inputs.items():
        assert settings["name"], key
        assert settings["description"], key
        chosen = selector(settings["selector"])
        chosen(filled(name)[key])
        if (default := settings.get("default")) not in (None, []):
            chosen(default)
        assert default != filled(name)[key], key
    required = {key for key, settings in found.inputs.items() if "default" not in settings}
    assert required == {"agent", "ai_task"} & set(found.inputs)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_filled", [False, True])
async def test_valid(hass: HomeAssistant, set_up: SetUp, name: str, is_filled: bool) -> None:
    """With as few inputs as possible, and with every one of them, it becomes a valid automation."""
    inputs = filled(name) if is_filled else {"agent": AGENT} | ({"ai_task": TASK} if name == "unusual_today" else {})
    await async_setup_component(hass, "automation", {})
    config = {"alias": "It", "use_blueprint": {"path": f"extended_assist/{name}.yaml", "input": inputs}}
    found = await async_validate_config_item(hass, "it", config)
    assert (found.validation_status, found.validation_error) == (ValidationStatus.OK, None)


def worth_telling(instructions: str) -> dict[str, Any]:
    """Judge the findings."""
    return {"looked": True, "unusual": OPEN in instructions, "message": f"Look: {OPEN}"}


def nothing(_: str) -> dict[str, Any]:
    """Find nothing worth a message."""
    return {"looked": True, "unusual": False, "message": "An ordinary day."}


async def test_morning_report(
    hass: HomeAssistant, past: House, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer
) -> None:
    """What the recorder has is spoken and sent, once a morning."""
    hass.states.async_set(MOTION, "off")
    model = claude_server.responder = Model(DOOR_TODAY, door)
    area = ar.async_get(hass).async_create("Hall")
    inputs = {"topics": ["The night"], "areas": [area.id], "entities": [DOOR], "language": "nl"}
    trigger = {"trigger": "state", "entity_id": MOTION, "to": "on"}
    await set_up("morning_report", trigger=trigger, **inputs, extra_instructions="Say hello.")
    for time, times in (("04:59:00", 0), ("05:00:00", 1), ("10:30:00", 1), ("11:00:00", 1)):
        await at(f"2026-03-11 {time}")
        for state in ("on", "off"):
            hass.states.async_set(MOTION, state)
        await hass.async_block_till_done()
        assert len(model.asked) == times, time
    assert told.everywhere("Title", OPEN)
    for part in ("in this order: The night.", DOOR, "areas above all: Hall.", "at most 5 short", '"nl"', "Say hello."):
        assert part in model.asked[0]
    await at("2026-03-12 08:00:00")
    hass.states.async_set(MOTION, "on")
    await hass.async_block_till_done()
    assert len(model.asked) == 2, "the next morning has a report of its own"


async def test_time(
    hass: HomeAssistant, past: House, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer
) -> None:
    """It comes at seven on the chosen days, and only where the conditions are met."""
    model = claude_server.responder = Model(DOOR_TODAY, door)
    condition = {"condition": "state", "entity_id": "person.ann", "state": "home"}
    await set_up("morning_report", weekdays=["wed", "thu"], conditions=[condition])
    for day, where, times in ((10, "home", 0), (11, "not_home", 0), (12, "home", 1)):
        hass.states.async_set("person.ann", where)
        await at(f"2026-03-{day + 7} 07:00:00")
        assert len(model.asked) == times, day
    assert len(told.spoken) == 1


async def test_unusual(
    hass: HomeAssistant, past: House, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer
) -> None:
    """What was found is judged without tools, and told."""
    model = claude_server.responder = Model(DOOR_TODAY, door, worth_telling)
    await set_up("unusual_today", ai_task=TASK, entities=[DOOR], extra_instructions="Mind the door.")
    await at("2026-03-10 21:00:00")
    assert told.everywhere("Title", f"Look: {OPEN}")
    look, judge = model.asked
    assert "since 2026-03-10 00:00:00+01:00" in look
    assert "the same of the 7 days before" in look
    assert f"Look at these entities: {DOOR}." in look
    assert f"<findings> {OPEN} </findings>" in judge
    assert "only of what may need" in judge
    assert all("Mind the door." in asked for asked in model.asked)
    assert "tools" not in claude_server.message_requests[-1]
    schema = claude_server.message_requests[-1]["output_config"]["format"]["schema"]
    assert schema["required"] == ["looked", "unusual", "message"]
    assert "the code en" in schema["properties"]["message"]["description"]


async def test_nothing_unusual(
    hass: HomeAssistant, past: House, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer
) -> None:
    """An ordinary day is not worth a word, and no failure."""
    model = claude_server.responder = Model(DOOR_TODAY, door, nothing)
    await set_up("unusual_today", ai_task=TASK, sensitivity="anything")
    await at("2026-03-10 21:00:00")
    assert told == Told()
    assert "anything out of the ordinary" in model.asked[1]
    assert trace(hass)["script_execution"] == "finished"


@pytest.mark.parametrize(("unusual", "asked"), [(0.2, 1), (0.8, 2)])
async def test_weighed(
    hass: HomeAssistant,
    past: House,
    set_up: SetUp,
    told: Told,
    at: At,
    claude_server: ClaudeServer,
    unusual: float,
    asked: int,
) -> None:
    """Where tasks evaluate, as from Home Assistant 2026.11 on, a message is worded only where there is likely one to tell."""
    model = claude_server.responder = Model(DOOR_TODAY, door, worth_telling)
    await set_up("unusual_today", ai_task=TASK)
    task = hass.states.get(TASK)
    hass.states.async_set(TASK, task.state, {**task.attributes, "supported_features": 11})
    answers = {"looked": {"noul": 0.9}, "unusual": {"noul": unusual}}
    calls = async_mock_service(
        hass, "ai_task", "evaluate", response={"answers": answers}, supports_response=SupportsResponse.ONLY
    )
    await at("2026-03-10 21:00:00")
    (call,) = calls
    assert call.data["state"] == OPEN
    assert "only of what may need" in call.data["questions"]["unusual"]["instructions"]
    assert len(model.asked) == asked
    assert told.messages == ([("Title", f"Look: {OPEN}")] if asked == 2 else [])
    assert trace(hass)["script_execution"] == "finished"


async def test_weekly_energy(
    hass: HomeAssistant, home: None, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer
) -> None:
    """The numbers of the energy dashboard for seven full days."""

    def say(result: dict[str, Any]) -> str:
        grid = totals(result)["from grid"]
        return (
            f"From {result['start']} you took {grid['amount']} {grid['unit']} from the grid, before {grid['before']}."
        )

    model = claude_server.responder = Model([("get_energy", {"start": "2026-11-13", "end": "2026-11-20"})], say)
    await set_up("weekly_energy", time="14:00:00", weekdays=["fri"], meters=["sensor.oven"])
    await at("2026-11-20 14:00:00")
    # Eleven hours of 0.6 kWh a day, and thirteen of 0.05.
    assert told.everywhere("Title", "From 2026-11-13 00:00 you took 50.75 kWh from the grid, before 50.75.")
    (asked,) = model.asked
    assert "from 2026-11-13 to 2026-11-20 (that day is not part of it)" in asked
    assert "these meters as well, for the same days: sensor.oven." in asked
    await at("2026-11-21 14:00:00")
    assert len(model.asked) == 1


async def test_once_at_a_time(
    hass: HomeAssistant, past: House, set_up: SetUp, claude_server: ClaudeServer, caplog: pytest.LogCaptureFixture
) -> None:
    """What triggers while a report is made is passed over, without a warning."""
    model = claude_server.responder = Model(DOOR_TODAY, door)
    await set_up("morning_report")
    for _ in range(2):
        await hass.services.async_call("automation", "trigger", {"entity_id": AUTOMATION}, blocking=False)
    await hass.async_block_till_done()
    assert len(model.asked) == 1
    logged = [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    assert [record.message for record in logged if record.name != tts.__name__] == [], "the voice's sound is no music"

"""Blueprints: what Home Assistant says of them, and what they tell of a recorded past, or do not."""

from collections.abc import Awaitable, Callable
from pathlib import Path
import shutil
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.const import CONF_BASE_URL, DOMAIN
from custom_components.extended_assist.flows.agent import default_agent, default_task
from homeassistant.components.automation.config import ValidationStatus, async_validate_config_item
from homeassistant.components.blueprint import BLUEPRINT_SCHEMA, Blueprint
from homeassistant.components.trace.const import DATA_TRACE
from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers.selector import selector
from homeassistant.setup import async_setup_component
from homeassistant.util import yaml as yaml_util
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text
from tests.conftest import AGENT, MODEL
from tests.recorded import local
from tests.tools.test_energy import home, totals
from tests.tools.test_history import DOOR, House, house as past

from .blueprints import FOLDER, NAMES, Model
from .telling import PHONE, PLAYER, SATELLITE, VOICE, Told, told

__all__ = ["home", "past", "told"]

pytestmark = pytest.mark.usefixtures("no_deprecations")

AUTOMATION = "automation.it"
TASK = "ai_task.claude_ai_task"
FAILED = "It did not work."
TELL: dict[str, Any] = {
    "notifiers": [PHONE],
    "satellites": [SATELLITE],
    "speakers": [PLAYER],
    "voice": VOICE,
    "title": "Title",
    "other_actions": [{"event": "told", "event_data": {"words": "{{ words }}"}}],
    "failure_message": FAILED,
}
FILLED: dict[str, dict[str, Any]] = {
    "morning_report": {
        "agent": AGENT,
        "trigger": [
            {"trigger": "state", "entity_id": "binary_sensor.motion", "to": "on"},
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
    path = FOLDER / f"{name}.yaml"
    return Blueprint(
        yaml_util.load_yaml_dict(path), expected_domain="automation", path=path.name, schema=BLUEPRINT_SCHEMA
    )


def test_all_are_here() -> None:
    """No blueprint goes untested."""
    assert {path.stem for path in FOLDER.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
async def test_description(hass: HomeAssistant, name: str) -> None:
    """Home Assistant accepts the blueprint, and people learn what each input is for; none is without use."""
    found = blueprint(name)
    assert found.validate() is None
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


type SetUp = Callable[..., Awaitable[None]]


@pytest.fixture
async def models(hass: HomeAssistant, assist: None, claude_server: ClaudeServer) -> None:
    """An agent and an AI task of ours, as a new entry has them."""
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="Extended Assist",
        data={CONF_API_KEY: "test-key", CONF_BASE_URL: claude_server.url},
        subentries_data=[default_agent([], MODEL), default_task([], MODEL)],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


@pytest.fixture
def set_up(hass: HomeAssistant, models: None, told: Told, tmp_path: Path) -> SetUp:
    """Return a function that makes an automation of a blueprint, with these inputs."""
    shutil.copytree(FOLDER, tmp_path / "blueprints" / "automation" / "extended_assist")

    async def make(name: str, **inputs: Any) -> None:
        used = {"path": f"extended_assist/{name}.yaml", "input": {"agent": AGENT} | TELL | inputs}
        config = {"id": "it", "alias": "It", "use_blueprint": used}
        assert await async_setup_component(hass, "automation", {"automation": [config]})
        await hass.async_block_till_done()
        assert hass.states.get(AUTOMATION).state == "on"

    return make


def trace(hass: HomeAssistant) -> dict[str, Any]:
    """Return the last trace."""
    traces = hass.data[DATA_TRACE]["automation.it"]
    return dict(list(traces.values())[-1].as_dict())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_filled", [False, True])
async def test_valid(hass: HomeAssistant, set_up: SetUp, name: str, is_filled: bool) -> None:
    """With as few inputs as possible, and with every one of them, it becomes a valid automation."""
    inputs = filled(name) if is_filled else {"agent": AGENT} | ({"ai_task": TASK} if name == "unusual_today" else {})
    await async_setup_component(hass, "automation", {})
    config = {"alias": "It", "use_blueprint": {"path": f"extended_assist/{name}.yaml", "input": inputs}}
    found = await async_validate_config_item(hass, "it", config)
    assert (found.validation_status, found.validation_error) == (ValidationStatus.OK, None)


@pytest.fixture
def at(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Callable[[str], Awaitable[None]]:
    """Return a function that lets it become a local time, and waits for what comes of it."""

    async def become(time: str) -> None:
        freezer.move_to(local(time))
        async_fire_time_changed(hass, local(time))
        await hass.async_block_till_done(wait_background_tasks=True)

    return become


type At = Callable[[str], Awaitable[None]]
DOOR_TODAY = [("get_history", {"entities": "front door", "start": "2026-03-10", "state": "on", "min_seconds": 60})]


def door(result: dict[str, Any]) -> str:
    """Say what the history told of the door."""
    found = result["entities"][DOOR]
    return f"The front door was open for {found['longest']}."


OPEN = "The front door was open for 0:15:00 from 2026-03-10 12:30."


def worth_telling(instructions: str) -> dict[str, Any]:
    """Judge the findings."""
    return {"looked": True, "unusual": OPEN in instructions, "message": f"Look: {OPEN}"}


def nothing(_: str) -> dict[str, Any]:
    """Find nothing worth a message."""
    return {"looked": True, "unusual": False, "message": ""}


async def test_morning_report(
    hass: HomeAssistant, past: House, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer
) -> None:
    """What the recorder has is spoken and sent, once a morning."""
    hass.states.async_set("binary_sensor.motion", "off")
    model = claude_server.responder = Model(DOOR_TODAY, door, delay=0.2)
    motion = {"trigger": "state", "entity_id": "binary_sensor.motion", "to": "on"}
    trigger = [{"trigger": "time", "at": "07:00:00"}, motion]
    area = ar.async_get(hass).async_create("Hall")
    inputs = {"topics": ["The night"], "areas": [area.id], "entities": [DOOR], "language": "nl"}
    await set_up("morning_report", trigger=trigger, **inputs, extra_instructions="Say hello.")
    freezer_time = "2026-03-11 04:59:00"
    await at(freezer_time)
    hass.states.async_set("binary_sensor.motion", "on")
    await hass.async_block_till_done(wait_background_tasks=True)
    assert model.asked == []
    hass.states.async_set("binary_sensor.motion", "off")
    freezer_now = local("2026-03-11 07:00:00")
    async_fire_time_changed(hass, freezer_now)
    await at("2026-03-11 07:00:00")
    hass.states.async_set("binary_sensor.motion", "on")
    await hass.async_block_till_done(wait_background_tasks=True)
    assert told.everywhere("Title", OPEN)
    (asked,) = model.asked
    for part in ("in this order: The night.", DOOR, "areas above all: Hall.", "at most 5 short", '"nl"', "Say hello."):
        assert part in asked

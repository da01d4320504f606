"""Blueprints: what Home Assistant says of them, and what they tell of a recorded past, or do not."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
import shutil
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.const import CONF_BASE_URL, DOMAIN
from custom_components.extended_assist.flows.agent import default_agent, default_task
from homeassistant.components import tts
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
MOTION = "binary_sensor.motion"
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
async def set_up(hass: HomeAssistant, models: None, told: Told, tmp_path: Path) -> AsyncGenerator[SetUp]:
    """Return a function that makes an automation of a blueprint, with these inputs."""
    shutil.copytree(FOLDER, tmp_path / "blueprints" / "automation" / "extended_assist")

    async def make(name: str, **inputs: Any) -> None:
        used = {"path": f"extended_assist/{name}.yaml", "input": {"agent": AGENT} | TELL | inputs}
        config = {"id": "it", "alias": "It", "use_blueprint": used}
        assert await async_setup_component(hass, "automation", {"automation": [config]})
        await hass.async_block_till_done()
        assert hass.states.get(AUTOMATION).state == "on"

    yield make
    if hass.states.get(AUTOMATION):  # Its next time would be waited for.
        await hass.services.async_call("automation", "turn_off", {"entity_id": AUTOMATION}, blocking=True)


def trace(hass: HomeAssistant) -> dict[str, Any]:
    """Return the last trace."""
    return dict(list(hass.data[DATA_TRACE]["automation.it"].runs.values())[-1].as_extended_dict())


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
        await hass.async_block_till_done()

    return become


type At = Callable[[str], Awaitable[None]]
DOOR_TODAY = [("get_history", {"entities": "front door", "start": "2026-03-10", "state": "on", "min_seconds": 60})]


def door(result: dict[str, Any]) -> str:
    """Say what the history told of the door."""
    return f"The front door was open for {result['entities'][DOOR]['longest']}."


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


@pytest.mark.parametrize("has_notice", [True, False])
@pytest.mark.parametrize(
    "turn",
    [
        Turn(fault=Fault("http", status=401)),
        Turn(fault=Fault("http", status=500, headers={"x-should-retry": "false"})),
        Turn([text("Good morning, the door was")], fault=Fault("sse_error", after=5)),
        Turn([]),
        None,
    ],
    ids=["key", "server", "half", "empty", "gone"],
)
@pytest.mark.parametrize("name", NAMES)
async def test_agent_fails(
    hass: HomeAssistant,
    set_up: SetUp,
    told: Told,
    at: At,
    claude_server: ClaudeServer,
    name: str,
    turn: Turn | None,
    has_notice: bool,
) -> None:
    """Nothing unfinished is told; the notice is, where it is wished for; the trace shows why."""
    claude_server.responder = Scenario([turn] if turn else [])
    inputs = {"ai_task": TASK} if name == "unusual_today" else {}
    inputs |= {"earliest": "00:00:00", "latest": "23:59:59"} if name == "morning_report" else {}
    await set_up(name, failure_notice=has_notice, **inputs)
    if turn is None:
        (entry,) = hass.config_entries.async_entries(DOMAIN)
        assert await hass.config_entries.async_unload(entry.entry_id)
    await hass.services.async_call("automation", "trigger", {"entity_id": AUTOMATION}, blocking=True)
    await hass.async_block_till_done()
    assert told.everywhere("Title", FAILED) if has_notice else told == Told()
    last = trace(hass)
    assert last["script_execution"] == "aborted"
    all_steps = [step for steps in last["trace"].values() for step in steps]
    assert [step["error"] for step in all_steps if "gave no" in step.get("error", "")]
    answers = [
        step["changed_variables"]["answer"] for step in all_steps if "answer" in step.get("changed_variables", {})
    ]
    given = [answer["response"] for answer in answers if answer]
    assert bool(given) is (turn is not None), "what came instead of an answer is there to be read"
    assert len(claude_server.message_requests) == (turn is not None)


@pytest.mark.parametrize(
    "judge",
    [
        None,
        lambda _: {"looked": False, "unusual": False, "message": ""},
        lambda _: {"looked": True, "unusual": True, "message": " "},
        lambda _: {"looked": True},
    ],
)
async def test_no_judgement(
    hass: HomeAssistant, past: House, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer, judge: Any
) -> None:
    """Silence means that nothing was unusual, so a day without a judgement is told of."""
    claude_server.responder = Model(DOOR_TODAY, door, judge)
    await set_up("unusual_today", ai_task=TASK)
    await at("2026-03-10 21:00:00")
    assert told.everywhere("Title", FAILED)
    assert trace(hass)["script_execution"] == "aborted"


async def test_one_does_not_answer(
    hass: HomeAssistant, past: House, set_up: SetUp, told: Told, at: At, claude_server: ClaudeServer
) -> None:
    """A phone or satellite that fails keeps the words from nobody else."""
    claude_server.responder = Model(DOOR_TODAY, door)
    told.unreachable = True
    await set_up("morning_report")
    await at("2026-03-11 07:00:00")
    assert (told.messages, told.announced, told.spoken, told.others) == ([], [], [OPEN], [OPEN])


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

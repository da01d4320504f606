"""The automations, scripts and configuration of the documentation, loaded into Home Assistant and set off.

docs/examples.md, docs/configuration.md, docs/troubleshooting.md, docs/tools/automations.md.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
import logging
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_fire_time_changed,
    async_mock_service,
)

from custom_components.extended_assist.const import DOMAIN, LOGGER
from custom_components.extended_assist.flows.agent import default_agent, default_task
from homeassistant.components import conversation
from homeassistant.const import Platform
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, script
from homeassistant.helpers.template import Template
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.yaml import parse_yaml
from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use
from tests.conftest import AGENT, MODEL, CallTool, Converse, async_set_up
from tests.functions.conftest import Install
from tests.helpers.automating import FREE, StartHome, switching

from .pages import blocks
from .test_functions import block_of
from .test_tools import TOOLS

REFUSED = "Somebody may not open the door"
EXAMPLES, CONFIGURATION, TROUBLESHOOTING = "docs/examples.md", "docs/configuration.md", "docs/troubleshooting.md"
AUTOMATIONS = "docs/tools/automations.md"


@dataclass
class Expected:
    """What sets an automation or script off, what the model says, and what comes of it."""

    answers: list[str]
    calls: list[tuple[str, dict[str, Any]]]
    """Actions and a part of their data."""
    at: str = ""
    """The local time that sets it off."""
    event: tuple[str, dict[str, Any]] | None = None
    turns_on: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    asked: str = ""
    """Words of the last message that the model got."""


RUNS = {
    "Good night check": Expected(
        ["The kitchen window is open."],
        [("notify.mobile_app_phone", {"message": "The kitchen window is open."})],
        at="22:30:00",
        asked="which lights are on",
    ),
    "Anything unusual": Expected(
        ["The cellar door was open for two hours."],
        [
            (
                "notify.mobile_app_phone",
                {"title": "Something unusual", "message": "The cellar door was open for two hours."},
            )
        ],
        at="21:00:00",
    ),
    "Energy report": Expected(
        ["9 kWh, 1 kWh less.", "The heat pump."],
        [("persistent_notification.create", {"message": "9 kWh, 1 kWh less. The heat pump."})],
        asked="And which device used most of it?",
    ),
    "Parcel at the door": Expected(
        ['{"parcel": true, "where": "beside the plant"}'],
        [("notify.mobile_app_phone", {"message": "A parcel has arrived: beside the plant."})],
        turns_on="binary_sensor.doorbell",
        asked="Has somebody left a parcel",
    ),
    "Ingredients onto the list": Expected(
        ['{"ingredients": ["6 eggs", "1 l milk"]}'],
        [("todo.add_item", {"item": "6 eggs"}), ("todo.add_item", {"item": "1 l milk"})],
        fields={"recipe": "Pancakes: six eggs, a litre of milk"},
        asked="a litre of milk",
    ),
    "Coffee is used up": Expected(
        [],
        [
            ("shopping_list.add_item", {"name": "Coffee"}),
            ("notify.mobile_app_phone", {"message": "Coffee is on the list: Success"}),
        ],
        event=("tag_scanned", {"tag_id": "coffee"}),
    ),
}
SILENT = {
    "Anything unusual": Expected(["Nothing."], [], at="21:00:00"),
    "Parcel at the door": Expected(['{"parcel": false}'], [], turns_on="binary_sensor.doorbell"),
}
"""When there is nothing to say."""


def steps() -> list[Any]:
    """Return the block that is a part of an automation."""
    (found,) = [value for block in blocks(EXAMPLES, "yaml") if isinstance(value := parse_yaml(block.text), list)]
    return found


def test_every_block_is_known() -> None:
    """Each automation and script has its run; beside them there are a part of one and a configuration."""
    values = [parse_yaml(block.text) for block in blocks(EXAMPLES, "yaml")]
    names = [value["alias"] for value in values if isinstance(value, dict) and "alias" in value]
    assert sorted(names) == sorted([*RUNS, REFUSED])
    others = [value for value in values if isinstance(value, list) or "alias" not in value]
    assert [isinstance(value, list) for value in others] == [True, False]


@pytest.fixture
async def server(hass: HomeAssistant, house: None, claude_server: ClaudeServer) -> AsyncGenerator[ClaudeServer]:
    """Return the server of an entry with an agent and a task, as it is after the first set-up."""
    entry = await async_set_up(hass, claude_server, default_agent([], MODEL), default_task([], MODEL))
    yield claude_server
    await hass.config_entries.async_unload(entry.entry_id)


@pytest.fixture
async def camera(hass: HomeAssistant) -> str:
    """Return the demonstration's camera."""
    with patch("homeassistant.components.demo.COMPONENTS_WITH_CONFIG_ENTRY_DEMO_PLATFORM", [Platform.CAMERA]):
        entry = MockConfigEntry(domain="demo")
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
    (state,) = hass.states.async_all("camera")[:1]
    return state.entity_id


def replaced(value: Any, old: str, new: str) -> Any:
    """Return a configuration with a word replaced."""
    if isinstance(value, dict):
        return {key: replaced(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [replaced(each, old, new) for each in value]
    return value.replace(old, new) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("name", "expected"),
    [*RUNS.items(), *SILENT.items()],
    ids=[*RUNS, *(f"{name}, in vain" for name in SILENT)],
)
async def test_runs(
    hass: HomeAssistant,
    server: ClaudeServer,
    camera: str,
    install: Install,
    freezer: FrozenDateTimeFactory,
    name: str,
    expected: Expected,
) -> None:
    """What sets it off leads to the question, and the answer to what is to be done."""
    assert await async_setup_component(hass, "persistent_notification", {})
    if name == "Coffee is used up":
        await install(block_of("add_to_shopping_list").text)
    async_mock_service(hass, "notify", "mobile_app_phone")  # A phone is out of reach.
    hass.states.async_set("binary_sensor.doorbell", "off")
    config = replaced(shown(name), "camera.front_door", camera)
    server.responder = Scenario([Turn([text(words)]) for words in expected.answers])
    called: list[tuple[str, dict[str, Any]]] = []
    hass.bus.async_listen(
        "call_service",
        callback(
            lambda event: called.append((f"{event.data['domain']}.{event.data['service']}", event.data["service_data"]))
        ),
    )
    if "triggers" in config:
        await set_off(hass, config, expected, freezer)
    else:
        await run_script(hass, config, expected.fields)
    await hass.async_block_till_done(wait_background_tasks=True)
    wanted = {action for action, _ in expected.calls} | {"notify.mobile_app_phone"}
    done = [(action, data) for action, data in called if action in wanted]
    assert [action for action, _ in done] == [action for action, _ in expected.calls]
    for (_, data), (_, part) in zip(done, expected.calls, strict=True):
        assert {key: data[key] for key in part} == part
    assert len(server.message_requests) == len(expected.answers)
    if expected.asked:
        assert expected.asked in str(server.message_requests[-1]["messages"][-1])


def shown(name: str) -> Any:
    """Return an automation or script by its name."""
    return next(
        value
        for block in blocks(EXAMPLES, "yaml")
        if isinstance(value := parse_yaml(block.text), dict) and value.get("alias") == name
    )


async def set_off(
    hass: HomeAssistant, config: dict[str, Any], expected: Expected, freezer: FrozenDateTimeFactory
) -> None:
    """Load an automation beside those of the house and let its trigger come."""
    with patch("homeassistant.config.async_hass_config_yaml", return_value={"automation": [{"id": "shown", **config}]}):
        await hass.services.async_call("automation", "reload", blocking=True)
    (automation,) = [state for state in hass.states.async_all("automation") if state.name == config["alias"]]
    assert automation.state == "on", automation.attributes
    if expected.at:
        now, clock = dt_util.now(), dt_util.parse_time(expected.at)
        assert clock
        due = datetime.combine(now, clock, now.tzinfo)
        due += timedelta(days=int(due <= now))
        freezer.move_to(due)
        async_fire_time_changed(hass, due)
    elif expected.event:
        hass.bus.async_fire(*expected.event)
    else:
        hass.states.async_set(expected.turns_on, "on")
    await hass.async_block_till_done(wait_background_tasks=True)
    await hass.services.async_call("automation", "turn_off", {"entity_id": automation.entity_id}, blocking=True)


async def run_script(hass: HomeAssistant, config: dict[str, Any], variables: dict[str, Any]) -> None:
    """Load a script and run it."""
    with patch("homeassistant.config.async_hass_config_yaml", return_value={"script": {"shown": config}}):
        await hass.services.async_call("script", "reload", blocking=True)
    await hass.services.async_call("script", "shown", variables, blocking=True)


async def test_steps(hass: HomeAssistant, assist: None) -> None:
    """The end of an automation that speaks, in place of one that writes."""
    spoken = async_mock_service(hass, "assist_satellite", "announce")  # A satellite is out of reach.
    sequence = await script.async_validate_actions_config(hass, cv.SCRIPT_SCHEMA(steps()))
    answer = {"response": {"speech": {"plain": {"speech": "All is closed."}}}}
    await script.Script(hass, sequence, "Speak", DOMAIN).async_run({"answer": answer}, Context())
    assert spoken[0].data["message"] == "All is closed."


@pytest.mark.parametrize("expected_lingering_timers", [True])  # The month of the meter ends later.
async def test_cost(hass: HomeAssistant, entry: MockConfigEntry, converse: Converse) -> None:
    """The sensors that the template names exist, and it makes an amount of them."""
    value = next(
        each
        for block in blocks(EXAMPLES, "yaml")
        if isinstance(each := parse_yaml(block.text), dict) and "template" in each
    )
    usage = {"input_tokens": 10_000, "cache_read_input_tokens": 200_000, "output_tokens": 1_000}
    await converse("Hello", Turn([text("Hi")], usage=usage))
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=3))
    await hass.async_block_till_done()
    assert {"template", "utility_meter"} == value.keys()
    for domain, config in value.items():
        assert await async_setup_component(hass, domain, {domain: config})
    await hass.async_block_till_done()
    cost = hass.states.get("sensor.claude_cost")
    assert cost
    assert float(cost.state) == pytest.approx(0.01 + 0.02 + 0.005)
    assert hass.states.get("sensor.claude_cost_this_month")


async def test_told_of_a_change(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """The automation that is shown for it hears of a new one."""
    (block,) = blocks(AUTOMATIONS, "yaml")
    await start_home("[]\n")
    told = async_mock_service(hass, "notify", "notify")
    with patch("homeassistant.config.async_hass_config_yaml", return_value={"automation": [parse_yaml(block.text)]}):
        await hass.services.async_call("automation", "reload", blocking=True)
    await call_tool(TOOLS["add_automation"](FREE), automation=switching("Porch at dusk"))
    await hass.async_block_till_done()
    assert [call.data["message"] for call in told] == ["automation.porch_at_dusk was added"]


async def test_told_of_a_refusal(hass: HomeAssistant, server: ClaudeServer, hass_admin_user: MockUser) -> None:
    """The automation for it hears of a no to what the agent has asked, and names what was not done."""
    told = async_mock_service(hass, "notify", "mobile_app_phone")
    config = {"automation": [{"id": "shown", **shown(REFUSED)}]}
    with patch("homeassistant.config.async_hass_config_yaml", return_value=config):
        await hass.services.async_call("automation", "reload", blocking=True)
    unlock = {"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}}
    server.responder = Scenario(
        [Turn([tool_use("extended_assist__perform_action", unlock)]), Turn([text("All right.")])]
    )
    conversation_id = None
    for words in ("Open the front door", "No"):
        result = await conversation.async_converse(
            hass, words, conversation_id, Context(user_id=hass_admin_user.id), agent_id=AGENT, language="en"
        )
        conversation_id = result.conversation_id
        await hass.async_block_till_done()
    assert [call.data["message"] for call in told] == ["Not done: Front Door"]


async def test_instructions(hass: HomeAssistant) -> None:
    """The instructions that are shown are a template."""
    (block,) = blocks(CONFIGURATION, "jinja")
    assert "collected on Monday and Thursday." in Template(block.text, hass).async_render()


async def test_debug_logging(hass: HomeAssistant) -> None:
    """The configuration of the logger is valid and names the integration's own log."""
    (block,) = blocks(TROUBLESHOOTING, "yaml")
    assert await async_setup_component(hass, "logger", parse_yaml(block.text))
    await hass.async_block_till_done()
    assert LOGGER.getEffectiveLevel() == logging.DEBUG
    assert logging.getLogger("homeassistant.core").getEffectiveLevel() == logging.WARNING

"""Tests of diagnostics: they help, and they tell nothing of the home and its people."""

from typing import Any
from unittest.mock import ANY, patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.diagnostics import (
    get_diagnostics_for_config_entry,
    get_diagnostics_for_device,
)
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.extended_assist import diagnostics
from custom_components.extended_assist.calls.journal import Change, async_get_journal
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.flows.agent import default_agent
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.memory.store import async_get_memory
from homeassistant.components import assist_pipeline, conversation
from homeassistant.components.diagnostics import REDACTED
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text
from tests.conftest import AGENT, MODEL, expose
from tests.flows.test_redaction import CANARY, leaks
from tests.scheduled.shown import async_add, make_task

FUNCTION = f"""spec: {{name: {CANARY}_function, description: {CANARY}, parameters: {{type: object, properties: {{{CANARY}: {{type: string}}}}}}}}
function: {{type: template, value_template: {CANARY}}}"""
BROKEN = f"""spec:
  name: {CANARY} {CANARY}
  description: {CANARY}
function: {{type: template, value_template: x}}"""
PROMPT = f"You are {CANARY}."
OPTIONS: dict[str, Any] = {
    "families": ["entities", "history", "actions", CANARY],
    "result_budget": 6000,
    "external_statistics": [f"opower:{CANARY}"],
    "targetless_actions": [f"notify.{CANARY}_phone", "notify.x"],
    "web_hosts": [f"{CANARY}.local"],
    "web_ports": ["8443"],
    "database_files": [f"/config/{CANARY}.db"],
    "who_may_read": "anyone",
    "who_may_control": CANARY,
    "ask_first": ["perform_action", CANARY],
    "allow_without_chat": CANARY,
    "of_tomorrow": CANARY,
    "lists_of_tomorrow": {CANARY: [CANARY, {CANARY: CANARY}]},
    "number_of_tomorrow": 31337,
}

pytestmark = pytest.mark.usefixtures("no_deprecations")


@pytest.fixture
async def home(hass: HomeAssistant, assist: None) -> None:
    """Give everything that has a name one that must not get out, and expose it."""
    for domain, config in (
        ("script", {f"{CANARY}_script": {"alias": CANARY, "description": CANARY, "sequence": []}}),
        ("automation", {"id": CANARY, "alias": CANARY, "triggers": [], "actions": []}),
        ("input_boolean", {CANARY: {"name": CANARY}}),
        ("person", {"id": CANARY, "name": CANARY}),
        ("assist_pipeline", {}),
        ("diagnostics", {}),
        (DOMAIN, {}),
    ):
        assert await async_setup_component(hass, domain, {domain: config} if config else {})
    floor = fr.async_get(hass).async_create(f"{CANARY} floor", aliases={CANARY})
    area = ar.async_get(hass).async_create(f"{CANARY} area", aliases={CANARY}, floor_id=floor.floor_id)
    label = lr.async_get(hass).async_create(f"{CANARY} label")
    owner = MockConfigEntry(domain="test", title=CANARY)
    owner.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=owner.entry_id, identifiers={("test", CANARY)}, name=CANARY
    )
    light = er.async_get(hass).async_get_or_create(
        "light", "test", CANARY, device_id=device.id, suggested_object_id=CANARY
    )
    er.async_get(hass).async_update_entity(
        light.entity_id, area_id=area.id, aliases={CANARY}, labels={label.label_id}, name=CANARY
    )
    hass.states.async_set(light.entity_id, CANARY, {"friendly_name": CANARY, "effect": CANARY})
    hass.states.async_set("sensor.unseen", "1")
    expose(hass, light.entity_id, f"script.{CANARY}_script", f"input_boolean.{CANARY}", f"automation.{CANARY}")
    (pipeline,) = assist_pipeline.async_get_pipelines(hass)
    await assist_pipeline.async_update_pipeline(
        hass, pipeline, conversation_engine=AGENT, prefer_local_intents=True, name=CANARY, wake_word_entity=CANARY
    )


@pytest.fixture
def secret_entry(hass: HomeAssistant, claude_server: ClaudeServer) -> MockConfigEntry:
    """Return an entry, not loaded, whose every text holds what must not get out."""
    claude_server._api_key = CANARY
    agent = default_agent([], MODEL)
    agent["data"] = {
        **agent["data"],
        "prompt": PROMPT,
        "llm_hass_api": [DOMAIN],
        "fallback_agent": f"conversation.{CANARY}",
        "effort": CANARY,
        "tool_search": CANARY,
        "of_tomorrow": CANARY,
    }
    gone = {**default_agent([], MODEL), "title": f"{CANARY} gone"}
    gone["data"] = {"model": MODEL, "llm_hass_api": [CANARY], "fallback_agent": "conversation.home_assistant"}
    functions = [
        {"subentry_type": "function", "title": CANARY, "unique_id": CANARY, "data": {"function": code, "tier": CANARY}}
        for code in (FUNCTION, BROKEN)
    ]
    for function in functions[:1]:
        function["data"] = {"function": FUNCTION, "tier": "control", "of_tomorrow": CANARY}
    later = {
        "subentry_type": CANARY,
        "title": CANARY,
        "unique_id": None,
        "data": {"of_tomorrow": CANARY, "model": f"{CANARY} {CANARY}"},
    }
    entry = MockConfigEntry(
        domain=DOMAIN,
        title=CANARY,
        data={"api_key": CANARY, "base_url": claude_server.url, "of_tomorrow": CANARY},
        options={key: value for key, value in OPTIONS.items() if key != "who_may_control"},
        subentries_data=[agent, gone, later, *functions],
    )
    entry.add_to_hass(hass)
    return entry


async def remember(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Let the stores hold what must not get out."""
    ended, own = make_task(entry, CANARY), make_task(entry, CANARY, user_id=CANARY)
    tasks = await async_add(hass, make_task(entry, CANARY), own, ended)
    await tasks.async_end(ended.id, CANARY)
    about = {"said_by": CANARY, "device_id": CANARY, "entities": [f"light.{CANARY}"]}
    await (await async_get_memory(hass)).async_add([Fact(CANARY, **about), Fact(CANARY, CANARY, **about)])
    journal = await async_get_journal(hass)
    journal.add(Change("states", CANARY, {"states": {f"light.{CANARY}": {"state": CANARY, "attributes": {}}}}))


async def ask(hass: HomeAssistant, server: ClaudeServer, turn: Turn) -> None:
    """Ask the agent something."""
    server.responder = Scenario([turn])
    await conversation.async_converse(hass, CANARY, None, Context(), "en", AGENT)


async def test_nothing_personal_gets_out_and_what_helps_is_there(
    hass: HomeAssistant,
    home: None,
    secret_entry: MockConfigEntry,
    claude_server: ClaudeServer,
    hass_client: ClientSessionGenerator,
) -> None:
    """Of an entry that is loaded and has had failures."""
    assert await hass.config_entries.async_setup(secret_entry.entry_id)
    await hass.async_block_till_done()
    await remember(hass, secret_entry)
    await ask(hass, claude_server, Turn([text(CANARY)]))
    await ask(hass, claude_server, Turn(fault=Fault("http", status=400, message=CANARY)))
    data = await get_diagnostics_for_config_entry(hass, hass_client, secret_entry)
    assert leaks(data) == []
    assert "error" not in {key for section in data.values() if isinstance(section, dict) for key in section}

    assert data["entry"]["state"] == "loaded"
    assert data["entry"]["data"] == dict.fromkeys(("api_key", "base_url", "of_tomorrow"), REDACTED)
    assert data["entry"]["options"] == {
        "families": ["entities", "history", "actions", REDACTED, "wishes"],
        "result_budget": 6000,
        "external_statistics": "1 listed",
        "targetless_actions": "2 listed",
        "web_hosts": "1 listed",
        "web_ports": "1 listed",
        "database_files": "1 listed",
        "who_may_read": "anyone",
        "ask_first": ["perform_action", REDACTED],
        **dict.fromkeys(
            ("allow_without_chat", "of_tomorrow", "lists_of_tomorrow", "number_of_tomorrow"),
            REDACTED,
        ),
    }
    assert data["home"]["exposed"] == {"automation": 1, "input_boolean": 1, "light": 1, "script": 1}
    assert data["home"]["entities"] > 4
    connection = data["connection"]
    assert connection["server"] == {
        "kind": "own",
        "scheme": "http",
        "host": "loopback",
        "usual_port": False,
        "path": False,
    }
    assert connection["answered"]
    assert [failure["cause"] for failure in connection["failures"]] == ["invalid_request"]
    assert MODEL in connection["models"]
    agent, gone, later = data["agents"]
    assert agent["settings"]["model"] == MODEL
    assert agent["settings"]["llm_hass_api"] == ["toolbox"]
    assert agent["settings"]["prompt"] == f"{len(PROMPT)} characters"
    assert {key for key, value in agent["settings"].items() if value == REDACTED} == {
        *("effort", "fallback_agent", "of_tomorrow", "tool_search")
    }
    assert agent["fallback"] == "missing"
    assert agent["usage"]["counts"]["requests"] == 1
    assert agent["usage"]["month_tokens"] > 0
    assert agent["assistants"] == [
        {"preferred": True, "prefer_local_intents": True, "speech_to_text": False, "text_to_speech": False}
    ]
    offered = agent["offered"]
    assert offered["prompt"] > 100
    assert offered["own_tools"]["extended_assist__get_history"] > 100
    assert offered["other_tools"]["script"] == {"tools": 1, "characters": ANY}
    assert offered["other_tools"]["extended_assist"]["tools"] == 1
    assert gone["fallback"] == "home_assistant"
    assert gone["offered"] == {"error": "HomeAssistantError"}
    assert (later["type"], later["settings"]["model"]) == ("unknown", REDACTED)
    good, broken = data["functions"]
    assert good == {
        "settings": {"function": f"{len(FUNCTION)} characters", "tier": "control", "of_tomorrow": REDACTED},
        "served": True,
        "type": "template",
        "reaches": "read",
        "parameters": 1,
    }
    assert (broken["served"], broken["wrong_in_line"]) == (False, 2)
    assert {issue["issue"] for issue in data["issues"]} == {"agent_bypassed", "function_not_served"}
    tasks = {"standing": 2, "of_household": 1, "ended": 1}
    facts = {"held": 2, "of_household": 1}
    assert data["stored"] == {"changes": 1, "undone": 0, "wishes": tasks, "facts": facts}

    device = dr.async_get(hass).async_get(er.async_get(hass).async_get(AGENT).device_id)
    assert device
    of_device = await get_diagnostics_for_device(hass, hass_client, secret_entry, device)
    assert leaks(of_device) == []
    assert of_device["agents"] == [agent]
    assert of_device["entry"] == data["entry"]


async def test_entry_that_does_not_load(
    hass: HomeAssistant,
    home: None,
    secret_entry: MockConfigEntry,
    claude_server: ClaudeServer,
    hass_client: ClientSessionGenerator,
) -> None:
    """Whatever state it is in, there is something to tell, and nothing gets out."""
    data = await get_diagnostics_for_config_entry(hass, hass_client, secret_entry)
    assert data["entry"]["state"] == "not_loaded"
    assert leaks(data) == []
    await claude_server.stop()
    for agent in secret_entry.get_subentries_of_type("conversation"):
        hass.config_entries.async_update_subentry(secret_entry, agent, data={"model": MODEL})
    await hass.config_entries.async_setup(secret_entry.entry_id)
    assert secret_entry.state is ConfigEntryState.SETUP_RETRY
    data = await get_diagnostics_for_config_entry(hass, hass_client, secret_entry)
    assert (data["entry"]["state"], data["entry"]["reason"]) == ("setup_retry", "cannot_connect")
    assert data["connection"]["server"]["host"] == "loopback"
    assert data["agents"][0]["settings"] == {"model": MODEL}
    assert leaks(data) == []


async def test_broken_section(
    hass: HomeAssistant, home: None, secret_entry: MockConfigEntry, hass_client: ClientSessionGenerator
) -> None:
    """What goes wrong in one section is told by its kind alone, and the others are there; so is what is not installed."""
    with (
        patch.object(diagnostics, "read_definition", side_effect=RuntimeError(CANARY)),
        patch.object(diagnostics, "_PACKAGES", ("jsonschema", "gone")),
    ):
        data = await get_diagnostics_for_config_entry(hass, hass_client, secret_entry)
    assert data["packages"] == {"jsonschema": ANY, "gone": "missing"}
    assert data["functions"] == {"error": "RuntimeError"}
    assert data["entry"]["state"] == "not_loaded"
    assert leaks(data) == []


async def test_tools_only(hass: HomeAssistant, home: None, hass_client: ClientSessionGenerator) -> None:
    """An entry without a connection has diagnostics too."""
    entry = MockConfigEntry(domain=DOMAIN, data={}, options={"result_budget": 2000, "who_may_control": CANARY})
    entry.add_to_hass(hass)
    data = await get_diagnostics_for_config_entry(hass, hass_client, entry)
    assert data["entry"]["options"] == {"result_budget": 2000, "who_may_control": REDACTED}
    assert (data["connection"], data["agents"], data["functions"]) == (None, [], [])

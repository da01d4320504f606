"""Tests of the toolbox's options."""

from datetime import time
from pathlib import Path
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import voluptuous as vol

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import DEFAULT_ASK_FIRST, Policy, Speaker, Tier
from custom_components.extended_assist.const import (
    CONF_FAMILIES,
    CONF_LISTED_TRIGGERS,
    CONF_QUIET_END,
    CONF_QUIET_START,
    CONF_RESULT_BUDGET,
    CONF_TARGETLESS_ACTIONS,
)
from custom_components.extended_assist.scheduled.delivery import quiet_hours
from custom_components.extended_assist.tools import DEFAULT_FAMILIES
from custom_components.extended_assist.tools.actions import PerformActionTool
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import llm
from homeassistant.helpers.service import async_set_service_schema
from homeassistant.setup import async_setup_component
from tests.conftest import CallTool
from tests.helpers.one_home import in_one_home

SECTIONS = {"policy": True, "web": True, "functions": True}
"""What is folded away at first."""


async def tool_names(hass: HomeAssistant, entry: MockConfigEntry, context: llm.LLMContext) -> list[str]:
    """Return the names of the toolbox's own tools that the entry's API serves."""
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), context)
    return [tool.name for tool in instance.tools if tool.integration == "extended_assist"]


@pytest.mark.usefixtures("no_deprecations")
async def test_families_and_budget(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """What is turned off is gone after the options are saved; defaults are shown first."""
    assert "extended_assist__get_history" in await tool_names(hass, entry, llm_context)
    form = await hass.config_entries.options.async_init(entry.entry_id)
    shown = form["data_schema"]({"policy": {}})
    assert (shown[CONF_FAMILIES], shown[CONF_RESULT_BUDGET]) == (list(DEFAULT_FAMILIES), 4000)
    assert shown["policy"]["who_may_administer"] == "admin"
    changes = {CONF_FAMILIES: ["entities"], CONF_RESULT_BUDGET: 2000, "policy": {"who_may_control": "user"}}
    result = await hass.config_entries.options.async_configure(form["flow_id"], changes)
    await hass.async_block_till_done()
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert entry.options[CONF_FAMILIES] == ["entities"]
    assert entry.options[CONF_RESULT_BUDGET] == 2000
    assert entry.options["who_may_control"] == "user"
    assert Policy.of(entry.options).who_may[Tier.CONTROL] is Speaker.USER
    assert Policy.of(entry.options).ask_first == frozenset(DEFAULT_ASK_FIRST)
    assert await tool_names(hass, entry, llm_context) == ["extended_assist__get_entities"]


async def test_no_family_at_all(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """With every family off, what remains is Assist."""
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: []})
    await hass.async_block_till_done()
    assert await tool_names(hass, entry, llm_context) == []
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    assert "extended_assist" not in instance.api_prompt


async def show_options(hass: HomeAssistant, entry: MockConfigEntry) -> Any:
    """Begin to change the options, in a home with actions of all kinds."""
    for domain, config in (
        ("light", {}),
        ("script", {"hello": {"sequence": []}}),
        ("shell_command", {"boom": "true"}),
        ("rest_command", {"family": {"url": "http://127.0.0.1:1"}}),
        ("input_boolean", {}),
        ("scene", {}),
        ("camera", {}),
    ):
        assert await async_setup_component(hass, domain, {domain: config}), domain
    return await hass.config_entries.options.async_init(entry.entry_id)


@pytest.mark.usefixtures("no_deprecations")
async def test_actions_without_a_target(hass: HomeAssistant, entry: MockConfigEntry, call_tool: CallTool) -> None:
    """Actions of this home that have no target are offered and, once listed, allowed; none is by default."""
    form = await show_options(hass, entry)
    assert form["data_schema"]({"policy": {}})[CONF_TARGETLESS_ACTIONS] == []
    offered = form["data_schema"].schema[CONF_TARGETLESS_ACTIONS].config["options"]
    assert {"rest_command.family", "scene.create", "camera.snapshot"} <= set(offered)
    assert not {
        *("light.turn_on", "script.hello", "script.reload", "shell_command.boom", "input_boolean.reload"),
        *("homeassistant.restart", "homeassistant.update_entity", "scene.apply"),
    } & set(offered)
    refused = await call_tool(
        PerformActionTool(ToolboxOptions.of(entry.options)), error=True, action="rest_command.family"
    )
    assert "do not allow it" in refused["error"]
    changes = {CONF_TARGETLESS_ACTIONS: [" Rest_Command.Family ", "rest_command.family"], "policy": {}}
    result = await hass.config_entries.options.async_configure(form["flow_id"], changes)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert entry.options[CONF_TARGETLESS_ACTIONS] == ["rest_command.family"]
    await hass.async_block_till_done()
    calls: list[str] = []
    hass.services.async_remove("rest_command", "family")
    hass.services.async_register("rest_command", "family", lambda call: calls.append(call.service))
    async_set_service_schema(hass, "rest_command", "family", {})
    await call_tool(PerformActionTool(ToolboxOptions.of(entry.options)), action="rest_command.family")
    assert calls == ["family"]
    # It may be gone for a while, which must not stand in the way of other changes.
    hass.services.async_remove("rest_command", "family")
    form = await hass.config_entries.options.async_init(entry.entry_id)
    changes = {CONF_TARGETLESS_ACTIONS: ["rest_command.family"], CONF_RESULT_BUDGET: 2000, "policy": {}}
    result = await hass.config_entries.options.async_configure(form["flow_id"], changes)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_triggers(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Events, topics and webhooks are listed as they are written; none is by default."""
    form = await show_options(hass, entry)
    assert form["data_schema"]({"policy": {}})[CONF_LISTED_TRIGGERS] == []
    listed = [" zha_event ", "zha_event", "mqtt:home/Remote/action", "webhook:my-id", "ios.action_fired"]
    result = await hass.config_entries.options.async_configure(
        form["flow_id"], {CONF_LISTED_TRIGGERS: listed, "policy": {}}
    )
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert entry.options[CONF_LISTED_TRIGGERS] == listed[1:]
    assert ToolboxOptions.of(entry.options).listed_triggers == frozenset(listed[1:])


@in_one_home(
    ("listed", "reason"),
    [
        *(("*", "never_a_trigger"), ("state_changed", "never_a_trigger"), ("call_service", "never_a_trigger")),
        *(("entity_registry_updated", "never_a_trigger"), ("a b", "not_a_trigger"), ("mqtt:#", "not_a_trigger")),
        *(("mqtt:home/+/action", "not_a_trigger"), ("webhook:a/b", "not_a_trigger"), ("{{ 1 }}", "not_a_trigger")),
    ],
)
async def test_triggers_that_cannot_be_listed(
    hass: HomeAssistant, entry: MockConfigEntry, listed: str, reason: str
) -> None:
    """What would tell of everything, or is nothing that can happen, is refused with the reason."""
    form = await show_options(hass, entry)
    result = await hass.config_entries.options.async_configure(
        form["flow_id"], {CONF_LISTED_TRIGGERS: ["zha_event", listed], "policy": {}}
    )
    assert result["errors"] == {CONF_LISTED_TRIGGERS: reason}
    assert result["description_placeholders"] == {"wrong": listed}


@in_one_home(
    ("action", "reason"),
    [
        ("shell_command.boom", "never_allowed"),
        ("homeassistant.restart", "never_allowed"),
        ("input_boolean.reload", "never_allowed"),
        ("light.turn_on", "allowed_by_exposure"),
        ("script.hello", "allowed_by_exposure"),
        ("notify.nobody", "unknown_action"),
        ("everything", "not_an_action"),
        ("*", "not_an_action"),
        ("{{ 'light.turn_on' }}", "not_an_action"),
    ],
)
async def test_actions_that_cannot_be_listed(
    hass: HomeAssistant, entry: MockConfigEntry, action: str, reason: str
) -> None:
    """What is written by hand and makes no sense is refused with the reason, and what was written stays in the form."""
    form = await show_options(hass, entry)
    changes = {CONF_TARGETLESS_ACTIONS: ["scene.create", action], CONF_RESULT_BUDGET: 3000, "policy": {}}
    result = await hass.config_entries.options.async_configure(form["flow_id"], changes)
    assert result["type"] is FlowResultType.FORM
    assert result["errors"] == {CONF_TARGETLESS_ACTIONS: reason}
    assert result["description_placeholders"] == {"action": action.lower()}
    suggested = {str(key): (key.description or {}).get("suggested_value") for key in result["data_schema"].schema}
    assert suggested[CONF_TARGETLESS_ACTIONS] == ["scene.create", action.lower()]
    assert suggested[CONF_RESULT_BUDGET] == 3000
    result = await hass.config_entries.options.async_configure(
        form["flow_id"], {CONF_TARGETLESS_ACTIONS: ["scene.create"], "policy": {}}
    )
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_web(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Hosts and ports are stored as they are compared, and shown again."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    assert ToolboxOptions.of(entry.options).web_hosts == frozenset()
    web = {
        "web_hosts": [" NAS.local", "", "192.168.1.10:8080", "nas.local."],
        "web_ports": ["8443", " ", "443", "08443"],
    }
    await hass.config_entries.options.async_configure(form["flow_id"], {"policy": {}, "web": web})
    await hass.async_block_till_done()
    assert entry.options["web_hosts"] == ["nas.local", "192.168.1.10:8080"]
    assert entry.options["web_ports"] == ["8443"]
    assert ToolboxOptions.of(entry.options).web_ports == {8443}
    form = await hass.config_entries.options.async_init(entry.entry_id)
    (section,) = [key for key in form["data_schema"].schema if key == "web"]
    assert section.default is vol.UNDEFINED  # The frontend would show it in place of what is stored.
    shown = {str(key): key.description["suggested_value"] for key in form["data_schema"].schema[section].schema.schema}
    assert shown == {"web_hosts": ["nas.local", "192.168.1.10:8080"], "web_ports": ["8443"]}
    await hass.config_entries.options.async_configure(form["flow_id"], {"policy": {}, "web": {}})
    await hass.async_block_till_done()
    assert "web_hosts" not in entry.options


@pytest.mark.parametrize(
    ("web", "error", "wrong"),
    [
        ({"web_hosts": ["nas.local", "http://nas.local/"]}, "invalid_host", "http://nas.local/"),
        ({"web_hosts": ["127.0.0.1"]}, "invalid_host", "127.0.0.1"),
        ({"web_hosts": ["me@nas.local"]}, "invalid_host", "me@nas.local"),
        ({"web_ports": ["0"]}, "invalid_port", "0"),
        ({"web_ports": ["65536"]}, "invalid_port", "65536"),
        ({"web_ports": ["８０"]}, "invalid_port", "８０"),  # noqa: RUF001 - digits of another script
        ({"web_ports": ["http"]}, "invalid_port", "http"),
    ],
)
async def test_web_errors(
    hass: HomeAssistant, entry: MockConfigEntry, web: dict[str, list[str]], error: str, wrong: str
) -> None:
    """What is no host or port is named, and the rest of the form is kept."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    entered = {CONF_RESULT_BUDGET: 2000, "policy": {}, "web": web}
    result = await hass.config_entries.options.async_configure(form["flow_id"], entered)
    assert result["errors"] == {"web": error}
    assert result["description_placeholders"]["wrong"] == wrong
    assert {
        key: value.options["collapsed"] for key, value in result["data_schema"].schema.items() if key in SECTIONS
    } == {
        **SECTIONS,
        "web": False,
    }
    suggested = {str(key): (key.description or {}).get("suggested_value") for key in result["data_schema"].schema}
    assert suggested[CONF_RESULT_BUDGET] == 2000
    entered["web"] = {}
    result = await hass.config_entries.options.async_configure(form["flow_id"], entered)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_who_is_asked_on_phones(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """The people of this home can be chosen, nobody at first; who is gone is not shown any more and still asked by none."""
    anna, ben = [await hass.auth.async_create_user(name) for name in ("Anna", "ben")]
    gone = await hass.auth.async_create_user("Gone")
    await hass.auth.async_update_user(gone, is_active=False)
    await hass.auth.async_create_system_user("Machine")
    form = await hass.config_entries.options.async_init(entry.entry_id)
    assert form["data_schema"]({"policy": {}})["policy"]["ask_on_phones"] == []
    section = form["data_schema"].schema["policy"].schema.schema
    (offered,) = [section[key].config["options"] for key in section if key == "ask_on_phones"]
    assert [option["label"] for option in offered] == ["Anna", "ben"]
    chosen = {"policy": {"ask_on_phones": [anna.id]}}
    await hass.config_entries.options.async_configure(form["flow_id"], chosen)
    await hass.async_block_till_done()
    assert Policy.of(entry.options).ask_on_phones == {anna.id}
    hass.config_entries.async_update_entry(entry, options={"ask_on_phones": [ben.id, anna.id, gone.id, "unknown"]})
    await hass.async_block_till_done()
    form = await hass.config_entries.options.async_init(entry.entry_id)
    (key,) = [key for key in form["data_schema"].schema["policy"].schema.schema if key == "ask_on_phones"]
    assert key.description["suggested_value"] == [ben.id, anna.id]


async def test_quiet_hours(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """There are none by default; they are kept and shown again, and can be taken out."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    given = form["data_schema"]({"policy": {}})
    assert not {CONF_QUIET_START, CONF_QUIET_END} & given.keys()
    hours = {CONF_QUIET_START: "22:30:00", CONF_QUIET_END: "06:00:00"}
    await hass.config_entries.options.async_configure(form["flow_id"], given | hours)
    await hass.async_block_till_done()
    assert quiet_hours(entry.options) == (time(22, 30), time(6))
    form = await hass.config_entries.options.async_init(entry.entry_id)
    shown = {str(key): (key.description or {}).get("suggested_value") for key in form["data_schema"].schema}
    assert {key: shown[key] for key in hours} == hours
    await hass.config_entries.options.async_configure(form["flow_id"], given)
    await hass.async_block_till_done()
    assert quiet_hours(entry.options) is None


async def test_database_files(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Files that functions may read are listed, kept and shown again."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    given = form["data_schema"]({"policy": {}, "functions": {"database_files": ["books.db", ""]}})
    await hass.config_entries.options.async_configure(form["flow_id"], given)
    await hass.async_block_till_done()
    assert ToolboxOptions.of(entry.options).database_files == {"books.db"}
    form = await hass.config_entries.options.async_init(entry.entry_id)
    (shown,) = [value for key, value in form["data_schema"].schema.items() if key == "functions"]
    ((key, _),) = shown.schema.schema.items()
    assert key.description == {"suggested_value": ["books.db"]}


async def test_what_need_not_ask_and_what_asks_too(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Actions, domains and entities are taken as they are meant; anything else is pointed out."""
    form = await show_options(hass, entry)
    wrong = {CONF_FAMILIES: [], CONF_RESULT_BUDGET: 2000, "policy": {"never_ask": ["the front door"]}}
    form = await hass.config_entries.options.async_configure(form["flow_id"], wrong)
    assert form["errors"] == {"policy": "invalid_name"}
    assert form["description_placeholders"] == {"wrong": "the front door"}
    right = wrong | {"policy": {"never_ask": [" Lock.Unlock", "scene", "scene", ""], "always_ask": ["switch.heater"]}}
    done = await hass.config_entries.options.async_configure(form["flow_id"], right)
    assert done["type"] is FlowResultType.CREATE_ENTRY
    policy = Policy.of(entry.options)
    assert (policy.never_ask, policy.always_ask) == ({"lock.unlock", "scene"}, {"switch.heater"})


async def test_cameras(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Who may look, at what anyone may, and which task looks for others, are stored as they were said and heeded."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    defaults = form["data_schema"]({"policy": {}})
    result = await hass.config_entries.options.async_configure(form["flow_id"], defaults)
    options = ToolboxOptions.of(entry.options, entry.entry_id)
    assert (options.who_may_look, options.open_cameras, options.look_task) == (Speaker.USER, frozenset(), None)
    form = await hass.config_entries.options.async_init(entry.entry_id)
    chosen = {"look_who": "admin", "look_cameras": ["camera.door"], "look_task": "ai_task.eyes"}
    wanted = form["data_schema"]({"policy": {}, "families": ["cameras"], "cameras": chosen})
    result = await hass.config_entries.options.async_configure(form["flow_id"], wanted)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    await hass.async_block_till_done()
    options = ToolboxOptions.of(entry.options, entry.entry_id)
    assert (options.who_may_look, options.open_cameras) == (Speaker.ADMIN, {"camera.door"})
    assert options.look_task == "ai_task.eyes"


async def test_folders_of_cameras(hass: HomeAssistant, entry: MockConfigEntry, tmp_path: Path) -> None:
    """Folders of the local media are stored as they are; what is none of them is refused with the reason."""
    (tmp_path / "doorbell").mkdir()
    hass.config.media_dirs = {"local": str(tmp_path)}
    stored = "camera.door = media-source://media_source/local/doorbell"
    form = await hass.config_entries.options.async_init(entry.entry_id)
    for line, key, named in (
        ("the door", "invalid_folder", "the door"),
        ("camera.door = media-source://frigate/x", "foreign_folder", "camera.door = media-source://frigate/x"),
        ("camera.door = local/nowhere", "no_such_folder", "local/nowhere"),
        ("camera.door = local/../etc", "no_such_folder", "local/../etc"),
    ):
        wanted = form["data_schema"]({"policy": {}, "cameras": {"look_folders": [stored, line]}})
        form = await hass.config_entries.options.async_configure(form["flow_id"], wanted)
        assert form["errors"] == {"cameras": key}
        assert form["description_placeholders"] == {"wrong": named}
        assert not form["data_schema"].schema["cameras"].options["collapsed"]
    lines = [" Camera.Door = local/doorbell/", stored, ""]
    wanted = form["data_schema"]({"policy": {}, "cameras": {"look_folders": lines}})
    result = await hass.config_entries.options.async_configure(form["flow_id"], wanted)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert ToolboxOptions.of(entry.options).look_folders == (stored,)
    # The disk may be away for a while, which must not stand in the way of other changes.
    (tmp_path / "doorbell").rmdir()
    form = await hass.config_entries.options.async_init(entry.entry_id)
    wanted = form["data_schema"]({"policy": {}, "cameras": {"look_folders": [stored]}})
    result = await hass.config_entries.options.async_configure(form["flow_id"], wanted)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_memory(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Who may have something remembered is stored as it was said, shown again, and heeded by tools."""
    form = await hass.config_entries.options.async_init(entry.entry_id)
    chosen = {"memory_guests": 7, "memory_automations": True, "memory_elsewhere": True}
    wanted = form["data_schema"]({"policy": {}, "families": ["memory"], "memory": chosen})
    result = await hass.config_entries.options.async_configure(form["flow_id"], wanted)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    await hass.async_block_till_done()
    options = ToolboxOptions.of(entry.options, entry.entry_id)
    assert (options.memory_guests, options.memory_automations, options.memory_elsewhere) == (7, True, True)
    assert options.has_memory
    form = await hass.config_entries.options.async_init(entry.entry_id)
    (section,) = [key for key in form["data_schema"].schema if key == "memory"]
    shown = {str(key): key.description["suggested_value"] for key in form["data_schema"].schema[section].schema.schema}
    assert shown == chosen

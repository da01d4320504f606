"""The tools of one entry inside Assist itself: offered once, under their rules, to whoever has Assist."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_capture_events

from custom_components.extended_assist.api.assist_tools import PROMPT
from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls.activity import EVENT_AGENT
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.const import CONF_IN_ASSIST, DOMAIN
from custom_components.extended_assist.flows.agent import default_agent, default_task
from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.energy import GetEnergyTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer
from tests.confirmation.doors import DOORS, Call, Door
from tests.confirmation.test_matrix import add_core_agent
from tests.conftest import MODEL, async_set_up
from tests.helpers.talking import change_agent

pytestmark = pytest.mark.usefixtures("no_deprecations", "quiet")

PARTY, ATTIC = "input_boolean.party", "input_boolean.attic"
ACT = "extended_assist__perform_action"
OPTIONS = {"families": ["entities", "actions"], "who_may_control": "user", CONF_IN_ASSIST: True}


def switch(entity_id: str) -> Call:
    """Return a call that turns something on."""
    return Call(ACT, {"action": "input_boolean.turn_on", "target": {"entity_id": entity_id}})


@pytest.fixture
async def home(
    hass: HomeAssistant, assist: None, hass_storage: dict[str, Any], claude_server: ClaudeServer
) -> MockConfigEntry:
    """Return an entry whose tools are in Assist, in a home with one thing to switch and one that is hidden."""
    switches = {"party": {"name": "Party"}, "attic": {"name": "Attic"}}
    assert await async_setup_component(hass, "input_boolean", {"input_boolean": switches})
    for component in ("intent", "ai_task"):
        assert await async_setup_component(hass, component, {})
    for assistant in ("conversation", "ai_task"):
        async_expose_entity(hass, assistant, PARTY, True)
        async_expose_entity(hass, assistant, ATTIC, False)
    entry = await async_set_up(hass, claude_server, default_agent([], MODEL), default_task([], MODEL))
    await choose(hass, entry)
    return entry


async def choose(hass: HomeAssistant, entry: MockConfigEntry, **options: Any) -> None:
    """Set the options of an entry."""
    hass.config_entries.async_update_entry(entry, options=OPTIONS | options)
    await hass.async_block_till_done()


@pytest.fixture(params=DOORS)
async def name(request: pytest.FixtureRequest) -> str:
    """Return who calls."""
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["Assist", "beside our API"])
async def door(
    request: pytest.FixtureRequest,
    name: str,
    hass: HomeAssistant,
    claude_server: ClaudeServer,
    home: MockConfigEntry,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncGenerator[Door]:
    """Return a way to call Assist's tools, alone or beside our own API."""
    selected = ["assist", *([api_id(home.entry_id)] if request.param else [])]
    if name == "our agent":
        await change_agent(hass, home, llm_hass_api=selected)
    if name == "core's agent":
        monkeypatch.setenv("ANTHROPIC_BASE_URL", claude_server.url)
        await add_core_agent(hass, selected)
    door = DOORS[name](hass, claude_server, selected)
    if name == "our agent" and request.param:
        # It is given the toolbox alone, which holds Assist.
        monkeypatch.setattr(door, "selected", selected[1:])
    return door


async def test_offered_and_bounded(
    hass: HomeAssistant, door: Door, name: str, home: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    """They are there while the option is on; who may, what is hidden and what is recorded is as everywhere."""
    admin = hass_admin_user.id
    told = async_capture_events(hass, EVENT_AGENT)
    heard = await door.say(switch(PARTY))
    assert "Nobody is logged in" in heard.results[0]["error"]
    heard = await door.say(switch(ATTIC), user_id=admin)
    assert "not found or is not exposed" in heard.results[0]["error"]
    assert "Attic" not in str(heard.results[0])
    assert (await async_get_journal(hass)).changes == []
    heard = await door.say(switch(PARTY), user_id=admin)
    assert "error" not in heard.results[0]
    assert hass.states.is_state(PARTY, "on")
    assert len((await async_get_journal(hass)).changes) == 1
    assert [event.data["kind"] for event in told] == ["refused", "acted"]
    assert len(heard.offered) == len(set(heard.offered))
    # Home Assistant 2026.10 gives whoever has both APIs both copies, under two names; 2026.11 keeps one of equal tools.
    copies = [one for one in heard.offered if one.endswith(ACT)]
    assert len(copies) == (1 if name == "our agent" else len(door.selected))
    await choose(hass, home, **{CONF_IN_ASSIST: False})
    heard = await door.say(user_id=admin)
    assert len([one for one in heard.offered if one.endswith(ACT)]) == len(copies) - ("assist" in door.selected)


@pytest.mark.parametrize("name", ["our agent", "core's agent"])
async def test_question(
    hass: HomeAssistant, door: Door, name: str, home: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    """What asks first asks, and is done once after a yes."""
    await choose(hass, home, ask_first=["perform_action"])
    admin = hass_admin_user.id
    heard = await door.say(switch(PARTY), user_id=admin)
    assert not hass.states.is_state(PARTY, "on")
    again = [] if door.asks_itself else [switch(PARTY)]
    await door.say(*again, words="Yes", user_id=admin, conversation_id=heard.conversation_id)
    assert hass.states.is_state(PARTY, "on")
    assert len((await async_get_journal(hass)).changes) == 1


async def test_our_api(hass: HomeAssistant, home: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """Our own API has each tool once, and says what it says once, whatever Assist holds; so has that of another entry."""
    other = MockConfigEntry(domain=DOMAIN, title="Other", data={}, options=OPTIONS | {CONF_IN_ASSIST: False})
    other.add_to_hass(hass)
    assert await hass.config_entries.async_setup(other.entry_id)
    found = {}
    for is_on in (True, False):
        await choose(hass, home, **{CONF_IN_ASSIST: is_on})
        for entry in (home, other):
            instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
            names = [tool.name for tool in instance.tools]
            assert len(names) == len(set(names))
            assert {tool._options.entry_id for tool in instance.tools if tool.name == ACT} == {entry.entry_id}
            found.setdefault(entry.entry_id, []).append((names, instance.api_prompt))
        assist = await llm.async_get_api(hass, "assist", llm_context)
        assert (PROMPT in assist.api_prompt) is is_on
        assert (ACT in [tool.name for tool in assist.tools]) is is_on
    for before, after in found.values():
        assert before == after


async def test_one_entry_only(hass: HomeAssistant, home: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """Of two entries that say so, which no form allows, the first one offers its tools; once it is gone, the other one."""
    other = MockConfigEntry(domain=DOMAIN, title="Other", data={}, options=OPTIONS)
    other.add_to_hass(hass)
    assert await hass.config_entries.async_setup(other.entry_id)

    async def owners() -> list[str | None]:
        assist = await llm.async_get_api(hass, "assist", llm_context)
        return [tool._options.entry_id for tool in assist.tools if tool.name == ACT]

    assert await owners() == [home.entry_id]
    await hass.config_entries.async_remove(home.entry_id)
    assert await owners() == []
    assert await hass.config_entries.async_reload(other.entry_id)
    assert await owners() == [other.entry_id]


async def test_form_refuses_the_second(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """The form says whose tools are in Assist already, and stores nothing."""
    other = MockConfigEntry(domain=DOMAIN, title="Other", data={}, options={})
    other.add_to_hass(hass)
    assert await hass.config_entries.async_setup(other.entry_id)
    form = await hass.config_entries.options.async_init(other.entry_id)
    data = form["data_schema"]({"policy": {}}) | {CONF_IN_ASSIST: True}
    result = await hass.config_entries.options.async_configure(form["flow_id"], data)
    assert result["errors"] == {CONF_IN_ASSIST: "in_assist_taken"}
    assert result["description_placeholders"] == {"entry": home.title}
    result = await hass.config_entries.options.async_configure(form["flow_id"], data | {CONF_IN_ASSIST: False})
    assert result["type"] == "create_entry"
    form = await hass.config_entries.options.async_init(home.entry_id)
    result = await hass.config_entries.options.async_configure(form["flow_id"], data)
    assert result["data"][CONF_IN_ASSIST] is True


async def test_what_there_is_to_offer(
    hass: HomeAssistant, home: MockConfigEntry, llm_context: llm.LLMContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the home comes to have later is offered from the next time on."""
    await choose(hass, home, families=["energy"])

    async def offered() -> bool:
        assist = await llm.async_get_api(hass, "assist", llm_context)
        await hass.async_block_till_done(wait_background_tasks=True)
        return any(tool.name == GetEnergyTool.name for tool in assist.tools)

    async def yes(_: HomeAssistant) -> bool:
        await asyncio.sleep(0)  # As long as a file takes.
        return True

    assert not await offered()
    monkeypatch.setattr(GetEnergyTool, "async_available", yes)
    assert [await offered(), await offered()] == [False, True]


def test_equal_tools() -> None:
    """The same tool under the same rules is one tool, so that Home Assistant 2026.11 offers it once."""
    options = ToolboxOptions(entry_id="1")
    assert PerformActionTool(options) == PerformActionTool(ToolboxOptions(entry_id="1"))
    assert PerformActionTool(options) != PerformActionTool(ToolboxOptions(entry_id="2"))
    assert PerformActionTool(options) != GetEnergyTool(options)
    assert len({PerformActionTool(options), PerformActionTool(options)}) == 1

"""The rules travel with the tool: whoever calls it, and whatever is selected beside the toolbox."""

from collections.abc import AsyncGenerator
from typing import Any, override

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser
import voluptuous as vol

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls.journal import Change, async_get_journal
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.flows.agent import default_agent, default_task
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer
from tests.conftest import MODEL, async_set_up
from tests.helpers.talking import change_agent

from .doors import DOORS, Call, Door, Heard, Mcp

pytestmark = pytest.mark.usefixtures("no_deprecations", "quiet")

SELECTIONS = ("alone", "with Assist", "with a third party", "two toolboxes")
OPTIONS = {"families": ["entities", "actions", "scripts"], "who_may_control": "user"}
LAXER = {**OPTIONS, "who_may_control": "anyone", "ask_first": []}
PARTY, ATTIC = "input_boolean.party", "input_boolean.attic"

NOT_KNOWN = "Nobody is logged in on this device"
NO_CONVERSATION = "there is no conversation in which to give it"
NOBODY = "nobody can give it here"

TURN_ON = "intent__HassTurnOn"
ACT = "extended_assist__perform_action"
RUN = "extended_assist__execute_script"
UNDO = "extended_assist__undo_last_change"
_SWITCH = {"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}}


class MoveTool(llm.Tool):
    """A tool of somebody else, which opens the attic."""

    name = "third__move"
    title = "Move"
    description = "Opens the attic."
    parameters = vol.Schema({})
    annotations = llm.ToolAnnotations(destructive=False, open_world=False)
    integration = "third"

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Open it."""
        await hass.services.async_call(
            "input_boolean", "turn_on", {"entity_id": ATTIC}, blocking=True, context=llm_context.context
        )
        return llm.ToolResult(data={"moved": True})


class ThirdAPI(llm.API):
    """An API of somebody else."""

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return its one tool."""
        return llm.APIInstance(self, "Move things.", llm_context, [MoveTool()])


@pytest.fixture
async def toolboxes(
    hass: HomeAssistant, assist: None, hass_storage: dict[str, Any], claude_server: ClaudeServer
) -> list[MockConfigEntry]:
    """Set up two things to switch, and two entries of which the second allows more."""
    switches = {"party": {"name": "Party"}, "attic": {"name": "Attic"}}
    assert await async_setup_component(hass, "input_boolean", {"input_boolean": switches})
    for component in ("intent", "script", "ai_task"):
        assert await async_setup_component(hass, component, {})
    for assistant in ("conversation", "ai_task"):
        for entity_id in (PARTY, ATTIC):
            async_expose_entity(hass, assistant, entity_id, True)
    first = await async_set_up(hass, claude_server, default_agent([], MODEL), default_task([], MODEL))
    hass.config_entries.async_update_entry(first, options=OPTIONS)
    second = MockConfigEntry(domain=DOMAIN, title="Laxer", data={}, options=LAXER)
    second.add_to_hass(hass)
    assert await hass.config_entries.async_setup(second.entry_id)
    await hass.async_block_till_done()
    return [first, second]


@pytest.fixture(params=SELECTIONS)
def selected(request: pytest.FixtureRequest, hass: HomeAssistant, toolboxes: list[MockConfigEntry]) -> list[str]:
    """Return the APIs that are selected; the first is always the toolbox."""
    first, second = (api_id(entry.entry_id) for entry in toolboxes)
    llm.async_register_api(hass, ThirdAPI(hass=hass, id="third", name="Third party"))
    beside = {"alone": [], "with Assist": ["assist"], "with a third party": ["third"], "two toolboxes": [second]}
    return [first, *beside[request.param]]


@pytest.fixture(params=DOORS)
async def door(
    request: pytest.FixtureRequest,
    hass: HomeAssistant,
    claude_server: ClaudeServer,
    toolboxes: list[MockConfigEntry],
    selected: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncGenerator[Door]:
    """Return a way to call tools, to which the APIs were given."""
    if request.param == "our agent":
        await change_agent(hass, toolboxes[0], llm_hass_api=selected)
    if request.param == "core's agent":
        monkeypatch.setenv("ANTHROPIC_BASE_URL", claude_server.url)
        await add_core_agent(hass, selected)
    return DOORS[request.param](hass, claude_server, selected)


async def add_core_agent(hass: HomeAssistant, selected: list[str]) -> MockConfigEntry:
    """Set up Home Assistant's own agent for Claude."""
    agent = {"llm_hass_api": selected, "chat_model": MODEL, "recommended": False}
    core = MockConfigEntry(
        domain="anthropic",
        title="Core",
        data={"api_key": "test-key"},
        version=2,
        minor_version=4,
        subentries_data=[{"subentry_type": "conversation", "title": "Core", "unique_id": None, "data": agent}],
    )
    core.add_to_hass(hass)
    assert await hass.config_entries.async_setup(core.entry_id)
    await hass.async_block_till_done()
    return core


class Home:
    """What becomes of the home."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take Home Assistant."""
        self.hass = hass

    def is_on(self, entity_id: str) -> bool:
        """Return whether something is on."""
        return self.hass.states.is_state(entity_id, "on")

    async def changes(self) -> list[Change]:
        """Return what is recorded and not undone."""
        return [change for change in (await async_get_journal(self.hass)).changes if not change.undone]

    async def off(self) -> None:
        """Switch everything off, as the user does by hand."""
        await self.hass.services.async_call("input_boolean", "turn_off", {"entity_id": [PARTY, ATTIC]}, blocking=True)


async def test_rules_travel(
    hass: HomeAssistant, door: Door, toolboxes: list[MockConfigEntry], hass_admin_user: MockUser
) -> None:
    """Speakers are told apart, questions are asked once, and what is changed is recorded once and can be undone."""
    home, admin = Home(hass), hass_admin_user.id
    heard = await check_speakers(home, door, admin)
    check_offer(door, heard)
    await check_question(home, door, admin)
    await check_undo(home, door, admin)
    if door.selected[-1] == "third":
        await check_third_party(home, door, admin)
    if door.selected[-1] == api_id(toolboxes[1].entry_id):
        await check_laxer(home, door)
    if isinstance(door, Mcp):
        await check_allowed(home, door, toolboxes[0], admin)


def check_offer(door: Door, heard: Heard) -> None:
    """Our agent offers no tool of Assist without rules, and nobody offers a name twice."""
    offered = [name for name in heard.offered if name.endswith(TURN_ON)]
    toolboxes = [selected for selected in door.selected if selected.startswith(DOMAIN)]
    raw = "assist" in door.selected and type(door) is not DOORS["our agent"]
    assert len(offered) == len(toolboxes) + raw, offered
    assert len(set(heard.offered)) == len(heard.offered)


async def check_speakers(home: Home, door: Door, admin: str) -> Heard:
    """Where only users may control, somebody whom nobody knows is refused in words, and a user is not."""
    turn_on = Call(TURN_ON, {"name": "Party"})
    heard = await door.say(turn_on, Call(ACT, _SWITCH))
    for result in heard.results:
        assert NOT_KNOWN in result["error"]
    assert not home.is_on(PARTY)
    assert await home.changes() == []
    for call in (turn_on, Call(ACT, _SWITCH)):
        heard = await door.say(call, user_id=admin)
        assert "error" not in heard.results[0], heard.results
        assert home.is_on(PARTY)
        await home.off()
        await door.say(Call(UNDO), user_id=admin)
    return heard


async def check_question(home: Home, door: Door, admin: str) -> None:
    """What asks first asks once and is then done; where nobody can answer it is not done."""
    run = Call(RUN, {"sequence": [_SWITCH]})
    heard = await door.say(run, user_id=admin)
    assert not home.is_on(PARTY)
    if not door.can_answer:
        again = await door.say(run, user_id=admin)
        for result in (*heard.results, *again.results):
            assert NO_CONVERSATION in result["error"] or NOBODY in result["error"]
        assert not home.is_on(PARTY)
        return
    if door.asks_itself:
        assert heard.results == []
        assert heard.response
        assert heard.response.speech["plain"]["speech"].splitlines()[-2:] == ["Turn on: Party.", "Shall I do that?"]
        await door.say(words="Yes", user_id=admin, conversation_id=heard.conversation_id)
    else:
        assert heard.results[0]["done"] is False
        assert "Party" in heard.results[0]["would"]
        again = await door.say(run, user_id=admin, conversation_id=heard.conversation_id)
        assert "done" not in again.results[0], again.results
    assert home.is_on(PARTY)
    await home.off()
    await door.say(Call(UNDO), user_id=admin)


async def check_undo(home: Home, door: Door, admin: str) -> None:
    """What Assist's tool changed is recorded once, found by whoever reads the response, and taken back."""
    heard = await door.say(Call(TURN_ON, {"name": "Party"}), user_id=admin)
    assert home.is_on(PARTY)
    if heard.response is not None:
        assert [target.id for target in heard.response.success_results] == [PARTY]
    (change,) = await home.changes()
    assert list(change.details["states"]) == [PARTY]
    assert (change.what, change.user_id) == ("input_boolean.turn_on", admin)
    undone = await door.say(Call(UNDO), user_id=admin, conversation_id=heard.conversation_id)
    assert undone.results[0]["undone"][PARTY].startswith("on → off")
    assert not home.is_on(PARTY)
    assert await home.changes() == []
    nothing = await door.say(Call(UNDO), user_id=admin, conversation_id=heard.conversation_id)
    assert "error" in nothing.results[0]


async def check_third_party(home: Home, door: Door, admin: str) -> None:
    """A tool of somebody else obeys our rules where it is ours to say: in our agent and in our tasks."""
    if not door.is_ours:
        return
    move = Call("third__move", api=1)
    heard = await door.say(move)
    assert NOT_KNOWN in heard.results[0]["error"]
    assert not home.is_on(ATTIC)
    heard = await door.say(move, user_id=admin)
    assert heard.results == [{"moved": True, "outcome": {"reached": {"Attic": "on"}}}]
    assert home.is_on(ATTIC)
    assert len(await home.changes()) == 1
    await door.say(Call(UNDO), user_id=admin, conversation_id=heard.conversation_id)
    assert not home.is_on(ATTIC)


async def check_laxer(home: Home, door: Door) -> None:
    """Each toolbox keeps to its own options: in the second, anyone may control and nothing asks."""
    for call in (Call(TURN_ON, {"name": "Party"}, api=1), Call(RUN, {"sequence": [_SWITCH]}, api=1)):
        heard = await door.say(call)
        assert "error" not in heard.results[0], heard.results
        assert "would" not in heard.results[0]
        assert home.is_on(PARTY)
        await home.off()


async def check_allowed(home: Home, door: Door, toolbox: MockConfigEntry, admin: str) -> None:
    """Where nobody can be asked, what asks first is done only once the options allow it."""
    home.hass.config_entries.async_update_entry(toolbox, options={**OPTIONS, "allow_without_chat": True})
    await home.hass.async_block_till_done()
    run = Call(RUN, {"sequence": [_SWITCH]})
    nobody = await door.say(run)
    assert NOT_KNOWN in nobody.results[0]["error"]
    assert not home.is_on(PARTY)
    await door.say(run, user_id=admin)
    assert home.is_on(PARTY)

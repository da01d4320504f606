"""The rules travel with the tool, on the newest Home Assistant, which names merged tools in its own way and keeps them."""

import asyncio
from collections.abc import AsyncIterator
import json
from pathlib import Path
import shutil
import tempfile
from typing import Any

import aiohttp
import pytest

from tests.claude_server import ClaudeServer, Scenario
from tests.confirmation.doors import Call, Heard, Model, offered_name

from .client import Client
from .conftest import complaints
from .instance import CACHE, CONFIGURATION, HomeAssistantInstance, free_port, install_integration, interpreter

PARTY = "input_boolean.party"
ASSIST = ("Assist", "assist")
THIRD = ("Third party", "third")
TURN_ON = Call("intent__HassTurnOn", {"name": "Party"})
RUN = Call(
    "extended_assist__execute_script",
    {"sequence": [{"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}}]},
)
UNDO = Call("extended_assist__undo_last_change")
MOVE = Call("third__move", api=1)
NOT_KNOWN = "Nobody is logged in on this device"
# Speaks for nobody: what an automation does has no user.
SATELLITE = {
    "alias": "Satellite",
    "mode": "queued",
    "triggers": [{"trigger": "event", "event_type": "spoken_to"}],
    "actions": [
        {
            "action": "conversation.process",
            "data": {"text": "Go on", "agent_id": "{{ trigger.event.data.agent_id }}"},
            "continue_on_error": True,
        },
        {"event": "answered"},
    ],
}

THIRD_PARTY = """
from homeassistant.helpers import llm


class Move(llm.Tool):
    name = "third__move"
    description = "Begins the party."
    integration = "third"
    annotations = llm.ToolAnnotations(destructive=False, open_world=False)

    async def async_call(self, hass, tool_input, llm_context):
        data = {"entity_id": "input_boolean.party"}
        await hass.services.async_call("input_boolean", "turn_on", data, blocking=True, context=llm_context.context)
        return llm.ToolResult(data={"moved": True})


class Third(llm.API):
    async def async_get_api_instance(self, llm_context):
        return llm.APIInstance(self, "Move things.", llm_context, [Move()])


async def async_setup(hass, config):
    llm.async_register_api(hass, Third(hass=hass, id="third", name="Third party"))
    return True
"""


@pytest.fixture
async def server() -> AsyncIterator[ClaudeServer]:
    """The model of both agents."""
    async with ClaudeServer(Scenario([]), port=free_port()) as server:
        yield server


@pytest.fixture
async def house(server: ClaudeServer) -> AsyncIterator[HomeAssistantInstance]:
    """A home of its own with something to switch, in which core's agent finds the server too."""
    try:
        interpreter("newest")
    except FileNotFoundError as err:
        pytest.skip(str(err))
    (CACHE / "e2e").mkdir(parents=True, exist_ok=True)
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=CACHE / "e2e", prefix="matrix-"))
    await asyncio.to_thread(_write, folder)
    async with HomeAssistantInstance(
        "newest", folder, extra_environment={"ANTHROPIC_BASE_URL": server.url}, is_copy=True
    ) as instance:
        yield instance
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _write(folder: Path) -> None:
    (folder / "configuration.yaml").write_text(f"{CONFIGURATION}third:\ninput_boolean: {{party: {{name: Party}}}}\n")
    install_integration(folder)
    third = folder / "custom_components" / "third"
    third.mkdir()
    (third / "__init__.py").write_text(THIRD_PARTY)
    (third / "manifest.json").write_text('{"domain": "third", "name": "Third", "version": "1.0.0", "requirements": []}')


class Home:
    """Says things at every door, and sees what becomes of the home."""

    def __init__(self, client: Client, server: ClaudeServer, instance: HomeAssistantInstance) -> None:
        self.client = client
        self.server = server
        self.instance = instance
        self.apis: list[tuple[str, str]] = []
        """Names and ids of what the door in question was given."""
        self.said = ""
        """What was answered last."""

    async def set_up(self) -> None:
        """Set up two toolboxes, core's agent and the server for other programs, as a person does."""
        await self.client.expose(PARTY)
        await self.client.post("/api/config/automation/config/satellite", SATELLITE)
        keys = {"api_key": "test-key", "base_url": self.server.url}
        first = await self.client.config_flow("extended_assist", {"next_step_id": "claude"}, keys)
        second = await self.client.config_flow("extended_assist", {"next_step_id": "tools"}, {"name": "Laxer"})
        core = await self.client.config_flow("anthropic", {"api_key": "test-key"})
        mcp = await self.client.config_flow("mcp_server", {})
        for result in (first, second, core, mcp):
            assert result["type"] == "create_entry", result
        self.first, self.second, self.core = (result["result"]["entry_id"] for result in (first, second, core))
        await self.set_options(self.first, "user", ["execute_script"])
        await self.set_options(self.second, "anyone", [])
        self.strict = (first["title"], f"extended_assist-{self.first}")
        self.lax = (second["title"], f"extended_assist-{self.second}")
        self.agents = {
            platform: await self.client.find_entity("conversation", platform)
            for platform in ("extended_assist", "anthropic")
        }
        await self.select(self.core, self.strict, ASSIST, recommended=True)
        more = {"max_tokens": 2_000, "max_tool_rounds": 5}
        await self.select(self.first, self.strict, THIRD, more=more, model="claude-haiku-5-5")

    async def set_options(self, entry_id: str, who: str, ask_first: list[str], *, in_assist: bool = False) -> None:
        """Choose who may control, and what asks first."""
        policy = {"who_may_read": "anyone", "who_may_control": who, "who_may_administer": "admin"}
        form = {
            "families": ["actions", "scripts"],
            "result_budget": 4_000,
            "in_assist": in_assist,
            "policy": {**policy, "ask_first": ask_first, "allow_without_chat": False},
        }
        result = await self.client.options_flow(entry_id, form)
        assert result["type"] == "create_entry", result

    async def select(
        self, entry_id: str, *apis: tuple[str, str], more: dict[str, Any] | None = None, **fields: Any
    ) -> None:
        """Give the agent of an entry its tools, and wait until it is there again."""
        # A toolbox whose options were just chosen is loaded anew, and cannot be selected meanwhile.
        await self.client.wait_until_loaded("extended_assist")
        (agent,) = (one for one in await self.client.subentries(entry_id) if one["subentry_type"] == "conversation")
        self.apis = [*apis]
        form = {**fields, "llm_hass_api": [api_id for _, api_id in apis]}
        answers = [form, more] if more else [form]
        result = await self.client.subentry_flow(entry_id, "conversation", *answers, subentry_id=agent["subentry_id"])
        assert result.get("reason") == "reconfigure_successful", result
        for domain, agent_id in self.agents.items():
            await self.client.wait_until_loaded(domain)
            await self.client.wait_for_entity(agent_id)

    def offered_name(self, call: Call, offered: list[str]) -> str:
        """Return the name of a tool."""
        return offered_name(call.tool, *self.apis[call.api], offered)

    async def say(self, agent: str, *calls: Call, words: str = "Go on", conversation_id: str | None = None) -> Heard:
        """Speak to an agent as the owner."""
        self.server.responder = model = Model(self.offered_name, calls)
        answer = await self.client.converse(words, agent_id=self.agents[agent], conversation_id=conversation_id)
        assert answer["response"]["response_type"] != "error", answer
        model.heard.conversation_id = answer["conversation_id"]
        self.said = answer["response"]["speech"]["plain"]["speech"]
        model.heard.targets = [target["id"] for target in answer["response"]["data"].get("success", [])]
        return model.heard

    async def say_from_satellite(self, agent: str, *calls: Call) -> Heard:
        """Speak to an agent where nobody is logged in."""
        self.server.responder = model = Model(self.offered_name, calls)
        async with self.client.subscribe("subscribe_events", event_type="answered") as events:
            await self.client.post("/api/events/spoken_to", {"agent_id": self.agents[agent]})
            await anext(events)
        assert len(model.heard.results) == len(calls)
        return model.heard

    async def over_mcp(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the strict toolbox as another program does."""
        headers = {"Authorization": f"Bearer {self.instance.access_token}", "Accept": "application/json"}
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        url = f"{self.instance.url}/api/mcp/{self.strict[1]}"
        async with aiohttp.ClientSession(headers=headers) as session, session.post(url, json=request) as response:
            assert response.status == 200, await response.text()
            answer: dict[str, Any] = (await response.json())["result"]
            return answer

    async def call_over_mcp(self, call: Call) -> dict[str, Any]:
        """Call a tool as another program does."""
        answer = await self.over_mcp("tools/call", name=call.tool, arguments=call.arguments)
        result: dict[str, Any] = json.loads(answer["content"][0]["text"])
        assert answer["isError"] is ("error" in result)
        return result

    async def is_on(self) -> bool:
        """Return whether the party is on."""
        return bool((await self.client.state(PARTY))["state"] == "on")

    async def off(self) -> None:
        """End the party by hand."""
        await self.client.perform_action("input_boolean.turn_off", {"entity_id": PARTY})

    async def noticed(self) -> set[str]:
        """Return whom the notices are about."""
        found = (await self.client.call("repairs/list_issues"))["issues"]
        return {
            issue["translation_placeholders"]["integration"]
            for issue in found
            if issue["translation_key"] == "tools_without_rules"
        }


async def test_rules_travel(house: HomeAssistantInstance, server: ClaudeServer) -> None:
    """Speakers, questions and undo: ours with a third party, core's with Assist and with two toolboxes, and MCP."""
    async with house.connect() as client:
        home = Home(client, server, house)
        await home.set_up()
        assert await home.noticed() == {"anthropic", "mcp_server"}
        await check_agent(home, "extended_assist", copies=1)
        await check_third_party(home)
        home.apis = [home.strict, ASSIST]
        await check_agent(home, "anthropic", copies=2)
        await check_options_hold_at_once(home)
        await check_in_assist(home)
        await home.select(home.core, home.strict, home.lax, recommended=True)
        assert await home.noticed() == {"mcp_server"}
        await check_agent(home, "anthropic", copies=2)
        await check_laxer(home)
        await check_mcp(home)
    assert complaints(house) == []


async def check_agent(home: Home, agent: str, *, copies: int) -> None:
    """The strict toolbox refuses whom nobody knows, asks once, and undoes once, however many copies are beside it."""
    heard = await home.say_from_satellite(agent, TURN_ON)
    assert NOT_KNOWN in heard.results[0]["error"]
    assert not await home.is_on()
    assert sum(name.endswith(TURN_ON.tool) for name in heard.offered) == copies
    heard = await home.say(agent, RUN)
    assert not await home.is_on()
    if agent == "extended_assist":
        assert heard.results == []
        assert home.said.endswith("Turn on: Party.\nShall I do that?")
        heard = await home.say(agent, words="Yes, please", conversation_id=heard.conversation_id)
    else:
        assert heard.results[0]["done"] is False
        heard = await home.say(agent, RUN, conversation_id=heard.conversation_id)
        assert "done" not in heard.results[0], heard.results
    assert await home.is_on()
    await home.say(agent, UNDO, conversation_id=heard.conversation_id)
    assert not await home.is_on()
    heard = await home.say(agent, TURN_ON)
    assert await home.is_on()
    assert heard.targets == [PARTY]
    undone, again = (await home.say(agent, UNDO, UNDO, conversation_id=heard.conversation_id)).results
    assert undone["undone"][PARTY].startswith("on → off")
    assert "error" in again
    assert not await home.is_on()


async def check_third_party(home: Home) -> None:
    """In our agent, a tool of somebody else obeys our rules and is undone."""
    heard = await home.say_from_satellite("extended_assist", MOVE)
    assert NOT_KNOWN in heard.results[0]["error"]
    assert not await home.is_on()
    heard = await home.say("extended_assist", MOVE)
    assert heard.results == [{"moved": True, "outcome": {"reached": {"Party": "on"}}}]
    assert await home.is_on()
    undone, again = (await home.say("extended_assist", UNDO, UNDO, conversation_id=heard.conversation_id)).results
    assert "undone" in undone
    assert "error" in again
    assert not await home.is_on()


async def check_options_hold_at_once(home: Home) -> None:
    """Home Assistant keeps the tools of a conversation; what the user chooses meanwhile holds all the same."""
    act = Call("extended_assist__perform_action", {"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}})
    heard = await home.say("anthropic", act)
    assert await home.is_on()
    await home.say("anthropic", UNDO, conversation_id=heard.conversation_id)
    assert not await home.is_on()
    await home.set_options(home.first, "user", ["execute_script", "perform_action"])
    heard = await home.say("anthropic", act, conversation_id=heard.conversation_id)
    assert heard.results[0]["done"] is False
    assert not await home.is_on()
    await home.set_options(home.first, "user", ["execute_script"])


async def check_in_assist(home: Home) -> None:
    """Tools in Assist itself are there once, beside the toolbox too, and obey their entry's rules."""
    await home.set_options(home.first, "user", ["execute_script"], in_assist=True)
    for apis in ((home.strict, ASSIST), (ASSIST,)):
        await home.select(home.core, *apis, recommended=True)
        heard = await home.say_from_satellite("anthropic", RUN)
        assert NOT_KNOWN in heard.results[0]["error"]
        assert sum(name.endswith(RUN.tool) for name in heard.offered) == 1
        heard = await home.say("anthropic", RUN)
        assert heard.results[0]["done"] is False
        await home.say("anthropic", RUN, words="Yes", conversation_id=heard.conversation_id)
        assert await home.is_on()
        await home.say("anthropic", UNDO, conversation_id=heard.conversation_id)
        assert not await home.is_on()
    await home.set_options(home.first, "user", ["execute_script"])
    heard = await home.say("anthropic")
    assert not any(name.endswith(RUN.tool) for name in heard.offered)


async def check_laxer(home: Home) -> None:
    """The other toolbox keeps to its own options."""
    for call in (TURN_ON, RUN):
        heard = await home.say_from_satellite("anthropic", Call(call.tool, call.arguments, api=1))
        assert "error" not in heard.results[0], heard.results
        assert await home.is_on()
        await home.off()


async def check_mcp(home: Home) -> None:
    """Another program is asked nothing and refused what asks; what it does is undone once."""
    names = [tool["name"] for tool in (await home.over_mcp("tools/list"))["tools"]]
    assert names.count(TURN_ON.tool) == 1
    assert "there is no conversation" in (await home.call_over_mcp(RUN))["error"]
    assert not await home.is_on()
    assert "error" not in await home.call_over_mcp(TURN_ON)
    assert await home.is_on()
    assert "undone" in await home.call_over_mcp(UNDO)
    assert not await home.is_on()

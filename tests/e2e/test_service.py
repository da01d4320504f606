"""What the real service refuses or needs, with a running Home Assistant of each version, on the strict stand-in."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
import json
import re
from typing import Any

import aiohttp
import pytest

from tests.claude.sent import assert_append_only, blocks_of
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, thinking, tool_use
from tests.claude_server.others import OLLAMA_CLOUD, OtherServer

from .client import Client
from .instance import HomeAssistantInstance

HIDDEN = "binary_sensor.bedroom_motion"
GET_ENTITIES = "extended_assist__get_entities"
MODEL, OTHER_MODEL = "claude-haiku-5-5", "claude-opus-5-5"
LENGTHS = {"max_tokens": 4_096, "max_tool_rounds": 5}
FUNCTIONS = """
- spec: {name: web_search, description: Searches a shelf.}
  function: {type: template, value_template: "On the shelf."}
- spec: {name: find, parameters: {properties: {"filter[app]": {type: string}}}}
  function: {type: template, value_template: "Found."}
- spec: {name: bare, parameters: {type: object}}
  function: {type: template, value_template: "Bare."}
"""
SCRIPT = {
    "alias": "Resize",
    "description": "Sets a size.",
    "fields": {"Größe": {"description": "The size.", "required": True, "selector": {"number": {"min": 1, "max": 9}}}},
    "sequence": [{"event": "resized", "event_data": {"size": "{{ Größe }}"}}],
}


@pytest.fixture
async def client(spare_home: HomeAssistantInstance) -> AsyncIterator[Client]:
    """A client of a home whose log need not stay clean."""
    async with spare_home.connect() as client:
        yield client


@pytest.fixture
async def server() -> AsyncIterator[ClaudeServer]:
    """The service."""
    async with ClaudeServer(Scenario([])) as server:
        yield server


class Agents:
    """The agents of an entry, and its model for tasks."""

    def __init__(self, client: Client, server: ClaudeServer, entry_id: str) -> None:
        """Take who talks."""
        self.client = client
        self.server = server
        self.entry_id = entry_id
        self.conversation_id: str | None = None

    async def entities(self, domain: str) -> list[str]:
        """Return the entities of the entry, and wait until they are there."""
        await self.client.wait_until_loaded("extended_assist")
        registry = await self.client.call("config/entity_registry/list")
        found = [item for item in registry if item["config_entry_id"] == self.entry_id]
        entity_ids = [item["entity_id"] for item in found if item["entity_id"].startswith(f"{domain}.")]
        for entity_id in entity_ids:
            await self.client.wait_for_entity(entity_id)
        return entity_ids

    async def change(self, *, prompt: str = "Be kind.", **more: Any) -> None:
        """Change the first agent as a person does."""
        (agent, *_) = [
            item for item in await self.client.subentries(self.entry_id) if item["subentry_type"] == "conversation"
        ]
        first = {"model": MODEL, "llm_hass_api": [f"extended_assist-{self.entry_id}"], "prompt": prompt}
        result = await self.client.subentry_flow(
            self.entry_id, "conversation", first, LENGTHS | more, subentry_id=agent["subentry_id"]
        )
        assert result.get("reason") == "reconfigure_successful", result

    async def say(self, words: str, *turns: Turn, agent: int = 0) -> str:
        """Say something in the conversation that goes on; return what is answered."""
        agent_id = (await self.entities("conversation"))[agent]
        self.server.responder = Scenario(list(turns))
        answer = await self.client.converse(words, agent_id=agent_id, conversation_id=self.conversation_id)
        self.conversation_id = answer["conversation_id"]
        return str(answer["response"]["speech"]["plain"]["speech"])


@asynccontextmanager
async def set_up(client: Client, server: ClaudeServer, key: str = "test-key") -> AsyncIterator[Agents]:
    """Set up an entry as a person does; it is gone afterwards."""
    result = await client.config_flow(
        "extended_assist", {"next_step_id": "claude"}, {"api_key": key, "base_url": server.url}
    )
    assert result["type"] == "create_entry", result
    entry_id = result["result"]["entry_id"]
    try:
        yield Agents(client, server, entry_id)
    finally:
        await client.delete(f"/api/config/config_entries/entry/{entry_id}")


@pytest.fixture
async def agents(client: Client, server: ClaudeServer) -> AsyncIterator[Agents]:
    """The agents on the service."""
    async with set_up(client, server) as agents:
        yield agents


def answer(words: str) -> Turn:
    """Return an answer that was thought about."""
    return Turn([thinking(f"How to say {words}"), text(words)])


def thoughts(request: dict[str, Any]) -> list[str]:
    """Return what of its thinking the model is sent."""
    blocks = [block for message in request["messages"] for block in blocks_of(message["content"])]
    return [block["thinking"] for block in blocks if block["type"] == "thinking"]


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all that it holds."""
    if isinstance(schema, dict):
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from parts(part)


async def test_a_conversation(client: Client, server: ClaudeServer, agents: Agents) -> None:
    """Thinking counts while what is exposed and the clock change, after a response broke off, and after a refusal."""
    await agents.change(prompt="Be kind.\nIt is {{ now().isoformat() }}.")
    assert await agents.say("Hello", answer("Hi.")) == "Hi."
    sent = server.message_requests[-1]
    assert (sent["thinking"], sent["output_config"]) == ({"type": "adaptive"}, {"effort": "low"})
    await client.expose(HIDDEN)
    try:
        look = Turn([thinking("I look."), tool_use(GET_ENTITIES, {})])
        broken = Turn([thinking("Lost."), text("Never heard.")], fault=Fault("disconnect", after=7))
        assert await agents.say("And now?", look, answer("Seen.")) == "Seen."
        assert await agents.say("Again", broken, look, answer("Seen again.")) == "Seen again."
        assert_append_only(server.message_requests)
        heard = ["How to say Hi.", "I look.", "How to say Seen.", "I look."]
        assert thoughts(server.message_requests[-1]) == heard
        await agents.say("Something bad", look, Turn([text("I ca")], stop_reason="refusal"))
        # Thinking alone is no answer.
        assert await agents.say("Something good", Turn([thinking("Hm.")]), answer("Yes.")) == "Yes."
        last = server.message_requests[-1]
        assert thoughts(last) == [*heard, "How to say Seen again."]
        assert "Something bad" not in json.dumps(last)
        assert f"What these tools did meanwhile stands: {GET_ENTITIES}." in json.dumps(last)
    finally:
        await client.expose(HIDDEN, exposed=False)
    assert server.refusals == []


async def test_tools_of_any_name(
    spare_home: HomeAssistantInstance, client: Client, server: ClaudeServer, agents: Agents
) -> None:
    """Names that the service refuses cost at most their own tool, and each schema says no more than it must."""
    imported = await client.subentry_flow(
        agents.entry_id, "function", {"next_step_id": "import_list"}, {"functions": FUNCTIONS}
    )
    # The editor refuses what an agent could never call, and says why.
    refused = imported["description_placeholders"]["problem"]
    assert imported["errors"] == {"base": "partly_imported"}
    assert "web_search" in refused
    assert "filter[app]" in refused
    await client.post("/api/config/script/config/resize", SCRIPT)
    await client.wait_for_entity("script.resize")
    await client.expose("script.resize")
    await agents.change(web_search=True)
    async with client.subscribe("subscribe_events", event_type="resized") as events:
        turns = (Turn([tool_use("script__resize", {"grosse": 4})]), answer("Done."))
        assert await agents.say("Make it 4", *turns) == "Done."
        assert (await anext(events))["data"] == {"size": 4}
    (request, _) = server.message_requests
    assert re.search(r"\([A-Z][a-z]+day \d{4}-\d\d-\d\d \d\d:\d\d\)", json.dumps(request["messages"][-1]))
    schemas = {tool["name"]: tool["input_schema"] for tool in request["tools"] if "input_schema" in tool}
    assert "bare" in schemas
    assert list(schemas["script__resize"]["properties"]) == ["grosse"]
    own = [part for name, schema in schemas.items() if name.startswith("extended_assist__") for part in parts(schema)]
    kinds = [{one.get("type") for one in part["anyOf"]} for part in own if isinstance(part.get("anyOf"), list)]
    assert [kind for kind in kinds if {"string", "array", "object"} <= kind] == []
    mcp = await client.config_flow("mcp_server", {})
    try:
        headers = {"Authorization": f"Bearer {spare_home.access_token}", "Accept": "application/json"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        url = f"{spare_home.url}/api/mcp/extended_assist-{agents.entry_id}"
        async with aiohttp.ClientSession(headers=headers) as session, session.post(url, json=call) as response:
            assert response.status == 200, await response.text()
            listed = {tool["name"]: tool for tool in (await response.json())["result"]["tools"]}
        assert listed["bare"]["inputSchema"]["type"] == "object"
    finally:
        await client.delete(f"/api/config/config_entries/entry/{mcp['result']['entry_id']}")
        await client.expose("script.resize", exposed=False)
        await client.delete("/api/config/script/config/resize")
    assert server.refusals == []


async def test_a_task(client: Client, server: ClaudeServer, agents: Agents) -> None:
    """A task waits longer than a speaker, has as many fields as it likes, and has wrong values corrected."""
    busy = Turn(fault=Fault("http", status=429, headers={"retry-after": "0.1"}))
    fields = {f"field_{index}": {"selector": {"text": {}}} for index in range(30)}
    structure = {"size": {"required": True, "selector": {"number": {"min": 1, "max": 9}}}}
    (entity_id,) = await agents.entities("ai_task")
    task = {"task_name": "Measure", "instructions": "Measure it", "entity_id": entity_id}

    async def generate(structure: dict[str, Any], *turns: Turn) -> Any:
        server.responder = Scenario(list(turns))
        data = task | {"structure": structure}
        return (await client.perform_action("ai_task.generate_data", data, response=True))["data"]

    # A speaker would hear after the third pause that the server is busy.
    patient = [busy, busy, busy, busy, Turn([text('{"size": 12}')]), Turn([text('{"size": 4}')])]
    assert await generate(structure, *patient) == {"size": 4}
    assert await generate(structure | fields, Turn([tool_use("give_answer", {"size": 5})])) == {"size": 5}
    assert server.refusals == []


async def test_a_model_that_is_forbidden(client: Client, server: ClaudeServer, agents: Agents) -> None:
    """It costs its own agent an answer, and nobody is asked for a new key."""
    result = await client.subentry_flow(
        agents.entry_id, "conversation", {"name": "Second", "model": OTHER_MODEL}, LENGTHS
    )
    assert result["type"] == "create_entry", result
    fault = Fault("http", status=403, error_type="permission_error", message="not for your organization")
    (forbidden,) = [n for n, entity_id in enumerate(await agents.entities("conversation")) if "second" in entity_id]
    assert "Hi." not in await agents.say("Hello", Turn(fault=fault), agent=forbidden)
    states = await client.states()
    assert "unavailable" not in [states[entity_id]["state"] for entity_id in await agents.entities("conversation")]
    assert await client.call("config_entries/flow/progress") == []
    assert await agents.say("Hello", answer("Hi."), agent=1 - forbidden) == "Hi."


async def test_a_bearer_token(client: Client) -> None:
    """Servers that look for nothing else let the agent in."""
    async with OtherServer(OLLAMA_CLOUD, Scenario([])) as server, set_up(client, server, "home-key") as agents:
        assert await agents.say("Hello", Turn([text("Hi.")])) == "Hi."

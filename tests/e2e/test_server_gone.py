"""The agent in a running Home Assistant whose server comes and goes, and its model for tasks."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.claude.sent import assert_append_only
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, thinking

from .client import Client
from .instance import HomeAssistantInstance

LIGHT = "light.kitchen_light"
RELOAD_TIMEOUT = 30.0


@pytest.fixture
async def client(spare_home: HomeAssistantInstance) -> AsyncIterator[Client]:
    """A client of a home whose log need not stay clean."""
    async with spare_home.connect() as client:
        yield client


@pytest.fixture
async def server() -> AsyncIterator[ClaudeServer]:
    """A server of its own, which a test can stop."""
    async with ClaudeServer(Scenario([])) as server:
        yield server


@pytest.fixture
async def entities(client: Client, server: ClaudeServer) -> AsyncIterator[dict[str, str]]:
    """The agent, with Home Assistant's own standing in, and the model for tasks; gone after the test."""
    before = await ready(client)
    connection = {"api_key": "test-key", "base_url": server.url}
    result = await client.config_flow("extended_assist", {"next_step_id": "claude"}, connection)
    assert result["type"] == "create_entry", result
    entry_id = result["result"]["entry_id"]
    agent = next(item for item in await client.subentries(entry_id) if item["subentry_type"] == "conversation")
    done = await client.subentry_flow(
        entry_id,
        "conversation",
        {
            "model": "claude-haiku-5-5",
            "llm_hass_api": [f"extended_assist-{entry_id}"],
            "fallback_agent": "conversation.home_assistant",
        },
        {"max_tokens": 2_000, "max_tool_rounds": 5, "thinking": "adaptive", "effort": "low"},
        subentry_id=agent["subentry_id"],
    )
    assert (done["type"], done["reason"]) == ("abort", "reconfigure_successful"), done
    async with asyncio.timeout(RELOAD_TIMEOUT):
        # The entry reloads with the changed agent: the list was read for the check, the first and the second set-up.
        new: dict[str, str] = {}
        while not {"conversation", "ai_task"} <= new.keys():
            await asyncio.sleep(0.1)
            if sum(request.path == "/v1/models" for request in server.requests) >= 3:
                new = {entity_id.partition(".")[0]: entity_id for entity_id in await ready(client) - before}
    yield new
    await client.delete(f"/api/config/config_entries/entry/{entry_id}")


async def ready(client: Client) -> set[str]:
    """Return the entities that are there."""
    return {key for key, state in (await client.states()).items() if state["state"] != "unavailable"}


def speech(answer: dict) -> str:
    return answer["response"]["speech"]["plain"]["speech"]


async def test_the_house_answers_without_its_server(
    client: Client, server: ClaudeServer, entities: dict[str, str]
) -> None:
    """A passing fault goes unnoticed; without the server Home Assistant itself answers; and then it is back."""
    agent = entities["conversation"]
    server.responder = Scenario([Turn(fault=Fault("http", status=529)), Turn([text("Good evening.")])])
    first = await client.converse("Hello", agent_id=agent)
    assert speech(first) == "Good evening."
    sent = server.message_requests[-1]
    assert (sent["thinking"], sent["output_config"]) == ({"type": "adaptive"}, {"effort": "low"})
    await server.stop()
    for task, state in (("on", "on"), ("off", "off")):
        words = f"Turn {task} the kitchen light"
        answer = await client.converse(words, agent_id=agent, conversation_id=first["conversation_id"])
        assert (await client.state(LIGHT))["state"] == state, speech(answer)
    assert (await client.state(agent))["state"] != "unavailable"
    assert (await client.state(entities["ai_task"]))["state"] == "unavailable"
    await server.start()
    server.responder = Scenario([Turn([text("Back again.")])])
    answer = await client.converse("Hello?", agent_id=agent, conversation_id=first["conversation_id"])
    assert speech(answer) == "Back again."
    assert (await client.state(entities["ai_task"]))["state"] != "unavailable"


async def test_task_with_a_structure(client: Client, server: ClaudeServer, entities: dict[str, str]) -> None:
    """An action generates data in the structure that it asks for."""
    server.responder = Scenario([Turn([text('{"name": "Lamp"}')])])
    data = {
        "task_name": "Name it",
        "instructions": "Name it",
        "entity_id": entities["ai_task"],
        "structure": {"name": {"required": True, "selector": {"text": {}}}},
    }
    answer = await client.perform_action("ai_task.generate_data", data, response=True)
    assert answer["data"] == {"name": "Lamp"}


async def test_task_with_questions(
    spare_home: HomeAssistantInstance, client: Client, server: ClaudeServer, entities: dict[str, str]
) -> None:
    """An action asks for probabilities, where Home Assistant has it."""
    services = {item["domain"]: item["services"] for item in await client.get("/api/services")}
    if "evaluate" not in services["ai_task"]:
        pytest.skip("Home Assistant offers it from 2026.11 on")
    server.responder = Scenario([Turn([text('{"here": 0.9, "level": [0, 0.5, 0.5]}')])])
    data = {
        "task_name": "Look",
        "entity_id": entities["ai_task"],
        "state": "A package is here.",
        "questions": {
            "here": {"type": "noul", "instructions": "Is it here?"},
            "level": {"type": "score", "instructions": "How sure?", "criteria": ["not", "rather", "very"]},
        },
    }
    answer = await client.perform_action("ai_task.evaluate", data, response=True)
    assert answer["answers"] == {
        "here": {"type": "noul", "noul": 0.9},
        "level": {"type": "score", "score": 1.5, "probabilities": [0.0, 0.5, 0.5]},
    }
    assert server.refusals == []


async def test_everything_is_sent_again_as_it_was(
    client: Client, server: ClaudeServer, entities: dict[str, str]
) -> None:
    """Whether Home Assistant keeps the prompt of a conversation or renders it anew, what the model thought counts."""
    turns = [Turn([thinking("Hm."), text("Good evening.")]) for _ in range(3)]
    server.responder = Scenario(turns)
    conversation_id = None
    for is_exposed in (True, False, True):
        await client.expose("light.bed_light", exposed=is_exposed)
        answer = await client.converse("Hello", agent_id=entities["conversation"], conversation_id=conversation_id)
        assert speech(answer) == "Good evening."
        conversation_id = answer["conversation_id"]
    assert server.refusals == []
    assert_append_only(server.message_requests[-3:])

"""The integration in a running Home Assistant: every way to talk to the agent, and what survives."""

import re

from .client import Client
from .conftest import complaints
from .instance import HomeAssistantInstance

QUESTION = "When did the front door last open?"
ANSWER = re.compile(r"Front door was last opened at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.")
LIGHT = "light.kitchen_light"


def speech(answer: dict) -> str:
    return answer["response"]["speech"]["plain"]["speech"]


async def test_rest(client: Client, agent: str) -> None:
    answer = await client.converse(QUESTION, agent_id=agent)
    assert answer["response"]["response_type"] == "action_done"
    assert ANSWER.fullmatch(speech(answer))


async def test_websocket(client: Client, agent: str) -> None:
    answer = await client.call("conversation/process", text=QUESTION, agent_id=agent, language="en")
    assert ANSWER.fullmatch(speech(answer))


async def test_conversation_goes_on(client: Client, agent: str) -> None:
    first = await client.converse(QUESTION, agent_id=agent)
    second = await client.converse(QUESTION, agent_id=agent, conversation_id=first["conversation_id"])
    assert second["conversation_id"] == first["conversation_id"]
    assert speech(second) == speech(first)


async def test_pipeline_streams_calls_results_and_answer(client: Client, agent: str) -> None:
    pipeline_id = await client.create_pipeline("Streaming", agent)
    events = await client.run_pipeline(QUESTION, pipeline_id=pipeline_id)
    deltas = [event["data"]["chat_log_delta"] for event in events if event["type"] == "intent-progress"]
    calls = [call["tool_name"] for delta in deltas for call in delta.get("tool_calls") or ()]
    texts = [delta["content"] for delta in deltas if delta.get("role") != "tool_result" and delta.get("content")]
    assert calls == ["extended_assist__get_history"]
    assert any(delta.get("role") == "tool_result" for delta in deltas)
    assert len(texts) > 1
    (end,) = [event for event in events if event["type"] == "intent-end"]
    assert "".join(texts) == speech(end["data"]["intent_output"])


async def test_automation_uses_the_answer(client: Client, agent: str) -> None:
    automation = {
        "alias": "Ask the agent",
        "triggers": [{"trigger": "event", "event_type": "ask_the_agent"}],
        "actions": [
            {
                "action": "conversation.process",
                "data": {"text": QUESTION, "agent_id": agent},
                "response_variable": "answer",
            },
            {
                "action": "persistent_notification.create",
                "data": {"notification_id": "asked", "message": "{{ answer.response.speech.plain.speech }}"},
            },
        ],
    }
    await client.post("/api/config/automation/config/ask_the_agent", automation)
    await client.wait_for_entity("automation.ask_the_agent")
    async with client.subscribe("persistent_notification/subscribe") as events:
        await client.post("/api/events/ask_the_agent", {})
        async for event in events:
            if "asked" in event["notifications"]:
                assert ANSWER.fullmatch(event["notifications"]["asked"]["message"])
                break


async def test_assist_tool_switches_a_light(client: Client, agent: str) -> None:
    for task, state in (("on", "on"), ("off", "off")):
        answer = await client.converse(f"Turn {task} the kitchen light", agent_id=agent)
        assert (await client.state(LIGHT))["state"] == state, speech(answer)


async def test_undo(client: Client, agent: str) -> None:
    """What was just changed comes back, in the same conversation."""
    before = (await client.state(LIGHT))["state"]
    task = {"on": "off", "off": "on"}[before]
    changed = await client.converse(f"Turn {task} the kitchen light", agent_id=agent)
    assert (await client.state(LIGHT))["state"] == task, speech(changed)
    undone = await client.converse("Undo that", agent_id=agent, conversation_id=changed["conversation_id"])
    assert (await client.state(LIGHT))["state"] == before, speech(undone)
    assert f"{task} → {before}" in speech(undone)


async def test_what_is_hidden_cannot_be_asked_for(client: Client, agent: str) -> None:
    assert (await client.state("binary_sensor.bedroom_motion"))["state"] in ("on", "off")
    answer = await client.converse("When did the bedroom motion last change?", agent_id=agent)
    assert "not found or is not exposed" in speech(answer)


async def test_unload_and_load_again(client: Client, agent: str) -> None:
    (entry,) = await client.config_entries("extended_assist")
    await client.call("config_entries/disable", entry_id=entry["entry_id"], disabled_by="user")
    # 2026.10 shows a disabled entry's entities as unavailable, 2026.11 not at all.
    assert (await client.states()).get(agent, {"state": "unavailable"})["state"] == "unavailable"
    await client.call("config_entries/disable", entry_id=entry["entry_id"], disabled_by=None)
    assert ANSWER.fullmatch(speech(await client.converse(QUESTION, agent_id=agent)))


async def test_nothing_was_logged_against_the_integration(home: HomeAssistantInstance, agent: str) -> None:
    """After all of the above: no warning, error or deprecation that names the integration."""
    assert complaints(home) == []

"""What the agent's model is told and what it costs, on each version of Home Assistant."""

import asyncio

from demo.custom_components.demo_home.catalogue import ITEMS

from .client import Client
from .instance import HomeAssistantInstance
from .test_talking import QUESTION

SHOWN_AFTER = 3.0  # seconds; sensors gather the requests of a turn
COUNTERS = ("input_tokens", "tokens_read_from_cache", "tokens_written_to_cache", "output_tokens", "requests")


async def prompt_of(client: Client, conversation_id: str) -> str:
    async with client.subscribe("conversation/chat_log/subscribe", conversation_id=conversation_id) as events:
        state = await anext(events)
    return state["data"]["content"][0]["content"]


async def counts(client: Client) -> dict[str, int]:
    await asyncio.sleep(SHOWN_AFTER)
    states = await client.states()
    return {counter: int(states[f"sensor.claude_{counter}"]["state"]) for counter in COUNTERS}


async def test_prompt_says_the_home_shortly(client: Client, agent: str) -> None:
    """Fails where a new version of Home Assistant writes its list of entities in another way."""
    answer = await client.converse(QUESTION, agent_id=agent)
    prompt = await prompt_of(client, answer["conversation_id"])
    before, _, home = prompt.partition("Static Context: An overview of the areas and the devices in this smart home:\n")
    assert home.startswith("[area], then names by domain")
    assert "- names:" not in prompt
    assert "retrieve live context" in before
    assert "To control devices call the intent tools" in home
    assert "to act later, call extended_assist__do_later" in home
    assert "reported it done" in home
    assert "no Markdown" in home
    assert "You are talking to Owner." in home
    for item in ITEMS:
        assert (item.name in home) is item.exposed, item.name


async def test_sensors_count_and_survive_a_restart(home: HomeAssistantInstance, agent: str) -> None:
    async with home.connect() as client:
        before = await counts(client)
        await client.converse(QUESTION, agent_id=agent)
        after = await counts(client)
    assert after["requests"] == before["requests"] + 2
    assert after["input_tokens"] > before["input_tokens"]
    assert after["output_tokens"] > before["output_tokens"]
    await home.restart()
    async with home.connect() as client:
        assert await counts(client) == after

"""What the agent's model is told, on each version of Home Assistant."""

from demo.custom_components.demo_home.catalogue import ITEMS

from .client import Client
from .test_talking import QUESTION


async def prompt_of(client: Client, conversation_id: str) -> str:
    async with client.subscribe("conversation/chat_log/subscribe", conversation_id=conversation_id) as events:
        state = await anext(events)
    return state["data"]["content"][0]["content"]


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

"""A conversation of our own agent in which somebody else is asked on their phone."""

import json

from pytest_homeassistant_custom_component.common import MockConfigEntry

from homeassistant.auth.models import User
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use
from tests.conftest import AGENT
from tests.helpers.talking import speech
from tests.scheduled.devices import AddPhone, add_phone, anna

__all__ = ["add_phone", "anna"]

DOOR = "lock.front_door"
UNLOCK = tool_use("extended_assist__perform_action", {"action": "lock.unlock", "target": {"entity_id": DOOR}})


async def test_in_a_conversation(
    hass: HomeAssistant,
    house: None,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    add_phone: AddPhone,
    anna: User,
) -> None:
    """The turn ends at once; what anybody says there is no yes; what Anna's yes came to is told with the next message."""
    phone = await add_phone(anna, "Phone")
    options = {"ask_on_phones": [anna.id], "who_may_control": "user"}
    hass.config_entries.async_update_entry(entry, options=options)
    await hass.async_block_till_done()
    conversation_id: str | None = None

    async def say(words: str, *turns: Turn) -> str:
        nonlocal conversation_id
        claude_server.responder = Scenario(list(turns))
        result = await conversation.async_converse(
            hass, words, conversation_id, Context(), language="en", agent_id=AGENT, device_id="a satellite"
        )
        await hass.async_block_till_done()
        conversation_id = result.conversation_id
        return speech(result)

    assert await say("Unlock the door", Turn([UNLOCK]), Turn([text("Anna was asked.")])) == "Anna was asked."
    await phone.async_shows("Somebody wants this to be done:\nUnlock: Front Door")
    await hass.async_block_till_done()
    assert await say("Yes, do it", Turn([UNLOCK]), Turn([text("She still is.")])) == "She still is."
    assert hass.states.is_state(DOOR, "locked")
    assert len(phone.shown) == 1
    await phone.async_press("Yes, do it")
    await hass.async_block_till_done(wait_background_tasks=True)
    assert hass.states.is_state(DOOR, "unlocked")
    for expected in (True, False):
        await say("Hello", Turn([text("Hello.")]))
        last = claude_server.message_requests[-1]["messages"][-1]
        assert ("Anna agreed. It is done." in json.dumps(last)) is expected

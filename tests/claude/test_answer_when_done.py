"""Answers that come with the calls they depend on: spoken at once when all is seen to have succeeded, and never otherwise."""

import asyncio
from collections.abc import Awaitable, Callable
import json
from types import MappingProxyType
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_mock_service
import voluptuous as vol

from custom_components.extended_assist.actions.schedule import async_get_schedule
from custom_components.extended_assist.claude.tool_search import MIN_TOOLS, with_search
from custom_components.extended_assist.claude.when_done import ANSWER_WHEN_DONE, AnswerWhenDoneTool
from custom_components.extended_assist.const import CONF_ANSWER_WHEN_DONE, CONF_FAMILIES, SUBENTRY_FUNCTION
from custom_components.extended_assist.tools.actions import PerformActionTool
from homeassistant.components import ai_task, conversation, intent as intents
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import chat_session, device_registry as dr, intent, llm
from homeassistant.setup import async_setup_component
from tests.claude.sent import assert_append_only
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, thinking, tool_use
from tests.conftest import AGENT, ASSISTANT, CallTool, expose
from tests.talking import FindLog, assert_every_call_has_a_result, change_agent, roles, speech

pytestmark = pytest.mark.usefixtures("no_deprecations")

PERFORM = "extended_assist__perform_action"
LAMP, DOOR, CEILING, WINDOW = "light.bed_light", "lock.front_door", "light.ceiling_lights", "cover.hall_window"
SAID = "All of that is done."
AFTER_ALL = "I have looked at the results."


def when_done(answer: Any = SAID) -> dict[str, Any]:
    """Return the answer in advance."""
    return tool_use(ANSWER_WHEN_DONE, {"answer": answer})


def perform(action: str, entity_id: str | list[str] | None, **more: Any) -> dict[str, Any]:
    """Return a call of an action."""
    return tool_use(PERFORM, {"action": action, "target": {"entity_id": entity_id}, **more})


ON = perform("light.turn_on", LAMP)
LOCK = perform("lock.lock", DOOR)
TURN_ON = tool_use("intent__HassTurnOn", {"name": "Bed Light"})
LOOK = tool_use("extended_assist__get_entities", {"name": "Bed Light"})

type Say = Callable[..., Awaitable[conversation.ConversationResult]]


@pytest.fixture
async def home(hass: HomeAssistant, house: None, entry: MockConfigEntry) -> None:
    """Give the agent a house with all that it may need here."""
    assert await async_setup_component(hass, "intent", {})
    families = ["actions", "scripts", "entities", "templates"]
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: families})
    await hass.async_block_till_done()


@pytest.fixture
def say(hass: HomeAssistant, home: None, claude_server: ClaudeServer, hass_admin_user: MockUser) -> Say:
    """Return a function that goes on with one conversation; turns are what the model answers."""
    conversation_ids: list[str | None] = [None]

    async def speak(words: str, *turns: Turn, **more: Any) -> conversation.ConversationResult:
        claude_server.responder = Scenario(list(turns))
        result = await conversation.async_converse(
            hass,
            words,
            conversation_ids[-1],
            Context(user_id=hass_admin_user.id),
            language=more.get("language", "en"),
            agent_id=AGENT,
            device_id=more.get("device_id"),
        )
        conversation_ids.append(result.conversation_id)
        return result

    return speak


def told(server: ClaudeServer) -> list[dict[str, Any]]:
    """Return what the model has read of its answers in advance, in its last request."""
    blocks = [block for message in server.message_requests[-1]["messages"] for block in message["content"]]
    names = {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
    return [
        json.loads(block["content"])
        for block in blocks
        if block["type"] == "tool_result" and names[block["tool_use_id"]] == ANSWER_WHEN_DONE
    ]


@pytest.mark.parametrize(
    "content",
    [
        [TURN_ON, when_done()],
        [when_done(), ON],
        [thinking("The lamp."), ON, when_done()],
        [text("\n\n"), ON, when_done()],
        [ON, when_done(), LOCK],
        [perform("light.turn_on", LAMP, data={"brightness_pct": 50}), when_done()],
        [perform("light.turn_on", LAMP, data={"rgb_color": [255, 0, 0]}), when_done()],
        [tool_use("light__HassLightSet", {"name": "Bed Light", "color": "blue", "brightness": 20}), when_done()],
        [perform("homeassistant.turn_on", LAMP), when_done()],
        [perform("light.turn_on", "light.whole"), when_done()],
        [tool_use("intent__HassTurnOn", {"area": "Bed Room", "domain": ["light"]}), when_done()],
        [tool_use("todo__HassListAddItem", {"item": "milk", "name": "Shopping list"}), when_done()],
    ],
)
async def test_one_request(
    hass: HomeAssistant, say: Say, claude_server: ClaudeServer, chat_log: FindLog, content: list[dict[str, Any]]
) -> None:
    """What was seen to succeed is said without asking again, and the conversation goes on as the service wants it."""
    result = await say("Do it", Turn(content))
    assert speech(result) == SAID
    assert not result.continue_conversation
    assert len(claude_server.message_requests) == 1
    log = chat_log(str(result.conversation_id))
    calls = sum(block["type"] == "tool_use" for block in content)
    assert roles(log) == ["user", "assistant", *["tool_result"] * calls, "assistant"]
    assert_every_call_has_a_result(log)
    assert speech(await say("Thanks", Turn([text("Gladly.")]))) == "Gladly."
    assert told(claude_server) == [{"spoken": True}]
    last = claude_server.message_requests[-1]["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user", "assistant", "user"]
    assert last[3]["content"] == [text(SAID)]
    assert claude_server.refusals == []
    assert_append_only(claude_server.message_requests)


async def test_nothing_is_heard_before(hass: HomeAssistant, home: None, claude_server: ClaudeServer) -> None:
    """The answer comes after the results, in one piece, although the model gave it before the call."""
    heard: list[str] = []

    def listen(_: conversation.ChatLog, delta: dict[str, Any]) -> None:
        if delta.get("role") == "tool_result":
            heard.append(f"result of {delta['tool_name']}, lamp {hass.states.get(LAMP).state}")
        elif delta.get("content"):
            heard.append(delta["content"])

    claude_server.responder = Scenario([Turn([when_done(), ON])])
    with (
        chat_session.async_get_chat_session(hass, None) as session,
        conversation.async_get_chat_log(hass, session, chat_log_delta_listener=listen),
    ):
        await conversation.async_converse(
            hass, "Light", session.conversation_id, Context(), language="en", agent_id=AGENT
        )
    assert heard == [f"result of {PERFORM}, lamp on", f"result of {ANSWER_WHEN_DONE}, lamp on", SAID]


async def test_done_later(hass: HomeAssistant, say: Say, claude_server: ClaudeServer) -> None:
    """What is to happen later succeeds by being scheduled, and is cancelled by being scheduled no more."""
    words = "I will turn it on in ten minutes."
    assert speech(await say("Later", Turn([perform("light.turn_on", LAMP, delay=600), when_done(words)]))) == words
    (item,) = (await async_get_schedule(hass)).waiting
    cancel = tool_use("extended_assist__scheduled_actions", {"cancel": item.id})
    assert speech(await say("Never mind", Turn([cancel, when_done("Cancelled.")]))) == "Cancelled."
    assert (await async_get_schedule(hass)).waiting == []
    assert len(claude_server.message_requests) == 2
    wrong = tool_use("extended_assist__scheduled_actions", {"cancel": "none"})
    assert speech(await say("Cancel", Turn([wrong, when_done("Cancelled.")]), Turn([text("No.")]))) == "No."
    listed = tool_use("extended_assist__scheduled_actions", {})
    assert speech(await say("List", Turn([listed, when_done("None.")]), Turn([text("No.")]))) == "No."


async def test_timer(hass: HomeAssistant, say: Say, entry: MockConfigEntry) -> None:
    """A timer that runs is what was wanted; that none was found to be cancelled is not."""
    device = dr.async_get(hass).async_get_or_create(config_entry_id=entry.entry_id, identifiers={("test", "1")})
    intents.async_register_timer_handler(hass, device.id, lambda *_: None)
    start = tool_use("intent__HassStartTimer", {"minutes": 5, "name": "tea"})
    assert speech(await say("Tea", Turn([start, when_done("Five minutes.")]), device_id=device.id)) == "Five minutes."
    for call in ("HassCancelTimer", "HassCancelAllTimers", "HassCancelTimer"):
        cancel = Turn([tool_use(f"intent__{call}", {}), when_done("Cancelled.")])
        said = speech(await say("Cancel", cancel, Turn([text("None is left.")]), device_id=device.id))
        assert said == ("Cancelled." if call == "HassCancelTimer" and not hass.data.get("test_cancelled") else said)
        hass.data["test_cancelled"] = True
    assert said == "None is left."

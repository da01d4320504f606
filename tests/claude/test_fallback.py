"""The agent that stands in when the model cannot answer."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_mock_service

from custom_components.extended_assist.claude.fallback import is_fallback_loop
from custom_components.extended_assist.const import CONF_BASE_URL, DOMAIN
from custom_components.extended_assist.flows.agent import default_agent
from homeassistant.components import conversation
from homeassistant.config_entries import SOURCE_REAUTH, ConfigEntryState
from homeassistant.const import CONF_API_KEY
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session, intent
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, tool_use
from tests.conftest import AGENT, MODEL, Converse, expose
from tests.helpers.talking import FindLog, assert_every_call_has_a_result, change_agent, roles, speech

pytestmark = pytest.mark.usefixtures("no_deprecations")

HOME_ASSISTANT = conversation.HOME_ASSISTANT_AGENT
GONE = Fault("http", status=400)


class Parrot(conversation.AbstractConversationAgent):
    """An agent of another integration, from before there were entities and chat logs."""

    supported_languages = "*"

    async def async_process(self, user_input: conversation.ConversationInput) -> conversation.ConversationResult:
        """Repeat, or fail at the word fail."""
        if user_input.text == "fail":
            raise RuntimeError("private detail")
        response = intent.IntentResponse(language=user_input.language)
        response.async_set_speech(f"You said {user_input.text}")
        return conversation.ConversationResult(response=response, conversation_id=user_input.conversation_id)


@pytest.fixture
async def lamp(hass: HomeAssistant, entry: MockConfigEntry) -> list[Any]:
    """Expose a lamp, and return the calls that turn it on."""
    assert await async_setup_component(hass, "intent", {})
    hass.states.async_set("light.lamp", "off", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    return async_mock_service(hass, "light", "turn_on")


@pytest.fixture
def parrot(hass: HomeAssistant, entry: MockConfigEntry) -> str:
    """Return the id of an agent of another integration."""
    other = MockConfigEntry(domain="parrot", title="Parrot")
    other.add_to_hass(hass)
    conversation.async_set_agent(hass, other, Parrot())
    return other.entry_id


async def test_off_by_default(converse: Converse, lamp: list[Any]) -> None:
    """Nobody stands in unless the user chose so."""
    assert "did not accept" in speech(await converse("Turn on the lamp", Turn(fault=GONE)))
    assert lamp == []


async def test_home_assistant_stands_in(
    hass: HomeAssistant,
    converse: Converse,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    lamp: list[Any],
    chat_log: FindLog,
) -> None:
    """Without the server the lamp still goes on, in the same conversation, and the model reads of it when it is back."""
    await change_agent(hass, entry, fallback_agent=HOME_ASSISTANT)
    first = await converse("Hello", Turn([text("Good evening.")]))
    await claude_server.stop()
    second = await converse("Turn on the lamp", conversation_id=first.conversation_id)
    assert second.response.error_code is None
    assert second.conversation_id == first.conversation_id
    assert [call.data["entity_id"] for call in lamp] == [["light.lamp"]]
    assert hass.states.get(AGENT).state != "unavailable"
    await claude_server.start()
    await converse("Thanks", Turn([text("Sure.")]), conversation_id=first.conversation_id)
    log = chat_log(first.conversation_id)
    answers = [(item.agent_id, item.content) for item in log.content if item.role == "assistant" and item.content]
    assert answers == [(AGENT, "Good evening."), (HOME_ASSISTANT, speech(second)), (AGENT, "Sure.")]
    assert roles(log).count("user") == 3
    sent = claude_server.message_requests[-1]["messages"]
    assert sent[3]["content"][0]["name"] == "HassTurnOn"
    assert sent[5]["content"][0]["text"] == speech(second)


async def test_who_does_not_understand_does_not_answer(
    hass: HomeAssistant, converse: Converse, entry: MockConfigEntry, lamp: list[Any]
) -> None:
    """A stand-in that understood nothing leaves the word to the cause."""
    await change_agent(hass, entry, fallback_agent=HOME_ASSISTANT)
    assert "did not accept" in speech(await converse("Compose a sonnet", Turn(fault=GONE)))


async def test_agent_of_another_integration(
    hass: HomeAssistant, converse: Converse, entry: MockConfigEntry, parrot: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Any agent can stand in; one that breaks leaves the word to the cause."""
    await change_agent(hass, entry, fallback_agent=parrot)
    assert speech(await converse("hello", Turn(fault=GONE))) == "You said hello"
    assert "did not accept" in speech(await converse("fail", Turn(fault=GONE)))
    await hass.config_entries.async_remove(parrot)
    conversation.async_unset_agent(hass, MockConfigEntry(entry_id=parrot))
    assert "did not accept" in speech(await converse("hello", Turn(fault=GONE)))


async def test_what_was_done_is_not_done_twice(
    hass: HomeAssistant, converse: Converse, entry: MockConfigEntry, lamp: list[Any], chat_log: FindLog
) -> None:
    """After a tool that acts nobody stands in; after one that only reads they do."""
    await change_agent(hass, entry, fallback_agent=HOME_ASSISTANT)
    acting = Turn([text("One moment."), tool_use("intent__HassTurnOn", {"name": "Lamp"})])
    result = await converse("Turn on the lamp", acting, Turn(fault=GONE))
    assert "did not accept" in speech(result)
    assert len(lamp) == 1
    assert_every_call_has_a_result(chat_log(result.conversation_id))
    reading = Turn([tool_use("extended_assist__get_entities", {"name": "lamp"})])
    result = await converse("Turn on the lamp", reading, Turn(fault=GONE))
    assert result.response.error_code is None
    assert len(lamp) == 2
    assert_every_call_has_a_result(chat_log(result.conversation_id))


async def test_agents_that_stand_in_for_each_other(
    hass: HomeAssistant, converse: Converse, entry: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """A circle, made behind the flow's back, is gone round once."""
    second = default_agent([], MODEL)
    hass.config_entries.async_add_subentry(
        entry, config_subentry := _subentry({**second["data"], "fallback_agent": AGENT}, "Second")
    )
    await hass.async_block_till_done()
    assert config_subentry.subentry_id
    await change_agent(hass, entry, fallback_agent="conversation.second")
    assert "did not accept" in speech(await converse("Hello", Turn(fault=GONE), Turn(fault=GONE)))
    assert len(claude_server.message_requests) == 2
    assert is_fallback_loop(hass, config_subentry.subentry_id, AGENT)
    assert not is_fallback_loop(hass, "a third one", AGENT)


def _subentry(data: dict[str, Any], title: str) -> Any:
    """Return a subentry with an agent."""
    from types import MappingProxyType  # noqa: PLC0415 - here only

    from homeassistant.config_entries import ConfigSubentry  # noqa: PLC0415 - here only

    return ConfigSubentry(data=MappingProxyType(data), subentry_type="conversation", title=title, unique_id=None)


@pytest.mark.parametrize("fallback", [None, HOME_ASSISTANT, "parrot", "conversation.second"])
async def test_listeners_hear_what_is_said(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    lamp: list[Any],
    parrot: str,
    fallback: str | None,
) -> None:
    """After words that were spoken already, the stand-in's answer, or the cause, is spoken too."""
    hass.config_entries.async_add_subentry(entry, _subentry(default_agent([], MODEL)["data"], "Second"))
    await change_agent(hass, entry, fallback_agent=parrot if fallback == "parrot" else fallback)
    broken = Turn([text("One moment. ")], fault=Fault("disconnect", after=5))
    claude_server.responder = Scenario([broken, *([Turn([text("It is on.")])] if "second" in str(fallback) else [])])
    heard: list[str] = []
    with (
        chat_session.async_get_chat_session(hass) as session,
        conversation.async_get_chat_log(
            hass, session, chat_log_delta_listener=lambda _, delta: heard.append(delta.get("content") or "")
        ),
    ):
        result = await conversation.async_converse(
            hass, "Turn on the lamp", session.conversation_id, Context(), language="en", agent_id=AGENT
        )
    assert "".join(heard) == f"One moment. {speech(result)}"
    assert speech(result)


@pytest.fixture
async def starting(hass: HomeAssistant, assist: None, claude_server: ClaudeServer) -> AsyncGenerator[MockConfigEntry]:
    """Return an entry, not yet set up, whose agent has a stand-in."""
    agent = default_agent([], MODEL)
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="Extended Assist",
        data={CONF_API_KEY: "test-key", CONF_BASE_URL: claude_server.url},
        subentries_data=[{**agent, "data": {**agent["data"], "fallback_agent": HOME_ASSISTANT}}],
    )
    entry.add_to_hass(hass)
    return entry


async def test_start_without_the_server(
    hass: HomeAssistant, starting: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """After a restart without internet the house answers, and everything is there once the server is."""
    await claude_server.stop()
    assert await hass.config_entries.async_setup(starting.entry_id)
    await hass.async_block_till_done()
    assert starting.state is ConfigEntryState.LOADED
    assert await async_setup_component(hass, "intent", {})
    say = conversation.async_converse
    result = await say(hass, "What time is it?", None, Context(), language="en", agent_id=AGENT)
    assert result.response.error_code is None
    await claude_server.start()
    claude_server.responder = Scenario([Turn([text("Hi.")])])
    assert speech(await say(hass, "Hello", None, Context(), language="en", agent_id=AGENT)) == "Hi."


async def test_start_with_a_refused_key(
    hass: HomeAssistant, starting: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """A key that is refused at the start is asked for, while the house answers."""
    claude_server.models_fault = Fault("http", status=401)
    assert await hass.config_entries.async_setup(starting.entry_id)
    await hass.async_block_till_done()
    assert starting.state is ConfigEntryState.LOADED
    (flow,) = hass.config_entries.flow.async_progress_by_handler(DOMAIN)
    assert flow["context"]["source"] == SOURCE_REAUTH


async def test_stands_in_when_the_tokens_are_used_up(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, claude_server: ClaudeServer, lamp: list[Any]
) -> None:
    """Past the limit of the month nothing is sent any more, and the house still answers."""
    await change_agent(hass, entry, fallback_agent=HOME_ASSISTANT, monthly_tokens=1)
    assert speech(await converse("Hello", Turn([text("Good evening.")]))) == "Good evening."
    sent = len(claude_server.message_requests)
    await converse("Turn on the lamp")
    assert len(lamp) == 1
    assert len(claude_server.message_requests) == sent

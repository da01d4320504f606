"""Questions of our own agent, answered in the panel: as the next message of the conversation in which they were asked."""

import asyncio
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.confirmation.question import answering, open_questions
from custom_components.extended_assist.panel.manual_calls import GoneError, async_answer
from homeassistant.auth.models import User
from homeassistant.components import conversation
from homeassistant.components.conversation import chat_log
from homeassistant.core import Context, HomeAssistant
from tests.claude.test_question import DOOR, OPEN, SO_BE_IT, UNLOCK, WINDOW, Say, ask_first, is_locked, say
from tests.claude_server import ClaudeServer, Scenario, Turn
from tests.conftest import AGENT
from tests.scheduled.shown import async_set_up_home

from .conftest import As, Refused

__all__ = ["ask_first", "say"]

pytestmark = pytest.mark.usefixtures("no_deprecations", "house")

ASKS = Turn([UNLOCK])


async def test_yes(
    hass: HomeAssistant, say: Say, as_user: As, claude_server: ClaudeServer, hass_admin_user: MockUser
) -> None:
    """The yes of the one who was asked does what was asked, once; the model hears of it."""
    await say("Unlock the front door", ASKS)
    assert is_locked(hass)
    send = await as_user(hass_admin_user)
    (question,) = await send("questions/list")
    assert (question["kind"], "Front Door" in question["text"]) == ("conversation", True)
    claude_server.responder = Scenario([SO_BE_IT])
    answer = await send("questions/answer", question=question["id"], agreed=True)
    await hass.async_block_till_done()
    assert answer["speech"] == "So be it."
    assert hass.states.is_state(DOOR, "unlocked")
    assert await send("questions/list") == []
    with pytest.raises(Refused, match="panel_gone"):
        await send("questions/answer", question=question["id"], agreed=True)


async def test_no(
    hass: HomeAssistant, say: Say, as_user: As, claude_server: ClaudeServer, hass_admin_user: MockUser
) -> None:
    """A no is heard, and the model is told."""
    await say("Unlock the front door", ASKS)
    send = await as_user(hass_admin_user)
    (question,) = await send("questions/list")
    claude_server.responder = Scenario([SO_BE_IT])
    assert not (await send("questions/answer", question=question["id"], agreed=False))["done"]
    assert "said no" in str(claude_server.message_requests[-1]["messages"])
    assert is_locked(hass)


@pytest.mark.parametrize("spoken", [{"device_id": "kitchen"}, {"user_id": None}])
async def test_asked_elsewhere(
    hass: HomeAssistant, say: Say, as_user: As, hass_admin_user: MockUser, spoken: dict[str, str | None]
) -> None:
    """What a speaker in a room was asked, or somebody unknown, is nobody's to answer from here, administrator or not."""
    await say("Unlock the front door", ASKS, **spoken)
    send = await as_user(hass_admin_user)
    assert await send("questions/list") == []


async def test_somebody_else(
    hass: HomeAssistant, say: Say, as_user: As, claude_server: ClaudeServer, hass_admin_user: MockUser, anna: User
) -> None:
    """Another user neither sees nor answers it; and once the conversation has gone on, nobody does."""
    await say("Unlock the front door", ASKS)
    own, other = await as_user(hass_admin_user), await as_user(anna)
    (question,) = await own("questions/list")
    assert await other("questions/list") == []
    with pytest.raises(Refused, match="panel_gone"):
        await other("questions/answer", question=question["id"], agreed=True)
    await say("What time is it?", SO_BE_IT)
    assert await own("questions/list") == []
    with pytest.raises(Refused, match="panel_gone"):
        await own("questions/answer", question=question["id"], agreed=True)
    assert is_locked(hass)


async def test_two_tabs(
    hass: HomeAssistant,
    say: Say,
    as_user: As,
    claude_server: ClaudeServer,
    hass_admin_user: MockUser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two answers at the same time one counts; the other is no message to the model, nor an answer to what is asked next."""
    await say("Unlock the front door", ASKS)
    prompt = chat_log.ChatLog.async_provide_llm_data

    async def async_slowly(*args: Any, **more: Any) -> None:
        """Wait as a home does whose tools and templates take their time, before the message is heard."""
        await asyncio.sleep(0.05)
        await prompt(*args, **more)

    monkeypatch.setattr(chat_log.ChatLog, "async_provide_llm_data", async_slowly)
    (question,) = await (await as_user(hass_admin_user))("questions/list")
    claude_server.responder = Scenario([SO_BE_IT, SO_BE_IT])
    before = len(claude_server.message_requests)
    answers = await asyncio.gather(
        *(
            async_answer(hass, question["id"], Context(user_id=hass_admin_user.id), "en", agreed=True)
            for _ in ("here", "there")
        ),
        return_exceptions=True,
    )
    await hass.async_block_till_done()
    assert [type(answer) for answer in answers] == [dict, GoneError]
    assert len(claude_server.message_requests) == before + 1
    assert hass.states.is_state(DOOR, "unlocked")


async def test_answers_no_other_question(
    hass: HomeAssistant, say: Say, hass_admin_user: MockUser, claude_server: ClaudeServer
) -> None:
    """A yes on its way, for which another question has taken the place of its own, is no yes to that one."""
    await say("Unlock the front door", ASKS)
    ((conversation_id, old),) = open_questions(hass, hass_admin_user.id).items()
    await say("And the window, please", Turn([OPEN]))
    ((_, new),) = open_questions(hass, hass_admin_user.id).items()
    assert old.id != new.id
    state = hass.states.get(WINDOW).state
    context = Context(user_id=hass_admin_user.id)
    claude_server.responder = Scenario([SO_BE_IT])
    with answering(hass, old, context):
        await conversation.async_converse(hass, "yes", conversation_id, context, language="en", agent_id=AGENT)
    await hass.async_block_till_done()
    assert hass.states.is_state(WINDOW, state)
    assert hass.states.is_state(DOOR, "locked")


async def test_agent_is_gone(
    hass: HomeAssistant, say: Say, as_user: As, entry: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    """What an agent asked that is unloaded cannot be answered, and is not shown."""
    await say("Unlock the front door", ASKS)
    send = await as_user(hass_admin_user)
    (question,) = await send("questions/list")
    await async_set_up_home(hass, title="Second")
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert await send("questions/list") == []
    with pytest.raises(Refused, match="panel_gone"):
        await send("questions/answer", question=question["id"], agreed=True)
    assert is_locked(hass)

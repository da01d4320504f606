"""Questions of our own agent, answered in the panel: as the next message of the conversation in which they were asked."""

import pytest
from pytest_homeassistant_custom_component.common import MockUser

from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant
from tests.claude.test_question import DOOR, SO_BE_IT, UNLOCK, Say, ask_first, is_locked, say
from tests.claude_server import ClaudeServer, Scenario, Turn

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

"""What a look sets off is no part of the conversation in which somebody looked, and is known to come of them."""

from typing import Any

from custom_components.extended_assist.calls.caller import in_conversation
from custom_components.extended_assist.const import EVENT_LOOKED
from homeassistant.components.conversation import ChatLog
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.core import Event, HomeAssistant
from homeassistant.helpers.chat_session import ChatSession, current_session

from .conftest import cameras
from .scenes import CameraServer
from .test_folders import Ask, look, media

__all__ = ["cameras", "look", "media"]


async def test_an_automation_on_looking(hass: HomeAssistant, cameras: CameraServer, look: Ask) -> None:
    """Neither the log nor the session is inherited by what listens to the event; the user's context is."""
    heard: list[tuple[Any, Any, str | None]] = []

    async def on_looked(event: Event) -> None:
        heard.append((current_chat_log.get(), current_session.get(), event.context.user_id))

    hass.bus.async_listen(EVENT_LOOKED, on_looked)
    token = current_session.set(ChatSession("kitchen"))
    try:
        with in_conversation(ChatLog(hass, "kitchen")):
            assert not (await look()).error
    finally:
        current_session.reset(token)
    await hass.async_block_till_done()
    ((log, session, user_id),) = heard
    assert (log, session) == (None, None)
    assert user_id is not None

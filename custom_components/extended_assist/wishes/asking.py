"""The question of a wish: the assistant is asked in a conversation of its own, which nobody else is part of."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er

from ..toolbox.caller import ASKED_LATER
from .calling import NotDoneError
from .wish import Wish

ANSWER_TIME: Final = 120.0
"""Seconds that the assistant has for an answer."""

_NO_ANSWER: Final = "the assistant gave no answer."


async def async_answer(hass: HomeAssistant, wish: Wish, question: str) -> str:
    """Return the answer of the entry's own agent, or else of the default one; raises NotDoneError."""
    owner = wish.owner
    entries = er.async_entries_for_config_entry(er.async_get(hass), owner.entry_id)
    agents = [entry.entity_id for entry in entries if entry.domain == conversation.DOMAIN]
    context, asked = Context(user_id=owner.user_id), hass.data.setdefault(ASKED_LATER, set())
    asked.add(context.id)
    try:
        async with asyncio.timeout(ANSWER_TIME):
            answer = await conversation.async_converse(
                hass,
                question,
                None,
                context,
                language=owner.language,
                agent_id=next(filter(hass.states.get, agents), None),
                device_id=owner.device_id,
            )
    except (HomeAssistantError, TimeoutError) as err:
        raise NotDoneError(_NO_ANSWER) from err
    finally:
        asked.discard(context.id)
    speech: Mapping[str, Any] = answer.response.speech.get("plain", {})
    if answer.response.error_code is not None or not speech.get("speech"):
        raise NotDoneError(_NO_ANSWER)
    return str(speech["speech"])

"""Asking a user from afar: a question on their phones, which their own yes answers once, within minutes.

What somebody else says, or says elsewhere, later or again, counts for nothing; neither does silence.
"""

import asyncio
import secrets
from typing import Final

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from .hearing import say
from .phones import ANSWERED, Button, Phone, PhoneMessage, async_clear, async_phones, async_send, pressed

VALID: Final = 180.0
"""Seconds in which a question can be answered."""
MAX_QUESTION: Final = 2_000
"""Bytes of a question: what a push message surely carries. Nobody agrees to what was cut off."""


async def async_can_ask(hass: HomeAssistant, user_id: str | None) -> bool:
    """Return whether a user has a phone on which they can be asked."""
    return bool(await _async_phones(hass, user_id))


async def async_ask_from_afar(
    hass: HomeAssistant, user_id: str | None, question: str, *, valid: float = VALID, language: str | None = None
) -> bool:
    """Ask a user on their phones and return whether they said yes in time; False at once where they have none."""
    phones = await _async_phones(hass, user_id)
    if not phones or len(question.encode()) > MAX_QUESTION:
        return False
    language = language or hass.config.language
    yes, no = (f"{DOMAIN}_{secrets.token_urlsafe()}" for _ in range(2))
    message = PhoneMessage(
        text=question,
        title=say("asks", language),
        tag=f"{DOMAIN}_{secrets.token_hex()}",
        buttons=(Button(yes, say("yes", language), needs_unlocking=True), Button(no, say("no", language))),
        is_urgent=True,
        seconds=valid,
    )
    answer: asyncio.Future[bool] = hass.loop.create_future()
    # Beside the loop's clock, which stands still while the machine sleeps.
    expires = dt_util.utcnow().timestamp() + valid

    @callback
    def hear(event: Event) -> None:
        key, from_user = pressed(event) or (None, None)
        if answer.done() or from_user != user_id or key not in (yes, no):
            return
        answer.set_result(key == yes and dt_util.utcnow().timestamp() < expires)

    stop = hass.bus.async_listen(ANSWERED, hear)
    try:
        async with asyncio.timeout(valid):
            sent = await asyncio.gather(*(async_send(hass, phone, message) for phone in phones))
            return any(sent) and await answer and await _async_is_active(hass, user_id)
    except TimeoutError:
        return False
    finally:
        stop()
        # Nobody is to press what has no use any more; nobody waits until it is gone either.
        for phone in phones:
            hass.async_create_background_task(async_clear(hass, phone, message.tag), f"{DOMAIN} clears a question")


async def _async_phones(hass: HomeAssistant, user_id: str | None) -> list[Phone]:
    """Return the phones of a user who may still use Home Assistant."""
    return await async_phones(hass, {user_id}) if user_id and await _async_is_active(hass, user_id) else []


async def _async_is_active(hass: HomeAssistant, user_id: str | None) -> bool:
    """Return whether a user is there and may use Home Assistant."""
    user = await hass.auth.async_get_user(user_id) if user_id else None
    return user is not None and user.is_active

"""Asking a user from afar: a question on their phones, which their own yes answers once, within minutes.

What somebody else says, or says elsewhere, later or again, counts for nothing; neither does silence.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
import secrets
from typing import Final

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .localization import say
from .phones import (
    ANSWERED,
    Button,
    Phone,
    PhoneMessage,
    async_clear,
    async_is_active,
    async_phones,
    async_send,
    pressed,
)

VALID: Final = 180.0
"""Seconds in which a question can be answered."""
MAX_QUESTION: Final = 2_000
"""Bytes of a question: what a push message surely carries. Nobody agrees to what was cut off."""
MAX_OPEN: Final = 3
"""Questions that wait for one user's answer at the same time."""

_OPEN: HassKey[Counter[str]] = HassKey(f"{DOMAIN}_open_questions")
"""How many questions wait for each user's answer."""
_WAITING: HassKey[set[asyncio.Future[None]]] = HassKey(f"{DOMAIN}_waiting_questions")
"""What wants to be asked, and waits until a question is over."""


class NoRoomError(Exception):
    """Nobody was asked: too many questions wait for the answers of all who could be."""


@dataclass(frozen=True, slots=True)
class PhoneAnswer:
    """What a user said to a question."""

    user_id: str
    agreed: bool


@dataclass(frozen=True, slots=True)
class PhoneQuestion:
    """A question that is shown on phones and not answered yet."""

    id: str
    text: str
    user_ids: frozenset[str]
    expires: float
    """Seconds since the epoch."""
    answered: asyncio.Future[PhoneAnswer | None] = field(repr=False)


_SHOWN: HassKey[dict[str, PhoneQuestion]] = HassKey(f"{DOMAIN}_shown_questions")


@callback
def phone_questions(hass: HomeAssistant, user_id: str) -> list[PhoneQuestion]:
    """Return the questions that wait for a user's answer on their phones."""
    return [one for one in hass.data.get(_SHOWN, {}).values() if user_id in one.user_ids and not one.answered.done()]


@callback
def answer_phone_question(hass: HomeAssistant, wanted: str, user_id: str, *, agreed: bool) -> bool:
    """Answer such a question as one of those who were asked, logged in elsewhere; return whether it still waited."""
    found = next((one for one in phone_questions(hass, user_id) if one.id == wanted), None)
    if found is None or dt_util.utcnow().timestamp() >= found.expires:
        return False
    found.answered.set_result(PhoneAnswer(user_id, agreed))
    return True


async def async_can_ask(hass: HomeAssistant, user_id: str | None) -> bool:
    """Return whether a user has a phone on which they can be asked."""
    return bool(user_id and await async_phones(hass, {user_id}))


@callback
def has_room(hass: HomeAssistant, user_id: str) -> bool:
    """Return whether a user can be asked one thing more: who is asked too much reads none of it."""
    return hass.data.get(_OPEN, Counter())[user_id] < MAX_OPEN


async def async_ask_from_afar(
    hass: HomeAssistant, user_id: str | None, question: str, *, valid: float = VALID, language: str | None = None
) -> bool:
    """Ask a user on their phones and return whether they said yes in time; False at once where they have none."""
    answer = await async_first_answer(hass, [user_id] if user_id else [], question, valid=valid, language=language)
    return answer is not None and answer.agreed


async def async_first_answer(
    hass: HomeAssistant,
    user_ids: Iterable[str],
    question: str,
    *,
    valid: float = VALID,
    patience: float = 0.0,
    language: str | None = None,
) -> PhoneAnswer | None:
    """Ask users on their phones and return what the first of them says in time; None at once where none can be asked.

    With patience, in seconds, it waits that long until one of them can be asked one thing more; raises NoRoomError after that.
    """
    asked = await _async_with_room(hass, [*user_ids], patience)
    open_questions = hass.data.setdefault(_OPEN, Counter())
    open_questions.update(asked)
    try:
        phones = await async_phones(hass, asked)
        if not phones or not can_be_shown(question):
            return None
        answer = await _async_answer(hass, phones, question, valid, language or hass.config.language)
    finally:
        open_questions.subtract(asked)
        for freed in hass.data.get(_WAITING, ()):
            if not freed.done():
                freed.set_result(None)
    return answer if answer is not None and await async_is_active(hass, answer.user_id) else None


async def _async_with_room(hass: HomeAssistant, user_ids: list[str], patience: float) -> list[str]:
    """Return those of users who can be asked one thing more, once there is one; raises NoRoomError after some seconds.

    Whoever calls it takes the room before anything else is waited for.
    """
    deadline = hass.loop.time() + patience
    waiting = hass.data.setdefault(_WAITING, set())
    while not (asked := [user_id for user_id in user_ids if has_room(hass, user_id)]) and user_ids and patience:
        freed: asyncio.Future[None] = hass.loop.create_future()
        waiting.add(freed)
        try:
            async with asyncio.timeout_at(deadline):
                await freed
        except TimeoutError:
            raise NoRoomError from None
        finally:
            waiting.discard(freed)
    return asked


async def _async_answer(
    hass: HomeAssistant, phones: list[Phone], question: str, valid: float, language: str
) -> PhoneAnswer | None:
    """Show a question on phones and return the first answer; the keys of each user are their own."""
    tag = f"{DOMAIN}_{secrets.token_hex()}"
    answers = {
        f"{DOMAIN}_{secrets.token_urlsafe()}": PhoneAnswer(user_id, agreed)
        for user_id in dict.fromkeys(phone.user_id for phone in phones)
        for agreed in (True, False)
    }
    answered: asyncio.Future[PhoneAnswer | None] = hass.loop.create_future()
    # Beside the loop's clock, which stands still while the machine sleeps.
    expires = dt_util.utcnow().timestamp() + valid

    @callback
    def hear(event: Event) -> None:
        key, from_user = pressed(event) or ("", None)
        answer = answers.get(key)
        if answer is None or answered.done() or from_user != answer.user_id:
            return
        answered.set_result(answer if dt_util.utcnow().timestamp() < expires else None)

    def message_for(phone: Phone) -> PhoneMessage:
        keys = {answer.agreed: key for key, answer in answers.items() if answer.user_id == phone.user_id}
        yes, no = (
            Button(keys[True], say("yes", language), needs_unlocking=True),
            Button(keys[False], say("no", language)),
        )
        title = say("asks", language)
        return PhoneMessage(text=question, title=title, tag=tag, buttons=(yes, no), is_urgent=True, seconds=valid)

    stop = hass.bus.async_listen(ANSWERED, hear)
    shown = hass.data.setdefault(_SHOWN, {})
    shown[tag] = PhoneQuestion(tag, question, frozenset(phone.user_id for phone in phones), expires, answered)
    try:
        async with asyncio.timeout(valid):
            sent = await asyncio.gather(*(async_send(hass, phone, message_for(phone)) for phone in phones))
            return await answered if any(sent) else None
    except TimeoutError:
        return None
    finally:
        stop()
        del shown[tag]
        # Nobody is to press what has no use any more; nobody waits until it is gone either.
        for phone in phones:
            hass.async_create_background_task(async_clear(hass, phone, tag), f"{DOMAIN} clears a question")


@callback
def can_be_shown(question: str) -> bool:
    """Return whether a question is shown on a phone whole."""
    return len(question.encode()) <= MAX_QUESTION

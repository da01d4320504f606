"""Ask users on their phones and accept one answer to a question, from an asked user, within minutes.

Other answers have no effect: those of other users, through other channels, too late, or repeated. Silence is not a yes.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
import secrets
from typing import Any, Final

from homeassistant.components.notify.const import ATTR_DATA, ATTR_MESSAGE, ATTR_TITLE, DOMAIN as NOTIFY_DOMAIN
from homeassistant.const import CONF_WEBHOOK_ID
from homeassistant.core import Context, Event, EventOrigin, HomeAssistant, callback
from homeassistant.loader import async_get_integration
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER
from ..ha_compat.mobile_app import PHONE
from .wording import say

VALID: Final = 180.0
"""Seconds in which users can answer a question."""
MAX_QUESTION: Final = 2_000
"""Maximum bytes of a question: a push message surely carries them. Users cannot agree to a text that was cut off."""
MAX_OPEN: Final = 3
"""Maximum number of open questions for one user."""

_OPEN: HassKey[Counter[str]] = HassKey(f"{DOMAIN}_open_questions")
"""The number of open questions, by user id."""
_WAITING: HassKey[set[asyncio.Future[None]]] = HassKey(f"{DOMAIN}_waiting_questions")
"""Futures of questions that wait for room, set when another question ends."""


class NoRoomError(Exception):
    """All users who could be asked have too many open questions; nobody was asked."""


@dataclass(frozen=True, slots=True)
class PhoneAnswer:
    """A user's answer to a question."""

    user_id: str
    agreed: bool


@dataclass(frozen=True, slots=True)
class PhoneQuestion:
    """A question that is open on phones."""

    id: str
    text: str
    user_ids: frozenset[str]
    expires: float
    """Seconds since the epoch."""
    answered: asyncio.Future[PhoneAnswer | None] = field(repr=False)


_SHOWN: HassKey[dict[str, PhoneQuestion]] = HassKey(f"{DOMAIN}_shown_questions")


@callback
def phone_questions(hass: HomeAssistant, user_id: str) -> list[PhoneQuestion]:
    """Return the open questions on a user's phones."""
    return [one for one in hass.data.get(_SHOWN, {}).values() if user_id in one.user_ids and not one.answered.done()]


@callback
def answer_phone_question(hass: HomeAssistant, wanted: str, user_id: str, *, agreed: bool) -> bool:
    """Answer an open phone question for a user who was asked and is logged in elsewhere; return whether it was open."""
    found = next((one for one in phone_questions(hass, user_id) if one.id == wanted), None)
    if found is None or dt_util.utcnow().timestamp() >= found.expires:
        return False
    found.answered.set_result(PhoneAnswer(user_id, agreed))
    return True


async def async_can_ask(hass: HomeAssistant, user_id: str | None) -> bool:
    """Return whether a user has a phone that can be reached."""
    return bool(user_id and await async_phones(hass, {user_id}))


@callback
def has_room(hass: HomeAssistant, user_id: str) -> bool:
    """Return whether a user has fewer than MAX_OPEN open questions, because users do not read too many."""
    return hass.data.get(_OPEN, Counter())[user_id] < MAX_OPEN


async def async_ask_from_afar(
    hass: HomeAssistant, user_id: str | None, question: str, *, valid: float = VALID, language: str | None = None
) -> bool:
    """Ask a user on their phones and return whether they agreed in time; False at once if no phone can be reached."""
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
    """Ask users on their phones and return the first answer in time; None at once if no phone can be reached.

    If all users have too many open questions, wait up to `patience` seconds for room; raises NoRoomError after that.
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
    """Return the users who have room for one more question; raise NoRoomError if none has after `patience` seconds.

    The caller must count the new question before its next await.
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
    """Show a question on phones and return the first answer; each user's buttons have secret keys of their own."""
    tag = f"{DOMAIN}_{secrets.token_hex()}"
    answers = {
        f"{DOMAIN}_{secrets.token_urlsafe()}": PhoneAnswer(user_id, agreed)
        for user_id in dict.fromkeys(phone.user_id for phone in phones)
        for agreed in (True, False)
    }
    answered: asyncio.Future[PhoneAnswer | None] = hass.loop.create_future()
    # The wall clock counts too, because the clock of the event loop stops while the machine sleeps.
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
        # Remove the question, because its buttons have no effect any more. Do not wait for the phones.
        for phone in phones:
            hass.async_create_background_task(async_clear(hass, phone, tag), f"{DOMAIN} clears a question")


@callback
def can_be_shown(question: str) -> bool:
    """Return whether a question is short enough for a phone to show all of it."""
    return len(question.encode()) <= MAX_QUESTION


ANSWERED: Final = "mobile_app_notification_action"
"""The event that Home Assistant fires when a user presses a button of a notification."""

_USER_ID = "user_id"
_MANUFACTURER = "manufacturer"
_APPLE = "Apple"
_CLEAR = "clear_notification"


@dataclass(frozen=True, slots=True)
class Phone:
    """A device with the companion app, and the user who is logged in on it."""

    user_id: str
    action: str
    """The name of the `notify` action for this phone."""
    reads_html: bool
    """True if the app renders messages as HTML, as on Android."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button of a notification."""

    key: str
    """The value of `action` in the event that a press fires."""
    title: str
    needs_unlocking: bool = False
    """True if the phone must be unlocked for a press; Android supports this from version 12."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneMessage:
    """A notification for a phone."""

    text: str
    title: str
    tag: str
    """The tag; a later message with the same tag replaces this one."""
    buttons: Sequence[Button] = ()
    is_urgent: bool = False
    """True for a message that the phone shows before less important ones."""
    silent_channel: str | None = None
    """The name of the silent channel on Android; None for a message with sound."""
    seconds: float | None = None
    """Seconds for which Android shows the message; None until the user dismisses it."""

    def data(self) -> dict[str, Any]:
        """Return the notification data for the companion apps; each app ignores keys that it does not know."""
        data: dict[str, Any] = {"tag": self.tag, "ttl": 0, "priority": "high"}
        if self.silent_channel:
            data |= {"channel": self.silent_channel, "importance": "low"}
            data["push"] = {"sound": "none", "interruption-level": "passive"}
        elif self.is_urgent:
            data["push"] = {"interruption-level": "time-sensitive"}
        if self.seconds is not None:
            data["timeout"] = round(self.seconds)
        if self.buttons:
            data["actions"] = [
                {"action": button.key, "title": button.title}
                | ({"authenticationRequired": True} if button.needs_unlocking else {})
                for button in self.buttons
            ]
        return data


async def async_phones(hass: HomeAssistant, user_ids: Iterable[str]) -> list[Phone]:
    """Return the phones that can be reached now, of active users only."""
    wanted = {user_id for user_id in set(user_ids) if await async_is_active(hass, user_id)}
    entries = [entry for entry in hass.config_entries.async_loaded_entries(PHONE) if entry.data.get(_USER_ID) in wanted]
    if not entries:
        return []
    # Imported here, because the import loads requirements of Home Assistant's cloud, which homes without phones do not
    # need.
    util = await (await async_get_integration(hass, PHONE)).async_get_platform("util")
    phones = []
    for entry in entries:
        try:
            # Of two phones with the same name, only one has an action. The other phone never gets that action.
            action = util.get_notify_service(hass, entry.data[CONF_WEBHOOK_ID])
        except KeyError:
            # The notify actions are registered shortly after the config entries.
            continue
        if action is not None:
            phones.append(Phone(entry.data[_USER_ID], action, entry.data.get(_MANUFACTURER) != _APPLE))
    return phones


async def async_is_active(hass: HomeAssistant, user_id: str) -> bool:
    """Return whether a user exists and is active; the phones of a deactivated user stay registered."""
    user = await hass.auth.async_get_user(user_id)
    return user is not None and user.is_active


async def async_send(hass: HomeAssistant, phone: Phone, message: PhoneMessage, context: Context | None = None) -> bool:
    """Send a message to a phone; return whether the notify action succeeded."""
    # The apps interpret some single words as commands. No command has a space or ends with a full stop.
    text = f"{message.text}." if message.text.isascii() and message.text.isidentifier() else message.text
    text, title = (escape(part, quote=False) if phone.reads_html else part for part in (text, message.title))
    return await _async_notify(hass, phone, {ATTR_MESSAGE: text, ATTR_TITLE: title, ATTR_DATA: message.data()}, context)


async def async_clear(hass: HomeAssistant, phone: Phone, tag: str) -> None:
    """Remove a message from a phone, if the phone supports this."""
    await _async_notify(hass, phone, {ATTR_MESSAGE: _CLEAR, ATTR_DATA: {"tag": tag}}, None)


async def _async_notify(hass: HomeAssistant, phone: Phone, data: dict[str, Any], context: Context | None) -> bool:
    """Call the notify action of a phone; return whether it succeeded."""
    try:
        await hass.services.async_call(NOTIFY_DOMAIN, phone.action, data, blocking=True, context=context)
    except Exception as err:  # noqa: BLE001 - whatever is wrong with it, there are other ways
        # The error may repeat the private message, so only its type is logged.
        LOGGER.debug("A phone could not be reached: %s", type(err).__name__)
        return False
    return True


@callback
def pressed(event: Event) -> tuple[str, str] | None:
    """Return the key of the pressed button and the user logged in on that phone; None for other events.

    Only remote events with a user count. An event that an automation fires inside Home Assistant is local, and ignored.
    """
    key, user_id = event.data.get("action"), event.context.user_id
    is_remote = event.origin is EventOrigin.remote
    return (key, user_id) if is_remote and type(key) is str and key and user_id else None

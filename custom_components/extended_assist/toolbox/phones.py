"""The phones of users: the companion apps that Home Assistant knows, and messages to them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from homeassistant.components.notify.const import ATTR_DATA, ATTR_MESSAGE, ATTR_TITLE, DOMAIN as NOTIFY_DOMAIN
from homeassistant.const import CONF_WEBHOOK_ID
from homeassistant.core import Context, Event, EventOrigin, HomeAssistant, callback
from homeassistant.loader import async_get_integration

from ..const import LOGGER

PHONE: Final = "mobile_app"
ANSWERED: Final = "mobile_app_notification_action"
"""The event of a button under a message being pressed."""

_USER_ID = "user_id"
_MANUFACTURER = "manufacturer"
_APPLE = "Apple"
_CLEAR = "clear_notification"


@dataclass(frozen=True, slots=True)
class Phone:
    """A device with the companion app on which a user is logged in."""

    user_id: str
    action: str
    """The name of the action of `notify` that reaches it."""
    reads_html: bool
    """Whether the app takes a message for HTML, as it does on Android."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message."""

    key: str
    """What the event of its being pressed holds."""
    title: str
    needs_unlocking: bool = False
    """Whether the phone must be unlocked for it; Android knows that from version 12 on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneMessage:
    """What is shown on a phone."""

    text: str
    title: str
    tag: str
    """A later message with the same tag takes its place."""
    buttons: Sequence[Button] = ()
    is_urgent: bool = False
    """Whether it is shown before what can wait."""
    silent_channel: str | None = None
    """The name of the channel without sound on which Android shows it; None for a message with sound."""
    seconds: float | None = None
    """How long Android shows it; None for until it is dismissed."""

    def data(self) -> dict[str, Any]:
        """Return the data that tells the apps how to show it; each leaves out what it does not know."""
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
    """Return the phones that can be reached now of those users who may use Home Assistant."""
    wanted = {user_id for user_id in set(user_ids) if await async_is_active(hass, user_id)}
    entries = [entry for entry in hass.config_entries.async_loaded_entries(PHONE) if entry.data.get(_USER_ID) in wanted]
    if not entries:
        return []
    # Not imported above: with it would come what only Home Assistant's cloud needs, in homes without any phone.
    util = await (await async_get_integration(hass, PHONE)).async_get_platform("util")
    phones = []
    for entry in entries:
        try:
            # Of two phones with the same name, only one has an action; it is never taken for the other's.
            action = util.get_notify_service(hass, entry.data[CONF_WEBHOOK_ID])
        except KeyError:
            # The actions are registered a moment after the entries.
            continue
        if action is not None:
            phones.append(Phone(entry.data[_USER_ID], action, entry.data.get(_MANUFACTURER) != _APPLE))
    return phones


async def async_is_active(hass: HomeAssistant, user_id: str) -> bool:
    """Return whether a user is there and may use Home Assistant: their phone stays known when they are turned off."""
    user = await hass.auth.async_get_user(user_id)
    return user is not None and user.is_active


async def async_send(hass: HomeAssistant, phone: Phone, message: PhoneMessage, context: Context | None = None) -> bool:
    """Send a message to a phone; return whether it was taken."""
    # The apps take some words for commands, none of which has a space or ends like a sentence.
    text = f"{message.text}." if message.text.isascii() and message.text.isidentifier() else message.text
    text, title = (escape(part, quote=False) if phone.reads_html else part for part in (text, message.title))
    return await _async_notify(hass, phone, {ATTR_MESSAGE: text, ATTR_TITLE: title, ATTR_DATA: message.data()}, context)


async def async_clear(hass: HomeAssistant, phone: Phone, tag: str) -> None:
    """Take a message from a phone again, where that is possible."""
    await _async_notify(hass, phone, {ATTR_MESSAGE: _CLEAR, ATTR_DATA: {"tag": tag}}, None)


async def _async_notify(hass: HomeAssistant, phone: Phone, data: dict[str, Any], context: Context | None) -> bool:
    """Call the action of a phone; return whether it went well."""
    try:
        await hass.services.async_call(NOTIFY_DOMAIN, phone.action, data, blocking=True, context=context)
    except Exception as err:  # noqa: BLE001 - whatever is wrong with it, there are other ways
        # The error itself may repeat the message.
        LOGGER.debug("A phone could not be reached: %s", type(err).__name__)
        return False
    return True


@callback
def pressed(event: Event) -> tuple[str, str] | None:
    """Return the key of the button that was pressed and the user who was logged in on that phone; None for none.

    Phones speak from outside; what happens inside Home Assistant, as in an automation that makes events up, is none of theirs.
    """
    key, user_id = event.data.get("action"), event.context.user_id
    is_remote = event.origin is EventOrigin.remote
    return (key, user_id) if is_remote and type(key) is str and key and user_id else None

"""Ownership of facts: who may read them, and who may store them."""

from dataclasses import dataclass
from typing import Final

from homeassistant.auth.const import GROUP_ID_READ_ONLY
from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..calls.caller import Caller, is_asked_later
from ..calls.options import ToolboxOptions
from ..calls.policy import NotAllowedError
from ..confirmation.confirmation_reason import can_be_asked
from ..confirmation.untrusted_text import marks, was_heard
from .fact import Fact, Via
from .store import Memory

_OFF: Final = "Memory is turned off in the options of Extended Assist. Go on without it."
_NOT_HERE: Final = (
    "What the household wants to be remembered is not told in tasks and over MCP, nor changed from there, unless an "
    "administrator allows it in the options of Extended Assist."
)
_NO_AUTOMATION: Final = (
    "Automations and tasks may not have anything remembered or forgotten. An administrator can allow it in the options of "
    "Extended Assist."
)
_NO_GUEST: Final = (
    "Nobody who is known is logged in here, so nothing can be remembered or forgotten from here. Tell the user to say it in "
    "the app or a browser, where they are logged in; an administrator can allow it in the options of Extended Assist."
)
_GUESTS_FULL: Final = (
    "As many facts are remembered already from where nobody is logged in as the options allow: {limit}. Tell the user to say "
    "it in the app or a browser, where they are logged in."
)
_FROM_OUTSIDE: Final = (
    "Text that strangers may have written was read, and there is nobody here to ask, so nothing is remembered or forgotten. "
    "Tell the user; they can say it in a new conversation."
)


@dataclass(frozen=True, slots=True)
class FactAccess:
    """A reader of facts."""

    household: bool = False
    user_id: str | None = None
    """The user whose private facts are included."""

    def hears(self, fact: Fact) -> bool:
        """Return whether the reader may see a fact."""
        return self.household if fact.user_id is None else fact.user_id == self.user_id


@dataclass(frozen=True, slots=True)
class Writer:
    """A writer of facts."""

    user_id: str | None = None
    """None for a guest or an automation."""
    via: Via = Via.SAID

    def may_change(self, fact: Fact) -> bool:
        """Return whether the writer may forget or replace a fact; unknown writers only those of unknown writers."""
        if self.user_id is not None:
            return fact.user_id in (None, self.user_id)
        return fact.user_id is None and fact.said_by is None and fact.via is self.via


async def async_known_user(hass: HomeAssistant, user_id: str | None) -> str | None:
    """Return the id of an active user who may control the home, or None."""
    user = await hass.auth.async_get_user(user_id) if user_id else None
    if user is None or not user.is_active or user.system_generated:
        return None
    only_looks = not user.is_owner and {group.id for group in user.groups} == {GROUP_ID_READ_ONLY}
    return None if only_looks else user.id


async def async_ears(hass: HomeAssistant, caller: Caller, options: ToolboxOptions) -> FactAccess:
    """Return the reader that a caller is."""
    if not options.has_memory or (is_elsewhere(caller) and not options.memory_elsewhere):
        return FactAccess()
    return FactAccess(household=True, user_id=await _async_speaker(hass, caller))


async def async_check_access(hass: HomeAssistant, caller: Caller, options: ToolboxOptions) -> FactAccess:
    """Return the reader that a caller is; raises NotAllowedError if they may read no facts."""
    ears = await async_ears(hass, caller, options)
    if not ears.household:
        raise NotAllowedError(_NOT_HERE if options.has_memory else _OFF)
    return ears


async def async_check_writer(hass: HomeAssistant, caller: Caller, options: ToolboxOptions) -> Writer:
    """Return the writer that a caller is; raises NotAllowedError if they may store no facts."""
    await async_check_access(hass, caller, options)
    if marks(caller.chat_log) and not can_be_asked(caller):
        raise NotAllowedError(_FROM_OUTSIDE)
    if caller.chat_log is None and was_heard(hass, caller):
        raise NotAllowedError(_FROM_OUTSIDE)
    user_id = await _async_speaker(hass, caller)
    is_automation = caller.assistant != CONVERSATION or is_asked_later(hass, caller.context)
    if is_automation or (caller.chat_log is not None and not can_be_asked(caller)):
        return automation(options)
    if user_id is None and not options.memory_guests:
        raise NotAllowedError(_NO_GUEST)
    return Writer(user_id)


def automation(options: ToolboxOptions) -> Writer:
    """Return an automation as a writer; raises NotAllowedError if the options forbid it."""
    if not options.memory_automations:
        raise NotAllowedError(_NO_AUTOMATION)
    return Writer(via=Via.AUTOMATION)


def check_guests(memory: Memory, writer: Writer, options: ToolboxOptions) -> None:
    """Raise NotAllowedError if guests have stored as many facts as the options allow."""
    if writer == Writer() and sum(map(writer.may_change, memory.held)) > options.memory_guests:
        raise NotAllowedError(_GUESTS_FULL.format(limit=options.memory_guests))


def is_elsewhere(caller: Caller) -> bool:
    """Return whether the call comes from a task or over MCP rather than a conversation."""
    return caller.chat_log is None or caller.assistant != CONVERSATION


async def _async_speaker(hass: HomeAssistant, caller: Caller) -> str | None:
    """Return the logged-in user, or None where others hear the answer too, such as at a satellite."""
    if caller.assistant != CONVERSATION or is_asked_later(hass, caller.context) or is_satellite(hass, caller.device_id):
        return None
    return await async_known_user(hass, caller.user_id)


@callback
def is_satellite(hass: HomeAssistant, device_id: str | None) -> bool:
    """Return whether a device listens in a room; its context has its latest user, who may not be the speaker."""
    found = er.async_entries_for_device(er.async_get(hass), device_id) if device_id else ()
    return any(entry.domain == "assist_satellite" for entry in found)


async def async_writer_of(hass: HomeAssistant, context: Context | None, options: ToolboxOptions) -> Writer:
    """Return the writer of an action or a change in the list; raises NotAllowedError."""
    if context is None or context.user_id is None:
        return automation(options)
    if (user_id := await async_known_user(hass, context.user_id)) is None:
        raise NotAllowedError(_NO_GUEST)
    return Writer(user_id, Via.WRITTEN)

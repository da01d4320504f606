"""Whose a fact is: who is told of it, and who may have one remembered."""

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
class Ears:
    """What facts somebody is told."""

    household: bool = False
    user_id: str | None = None
    """Whose own facts are told, too."""

    def hears(self, fact: Fact) -> bool:
        """Return whether they are told of a fact."""
        return self.household if fact.user_id is None else fact.user_id == self.user_id


@dataclass(frozen=True, slots=True)
class Writer:
    """Who has something remembered."""

    user_id: str | None = None
    """None for a guest or an automation."""
    via: Via = Via.SAID

    def may_change(self, fact: Fact) -> bool:
        """Return whether they may forget or replace a fact: who is not known, only what came like that itself."""
        if self.user_id is not None:
            return fact.user_id in (None, self.user_id)
        return fact.user_id is None and fact.said_by is None and fact.via is self.via


async def async_known_user(hass: HomeAssistant, user_id: str | None) -> str | None:
    """Return the id of a user who lives here; None for nobody, and for who is gone, a system's, or may only look."""
    user = await hass.auth.async_get_user(user_id) if user_id else None
    if user is None or not user.is_active or user.system_generated:
        return None
    only_looks = not user.is_owner and {group.id for group in user.groups} == {GROUP_ID_READ_ONLY}
    return None if only_looks else user.id


async def async_ears(hass: HomeAssistant, caller: Caller, options: ToolboxOptions) -> Ears:
    """Return the ears of a caller: whose facts they are told."""
    if not options.has_memory or (is_elsewhere(caller) and not options.memory_elsewhere):
        return Ears()
    return Ears(household=True, user_id=await _async_speaker(hass, caller))


async def async_check_ears(hass: HomeAssistant, caller: Caller, options: ToolboxOptions) -> Ears:
    """Return the ears of a caller; raises NotAllowedError where they are told none."""
    ears = await async_ears(hass, caller, options)
    if not ears.household:
        raise NotAllowedError(_NOT_HERE if options.has_memory else _OFF)
    return ears


async def async_check_writer(hass: HomeAssistant, caller: Caller, options: ToolboxOptions) -> Writer:
    """Return who has something remembered or forgotten; raises NotAllowedError where they may not."""
    await async_check_ears(hass, caller, options)
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
    """Return an automation as who has something remembered; raises NotAllowedError where they may not."""
    if not options.memory_automations:
        raise NotAllowedError(_NO_AUTOMATION)
    return Writer(via=Via.AUTOMATION)


def check_guests(memory: Memory, writer: Writer, options: ToolboxOptions) -> None:
    """Raise NotAllowedError where more is remembered from where nobody is logged in than may be."""
    if writer == Writer() and sum(map(writer.may_change, memory.held)) > options.memory_guests:
        raise NotAllowedError(_GUESTS_FULL.format(limit=options.memory_guests))


def is_elsewhere(caller: Caller) -> bool:
    """Return whether this is no conversation: a task, or a program over MCP."""
    return caller.chat_log is None or caller.assistant != CONVERSATION


async def _async_speaker(hass: HomeAssistant, caller: Caller) -> str | None:
    """Return who is logged in where they speak; nobody where others hear the answer, too, as at a satellite."""
    if caller.assistant != CONVERSATION or is_asked_later(hass, caller.context) or is_satellite(hass, caller.device_id):
        return None
    return await async_known_user(hass, caller.user_id)


@callback
def is_satellite(hass: HomeAssistant, device_id: str | None) -> bool:
    """Return whether a device listens in a room: whose context it has is whoever used it last."""
    found = er.async_entries_for_device(er.async_get(hass), device_id) if device_id else ()
    return any(entry.domain == "assist_satellite" for entry in found)


async def async_writer_of(hass: HomeAssistant, context: Context | None, options: ToolboxOptions) -> Writer:
    """Return who changes something by an action or in a list; raises NotAllowedError where they may not."""
    if context is None or context.user_id is None:
        return automation(options)
    if (user_id := await async_known_user(hass, context.user_id)) is None:
        raise NotAllowedError(_NO_GUEST)
    return Writer(user_id, Via.WRITTEN)

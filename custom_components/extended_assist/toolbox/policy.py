"""Who may do what: tiers, speakers, the user's own word, and distrust of text from outside the house."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol, Self

from homeassistant.components.conversation import ChatLog, ToolResultContent, UserContent
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..const import CONF_ALLOW_WITHOUT_CHAT, CONF_ASK_FIRST, CONF_WHO_MAY
from ..results import ToolError
from .caller import Caller
from .plan import Plan

DEFAULT_ASK_FIRST = ("add_automation", "update_automation", "remove_automation", "execute_script")
"""Tools that ask first unless the options say otherwise, without their prefix."""


_SCRIPTS = "script"
"""The integration of scripts, which the user wrote."""


class Tier(IntEnum):
    """How far a tool reaches; a higher tier asks for a more trusted speaker."""

    READ = 1
    CONTROL = 2
    ADMINISTER = 3


class Speaker(IntEnum):
    """How far somebody is known; a satellite without a user stands for anyone in the room."""

    ANYONE = 1
    USER = 2
    ADMIN = 3


DEFAULT_WHO_MAY = {Tier.READ: Speaker.ANYONE, Tier.CONTROL: Speaker.ANYONE, Tier.ADMINISTER: Speaker.ADMIN}

_NOT_KNOWN = (
    "Nobody is logged in on this device, so this cannot be done from here. "
    "Tell the user to ask again from the app or a browser, where they are logged in."
)
_NOT_ADMIN = "Only an administrator of Home Assistant may do this. Tell the user to ask one."


class NotAllowedError(ToolError):
    """The speaker may not use a tool; the message tells the model what to say."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the options of an entry allow."""

    who_may: Mapping[Tier, Speaker] = field(default_factory=lambda: dict(DEFAULT_WHO_MAY))
    """The least known speaker who may use tools of a tier."""
    ask_first: frozenset[str] = frozenset(DEFAULT_ASK_FIRST)
    """Tools, without their prefix, that ask first."""
    allow_without_chat: bool = False
    """Whether what asks first may be done where there is no chat log to read the user's word from, such as over MCP."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Read the options of an entry."""
        chosen = {
            tier: Speaker[str(options[key]).upper()]
            for tier in Tier
            if (key := CONF_WHO_MAY.format(tier.name.lower())) in options
        }
        return cls(
            who_may=DEFAULT_WHO_MAY | chosen,
            ask_first=frozenset(options.get(CONF_ASK_FIRST, DEFAULT_ASK_FIRST)),
            allow_without_chat=options.get(CONF_ALLOW_WITHOUT_CHAT, False),
        )


async def async_check_speaker(hass: HomeAssistant, policy: Policy, tier: Tier, caller: Caller) -> None:
    """Raise NotAllowedError when the speaker may not use tools of a tier."""
    needed = policy.who_may[tier]
    if needed is Speaker.ANYONE:
        return
    user = await caller.async_user(hass)
    if user is None or not user.is_active:
        raise NotAllowedError(_NOT_KNOWN)
    if needed is Speaker.ADMIN and not user.is_admin:
        raise NotAllowedError(_NOT_ADMIN)


def heard_outside_text(caller: Caller) -> bool:
    """Return whether text from outside the house has come up since the user last spoke.

    The log is read, not the model asked: such text may tell it anything.
    """
    if (chat_log := caller.chat_log) is None:
        return False
    for content in reversed(chat_log.content):
        if isinstance(content, UserContent):
            return False
        if isinstance(content, ToolResultContent) and brings_outside_text(chat_log, content):
            return True
    return False


def brings_outside_text(chat_log: ChatLog, content: ToolResultContent) -> bool:
    """Return whether a result may hold text that strangers wrote."""
    for tool in chat_log.llm_api.tools if chat_log.llm_api else ():
        if tool.name == content.tool_name:
            return is_from_outside(unwrapped(tool))
    # No tool of this house: the model's provider ran it, as it does for web search. What failed brings words of ours only.
    return not (content.result.error and content.result.data.keys() == {"error"})


def is_from_outside(tool: llm.Tool) -> bool:
    """Return whether results of a tool may hold text that strangers wrote: as ours say, or as anybody's declare.

    Home Assistant declares nothing of scripts.
    """
    says: bool = getattr(tool, "brings_outside_text", tool.annotations.open_world and tool.integration != _SCRIPTS)
    return says


def unwrapped(tool: llm.Tool) -> llm.Tool:
    """Return a tool without the names that merged APIs put before its own."""
    return unwrapped(tool.tool) if isinstance(tool, llm.NamespacedTool) else tool


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the user is asked first."""

    key: str
    """"ask_first" or "outside"."""


class PolicedCall(Protocol):
    """What the policy looks at of a call."""

    @property
    def caller(self) -> Caller:
        """Who calls."""

    @property
    def tier(self) -> Tier:
        """How far its tool reaches."""

    @property
    def asks_first(self) -> bool:
        """Whether the options want the user's word before it."""


async def async_reason_to_ask(call: PolicedCall, plan: Plan) -> Reason | None:
    """Return why the user's word is needed before a call, or None."""
    if call.asks_first:
        return Reason("ask_first")
    if call.tier > Tier.READ and heard_outside_text(call.caller):
        return Reason("outside")
    return None

"""Who may do what: tiers, speakers, the user's own word, and distrust of text from outside the house."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
import hashlib
import json
from time import monotonic
from typing import Any, Self

from homeassistant.components.conversation import UserContent
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.hass_dict import HassKey

from ..const import CONF_ALLOW_WITHOUT_CHAT, CONF_ALWAYS_ASK, CONF_ASK_FIRST, CONF_NEVER_ASK, CONF_WHO_MAY, DOMAIN
from ..results import ToolError
from .caller import Caller

CONFIRMATION_TIME = 180.0
"""Seconds in which the user can agree: long enough to be asked and to think, too short to be a surprise later."""

DEFAULT_ASK_FIRST = ("add_automation", "update_automation", "remove_automation", "execute_script")
"""Tools that ask first unless the options say otherwise, without their prefix."""


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
_NO_CHAT = (
    "This needs the user's own word, and there is no conversation in which to give it. It can be done by asking a "
    "conversation agent, or an administrator can allow it in the options of Extended Assist."
)


class NotAllowedError(ToolError):
    """The speaker may not use a tool; the message tells the model what to say."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the options of an entry allow."""

    who_may: Mapping[Tier, Speaker] = field(default_factory=lambda: dict(DEFAULT_WHO_MAY))
    """The least known speaker who may use tools of a tier."""
    ask_first: frozenset[str] = frozenset(DEFAULT_ASK_FIRST)
    """Tools, without their prefix, that ask first."""
    never_ask: frozenset[str] = frozenset()
    """Consequential actions, domains, entities and scripts that do not ask by themselves."""
    always_ask: frozenset[str] = frozenset()
    """Other actions, domains and entities that count as consequential; stronger than never_ask."""
    allow_without_chat: bool = False
    """Whether what asks first may be done where nobody can be asked, such as in a task or over MCP."""

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
            never_ask=frozenset(options.get(CONF_NEVER_ASK, ())),
            always_ask=frozenset(options.get(CONF_ALWAYS_ASK, ())),
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


@dataclass(frozen=True, slots=True)
class _Question:
    """That the user was asked, when, and how many messages they had sent by then."""

    asked: float
    spoken: int


_QUESTIONS: HassKey[dict[bytes, _Question]] = HassKey(f"{DOMAIN}_questions")


def is_confirmed(
    hass: HomeAssistant, policy: Policy, tool_input: llm.ToolInput, caller: Caller, entry_id: str | None = None
) -> bool:
    """Return whether the user, having been asked about exactly this call, has spoken since.

    Bound to the tool, the entry whose toolbox it is of, its arguments, the speaker, the device and the conversation;
    valid in the user's next message only, once, and for CONFIRMATION_TIME. When it is not confirmed, the question counts as asked from now on. Raises
    NotAllowedError where there is no chat log and the options do not allow to go without.
    """
    if (chat_log := caller.chat_log) is None:
        if policy.allow_without_chat:
            return True
        raise NotAllowedError(_NO_CHAT)
    now = monotonic()
    spoken = sum(isinstance(content, UserContent) for content in chat_log.content)
    questions = hass.data.setdefault(_QUESTIONS, {})
    for key in [key for key, question in questions.items() if now - question.asked > CONFIRMATION_TIME]:
        del questions[key]
    key = _fingerprint(tool_input, caller, entry_id)
    question = questions.pop(key, None)
    if question is not None and spoken == question.spoken + 1:
        return True
    questions[key] = _Question(now, spoken)
    return False


def _fingerprint(tool_input: llm.ToolInput, caller: Caller, entry_id: str | None) -> bytes:
    """Return the SHA-256 of a call: its tool, its arguments, and who calls from where in which conversation."""
    whole = [
        *(caller.conversation_id, caller.assistant, caller.user_id, caller.device_id),
        *(entry_id, tool_input.tool_name, tool_input.tool_args),
    ]
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).digest()


def confirmation_needed(preview: str) -> llm.ToolResult:
    """Return the result of a call that waits for the user's word; preview says what it would do."""
    return llm.ToolResult(
        data={
            "done": False,
            "would": preview,
            "next": "Nothing was done yet. Tell the user what would be done and ask whether to do it. When they have "
            "agreed in their next message, call again with exactly the same arguments.",
        }
    )

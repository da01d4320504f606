"""The policy: which speakers may use which tiers, and when the options require the user's word."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Self

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import CAT_ENTITIES, POLICY_CONTROL, SUBCAT_ALL
from homeassistant.core import HomeAssistant, callback

from ..const import (
    CONF_ALLOW_WITHOUT_CHAT,
    CONF_ALWAYS_ASK,
    CONF_ASK_FIRST,
    CONF_ASK_ON_PHONES,
    CONF_NEVER_ASK,
    CONF_WHO_MAY,
)
from ..results import ToolError
from .caller import Caller

DEFAULT_ASK_FIRST = ("add_automation", "update_automation", "remove_automation", "execute_script")
"""Tools that ask first unless the options say otherwise, without their prefix."""


class Tier(IntEnum):
    """How far a tool reaches; a higher tier requires a more trusted speaker."""

    READ = 1
    CONTROL = 2
    ADMINISTER = 3


class Speaker(IntEnum):
    """How well the speaker is known; a satellite without a user is anyone in the room."""

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


class NotHereError(NotAllowedError):
    """The speaker may not use the tool, or cannot confirm it; another user may, and can be asked on their phone."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of an entry."""

    who_may: Mapping[Tier, Speaker] = field(default_factory=lambda: dict(DEFAULT_WHO_MAY))
    """The least trusted speaker who may use tools of a tier."""
    ask_first: frozenset[str] = frozenset(DEFAULT_ASK_FIRST)
    """Tools, without their prefix, that ask first."""
    never_ask: frozenset[str] = frozenset()
    """Consequential actions, domains, entities and scripts that do not ask by themselves."""
    always_ask: frozenset[str] = frozenset()
    """Other actions, domains and entities that count as consequential; stronger than never_ask."""
    allow_without_chat: bool = False
    """Whether calls that ask first may run where nobody can be asked, such as in a task or over MCP."""
    ask_on_phones: frozenset[str] = frozenset()
    """Users who are asked on their phones when the speaker may not make a call or cannot be asked."""

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
            ask_on_phones=frozenset(options.get(CONF_ASK_ON_PHONES, ())),
        )


@callback
def may_control(user: User) -> bool:
    """Return whether a user may control at least one entity, rather than only read."""
    return user.is_admin or any(_grants_control(group.policy.get(CAT_ENTITIES)) for group in user.groups)


def _grants_control(entities: Any) -> bool:
    """Return whether the entity part of a group's policy grants control of at least one entity."""
    if not isinstance(entities, Mapping):
        return entities is True
    for kind, named in entities.items():
        # Under "domains" and the like, each name has its own permissions.
        granted = named.values() if kind != SUBCAT_ALL and isinstance(named, Mapping) else [named]
        if any(one is True or (isinstance(one, Mapping) and one.get(POLICY_CONTROL) is True) for one in granted):
            return True
    return False


async def async_check_speaker(hass: HomeAssistant, policy: Policy, tier: Tier, caller: Caller) -> None:
    """Raise NotHereError when the speaker may not use tools of a tier."""
    needed = policy.who_may[tier]
    if needed is Speaker.ANYONE:
        return
    user = await caller.async_user(hass)
    if user is None or not user.is_active:
        raise NotHereError(_NOT_KNOWN)
    if needed is Speaker.ADMIN and not user.is_admin:
        raise NotHereError(_NOT_ADMIN)

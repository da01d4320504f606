"""The policy: tiers of tools, the speakers who may use them, and options for confirmation."""

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
"""Tools, without their prefix, that need confirmation unless the options change this."""


class Tier(IntEnum):
    """The reach of a tool; a higher tier needs a more trusted speaker."""

    READ = 1
    CONTROL = 2
    ADMINISTER = 3


class Speaker(IntEnum):
    """How well a speaker is known; a satellite without a user can be anyone in the room."""

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
    """The speaker may not use a tool; the message tells the model how to answer."""


class NotHereError(NotAllowedError):
    """The speaker may not use a tool or cannot confirm it here, but another user can be asked elsewhere."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy in the options of an entry."""

    who_may: Mapping[Tier, Speaker] = field(default_factory=lambda: dict(DEFAULT_WHO_MAY))
    """For each tier, the least trusted speaker who may use its tools."""
    ask_first: frozenset[str] = frozenset(DEFAULT_ASK_FIRST)
    """Tools, without their prefix, that need confirmation."""
    never_ask: frozenset[str] = frozenset()
    """Consequential actions, domains, entities and scripts that need no confirmation on their own account."""
    always_ask: frozenset[str] = frozenset()
    """Further actions, domains and entities that count as consequential; they override never_ask."""
    allow_without_chat: bool = False
    """True if calls that need confirmation may run where nobody can be asked, such as in an AI task or over MCP."""
    ask_on_phones: frozenset[str] = frozenset()
    """Users who are asked on their phones if the speaker may not make a call, or nobody else can be asked."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Parse the options of an entry."""
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
    """Return whether the entity policy of a group grants control of at least one entity."""
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

"""Who may do what: tiers of tools and of speakers."""

from enum import IntEnum

from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from .results import ToolError


class Tier(IntEnum):
    """How far a tool reaches; a higher tier asks for a more trusted speaker."""

    READ = 1
    CONTROL = 2
    ADMINISTER = 3


class NotAllowedError(ToolError):
    """The speaker may not use a tool; the message tells the model what to say."""


async def async_get_speaker(hass: HomeAssistant, llm_context: llm.LLMContext) -> User | None:
    """Return the user who speaks, or None for a satellite, which stands for anyone in the room."""
    if not llm_context.context or not llm_context.context.user_id:
        return None
    return await hass.auth.async_get_user(llm_context.context.user_id)


async def async_check(hass: HomeAssistant, tier: Tier, llm_context: llm.LLMContext) -> None:
    """Raise NotAllowedError when the speaker may not use tools of a tier.

    As in Assist, everyone may read and control; only admins may administer.
    """
    if tier < Tier.ADMINISTER:
        return
    speaker = await async_get_speaker(hass, llm_context)
    if speaker is None:
        raise NotAllowedError(
            "Nobody is logged in on this device, so this cannot be done from here. "
            "Tell the user to ask again from the app or browser, logged in as an administrator."
        )
    if not speaker.is_admin:
        raise NotAllowedError("Only an administrator of Home Assistant may do this. Tell the user to ask one.")

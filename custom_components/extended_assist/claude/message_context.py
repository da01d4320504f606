"""What is told with each message of its moment: when it was said and, in a small home, the present."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..calls.caller import Caller
from ..confirmation.untrusted_text import unwrapped
from ..llm_tools.extended_tool import ExtendedTool
from .current_states import Present, describe_present, is_reader, with_legend
from .turn import AgentTurn

_CLOCK = "Each message begins with when it was said, in local time ({time_zone})."


def is_clock(tool: llm.Tool) -> bool:
    """Return whether a tool tells what each message tells already."""
    return tool.integration == "llm" and unwrapped(tool).name.endswith("GetDateTime")


def with_moment(turn: AgentTurn, system: str, present: Present | None) -> str:
    """Return instructions that say what is told with each message."""
    told = f"{system}\n{_CLOCK.format(time_zone=turn.chat_log.hass.config.time_zone)}".strip()
    return with_legend(told) if present else told


async def async_present(turn: AgentTurn) -> Present | None:
    """Return the present as it may be told to who speaks, or None where it may not, or the home is too large for that."""
    chat_log, limit = turn.chat_log, turn.options.present
    if (instance := chat_log.llm_api) is None or not limit:
        return None
    caller = Caller(instance.llm_context, chat_log, chat_log.conversation_id)
    may_look = await _async_may_look(chat_log.hass, instance, caller)
    # Nothing is waited for from here until it is told.
    return describe_present(chat_log.hass, caller.assistant, limit) if may_look else None


async def _async_may_look(hass: HomeAssistant, instance: llm.APIInstance, caller: Caller) -> bool:
    """Return whether a caller has a tool that tells the present, and may use it unasked."""
    for tool in map(unwrapped, instance.tools):
        if isinstance(tool, ExtendedTool) and is_reader(tool) and await tool.async_may(hass, caller):
            return True
    return False

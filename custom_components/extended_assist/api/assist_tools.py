"""The tools of one entry inside Assist itself, so that every agent with Assist has them."""

from dataclasses import dataclass, field
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.util.hass_dict import HassKey

from ..calls.options import ToolboxOptions
from ..confirmation.untrusted_text import unwrapped
from ..const import CONF_FAMILIES, CONF_IN_ASSIST, DOMAIN
from ..llm_tools.extended_tool import ExtendedTool
from ..tools import CATALOGUE, DEFAULT_FAMILIES
from .prompt import ASKS, TOOLS

PROMPT: Final = f"{TOOLS}\n{ASKS}"
"""The instructions for these tools."""


@dataclass(slots=True)
class ToolsInAssist:
    """The tools that an entry adds to Assist, known in advance because Assist asks synchronously."""

    entry_id: str
    options: ToolboxOptions
    kinds: list[type[ExtendedTool]]
    """The tools that the options turn on."""
    available: list[type[ExtendedTool]] = field(default_factory=list)
    """Those tools that were useful in this home at the last check."""

    async def async_look(self, hass: HomeAssistant) -> None:
        """Check which tools are useful in this home now."""
        self.available = [tool for tool in self.kinds if await tool.async_available(hass)]


_OFFERED: HassKey[ToolsInAssist] = HassKey(f"{DOMAIN}_in_assist")


@callback
def async_other_in_assist(hass: HomeAssistant, entry: ConfigEntry) -> ConfigEntry | None:
    """Return another entry that already adds its tools to Assist; models could not distinguish the tools of two entries."""
    entries = hass.config_entries.async_entries(DOMAIN, include_disabled=False)
    return next((one for one in entries if one is not entry and one.options.get(CONF_IN_ASSIST)), None)


async def async_offer_in_assist(hass: HomeAssistant, entry: ConfigEntry) -> CALLBACK_TYPE:
    """Add the tools of an entry to Assist if its options say so and no other entry does; return the function that stops it."""
    if entry.options.get(CONF_IN_ASSIST) and _OFFERED not in hass.data:
        families = entry.options.get(CONF_FAMILIES, DEFAULT_FAMILIES)
        kinds = [tool for tool in CATALOGUE if tool.family in families]
        offered = ToolsInAssist(entry.entry_id, ToolboxOptions.of(entry.options, entry.entry_id), kinds)
        await offered.async_look(hass)
        hass.data[_OFFERED] = offered

    @callback
    def end() -> None:
        if (offered := hass.data.get(_OFFERED)) is not None and offered.entry_id == entry.entry_id:
            del hass.data[_OFFERED]

    return end


@callback
def async_tools_in_assist(hass: HomeAssistant) -> list[llm.Tool]:
    """Return the tools inside Assist, each with the rules of its entry.

    Tools that have become useful since the last check are included the next time; a tool that is no longer useful says so
    itself.
    """
    if (offered := hass.data.get(_OFFERED)) is None:
        return []
    hass.async_create_background_task(offered.async_look(hass), f"{DOMAIN} looks which tools there are")
    return [tool(offered.options) for tool in offered.available]


def without_own(assist: llm.APIInstance) -> llm.APIInstance:
    """Return Assist without our tools, for an API that has them already."""
    tools = [tool for tool in assist.tools if not is_own(tool)]
    if len(tools) == len(assist.tools):
        return assist
    prompt = assist.api_prompt.replace(f"{PROMPT}\n", "").replace(f"\n{PROMPT}", "")
    return llm.APIInstance(assist.api, prompt.replace(PROMPT, ""), assist.llm_context, tools, assist.custom_serializer)


def is_own(tool: llm.Tool) -> bool:
    """Return whether a tool is in our catalogue."""
    return isinstance(unwrapped(tool), CATALOGUE)

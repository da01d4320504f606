"""The tools of one entry inside Assist itself, so that every agent that has Assist has them: what is offered there is known beforehand."""

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
"""What Assist says of them."""


@dataclass(slots=True)
class ToolsInAssist:
    """What an entry offers in Assist; who asks for it cannot wait."""

    entry_id: str
    options: ToolboxOptions
    kinds: list[type[ExtendedTool]]
    """The tools that the options turn on."""
    available: list[type[ExtendedTool]] = field(default_factory=list)
    """Those of them that this home has a use for, as of the last look."""

    async def async_look(self, hass: HomeAssistant) -> None:
        """Look which tools this home has a use for now."""
        self.available = [tool for tool in self.kinds if await tool.async_available(hass)]


_OFFERED: HassKey[ToolsInAssist] = HassKey(f"{DOMAIN}_in_assist")


@callback
def async_other_in_assist(hass: HomeAssistant, entry: ConfigEntry) -> ConfigEntry | None:
    """Return another entry whose tools are to be in Assist: of two, models could not tell whose they call."""
    entries = hass.config_entries.async_entries(DOMAIN, include_disabled=False)
    return next((one for one in entries if one is not entry and one.options.get(CONF_IN_ASSIST)), None)


async def async_offer_in_assist(hass: HomeAssistant, entry: ConfigEntry) -> CALLBACK_TYPE:
    """Offer the tools of an entry in Assist where its options say so and no other entry does; return what ends it."""
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
    """Return the tools that are offered in Assist, each under the rules of its entry.

    What the home has come to have since the last look is offered the next time; what it has lost, the tool says by itself.
    """
    if (offered := hass.data.get(_OFFERED)) is None:
        return []
    hass.async_create_background_task(offered.async_look(hass), f"{DOMAIN} looks which tools there are")
    return [tool(offered.options) for tool in offered.available]


def without_own(assist: llm.APIInstance) -> llm.APIInstance:
    """Return Assist without tools of ours, for an API that has them already."""
    tools = [tool for tool in assist.tools if not is_own(tool)]
    if len(tools) == len(assist.tools):
        return assist
    prompt = assist.api_prompt.replace(f"{PROMPT}\n", "").replace(f"\n{PROMPT}", "")
    return llm.APIInstance(assist.api, prompt.replace(PROMPT, ""), assist.llm_context, tools, assist.custom_serializer)


def is_own(tool: llm.Tool) -> bool:
    """Return whether a tool is one of the catalogue."""
    return isinstance(unwrapped(tool), CATALOGUE)

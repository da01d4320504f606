"""The LLM API of an entry: Assist's tools and our catalogue in one instance, under the same rules."""

from operator import attrgetter
from typing import override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from ..calls.caller import Caller
from ..calls.options import ToolboxOptions
from ..const import CONF_FAMILIES, DOMAIN
from ..functions.manager import added_tools
from ..functions.parameters import as_written
from ..llm_tools.extended_tool import ExtendedTool, ToolboxInstance, policed
from ..tools import CATALOGUE, DEFAULT_FAMILIES
from .assist_tools import without_own
from .prompt import async_api_prompt


@callback
def api_id(entry_id: str) -> str:
    """Return the id of the API that a config entry registers."""
    return f"{DOMAIN}-{entry_id}"


class ExtendedAssistAPI(llm.API):
    """Assist's tools and our own, as one API for any conversation agent."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Register under the entry's title, with the families that its options turn on."""
        super().__init__(hass=hass, id=api_id(entry.entry_id), name=entry.title)
        self._families = entry.options.get(CONF_FAMILIES, DEFAULT_FAMILIES)
        self._entry_id = entry.entry_id
        self._options = ToolboxOptions.of(entry.options, entry.entry_id)

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return Assist's instance with our tools and prompt."""
        instance, own = await self.async_get_tools(llm_context)
        # Nothing is waited for between Assist's answer and this, so that the prompt tells of the home as it is now.
        instance.api_prompt = await async_api_prompt(
            self.hass, instance.api_prompt, own, Caller.of(llm_context), self._options
        )
        return instance

    async def async_get_tools(self, llm_context: llm.LLMContext) -> tuple[ToolboxInstance, list[ExtendedTool]]:
        """Return all tools, with Assist's prompt only, and the tools that are our own.

        Use it to list or call tools manually, where our prompt, which describes the whole home, is not needed.
        """
        tools: list[ExtendedTool] = [
            tool(self._options)
            for tool in CATALOGUE
            if tool.family in self._families and await tool.async_available(self.hass)
        ]
        assist = without_own(await llm.async_get_api(self.hass, llm.LLM_API_ASSIST, llm_context))
        taken = [tool.name for tool in (*assist.tools, *tools)]
        tools += (added := added_tools(self.hass, self._entry_id, self._options, taken))
        instance = ToolboxInstance(
            api=self,
            api_prompt=assist.api_prompt,
            llm_context=llm_context,
            # Assist's order is that in which things were loaded; another one after a restart would cost a cached prefix.
            tools=[*policed(self.hass, sorted(assist.tools, key=attrgetter("name")), self._options), *tools],
            custom_serializer=as_written(assist.custom_serializer) if added else assist.custom_serializer,
        )
        return instance, tools


async def async_get_tools(hass: HomeAssistant, entry_id: str, llm_context: llm.LLMContext) -> llm.APIInstance:
    """Return the tools of an entry; raises HomeAssistantError if it has none."""
    for api in llm.async_get_apis(hass):
        if isinstance(api, ExtendedAssistAPI) and api.id == api_id(entry_id):
            return (await api.async_get_tools(llm_context))[0]
    return await llm.async_get_api(hass, api_id(entry_id), llm_context)  # Says that there is none.

"""Home Assistant's platform for LLM tools: the tools that an entry adds to Assist, if its options say so."""

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.llm import LLM_API_ASSIST, LLMContext

from .api.assist_tools import PROMPT, async_tools_in_assist


@callback
def async_get_tools(hass: HomeAssistant, llm_context: LLMContext, api_id: str) -> LLMTools | None:
    """Return the tools for Assist."""
    tools = async_tools_in_assist(hass) if api_id == LLM_API_ASSIST else []
    return LLMTools(tools, PROMPT) if tools else None

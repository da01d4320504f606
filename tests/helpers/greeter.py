"""A small integration, as others write them: it registers a tool of each kind."""

from enum import Enum
from typing import Annotated, Any, Literal

import voluptuous as vol

from custom_components.extended_assist.registry import FunctionTool, async_register_tool, llm_tool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

DOMAIN = "greeter"
READ_ONLY = llm.ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=False)


class Tone(Enum):
    """How to speak."""

    WARM = "warm"
    COLD = "cold"


class GreetTool(llm.Tool):
    """A tool as Home Assistant has them."""

    name = "greet"
    description = "Greets somebody."
    parameters = vol.Schema({vol.Required("name", description="Who."): str})
    annotations = READ_ONLY
    integration = DOMAIN

    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Greet."""
        if tool_input.tool_args["name"] == "nobody":
            return llm.ToolResult({"error": "Nobody cannot be greeted."}, error=True)
        return llm.ToolResult({"greeting": f"Hello {tool_input.tool_args['name']}"})


def add(first: Annotated[int, "A number."], second: int = 2) -> int:
    """Add two numbers."""
    return first + second


async def async_setup(hass: HomeAssistant, config: dict[str, Any]) -> bool:
    """Register a tool, a function, and a decorated function."""
    async_register_tool(hass, GreetTool())
    async_register_tool(hass, FunctionTool(add, annotations=READ_ONLY))

    @llm_tool(hass)
    async def compliment(
        hass: HomeAssistant,
        device_id: str | None,
        user_prompt: str | None,
        names: Annotated[list[str], "Who is meant."],
        tone: Tone = Tone.WARM,
        style: Literal["short", "long"] = "short",
        times: float = 1,
        loud: bool = False,
        more: dict[str, int] | None = None,
    ) -> dict[str, Any]:
        """Say something nice.

        To one or more.
        """
        assert isinstance(tone, Tone)
        hass.states.async_set("greeter.last", tone.value)
        return {"names": names, "tone": tone.name, "device": device_id, "asked": user_prompt, "more": more}

    return True

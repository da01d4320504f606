"""Tools that other integrations register. See docs/developers.md."""

from collections.abc import Callable
from typing import override

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.util.hass_dict import HassKey

from ..calls.call import ToolCall
from ..calls.options import ToolboxOptions
from ..const import DOMAIN
from ..llm_tools.extended_tool import DEADLINE, PolicedTool
from ..results import ToolError, enforce
from ..tools import CATALOGUE
from ..web.conversation import WebMemory
from .function_tool import TOOL_NAME, FunctionTool, PlainFunction, integration_of

__all__ = ["FunctionTool", "ToolNameError", "async_register_tool", "async_remove_tool", "llm_tool"]

_TOOLS: HassKey[dict[str, llm.Tool]] = HassKey(f"{DOMAIN}_registered_tools")


class ToolNameError(HomeAssistantError):
    """The name of a tool is invalid or in use."""


class RegisteredTool(PolicedTool):
    """A tool of another integration, called like our own."""

    family = "functions"
    deadline = DEADLINE

    def __init__(self, tool: llm.Tool, options: ToolboxOptions | None = None) -> None:
        """Store a tool."""
        super().__init__(tool, options)
        self.integration = owner_of(tool)

    @override
    def current_options(self, hass: HomeAssistant) -> ToolboxOptions:
        """Return the current options; raises ToolError if its integration has removed the tool."""
        options = super().current_options(hass)
        if not options.is_fixed and self.tool not in hass.data.get(_TOOLS, {}).values():
            raise ToolError(
                f"{self.name} was removed by the integration that brought it. Nothing was done; tell the user."
            )
        return options

    @override
    async def async_result(self, call: ToolCall) -> llm.ToolResult:
        """Return the tool's result, cut to the budget."""
        if self.annotations.open_world and not call.options.is_fixed:
            WebMemory.of(call.hass).count_request(call.caller, self.name)
        result = await super().async_result(call)
        return llm.ToolResult(data=enforce(result.data, call.budget), error=result.error)


@callback
def async_register_tool(hass: HomeAssistant, tool: llm.Tool) -> Callable[[], None]:
    """Add a tool to all toolboxes, current and later ones; return the function that removes it.

    Raises ToolNameError if the name is in use or models do not accept it.
    """
    if not TOOL_NAME.fullmatch(tool.name):
        raise ToolNameError(f"'{tool.name}' is no name for a tool: letters, digits, _ and - only, 64 at most")
    tools = hass.data.setdefault(_TOOLS, {})
    taken_by = owner_of(tools[tool.name]) if tool.name in tools else None
    if taken_by is None and any(tool.name == own.name for own in CATALOGUE):
        taken_by = DOMAIN
    if taken_by is not None:
        raise ToolNameError(
            f"The tool '{tool.name}' of integration {owner_of(tool)} cannot be registered: "
            f"integration {taken_by} has one of that name"
        )
    tools[tool.name] = tool

    @callback
    def remove() -> None:
        if tools.get(tool.name) is tool:
            del tools[tool.name]

    return remove


@callback
def async_remove_tool(hass: HomeAssistant, tool: llm.Tool | str) -> None:
    """Remove a tool if it is registered."""
    name = tool if isinstance(tool, str) else tool.name
    hass.data.get(_TOOLS, {}).pop(name, None)


def llm_tool(
    hass: HomeAssistant, *, annotations: llm.ToolAnnotations | None = None
) -> Callable[[PlainFunction], PlainFunction]:
    """Decorate a function to register it as a tool; the function itself is unchanged."""

    def register(function: PlainFunction) -> PlainFunction:
        async_register_tool(hass, FunctionTool(function, annotations=annotations))
        return function

    return register


@callback
def registered_tools(hass: HomeAssistant, options: ToolboxOptions) -> list[RegisteredTool]:
    """Return the registered tools by name, so that restarts do not change their order and the server's cache stays valid."""
    return [RegisteredTool(tool, options) for _, tool in sorted(hass.data.get(_TOOLS, {}).items())]


def owner_of(tool: llm.Tool) -> str:
    """Return the integration of a tool, which it names itself or by the module of its class."""
    return tool.integration or integration_of(type(tool).__module__)

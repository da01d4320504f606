"""The public door: tools that other integrations add to the toolbox. See docs/developers.md."""

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
    """A name that a tool cannot have."""


class RegisteredTool(PolicedTool):
    """A tool of another integration, called as our own are."""

    family = "functions"
    deadline = DEADLINE

    def __init__(self, tool: llm.Tool, options: ToolboxOptions | None = None) -> None:
        """Take a tool as it declares itself."""
        super().__init__(tool, options)
        self.integration = owner_of(tool)

    @override
    def current_options(self, hass: HomeAssistant) -> ToolboxOptions:
        """Return the options of now; raises ToolError where its integration has removed the tool."""
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
    """Add a tool to every toolbox, at once and before any is set up; return what removes it.

    Raises ToolNameError for a name that is taken or that models do not accept.
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
    """Remove a tool; one that is not there is no error."""
    name = tool if isinstance(tool, str) else tool.name
    hass.data.get(_TOOLS, {}).pop(name, None)


def llm_tool(
    hass: HomeAssistant, *, annotations: llm.ToolAnnotations | None = None
) -> Callable[[PlainFunction], PlainFunction]:
    """Register a function as a tool, as a decorator; the function itself stays as it is."""

    def register(function: PlainFunction) -> PlainFunction:
        async_register_tool(hass, FunctionTool(function, annotations=annotations))
        return function

    return register


@callback
def registered_tools(hass: HomeAssistant, options: ToolboxOptions) -> list[RegisteredTool]:
    """Return the registered tools, ordered by name: another order after a restart would cost a cached prefix."""
    return [RegisteredTool(tool, options) for _, tool in sorted(hass.data.get(_TOOLS, {}).items())]


def owner_of(tool: llm.Tool) -> str:
    """Return the integration of a tool: as it says, or by the module of its class."""
    return tool.integration or integration_of(type(tool).__module__)

"""The parameters of one tool call."""

from dataclasses import dataclass, field
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..exposure.entities import Exposure
from ..results import ToolError
from .caller import Caller
from .change_recorder import Recording
from .options import ToolboxOptions
from .policy import Tier

MAX_ERROR = 1_000
"""Maximum characters of an error: enough for the problem and the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The parameters of one tool call."""

    hass: HomeAssistant
    arguments: dict[str, Any]
    """The arguments, validated by the tool's schema."""
    exposure: Exposure
    caller: Caller
    options: ToolboxOptions
    tool_input: llm.ToolInput | None = None
    """The original tool input, for tools of other integrations."""
    tier: Tier = Tier.READ
    """The tier of the tool."""
    is_open: bool = False
    """True if the tool declares an open world."""
    sends: bool = False
    """True if the tool sends its arguments to a server on the internet."""
    asks_first: bool = False
    """True if the options require confirmation of the tool."""
    family: str | None = None
    """The family of tools that must be on for the call; None if no family matters."""
    agent: str | None = None
    """The subentry id of our agent that calls; None for other agents."""
    recording: Recording = field(default_factory=Recording)
    """Records the effects of the call, for its outcome and for undo."""

    @property
    def llm_context(self) -> llm.LLMContext:
        """Return Home Assistant's LLMContext of the caller."""
        return self.caller.llm_context

    @property
    def budget(self) -> int:
        """Return the maximum characters of the result."""
        return self.options.budget


class RefusedResult(llm.ToolResult):
    """The result of a refused call with its ToolError, for code that shows the error to a person."""

    cause: ToolError
    """The error; no dataclass field, because Home Assistant writes the fields of results as JSON."""

    @classmethod
    def of(cls, result: llm.ToolResult, cause: ToolError) -> RefusedResult:
        """Return the result with its cause."""
        refused = cls(data=result.data, error=result.error)
        refused.cause = cause
        return refused


def failure(message: str) -> llm.ToolResult:
    """Return an error result; a message longer than MAX_ERROR is cut."""
    if len(message) > MAX_ERROR:
        message = f"{message[:MAX_ERROR]} … [cut: {len(message) - MAX_ERROR} more characters]"
    return llm.ToolResult(data={"error": message}, error=True)

"""The data of one tool call."""

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
"""The most characters of an error: enough for the cause and the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call: its arguments, caller, options and recording."""

    hass: HomeAssistant
    arguments: dict[str, Any]
    """The arguments, validated by the tool's schema."""
    exposure: Exposure
    caller: Caller
    options: ToolboxOptions
    tool_input: llm.ToolInput | None = None
    """The original call, for tools of other integrations."""
    tier: Tier = Tier.READ
    """The tier of the tool."""
    is_open: bool = False
    """Whether the tool reaches beyond the home."""
    sends: bool = False
    """Whether the tool sends its arguments to a server on the internet."""
    asks_first: bool = False
    """Whether the options require the user's word before the call."""
    family: str | None = None
    """The family of tools that must be on; None if the call depends on no family."""
    agent: str | None = None
    """The subentry id of our agent that calls; None for other agents."""
    recording: Recording = field(default_factory=Recording)
    """Records what the call does, for its outcome and for undo."""

    @property
    def llm_context(self) -> llm.LLMContext:
        """Return Home Assistant's own description of the caller."""
        return self.caller.llm_context

    @property
    def budget(self) -> int:
        """Return the most characters of the result."""
        return self.options.budget


class RefusedResult(llm.ToolResult):
    """The result of a refused call, with its error for code that shows it to a person."""

    cause: ToolError
    """No field, because Home Assistant writes the fields of results as JSON."""

    @classmethod
    def of(cls, result: llm.ToolResult, cause: ToolError) -> RefusedResult:
        """Return a result with its cause."""
        refused = cls(data=result.data, error=result.error)
        refused.cause = cause
        return refused


def failure(message: str) -> llm.ToolResult:
    """Return an error result."""
    if len(message) > MAX_ERROR:
        message = f"{message[:MAX_ERROR]} … [cut: {len(message) - MAX_ERROR} more characters]"
    return llm.ToolResult(data={"error": message}, error=True)

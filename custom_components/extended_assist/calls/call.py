"""What a tool is given for one call."""

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
"""Characters of an error: enough for what went wrong and what to do next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """All that a tool is given for one call."""

    hass: HomeAssistant
    arguments: dict[str, Any]
    """The arguments, validated by the tool's schema."""
    exposure: Exposure
    caller: Caller
    options: ToolboxOptions
    tool_input: llm.ToolInput | None = None
    """The call as it came, for tools that others wrote."""
    tier: Tier = Tier.READ
    """How far the tool reaches."""
    is_open: bool = False
    """Whether the tool reaches beyond the home."""
    sends: bool = False
    """Whether the tool sends its arguments out of the house."""
    asks_first: bool = False
    """Whether the options want the user's word before it."""
    family: str | None = None
    """The family of tools that must be on for the call; None for a call that depends on none."""
    agent: str | None = None
    """The agent of ours that calls, by its subentry; None for anybody else's."""
    recording: Recording = field(default_factory=Recording)
    """Takes what the call does, so that it can be looked at and undone."""

    @property
    def llm_context(self) -> llm.LLMContext:
        """Return Home Assistant's own description of the caller."""
        return self.caller.llm_context

    @property
    def budget(self) -> int:
        """Return how many characters the result may have."""
        return self.options.budget


class RefusedResult(llm.ToolResult):
    """The result of a call that was refused, with the error that refused it, for who tells it to a person."""

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

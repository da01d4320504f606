"""The one way a tool is called."""

from abc import abstractmethod
import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar, final, override

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.util.json import JsonObjectType

from ..const import DOMAIN, LOGGER
from ..exposure import Exposure
from ..policy import Tier, async_check
from ..results import DEFAULT_BUDGET, ToolError, enforce

DEADLINE = 10.0
"""Seconds that a tool may take: longer than any answer from a healthy recorder, shorter than a speaker waits in silence."""

READ_ONLY = llm.ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """All that a tool is given for one call."""

    hass: HomeAssistant
    arguments: dict[str, Any]
    """The arguments, validated by the tool's schema."""
    exposure: Exposure
    llm_context: llm.LLMContext
    budget: int
    """Characters that the result may have."""


class ExtendedTool(llm.Tool):
    """A tool of the toolbox: a family declares it and says in async_run what it does."""

    integration = DOMAIN
    family: ClassVar[str]
    tier: ClassVar[Tier]
    deadline: ClassVar[float] = DEADLINE
    title: str
    description: str
    annotations: llm.ToolAnnotations

    def __init__(self, budget: int = DEFAULT_BUDGET, statistics: Iterable[str] = ()) -> None:
        """Take the size of a result, in characters, and the external statistics that the options make visible."""
        self._budget = budget
        self._statistics = tuple(statistics)

    @classmethod
    async def async_available(cls, hass: HomeAssistant) -> bool:
        """Return whether this home has what the tool is about; otherwise it is not offered."""
        return True

    @abstractmethod
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Answer a call; raise ToolError with a sentence that teaches."""

    @final
    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Validate, ask the policy, run under the deadline, cut to the budget; failures become results."""
        try:
            arguments = self.parameters(tool_input.tool_args)
            await async_check(hass, self.tier, llm_context)
            call = ToolCall(
                hass=hass,
                arguments=arguments,
                exposure=Exposure(hass, llm_context.assistant, self._statistics),
                llm_context=llm_context,
                budget=self._budget,
            )
            async with asyncio.timeout(self.deadline):
                data = await self.async_run(call)
        except vol.Invalid as err:
            return failure(f"{self.name} was called with wrong arguments: {err}. Correct them and call again.")
        except ToolError as err:
            return failure(str(err))
        except TimeoutError:
            return failure(
                f"{self.name} took longer than {self.deadline:g} seconds. Ask for less, such as a shorter span."
            )
        except Exception:  # noqa: BLE001 - whatever a tool does, the turn goes on
            LOGGER.exception("Unexpected error in tool %s", self.name)
            return failure(f"{self.name} failed unexpectedly; the details are in Home Assistant's log.")
        return llm.ToolResult(data=enforce(data, self._budget))


class ToolboxInstance(llm.APIInstance):
    """An API instance in which no tool, whoever wrote it, can end a turn."""

    @override
    async def async_call_tool(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Call a tool; an unknown tool and any failure become a result that the model can act on."""
        names = [tool.name for tool in self.tools]
        if tool_input.tool_name not in names:
            return unknown_tool(tool_input.tool_name, names)
        try:
            return await super().async_call_tool(tool_input)
        except (HomeAssistantError, vol.Invalid) as err:
            return failure(str(err) or type(err).__name__)
        except Exception:  # noqa: BLE001 - tools of other integrations may raise anything, and the turn goes on
            LOGGER.exception("Unexpected error in tool %s", tool_input.tool_name)
            return failure(f"{tool_input.tool_name} failed unexpectedly; the details are in Home Assistant's log.")


def guarded(instance: llm.APIInstance) -> ToolboxInstance:
    """Return an API instance, of any API, whose tools cannot end a turn."""
    if isinstance(instance, ToolboxInstance):
        return instance
    return ToolboxInstance(
        api=instance.api,
        api_prompt=instance.api_prompt,
        llm_context=instance.llm_context,
        tools=instance.tools,
        custom_serializer=instance.custom_serializer,
    )


def failure(message: str) -> llm.ToolResult:
    """Return an error result."""
    return llm.ToolResult(data={"error": message}, error=True)


def unknown_tool(name: str, known: list[str]) -> llm.ToolResult:
    """Return the error result for a tool that does not exist, with the nearest that do."""
    nearest = get_close_matches(name, known, n=3, cutoff=0.3)
    hint = f"Nearest: {', '.join(nearest)}." if nearest else "Use only the tools in the list."
    return failure(f"There is no tool named '{name}'. {hint}")

"""The one way a tool is called."""

from abc import abstractmethod
import asyncio
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import ClassVar, final, override

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import JsonObjectType

from ..call import ToolboxOptions, ToolCall
from ..const import DOMAIN, LOGGER
from ..exposure import Exposure
from ..journal import Recording, async_get_journal, recording
from ..policy import Policy, Tier, async_check_speaker, confirmation_needed, heard_outside_text, is_confirmed
from ..results import ToolError, enforce

DEADLINE = 10.0
"""Seconds that a tool may take: longer than any answer from a healthy recorder, shorter than a speaker waits in silence."""

READ_ONLY = llm.ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=False)


class ExtendedTool(llm.Tool):
    """A tool of the toolbox: a family declares it and says in async_run what it does."""

    integration = DOMAIN
    family: ClassVar[str]
    tier: Tier
    deadline: float = DEADLINE
    brings_outside_text: bool = False
    """Whether results hold text that strangers wrote, which must not move the house."""
    can_be_undone: ClassVar[bool] = True
    """Whether the states that a call changes are recorded; never those of a tool that only reads."""
    title: str
    description: str
    annotations: llm.ToolAnnotations

    def __init__(self, options: ToolboxOptions | None = None) -> None:
        """Take what the options of the entry say."""
        self._options = options or ToolboxOptions()

    @classmethod
    async def async_available(cls, hass: HomeAssistant) -> bool:
        """Return whether this home has what the tool is about; otherwise it is not offered."""
        return True

    @abstractmethod
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Answer a call; raise ToolError with a sentence that teaches."""

    async def async_preview(self, call: ToolCall) -> str:
        """Return what a call would do, in words that a person can hear; raises ToolError when it cannot be done."""
        return f"{self.title}: {json_dumps(call.arguments)}"

    def asks_first(self, call: ToolCall) -> bool:
        """Return whether the options want the user's word before a call."""
        return self.name.removeprefix(f"{DOMAIN}__") in self._options.policy.ask_first

    @final
    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Validate, ask the policy, run under the deadline, cut to the budget; failures become results."""
        policy = self._options.policy
        try:
            arguments = self.parameters(tool_input.tool_args)
            await async_check_speaker(hass, policy, self.tier, llm_context)
            call = ToolCall(
                hass=hass,
                arguments=arguments,
                exposure=Exposure(hass, llm_context.assistant, self._options.external_statistics),
                llm_context=llm_context,
                options=self._options,
                tool_input=tool_input,
            )
            async with asyncio.timeout(self.deadline):
                if self.asks_first(call) or (self.tier > Tier.READ and heard_outside_text()):
                    preview = await self.async_preview(call)
                    if not is_confirmed(hass, policy, tool_input, llm_context):
                        return confirmation_needed(preview)
                data = await self._async_run_recorded(call)
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
        return llm.ToolResult(data=enforce(data, self._options.budget))

    async def _async_run_recorded(self, call: ToolCall) -> JsonObjectType:
        """Run, and record what is changed so that it can be undone."""
        if self.tier is Tier.READ or not self.can_be_undone:
            return await self.async_run(call)
        call.recording.what = self.name
        journal = await async_get_journal(call.hass)
        with recording(call.hass, journal, call.exposure, call.llm_context, call.recording):
            return await self.async_run(call)


@dataclass
class ToolboxInstance(llm.APIInstance):
    """An API instance in which every tool, whoever wrote it, obeys the policy, and none can end a turn."""

    policy: Policy = field(default_factory=Policy)

    @override
    async def async_call_tool(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Call a tool; an unknown tool and any failure become a result that the model can act on."""
        tool = next((tool for tool in self.tools if tool.name == tool_input.tool_name), None)
        if tool is None:
            return unknown_tool(tool_input.tool_name, [tool.name for tool in self.tools])
        try:
            if not isinstance(tool, ExtendedTool):
                if refusal := await self._async_ask_policy(tool, tool_input):
                    return refusal
                if not tool.annotations.read_only:
                    return await self._async_call_recorded(tool_input)
            return await super().async_call_tool(tool_input)
        except (HomeAssistantError, vol.Invalid) as err:
            return failure(str(err) or type(err).__name__)
        except Exception:  # noqa: BLE001 - tools of other integrations may raise anything, and the turn goes on
            LOGGER.exception("Unexpected error in tool %s", tool_input.tool_name)
            return failure(f"{tool_input.tool_name} failed unexpectedly; the details are in Home Assistant's log.")

    async def _async_call_recorded(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Call a tool of others, and record what it changes so that it can be undone."""
        hass, context = self.api.hass, self.llm_context
        exposure, recorded = Exposure(hass, context.assistant), Recording(tool_input.tool_name)
        with recording(hass, await async_get_journal(hass), exposure, context, recorded):
            return await super().async_call_tool(tool_input)

    async def _async_ask_policy(self, tool: llm.Tool, tool_input: llm.ToolInput) -> llm.ToolResult | None:
        """Return what stands against calling a tool that does not ask by itself, such as Assist's, or None."""
        hass, context = self.api.hass, self.llm_context
        tier = Tier.READ if tool.annotations.read_only else Tier.CONTROL
        await async_check_speaker(hass, self.policy, tier, context)
        if tier > Tier.READ and heard_outside_text() and not is_confirmed(hass, self.policy, tool_input, context):
            return confirmation_needed(f"{tool.title or tool.name}: {json_dumps(tool_input.tool_args)}")
        return None


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

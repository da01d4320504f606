"""The base class through which each tool call runs, and its wrapper for tools of other integrations."""

from abc import abstractmethod
import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, ClassVar, final, override

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import JsonObjectType

from ..calls.activity import ActivityKind, tell
from ..calls.background_calls import LONGEST, async_cut_off, async_finish, async_watched
from ..calls.call import RefusedResult, ToolCall, check_arguments, failure
from ..calls.caller import Caller, in_context_of_its_own
from ..calls.change_recorder import Recording, recording
from ..calls.journal import async_get_journal
from ..calls.options import MEMORY, WISHES, ToolboxOptions
from ..calls.outcome import COUNTS, as_seen, with_outcome
from ..calls.plan import Plan, Step
from ..calls.policy import NotAllowedError, NotHereError, Tier, async_check_speaker
from ..confirmation.approval_requests import async_ask_others
from ..confirmation.confirmation_reason import could_tell
from ..confirmation.question import agent_of, async_ask
from ..confirmation.recheck import async_check_user, current_options
from ..confirmation.untrusted_text import (
    async_checked,
    async_mark_free_names,
    is_from_outside,
    marked,
    offered,
    remember,
    unwrapped,
)
from ..const import DOMAIN
from ..exposure.entities import Exposure, async_error_text
from ..exposure.safe_log import log_unexpected
from ..results import FreeTextError, ToolError, enforce
from ..worker.interruptible import async_pause
from .intent_plans import is_complete, plan_of

DEADLINE = 10.0
"""Default deadline in seconds: longer than a healthy recorder needs, shorter than a speaker waits in silence."""


READ_ONLY = llm.ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=False)


class ExtendedTool(llm.Tool):
    """A tool that applies our rules to each call, for any API or agent that calls it.

    A family declares its tools, and implements them in async_run.
    """

    integration = DOMAIN
    family: ClassVar[str]
    tier: Tier
    deadline: float = DEADLINE
    """Seconds after which a call that reads is cancelled, and one that acts continues in the background."""
    brings_outside_text: bool = False
    """True if results may hold untrusted text, which must not control the home."""
    sends: bool = False
    """True if the tool sends its arguments, which can be private, to a server on the internet."""
    can_be_undone: ClassVar[bool] = True
    """True if state changes of a call are recorded; a tool that only reads never records any."""
    asks_others: ClassVar[bool] = True
    """True if users named in the options may approve, and be shown, a call that the speaker may not make."""
    shows_success: bool = False
    """True if code can verify the success of a call without the model."""
    needs_family: ClassVar[bool] = True
    """True if calls are refused while its family is off in the options."""
    reads_conversation: bool = False
    """True if the tool may read the current conversation itself, as tools of other integrations may."""
    happens: ClassVar[ActivityKind] = ActivityKind.ACTED
    """The kind of the activity event of a call that acts."""
    title: str
    description: str
    annotations: llm.ToolAnnotations

    def __init__(self, options: ToolboxOptions | None = None) -> None:
        """Store the entry's options; each call reads their current values."""
        self._options = options or ToolboxOptions()

    @override
    def __eq__(self, other: object) -> bool:
        """Return whether another tool is the same with equal options: merged APIs keep one of equal tools."""
        if not isinstance(other, ExtendedTool) or type(other) is not type(self) or other.name != self.name:
            return False
        return other.parameters is self.parameters and other._options == self._options

    @override
    def __hash__(self) -> int:
        """Return the hash of the name, which equal tools share."""
        return hash(self.name)

    @property
    def is_told(self) -> bool:
        """False if activity events do not report the calls: tools for memory and for scheduled tasks."""
        return self.family not in (MEMORY, WISHES)

    @property
    def checked_within(self) -> float:
        """Timeout in seconds of the checks before a call; planning a call can take as long as the call itself."""
        return max(self.deadline, DEADLINE)

    @classmethod
    async def async_available(cls, hass: HomeAssistant) -> bool:
        """Return whether this home can use the tool; otherwise the tool is not offered."""
        return True

    def current_options(self, hass: HomeAssistant) -> ToolboxOptions:
        """Return the current options for a call; raise ToolError if the tool is not available any more."""
        return current_options(hass, self._options, self.family if self.needs_family else None)

    @abstractmethod
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Return the data of the result; raise ToolError with a sentence that tells the model the next step."""

    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of a call for the current state of the home; raise ToolError if the call is impossible."""
        words = f"{self.title}: {json_dumps(call.arguments)}"
        return Plan((Step(self.name.replace("__", ".", 1), (), call.arguments, words),), words)

    def asks_first(self, call: ToolCall) -> bool:
        """Return whether the options require confirmation for this tool."""
        return self.name.removeprefix(f"{DOMAIN}__") in call.options.policy.ask_first

    async def async_may(self, hass: HomeAssistant, caller: Caller) -> bool:
        """Return whether a caller may call the tool now and the options do not require confirmation for it."""
        try:
            policy = self._options.as_of_now(hass).policy
            await async_check_speaker(hass, policy, self.tier, caller)
        except ToolError:
            return False
        return self.name.removeprefix(f"{DOMAIN}__") not in policy.ask_first

    def validated(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments, converted by the schema; raise vol.Invalid if they do not match."""
        valid: dict[str, Any] = self.parameters(arguments)
        return valid

    async def async_result(self, call: ToolCall) -> llm.ToolResult:
        """Return the result of a call, cut to the budget, with room for the outcome if the tool acts."""
        room = call.budget - (COUNTS if self.tier > Tier.READ else 0)
        return llm.ToolResult(data=enforce(await self.async_run(call), room))

    @final
    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Validate, check the policy, run with the deadline and record changes; return failures as error results."""
        acts = self.tier > Tier.READ
        caller = Caller.of(in_context_of_its_own(llm_context) if acts else llm_context)
        result = await self._async_guarded(self._async_checked(hass, tool_input, caller, acts=acts))
        await async_mark_free_names(hass, result, str(tool_input.tool_args) if acts else "")
        remember(hass, caller, self, result)
        return result

    async def _async_checked(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, caller: Caller, *, acts: bool
    ) -> llm.ToolResult:
        """Validate and check a call, run it if it needs no confirmation, and return its result."""
        options = self.current_options(hass)
        check_arguments(tool_input.tool_args)
        arguments = self.validated(tool_input.tool_args)
        call = ToolCall(
            hass=hass,
            arguments=arguments,
            exposure=Exposure(hass, caller.assistant, options.external_statistics),
            caller=caller,
            options=options,
            tool_input=tool_input,
            tier=self.tier,
            is_open=self.annotations.open_world,
            sends=self.sends,
            recording=Recording(self.name, is_told=options.is_told and self.is_told),
            family=self.family if self.needs_family else None,
            agent=agent_of(hass, caller),
        )
        try:
            async with asyncio.timeout(self.checked_within):
                if asked := await self._async_asked(call, acts=acts):
                    return asked
        except TimeoutError as err:
            raise ToolError(
                f"{self.name} took too long to be checked. Nothing was begun; it can be called again."
            ) from err
        if acts:
            work = self._async_begun(call)
            return await async_finish(call, self.name, work, self.deadline, reads_conversation=self.reads_conversation)
        if (result := await async_cut_off(hass, self.async_result(call), self.deadline)) is None:
            raise ToolError(
                f"{self.name} took longer than {self.deadline:g} seconds. Ask for less, such as a shorter span."
            )
        return result

    async def _async_asked(self, call: ToolCall, *, acts: bool) -> llm.ToolResult | None:
        """Return the result of _async_question, and fire an activity event for a question or a refusal."""
        try:
            asked = await self._async_question(call, acts=acts)
        except NotAllowedError:
            tell(call, ActivityKind.REFUSED)
            raise
        if asked is not None:
            tell(call, ActivityKind.ASKED)
        return asked

    async def _async_question(self, call: ToolCall, *, acts: bool) -> llm.ToolResult | None:
        """Return the result of a call that waits for confirmation, None if it may run; raise NotAllowedError."""
        try:
            await async_check_speaker(call.hass, call.options.policy, self.tier, call.caller)
            if self.asks_first(call):
                call = replace(call, asks_first=True)
            if acts or call.asks_first or could_tell(call):
                await async_check_user(call.hass, call.caller)
                call.recording.plan = plan = await self.async_plan(call)
                await async_pause(plan.size)
                asked = await async_ask(call, plan)
                await async_pause(plan.size)
                return asked
        except NotHereError as refusal:
            if not acts or not self.asks_others:
                raise
            return await async_ask_others(call, refusal, self, self._async_begun)
        return None

    async def _async_guarded(self, work: Awaitable[llm.ToolResult]) -> llm.ToolResult:
        """Await a result; return errors as an error result."""
        try:
            return await work
        except vol.Invalid as err:
            return failure(f"{self.name} was called with wrong arguments: {err}. Correct them and call again.")
        except ToolError as err:
            result = failure(await async_error_text(err))
            result.data = marked(result.data, when=isinstance(err, FreeTextError))
            return RefusedResult.of(result, err)
        except TimeoutError:
            if self.tier > Tier.READ:
                return failure(f"{self.name} ran out of time; look at what became of the entities.")
            return failure(f"{self.name} took too long. Ask for less, such as a shorter span.")
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise  # The caller of this task has cancelled it.
            return failure(f"{self.name} broke off by itself; whether it took effect is unknown.")
        except Exception:  # noqa: BLE001 - whatever a tool does, the turn goes on
            log_unexpected(f"in a tool, {type(self).__name__} of {self.integration}")
            return failure(f"{self.name} failed unexpectedly; the details are in Home Assistant's log.")

    async def _async_begun(self, call: ToolCall) -> llm.ToolResult:
        """Run the planned call and fire activity events for its start and failure."""
        tell(call, self.happens)
        result = await self._async_guarded(self._async_act(call))
        if result.error:
            tell(call, ActivityKind.FAILED)
        return result

    async def _async_act(self, call: ToolCall) -> llm.ToolResult:
        """Run the call, record its changes for undo, and add the outcome of the entities."""
        if not self.can_be_undone:
            return await self.async_result(call)
        journal = await async_get_journal(call.hass)
        with recording(call.hass, journal, call.exposure, call.caller, call.recording, entry_id=call.options.entry_id):
            result = await async_watched(call.hass, self.async_result(call))
            call.recording.failed = result.error
            if not result.error:
                await call.recording.async_settle(call.hass)
            await async_pause(len(call.recording.acts))
        if result.error:
            return result
        await async_pause(len(call.recording.acts))
        result = with_outcome(call, result)
        await async_pause(len(call.recording.acts))
        return as_seen(call, result)


class PolicedTool(ExtendedTool):
    """A tool of another integration, such as Assist's, under our rules; its own description and results are used."""

    family = "others"
    needs_family = False
    deadline = LONGEST - 60
    """Seconds; such tools can take minutes, for example to ask a model, and are watched for LONGEST seconds."""

    def __init__(self, tool: llm.Tool, options: ToolboxOptions | None = None) -> None:
        """Store the tool and copy its declarations."""
        super().__init__(options)
        self.tool = tool
        self.name = tool.name
        self.title = tool.title or tool.name
        self.description = tool.description or ""
        self.parameters = tool.parameters
        self.annotations = tool.annotations
        self.integration = tool.integration or DOMAIN
        self.tier = Tier.READ if tool.annotations.read_only else Tier.CONTROL
        # A tool that acts is checked by its plan instead.
        self.sends = self.tier is Tier.READ and tool.annotations.open_world
        self.brings_outside_text = is_from_outside(unwrapped(tool))
        self.shows_success = self.tier is not Tier.READ and isinstance(unwrapped(tool), llm.IntentTool)
        # Home Assistant's own tools do not read it, and what they start may talk to an agent.
        self.reads_conversation = not isinstance(unwrapped(tool), llm.IntentTool | llm.ActionTool)

    @override
    def __eq__(self, other: object) -> bool:
        """Return whether another tool wraps the same tool with equal options."""
        return type(other) is type(self) and self.tool == other.tool and self._options == other._options

    __hash__ = ExtendedTool.__hash__

    @property
    @override
    def checked_within(self) -> float:
        """Timeout in seconds of the checks before a call; they do not call the tool itself."""
        return DEADLINE

    @override
    def validated(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments unchanged: the tool validates them itself."""
        return arguments

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of a call, as far as its effects can be known."""
        return plan_of(call, unwrapped(self.tool), self.title)

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Return the data of the result."""
        return (await self.async_result(call)).data

    @override
    async def async_result(self, call: ToolCall) -> llm.ToolResult:
        """Return the tool's result with its own type, which other code checks; its failures become error results."""
        tool_input = call.tool_input or llm.ToolInput(self.name, call.arguments)
        if call.recording.plan and len(actions := {step.action for step in call.recording.plan.steps}) == 1:
            call.recording.what = next(iter(actions)) or self.name
        try:
            result = await self.tool.async_call(call.hass, tool_input, call.caller.llm_context)
        except HomeAssistantError as err:
            told = str(err) or type(err).__name__
            # These errors repeat only the call's arguments. Other errors can repeat the text of a device or service.
            is_ours = isinstance(err, intent.MatchFailedError | intent.InvalidSlotInfo | intent.UnknownIntent)
            return llm.ToolResult(data=marked({"error": told}, when=not is_ours), error=True)
        if not isinstance(result, llm.ToolResult):
            result = llm.ToolResult(data=result)
        data: Any = result.data
        if not isinstance(data, dict):
            result = llm.ToolResult(data={"result": data}, error=result.error)
        result = await async_checked(call.hass, call.caller.assistant, unwrapped(self.tool), result)
        call.recording.is_complete = is_complete(call, unwrapped(self.tool), result)
        json_dumps(data)  # Data that JSON cannot encode raises here, not when the request is sent.
        return result


@dataclass
class ToolboxInstance(llm.APIInstance):
    """An API instance that answers a call of an unknown tool with a result that the model can act on."""

    @override
    async def async_call_tool(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Call a tool by its name."""
        names = [tool.name for tool in self.tools]
        if tool_input.tool_name not in names:
            return unknown_tool(tool_input.tool_name, names)
        return await super().async_call_tool(tool_input)


def policed_instance(instance: llm.APIInstance, options: ToolboxOptions) -> ToolboxInstance:
    """Return an instance of any API whose tools all apply rules: their own, or those of the options."""
    return ToolboxInstance(
        api=instance.api,
        api_prompt=instance.api_prompt,
        llm_context=instance.llm_context,
        tools=policed(instance.api.hass, instance.tools, options),
        custom_serializer=instance.custom_serializer,
    )


def policed(hass: HomeAssistant, tools: Iterable[llm.Tool], options: ToolboxOptions) -> list[llm.Tool]:
    """Return the tools, with those of other integrations wrapped and their schemas without free names."""
    found = [tool if isinstance(unwrapped(tool), ExtendedTool) else PolicedTool(tool, options) for tool in tools]
    for tool in found:
        if isinstance(tool, PolicedTool):
            tool.parameters = offered(hass, tool)
    return found


def unknown_tool(name: str, known: list[str]) -> llm.ToolResult:
    """Return the error result for an unknown tool, with the most similar names."""
    nearest = get_close_matches(name, known, n=3, cutoff=0.3)
    hint = f"Nearest: {', '.join(nearest)}." if nearest else "Use only the tools in the list."
    return failure(f"There is no tool named '{name}'. {hint}")

"""The base classes of tools: `ExtendedTool` for ours, `PolicedTool` for those of Assist and of other integrations."""

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

from ..calls.activity import Happening, tell
from ..calls.arguments import check_arguments
from ..calls.background_calls import LONGEST, async_cut_off, async_finish, async_watched
from ..calls.call import RefusedResult, ToolCall, failure
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
from ..exposure.entities import Exposure, async_told
from ..exposure.safe_log import log_unexpected
from ..results import FreeTextError, ToolError, enforce
from ..worker.interruptible import async_pause
from .intent_plans import is_complete, plan_of

DEADLINE = 10.0
"""Seconds that a tool may take: longer than any answer from a healthy recorder, shorter than a speaker waits in silence."""


READ_ONLY = llm.ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=False)


class ExtendedTool(llm.Tool):
    """A tool that checks its own rules, whichever API or agent calls it.

    A subclass declares its name, schema and tier, and implements `async_run`.
    """

    integration = DOMAIN
    family: ClassVar[str]
    tier: Tier
    deadline: float = DEADLINE
    """Seconds after which a reading call is cancelled and an acting call continues in the background."""
    brings_outside_text: bool = False
    """Whether results can hold text from outside the household, which must not cause actions."""
    sends: bool = False
    """Whether the tool sends its arguments to a server on the internet."""
    can_be_undone: ClassVar[bool] = True
    """Whether the states that a call changes are recorded for undo; always false for reading tools."""
    asks_others: ClassVar[bool] = True
    """Whether the users named in the options are asked to approve a call that the speaker may not make."""
    shows_success: bool = False
    """Whether code can verify the outcome of a call without the model."""
    needs_family: ClassVar[bool] = True
    """True if calls are refused while its family is off in the options."""
    reads_conversation: bool = False
    """Whether the tool reads Home Assistant's current chat log itself, as tools of other integrations may."""
    happens: ClassVar[Happening] = Happening.ACTED
    """The activity event that an acting call fires."""
    title: str
    description: str
    annotations: llm.ToolAnnotations

    def __init__(self, options: ToolboxOptions | None = None) -> None:
        """Store the entry's options; each call reads their current values."""
        self._options = options or ToolboxOptions()

    @override
    def __eq__(self, other: object) -> bool:
        """Return whether another tool is the same tool under the same options: merged APIs keep one of equal tools."""
        if not isinstance(other, ExtendedTool) or type(other) is not type(self) or other.name != self.name:
            return False
        return other.parameters is self.parameters and other._options == self._options

    @override
    def __hash__(self) -> int:
        """Return a hash that is the same for equal tools."""
        return hash(self.name)

    @property
    def is_told(self) -> bool:
        """Whether activity events report calls; memory and scheduled tasks are private."""
        return self.family not in (MEMORY, WISHES)

    @property
    def checked_within(self) -> float:
        """Seconds that the checks before a call may take; planning a call can take as long as making it."""
        return max(self.deadline, DEADLINE)

    @classmethod
    async def async_available(cls, hass: HomeAssistant) -> bool:
        """Return whether this home has what the tool needs; otherwise the tool is not offered."""
        return True

    def current_options(self, hass: HomeAssistant) -> ToolboxOptions:
        """Return the current options; raises ToolError if the entry no longer serves the tool."""
        return current_options(hass, self._options, self.family if self.needs_family else None)

    @abstractmethod
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Return the data of the result; raise ToolError with a sentence that tells the model what to change."""

    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of a call with its entities resolved; raises ToolError if the call cannot be made."""
        words = f"{self.title}: {json_dumps(call.arguments)}"
        return Plan((Step(self.name.replace("__", ".", 1), (), call.arguments, words),), words)

    def asks_first(self, call: ToolCall) -> bool:
        """Return whether the options require the user's word before each call."""
        return self.name.removeprefix(f"{DOMAIN}__") in call.options.policy.ask_first

    async def async_may(self, hass: HomeAssistant, caller: Caller) -> bool:
        """Return whether a caller may call the tool now without a question that the options require."""
        try:
            policy = self._options.as_of_now(hass).policy
            await async_check_speaker(hass, policy, self.tier, caller)
        except ToolError:
            return False
        return self.name.removeprefix(f"{DOMAIN}__") not in policy.ask_first

    def validated(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments as validated by the schema; raises vol.Invalid."""
        valid: dict[str, Any] = self.parameters(arguments)
        return valid

    async def async_result(self, call: ToolCall) -> llm.ToolResult:
        """Return the result of a call, cut to the budget."""
        room = call.budget - (COUNTS if self.tier > Tier.READ else 0)
        return llm.ToolResult(data=enforce(await self.async_run(call), room))

    @final
    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Validate the arguments, check the policy, run under the deadline and record changes; failures become results."""
        acts = self.tier > Tier.READ
        caller = Caller.of(in_context_of_its_own(llm_context) if acts else llm_context)
        result = await self._async_guarded(self._async_checked(hass, tool_input, caller, acts=acts))
        await async_mark_free_names(hass, result, str(tool_input.tool_args) if acts else "")
        remember(hass, caller, self, result)
        return result

    async def _async_checked(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, caller: Caller, *, acts: bool
    ) -> llm.ToolResult:
        """Check and run a call that the options allow."""
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
        """Return the question that must be answered first, or None; fire an activity event for a question or refusal."""
        try:
            asked = await self._async_question(call, acts=acts)
        except NotAllowedError:
            tell(call, Happening.REFUSED)
            raise
        if asked is not None:
            tell(call, Happening.ASKED)
        return asked

    async def _async_question(self, call: ToolCall, *, acts: bool) -> llm.ToolResult | None:
        """Return the question that must be answered first, or None if the call may run."""
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
        """Return the result of the work, or an error result for whatever it raised."""
        try:
            return await work
        except vol.Invalid as err:
            return failure(f"{self.name} was called with wrong arguments: {err}. Correct them and call again.")
        except ToolError as err:
            result = failure(await async_told(err))
            result.data = marked(result.data, when=isinstance(err, FreeTextError))
            return RefusedResult.of(result, err)
        except TimeoutError:
            if self.tier > Tier.READ:
                return failure(f"{self.name} ran out of time; look at what became of the entities.")
            return failure(f"{self.name} took too long. Ask for less, such as a shorter span.")
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise  # Nobody waits for the result any more.
            return failure(f"{self.name} broke off by itself; whether it took effect is unknown.")
        except Exception:  # noqa: BLE001 - whatever a tool does, the turn goes on
            log_unexpected(f"in a tool, {type(self).__name__} of {self.integration}")
            return failure(f"{self.name} failed unexpectedly; the details are in Home Assistant's log.")

    async def _async_begun(self, call: ToolCall) -> llm.ToolResult:
        """Run the planned call and fire activity events for its start and failure."""
        tell(call, self.happens)
        result = await self._async_guarded(self._async_act(call))
        if result.error:
            tell(call, Happening.FAILED)
        return result

    async def _async_act(self, call: ToolCall) -> llm.ToolResult:
        """Run the call, record its changes for undo, and add the outcome."""
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
    """A tool of Assist or another integration under our rules; its schema, annotations and results stay its own."""

    family = "others"
    needs_family = False
    deadline = LONGEST - 60
    """Tools of others, such as those that ask a model, can take minutes."""

    def __init__(self, tool: llm.Tool, options: ToolboxOptions | None = None) -> None:
        """Copy what the tool declares."""
        super().__init__(options)
        self.tool = tool
        self.name = tool.name
        self.title = tool.title or tool.name
        self.description = tool.description or ""
        self.parameters = tool.parameters
        self.annotations = tool.annotations
        self.integration = tool.integration or DOMAIN
        self.tier = Tier.READ if tool.annotations.read_only else Tier.CONTROL
        # What acts asks by what it does.
        self.sends = self.tier is Tier.READ and tool.annotations.open_world
        self.brings_outside_text = is_from_outside(unwrapped(tool))
        self.shows_success = self.tier is not Tier.READ and isinstance(unwrapped(tool), llm.IntentTool)
        # Home Assistant's own do not, and what they set off may talk.
        self.reads_conversation = not isinstance(unwrapped(tool), llm.IntentTool | llm.ActionTool)

    @override
    def __eq__(self, other: object) -> bool:
        """Return whether another tool wraps the same tool under the same options."""
        return type(other) is type(self) and self.tool == other.tool and self._options == other._options

    __hash__ = ExtendedTool.__hash__

    @property
    @override
    def checked_within(self) -> float:
        """Seconds that the checks before a call may take; the tool itself is not called for them."""
        return DEADLINE

    @override
    def validated(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments unchanged: the wrapped tool validates them."""
        return arguments

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of a call, as far as it can be determined."""
        return plan_of(call, unwrapped(self.tool), self.title)

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Return the data of the result."""
        return (await self.async_result(call)).data

    @override
    async def async_result(self, call: ToolCall) -> llm.ToolResult:
        """Return the wrapped tool's own result object, since agents check its type; failures become results."""
        tool_input = call.tool_input or llm.ToolInput(self.name, call.arguments)
        if call.recording.plan and len(actions := {step.action for step in call.recording.plan.steps}) == 1:
            call.recording.what = next(iter(actions)) or self.name
        try:
            result = await self.tool.async_call(call.hass, tool_input, call.caller.llm_context)
        except HomeAssistantError as err:
            told = str(err) or type(err).__name__
            # Home Assistant repeats the call's own words there; any other error can repeat a device or its service.
            is_ours = isinstance(err, intent.MatchFailedError | intent.InvalidSlotInfo | intent.UnknownIntent)
            return llm.ToolResult(data=marked({"error": told}, when=not is_ours), error=True)
        if not isinstance(result, llm.ToolResult):
            result = llm.ToolResult(data=result)
        data: Any = result.data
        if not isinstance(data, dict):
            result = llm.ToolResult(data={"result": data}, error=result.error)
        result = await async_checked(call.hass, call.caller.assistant, unwrapped(self.tool), result)
        call.recording.is_complete = is_complete(call, unwrapped(self.tool), result)
        json_dumps(data)  # What cannot be told raises here, where it becomes a result, and not in the request.
        return result


@dataclass
class ToolboxInstance(llm.APIInstance):
    """An API instance that answers a call of an unknown tool with an error that names similar tools."""

    @override
    async def async_call_tool(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Call a tool by its name."""
        names = [tool.name for tool in self.tools]
        if tool_input.tool_name not in names:
            return unknown_tool(tool_input.tool_name, names)
        return await super().async_call_tool(tool_input)


def policed_instance(instance: llm.APIInstance, options: ToolboxOptions) -> ToolboxInstance:
    """Return an instance of any API whose tools all check rules: their own, or those of the options."""
    return ToolboxInstance(
        api=instance.api,
        api_prompt=instance.api_prompt,
        llm_context=instance.llm_context,
        tools=policed(instance.api.hass, instance.tools, options),
        custom_serializer=instance.custom_serializer,
    )


def policed(hass: HomeAssistant, tools: Iterable[llm.Tool], options: ToolboxOptions) -> list[llm.Tool]:
    """Wrap tools that check no rules of ours, and remove names that are not fixed from their schemas."""
    found = [tool if isinstance(unwrapped(tool), ExtendedTool) else PolicedTool(tool, options) for tool in tools]
    for tool in found:
        if isinstance(tool, PolicedTool):
            tool.parameters = offered(hass, tool)
    return found


def unknown_tool(name: str, known: list[str]) -> llm.ToolResult:
    """Return the error result for a tool that does not exist, with the nearest that do."""
    nearest = get_close_matches(name, known, n=3, cutoff=0.3)
    hint = f"Nearest: {', '.join(nearest)}." if nearest else "Use only the tools in the list."
    return failure(f"There is no tool named '{name}'. {hint}")

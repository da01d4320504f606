"""A user's function as a tool of the toolbox."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType, json_loads

from ..actions.schedule import MAX_DELAY, async_get_schedule
from ..actions.scheduled import ScheduledAction
from ..call import ToolboxOptions, ToolCall
from ..const import DOMAIN
from ..journal import Change
from ..policy import Tier
from ..results import ToolError, format_time, size
from ..tools.actions import SCHEDULED
from ..tools.base import ExtendedTool
from .arguments import check_named
from .definition import DELAY, Definition
from .kinds import Run

CALL_FUNCTION: Final = f"{DOMAIN}.call_function"
"""The action that calls a function, and the name under which a call waits for its time."""
DEADLINE: Final = 30.0
"""Seconds of a function: its user knows that it takes long, and wrote it all the same."""
SLOW_DEADLINE: Final = 60.0
"""Seconds where it does what a tool of ours needs so long for."""
_SLOW = frozenset({"add_automation"})


class UserFunctionTool(ExtendedTool):
    """Runs a function that the user wrote."""

    family = "functions"

    def __init__(self, definition: Definition, options: ToolboxOptions | None = None, tier: Tier | None = None) -> None:
        """Take a function, and the tier that its user chose; it cannot be below what the function does for certain."""
        super().__init__(options)
        step = definition.step
        self._definition = definition
        self.name = definition.name
        self.title = definition.name.replace("_", " ").strip().capitalize()
        self.description = definition.description
        self.parameters = definition.parameters
        self.tier = step.tier if tier is None else max(tier, step.least_tier)
        self.brings_outside_text = step.brings_outside_text
        self.deadline = SLOW_DEADLINE if step.stands_for & _SLOW else DEADLINE
        reads = self.tier is Tier.READ
        self.annotations = llm.ToolAnnotations(
            read_only=reads, destructive=not reads, idempotent=reads, open_world=step.brings_outside_text or not reads
        )

    @override
    def asks_first(self, call: ToolCall) -> bool:
        """Return whether the options want the user's word before it, or before a tool that it stands for."""
        return bool(self._options.policy.ask_first & (self._definition.step.stands_for | {self.name}))

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Run the function, or schedule it."""
        arguments = dict(call.arguments)
        if self._definition.can_wait and (delay := _delay(arguments.pop(DELAY, None))):
            self._check_named(call, arguments)
            return await self._async_schedule(call, arguments, delay)
        result = await self._definition.step.async_run(self._run(call, arguments))
        plain = json_loads(json_dumps(result))
        if not isinstance(plain, str) and size(plain) > call.budget:
            # A text can be cut; the model sees where.
            plain = json_dumps(plain)
        return {"result": plain}

    @override
    async def async_preview(self, call: ToolCall) -> str:
        """Say what it would do."""
        arguments = dict(call.arguments)
        when = ""
        if self._definition.can_wait and (delay := _delay(arguments.pop(DELAY, None))):
            when = f"At {format_time(dt_util.now() + delay)}: "
        spoken = await self._definition.step.async_preview(self._run(call, arguments))
        return when + (spoken or f"{self.title}: {json_dumps(arguments)}")

    def _run(self, call: ToolCall, arguments: Mapping[str, Any]) -> Run:
        """Return the run of a call; what the function does not declare, it does not get."""
        self._check_named(call, arguments)
        schema = self._definition.written
        if not schema.get("additionalProperties"):
            arguments = {key: value for key, value in arguments.items() if key in schema.get("properties", {})}
        return Run(call=call, variables=dict(arguments), words=self._definition.words)

    def _check_named(self, call: ToolCall, arguments: Mapping[str, Any]) -> None:
        """Raise ToolError where an argument names what is not exposed to a function that could reach it."""
        if not self._definition.step.has_its_own_bound:
            check_named(call.hass, call.exposure, dict(arguments))

    async def _async_schedule(self, call: ToolCall, arguments: dict[str, Any], delay: timedelta) -> JsonObjectType:
        """Store the call for later."""
        if (entry_id := call.options.entry_id) is None:
            raise ToolError("Nothing can be scheduled from here. Call without a delay.")
        context, chat_log = call.llm_context, current_chat_log.get()
        item = ScheduledAction(
            due=(dt_util.utcnow() + delay).timestamp(),
            action=CALL_FUNCTION,
            entity_ids=[],
            data={"function": self.name, "arguments": arguments},
            targeted=False,
            entry_id=entry_id,
            platform=context.platform,
            assistant=str(context.assistant),
            language=context.language,
            device_id=context.device_id,
            user_id=context.context.user_id if context.context else None,
            conversation_id=chat_log.conversation_id if chat_log else None,
        )
        await (await async_get_schedule(call.hass)).async_add(item)
        call.recording.changes.append(Change(SCHEDULED, f"scheduling {self.name}", {"id": item.id}))
        return {"result": "Scheduled", "scheduled": item.id, "at": format_time(item.due)}


def _delay(value: Any) -> timedelta | None:
    """Return how long to wait; None for not at all."""
    if not value:
        return None
    try:
        delay: timedelta = cv.positive_time_period(value)
    except (vol.Invalid, OverflowError) as err:
        raise ToolError(f"'{value}' is no delay. Give hours, minutes and seconds.") from err
    if delay > MAX_DELAY:
        raise ToolError(f"The delay can be at most {MAX_DELAY.days} days.")
    return delay or None

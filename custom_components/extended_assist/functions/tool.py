"""A user's function as a tool of the toolbox."""

from collections.abc import Mapping
from datetime import timedelta
import re
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType, json_loads

from ..calls.call import ToolCall
from ..calls.options import ToolboxOptions
from ..calls.plan import Frame, Plan, Step
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked
from ..confirmation.wording import framed
from ..const import CONF_ENABLED, CONF_FUNCTION, DOMAIN
from ..exposure.domains import WITH_ENTITIES
from ..exposure.entities import Exposure, NotExposedError
from ..llm_tools.extended_tool import ExtendedTool
from ..results import ToolError, format_duration, format_time, size, texts_in
from ..scheduled.creation import async_keep_action
from ..scheduled.time_parser import MAX_AHEAD
from ..web.conversation import WebMemory
from .base import FunctionRun
from .definition import DELAY, Definition

CALL_FUNCTION: Final = f"{DOMAIN}.call_function"
"""The action that calls a function, and the name under which a call waits for its time."""
DEADLINE: Final = 30.0
"""Seconds of a function: its user knows that it takes long, and wrote it all the same."""
SLOW_DEADLINE: Final = 60.0
"""Seconds where it does what a tool of ours needs so long for."""
_CHANGED: Final = (
    "The user has changed or removed the function {name}. Nothing was done. Tell the user; what it is now can be called in a new "
    "conversation."
)
_SLOW = frozenset({"add_automation"})


class UserFunctionTool(ExtendedTool):
    """Runs a function that the user wrote."""

    family = "functions"
    needs_family = False

    def __init__(
        self,
        definition: Definition,
        options: ToolboxOptions | None = None,
        tier: Tier | None = None,
        stored: tuple[str, str] | None = None,
    ) -> None:
        """Store a function, the tier that its user chose, and the id and text of the subentry that defines it.

        The tier cannot be below what the function does for certain.
        """
        super().__init__(options)
        self._stored = stored
        function_type, settings = definition.type, definition.settings
        stands_for = function_type.stands_for(settings)
        self._definition = definition
        self._names_in_options = stands_for | {definition.name}
        self.name = definition.name
        self.title = definition.name.replace("_", " ").strip().capitalize()
        self.description = definition.description
        self.parameters = definition.parameters
        self.tier = function_type.tier(settings) if tier is None else max(tier, function_type.least_tier(settings))
        self.brings_outside_text = function_type.brings_outside_text(settings)
        self.sends = function_type.sends(settings)
        self.deadline = SLOW_DEADLINE if stands_for & _SLOW else DEADLINE
        reads = self.tier is Tier.READ
        self.annotations = llm.ToolAnnotations(
            read_only=reads,
            destructive=not reads,
            idempotent=reads,
            open_world=self.brings_outside_text or self.sends or not reads,
        )

    @override
    def current_options(self, hass: HomeAssistant) -> ToolboxOptions:
        """Return the options of now; raises ToolError where the user has removed, disabled or changed the function."""
        options = super().current_options(hass)
        if (stored := self._stored) is None or options.entry_id is None or options.is_fixed:
            return options
        entry = hass.config_entries.async_get_entry(options.entry_id)
        now = entry.subentries.get(stored[0]) if entry else None
        if now is None or not now.data.get(CONF_ENABLED, True) or now.data.get(CONF_FUNCTION) != stored[1]:
            raise ToolError(_CHANGED.format(name=self.name))
        return options

    @override
    def asks_first(self, call: ToolCall) -> bool:
        """Return whether the options want the user's word before it, or before a tool that it stands for."""
        return bool(call.options.policy.ask_first & self._names_in_options)

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Run the function, or keep the call for later."""
        arguments = dict(call.arguments)
        if self._definition.can_wait and (delay := _delay(arguments.pop(DELAY, None))):
            self._check_named(call, arguments)
            return await self._async_keep(call, arguments, delay)
        run, settings = self._run(call, arguments), self._definition.settings
        if self.sends and not call.options.is_fixed:
            WebMemory.of(call.hass).count_request(call.caller, self.name)
        result = await self._definition.type.async_run(run, settings)
        plain = json_loads(json_dumps(result))
        if not isinstance(plain, str) and size(plain) > call.budget:
            # A text can be cut; the model sees where.
            plain = json_dumps(plain)
        return marked({"result": plain}, when=self._definition.type.holds_outside_text(run, settings, plain))

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of the function, with its moment."""
        arguments = dict(call.arguments)
        frame: Frame = ()
        if self._definition.can_wait and (delay := _delay(arguments.pop(DELAY, None))):
            frame = (("in", format_duration(delay.total_seconds())),)
        plan = await self._definition.type.async_plan(self._run(call, arguments), self._definition.settings)
        if plan is None:
            words = f"{self.title}: {json_dumps(arguments)}"
            plan = Plan((Step(f"{DOMAIN}.{self.name}", (), arguments, words),), words)
        if not frame:
            return plan
        steps = tuple(framed(call.exposure, step, frame) for step in plan.steps)
        return Plan(steps, steps[0].words if len(steps) == 1 else plan.sentence)

    def _run(self, call: ToolCall, arguments: Mapping[str, Any]) -> FunctionRun:
        """Return the run of a call; what the function does not declare, it does not get."""
        self._check_named(call, arguments)
        schema = self._definition.written
        if not schema.get("additionalProperties"):
            arguments = {key: value for key, value in arguments.items() if key in schema.get("properties", {})}
        return FunctionRun(call=call, variables=dict(arguments), enum_texts=self._definition.enum_texts)

    def _check_named(self, call: ToolCall, arguments: Mapping[str, Any]) -> None:
        """Raise ToolError where an argument names what is not exposed to a function that could reach it."""
        if not self._definition.type.has_its_own_bound(self._definition.settings):
            check_named(call.hass, call.exposure, dict(arguments))

    async def _async_keep(self, call: ToolCall, arguments: dict[str, Any], delay: timedelta) -> JsonObjectType:
        """Store the call for later."""
        moment = (dt_util.utcnow() + delay).timestamp()
        data = {"function": self.name, "arguments": arguments}
        task = await async_keep_action(call, moment, self.title, CALL_FUNCTION, data)
        return {"result": "Scheduled", "scheduled": task.id, "at": format_time(moment)}


def _delay(value: Any) -> timedelta | None:
    """Return the delay before the call, or None for none; raise ToolError for what is no delay or too long."""
    if not value:
        return None
    try:
        delay: timedelta = cv.positive_time_period(value)
    except (vol.Invalid, OverflowError) as err:
        raise ToolError(f"'{value}' is no delay. Give hours, minutes and seconds.") from err
    if delay > MAX_AHEAD:
        raise ToolError(f"The delay can be at most {MAX_AHEAD.days} days.")
    return delay or None


_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_SUGGESTIONS = 4
_SEPARATORS = re.compile(r"[\s,]+")


def check_named(hass: HomeAssistant, exposure: Exposure, arguments: Any) -> None:
    """Raise ToolError where an argument is the id of an entity that is not exposed, or of none.

    A function has its user's reach, so an id that a model chose must be one that the model may know.
    """
    for text, _ in texts_in(arguments, keys=True):
        parts = [part for part in _SEPARATORS.split(text.strip(" \n\t,").lower()) if part]
        if not all(_ID.fullmatch(part) for part in parts):
            continue
        for part in parts:
            domain, _, name = part.partition(".")
            # Whether or not this home has any of that domain: the answer must not tell which ones it has.
            if domain not in WITH_ENTITIES or exposure.is_exposed(part):
                continue
            if hass.states.get(part) is None and hass.services.has_service(domain, name):
                continue  # The name of an action.
            raise _not_exposed(exposure, part)


def _not_exposed(exposure: Exposure, entity_id: str) -> NotExposedError:
    """Return the error for an id, with what is exposed and like it."""
    try:
        like = exposure.resolve(entity_id)
    except NotExposedError as err:
        return err
    names = ", ".join(f"{entity.name} ({entity.entity_id})" for entity in like[:_SUGGESTIONS])
    return NotExposedError(f"'{entity_id}' was not found or is not exposed. Nearest: {names}.")

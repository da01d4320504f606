"""Check sequences, conditions and triggers before they run or are stored.

Every named entity must be exposed and every action allowed; anything that is not known in advance is refused, with its
place and the reason. Syntax: https://www.home-assistant.io/docs/scripts/
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import voluptuous as vol

from homeassistant.components.light.const import ATTR_TRANSITION
from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, Platform
from homeassistant.core import SupportsResponse, callback
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.template import is_template_string

from ..calls.call import ToolCall
from ..exposure.groups import members_of
from ..ha_compat.mobile_app import PHONE, phone_action
from ..results import ToolError
from .automation_context import CREATE, OwnParts, async_check_created, possible_target
from .check import ResolvedAction, async_check_action
from .conditions import ConditionWalker, Part, check_depth, check_written, refuse_templates_in
from .listed_triggers import ListedTriggers
from .rules import APPLY, unknown_fields
from .targets import REFERENCES, check_whole
from .text_check import Texts, holds_template

MAX_STEPS = 100
"""The most steps of one sequence, nested ones included."""

_BASE = frozenset({"alias", "note", "enabled", "continue_on_error"})
# The keys of each kind of step; Home Assistant could use any other key in an unchecked way.
STEPS = {
    "call_service": {
        "action",
        "service",
        "target",
        "entity_id",
        "data",
        "data_template",
        "metadata",
        "response_variable",
    },
    "choose": {"choose", "default"},
    "delay": {"delay"},
    "if": {"if", "then", "else"},
    "parallel": {"parallel"},
    "repeat": {"repeat"},
    "scene": {"scene", "metadata"},
    "sequence": {"sequence", "metadata"},
    "set_conversation_response": {"set_conversation_response"},
    "stop": {"stop", "error", "response_variable"},
    "variables": {"variables"},
    "wait_for_trigger": {"wait_for_trigger", "timeout", "continue_on_timeout"},
    "wait_template": {"wait_template", "timeout", "continue_on_timeout"},
}
REFUSED_STEPS = {
    "event": "Firing an event may set off what is not exposed. Perform an action instead.",
    "device": "Device actions are not supported. Perform an action on an entity instead.",
}
_ACTION_KEYS = frozenset({"action", "service", "target", "entity_id"})
_NESTED_STEPS = ("sequence", "then", "else", "default")
_REPEAT = frozenset({"count", "for_each", "while", "until", "sequence"})
_OPTION = frozenset({"alias", "note", "conditions", "sequence"})


@dataclass(frozen=True, slots=True)
class Delay:
    """The time between an action and the one before it, as far as delays and waits define it."""

    seconds: float = 0.0
    is_later: bool = False
    """True if any delay at the top level of the sequence comes before the action."""
    is_open: bool = False
    """True if a template computes the delay, or a wait has no timeout, so that its length is not known."""
    can_be_shorter: bool = False
    """True if part of it is a wait, which can be over before its timeout."""


class SequenceWalker:
    """Checks sequences, conditions and triggers for one caller.

    Returns them ready to run, with resolved targets. With `keep`, returns them unchanged, and refuses anything that Home
    Assistant would resolve to other entities than were checked.
    """

    def __init__(
        self, call: ToolCall, *, keep: bool = False, variables: Iterable[str] = (), own: OwnParts | None = None
    ) -> None:
        """Store the caller, the names of variables from outside, and the parts that an automation defines itself."""
        self._call = call
        self._keep = keep
        self._own = own or OwnParts()
        self._texts = Texts(call.hass, call.exposure, variables, is_bound=not keep)
        listed = ListedTriggers(call.hass, call.exposure, call.options.listed_triggers, self._own)
        self._conditions = ConditionWalker(call.hass, call.exposure, self._texts, listed, keep=keep)
        self._moved: set[str] = set()
        self.steps = 0
        """The number of steps so far."""
        self.actions: list[ResolvedAction] = []
        """All actions in order."""
        self.places: list[str] = []
        """The place of each action."""
        self.delays: list[Delay] = []
        """The delay before each action."""
        self._delay = Delay()
        self.is_open = False
        """True if templates decide the target or data of an action, so that it is known only when it runs."""

    @property
    def entity_ids(self) -> set[str]:
        """Return the ids of all entities that are read or acted on; all of them are exposed."""
        return self._texts.entity_ids | {entity_id for action in self.actions for entity_id in action.entity_ids}

    @callback
    def is_still_exposed(self) -> bool:
        """Return whether all entities of the sequence, and the members of its groups, are exposed now."""
        return all(map(self._call.exposure.is_exposed, self.entity_ids | self._moved))

    def define(self, whole: Any) -> None:
        """Store the variables that a whole config defines, before its parts are checked."""
        self._texts.define(whole)

    async def async_actions(self, actions: Any, place: str = "sequence") -> Any:
        """Check a sequence; raises ToolError with the place and the reason."""
        await self._async_prepare(actions, place)
        walked = await self._async_steps(actions, place, 0)
        return actions if self._keep else walked

    async def async_conditions(self, conditions: Any, place: str = "conditions") -> Any:
        """Check conditions; raises ToolError with the place and the reason."""
        await self._async_prepare(conditions, place)
        walked = self._conditions.conditions(conditions, place)
        return conditions if self._keep else walked

    async def async_triggers(self, triggers: Any, place: str = "triggers") -> Any:
        """Check triggers; raises ToolError with the place and the reason."""
        await self._async_prepare(triggers, place)
        walked = self._conditions.triggers(triggers, place)
        return triggers if self._keep else walked

    async def async_values(self, values: Any, place: str = "variables") -> Any:
        """Check values that are rendered but act on nothing, such as an automation's variables."""
        await self._async_prepare({place: values}, place)
        self._texts.check(values, place)
        return values

    async def _async_prepare(self, part: Any, place: str) -> None:
        await self._texts.async_prepare(part, place)
        await self._conditions.async_prepare()

    async def _async_steps(self, steps: Any, place: str, depth: int) -> list[Part]:
        """Check a list of steps; a single step counts as a list of one."""
        check_depth(depth, place)
        if isinstance(steps, dict):
            steps = [steps]
        if not isinstance(steps, list):
            raise ToolError(f"{place}: this must be a list of steps.")
        return [await self._async_step(step, f"{place}[{index}]", depth) for index, step in enumerate(steps)]

    async def _async_step(self, step: Any, place: str, depth: int) -> Part:
        """Check one step."""
        await asyncio.sleep(0)  # Names can take milliseconds to be found, and there may be many.
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise ToolError(f"{place}: more than {MAX_STEPS} steps. Do less at once.")
        if not isinstance(step, dict):
            raise ToolError(f"{place}: a step must be an object.")
        try:
            kind = cv.determine_script_action(step)
        except (ValueError, TypeError) as err:
            raise ToolError(f"{place}: this is no step of a script. Known: {', '.join(STEPS)}, condition.") from err
        if kind == "device" and self._keep:
            return await self._async_device(step, place)
        if kind in REFUSED_STEPS:
            raise ToolError(f"{place}: {REFUSED_STEPS[kind]}")
        if kind == "condition":
            return self._conditions.condition(step, place, depth)
        waits = kind in ("wait_for_trigger", "wait_template")
        self._note_delay(step.get("timeout", "?") if waits else step.get("delay"), depth, is_wait=waits)
        known = _BASE | STEPS.get(kind, set())
        if unknown := [str(key) for key in step if key not in known]:
            raise ToolError(f"{place}: unknown here: {', '.join(unknown)}. Known: {', '.join(sorted(known))}.")
        match kind:
            case "call_service":
                return await self._async_action(step, place)
            case "scene":
                target = {"entity_id": step["scene"]}
                base = {key: value for key, value in step.items() if key in _BASE}
                return await self._async_action({**base, "action": "scene.turn_on", "target": target}, place)
            case "choose" | "if" | "repeat" | "parallel" | "sequence":
                return await self._async_nested(step, place, depth)
            case "wait_for_trigger":
                triggers = self._conditions.triggers(step["wait_for_trigger"], f"{place}.wait_for_trigger", depth)
                return {**self._rest(step, place, {"wait_for_trigger"}), "wait_for_trigger": triggers}
        return self._rest(step, place)

    def _note_place(self, place: str) -> None:
        """Store the place of an action and the delay before it."""
        self.places.append(place)
        self.delays.append(self._delay)
        self._delay = Delay(is_later=self._delay.is_later)

    def _note_delay(self, value: Any, depth: int, *, is_wait: bool) -> None:
        """Add a delay, or the timeout of a wait, to the time before the next action; None adds nothing."""
        if value is None:
            return
        delay = replace(
            self._delay,
            is_later=self._delay.is_later or depth == 0,
            can_be_shorter=self._delay.can_be_shorter or is_wait,
        )
        try:
            seconds = cv.positive_time_period(value).total_seconds()
        except vol.Invalid, OverflowError:
            self._delay = replace(delay, is_open=True)
        else:
            self._delay = replace(delay, seconds=delay.seconds + seconds)

    async def _async_action(self, step: Part, place: str) -> Part:
        """Check the action of a step."""
        action = step.get("action", step.get("service"))
        if not isinstance(action, str) or is_template_string(action) or {"action", "service"} <= step.keys():
            raise ToolError(f"{place}: Name one action, such as light.turn_on; a template cannot be checked.")
        target = self._target(step, place)
        data = {**self._object(step, "data", place), **self._object(step, "data_template", place)}
        if self._keep and action == CREATE and not target:
            return await self._async_create(step, data, place)
        if self._keep and ATTR_ENTITY_ID in target:
            named = possible_target(self._texts, self._own, action, target[ATTR_ENTITY_ID], f"{place}.target.entity_id")
            if not named and target.keys() == {ATTR_ENTITY_ID} and data.keys() <= {ATTR_TRANSITION}:
                return self._rest(step, place, _ACTION_KEYS)
            target = {**target, ATTR_ENTITY_ID: named}
        return await self._async_perform(step, action, target, data, place)

    async def _async_perform(self, step: Part, action: str, target: Part, data: Part, place: str) -> Part:
        """Check an action with its resolved target."""
        named = {key: data[key] for key in data if str(key).strip().lower() in REFERENCES}
        if self._keep:
            refuse_templates_in(target, f"{place}.target")
            refuse_templates_in(named, f"{place}.data")
        computed = {key: value for key, value in data.items() if holds_template({key: value})}
        unknown = unknown_fields(self._call.hass, action.strip().lower(), computed)
        if self._keep and unknown:
            raise ToolError(
                f"{place}.data.{unknown[0]}: what a template will make of this cannot be checked beforehand. Write the "
                "value itself."
            )
        for key, value in computed.items():
            self._texts.check(value, f"{place}.data.{key}")
        self.is_open |= bool(unknown) or holds_template(target)
        rest = self._rest(step, place, _ACTION_KEYS | {"data", "data_template", "metadata"})
        if holds_template([target, named]) or (computed and action == APPLY):
            return rest | self._open(action.strip().lower(), target, data, place)
        plain = {key: value for key, value in data.items() if key not in computed}
        try:
            resolved = await async_check_action(self._call, action, target, plain)
        except ToolError as err:
            raise ToolError(f"{place}: {err}") from err
        self.actions.append(replace(resolved, data=resolved.data | computed))
        self._note_place(place)
        members = {member for entity_id in resolved.entity_ids for member in members_of(self._call.hass, entity_id)}
        self._moved |= set(filter(self._call.exposure.is_exposed, members))
        if self._keep:
            written = target | {key: plain[key] for key in plain if key in REFERENCES} if resolved.targeted else target
            check_written(self._call.hass, written, f"{place}.target", left_out=resolved.left_out)
            if resolved.data != {key: plain[key] for key in plain if not (resolved.targeted and key in REFERENCES)}:
                raise ToolError(f"{place}.data: name entities by id here, and no areas, devices or labels.")
        return rest | resolved.as_step() | ({"data": resolved.data | computed} if computed else {})

    async def _async_create(self, step: Part, data: Part, place: str) -> Part:
        """Check scene.create for a scene that the automation itself may turn on."""
        self.actions.append(await async_check_created(self._call, data, place))
        self._note_place(place)
        return self._rest(step, place, _ACTION_KEYS)

    @staticmethod
    def _target(step: Part, place: str) -> Part:
        """Return the target of a step, including an entity_id beside it."""
        target = step.get("target") or {}
        if isinstance(target, str):
            refuse_templates_in(target, f"{place}.target")
        if not isinstance(target, dict):
            raise ToolError(f"{place}.target: this must be an object.")
        if "entity_id" not in step:
            return target
        if "entity_id" in target:
            raise ToolError(f"{place}: entity_id is given twice. Give it in target only.")
        return {**target, "entity_id": step["entity_id"]}

    def _open(self, action: str, target: Part, data: Part, place: str) -> Part:
        """Return an action whose target is checked right before it runs."""
        self._texts.check(target, f"{place}.target")
        domain, _, service = action.partition(".")
        self.actions.append(
            ResolvedAction(domain, service, (), target | data, targeted=True, supports_response=SupportsResponse.NONE)
        )
        self._note_place(place)
        return {"action": action, "target": target, "data": data}

    async def _async_device(self, step: Part, place: str) -> Part:
        """Check a device action, as Home Assistant's editor writes it; all entities of the device must be exposed."""
        if step.get("domain") == PHONE:
            return await self._async_phone(step, place)
        if step.get("domain") not in {*Platform}:
            raise ToolError(
                f"{place}: actions on devices of this kind cannot be checked. Perform an action on an entity."
            )
        refuse_templates_in(step, place)
        check_whole(self._call.hass, self._call.exposure, ATTR_DEVICE_ID, str(step[ATTR_DEVICE_ID]), place)
        return self._rest(step, place)

    async def _async_phone(self, step: Part, place: str) -> Part:
        """Check a notification to a phone, given by its device, as the notify action that sends it."""
        message = {key: step[key] for key in ("message", "title", "data") if key in step}
        base = {key: value for key, value in step.items() if key in _BASE}
        if unknown := step.keys() - {*base, *message, ATTR_DEVICE_ID, "domain", "type"}:
            raise ToolError(
                f"{place}: unknown here: {', '.join(sorted(map(str, unknown)))}. Use message, title and data."
            )
        if step.get("type") != "notify" or (action := phone_action(self._call.hass, step[ATTR_DEVICE_ID])) is None:
            raise ToolError(
                f"{place}: this is no phone that messages can be sent to. Use notify.send_message or a notify action."
            )
        return await self._async_action({**base, "action": action, "data": message}, place)

    async def _async_nested(self, step: Part, place: str, depth: int) -> Part:
        """Check a step that contains other steps."""
        walked = self._rest(step, place, {"choose", "if", "repeat", "parallel", *_NESTED_STEPS})
        for key in _NESTED_STEPS:
            if key in step:
                walked[key] = await self._async_steps(step[key], f"{place}.{key}", depth + 1)
        if "parallel" in step:
            branches = step["parallel"] if isinstance(step["parallel"], list) else [step["parallel"]]
            walked["parallel"] = [
                await self._async_steps(branch, f"{place}.parallel[{index}]", depth + 1)
                if isinstance(branch, list)
                else await self._async_step(branch, f"{place}.parallel[{index}]", depth + 1)
                for index, branch in enumerate(branches)
            ]
        if "if" in step:
            walked["if"] = self._conditions.conditions(step["if"], f"{place}.if", depth)
        if "choose" in step:
            options = step["choose"] if isinstance(step["choose"], list) else [step["choose"]]
            walked["choose"] = [
                await self._async_option(option, f"{place}.choose[{index}]", depth)
                for index, option in enumerate(options)
            ]
        if "repeat" in step:
            walked["repeat"] = await self._async_repeat(step["repeat"], f"{place}.repeat", depth)
        return walked

    async def _async_option(self, option: Any, place: str, depth: int) -> Part:
        """Check one option of a choice."""
        self._check_object(option, _OPTION, place)
        return {
            **self._rest(option, place, {"conditions", "sequence"}),
            "conditions": self._conditions.conditions(option.get("conditions"), f"{place}.conditions", depth),
            "sequence": await self._async_steps(option.get("sequence"), f"{place}.sequence", depth + 1),
        }

    async def _async_repeat(self, repeat: Any, place: str, depth: int) -> Part:
        """Check a loop."""
        self._check_object(repeat, _REPEAT, place)
        walked = self._rest(repeat, place, {"sequence", "while", "until"})
        for key in ("while", "until"):
            if key in repeat:
                walked[key] = self._conditions.conditions(repeat[key], f"{place}.{key}", depth)
        walked["sequence"] = await self._async_steps(repeat.get("sequence"), f"{place}.sequence", depth + 1)
        return walked

    @staticmethod
    def _object(step: Part, key: str, place: str) -> Part:
        """Return a mapping of a step, empty if the key is missing."""
        if not isinstance(value := step.get(key) or {}, dict):
            raise ToolError(f"{place}.{key}: this must be an object.")
        return value

    @staticmethod
    def _check_object(value: Any, known: frozenset[str], place: str) -> None:
        if not isinstance(value, dict) or (value.keys() - known):
            raise ToolError(f"{place}: this must be an object with {', '.join(sorted(known))}.")

    def _rest(self, part: Part, place: str, without: Iterable[str] = ()) -> Part:
        """Check the texts of a step and return it without some keys."""
        rest = {key: value for key, value in part.items() if key not in without}
        self._texts.check(rest, place)
        return rest

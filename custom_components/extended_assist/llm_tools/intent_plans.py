"""Plan calls of other tools, such as Assist's intents, with the same entities that the intent would find."""

from typing import Any

import voluptuous as vol

from homeassistant.core import Context, State
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, intent, llm
from homeassistant.helpers.json import json_dumps

from ..calls.call import ToolCall
from ..calls.plan import Plan, Step
from ..confirmation.wording import step_for

_OWN = "homeassistant."
"""The module prefix of intents with known effects; intents that a user wrote may do anything."""
_WRITTEN = "homeassistant.components.intent_script"
_ACTION_DONE = "action_done"
"""The response type of a completed action; a literal, because Home Assistant has moved its enum."""
_ENDED_WHEN_DONE = frozenset(
    {
        *(intent.INTENT_START_TIMER, intent.INTENT_CANCEL_TIMER, intent.INTENT_INCREASE_TIMER),
        *(intent.INTENT_DECREASE_TIMER, intent.INTENT_PAUSE_TIMER, intent.INTENT_UNPAUSE_TIMER),
        *("HassListAddItem", "HassListCompleteItem", "HassListRemoveItem"),
    }
)
"""Intents that change no entity; each returns once its action is complete, or fails."""
_PLAY = "media_player__play_media"
_TURN_ON = "turn_on"
# The actions for turning on and off in domains that Assist handles with actions of their own.
_ON_OFF = {
    "cover": ("open_cover", "close_cover"),
    "lock": ("lock", "unlock"),
    "valve": ("open_valve", "close_valve"),
    "button": ("press", "press"),
    "input_button": ("press", "press"),
}


def plan_of(call: ToolCall, tool: llm.Tool, title: str) -> Plan:
    """Return the plan of a call of any tool, as far as its effects can be known."""
    said = f"{title}: {json_dumps(call.arguments)}"
    if isinstance(tool, llm.IntentTool):
        handler = _handler(call, tool)
        if isinstance(handler, intent.DynamicServiceIntentHandler):
            return _plan_of_intent(call, tool, handler, said)
        if call.arguments.get("conversation_command"):
            # When the timer ends, Home Assistant's own agent carries out this command.
            step = step_for(call, "conversation.process", (), call.arguments)
            return Plan((step,), step.words)
        if _is_own(handler):
            return Plan((Step(f"intent.{tool.intent_type}", _meant(call), call.arguments, said),), said)
    elif tool.name == _PLAY and tool.integration == "media_player":
        step = step_for(call, "media_player.play_media", _meant(call, "player_", "media_player"), call.arguments)
        return Plan((step,), step.words)
    elif isinstance(tool, llm.ActionTool):
        domain, action = tool._domain, tool._action  # noqa: SLF001 - nothing else tells which script it runs
        entity_ids = [entity_id] if call.exposure.is_exposed(entity_id := tool.name.replace("__", ".", 1)) else []
        step = step_for(call, f"{domain}.{action}", entity_ids, call.arguments)
        return Plan((step,), step.words)
    return Plan((Step("", (), call.arguments, said),), said, is_whole=False)


def is_complete(call: ToolCall, tool: llm.Tool, result: llm.ToolResult) -> bool:
    """Return whether a tool is an intent of Home Assistant itself whose response reports complete success."""
    if result.error or not isinstance(tool, llm.IntentTool) or not isinstance(result.data, llm.IntentResponseDict):
        return False
    told = result.data
    if told["response_type"] != _ACTION_DONE or told["data"]["failed"]:
        return False
    return _is_own(_handler(call, tool)) and (bool(call.recording.acts) or tool.intent_type in _ENDED_WHEN_DONE)


def _handler(call: ToolCall, tool: llm.IntentTool) -> intent.IntentHandler | None:
    return next((one for one in intent.async_get(call.hass) if one.intent_type == tool.intent_type), None)


def _is_own(handler: intent.IntentHandler | None) -> bool:
    """Return whether the handler belongs to Home Assistant and is no intent script of the user."""
    module = type(handler).__module__
    return module.startswith(_OWN) and not module.startswith(_WRITTEN)


def _meant(call: ToolCall, prefix: str = "", domain: str | None = None) -> tuple[str, ...]:
    """Return the entities that match the name, area and floor in the arguments; none if no such argument is given."""
    name, area, floor = (call.arguments.get(f"{prefix}{key}") or None for key in ("name", "area", "floor"))
    if not (name or area or floor):
        return ()
    given = call.arguments.get("domain") or domain
    found = intent.async_match_targets(
        call.hass,
        intent.MatchTargetsConstraints(
            name=name,
            area_name=area,
            floor_name=floor,
            domains=set(cv.ensure_list(given)) or None,
            assistant=call.caller.assistant,
        ),
    )
    return tuple(state.entity_id for state in found.states)


def _plan_of_intent(
    call: ToolCall, tool: llm.IntentTool, handler: intent.DynamicServiceIntentHandler, said: str
) -> Plan:
    """Return the plan with an intent's actions; without steps if its arguments are invalid or it matches no entity."""
    slots = {key: {"value": value} for key, value in call.arguments.items() if not intent.is_blank_slot_value(value)}
    try:
        slots = handler.async_validate_slots(slots)
    except vol.Invalid, HomeAssistantError, ValueError:
        return Plan((), said)
    given: dict[str, Any] = {key: slot["value"] for key, slot in slots.items()}
    here = llm.async_get_match_preferences(call.hass, call.llm_context)
    area_id, floor_id = (here.area_id, here.floor_id) if tool.extra_slots else (None, None)
    found = intent.async_match_targets(
        call.hass,
        intent.MatchTargetsConstraints(
            name=None if given.get("name") == "all" else given.get("name"),
            area_name=given.get("area"),
            floor_name=given.get("floor"),
            domains=set(given["domain"]) if "domain" in given else handler.required_domains,
            device_classes=set(given["device_class"]) if "device_class" in given else None,
            assistant=call.caller.assistant,
            features=handler.required_features,
            states=handler.required_states,
        ),
        intent.MatchTargetsPreferences(
            area_id=area_id or given.get("preferred_area_id"),
            floor_id=floor_id or given.get("preferred_floor_id"),
        ),
    )
    wanted = {**handler.required_slots, **handler.optional_slots}
    data = {slot.service_data_name or key: given[key] for key, slot in wanted.items() if key in given}
    actions: dict[str, list[str]] = {}
    for state in found.states:
        name = _action(call, handler, slots, state)
        actions.setdefault(name, []).append(state.entity_id)
    steps = tuple(step_for(call, name, ids, data) for name, ids in actions.items())
    return Plan(steps, steps[0].words if len(steps) == 1 else said)


def _action(call: ToolCall, handler: intent.DynamicServiceIntentHandler, slots: Any, state: State) -> str:
    """Return the action that an intent calls for an entity."""
    speaker = call.llm_context
    task = intent.Intent(
        hass=call.hass,
        platform=speaker.platform,
        intent_type=handler.intent_type,
        slots=slots,
        text_input=None,
        context=speaker.context or Context(),
        language=speaker.language or call.hass.config.language,
        assistant=speaker.assistant,
    )
    domain, service = handler.get_domain_and_service(task, state)
    if handler.intent_type in (intent.INTENT_TURN_ON, intent.INTENT_TURN_OFF):
        on_off = _ON_OFF.get(state.domain)
        domain, service = state.domain, on_off[service != _TURN_ON] if on_off else service
    return f"{domain}.{service}"

"""What undoing a change would do."""

from homeassistant.core import callback

from ..calls.call import ToolCall
from ..calls.journal import (
    AUTOMATION,
    CANCELLED,
    FACT,
    HABIT,
    SCENE,
    SCHEDULED,
    SCRIPT,
    STATES,
    WISH,
    WISH_CHANGED,
    Change,
)
from ..calls.plan import Plan, Step
from ..calls.settable_attributes import STATE
from ..const import DOMAIN
from ..exposure.fixed_values import is_fixed_attribute, is_fixed_state
from .automations import async_plan_undo_automation
from .memory import async_plan_undo_fact
from .scheduled import async_plan_undo_task
from .states import steps_of_undoing


async def async_plan_undo(call: ToolCall, change: Change, sentence: str) -> Plan:
    """Return the plan of undoing this change, and no other; steps that cannot be told count as consequential."""
    steps: tuple[Step, ...] = ()
    if STATES in change.details:
        steps = tuple(steps_of_undoing(call, change))
    elif change.kind in (SCHEDULED, CANCELLED, WISH, WISH_CHANGED):
        return await async_plan_undo_task(call, change, sentence)
    elif change.kind == FACT:
        return await async_plan_undo_fact(call, change, sentence)
    elif change.kind in (AUTOMATION, SCRIPT, SCENE) and (plan := await async_plan_undo_automation(call, change)):
        return plan
    elif change.kind == HABIT:
        steps = (Step(f"{DOMAIN}.undo", (), {}, sentence),)
    else:
        steps = (Step(f"{DOMAIN}.undo", (), {}, sentence),)
        return Plan(steps, sentence, is_whole=False, bound_to=change.id)
    return Plan(steps, sentence, bound_to=change.id, has_free_text=_tells_free_text(call, change))


@callback
def _tells_free_text(call: ToolCall, change: Change) -> bool:
    """Return whether a value that would be brought back is not fixed."""
    return any(
        not (
            is_fixed_state(call.hass, state, str(value))
            if name == STATE
            else is_fixed_attribute(call.hass, state, name, value)
        )
        for entity_id, kept in change.details.get(STATES, {}).items()
        if (state := call.exposure.state(entity_id))
        for aspect in kept.get("aspects", {}).values()
        for name, value in (aspect.get("before") or {}).items()
    )

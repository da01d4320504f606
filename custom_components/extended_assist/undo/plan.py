"""What undoing a change would do."""

from ..actions.schedule import async_get_schedule
from ..actions.scheduled import ScheduledAction
from ..const import DOMAIN
from ..results import format_time
from ..toolbox.call import ToolCall
from ..toolbox.journal import AUTOMATION, CANCELLED, FACT, SCENE, SCHEDULED, SCRIPT, STATES, WISH, WISH_CHANGED, Change
from ..toolbox.plan import Plan, Step
from ..toolbox.telling import step_for
from .automations import async_plan_undo_automation
from .memory import async_plan_undo_fact
from .states import steps_of_undoing
from .wishes import async_plan_undo_wish


async def async_plan_undo(call: ToolCall, change: Change, sentence: str) -> Plan:
    """Return what would be brought back of this change, and of no other; what cannot be told counts as consequential."""
    steps: tuple[Step, ...] = ()
    if STATES in change.details:
        steps = tuple(steps_of_undoing(call, change))
    elif change.kind == CANCELLED:
        item = ScheduledAction(**change.details)
        frame = (("at", format_time(item.due)),)
        steps = (step_for(call, item.action, item.entity_ids, item.data, frame),)
    elif change.kind == SCHEDULED:
        waiting = (await async_get_schedule(call.hass)).waiting
        steps = tuple(
            Step(f"{DOMAIN}.cancel", tuple(item.entity_ids), {}, f"Cancel: {item.describe(call.exposure)}")
            for item in waiting
            if item.id == change.details.get("id") and item.is_visible(call.exposure)
        )
    elif change.kind in (WISH, WISH_CHANGED):
        return await async_plan_undo_wish(call, change, sentence)
    elif change.kind == FACT:
        return await async_plan_undo_fact(call, change, sentence)
    elif change.kind in (AUTOMATION, SCRIPT, SCENE) and (plan := await async_plan_undo_automation(call, change)):
        return plan
    else:
        steps = (Step(f"{DOMAIN}.undo", (), {}, sentence),)
        return Plan(steps, sentence, is_whole=False, bound_to=change.id)
    return Plan(steps, sentence, bound_to=change.id)

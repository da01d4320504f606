"""Undo of each kind of change, and the plan of the next undo."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.journal import (
    ASPECTS,
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
    Journal,
)
from ..calls.plan import Plan, Step
from ..calls.settable_attributes import STATE
from ..const import DOMAIN
from ..exposure.fixed_values import is_fixed_attribute, is_fixed_state
from ..habits.dismissed import async_get_declined
from ..results import OverError, ToolError
from .automations import async_plan_undo_automation, async_undo_automation
from .scheduled import async_plan_undo_fact, async_plan_undo_task, async_restore_task, async_undo_fact, async_undo_task
from .states import async_undo_states, steps_of_undoing

type Undoer = Callable[[ToolCall, Change], Awaitable[tuple[JsonObjectType, bool]]]
"""Undoes a change and says what came back and what did not, and whether nothing is left to be tried again.

Raises OverError when it can never be undone, and ToolError when it was not.
"""


async def async_undo_decline(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Allow a declined habit again."""
    if not await (await async_get_declined(call.hass)).async_allow(change.details["id"]):
        raise OverError("That habit is not declined any more. Undo again for the change before.")
    return {"undone": "the habit may be offered again"}, True


UNDOERS: Final[Mapping[str, Undoer]] = {
    STATES: async_undo_states,
    ASPECTS: async_undo_states,
    **dict.fromkeys((AUTOMATION, SCRIPT, SCENE), async_undo_automation),
    **dict.fromkeys((SCHEDULED, WISH), async_undo_task),
    **dict.fromkeys((CANCELLED, WISH_CHANGED), async_restore_task),
    FACT: async_undo_fact,
    HABIT: async_undo_decline,
}
_NOT_STORED: Final = (
    "This was undone, but that could not be stored, so after a restart undo may do it again. Tell the user that the disk may "
    "be full."
)
_LOCK: HassKey[asyncio.Lock] = HassKey(f"{DOMAIN}_undo_lock")


def undo_lock(hass: HomeAssistant) -> asyncio.Lock:
    """Return the lock that runs undos one after the other, since each decides which change is the last."""
    return hass.data.setdefault(_LOCK, asyncio.Lock())


async def async_undo(call: ToolCall, journal: Journal, change: Change) -> JsonObjectType:
    """Undo a change; a failed part stays the last change for another try."""
    if (undoer := UNDOERS.get(change.kind)) is None:
        raise ToolError(
            "The last change was made by a newer version of Extended Assist, so it cannot be undone by this one."
        )
    try:
        answer, is_over = await undoer(call, change)
    except OverError:
        journal.mark(change, undone=True)
        raise
    journal.mark(change, undone=is_over)
    return answer if await journal.async_save() else answer | {"note": _NOT_STORED}


async def async_plan_undo(call: ToolCall, change: Change, sentence: str) -> Plan:
    """Return the plan of undoing exactly this change; steps that cannot be described count as consequential."""
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
    """Return whether a restored value is not fixed."""
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

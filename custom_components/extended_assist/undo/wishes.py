"""Take back that a wish for later was made, ended or put off."""

from dataclasses import replace

from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..const import DOMAIN
from ..results import OverError, ToolError
from ..toolbox.call import ToolCall
from ..toolbox.journal import CANCELLED, SCHEDULED, WISH, Change
from ..toolbox.outside import async_are_others
from ..toolbox.plan import Plan, Step
from ..wishes.account import async_plan_wish, async_prepare, entity_ids_of, is_told, told_wish
from ..wishes.first_release import wish_of
from ..wishes.keeper import async_get_wishes
from ..wishes.moments import next_moment
from ..wishes.running import told_begun
from ..wishes.whose import async_check_change
from ..wishes.wish import Wish, read_stored

_TAKEN_BACK = "taken back"


async def async_unwish(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """End a wish that was made."""
    wishes = await async_get_wishes(call.hass)
    if (made := wishes.find(change.details["id"])) is not None:
        await async_check_change(call.hass, made, call.caller.user_id)
    runs, later = wishes.runs_of(change.details["id"]), wishes.parts_of(change.details["id"])
    earlier = wishes.find(change.details["id"]) if later else None
    wish = await wishes.async_end(change.details["id"], _TAKEN_BACK)
    if wish is None:
        raise OverError("What was to come has happened or was ended already. Undo again for what it changed.")
    await async_prepare(call.exposure, wish)
    begun = told_begun(runs, wish, call.exposure, earlier)
    how = ", though it had begun already" if begun else ""
    return begun | {"undone": f"ended{how}: {told_wish(call.hass, call.exposure, wish)}"}, True


async def async_restore_wish(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Let a wish stand, or be over, as it was before it was ended or put off."""
    wishes, wish = await async_get_wishes(call.hass), before(change)
    await async_check_change(call.hass, wish, call.caller.user_id)
    await async_prepare(call.exposure, wish)
    what = told_wish(call.hass, call.exposure, wish)
    if not wish.is_standing:
        await wishes.async_end(wish.id, wish.progress.result or _TAKEN_BACK)
        return {"undone": f"no more put off: {what}"}, True
    if call.hass.config_entries.async_get_entry(wish.owner.entry_id) is None:
        raise OverError("The assistant that kept it was removed, so it cannot be brought back.")
    now = dt_util.utcnow().timestamp()
    if not wish.when.triggers and next_moment(wish.when, now) is None and (wish.progress.again or 0) <= now:
        raise OverError("Its time is over, so it cannot be brought back.")
    await wishes.async_restore(wish)
    for part in read_stored({"wishes": change.details.get("later_parts", [])}):
        if (next_moment(part.when, now) or 0) > now:
            await wishes.async_restore(part)
    return {"undone": f"to come as before: {what}", "id": wish.id}, True


async def async_plan_undo_wish(call: ToolCall, change: Change, sentence: str) -> Plan:
    """Return the plan of undoing a change of a wish."""
    if change.kind in (SCHEDULED, WISH):
        wishes = await async_get_wishes(call.hass)
        wish = wishes.find(change.details["id"])
        if wish is None or not (wish.is_standing or wishes.parts_of(wish.id)) or not is_told(call.exposure, wish):
            return Plan((), sentence, bound_to=change.id)
        await async_prepare(call.exposure, wish)
        words = f"Cancel: {told_wish(call.hass, call.exposure, wish)}"
        step = Step(f"{DOMAIN}.cancel", tuple(entity_ids_of(wish)), {}, words)
        has_free_text = await async_are_others(call.hass, call.caller.user_id, [wish.author])
        return Plan((step,), words, bound_to=change.id, has_free_text=has_free_text)
    earlier = before(change)
    try:
        plan = await async_plan_wish(call, earlier)
    except ToolError:
        # What of it is hidden by now will not be done at its time.
        return Plan((Step(f"{DOMAIN}.undo", (), {}, sentence),), sentence, is_whole=False, bound_to=change.id)
    has_free_text = await async_are_others(call.hass, call.caller.user_id, [earlier.author])
    return replace(plan, bound_to=change.id, has_free_text=has_free_text)


def before(change: Change) -> Wish:
    """Return a wish as it was before it was changed."""
    if change.kind == CANCELLED:
        return wish_of(change.details)
    (wish,) = read_stored({"wishes": [change.details]})
    return wish

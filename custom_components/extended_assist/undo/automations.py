"""Take back that an automation, script or scene was added, changed or removed."""

import asyncio

from homeassistant.util.json import JsonObjectType

from ..automations.account import parts_of, shown
from ..automations.check import MAX_NAME
from ..automations.describe_scripts import DESCRIBERS
from ..automations.difference import diff
from ..automations.loading_scripts import FILES
from ..automations.query import exposed_automation, visible_block
from ..automations.reverse import ChangedSinceError
from ..automations.store import UNSEEN, async_get_store
from ..const import DOMAIN
from ..results import OverError
from ..toolbox.call import ToolCall
from ..toolbox.journal import Change
from ..toolbox.plan import Plan, Step
from ..toolbox.policy import Tier, async_check_speaker

_AGAIN = (
    "Tell the user. Once that is set back, undo again; if it is undone again as it is now, this change is given up."
)
_GIVEN_UP = (
    "It is given up: the change before this one is the last one from here on. If the user still wants it taken back, change it "
    "with the tools for automations."
)


async def async_undo_automation(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Write an automation, script or scene as it was before a change."""
    await async_check_speaker(call.hass, call.options.policy, Tier.ADMINISTER, call.caller)
    store, details = async_get_store(call.hass, FILES[change.kind]), change.details
    is_seen = details.get(UNSEEN) or exposed_automation(call, details["id"], change.kind) is not None
    if details["after"] is not None and not is_seen:
        raise OverError(f"The {change.kind} of the last change is gone or not exposed any more, so nothing was undone.")
    try:
        made = await store.async_restore(call, change)
    except ChangedSinceError as err:
        if details.get("refused") == str(err):
            raise OverError(f"{err} {_GIVEN_UP}") from err
        details["refused"] = str(err)
        raise ChangedSinceError(f"{err} {_AGAIN}") from err
    answer: JsonObjectType = {
        "undone": {
            made.entity_id or details["id"]: "removed again" if details["before"] is None else "as it was before"
        }
    }
    return answer | ({"note": made.problem} if made.problem else {}), True


async def async_plan_undo_automation(call: ToolCall, change: Change) -> Plan | None:
    """Return what a change would be taken back to, with the lines that change; None where it cannot be told."""
    await call.exposure.async_prepare()
    blocks = []
    for key in ("before", "after"):
        blocks.append(visible_block(call, change.details.get(key), change.kind))
        await asyncio.sleep(0)  # Each takes long where there are thousands of names.
    before, after = blocks
    if (now := before or after) is None or (before is None) != (change.details.get("before") is None):
        return None
    verb = "Change back" if before and after else "Bring back" if before else "Remove again"
    name = str(now.get("alias", now.get("name", change.details["id"])))
    title = f"{verb} the {change.kind} '{name if len(name) <= MAX_NAME else f'{name[: MAX_NAME - 1]}…'}'"
    account = f"{title}: {DESCRIBERS[change.kind](call.hass, call.exposure).describe(now)}"
    parts = parts_of(call, change.kind, now, runs=before is not None)
    lines = shown(diff(after, before))
    step = Step(f"{DOMAIN}.undo", (), {}, account, title=title, parts=parts, shown=lines)
    return Plan((step,), account, is_whole=False, bound_to=change.id)

"""Take back that an automation was added, changed or removed."""

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.util.json import JsonObjectType

from ..automations.account import parts_of, shown
from ..automations.check import MAX_NAME
from ..automations.describe import AutomationDescriber
from ..automations.difference import diff
from ..automations.query import exposed_automations, visible_block
from ..automations.reverse import ChangedSinceError
from ..automations.store import async_get_store
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
    "It is given up: the change before this one is the last one from here on. If the user still wants it taken back, change the "
    "automation with the tools for automations."
)


async def async_undo_automation(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Write an automation as it was before a change."""
    await async_check_speaker(call.hass, call.options.policy, Tier.ADMINISTER, call.caller)
    store, details = async_get_store(call.hass), change.details
    if details["after"] is not None and not any(found.id == details["id"] for found in exposed_automations(call)):
        raise OverError("The automation of the last change is gone or not exposed any more, so nothing was undone.")
    try:
        made = await store.async_restore(call, details)
    except ChangedSinceError as err:
        if details.get("refused") == str(err):
            raise OverError(f"{err} {_GIVEN_UP}") from err
        details["refused"] = str(err)
        raise ChangedSinceError(f"{err} {_AGAIN}") from err
    if details["after"] is None and made.entity_id and not call.exposure.is_exposed(made.entity_id):
        async_expose_entity(call.hass, call.llm_context.assistant, made.entity_id, True)  # noqa: FBT003 - its signature
    answer: JsonObjectType = {
        "undone": {
            made.entity_id or details["id"]: "removed again" if details["before"] is None else "as it was before"
        }
    }
    return answer | ({"note": made.problem} if made.problem else {}), True


def plan_undo_automation(call: ToolCall, change: Change) -> Plan | None:
    """Return what a change of an automation would be taken back to, with the lines that change; None where it cannot be told."""
    before, after = (visible_block(call, change.details.get(key)) for key in ("before", "after"))
    if (now := before or after) is None or (before is None) != (change.details.get("before") is None):
        return None
    verb = "Change back" if before and after else "Bring back" if before else "Remove again"
    name = str(now.get("alias", change.details["id"]))
    title = f"{verb} the automation '{name if len(name) <= MAX_NAME else f'{name[: MAX_NAME - 1]}…'}'"
    account = f"{title}: {AutomationDescriber(call.hass, call.exposure).describe(now)}"
    parts = parts_of(call, now, runs=before is not None)
    lines = shown(diff(after, before))
    step = Step(f"{DOMAIN}.undo", (), {}, account, title=title, parts=parts, shown=lines)
    return Plan((step,), account, is_whole=False, bound_to=change.id)

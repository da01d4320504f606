"""Take back that an automation was added, changed or removed."""

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.util.json import JsonObjectType

from ..automations.describe import AutomationDescriber
from ..automations.difference import diff
from ..automations.query import exposed_automation, visible_block
from ..automations.store import async_get_store
from ..const import DOMAIN
from ..results import OverError
from ..toolbox.call import ToolCall
from ..toolbox.journal import Change
from ..toolbox.plan import Plan, Step
from ..toolbox.policy import Tier, async_check_speaker


async def async_undo_automation(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Write an automation as it was before a change."""
    await async_check_speaker(call.hass, call.options.policy, Tier.ADMINISTER, call.caller)
    store, details = async_get_store(call.hass), change.details
    if details["after"] is not None and exposed_automation(call, details["id"]) is None:
        raise OverError("The automation of the last change is gone or not exposed any more, so nothing was undone.")
    made = await store.async_restore(call, details)
    if details["after"] is None and made.entity_id:
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
    account = f"{verb} the automation '{now.get('alias', change.details['id'])}': {AutomationDescriber(call.hass, call.exposure).describe(now)}"
    lines = diff(after, before).replace("```", "'''")
    step = Step(f"{DOMAIN}.undo", (), {}, f"{account}\n```diff\n{lines}\n```")
    return Plan((step,), account, is_whole=False, bound_to=change.id)

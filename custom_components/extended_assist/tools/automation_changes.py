"""Add, change and remove automations, and undo that."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import override

import voluptuous as vol

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.util.json import JsonObjectType

from ..automations.check import KEYS, CheckedAutomation, async_check, current, normalized, resolved
from ..automations.describe import AutomationDescriber
from ..automations.difference import diff
from ..automations.edit import Edit, add, merged, remove, update
from ..automations.query import Automation, FileState, exposed_automations, find_automation, read_file, visible_config
from ..automations.similar import warnings_of
from ..automations.store import VerifiedChange, async_get_store
from ..results import ToolError
from ..toolbox.call import ToolCall
from ..toolbox.plan import Plan, Step
from ..toolbox.policy import Tier
from ..toolbox.tool import ExtendedTool

DEADLINE = 60.0
"""Seconds that a change may take: Home Assistant reads its whole configuration anew before it loads one automation."""

_ELSEWHERE = (
    "This automation cannot be changed from here: it is written in another file of the configuration, or has no id of "
    "its own. Tell the user to change it there."
)
_SYNTAX = (
    "In Home Assistant's current syntax, e.g. {'alias': 'Porch at sunset', 'triggers': [{'trigger': 'sun', 'event': "
    "'sunset'}], 'conditions': [], 'actions': [{'action': 'light.turn_on', 'target': {'entity_id': 'light.porch'}}], "
    "'mode': 'single'}; or 'use_blueprint': {'path', 'input'}."
)

_TOLD_APART_BY = frozenset({"triggers", "actions", "alias"})


@dataclass(slots=True)
class PlannedChange:
    """A change that was checked and can be made."""

    automation_id: str
    account: str
    """What would be done, in words."""
    difference: str
    make: Callable[[str], Edit]
    notes: list[str] = field(default_factory=list)


class ChangingTool(ExtendedTool):
    """What the three tools have in common: plan, tell, do, verify."""

    family = "automations"
    tier = Tier.ADMINISTER
    deadline = DEADLINE

    @override
    @classmethod
    async def async_available(cls, hass: HomeAssistant) -> bool:
        """Return whether automations are set up."""
        return AUTOMATION_DOMAIN in hass.config.components

    async def async_change(self, call: ToolCall) -> PlannedChange:
        """Return the checked change; raises ToolError when it cannot be made."""
        raise NotImplementedError

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return what would be done, with the lines that would change."""
        change = await self.async_change(call)
        lines = change.difference.replace("```", "'''")
        words = "\n".join([change.account, *change.notes, f"```diff\n{lines}\n```"])
        return Plan((Step(self.name.replace("__", ".", 1), (), {}, words),), change.account)

    async def async_make(self, call: ToolCall, plan: PlannedChange) -> VerifiedChange:
        """Make a planned change."""
        return await async_get_store(call.hass).async_change(call, plan.automation_id, plan.make)


class AddAutomationTool(ChangingTool):
    """Write a new automation, load it, and expose it to the assistant that wrote it."""

    name = "extended_assist__add_automation"
    title = "Add automation"
    description = (
        "Create an automation from structured JSON. It may use exposed entities only, named by id. It is validated, written, "
        "loaded and verified, or nothing is changed. For something to do once, use perform_action with delay or at."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=False, idempotent=False, open_world=False)
    parameters = vol.Schema({vol.Required("automation", description=_SYNTAX): dict})

    @override
    async def async_change(self, call: ToolCall) -> PlannedChange:
        """Check the new automation."""
        store = async_get_store(call.hass)
        config = normalized(call.arguments["automation"])
        state = await call.hass.async_add_executor_job(read_file, store.path)
        if state.problem:
            raise ToolError(state.problem)
        automation_id = store.new_id()
        checked = await async_check(call, automation_id, config)
        config = checked.config
        account = f"Add the automation '{config['alias']}': {_describer(call).describe(checked.whole)}"
        make = partial(add, config={"id": automation_id, **config})
        notes = [*_left_out(checked), *await _async_warnings(call, checked, automation_id)]
        return PlannedChange(automation_id, account, diff(None, config), make, notes)

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Write it."""
        plan = await self.async_change(call)
        made = await self.async_make(call, plan)
        async_expose_entity(call.hass, call.llm_context.assistant, made.entity_id, True)  # noqa: FBT003 - its signature
        return {
            "added": made.entity_id,
            "id": plan.automation_id,
            "what": plan.account,
            **_noted([*plan.notes, "It is loaded, and exposed to you so that you can change it later."]),
        }


class UpdateAutomationTool(ChangingTool):
    """Change parts of an automation and leave the rest as it is written."""

    name = "extended_assist__update_automation"
    title = "Update automation"
    description = (
        "Change an automation: only the named parts, each of them given in full. Look at it with get_automations and details "
        "first. Checked, loaded and verified as when adding."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=True, open_world=False)
    parameters = vol.Schema(
        {
            vol.Required("automation", description="Id, entity id or name."): cv.string,
            vol.Required("changes", description=f"New values of any of: {', '.join(KEYS)}. null removes one."): dict,
        }
    )

    @override
    async def async_change(self, call: ToolCall) -> PlannedChange:
        """Check the automation as it would be."""
        automation, state = await _async_find(call)
        # A length in the schema would tell the model that a text or a list will do.
        if not (changes := normalized(call.arguments["changes"])):
            raise ToolError("There is nothing in 'changes'. Give at least one part with its new value.")
        automation_id, written = str(automation.id), state.config or {}
        before = written if "use_blueprint" in written else resolved(written, automation.config)
        wanted = current(merged(before, changes))
        wanted.pop("id", None)
        checked = await async_check(call, automation_id, wanted, changes)
        changes = {key: value if value is None else checked.config[key] for key, value in changes.items()}
        visible, _ = visible_config(call, automation, state)
        account = _describer(call).describe(checked.whole)
        return PlannedChange(
            automation_id,
            f"Change {', '.join(changes)} of the automation '{automation.name}'. Then '{checked.config['alias']}': {account}",
            diff(visible, merged(visible, changes)),
            partial(update, automation_id=automation_id, changes=changes),
            [
                *_left_out(checked),
                *(await _async_warnings(call, checked, automation_id) if _TOLD_APART_BY & changes.keys() else []),
            ],
        )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Write what changes."""
        plan = await self.async_change(call)
        made = await self.async_make(call, plan)
        return {"changed": made.entity_id, "what": plan.account, **_noted(plan.notes)}


class RemoveAutomationTool(ChangingTool):
    """Remove an automation from the file and from Home Assistant."""

    name = "extended_assist__remove_automation"
    title = "Remove automation"
    description = "Remove an automation for good. To stop it for a while, turn it off with perform_action instead."
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=False)
    parameters = vol.Schema({vol.Required("automation", description="Id, entity id or name."): cv.string})

    @override
    async def async_change(self, call: ToolCall) -> PlannedChange:
        """Find what would be removed."""
        automation, state = await _async_find(call)
        visible, _ = visible_config(call, automation, state)
        account = AutomationDescriber(call.hass, call.exposure).describe(automation.config)
        return PlannedChange(
            str(automation.id),
            f"Remove the automation '{automation.name}': {account}",
            diff(visible, None),
            partial(remove, automation_id=str(automation.id)),
        )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Remove it."""
        plan = await self.async_change(call)
        made = await self.async_make(call, plan)
        return {"removed": made.entity_id, "what": plan.account}


def _describer(call: ToolCall) -> AutomationDescriber:
    """Return what says in words what is about to be written: all that the options list may be named."""
    return AutomationDescriber(call.hass, call.exposure, known=call.options.targetless_actions)


async def _async_find(call: ToolCall) -> tuple[Automation, FileState]:
    """Return the automation that the arguments mean, and what the file holds of it."""
    automation = find_automation(call, call.arguments["automation"])
    state = await call.hass.async_add_executor_job(read_file, async_get_store(call.hass).path, automation.id)
    if state.problem:
        raise ToolError(state.problem)
    if state.config is None:
        raise ToolError(state.reason or _ELSEWHERE)
    return automation, state


async def _async_warnings(call: ToolCall, checked: CheckedAutomation, automation_id: str) -> list[str]:
    """Return warnings about automations that a new one repeats."""
    known = exposed_automations(call)
    return await call.hass.async_add_executor_job(warnings_of, known, checked, automation_id)


def _left_out(checked: CheckedAutomation) -> list[str]:
    """Return what is to be said of areas and the like that hold more than is exposed."""
    if not checked.left_out:
        return []
    what = "1 entity" if checked.left_out == 1 else f"{checked.left_out} entities"
    return [f"Of the places that were named, {what} not exposed will be left alone."]


def _noted(notes: list[str]) -> JsonObjectType:
    """Return notes, if there are any."""
    return {"notes": list(notes)} if notes else {}

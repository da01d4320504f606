"""Add, change and remove automations, scripts and scenes."""

from collections.abc import Mapping
from functools import partial
from typing import Any, override

import voluptuous as vol

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.util.json import JsonObjectType

from ..automations.change_check import async_check_change, newer
from ..automations.check import (
    MAX_NAME,
    CheckedAutomation,
    async_check,
    normalized,
    refuse_placeholders,
    same_names,
    warnings_of,
)
from ..automations.describe import DESCRIBERS, diff
from ..automations.edit import add, merged, remove, update
from ..automations.file import try_change
from ..automations.loading import FILES, SCENES, SCRIPTS
from ..automations.parts import as_displayed, put_back, without_stored_recipients
from ..automations.query import (
    Automation,
    FileState,
    async_exposed_automations,
    async_find_automation,
    read_file,
    visible_config,
)
from ..automations.rules import AUTOMATION_RULES, RULES, SCRIPT_RULES, check_runs_others_only, free_object_id
from ..automations.scenes import SCENE_KEYS
from ..automations.secret_values import SecretValues, without_all_recipients
from ..automations.store import VerifiedChange, async_get_store
from ..calls.call import ToolCall
from ..calls.plan import Plan, Remark
from ..calls.policy import Tier
from ..confirmation.wording import step_for
from ..llm_tools.extended_tool import ExtendedTool
from ..results import ToolError, cut
from .scene_changes import PlannedChange, asking, exposing, loaded, noted, plan_new_scene, plan_scene
from .simulation import RehearseAutomationTool, async_remark

DEADLINE = 60.0
"""The most seconds of a change: Home Assistant reads its whole configuration before it loads one automation."""

MAX_WHAT = 600
"""The most characters of the change in a result: the model knows it and reads it again in each later round."""

_ALL_OF_IT = "get_automations with details has all of it"
_UNDONE = "undo_last_change brings it back"
_SYNTAX = (
    "In Home Assistant's current syntax, e.g. {'alias': 'Porch at sunset', 'triggers': [{'trigger': 'sun', 'event': "
    "'sunset'}], 'conditions': [], 'actions': [{'action': 'light.turn_on', 'target': {'entity_id': 'light.porch'}}], "
    "'mode': 'single'}; or 'use_blueprint': {'path', 'input'}."
)
_SCRIPT_SYNTAX = (
    "Instead: {'alias', 'fields': {'minutes': {'selector': {'number': {}}}}, 'sequence': [steps], 'mode'}. Its fields are "
    "variables of templates."
)
_SCENE_SYNTAX = "Instead: {'name', 'entities': [ids]}, which keeps the present states of these."

_TOLD_APART_BY = frozenset({"triggers", "actions", "alias"})
_DECIDES = frozenset({"triggers", "conditions", "actions", "mode", "use_blueprint"})
"""Keys that decide when and for how long an automation runs."""
_WHICH = vol.Required("automation", description="Id, entity id or name of an automation, script or scene.")


class ChangingTool(ExtendedTool):
    """The common part of the three tools: plan, describe, write, verify."""

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
        """Return the plan of the change, with the lines that it would change."""
        change = await self.async_change(call)
        # What the text of the file does not allow is told before anybody is asked.
        await call.hass.async_add_executor_job(try_change, async_get_store(call.hass, change.file).path, change.make)
        remark = await _async_remark(call, change)
        return Plan((change.step(call, self.name.replace("__", ".", 1)),), change.account, remark=remark)

    async def async_make(self, call: ToolCall, plan: PlannedChange, *, expose: bool | None = None) -> VerifiedChange:
        """Make a planned change."""
        store = async_get_store(call.hass, plan.file)
        made = await store.async_change(
            call,
            plan.automation_id,
            plan.make,
            may_be_broken=plan.is_broken,
            expose=expose,
            blueprint=plan.blueprint,
        )
        plan.notes += [f"As before: {made.problem}"] if made.problem else []
        return made


class AddAutomationTool(ChangingTool):
    """Write a new automation, script or scene, load it, and expose it to the assistant that wrote it."""

    name = "extended_assist__add_automation"
    title = "Add automation"
    description = (
        "Create an automation, a script or a scene from structured JSON. It may use exposed entities only, named by id, in "
        "templates too. It is validated, written, loaded and verified, or nothing is changed. For something to do once, use "
        "perform_action with delay or at."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=False, idempotent=False, open_world=False)
    parameters = vol.Schema(
        {
            vol.Optional("automation", description=_SYNTAX): dict,
            vol.Optional("script", description=_SCRIPT_SYNTAX): dict,
            vol.Optional("scene", description=_SCENE_SYNTAX): dict,
            vol.Optional("expose", description="false: not to Assist, nor to you."): cv.boolean,
        }
    )

    @override
    async def async_change(self, call: ToolCall) -> PlannedChange:
        """Check the new item."""
        kinds = [kind for kind in FILES if kind in call.arguments]
        if len(kinds) != 1:
            raise ToolError(f"Give one of {', '.join(FILES)}.")
        (kind,) = kinds
        file, given = FILES[kind], call.arguments[kind]
        if file.domain not in call.hass.config.components:
            raise ToolError(f"{kind.capitalize()}s are not set up in Home Assistant. Tell the user.")
        await call.exposure.async_prepare()
        store = async_get_store(call.hass, file)
        state = await call.hass.async_add_executor_job(read_file, store.path, (), kind)
        if state.problem:
            raise ToolError(state.problem)
        if file is SCENES:
            plan = plan_new_scene(call, store.new_id(), given)
        else:
            plan = await self._async_change(call, kind, store.new_id(), state)
        plan.asks.append(exposing(kind, expose=call.arguments.get("expose", True)))
        return plan

    async def _async_change(self, call: ToolCall, kind: str, item_id: str, state: FileState) -> PlannedChange:
        """Check a new automation or script."""
        rules = RULES[kind]
        config = normalized(call.arguments[kind], rules)
        refuse_placeholders(config)
        if rules is SCRIPT_RULES:
            item_id = free_object_id(call.hass, str(config.get("alias") or ""), state.ids)
        checked = await async_check(call, item_id, config, rules=rules)
        title = f"Add the {kind} '{config['alias']}'"
        return PlannedChange(
            item_id,
            title,
            f"{title}: {_would_be_told(call, kind, checked.whole)}",
            diff(None, checked.config),
            partial(add, config={"id": item_id, **checked.config}, kind=kind),
            checked.whole,
            [*_left_out(checked), *await _async_warnings(call, checked, item_id, kind)],
            rules.file,
            _asks(call, checked, kind),
            blueprint=checked.blueprint,
            rehearsed=checked if rules is AUTOMATION_RULES else None,
        )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Write it."""
        plan, expose = await self.async_change(call), bool(call.arguments.get("expose", True))
        made = await self.async_make(call, plan, expose=expose)
        return {
            "added": made.entity_id,
            "id": plan.automation_id,
            "what": cut(plan.account, MAX_WHAT, _ALL_OF_IT),
            **noted([*plan.notes, *loaded(plan.file.domain, expose=expose)]),
        }


class UpdateAutomationTool(ChangingTool):
    """Change parts of an automation; the rest of its lines stays unchanged."""

    name = "extended_assist__update_automation"
    title = "Update automation"
    description = (
        "Change an automation, script or scene: only the named parts, each of them given in full. Look at it with get_automations and details "
        "first. Checked, loaded and verified as when adding."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=True, open_world=False)
    parameters = vol.Schema(
        {
            _WHICH: cv.string,
            vol.Required(
                "changes",
                description=f"New values of any of: {', '.join(AUTOMATION_RULES.keys)}. null removes one. Of a script: "
                f"{', '.join(key for key in SCRIPT_RULES.keys if key not in AUTOMATION_RULES.keys)} too. Of a scene: "
                f"{', '.join(SCENE_KEYS)} (all of them, kept as they are now).",
            ): dict,
        }
    )

    @override
    async def async_change(self, call: ToolCall) -> PlannedChange:
        """Check the automation with its changes."""
        automation, state = await _async_find(call)
        if automation.kind == SCENES.domain:
            return plan_scene(call, automation, state, call.arguments["changes"])
        rules = RULES[automation.kind]
        # A length in the schema would tell the model that a text or a list will do.
        if not (given := normalized(call.arguments["changes"], rules)):
            raise ToolError("There is nothing in 'changes'. Give at least one part with its new value.")
        automation_id, written = str(automation.id), state.configs[str(automation.id)]
        visible, _ = visible_config(call, automation, state)
        told_as = put_back(given, newer(visible), newer(written))
        refuse_placeholders(told_as)
        checked = await async_check_change(
            call, automation, written, told_as, await _async_loadable(call, automation, state)
        )
        changes = {key: value if value is None else checked.config[key] for key, value in told_as.items()}
        if rules is SCRIPT_RULES:
            check_runs_others_only(call.hass, automation.entity_id, checked.actions)
        told = _without_secrets(call, without_stored_recipients(checked.whole, given, told_as), automation, state)
        title = f"Change {', '.join(changes)} of the {automation.kind} '{_name(automation)}'"
        same: list[str] = []
        if _TOLD_APART_BY & changes.keys():
            same = await _async_warnings(call, checked, automation_id, automation.kind)
        return PlannedChange(
            automation_id,
            title,
            f"{title}. Then '{checked.config.get('alias') or _name(automation)}': {_would_be_told(call, automation.kind, told)}",
            diff(visible, merged(visible, as_displayed(given, told_as, changes))),
            partial(update, automation_id=automation_id, changes=changes, kind=automation.kind, expected=written),
            checked.whole,
            [*_left_out(checked), *same],
            rules.file,
            _asks(call, checked, automation.kind),
            told=told,
            blueprint=checked.blueprint,
            rehearsed=checked if rules is AUTOMATION_RULES and _DECIDES & changes.keys() else None,
            entity_id=automation.entity_id,
            is_broken=not automation.loaded.available,
        )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Write what changes."""
        plan = await self.async_change(call)
        made = await self.async_make(call, plan)
        return {"changed": made.entity_id, "what": cut(plan.account, MAX_WHAT, _ALL_OF_IT), **noted(plan.notes)}


class RemoveAutomationTool(ChangingTool):
    """Remove an automation, script or scene from its file and from Home Assistant."""

    name = "extended_assist__remove_automation"
    title = "Remove automation"
    description = (
        "Remove an automation, script or scene for good. To stop an automation for a while, turn it off with perform_action "
        "instead."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=False)
    parameters = vol.Schema({_WHICH: cv.string})

    @override
    async def async_change(self, call: ToolCall) -> PlannedChange:
        """Find the item to remove."""
        automation, state = await _async_find(call, to_remove=True)
        visible, _ = visible_config(call, automation, state)
        told = _without_secrets(call, without_all_recipients(automation.config), automation, state)
        item_id, title = str(automation.id), f"Remove the {automation.kind} '{_name(automation)}'"
        return PlannedChange(
            item_id,
            title,
            f"{title}: {_told(call, automation.kind, told)}",
            diff(visible, None),
            partial(remove, automation_id=item_id, kind=automation.kind, expected=state.configs.get(item_id)),
            automation.config,
            file=FILES[automation.kind],
            told=told,
            is_removal=True,
        )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Remove it."""
        plan = await self.async_change(call)
        made = await self.async_make(call, plan)
        return {"removed": made.entity_id, "what": cut(plan.account, MAX_WHAT, _UNDONE)}


async def _async_remark(call: ToolCall, change: PlannedChange) -> Remark | None:
    """Return the summary of an automation's simulation for a question, if the caller may simulate."""
    if change.rehearsed is None or not call.options.rehearses:
        return None
    if not await RehearseAutomationTool(call.options).async_may(call.hass, call.caller):
        return None
    return partial(async_remark, call, change.rehearsed, change.automation_id, change.entity_id)


def _name(automation: Automation) -> str:
    """Return the name of an automation, short enough to be spoken."""
    return automation.name if len(automation.name) <= MAX_NAME else f"{automation.name[: MAX_NAME - 1]}…"


async def _async_find(call: ToolCall, *, to_remove: bool = False) -> tuple[Automation, FileState]:
    """Return the automation of the arguments, and its lines in the file."""
    await call.exposure.async_prepare()
    automation = await async_find_automation(call, call.arguments["automation"], FILES)
    path = async_get_store(call.hass, FILES[automation.kind]).path
    state = await call.hass.async_add_executor_job(read_file, path, [automation.id], automation.kind)
    if reason := state.reason(automation.id):
        if state.problem:
            raise ToolError(reason)
        if not (to_remove and automation.id in state.removable):
            raise ToolError(
                f"This {automation.kind} cannot be changed here: {reason}. Tell the user to change it there."
            )
    return automation, state


async def _async_loadable(call: ToolCall, automation: Automation, state: FileState) -> Mapping[str, Any]:
    """Return an automation or script as Home Assistant would load it from the files, or else as it was loaded."""
    file, item_id = FILES[automation.kind], str(automation.id)
    load = partial(file.load, async_get_store(call.hass, file).path, item_id, state.lines[item_id])
    try:
        found = await call.hass.async_add_executor_job(load)
    except HomeAssistantError, OSError, ValueError:
        found = None
    return found if isinstance(found, Mapping) else automation.config


def _without_secrets(
    call: ToolCall, config: Mapping[str, Any], automation: Automation, state: FileState
) -> Mapping[str, Any]:
    """Return a configuration without the values of its secret tags."""
    found: Mapping[str, Any] = SecretValues(call.exposure, config, state.secrets_of(automation)).without(config)
    return found


async def _async_warnings(call: ToolCall, checked: CheckedAutomation, item_id: str, kind: str) -> list[str]:
    """Return warnings about existing items that a new one repeats."""
    known = await async_exposed_automations(call, kind)
    if kind == SCRIPTS.domain:
        return same_names(known, checked.config.get("alias", ""), item_id)
    return await call.hass.async_add_executor_job(warnings_of, known, checked, item_id)


def _told(call: ToolCall, kind: str, config: Mapping[str, Any]) -> str:
    """Return a description of an automation, script or scene."""
    return DESCRIBERS[kind](call.hass, call.exposure).describe(config)


def _would_be_told(call: ToolCall, kind: str, config: Mapping[str, Any]) -> str:
    """Return a description of what will be written, with everything that the options list."""
    return DESCRIBERS[kind](call.hass, call.exposure, known=call.options.targetless_actions).describe(config)


def _asks(call: ToolCall, checked: CheckedAutomation, kind: str) -> list[str]:
    """Return the sentences on consequential steps of a script."""
    if kind != SCRIPTS.domain:
        return []
    return asking(call, [step_for(call, one.name, one.entity_ids, one.data) for one in checked.actions])


def _left_out(checked: CheckedAutomation) -> list[str]:
    """Return sentences on areas and other targets that have entities which are not exposed."""
    if not checked.left_out:
        return []
    what = "1 entity" if checked.left_out == 1 else f"{checked.left_out} entities"
    return [f"Of the places that were named, {what} not exposed will be left alone."]

"""Tell which automations there are, what they do and how they ran."""

from typing import Any, override

import voluptuous as vol

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.util.json import JsonObjectType

from ..automations.describe import AutomationDescriber
from ..automations.query import (
    Automation,
    FileState,
    async_last_runs,
    exposed_automations,
    find_automation,
    matching_automations,
    read_file,
    visible_config,
)
from ..automations.secret_values import SecretValues
from ..automations.store import async_get_store
from ..exposure import normalize
from ..results import fit_rows, format_time, to_csv
from ..toolbox.call import ToolCall
from ..toolbox.policy import Tier
from ..toolbox.tool import READ_ONLY, ExtendedTool

_HEADER = ("name", "entity_id", "id", "state", "last_triggered", "can_be_changed", "what")
_LEFT_OUT = (
    "Parts that name what is not exposed are left out. They can stay: what is beside them can be changed where that gives "
    "them no more to do; give a whole trigger, condition or step that holds such a part just as it is told here."
)
_MAX_ROWS = 200
"""Rows of an answer, however large its budget is: for each, a part of the file is read."""
_NOTES = 300
"""Characters kept free for what is said beside the rows."""


class GetAutomationsTool(ExtendedTool):
    """Answer which automations are exposed and what they do; one of them in full."""

    name = "extended_assist__get_automations"
    title = "Get automations"
    description = (
        "List exposed automations, by words of the name, area or entity they use: what each does, state, last triggered, "
        "whether it can be changed. With details: the full configuration and last runs of one, and why it did not run."
    )
    annotations = READ_ONLY
    family = "automations"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Optional("name", description="Id, entity id, name or words of it."): cv.string,
            vol.Optional("area", description="Those of an area, or that use something in it."): cv.string,
            vol.Optional("entity", description="Those that use this entity (id or name)."): cv.string,
            vol.Optional("details", description="Of one: configuration and last runs."): cv.boolean,
            vol.Optional("offset", description="Skip this many, to read on."): vol.All(
                vol.Coerce(int), vol.Range(min=0)
            ),
        }
    )

    @override
    @classmethod
    async def async_available(cls, hass: HomeAssistant) -> bool:
        """Return whether there are automations at all."""
        return AUTOMATION_DOMAIN in hass.config.components

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """List, or tell all about one."""
        arguments, store = call.arguments, async_get_store(call.hass)
        if arguments.get("details") and "name" in arguments:
            automation = find_automation(call, arguments["name"])
            state = await call.hass.async_add_executor_job(read_file, store.path, [automation.id])
            return await _async_details(call, automation, state)
        found = _filtered(call)
        offset = arguments.get("offset", 0)
        page = [automation.id for automation in found[offset : offset + _MAX_ROWS]]
        state = await call.hass.async_add_executor_job(read_file, store.path, page)
        if arguments.get("details") and len(found) == 1:
            return await _async_details(call, found[0], state)
        return _listed(call, found, state)


def _filtered(call: ToolCall) -> list[Automation]:
    """Return the exposed automations that the arguments mean."""
    arguments = call.arguments
    found = matching_automations(call, arguments["name"]) if "name" in arguments else exposed_automations(call)
    if (entity := arguments.get("entity")) is not None:
        wanted = {item.entity_id for item in call.exposure.resolve(entity)}
        found = [automation for automation in found if wanted & set(automation.used)]
    if (area := arguments.get("area")) is not None:
        inside = {item.entity_id for item in call.exposure.in_area(area)}
        found = [item for item in found if item.entity_id in inside or inside & set(item.used)]
    return sorted(found, key=lambda automation: normalize(automation.name))


def _listed(call: ToolCall, found: list[Automation], state: FileState) -> JsonObjectType:
    """Return one line for each automation."""
    offset = call.arguments.get("offset", 0)
    describer = AutomationDescriber(call.hass, call.exposure, tells_recipients=False)
    rows = (_row(call, automation, state, describer) for automation in found[offset : offset + _MAX_ROWS])
    kept = fit_rows(rows, call.budget - _NOTES - len(state.problem or ""))
    answer: JsonObjectType = {"count": len(found)}
    if kept:
        answer["automations"] = to_csv(_HEADER, kept)
    if (end := offset + len(kept)) < len(found):
        answer["more"] = f"{len(found) - end} more: call again with offset {end}."
    if state.problem:
        answer["note"] = state.problem
    elif any(state.reason(automation.id) for automation in found[offset:end]):
        answer["note"] = (
            "What cannot be changed, and says nothing else, is written in other files, or has no id: only the user can "
            "change it there. All of them can be turned on and off."
        )
    return answer


def _row(call: ToolCall, automation: Automation, state: FileState, describer: AutomationDescriber) -> tuple[str, ...]:
    """Return the line for an automation."""
    shown = automation.state
    secrets = SecretValues(call.exposure, automation.config, state.secrets)
    triggered = shown.attributes.get("last_triggered")
    return (
        automation.name,
        automation.entity_id,
        automation.id or "",
        "invalid" if shown.state == STATE_UNAVAILABLE else shown.state,
        format_time(triggered) if triggered else "never",
        state.can_be_changed(automation.id),
        describer.in_short(secrets.without(automation.config)),
    )


async def _async_details(call: ToolCall, automation: Automation, state: FileState) -> JsonObjectType:
    """Return all about one automation."""
    row = dict(
        zip(
            _HEADER,
            _row(call, automation, state, AutomationDescriber(call.hass, call.exposure, tells_recipients=False)),
            strict=True,
        )
    )
    config, left_out = visible_config(call, automation, state)
    answer: dict[str, Any] = {**row, "configuration": config}
    if reason := state.reason(automation.id):
        answer["note"] = f"It cannot be changed here: {reason}."
    elif left_out:
        answer["note"] = _LEFT_OUT
    if runs := await async_last_runs(call, automation, state):
        answer["last_runs"] = runs
    return answer

"""The tool that lists automations, scripts and scenes, with what they do and how they ran."""

import asyncio
from itertools import batched
from typing import Any, override

import voluptuous as vol

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..automations.describe import DESCRIBERS, AutomationDescriber
from ..automations.loading import FILES, SCENES, SCRIPTS
from ..automations.query import (
    Automation,
    FileState,
    async_exposed_automations,
    async_find_automation,
    async_last_runs,
    async_matching_automations,
    read_file,
    visible_config,
)
from ..automations.secret_values import SecretValues
from ..automations.store import async_get_store
from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked
from ..exposure.entities import normalize
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..results import fit_rows, format_time, to_csv

_HEADER = ("name", "entity_id", "id", "state", "last_triggered", "can_be_changed", "what")
_LEFT_OUT = {
    AUTOMATION_DOMAIN: (
        "Parts that name what is not exposed are left out. They can stay: what is beside them can be changed where that gives "
        "them no more to do; give a whole trigger, condition or step that holds such a part just as it is told here."
    ),
    SCRIPTS.domain: (
        "Parts that name what is not exposed are left out; only the user can change the steps, fields and variables beside them."
    ),
    SCENES.domain: "Parts that name what is not exposed are left out; only the user can change what the scene holds.",
}
_SLICE = 50
"""Automations whose references are read at a time, so that the event loop runs in between."""
_MAX_ROWS = 200
"""The most rows of an answer: each reads a part of the file."""
_NOTES = 300
"""Characters that are reserved for notes beside the rows."""


class GetAutomationsTool(ExtendedTool):
    """List exposed automations, scripts or scenes, or describe one of them in full."""

    name = "extended_assist__get_automations"
    title = "Get automations"
    description = (
        "List exposed automations, scripts or scenes, by words of the name, area or entity they use: what each does, state, last triggered, "
        "whether it can be changed. With details: the full configuration and last runs of one, and why it did not run."
    )
    annotations = READ_ONLY
    family = "automations"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Optional("kind", description="automation if left out."): vol.In(tuple(FILES)),
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
        arguments, kind = call.arguments, _kind(call)
        path = async_get_store(call.hass, FILES[kind]).path
        await call.exposure.async_prepare()
        if arguments.get("details") and "name" in arguments:
            automation = await async_find_automation(call, arguments["name"], [kind])
            state = await call.hass.async_add_executor_job(read_file, path, [automation.id], kind)
            return await _async_details(call, automation, state)
        found = await _async_filtered(call, kind)
        offset = arguments.get("offset", 0)
        page = [automation.id for automation in found[offset : offset + _MAX_ROWS]]
        state = await call.hass.async_add_executor_job(read_file, path, page, kind)
        if arguments.get("details") and len(found) == 1:
            return await _async_details(call, found[0], state)
        return _listed(call, found, state, kind)


def _kind(call: ToolCall) -> str:
    """Return the kind that is asked for; an entity id decides it."""
    domain = call.arguments.get("name", "").partition(".")[0]
    return domain if domain in FILES else str(call.arguments.get("kind", AUTOMATION_DOMAIN))


async def _async_filtered(call: ToolCall, kind: str) -> list[Automation]:
    """Return the exposed automations, scripts or scenes that the arguments mean."""
    arguments, exposure = call.arguments, call.exposure
    name, entity, area = (arguments.get(key) for key in ("name", "entity", "area"))
    if name is None:
        found = await async_exposed_automations(call, kind)
    else:
        found = await async_matching_automations(call, name, [kind])
    wanted = None if entity is None else {item.entity_id for item in exposure.resolve(entity)}
    inside = None if area is None else {item.entity_id for item in exposure.in_area(area)}
    kept: list[Automation] = []
    for automations in batched(found, _SLICE, strict=False):
        kept += [
            item
            for item in automations
            if (wanted is None or not wanted.isdisjoint(item.used))
            and (inside is None or item.entity_id in inside or not inside.isdisjoint(item.used))
        ]
        await asyncio.sleep(0)
    return sorted(kept, key=lambda automation: normalize(automation.name))


def _listed(call: ToolCall, found: list[Automation], state: FileState, kind: str) -> JsonObjectType:
    """Return one line for each."""
    offset = call.arguments.get("offset", 0)
    describer = DESCRIBERS[kind](call.hass, call.exposure, names_recipients=False)
    rows = (_row(call, automation, state, describer) for automation in found[offset : offset + _MAX_ROWS])
    kept = fit_rows(rows, call.budget - _NOTES - len(state.problem or ""))
    answer: JsonObjectType = {"count": len(found)}
    if kept:
        answer[f"{kind}s"] = to_csv(_HEADER, kept)
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
    secrets = SecretValues(call.exposure, automation.config, state.secrets_of(automation))
    triggered = shown.attributes.get("last_triggered")
    if is_scene := automation.kind == SCENES.domain:  # Its state is when it was turned on.
        triggered = dt_util.parse_datetime(shown.state)
    return (
        automation.name,
        automation.entity_id,
        automation.id or "",
        "invalid" if shown.state == STATE_UNAVAILABLE else "" if is_scene else shown.state,
        format_time(triggered) if triggered else "never",
        state.can_be_changed(automation.id),
        describer.in_short(secrets.without(automation.config)),
    )


async def _async_details(call: ToolCall, automation: Automation, state: FileState) -> JsonObjectType:
    """Return all about one automation."""
    row = dict(
        zip(
            _HEADER,
            _row(
                call, automation, state, DESCRIBERS[automation.kind](call.hass, call.exposure, names_recipients=False)
            ),
            strict=True,
        )
    )
    config, left_out = visible_config(call, automation, state)
    answer: dict[str, Any] = {**row, "configuration": config}
    if reason := state.reason(automation.id):
        answer["note"] = f"It cannot be changed here: {reason}."
    elif left_out:
        answer["note"] = _LEFT_OUT[automation.kind]
    if runs := await async_last_runs(call, automation, state):
        answer["last_runs"] = runs
        # An error is in the words of a device.
        answer = marked(answer, when=any("error" in run for run in runs))
    return answer

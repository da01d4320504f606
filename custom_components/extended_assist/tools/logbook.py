"""Tell what happened, and why."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import override

import voluptuous as vol

from homeassistant.components.recorder.entity_options import is_entity_recorded
from homeassistant.components.recorder.models import ulid_to_bytes_or_none, uuid_hex_to_bytes_or_none
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked
from ..exposure.entities import ExposedEntity
from ..exposure.fixed_values import is_fixed_name, is_fixed_state
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..recorder import async_read
from ..recorder.logbook import ContextIds, Entry, Latest, read_logbook
from ..recorder.time_spans import END, START, time_span
from ..results import ToolError, fit_rows, format_time, size, to_csv
from .causes import async_causes

_DEFAULT_ROWS = 25
_MAX_ROWS = 100
_MAX_EXCLUDED = 3
_HEADER = ("time", "name", "what", "why")
_NOTES = 300
"""Characters that the answer takes beside its rows."""


class GetLogbookTool(ExtendedTool):
    """Answer what happened in the home, and what or who caused it."""

    name = "extended_assist__get_logbook"
    title = "Get logbook"
    description = (
        "What happened, newest first, and why, e.g. why a light went on: by which automation, trigger, script, user or "
        "device."
    )
    annotations = READ_ONLY
    family = "history"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Optional("entities", description="Ids, names or aliases (default: all)."): vol.All(
                cv.ensure_list, [cv.string]
            ),
            vol.Optional("area", description="Name or alias."): cv.string,
            vol.Optional("start", description=START): cv.string,
            vol.Optional("end", description=END): cv.string,
            vol.Optional("hours", description="Back from end instead (default: 24)."): vol.All(
                vol.Coerce(float), vol.Range(min=0, min_included=False)
            ),
            vol.Optional("rows", description=f"How many to list (default: {_DEFAULT_ROWS})."): vol.All(
                vol.Coerce(int), vol.Range(min=1, max=_MAX_ROWS)
            ),
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Read the newest entries and name their causes."""
        start, end = time_span(call.arguments, dt_util.utcnow())
        entities = {entity.entity_id: entity for entity in _entities(call)}
        count = call.arguments.get("rows", _DEFAULT_ROWS)
        found = await async_read(
            call.hass,
            read_logbook,
            {entity_id: _latest(entity) for entity_id, entity in entities.items()},
            (start.timestamp(), end.timestamp()),
            count + 1,
        )
        data: JsonObjectType = {"start": format_time(start), "end": format_time(end)}
        if found.recorded_since is not None:
            data["recorded_since"] = format_time(found.recorded_since)
        entries, before = found.entries, found.before
        told = [*entries[:count], *before]
        is_named = bool(call.arguments.get("entities"))
        has_free_name = any(not is_fixed_name(call.hass, entities[entry.entity_id].state) for entry in told)
        has_free_state = any(
            entry.state is not None and not is_fixed_state(call.hass, entities[entry.entity_id].state, entry.state)
            for entry in told
        )
        causes = await async_causes(call.hass, call.exposure, told, found.origins)
        lines = [
            [
                format_time(entry.moment),
                entities[entry.entity_id].name,
                _what(call, entities[entry.entity_id], entry, is_named=is_named),
                cause,
            ]
            for entry, cause in zip(told, causes, strict=True)
        ]
        rows = fit_rows(lines[: len(told) - len(before)], call.budget - _NOTES)
        if rows:
            data["entries"] = to_csv(_HEADER, rows)
        elif kept_out := _not_recorded(call, entities):
            data["note"] = f"Excluded from the recorder, so that their past is not kept: {', '.join(kept_out)}."
        else:
            data["note"] = "Nothing is recorded of these entities in that span."
        if before and (room := call.budget - _NOTES - size(data)) > 0:
            data["last_before"] = to_csv(_HEADER, fit_rows(lines[-len(before) :], room))
        if len(rows) < len(entries):
            # To the microsecond, so that none of the same second is told twice or never.
            until = dt_util.as_local(dt_util.utc_from_timestamp(entries[len(rows) - 1].moment)).isoformat(sep=" ")
            data["note"] = f"Earlier entries are left out; call again with end '{until}' to list them."
        return marked(data, when=has_free_name or (is_named and has_free_state))


def _entities(call: ToolCall) -> Iterable[ExposedEntity]:
    """Return the entities that the arguments mean; measurements only where they are named."""
    arguments, exposure = call.arguments, call.exposure
    if arguments.get("entities"):
        return [entity for text in arguments["entities"] for entity in exposure.resolve(text)]
    pool = exposure.in_area(arguments["area"]) if "area" in arguments else exposure.entities.values()
    found = [entity for entity in pool if not _is_measurement(entity) and is_fixed_name(call.hass, entity.state)]
    if not found:
        raise ToolError("No exposed entity there has anything but numbers; ask get_history about those.")
    return found


def _not_recorded(call: ToolCall, entities: Mapping[str, ExposedEntity]) -> list[str]:
    """Return the names of some of the entities that the recorder leaves out, where it is about named ones."""
    named = entities.values() if call.arguments.get("entities") else ()
    return [entity.name for entity in named if not is_entity_recorded(call.hass, entity.entity_id)][:_MAX_EXCLUDED]


def _is_measurement(entity: ExposedEntity) -> bool:
    """Return whether an entity changes all the time, so that a logbook would be full of it."""
    attributes = entity.state.attributes
    return "unit_of_measurement" in attributes or "state_class" in attributes or entity.domain in {"image", "sun"}


def _latest(entity: ExposedEntity) -> Latest:
    """Return the latest state, which the recorder may not have written yet."""
    state = entity.state
    return Latest(
        moment=state.last_changed_timestamp,
        state=state.state,
        context=ContextIds(
            ulid_to_bytes_or_none(state.context.id),
            ulid_to_bytes_or_none(state.context.parent_id),
            uuid_hex_to_bytes_or_none(state.context.user_id),
        ),
        ran=ran.timestamp() if isinstance(ran := state.attributes.get("last_triggered"), datetime) else None,
    )


def _what(call: ToolCall, entity: ExposedEntity, entry: Entry, *, is_named: bool) -> str:
    """Say what happened; a state that is free text is left out unless the entity was named."""
    if entry.state is not None:
        if not is_named and not is_fixed_state(call.hass, entity.state, entry.state):
            return "changed (name it to read it)"
        state = str(call.exposure.shown(entity, entry.state))
        return state if entry.is_change else f"{state}, at least since then"
    return "triggered" if entry.entity_id.startswith("automation.") else "started"

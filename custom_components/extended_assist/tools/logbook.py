"""The logbook tool: what happened, and what caused it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
import re
from typing import Any, override

import voluptuous as vol

from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import config_validation as cv, device_registry as dr, entity_registry as er
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked
from ..exposure.entities import ExposedEntity, Exposure
from ..exposure.fixed_values import is_fixed_name, is_fixed_state
from ..ha_compat.automations import DATA_TRACE, async_get_trace, async_list_contexts
from ..ha_compat.recorder import (
    bytes_to_ulid_or_none,
    bytes_to_uuid_hex_or_none,
    is_entity_recorded,
    ulid_to_bytes_or_none,
    uuid_hex_to_bytes_or_none,
)
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..recorder import async_read
from ..recorder.logbook import ContextIds, Entry, Latest, Origin, RecordedRun, read_logbook
from ..recorder.periods import END, START, time_span
from ..results import ToolError, fit_rows, format_time, size, to_csv

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
        """Read the newest entries and their causes."""
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
    """Return the entities of the arguments; measurements only if they are named."""
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
    """Return whether an entity changes so often that it would fill a logbook."""
    attributes = entity.state.attributes
    return "unit_of_measurement" in attributes or "state_class" in attributes or entity.domain in {"image", "sun"}


def _latest(entity: ExposedEntity) -> Latest:
    """Return the current state, which the recorder may not have written yet."""
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
    """Return a sentence on the event; free text is left out unless the call named the entity."""
    if entry.state is not None:
        if not is_named and not is_fixed_state(call.hass, entity.state, entry.state):
            return "changed (name it to read it)"
        state = str(call.exposure.shown(entity, entry.state))
        return state if entry.is_change else f"{state}, at least since then"
    return "triggered" if entry.entity_id.startswith("automation.") else "started"


_ENTITY_ID = re.compile(r"\b[a-z_0-9]+\.[a-z_0-9]+\b")
# Descriptions of triggers that hold nothing but entity ids, which are checked. Others may hold topics or device names.
_PLAIN_TRIGGER = re.compile(
    rf"(?:time pattern|time(?: set in {_ENTITY_ID.pattern})?|sun(?:rise|set).*|Home Assistant (?:starting|stopping)|"
    rf"Tag scanned|(?:numeric )?state of {_ENTITY_ID.pattern}|{_ENTITY_ID.pattern} via template)"
)
_MAX_LINKS = 4
"""The most links in a chain of causes."""


async def async_causes(
    hass: HomeAssistant, exposure: Exposure, entries: list[Entry], origins: dict[bytes, Origin]
) -> list[str]:
    """Return the cause of each entry; empty if it is unknown."""
    causes = _Causes(hass, exposure, origins)
    return [await causes.async_of(entry) for entry in entries]


class _Causes:
    """Follows contexts to their origin."""

    def __init__(self, hass: HomeAssistant, exposure: Exposure, origins: dict[bytes, Origin]) -> None:
        """Store the recorded contexts."""
        self._hass = hass
        self._exposure = exposure
        self._origins = origins
        self._traces: dict[str, dict[str, dict[str, str]]] = {}

    async def async_of(self, entry: Entry) -> str:
        """Return the chain of causes of an entry, the nearest first."""
        links: list[str] = []
        context, parent, user = entry.context.id, entry.context.parent, entry.context.user
        for level in range(_MAX_LINKS):
            origin = self._origins.get(context, Origin()) if context else Origin()
            parent, user = parent or origin.parent, user or origin.user
            for run in origin.runs:
                if level or (entry.state is not None and run.moment <= entry.moment):
                    links.append(await self._async_run(context, run))
                elif run.entity_id == entry.entity_id:
                    trigger = await self._async_trigger(context, run)
                    links += [f"triggered by {trigger}"] if trigger else []
            if level and not origin.runs and origin.state:
                links.append(self._change(*origin.state))
            if not parent:
                break
            context, parent = parent, None
        if user:
            links.append(await self._async_user(user))
        if links:
            return ", ".join(dict.fromkeys(links))
        return self._device(entry.entity_id) if entry.state is not None else ""

    async def _async_run(self, context: bytes | None, run: RecordedRun) -> str:
        """Return the name of an automation or script, if it is exposed, and its trigger."""
        kind = "automation" if run.entity_id.startswith("automation.") else "script"
        if not self._exposure.is_exposed(run.entity_id):
            return f"another {kind}"
        trigger = await self._async_trigger(context, run)
        return f"{kind} '{self._exposure.entities[run.entity_id].name}'" + (f" ({trigger})" if trigger else "")

    async def _async_trigger(self, context: bytes | None, run: RecordedRun) -> str:
        """Return the trigger of a run: from its trace if that still exists, else from the event."""
        if context and (described := await self._async_traced(bytes_to_ulid_or_none(context) or "", run.entity_id)):
            return described
        return self._without_hidden(run.source or "")

    async def _async_traced(self, context_id: str, entity_id: str) -> str:
        """Return the trigger of an automation from the trace of the run."""
        state = self._hass.states.get(entity_id)
        if DATA_TRACE not in self._hass.data or state is None or not (item_id := state.attributes.get("id")):
            return ""
        key = f"automation.{item_id}"
        if key not in self._traces and key in self._hass.data[DATA_TRACE]:
            self._traces[key] = await async_list_contexts(self._hass, key)
        if not (run := self._traces.get(key, {}).get(context_id)):
            return ""
        trace: dict[str, Any] = dict(await async_get_trace(self._hass, key, run["run_id"]))
        steps: dict[str, list[dict[str, Any]]] = trace.get("trace", {})
        for path, elements in steps.items():
            for element in elements if path.startswith("trigger") else ():
                trigger = element.get("changed_variables", {}).get("trigger") or {}
                cause, old, new = trigger.get("entity_id"), trigger.get("from_state"), trigger.get("to_state")
                if cause and new and self._exposure.is_exposed(cause):
                    name = self._exposure.entities[cause].name
                    before, after = self._state(cause, old), self._state(cause, new)
                    return f"{name} went from {before} to {after}" if old else f"{name} became {after}"
        return ""

    def _without_hidden(self, text: str) -> str:
        """Return a trigger's description with entity names, or an empty text if it may name something hidden."""
        if not _PLAIN_TRIGGER.fullmatch(text):
            return ""
        for entity_id in _ENTITY_ID.findall(text):
            if not self._exposure.is_exposed(entity_id):
                return ""
            text = text.replace(entity_id, self._exposure.entities[entity_id].name)
        return text

    def _change(self, entity_id: str, state: str) -> str:
        """Name a change of state that came first."""
        if not self._exposure.is_exposed(entity_id):
            return "after another entity changed"
        return f"after {self._exposure.entities[entity_id].name} became {self._state(entity_id, state)}"

    def _state(self, entity_id: str, state: State | dict[str, str] | str | None) -> str:
        """Return a state of an exposed entity, of a trace an object or what was stored of one, if it is fixed."""
        if state is None:
            return "another text"
        text = state if isinstance(state, str) else state.state if isinstance(state, State) else str(state.get("state"))
        is_fixed = is_fixed_state(self._hass, self._exposure.entities[entity_id].state, text)
        return text if is_fixed else "another text"

    async def _async_user(self, user_id: bytes) -> str:
        """Name a user."""
        user = await self._hass.auth.async_get_user(bytes_to_uuid_hex_or_none(user_id) or "")
        return f"user {user.name}" if user and user.name else "a user"

    def _device(self, entity_id: str) -> str:
        """Name the device that a state comes from."""
        entry = er.async_get(self._hass).async_get(entity_id)
        device = dr.async_get(self._hass).async_get(entry.device_id) if entry and entry.device_id else None
        if device is None:
            return ""
        return f"device '{device.name_by_user}' itself" if device.name_by_user else "the device itself"

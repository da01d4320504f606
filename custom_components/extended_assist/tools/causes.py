"""Name what or who caused something, as far as the assistant may know it."""

import re
from typing import Any

from homeassistant.components.recorder.models import bytes_to_ulid_or_none, bytes_to_uuid_hex_or_none
from homeassistant.components.trace.const import DATA_TRACE
from homeassistant.components.trace.util import async_get_trace, async_list_contexts
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import device_registry as dr, entity_registry as er

from ..exposure.entities import Exposure
from ..exposure.fixed_values import is_fixed_state
from ..recorder.logbook import Entry, Origin, RecordedRun

_ENTITY_ID = re.compile(r"\b[a-z_0-9]+\.[a-z_0-9]+\b")
# Descriptions of triggers that hold nothing but entity ids, which are checked. Others may hold topics or device names.
_PLAIN_TRIGGER = re.compile(
    rf"(?:time pattern|time(?: set in {_ENTITY_ID.pattern})?|sun(?:rise|set).*|Home Assistant (?:starting|stopping)|"
    rf"Tag scanned|(?:numeric )?state of {_ENTITY_ID.pattern}|{_ENTITY_ID.pattern} via template)"
)
_MAX_LINKS = 4
"""Causes of causes that are told."""


async def async_causes(
    hass: HomeAssistant, exposure: Exposure, entries: list[Entry], origins: dict[bytes, Origin]
) -> list[str]:
    """Return the cause of each entry in plain terms; empty where nothing is known."""
    causes = _Causes(hass, exposure, origins)
    return [await causes.async_of(entry) for entry in entries]


class _Causes:
    """Follows contexts to their origin."""

    def __init__(self, hass: HomeAssistant, exposure: Exposure, origins: dict[bytes, Origin]) -> None:
        """Take what was read of the contexts."""
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
        """Name an automation or script, if it is exposed, and its trigger."""
        kind = "automation" if run.entity_id.startswith("automation.") else "script"
        if not self._exposure.is_exposed(run.entity_id):
            return f"another {kind}"
        trigger = await self._async_trigger(context, run)
        return f"{kind} '{self._exposure.entities[run.entity_id].name}'" + (f" ({trigger})" if trigger else "")

    async def _async_trigger(self, context: bytes | None, run: RecordedRun) -> str:
        """Describe what triggered a run: from its trace where that still exists, else as the event has it."""
        if context and (described := await self._async_traced(bytes_to_ulid_or_none(context) or "", run.entity_id)):
            return described
        return self._without_hidden(run.source or "")

    async def _async_traced(self, context_id: str, entity_id: str) -> str:
        """Describe the trigger of an automation from the trace of the run."""
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
        """Return a description of a trigger, entities by name, or nothing when it may name what is not exposed."""
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

"""Check the entities that a call acted on and describe the outcome in its result."""

from collections import defaultdict
from collections.abc import Callable, Container, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import llm
from homeassistant.util.json import JsonObjectType

from ..exposure.entities import Exposure, unit_of
from ..exposure.fixed_values import is_fixed_attribute, is_fixed_state
from ..exposure.groups import is_group, members_of
from ..results import shown, size
from .call import ToolCall
from .change_recorder import Act, Due
from .desired_states import Status
from .settable_attributes import STATE

OUTCOME = "outcome"
COUNTS = 100
"""Characters that an outcome needs at least, for the number of entities of each status."""

_MAX_NAMED = 4
"""Maximum entities of a status that is reached or cannot be known for which the outcome has their names."""
_ROOM = 600
"""Maximum characters of the names in one outcome."""
_COLOR_MODE = "color_mode"
"""Left out, because the colour beside it says the same."""
_MAX_ATTRIBUTES = 6
_MAX_VALUE = 60
_FREE = "a text"
"""Replaces a state that somebody outside could have written."""


class DoneResult(llm.ToolResult):
    """The result of a call that code verified as fully done. Results of other tools never have this type."""

    still_holds: Callable[[], bool]
    """Returns whether this is still true; no dataclass field, because Home Assistant writes the fields of results as
    JSON.
    """

    due: Due | None
    """The next time of the scheduled task that the call made; None if it made none."""

    @classmethod
    def of(cls, data: JsonObjectType, still_holds: Callable[[], bool], due: Due | None = None) -> DoneResult:
        """Return the result, with the check that it is still true."""
        result = cls(data=data)
        result.still_holds, result.due = still_holds, due
        return result


def with_outcome(call: ToolCall, result: llm.ToolResult) -> llm.ToolResult:
    """Return the result with the outcome of the entities, its data of the same type as before."""
    room = max(0, min(_ROOM, call.budget - size(result.data) - COUNTS))
    # The exposure is read again, because entities may have been hidden meanwhile.
    exposure = Exposure(call.hass, call.caller.assistant)
    told = outcome_of(call.hass, exposure, call.recording.acts, room, is_described="entities" in result.data)
    if not told or OUTCOME in result.data:
        return result
    data = copy(result.data)
    data[OUTCOME] = told
    return replace(result, data=data)


def as_seen(call: ToolCall, result: llm.ToolResult) -> llm.ToolResult:
    """Return a DoneResult if the tool reports that it did everything and the entities show it, else the result."""
    still_holds = partial(_is_seen, call.hass, call.caller.assistant, call.recording.acts)
    if not (call.recording.is_complete and still_holds()):
        return result
    return DoneResult.of(result.data, still_holds, call.recording.due)


def _is_seen(hass: HomeAssistant, assistant: str, acts: Mapping[str, Act]) -> bool:
    """Return whether the exposed entities show that all was done; hidden entities have no influence."""
    exposure = Exposure(hass, assistant)
    visible = [act for entity_id, act in acts.items() if exposure.is_exposed(entity_id)]
    return bool(acts) == bool(visible) and all(act.is_seen(hass) for act in visible)


def outcome_of(
    hass: HomeAssistant, exposure: Exposure, acts: Mapping[str, Act], room: int = _ROOM, *, is_described: bool = False
) -> JsonObjectType:
    """Return the entities by status: names with their states where that matters, otherwise their number."""
    ids_by_name: defaultdict[Status, dict[str, str]] = defaultdict(dict)
    for entity_id, act in sorted(reported_acts(hass, exposure, acts).items()):
        name = entity.name if (entity := exposure.entity(entity_id)) else entity_id
        same = ids_by_name[act.status(hass)]
        same[name if name not in same else entity_id] = entity_id
    told: JsonObjectType = {}
    for status in (Status.NOT_REACHED, Status.UNDER_WAY, Status.CANNOT_BE_KNOWN, Status.REACHED):
        if not (entities := ids_by_name.get(status)):
            continue
        is_calm = status in (Status.REACHED, Status.CANNOT_BE_KNOWN)
        if (is_calm and (is_described or len(entities) > _MAX_NAMED)) or room <= 0:
            told[status.value] = len(entities)
            continue
        reports = {name: _as_it_is(hass, exposure, key, acts[key], status) for name, key in entities.items()}
        named = fitting(reports, room)
        room -= size(named)
        told[status.value] = named | ({"more": len(entities) - len(named)} if len(named) < len(entities) else {})
    return told


def reported_acts(hass: HomeAssistant, exposure: Exposure, acts: Mapping[str, Act]) -> dict[str, Act]:
    """Return the acts on exposed entities, without groups that have a reported member."""
    return {
        entity_id: act
        for entity_id, act in acts.items()
        if exposure.is_exposed(entity_id) and not _is_told_by_members(hass, exposure, acts, entity_id)
    }


def _is_told_by_members(hass: HomeAssistant, exposure: Exposure, acts: Mapping[str, Act], entity_id: str) -> bool:
    return is_group(hass, entity_id) and any(
        member in acts and exposure.is_exposed(member) for member in members_of(hass, entity_id)
    )


def _as_it_is(hass: HomeAssistant, exposure: Exposure, entity_id: str, act: Act, status: Status) -> str:
    """Return an entity's current state, with the attributes that the call was to set."""
    if (now := hass.states.get(entity_id)) is None:
        return "removed"
    visible = exposure.visible_attributes(now)
    set_now = [
        f"{name} {_short(visible[name])}"
        for name in (act.wanted or {})
        if name not in (STATE, _COLOR_MODE)
        and visible.get(name) is not None
        and is_fixed_attribute(hass, now, name, visible[name])
    ]
    if status is Status.UNDER_WAY and (measured := visible.get("current_temperature")) is not None:
        set_now.append(f"measured {measured}")
    return ", ".join([_state_text(hass, now), *set_now])


def fitting(reports: Mapping[str, str], room: int) -> JsonObjectType:
    """Return as many of the first reports as fit into `room` characters."""
    kept: JsonObjectType = {}
    for name, report in reports.items():
        if (room := room - size({name: report})) < 0:
            break
        kept[name] = report
    return kept


def describe_change(
    hass: HomeAssistant,
    exposure: Exposure,
    before: State | None,
    after: State | None,
    asked: Container[str] = frozenset(),
) -> str:
    """Return the old and new values of an entity, such as 'off → on, brightness 128', requested ones first."""
    if after is None:
        return "removed"
    was, now = _state_text(hass, before) if before else "nothing", _state_text(hass, after)
    parts = [now if was == now and was != _FREE else f"{was} → {now}"]
    old = before.attributes if before else {}
    changed = [
        (name, value)
        for name, value in exposure.visible_attributes(after).items()
        if old.get(name) != value
        and value is not None
        and (name in asked or (name != _COLOR_MODE and isinstance(value, str | int | float)))
        and is_fixed_attribute(hass, after, name, value)
    ]
    changed.sort(key=lambda item: item[0] not in asked)
    parts += [f"{name} {_short(value)}" for name, value in changed[:_MAX_ATTRIBUTES]]
    return ", ".join(parts) + (", as before" if after is before else "")


def _state_text(hass: HomeAssistant, state: State) -> str:
    """Return a state with its unit, or a placeholder if the state is not fixed."""
    if not is_fixed_state(hass, state):
        return _FREE
    unit = unit_of(state)
    return f"{state.state if unit is None else shown(state.state, unit)} {unit or ''}".strip()


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _MAX_VALUE else text[: _MAX_VALUE - 1] + "…"

"""Read the past of exposed entities."""

from collections.abc import Iterable
import math
from typing import Any, override

import voluptuous as vol

from homeassistant.core import State
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked
from ..exposure import domains
from ..exposure.entities import ExposedEntity
from ..exposure.fixed_values import is_fixed_attribute_name, is_fixed_name
from ..ha_compat.recorder import is_entity_recorded
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..recorder import async_read, ready_recorder
from ..recorder.history import Question, Subject, read_history
from ..recorder.periods import END, START, time_span
from ..recorder.state_durations import Coding, Live, StateCodes
from ..recorder.states import as_number
from ..recorder.unavailable_hours import async_get_kept
from ..results import FreeTextError, ToolError, format_time, size
from .charts import async_chart_history
from .history_answers import Wording

_MAX_ENTITIES = 20
_MAX_ROWS = 200
_MIN_SHARE = 800
"""The least characters for each of several entities; those without room are named."""
_NOTES = 300
"""Characters kept free for the span, since when there are records, and for what is said about entities left out."""
_ON_OFF = ("off", "on")


class GetHistoryTool(ExtendedTool):
    """Answer what states entities had, for how long, and when they changed."""

    name = "extended_assist__get_history"
    title = "Get history"
    description = (
        "What happened to entities: changes, time in each state, longest stretch, first and last change; of numbers, "
        "min, max and time-weighted mean. With state, above or below: the stretches in which that held."
    )
    annotations = READ_ONLY
    family = "history"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Optional("entities", description="Entity ids, names or aliases."): vol.All(
                cv.ensure_list, [cv.string], vol.Length(max=_MAX_ENTITIES)
            ),
            vol.Optional("area", description="Instead of entities: all of an area."): cv.string,
            vol.Optional("domain", description="With area, e.g. 'light'."): vol.All(cv.string, vol.Lower),
            vol.Optional("start", description=START): cv.string,
            vol.Optional("end", description=END): cv.string,
            vol.Optional("hours", description="Back from end instead (default: 24)."): vol.All(
                vol.Coerce(float), vol.Range(min=0, min_included=False)
            ),
            vol.Optional("state", description="Only while in this state, e.g. 'on'."): cv.string,
            vol.Optional("above", description="Only while above it."): vol.Coerce(float),
            vol.Optional("below", description="Only while below it."): vol.Coerce(float),
            vol.Optional("min_seconds", description="Shortest stretch to count."): vol.All(
                vol.Coerce(float), vol.Range(min=0)
            ),
            vol.Optional("attribute", description="An attribute instead of the state."): cv.string,
            vol.Optional("rows", description="Rows to list, newest first (default: only if few)."): vol.All(
                vol.Coerce(int), vol.Range(min=0, max=_MAX_ROWS)
            ),
            vol.Optional("cursor", description="From an earlier answer: older rows."): cv.string,
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Read each entity's past in the recorder's executor."""
        hass, arguments = call.hass, call.arguments
        start, end = time_span(arguments, now := dt_util.utcnow())
        entities = _entities(call)
        attribute = arguments.get("attribute")
        question = Question(
            start=start.timestamp(),
            end=end.timestamp(),
            attribute=attribute,
            condition=_condition(arguments),
            min_seconds=arguments.get("min_seconds", 0),
            rows=arguments.get("rows", _MAX_ROWS if "cursor" in arguments else None),
            before=_cursor(arguments.get("cursor")),
        )
        recorder = ready_recorder(hass)
        errors: dict[str, str] = {}
        subjects: list[Subject] = []
        for entity in entities:
            if not is_entity_recorded(hass, entity.entity_id):
                errors[entity.entity_id] = f"{entity.name} is excluded from the recorder, so its past is not kept."
                continue
            try:
                subjects.append(await _async_subject(call, entity, attribute))
            except ToolError as err:
                errors[entity.entity_id] = str(err)
        answers, oldest = await async_read(hass, read_history, subjects, question)
        by_id = {entity.entity_id: entity for entity in entities}
        for entity_id, answer in answers.items():
            if answer.is_empty:
                errors[entity_id] = (
                    f"Nothing of {by_id[entity_id].name} is recorded between {format_time(start)} and "
                    f"{format_time(end)}, so what it did then is not known; it is recorded since "
                    f"{format_time(answer.recorded_from or 0)}. The recorder keeps {recorder.keep_days} days."
                )
        if len(errors) == len(entities):
            has_free_name = not all(is_fixed_name(hass, entity.state) for entity in entities)
            raise (FreeTextError if has_free_name else ToolError)(" ".join(errors.values()))
        wording = Wording(
            hass,
            call.exposure,
            question,
            max(_MIN_SHARE, (call.budget - _NOTES) // len(entities)),
            ongoing=end == now,
            is_named="area" not in arguments,
        )
        data: JsonObjectType = {"start": format_time(start), "end": format_time(end)}
        if oldest is not None:
            data["recorded_since"] = format_time(oldest)
        accounts: JsonObjectType = {}
        room = call.budget - _NOTES
        for entity in entities:
            if entity.entity_id in errors:
                account: JsonObjectType = {"name": entity.name, "error": errors[entity.entity_id]}
                if not is_fixed_name(hass, entity.state):
                    wording.free.add(entity.entity_id)
            else:
                account = wording.account(entity, answers[entity.entity_id])
            room -= size(account) + len(entity.entity_id) + len('"":,')
            if room < 0 and accounts:
                left_out = [later.entity_id for later in entities[len(accounts) :]]
                data["note"] = f"{len(left_out)} entities are left out; ask for them apart, from {left_out[0]} on."
                break
            accounts[entity.entity_id] = account
        data["entities"] = accounts
        data |= await async_chart_history(call, by_id, subjects, answers, wording)
        return marked(data, when=bool(wording.free))


def _entities(call: ToolCall) -> list[ExposedEntity]:
    """Return the entities that the arguments mean."""
    arguments, exposure = call.arguments, call.exposure
    if "area" in arguments:
        found = {entity.entity_id: entity for entity in exposure.in_area(arguments["area"])}
        if domain := arguments.get("domain"):
            found = {entity_id: entity for entity_id, entity in found.items() if entity.domain == domain}
            if not found:
                raise ToolError(f"No exposed {domain} is in that area. Leave out the domain to see what is.")
    elif arguments.get("entities"):
        found = {entity.entity_id: entity for text in arguments["entities"] for entity in exposure.resolve(text)}
    else:
        raise ToolError("Say which entities are meant, or which area.")
    if len(found) > _MAX_ENTITIES:
        raise ToolError(f"That means {len(found)} entities; name at most {_MAX_ENTITIES}, by entity id.")
    return list(found.values())


def _condition(arguments: dict[str, Any]) -> Coding | None:
    """Return the condition on the state or number, or None for every state."""
    limits = {name: arguments[name] for name in ("above", "below") if name in arguments}
    if "state" in arguments:
        if limits:
            raise ToolError("Give either state or above and below, not both.")
        state = arguments["state"]
        return Coding(StateCodes.EQUAL, (json_text(state) if "attribute" in arguments else state,))
    if limits:
        if not all(map(math.isfinite, limits.values())):
            raise ToolError("above and below must be finite numbers.")
        return Coding(StateCodes.BETWEEN, **limits)
    if "min_seconds" in arguments:
        raise ToolError("min_seconds is about stretches: give also state, above or below.")
    return None


def json_text(state: str) -> str:
    """Return a wanted attribute value as the recorder writes it."""
    return state if as_number(state) is not None or state in ("true", "false") else json_dumps(state)


def _cursor(cursor: str | None) -> float | None:
    """Return the time in a cursor."""
    if cursor is None:
        return None
    if (number := as_number(cursor)) is None:
        raise ToolError(f"'{cursor}' is not a cursor. Use one from an earlier answer, unchanged, or leave it out.")
    return number


def _named_by_us(state: State, names: Iterable[str]) -> list[str]:
    """Return the names of attributes that Home Assistant defines; others can be anybody's words."""
    return [name for name in names if is_fixed_attribute_name(state, name)]


async def _async_subject(call: ToolCall, entity: ExposedEntity, attribute: str | None) -> Subject:
    """Return the entity as a question to the recorder: its kind, unit and current value."""
    state = entity.state
    unit = state.attributes.get("unit_of_measurement")
    value, states = state.state, _ON_OFF if entity.domain in domains.ON_OFF else ()
    if attribute is not None:
        visible = call.exposure.visible_attributes(state)
        if attribute not in visible or '"' in attribute or "\\" in attribute:
            raise ToolError(
                f"{entity.name} has no attribute '{attribute}'. It has: {', '.join(_named_by_us(state, visible))}."
            )
        value, states = json_dumps(state.attributes[attribute]), ()
    numeric = (
        as_number(value) is not None
        if attribute is not None
        else unit is not None or "state_class" in state.attributes or entity.domain in domains.NUMBERS
    )
    if ("above" in call.arguments or "below" in call.arguments) and not numeric:
        raise ToolError(f"{entity.name} has no numbers, so above and below do not apply; use state.")
    return Subject(
        entity_id=entity.entity_id,
        numeric=numeric,
        states=states,
        live=Live(since=state.last_updated_timestamp, value=value),
        changed=state.last_updated_timestamp if attribute is not None else state.last_changed_timestamp,
        unit=None if unit is None else str(unit),
        interruptions=(await async_get_kept(call.hass)).interruptions,
    )

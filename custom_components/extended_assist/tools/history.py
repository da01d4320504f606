"""Read the past of exposed entities."""

from datetime import datetime, timedelta
from typing import override

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.recorder import get_instance
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..exposure import ExposedEntity
from ..policy import Tier
from ..recorder.states import StateHistory, read_state_history
from ..results import ToolError, fit_rows, format_state, format_time, to_csv
from .base import READ_ONLY, ExtendedTool, ToolCall

_DEFAULT_SPAN = timedelta(hours=24)
_MAX_ENTITIES = 20
_MAX_ROWS = 500
_NOTES = 400
"""Characters that an entity's account takes beside its rows."""


def _parse_time(value: str, name: str) -> datetime:
    """Parse a local or offset ISO 8601 time, or a date for its first moment."""
    parsed = dt_util.parse_datetime(value)
    if parsed is None and (day := dt_util.parse_date(value)):
        parsed = dt_util.start_of_local_day(day)
    if parsed is None:
        raise ToolError(
            f"{name} '{value}' is not a time. Write it like 2026-03-01 or 2026-03-01 17:30:00, in local time."
        )
    return dt_util.as_utc(parsed)


def time_span(arguments: dict[str, object], now: datetime) -> tuple[datetime, datetime]:
    """Return start and end of the span that the arguments name; either may be left out.

    Raises ToolError for a span that is backwards or in the future.
    """
    end = _parse_time(str(arguments["end"]), "end") if "end" in arguments else now
    if "start" in arguments:
        start = _parse_time(str(arguments["start"]), "start")
    else:
        hours = arguments.get("hours")
        start = end - (timedelta(hours=float(str(hours))) if hours is not None else _DEFAULT_SPAN)
    if start >= end:
        raise ToolError("The span is backwards: start must be before end.")
    if start >= now:
        raise ToolError(f"The span lies in the future; it is now {format_time(now)}.")
    return start, min(end, now)


class GetHistoryTool(ExtendedTool):
    """Answer what states entities had, and when they changed."""

    name = "extended_assist__get_history"
    title = "Get history"
    description = (
        "What happened to entities in a span of time: how often the state changed, the first and the last change, the "
        "state before the span, and the changes as CSV, newest first. For questions such as when a door last opened."
    )
    annotations = READ_ONLY
    family = "history"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Required("entities", description="Entity ids, names or aliases."): vol.All(
                cv.ensure_list, [cv.string], vol.Length(min=1, max=_MAX_ENTITIES)
            ),
            vol.Optional("start", description="Start in local time, e.g. 2026-03-01 06:00:00."): cv.string,
            vol.Optional("end", description="End in local time (default: now)."): cv.string,
            vol.Optional(
                "hours", description=f"Length back from end, instead of start (default: {_DEFAULT_SPAN.days * 24})."
            ): vol.All(vol.Coerce(float), vol.Range(min=0, min_included=False)),
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Read each entity's changes in the recorder's executor."""
        start, end = time_span(call.arguments, dt_util.utcnow())
        entities = {
            entity.entity_id: entity for text in call.arguments["entities"] for entity in call.exposure.resolve(text)
        }
        if len(entities) > _MAX_ENTITIES:
            raise ToolError(f"These names mean {len(entities)} entities; name at most {_MAX_ENTITIES}, by entity id.")
        histories = await get_instance(call.hass).async_add_executor_job(_read, call.hass, list(entities), start, end)
        budget = (call.budget - _NOTES) // len(entities) - _NOTES // 2
        return {
            "start": format_time(start),
            "end": format_time(end),
            "entities": {
                entity_id: _account(entity, histories.get(entity_id), budget) for entity_id, entity in entities.items()
            },
        }


def _read(hass: HomeAssistant, entity_ids: list[str], start: datetime, end: datetime) -> dict[str, StateHistory]:
    """Read in the recorder's executor."""
    return read_state_history(hass, entity_ids, start.timestamp(), end.timestamp(), _MAX_ROWS)


def _account(entity: ExposedEntity, history: StateHistory | None, budget: int) -> JsonObjectType:
    """Say what happened to one entity, in at most about budget characters."""
    account: JsonObjectType = {"name": entity.name, "now": format_state(entity.state.state)}
    if unit := entity.state.attributes.get("unit_of_measurement"):
        account["unit"] = str(unit)
    if history is None:
        return account | {"note": "The recorder holds nothing of this entity in that span."}
    account["changes"] = history.count
    if history.at_start is not None:
        account["state_at_start"] = format_state(history.at_start)
    if history.first is not None and history.last is not None:
        for key, (moment, state) in (("first_change", history.first), ("last_change", history.last)):
            account[key] = {"time": format_time(moment), "state": format_state(state)}
        rows = fit_rows(([format_time(moment), format_state(state)] for moment, state in history.newest), budget)
        account["newest_changes"] = to_csv(("time", "state"), rows)
        if left_out := history.count - len(rows):
            account["note"] = f"{left_out} older changes are not listed; choose an earlier end to see them."
    return account

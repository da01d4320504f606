"""The SQL tool: one SELECT over the exposed part of the recorder's past."""

from datetime import datetime, timedelta
from typing import Any, override

import voluptuous as vol

from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..confirmation.untrusted_text import fixed_names, marked
from ..exposure.entities import ExposedEntity
from ..exposure.fixed_values import has_free_text
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..recorder.periods import END, START, time_span
from ..recorder.query import FILL_LIMIT, MAX_QUERY, MAX_ROWS, TIME_LIMIT, Answer, Visible, async_query, visible
from ..results import ToolError, fit_rows, format_time, to_csv

_DEFAULT_HOURS = 7 * 24
_NOTES = 250
"""Characters that are reserved for notes beside the table."""
_MAX_PARAMETER = 1_000
_AHEAD = timedelta(minutes=1)
_SPAN = frozenset({"start", "end", "hours"})


def _parameter(value: Any) -> str | float | bool | None:
    """Validate the value of a parameter."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text: str = cv.string(value)
    if len(text) > _MAX_PARAMETER or "\0" in text:
        raise vol.Invalid(f"a parameter has at most {_MAX_PARAMETER} characters")
    return text


class QueryDatabaseTool(ExtendedTool):
    """Answer one SELECT."""

    name = "extended_assist__query_database"
    title = "Query database"
    description = (
        "Run one SELECT, in SQLite's dialect, on a copy of the recorder that holds what is exposed, of the last 7 days unless "
        "told. Prefer get_history, get_statistics and get_logbook where they answer. Tables: "
        "states(entity_id, name, area, state, last_updated, last_changed, last_updated_ts, last_changed_ts, metadata_id, "
        "attributes_id); states_meta(metadata_id, entity_id); state_attributes(attributes_id, shared_attrs: JSON); "
        "statistics (hourly), statistics_short_term (5 minutes)(statistic_id, name, area, unit_of_measurement, start, "
        "start_ts, mean, min, max, state, sum, metadata_id); statistics_meta(id, statistic_id). "
        "*_ts: Unix seconds; last_updated, last_changed, start: local time as text. state is text: leave out 'unavailable' and "
        "'unknown', then cast. A row begins a state, it lasts until the next row. sum is a running total: subtract. Aggregate."
    )
    annotations = READ_ONLY
    family = "database"
    tier = Tier.READ
    deadline = FILL_LIMIT + TIME_LIMIT + 10
    parameters = vol.Schema(
        {
            vol.Required("query", description="The SELECT."): vol.All(str, vol.Length(min=1, max=MAX_QUERY)),
            vol.Optional("parameters", description="Values for :name."): dict,
            vol.Optional("entities", description="Only these."): vol.All(cv.ensure_list, [cv.string]),
            vol.Optional("start", description=START): cv.string,
            vol.Optional("end", description=END): cv.string,
            vol.Optional("hours", description="Back from end (default: 168)."): vol.All(
                vol.Coerce(float), vol.Range(min=0, min_included=False)
            ),
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Run the query in a worker on a copy of the exposed rows."""
        try:
            parameters = {str(name): _parameter(value) for name, value in call.arguments.get("parameters", {}).items()}
        except vol.Invalid as err:
            raise ToolError(f"The parameters are wrong: {err}.") from err
        span = _span(call)
        answer = await async_query(call.hass, _visible(call, *span), call.arguments["query"], parameters)
        told: JsonObjectType = {}
        if _SPAN & call.arguments.keys():
            told = {"start": format_time(span[0]), "end": format_time(min(span[1], dt_util.utcnow()))}
        tells = _reads_free_text(call, answer)
        if not answer.rows:
            told |= {"rows": 0, "columns": ", ".join(answer.header), "note": "No exposed row matches."}
            return marked(told, when=tells)
        rows = fit_rows(answer.rows, call.budget - _NOTES - sum(map(len, answer.header)))
        names = fixed_names(call.hass, call.exposure.entities.values())
        data = marked(told | {"result": to_csv(answer.header, rows)}, when=tells or has_free_text(rows, names))
        if left_out := len(answer.rows) - len(rows):
            least = "" if answer.complete else "more than "
            data["note"] = (
                f"{least}{left_out} more rows are left out; aggregate, or use ORDER BY with LIMIT and OFFSET."
            )
        elif not answer.complete:
            data["note"] = (
                f"Only the first {MAX_ROWS} rows are listed; aggregate, or use ORDER BY with LIMIT and OFFSET."
            )
        return data


def _span(call: ToolCall) -> tuple[datetime, datetime]:
    """Return start and end of the copied rows."""
    span: dict[str, Any] = {key: call.arguments[key] for key in _SPAN if key in call.arguments}
    if "start" not in span:
        span.setdefault("hours", _DEFAULT_HOURS)
    now = dt_util.utcnow()
    start, end = time_span(span, now)
    return start, end + _AHEAD if end == now else end


def _visible(call: ToolCall, start: datetime, end: datetime) -> Visible:
    """Return the scope of the call among the currently exposed entities."""
    arguments, exposure = call.arguments, call.exposure
    span = {key: arguments.get(key) for key in sorted(_SPAN)}
    entities, statistics = _named(call) if "entities" in arguments else (None, None)
    return visible(
        exposure,
        entities=entities,
        external_statistics=statistics,
        start=start.timestamp(),
        end=end.timestamp(),
        scope=json_dumps([span, call.caller.conversation_key]),
    )


def _reads_free_text(call: ToolCall, answer: Answer) -> bool:
    """Return whether a query may have computed with free text."""
    entities = _named(call)[0] if "entities" in call.arguments else call.exposure.entities.values()
    return answer.reads_free_text(call.hass, entities)


def _named(call: ToolCall) -> tuple[list[ExposedEntity], list[str]]:
    """Return the exposed entities that the call names, and the statistics that belong to no entity."""
    external = [name for name in call.arguments["entities"] if name in call.exposure.external_statistics]
    found = [
        entity for name in call.arguments["entities"] if name not in external for entity in call.exposure.resolve(name)
    ]
    return found, external

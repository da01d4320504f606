"""Ask the recorder's database anything, in SQL."""

from typing import Any, override

import voluptuous as vol

from homeassistant.helpers import config_validation as cv
from homeassistant.util.json import JsonObjectType

from ..call import ToolCall
from ..policy import Tier
from ..recorder import async_read
from ..recorder.query import MAX_QUERY, MAX_ROWS, run_query
from ..results import ToolError, fit_rows, to_csv
from .base import READ_ONLY, ExtendedTool

_NOTES = 250
"""Characters kept free for what is said beside the table."""
_MAX_PARAMETER = 1_000


def _parameter(value: Any) -> str | float | bool | None:
    """Validate the value of a parameter."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text: str = cv.string(value)
    if len(text) > _MAX_PARAMETER or "\0" in text:
        raise vol.Invalid(f"a parameter has at most {_MAX_PARAMETER} characters")
    return text


class QueryDatabaseTool(ExtendedTool):
    """Answer what the other tools cannot, with one SELECT."""

    name = "extended_assist__query_database"
    title = "Query database"
    description = (
        "Run one SELECT on Home Assistant's recorder, in its engine's own SQL; exposed entities only. Prefer get_history, "
        "get_statistics and get_logbook where they answer. Tables: "
        "states(state_id, metadata_id, state, last_updated_ts, last_changed_ts, attributes_id, old_state_id); "
        "states_meta(metadata_id, entity_id); state_attributes(attributes_id, shared_attrs: JSON text); "
        "statistics (hourly) and statistics_short_term (5 minutes)(metadata_id, start_ts, mean, min, max, state, sum); "
        "statistics_meta(id, statistic_id, unit_of_measurement). "
        "Join states to states_meta by metadata_id, statistics.metadata_id to statistics_meta.id. *_ts are Unix seconds. "
        "state is text: leave out 'unavailable' and 'unknown', then cast. last_changed_ts is null where it equals "
        "last_updated_ts. A row begins a state, it lasts until the next row. sum is a running total: subtract. "
        "Aggregate, filter by entity and time, and LIMIT."
    )
    annotations = READ_ONLY
    family = "database"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Required("query", description="One SELECT; WITH, joins, windows and unions work."): vol.All(
                cv.string, vol.Length(min=1, max=MAX_QUERY)
            ),
            vol.Optional(
                "parameters", description="Values for :name in the query, e.g. {'entity': 'light.desk'}."
            ): dict,
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Run the query in the recorder's executor."""
        try:
            parameters = {str(name): _parameter(value) for name, value in call.arguments.get("parameters", {}).items()}
        except vol.Invalid as err:
            raise ToolError(f"The parameters are wrong: {err}.") from err
        exposed = frozenset(call.exposure.entities)
        # The statistics of an entity have its id.
        statistics = exposed | call.exposure.external_statistics
        answer = await async_read(call.hass, run_query, call.arguments["query"], parameters, exposed, statistics)
        if not answer.rows:
            return {"rows": 0, "columns": ", ".join(answer.header), "note": "No exposed row matches."}
        rows = fit_rows(answer.rows, call.budget - _NOTES - sum(map(len, answer.header)))
        data: JsonObjectType = {"result": to_csv(answer.header, rows)}
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

"""History, statistics and energy for native functions: in their old form, of exposed entities only."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from homeassistant.core import State
from homeassistant.util import dt as dt_util

from ..exposure.entities import Exposure
from ..ha_compat.energy import async_preferences
from ..ha_compat.recorder import get_metadata, get_significant_states, statistics_during_period
from ..recorder import async_read
from ..recorder.time_spans import parse_time
from ..results import ToolError
from .base import FunctionRun

MAX_ENTITIES: Final = 20
MAX_SPAN: Final = timedelta(days=31)
"""Of a history that is given in full; get_history of the toolbox summarizes longer ones."""
MAX_STATES: Final = 10_000
"""States of one entity, newest kept."""
_PERIODS = ("5minute", "hour", "day", "week", "month", "year")
_TYPES = frozenset({"change", "last_reset", "max", "mean", "min", "state", "sum"})
_IDS = ("stat_", "entity_", "included_in_stat")
"""Prefixes of the keys of statistics and entities in the energy dashboard's configuration."""
_ENERGY_KEYS = frozenset({"type", "name", "number_energy_price"})


async def async_legacy_history(run: FunctionRun) -> Any:
    """Return the states of each entity, oldest first."""
    arguments, exposure = run.variables, run.call.exposure
    entity_ids = _texts(arguments.get("entity_ids"), "entity_ids")
    entities = {entity.entity_id: entity for text in entity_ids for entity in exposure.resolve(text)}
    if len(entities) > MAX_ENTITIES:
        raise ToolError(f"That means {len(entities)} entities; name at most {MAX_ENTITIES}, by entity id.")
    now = dt_util.utcnow()
    start = parse_time(str(arguments["start_time"]), "start_time") if arguments.get("start_time") else None
    start = start or now - timedelta(days=1)
    end = parse_time(str(arguments["end_time"]), "end_time") if arguments.get("end_time") else None
    end = end or start + timedelta(days=1)
    if not timedelta(0) < end - start <= MAX_SPAN:
        raise ToolError(f"start_time must be before end_time, by at most {MAX_SPAN.days} days.")
    attributes = not arguments.get("no_attributes", True)
    states = await async_read(
        run.hass,
        get_significant_states,
        start,
        end,
        list(entities),
        include_start_time_state=bool(arguments.get("include_start_time_state", True)),
        significant_changes_only=bool(arguments.get("significant_changes_only", True)),
        no_attributes=not attributes,
    )
    return [
        [_row(exposure, state, attributes=attributes) for state in rows[-MAX_STATES:] if isinstance(state, State)]
        for rows in states.values()
    ]


def _row(exposure: Exposure, state: State, *, attributes: bool) -> dict[str, Any]:
    """Return a state of the past."""
    row: dict[str, Any] = {
        "entity_id": state.entity_id,
        "state": exposure.visible_value(state.state),
        "last_changed": state.last_changed.isoformat(),
        "last_updated": state.last_updated.isoformat(),
    }
    if attributes:
        row["attributes"] = exposure.visible_attributes(state)
    return row


async def async_legacy_statistics(run: FunctionRun) -> Any:
    """Return the rows of each statistic."""
    arguments, exposure = run.variables, run.call.exposure
    wanted = set(_texts(arguments.get("statistic_ids"), "statistic_ids")[:MAX_ENTITIES])
    for statistic_id in sorted(wanted):
        if not exposure.is_statistic_exposed(statistic_id):
            raise ToolError(f"'{statistic_id}' was not found or is not exposed.")
    start = parse_time(str(arguments.get("start_time", "")), "start_time")
    end = parse_time(str(arguments.get("end_time", "")), "end_time")
    if (period := arguments.get("period", "day")) not in _PERIODS:
        raise ToolError(f"'{period}' is no period. Periods: {', '.join(_PERIODS)}.")
    types: set[Any] = set(_texts(arguments.get("types", ["change"]), "types"))
    if unknown := types - _TYPES:
        raise ToolError(f"'{min(unknown)}' is no type. Types: {', '.join(sorted(_TYPES))}.")
    units = arguments.get("units")
    rows = await async_read(
        run.hass,
        statistics_during_period,
        start,
        end,
        wanted,
        period,
        units if isinstance(units, dict) else None,
        types,
    )
    metadata = await async_read(run.hass, get_metadata, statistic_ids=wanted)
    return {
        statistic_id: [
            {**row, "unit_of_measurement": metadata[statistic_id][1]["unit_of_measurement"]}
            for row in found[-MAX_STATES:]
        ]
        for statistic_id, found in rows.items()
        if statistic_id in metadata
    }


def _texts(value: Any, name: str) -> list[str]:
    """Return a list of texts; a single one counts as a list."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise ToolError(f"{name} must be a list of texts.")
    return texts


async def async_legacy_energy(run: FunctionRun) -> Any:
    """Return the configuration of the energy dashboard, without what is not exposed."""
    preferences = await async_preferences(run.hass)
    if preferences is None:
        return {}
    return {
        section: [visible for each in preferences.get(section, ()) if (visible := _exposed_source(run, each))]
        for section in ("energy_sources", "device_consumption", "device_consumption_water")
    }


def _exposed_source(run: FunctionRun, meter: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a source or device of the dashboard, or None when nothing of it is exposed."""
    ids = {key: value for key, value in meter.items() if key.startswith(_IDS) and isinstance(value, str)}
    kept = {key: value for key, value in ids.items() if run.call.exposure.is_statistic_exposed(value)}
    # What is said of the whole is told where all of it may be seen.
    said = _ENERGY_KEYS if kept == ids else {"type"}
    kept |= {key: value for key, value in meter.items() if key in said}
    return kept if any(key.startswith(("stat_energy", "stat_consumption")) for key in kept) else None

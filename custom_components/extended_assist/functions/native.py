"""Functions that stand for something built in: our own tools, in the form in which the old ones answered."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.components.recorder.history import get_significant_states
from homeassistant.components.recorder.statistics import get_metadata, statistics_during_period
from homeassistant.core import HomeAssistant, State
from homeassistant.util import dt as dt_util

from ..actions.check import ResolvedAction, async_check_action
from ..actions.perform import async_perform
from ..const import DOMAIN
from ..exposure import SECRET_ATTRIBUTES, Exposure
from ..policy import Tier, async_get_user
from ..recorder import async_read
from ..results import ToolError
from ..tools import CATALOGUE
from ..tools.actions import describe
from ..tools.base import ExtendedTool
from ..tools.energy_dashboard import async_preferences
from ..tools.history import parse_time
from .kinds import KINDS, Kind, Run, kind
from .reading import FunctionError, read

MAX_ACTIONS: Final = 20
"""Actions of one call."""
MAX_ENTITIES: Final = 20
MAX_SPAN: Final = timedelta(days=31)
"""Of a history that is given in full; get_history of the toolbox summarizes longer ones."""
MAX_STATES: Final = 10_000
"""States of one entity, newest kept."""
_TARGETS = ("entity_id", "device_id", "area_id", "floor_id", "label_id")
_PERIODS = ("5minute", "hour", "day", "week", "month", "year")
_TYPES = frozenset({"change", "last_reset", "max", "mean", "min", "state", "sum"})
_IDS = ("stat_", "entity_", "included_in_stat")
"""How the keys of statistics and entities begin in the energy dashboard's configuration."""
_ENERGY_KEYS = frozenset({"type", "name", "number_energy_price"})


async def _async_execute_services(run: Run) -> Any:
    """Perform a list of actions; one that fails does not stop the others."""
    wanted = run.variables.get("list")
    if not isinstance(wanted, list) or not 0 < len(wanted) <= MAX_ACTIONS:
        raise ToolError(f"Give a list of 1 to {MAX_ACTIONS} actions, each with domain, service and service_data.")
    results: list[Any] = []
    for each in wanted:
        try:
            results.append(await _async_execute(run, each))
        except ToolError as err:
            results.append({"error": str(err)})
    return results


async def _async_execute_service(run: Run) -> Any:
    """Perform one action."""
    return await _async_execute(run, run.variables)


async def _async_execute(run: Run, wanted: Any) -> Any:
    """Perform an action on exposed entities, in the speaker's name, and say what became of it."""
    return {"success": True, **await async_perform(run.call, await _async_action(run, wanted))}


async def _async_action(run: Run, wanted: Any) -> ResolvedAction:
    """Return the action that arguments mean."""
    if not isinstance(wanted, dict) or not isinstance(wanted.get("service"), str):
        raise ToolError("Give domain, service and service_data.")
    service = wanted["service"]
    action = service if "." in service else f"{wanted.get('domain')}.{service}"
    data = wanted.get("service_data", wanted.get("data")) or {}
    if not isinstance(data, dict):
        raise ToolError("service_data must be an object.")
    given = {key: wanted[key] for key in _TARGETS if wanted.get(key)} | (wanted.get("target") or {}) | data
    target = {key: _listed(given[key]) for key in _TARGETS if given.get(key)}
    return await async_check_action(
        run.call, action, target, {key: value for key, value in data.items() if key not in _TARGETS}
    )


def _listed(value: Any) -> Any:
    """Return ids that are written with commas as a list."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


async def _async_preview_services(run: Run) -> str:
    """Say what would be done."""
    wanted = run.variables.get("list")
    actions = [await _async_action(run, each) for each in (wanted if isinstance(wanted, list) else [run.variables])]
    return "; ".join(
        describe(run.call.exposure, action.name, action.entity_ids, action.data) for action in actions[:MAX_ACTIONS]
    )


def _automation(run: Run) -> tuple[ExtendedTool, Run]:
    """Return the tool that adds automations, and the run with its arguments."""
    tool = next((tool for tool in CATALOGUE if tool.name == f"{DOMAIN}__add_automation"), None)
    if tool is None:
        raise ToolError("Automations cannot be added from here.")
    config = run.variables.get("automation_config")
    if isinstance(config, str):
        try:
            config = read(config).value
        except FunctionError as err:
            raise ToolError(f"automation_config: {err}.") from err
    if isinstance(config, list) and len(config) == 1:
        config = config[0]
    if not isinstance(config, dict):
        raise ToolError("automation_config must be one automation.")
    config = {key: value for key, value in config.items() if key != "id"}
    return tool(run.call.options), replace(run, call=replace(run.call, arguments={"automation": config}))


async def _async_add_automation(run: Run) -> Any:
    """Add an automation with the tool of ours."""
    if not await (automation := _automation(run))[0].async_available(run.hass):
        raise ToolError("Automations are not set up in this home. Tell the user.")
    tool, run = automation
    return await tool.async_run(run.call)


async def _async_preview_automation(run: Run) -> str:
    """Say which automation would be added."""
    tool, run = _automation(run)
    return await tool.async_preview(run.call)


async def _async_get_history(run: Run) -> Any:
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
        row["attributes"] = exposure.visible_value(
            {name: value for name, value in state.attributes.items() if name not in SECRET_ATTRIBUTES}
        )
    return row


async def _async_get_statistics(run: Run) -> Any:
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


async def _async_get_energy(run: Run) -> Any:
    """Return what the energy dashboard holds, as far as it is exposed."""
    preferences = await async_preferences(run.hass)
    if preferences is None:
        return {}
    return {
        section: [visible for each in preferences.get(section, ()) if (visible := _visible_meter(run, each))]
        for section in ("energy_sources", "device_consumption", "device_consumption_water")
    }


def _visible_meter(run: Run, meter: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a source or device of the dashboard, or None when nothing of it is exposed."""
    ids = {key: value for key, value in meter.items() if key.startswith(_IDS) and isinstance(value, str)}
    kept = {key: value for key, value in ids.items() if run.call.exposure.is_statistic_exposed(value)}
    # What is said of the whole is told where all of it may be seen.
    said = _ENERGY_KEYS if kept == ids else {"type"}
    kept |= {key: value for key, value in meter.items() if key in said}
    return kept if any(key.startswith(("stat_energy", "stat_consumption")) for key in kept) else None


async def _async_get_user(run: Run) -> Any:
    """Return the name of the user who speaks, whatever id was asked for."""
    user = await async_get_user(run.hass, run.call.llm_context)
    return {"name": (user and user.name) or "Unknown"}


@dataclass(frozen=True, slots=True)
class _Native:
    """One of the functions built in."""

    run: Callable[[Run], Awaitable[Any]]
    tier: Tier = Tier.READ
    stands_for: str | None = None
    preview: Callable[[Run], Awaitable[str]] | None = None


_NATIVES: Final[Mapping[str, _Native]] = {
    "execute_service": _Native(_async_execute_services, Tier.CONTROL, "perform_action", _async_preview_services),
    "execute_service_single": _Native(_async_execute_service, Tier.CONTROL, "perform_action", _async_preview_services),
    "add_automation": _Native(_async_add_automation, Tier.ADMINISTER, "add_automation", _async_preview_automation),
    "get_history": _Native(_async_get_history),
    "get_energy": _Native(_async_get_energy),
    "get_statistics": _Native(_async_get_statistics),
    "get_user_from_user_id": _Native(_async_get_user),
}


@kind("native")
class NativeKind(Kind):
    """Stands for something built in."""

    schema = vol.Schema(
        {
            vol.Required("name"): vol.All(
                str,
                vol.In(list(_NATIVES), msg=f"there is no native function of this name. Names: {', '.join(_NATIVES)}"),
            )
        }
    )

    @override
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Find nothing more to check."""

    @override
    async def async_run(self, run: Run, settings: Mapping[str, Any]) -> Any:
        """Run what it stands for."""
        return await _NATIVES[settings["name"]].run(run)

    @override
    async def async_preview(self, run: Run, settings: Mapping[str, Any]) -> str | None:
        """Say what would be done."""
        preview = _NATIVES[settings["name"]].preview
        return None if preview is None else await preview(run)

    @override
    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return that of what it stands for."""
        return _NATIVES[settings["name"]].tier

    @override
    def has_its_own_bound(self, settings: Mapping[str, Any]) -> bool:
        """Return that our tools do, and say what is nearest to a wrong name."""
        return True

    @override
    def stands_for(self, settings: Mapping[str, Any]) -> frozenset[str]:
        """Return the tool of ours."""
        name = _NATIVES[settings["name"]].stands_for
        return frozenset() if name is None else frozenset({name})


KINDS["predefined"] = KINDS["native"]

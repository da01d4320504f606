"""Functions of the type native: our own tools, with the arguments and answers of Extended OpenAI Conversation's."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.const import ATTR_ENTITY_ID, CONF_EXCLUDE
from homeassistant.core import HomeAssistant, State
from homeassistant.util import dt as dt_util

from ..actions.check import ResolvedAction, async_check_action
from ..actions.perform import async_perform
from ..actions.targets import PLACES
from ..calls.plan import Plan
from ..calls.policy import Tier
from ..confirmation.wording import step_for
from ..exposure.entities import Exposure, async_error_text
from ..ha_compat.energy import async_preferences
from ..ha_compat.recorder import get_metadata, get_significant_states, statistics_during_period
from ..llm_tools.extended_tool import ExtendedTool
from ..recorder import async_read
from ..recorder.periods import parse_time
from ..results import ToolError
from ..tools.automation_changes import AddAutomationTool
from .base import FunctionRun, FunctionType
from .yaml_source import FunctionError, parse_yaml

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


MAX_ACTIONS: Final = 20
"""Actions of one call."""
_TARGET_KEYS = (ATTR_ENTITY_ID, *PLACES)


async def _async_execute_services(run: FunctionRun) -> Any:
    """Perform a list of actions; one that fails does not stop the others."""
    results: list[Any] = []
    for each in _wanted(run):
        try:
            results.append(await _async_execute(run, each))
        except ToolError as err:
            results.append({"error": await async_error_text(err)})
    return results


def _wanted(run: FunctionRun) -> list[Any]:
    """Return the list of actions."""
    wanted = run.variables.get("list")
    if not isinstance(wanted, list) or not 0 < len(wanted) <= MAX_ACTIONS:
        raise ToolError(f"Give a list of 1 to {MAX_ACTIONS} actions, each with domain, service and service_data.")
    return wanted


async def _async_execute_service(run: FunctionRun) -> Any:
    """Perform one action."""
    return await _async_execute(run, run.variables)


async def _async_execute(run: FunctionRun, wanted: Any) -> Any:
    """Perform an action on exposed entities, in the speaker's name, and say what became of it."""
    return {"success": True, **await async_perform(run.call, await _async_action(run, wanted))}


async def _async_action(run: FunctionRun, wanted: Any) -> ResolvedAction:
    """Return the action that arguments mean."""
    if not isinstance(wanted, dict) or not isinstance(wanted.get("service"), str):
        raise ToolError("Give domain, service and service_data.")
    service = wanted["service"]
    action = service if "." in service else f"{wanted.get('domain')}.{service}"
    data = wanted.get("service_data", wanted.get("data")) or {}
    if not isinstance(data, dict):
        raise ToolError("service_data must be an object.")
    given_target = wanted.get("target") or {}
    if not isinstance(given_target, dict):
        raise ToolError("target must be an object, such as {'entity_id': ['light.lamp']}.")
    given = {key: wanted[key] for key in _TARGET_KEYS if wanted.get(key)} | given_target | data
    target = {key: _listed(given[key]) for key in _TARGET_KEYS if given.get(key)}
    target |= {CONF_EXCLUDE: given_target[CONF_EXCLUDE]} if CONF_EXCLUDE in given_target else {}
    return await async_check_action(
        run.call, action, target, {key: value for key, value in data.items() if key not in _TARGET_KEYS}
    )


def _listed(value: Any) -> Any:
    """Return ids that are written with commas as a list."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


async def _async_plan_services(run: FunctionRun) -> Plan:
    """Return the actions that would be performed."""
    return await _async_plan(run, _wanted(run))


async def _async_plan_service(run: FunctionRun) -> Plan:
    """Return the action that would be performed."""
    return await _async_plan(run, [run.variables])


async def _async_plan(run: FunctionRun, wanted: list[Any]) -> Plan:
    """Return the actions that would be performed; of one that cannot be, the run itself says why."""
    steps = []
    for each in wanted:
        try:
            action = await _async_action(run, each)
        except ToolError:
            continue
        steps.append(step_for(run.call, action.name, action.entity_ids, action.data))
    return Plan(tuple(steps), steps[0].words if len(steps) == 1 else f"Perform {len(steps)} actions")


def _automation(run: FunctionRun) -> tuple[ExtendedTool, FunctionRun]:
    """Return the tool that adds automations, and the run with its arguments."""
    config = run.variables.get("automation_config")
    if isinstance(config, str):
        try:
            config = parse_yaml(config).value
        except FunctionError as err:
            raise ToolError(f"automation_config: {err}.") from err
    if isinstance(config, list) and len(config) == 1:
        config = config[0]
    if not isinstance(config, dict):
        raise ToolError("automation_config must be one automation.")
    config = {key: value for key, value in config.items() if key != "id"}
    return AddAutomationTool(run.call.options), replace(run, call=replace(run.call, arguments={"automation": config}))


async def _async_automation(run: FunctionRun) -> tuple[ExtendedTool, FunctionRun]:
    """Return the same where automations are set up."""
    if not await (automation := _automation(run))[0].async_available(run.hass):
        raise ToolError("Automations are not set up in this home. Tell the user.")
    return automation


async def _async_add_automation(run: FunctionRun) -> Any:
    """Add an automation with the tool of ours."""
    tool, run = await _async_automation(run)
    return await tool.async_run(run.call)


async def _async_plan_automation(run: FunctionRun) -> Plan:
    """Return the automation that would be added."""
    tool, run = await _async_automation(run)
    return await tool.async_plan(run.call)


async def _async_get_user(run: FunctionRun) -> Any:
    """Return the name of the user who speaks, whatever id was asked for."""
    user = await run.call.caller.async_user(run.hass)
    return {"name": (user and user.name) or "Unknown"}


@dataclass(frozen=True, slots=True)
class _NativeFunction:
    """One of the functions built in."""

    run: Callable[[FunctionRun], Awaitable[Any]]
    tier: Tier = Tier.READ
    stands_for: str | None = None
    plan: Callable[[FunctionRun], Awaitable[Plan]] | None = None


_NATIVES: Final[Mapping[str, _NativeFunction]] = {
    "execute_service": _NativeFunction(_async_execute_services, Tier.CONTROL, "perform_action", _async_plan_services),
    "execute_service_single": _NativeFunction(
        _async_execute_service, Tier.CONTROL, "perform_action", _async_plan_service
    ),
    "add_automation": _NativeFunction(_async_add_automation, Tier.ADMINISTER, "add_automation", _async_plan_automation),
    "get_history": _NativeFunction(async_legacy_history),
    "get_energy": _NativeFunction(async_legacy_energy),
    "get_statistics": _NativeFunction(async_legacy_statistics),
    "get_user_from_user_id": _NativeFunction(_async_get_user),
}


class NativeType(FunctionType):
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
        """Check nothing more: the schema knows all names."""

    @override
    async def async_run(self, run: FunctionRun, settings: Mapping[str, Any]) -> Any:
        """Run what it stands for."""
        return await _NATIVES[settings["name"]].run(run)

    @override
    async def async_plan(self, run: FunctionRun, settings: Mapping[str, Any]) -> Plan | None:
        """Return the plan of the built-in function; None where its arguments say it."""
        plan = _NATIVES[settings["name"]].plan
        return None if plan is None else await plan(run)

    @override
    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return the tier of the built-in function."""
        return _NATIVES[settings["name"]].tier

    @override
    def holds_outside_text(self, run: FunctionRun, settings: Mapping[str, Any], result: Any) -> bool:
        """Return whether a result holds free text; the name of the user who speaks is none."""
        return settings["name"] != "get_user_from_user_id" and super().holds_outside_text(run, settings, result)

    @override
    def has_its_own_bound(self, settings: Mapping[str, Any]) -> bool:
        """Return True: our tools check exposure themselves, and say what is nearest to a wrong name."""
        return True

    @override
    def stands_for(self, settings: Mapping[str, Any]) -> frozenset[str]:
        """Return the tool of ours."""
        name = _NATIVES[settings["name"]].stands_for
        return frozenset() if name is None else frozenset({name})

"""Functions that stand for something built in: our own tools, in the form in which the old ones answered."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.const import ATTR_ENTITY_ID, CONF_EXCLUDE
from homeassistant.core import HomeAssistant

from ..actions.check import ResolvedAction, async_check_action
from ..actions.perform import async_perform
from ..actions.targets import PLACES
from ..calls.plan import Plan
from ..calls.policy import Tier
from ..confirmation.wording import step_for
from ..exposure.entities import async_told
from ..llm_tools.extended_tool import ExtendedTool
from ..results import ToolError
from ..tools.automation_changes import AddAutomationTool
from .base import FunctionRun, FunctionType
from .legacy_history import async_legacy_energy, async_legacy_history, async_legacy_statistics
from .yaml_source import FunctionError, parse_yaml

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
            results.append({"error": await async_told(err)})
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

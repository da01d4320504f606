"""Functions that stand for something built in: our own tools, in the form in which the old ones answered."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.core import HomeAssistant

from ..actions.check import ResolvedAction, async_check_action
from ..actions.perform import async_perform
from ..policy import Tier, async_get_user
from ..results import ToolError
from ..tools.actions import describe
from ..tools.automation_changes import AddAutomationTool
from ..tools.base import ExtendedTool
from .kinds import KINDS, Kind, Run, kind
from .past import async_get_energy, async_get_history, async_get_statistics
from .reading import FunctionError, read

MAX_ACTIONS: Final = 20
"""Actions of one call."""
_TARGETS = ("entity_id", "device_id", "area_id", "floor_id", "label_id")


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
    return AddAutomationTool(run.call.options), replace(run, call=replace(run.call, arguments={"automation": config}))


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
    "get_history": _Native(async_get_history),
    "get_energy": _Native(async_get_energy),
    "get_statistics": _Native(async_get_statistics),
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

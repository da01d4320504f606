"""Functions that are a script: what users wrote runs as their own scripts do; what a model gave is a variable of it."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.const import CONF_SEQUENCE, CONF_VARIABLES
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.script import Script, ScriptRunResult, async_validate_actions_config
from homeassistant.helpers.typing import UNDEFINED

from ..actions.perform import safe_reason
from ..const import DOMAIN, LOGGER
from ..results import ToolError
from ..toolbox.policy import Tier
from .base import FunctionRun, FunctionType
from .yaml_source import PartError

WAIT: Final = 20.0
"""Seconds after which a script that is still running, such as one with a long delay, goes on by itself."""
RESULT: Final = "_function_result"
"""The variable that is the result."""
_DONE = "Success"
_IGNORED = ("alias", "description", "fields", "icon", "max", "max_exceeded", "mode", "trace")


class ScriptType(FunctionType):
    """Runs a sequence of Home Assistant's actions."""

    schema = vol.Schema(
        {
            vol.Required(CONF_SEQUENCE): vol.Any(list, dict),
            vol.Optional(CONF_VARIABLES): dict,
            **{vol.Optional(key): object for key in _IGNORED},
        }
    )

    @override
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Let Home Assistant validate the sequence."""
        try:
            await _async_script(hass, settings)
        except vol.Invalid as err:
            first = err.errors[0] if isinstance(err, vol.MultipleInvalid) else err
            path = [key for key in first.path if isinstance(key, str | int)]
            raise PartError(f"The sequence is not valid: {first.msg}", [CONF_SEQUENCE, *path]) from err
        except HomeAssistantError as err:
            raise PartError(f"The sequence is not valid: {err}", [CONF_SEQUENCE]) from err

    @override
    async def async_run(self, run: FunctionRun, settings: Mapping[str, Any]) -> Any:
        """Run the sequence and return what it put into _function_result."""
        hass, exposure = run.hass, run.call.exposure
        try:
            sequence, variables = await _async_script(hass, settings)
        except (vol.Invalid, HomeAssistantError) as err:
            raise ToolError(f"The script of this function is not valid: {safe_reason(exposure, err)}") from err
        task = hass.async_create_task(
            _async_run(hass, sequence, variables, run), f"{DOMAIN} function", eager_start=True
        )
        done, _ = await asyncio.wait({task}, timeout=WAIT)
        if not done:
            task.add_done_callback(_log_failure)
            return f"It has not finished after {WAIT:g} seconds and goes on."
        try:
            result = task.result()
        except (vol.Invalid, HomeAssistantError) as err:
            raise ToolError(f"The script of this function failed: {safe_reason(exposure, err)}") from err
        if result is None:
            raise ToolError("Home Assistant is shutting down, so nothing was done.")
        if RESULT in result.variables:
            return result.variables[RESULT]
        if result.service_response is not None:
            return result.service_response
        return _DONE if result.conversation_response in (None, UNDEFINED) else result.conversation_response

    @override
    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return control: a script may do anything that its user may."""
        return Tier.CONTROL


async def _async_script(hass: HomeAssistant, settings: Mapping[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    """Return a sequence ready to run, and the script's own variables."""
    sequence = await async_validate_actions_config(hass, cv.SCRIPT_SCHEMA(settings[CONF_SEQUENCE]))
    variables = settings.get(CONF_VARIABLES)
    return sequence, None if variables is None else cv.SCRIPT_VARIABLES_SCHEMA(variables)


async def _async_run(
    hass: HomeAssistant, sequence: list[dict[str, Any]], variables: Any, run: FunctionRun
) -> ScriptRunResult | None:
    """Run a sequence to its end."""
    script = Script(
        hass, sequence, "Function of an assistant", DOMAIN, variables=variables, log_exceptions=False, logger=LOGGER
    )
    try:
        return await script.async_run(run_variables=run.variables, context=run.call.llm_context.context)
    finally:
        await script.async_unload()


def _log_failure(task: asyncio.Task[ScriptRunResult | None]) -> None:
    """Log the failure of a script that nobody waits for any more."""
    if not task.cancelled() and (error := task.exception()):
        LOGGER.warning("The script of a function failed after it was reported as going on: %s", error)

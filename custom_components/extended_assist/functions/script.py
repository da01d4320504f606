"""Functions of the types script and template, which read and act on exposed entities only."""

from ast import literal_eval
import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.const import CONF_SEQUENCE, CONF_VARIABLES
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.template import is_template_string
from homeassistant.helpers.typing import UNDEFINED

from ..actions.binding import Asked, Binder, Prepare
from ..actions.check import ActionChecker
from ..actions.data import ids_in
from ..actions.run import Outcome, TracedScript
from ..calls.policy import Tier
from ..confirmation.confirmation_reason import HOUSE
from ..const import DOMAIN, LOGGER
from ..exposure.responses import safe_reason
from ..results import FreeTextError, ToolError, texts_in
from ..templates.bound_template import TemplateRun
from .base import DONE, FunctionRun, FunctionType
from .rendering import async_check_template, async_render
from .yaml_source import PartError

WAIT: Final = 20.0
"""Seconds after which a script that is still running, such as one with a long delay, goes on by itself."""
RESULT: Final = "_function_result"
"""The variable that is the result."""
LONGEST: Final = 3600.0
"""Seconds after which it is ended."""
_FINISHED = "finished"
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
            script = await _async_script(TemplateRun(hass, ""), lambda _: {}, settings)
            await script.async_unload()
        except vol.Invalid as err:
            first = err.errors[0] if isinstance(err, vol.MultipleInvalid) else err
            path = [key for key in first.path if isinstance(key, str | int)]
            raise PartError(f"The sequence is not valid: {first.msg}", [CONF_SEQUENCE, *path]) from err
        except HomeAssistantError as err:
            raise PartError(f"The sequence is not valid: {err}", [CONF_SEQUENCE]) from err

    @override
    async def async_run(self, run: FunctionRun, settings: Mapping[str, Any]) -> Any:
        """Run the sequence and return what it put into _function_result; raises ToolError for one that failed."""
        hass, exposure = run.hass, run.call.exposure
        written = {
            name for text, _ in texts_in(settings) if not is_template_string(text) for name in ids_in(hass, text)
        }
        templates = TemplateRun(hass, str(run.call.llm_context.assistant), frozenset(written))
        prepare = _Prepare(templates, await ActionChecker.async_create(run.call))
        try:
            script = await _async_script(templates, prepare, settings)
        except (vol.Invalid, HomeAssistantError) as err:
            raise ToolError(f"The script of this function is not valid: {safe_reason(exposure, err)}") from err
        task = hass.async_create_task(_async_run(script, run), f"{DOMAIN} function", eager_start=True)
        done, _ = await asyncio.wait({task}, timeout=WAIT)
        run.has_free_text = run.has_free_text or templates.has_free_text or bool(templates.responses)
        if not done:
            task.add_done_callback(_log_failure)
            return f"It has not finished after {WAIT:g} seconds and goes on."
        try:
            result, reason = task.result()
        except (vol.Invalid, HomeAssistantError, NotImplementedError) as err:
            why = script.failures(exposure) or [safe_reason(exposure, err)]
            raise FreeTextError(f"The script of this function failed: {'; '.join(why)}") from err
        if result is None:
            raise ToolError("Home Assistant is shutting down, so nothing was done.")
        if reason != _FINISHED and (failures := script.failures(exposure)):
            raise FreeTextError(f"The script of this function failed: {'; '.join(failures)}")
        if RESULT in result.variables:
            return templates.told(result.variables[RESULT])
        if result.service_response is not None:
            return templates.told(result.service_response)
        if result.conversation_response not in (None, UNDEFINED):
            return result.conversation_response
        if reason != _FINISHED:
            raise ToolError(
                f"The script of this function ended early at {script.last_place}, where a condition was not met. What comes "
                "after that was not done."
            )
        return DONE

    @override
    def sends(self, settings: Mapping[str, Any]) -> bool:
        """Return whether it has templates and an action that may tell something outside."""
        texts = [*texts_in(settings[CONF_SEQUENCE])]
        actions = [text for text, path in texts if path and path[-1] in ("action", "service")]
        outward = any(text.partition(".")[0] not in HOUSE for text in actions)
        return outward and any(is_template_string(text) for text, _ in texts)

    @override
    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return control: a script may do anything that its user may."""
        return Tier.CONTROL


@dataclass(frozen=True, slots=True)
class _Prepare:
    """What becomes of an action: what its user wrote is done as it is, what a template made is checked."""

    run: TemplateRun
    checker: ActionChecker

    @callback
    def __call__(self, asked: Asked) -> dict[str, Any]:
        """Return the data of an action that may be performed now."""
        exposure = self.run.exposure()
        if asked.is_name_made:
            action = self.checker.check(exposure, str(asked.name), asked.target.whole, asked.data.whole)
            return action.data | action.target
        return self.checker.check_made(exposure, asked.name, asked.target, asked.data)


async def _async_script(templates: TemplateRun, prepare: Prepare, settings: Mapping[str, Any]) -> TracedScript:
    """Return the script ready to run."""
    binder = Binder(templates, prepare)
    variables = settings.get(CONF_VARIABLES)
    return TracedScript(
        templates.hass,
        await binder.async_sequence(settings[CONF_SEQUENCE]),
        "Function of an assistant",
        None if variables is None else await binder.async_variables(variables),
    )


async def _async_run(script: TracedScript, run: FunctionRun) -> Outcome:
    """Run a script to its end, or to that of its time."""
    try:
        async with asyncio.timeout(LONGEST):
            return await script.async_run(run.call.llm_context.context, run.variables)
    except TimeoutError as err:
        raise ToolError(f"It took longer than {LONGEST:g} seconds and was ended.") from err
    finally:
        await script.async_unload()


def _log_failure(task: asyncio.Task[Outcome]) -> None:
    """Log the failure of a script that nobody waits for any more."""
    if not task.cancelled() and (error := task.exception()):
        LOGGER.warning("The script of a function failed after it was reported as going on: %s", type(error).__name__)
        LOGGER.debug("What it says", exc_info=error)


class TemplateType(FunctionType):
    """Renders a template; it can read, and do nothing."""

    schema = vol.Schema({vol.Required("value_template"): cv.string, vol.Optional("parse_result"): cv.boolean})

    @override
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Compile the template."""
        await async_check_template(hass, settings["value_template"], ["value_template"])

    @override
    async def async_run(self, run: FunctionRun, settings: Mapping[str, Any]) -> Any:
        """Render the template."""
        text = await async_render(run, settings["value_template"])
        if not settings.get("parse_result"):
            return text
        return await run.hass.async_add_executor_job(parse_result, text)

    @override
    def holds_outside_text(self, run: FunctionRun, settings: Mapping[str, Any], result: Any) -> bool:
        """Return whether the template read free text; the words of the template itself are the user's."""
        return run.has_free_text


def parse_result(text: str) -> Any:
    """Return the number, list or mapping that a text writes, or the text."""
    try:
        value = literal_eval(text)
    except ValueError, TypeError, SyntaxError, MemoryError, RecursionError:
        return text
    return text if isinstance(value, str | bytes | complex) else value

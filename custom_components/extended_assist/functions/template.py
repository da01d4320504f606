"""Functions that are a template."""

from ast import literal_eval
from collections.abc import Mapping
from typing import Any, override

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv

from .base import FunctionRun, FunctionType
from .rendering import async_check_template, async_render


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

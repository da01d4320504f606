"""Functions that are a request over HTTP."""

from collections.abc import Mapping
import json
from typing import Any, override
from xml.parsers.expat import ExpatError

import voluptuous as vol

from homeassistant.core import HomeAssistant

from ..calls.policy import Tier
from ..results import ToolError
from ..web.fetch import FetchedResponse
from ..web.read import Document
from .base import FunctionRun, FunctionType
from .rendering import async_render_value
from .request import RESOURCE_SCHEMA, async_check_resource, async_request, sends_templates


class RestType(FunctionType):
    """Sends a request and returns the answer, or what a template makes of it."""

    schema = vol.Schema(RESOURCE_SCHEMA)

    @override
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Check address and templates."""
        await async_check_resource(hass, settings)

    @override
    async def async_run(self, run: FunctionRun, settings: Mapping[str, Any]) -> Any:
        """Send the request."""
        text = await async_request(run, settings, _text)
        if (template := settings.get("value_template")) is None:
            return text
        return await async_render_value(run, template, text)

    @override
    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return control, whatever the method: many a device is switched with a GET."""
        return Tier.CONTROL

    @override
    def least_tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return read: only its user knows what a request does."""
        return Tier.READ

    @override
    def sends(self, settings: Mapping[str, Any]) -> bool:
        """Whether there is a template in what is sent."""
        return sends_templates(settings)

    @override
    def brings_outside_text(self, settings: Mapping[str, Any]) -> bool:
        """Return True: strangers may have written the response."""
        return True


def _text(answer: FetchedResponse, document: Document) -> str:
    """Return the text of an answer; XML as JSON, as the rest integration has it."""
    if not answer.media_type.endswith("xml") or answer.media_type == "application/xhtml+xml":
        return document.text
    import xmltodict  # noqa: PLC0415 - loaded when the first XML comes

    try:
        return json.dumps(xmltodict.parse(document.text))
    except (ExpatError, ValueError) as err:
        raise ToolError("The answer says that it is XML and is not. Tell the user.") from err

"""Functions of the types scrape and rest, which read values from a page or response."""

from collections.abc import Mapping
import json
from typing import Any, Final, override
from xml.parsers.expat import ExpatError

from bs4 import BeautifulSoup
import soupsieve
from soupsieve import SelectorSyntaxError
import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv

from ..calls.policy import Tier
from ..results import ToolError
from ..web.fetch import FetchedResponse
from ..web.page import is_hidden, parse
from ..web.read import Document
from .base import FunctionRun, FunctionType
from .rendering import async_check_template, async_render_value
from .request import RESOURCE_SCHEMA, async_check_resource, async_request, sends_templates
from .yaml_source import PartError

MAX_SENSORS: Final = 50
_SHOWN = 5
_RAW = frozenset({"style", "script", "template"})
"""Elements whose text is not that of a page."""
_READING = frozenset({"GET", "HEAD"})


class ScrapeType(FunctionType):
    """Fetches a page and returns what its selectors find, or what a template makes of that."""

    schema = vol.Schema(
        {
            **RESOURCE_SCHEMA,
            vol.Required("sensor"): vol.All(
                cv.ensure_list,
                vol.Length(min=1, max=MAX_SENSORS),
                [
                    vol.Schema(
                        {
                            vol.Optional("name"): cv.string,
                            vol.Required("select"): cv.string,
                            vol.Optional("index", default=0): cv.positive_int,
                            vol.Optional("attribute"): cv.string,
                            vol.Optional("value_template"): cv.string,
                        },
                        # What else a sensor of the scrape integration has says nothing of the value.
                        extra=vol.ALLOW_EXTRA,
                    )
                ],
            ),
        }
    )

    @override
    async def async_check(self, hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
        """Check address, selectors and templates."""
        await async_check_resource(hass, settings)
        for index, sensor in enumerate(settings["sensor"]):
            try:
                soupsieve.compile(sensor["select"])
            except (SelectorSyntaxError, ValueError, NotImplementedError) as err:
                reason = str(err).splitlines()[0].rstrip(".:")
                raise PartError(f"This is not a CSS selector: {reason}", ["sensor", index, "select"]) from err
            if "value_template" in sensor:
                await async_check_template(hass, sensor["value_template"], ["sensor", index, "value_template"])

    @override
    async def async_run(self, run: FunctionRun, settings: Mapping[str, Any]) -> Any:
        """Fetch the page and read it."""
        sensors = settings["sensor"]

        def read(answer: FetchedResponse, document: Document) -> list[str | None]:
            soup, _ = parse(document.text)
            return [_value(soup, sensor) for sensor in sensors]

        values: dict[str, Any] = {}
        result: Any = None
        for sensor, found in zip(sensors, await async_request(run, settings, read), strict=True):
            result = found
            if found is not None and (template := sensor.get("value_template")) is not None:
                result = await async_render_value(run, template, found)
            if name := sensor.get("name"):
                values[name] = result
        if (template := settings.get("value_template")) is not None:
            return await async_render_value(run, template, result, values)
        if result is None and not any(value is not None for value in values.values()):
            missing = ", ".join(f"'{sensor['select']}'" for sensor in sensors[:_SHOWN])
            raise ToolError(f"Nothing on the page is what this function looks for: {missing}. Tell the user.")
        return values if len(sensors) > 1 and len(values) == len(sensors) else result

    @override
    def tier(self, settings: Mapping[str, Any]) -> Tier:
        """Return read for what only fetches a page."""
        return Tier.READ if settings["method"] in _READING else Tier.CONTROL

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
        """Return True: strangers may have written the page."""
        return True


def _value(soup: BeautifulSoup, sensor: Mapping[str, Any]) -> str | None:
    """Return the text or attribute of the element that one sensor selects; None where there is none."""
    tags = soup.select(sensor["select"], limit=sensor["index"] + 1)
    if len(tags) <= sensor["index"]:
        return None
    tag = tags[sensor["index"]]
    if (attribute := sensor.get("attribute")) is None:
        if tag.name in _RAW:
            return str(tag.string)
        # What its user chose is read, and in it what a visitor would see.
        hidden = [one for one in tag.find_all() if is_hidden(one)]
        for one in hidden:
            one.extract()
        return str(tag.text)
    value = tag.get(attribute)
    return " ".join(value) if isinstance(value, list) else value


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

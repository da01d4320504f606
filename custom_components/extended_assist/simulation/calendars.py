"""Read past events of calendars: on the event loop, before a simulation runs in the executor."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from ..exposure.entities import Exposure
from ..exposure.safe_log import log_unexpected
from ..ha_compat.automations import DATA_CALENDARS
from ..results import ToolError

TIME_LIMIT: Final = 10.0
"""Timeout in seconds for all calendars together; some ask a server on the internet."""
MAX_EVENTS: Final = 20_000
"""Largest number of events of one calendar."""


def calendar_triggers(config: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the options of all calendar triggers in a validated automation."""
    if isinstance(config, Mapping):
        if config.get("platform") == "calendar" and "options" in config:
            yield config["options"]
            return
        for item in config.values():
            yield from calendar_triggers(item)
    elif isinstance(config, list):
        for item in config:
            yield from calendar_triggers(item)


async def async_events(
    hass: HomeAssistant, exposure: Exposure, config: Mapping[str, Any], start: float, end: float
) -> dict[str, list[CalendarEvent]]:
    """Return the events that can trigger an automation in a span, by calendar, oldest first.

    Raises ToolError if a calendar does not return its events.
    """
    spans: dict[str, tuple[float, float]] = {}
    for options in calendar_triggers(config):
        entity_id, offset = options["entity_id"], options["offset"].total_seconds()
        first, last = spans.get(entity_id, (start, end))
        spans[entity_id] = min(first, start - offset), max(last, end - offset)
    try:
        async with asyncio.timeout(TIME_LIMIT):
            return {one: await _async_events(hass, exposure, one, *span) for one, span in spans.items()}
    except TimeoutError as err:
        raise ToolError(
            f"The calendar did not tell its past events within {TIME_LIMIT:g} seconds. Ask for a shorter time, or later."
        ) from err


async def _async_events(
    hass: HomeAssistant, exposure: Exposure, entity_id: str, start: float, end: float
) -> list[CalendarEvent]:
    """Return the events of one calendar that touch a span."""
    component = hass.data.get(DATA_CALENDARS)
    entity = component.get_entity(entity_id) if component and exposure.is_exposed(entity_id) else None
    if not isinstance(entity, CalendarEntity):
        raise ToolError(f"{entity_id} is not there now, so its past events are not known.")
    first, last = (dt_util.as_local(dt_util.utc_from_timestamp(moment)) for moment in (start, end))
    try:
        # One second more, because an event that ends with the span belongs to it.
        found = await entity.async_get_events(hass, first, last + timedelta(seconds=1))
    except TimeoutError:
        raise
    except Exception as err:  # anybody's integration
        log_unexpected("while a calendar told its past events")
        raise ToolError(
            f"{entity_id} could not tell its past events; the details are in Home Assistant's log."
        ) from err
    if len(found) > MAX_EVENTS:
        raise ToolError(f"{entity_id} has more than {MAX_EVENTS} events in that time. Ask for a shorter one.")
    return found

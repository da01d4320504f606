"""What happened of what the household wished for later, in the logbook."""

from collections.abc import Callable
from typing import Any

from homeassistant.components.logbook.const import LOGBOOK_ENTRY_ENTITY_ID, LOGBOOK_ENTRY_MESSAGE, LOGBOOK_ENTRY_NAME
from homeassistant.const import ATTR_ENTITY_ID, ATTR_NAME
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.translation import async_get_cached_translations

from .const import ATTR_BY, ATTR_KIND, ATTR_RESULT, DOMAIN, EVENT_HAPPENED, EVENT_LOOKED

_LOOKED = f"component.{DOMAIN}.selector.{{}}.options.looked"
_KINDS = f"component.{DOMAIN}.entity.event.later.state_attributes.event_type.state"


@callback
def async_describe_events(
    hass: HomeAssistant,
    async_describe_event: Callable[[str, str, Callable[[Event], dict[str, Any]]], None],
) -> None:
    """Describe what happened."""

    @callback
    def describe(event: Event) -> dict[str, Any]:
        """Say the name, how it went, and the result."""
        kind, result = event.data[ATTR_KIND], event.data[ATTR_RESULT]
        words = async_get_cached_translations(hass, hass.config.language, "entity", DOMAIN).get(
            f"{_KINDS}.{kind}", kind
        )
        return {
            LOGBOOK_ENTRY_NAME: event.data[ATTR_NAME],
            LOGBOOK_ENTRY_MESSAGE: f"{words.lower()}: {result}" if result else words.lower(),
            LOGBOOK_ENTRY_ENTITY_ID: event.data[ATTR_ENTITY_ID],
        }

    async_describe_event(DOMAIN, EVENT_HAPPENED, describe)
    _async_describe_looks(hass, async_describe_event)


@callback
def _async_describe_looks(
    hass: HomeAssistant,
    async_describe_event: Callable[[str, str, Callable[[Event], dict[str, Any]]], None],
) -> None:
    """Describe which camera an assistant looked at, and for whom."""

    @callback
    def describe(event: Event) -> dict[str, Any]:
        """Say the camera, and who asked."""
        entity_id, by = event.data[ATTR_ENTITY_ID], event.data[ATTR_BY]
        texts = async_get_cached_translations(hass, hass.config.language, "selector", DOMAIN)
        words = texts.get(_LOOKED.format("look"), EVENT_LOOKED)
        state = hass.states.get(entity_id)
        return {
            LOGBOOK_ENTRY_NAME: state.name if state else entity_id,
            LOGBOOK_ENTRY_MESSAGE: f"{words} \N{MIDDLE DOT} {by}" if by else words,
            LOGBOOK_ENTRY_ENTITY_ID: entity_id,
        }

    async_describe_event(DOMAIN, EVENT_LOOKED, describe)

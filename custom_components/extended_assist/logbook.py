"""Logbook lines for the activity of agents and for scheduled tasks."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from homeassistant.components.logbook.const import LOGBOOK_ENTRY_ENTITY_ID, LOGBOOK_ENTRY_MESSAGE, LOGBOOK_ENTRY_NAME
from homeassistant.const import ATTR_ENTITY_ID, ATTR_NAME
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.translation import async_get_cached_translations

from .calls.activity import ATTR_ACTIONS, ATTR_TARGETS, ATTR_TOOL, EVENT_AGENT
from .const import ATTR_BY, ATTR_KIND, ATTR_RESULT, DOMAIN, EVENT_HAPPENED, EVENT_LOOKED

MAX_NAMED: Final = 5
"""The most actions, and the most entities, in one line."""

_KINDS: Final = f"component.{DOMAIN}.entity.event.{{}}.state_attributes.event_type.state.{{}}"
_LOOKED: Final = f"component.{DOMAIN}.selector.{{}}.options.looked"


@callback
def async_describe_events(
    hass: HomeAssistant,
    async_describe_event: Callable[[str, str, Callable[[Event], dict[str, Any]]], None],
) -> None:
    """Register the descriptions of our events; every user can read the logbook."""

    @callback
    def describe_task(event: Event) -> dict[str, Any]:
        """Describe a task: its name, how it ended, and the result."""
        return _line(event, _kind(hass, "later", event), str(event.data.get(ATTR_RESULT) or ""))

    @callback
    def describe_agent(event: Event) -> dict[str, Any]:
        """Describe an activity: who did what to which entities; the entities' own lines have their states."""
        return _line(event, _kind(hass, "activity", event), _what(hass, event))

    @callback
    def describe_look(event: Event) -> dict[str, Any]:
        """Describe the use of an image: the camera, and who asked."""
        entity_id, by = str(event.data.get(ATTR_ENTITY_ID, "")), event.data.get(ATTR_BY)
        texts = async_get_cached_translations(hass, hass.config.language, "selector", DOMAIN)
        words = texts.get(_LOOKED.format("look"), EVENT_LOOKED)
        state = hass.states.get(entity_id)
        return {
            LOGBOOK_ENTRY_NAME: state.name if state else entity_id,
            LOGBOOK_ENTRY_MESSAGE: f"{words} \N{MIDDLE DOT} {by}" if by else words,
            LOGBOOK_ENTRY_ENTITY_ID: entity_id,
        }

    async_describe_event(DOMAIN, EVENT_HAPPENED, describe_task)
    async_describe_event(DOMAIN, EVENT_AGENT, describe_agent)
    async_describe_event(DOMAIN, EVENT_LOOKED, describe_look)


def _line(event: Event, kind: str, what: str) -> dict[str, Any]:
    """Return a logbook line; a malformed event of the same type gets an empty one."""
    return {
        LOGBOOK_ENTRY_NAME: event.data.get(ATTR_NAME) or DOMAIN,
        LOGBOOK_ENTRY_MESSAGE: f"{kind}: {what}" if what else kind,
        LOGBOOK_ENTRY_ENTITY_ID: event.data.get(ATTR_ENTITY_ID),
    }


def _kind(hass: HomeAssistant, entity: str, event: Event) -> str:
    """Return the words for a kind of activity."""
    kind = event.data.get(ATTR_KIND)
    texts = async_get_cached_translations(hass, hass.config.language, "entity", DOMAIN)
    return str(texts.get(_KINDS.format(entity, kind), kind)).lower()


def _what(hass: HomeAssistant, event: Event) -> str:
    """Return the actions in Home Assistant's words, and the names of the entities."""
    actions = [_action(hass, action) for action in event.data.get(ATTR_ACTIONS) or ()]
    if not actions and (tool := event.data.get(ATTR_TOOL)):
        actions = [_action(hass, tool.replace("__", ".", 1))]
    names = [state.name for one in event.data.get(ATTR_TARGETS) or () if (state := hass.states.get(one))]
    return " \N{MIDDLE DOT} ".join(filter(None, (_few(actions), _few(names))))


def _action(hass: HomeAssistant, action: str) -> str:
    """Return the name of an action, or of one of our tools."""
    domain, _, name = action.partition(".")
    language = hass.config.language
    if domain == DOMAIN:
        tools = async_get_cached_translations(hass, language, "selector", DOMAIN)
        return tools.get(f"component.{DOMAIN}.selector.ask_first.options.{name}", name.replace("_", " "))
    actions = async_get_cached_translations(hass, language, "services", domain)
    return actions.get(f"component.{domain}.services.{name}.name", name.replace("_", " "))


def _few(words: Iterable[str]) -> str:
    """Return the first words of a list, and how many more there are."""
    once = [*dict.fromkeys(words)]
    more = f" +{len(once) - MAX_NAMED}" if len(once) > MAX_NAMED else ""
    return f"{', '.join(once[:MAX_NAMED])}{more}"

"""What shows every user what is the whole household's: entities of an entry, there while the entry has the family of tools."""

from collections.abc import Coroutine, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, override

from homeassistant.components.homeassistant.exposed_entities import KNOWN_ASSISTANTS
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import Platform
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity

from .const import CONF_FAMILIES, DOMAIN
from .device import entry_device
from .toolbox.options import MEMORY, WISHES
from .tools import DEFAULT_FAMILIES

HOUSEHOLD_PLATFORMS: Final[Mapping[str, tuple[Platform, ...]]] = {
    WISHES: (Platform.CALENDAR, Platform.EVENT, Platform.TODO),
    MEMORY: (Platform.TODO,),
}
"""The platforms of what families of tools show."""


@dataclass(slots=True, eq=False)
class _RunningAction:
    """An action that an entity performs; its context is removed at its end, also for tasks that it started."""

    entity: Entity
    context: Context | None = None


_ACTION: Final[ContextVar[_RunningAction | None]] = ContextVar(f"{DOMAIN}_running_action", default=None)


@callback
def shows(entry: ConfigEntry, family: str) -> bool:
    """Return whether an entry has a family of tools, so that what these keep is shown."""
    return family in entry.options.get(CONF_FAMILIES, DEFAULT_FAMILIES)


@callback
def async_household_platforms(hass: HomeAssistant, entry: ConfigEntry) -> Iterable[Platform]:
    """Return the platforms of what an entry shows; what families showed that are turned off leaves nothing behind."""
    entities = er.async_get(hass)
    for family, platforms in HOUSEHOLD_PLATFORMS.items():
        for platform in platforms if not shows(entry, family) else ():
            if entity_id := entities.async_get_entity_id(platform, DOMAIN, _unique_id(entry, family)):
                entities.async_remove(entity_id)
    return dict.fromkeys(
        one for family, platforms in HOUSEHOLD_PLATFORMS.items() if shows(entry, family) for one in platforms
    )


def hidden_at_first() -> er.EntityOptionsType:
    """Return the options of an entity that is exposed to no assistant until the user decides otherwise."""
    return {assistant: {"should_expose": False} for assistant in KNOWN_ASSISTANTS}


def _unique_id(entry: ConfigEntry, family: str) -> str:
    """Return the unique id, one for each platform."""
    return f"{entry.entry_id}_{family}"


class HouseholdEntity(Entity):
    """An entity that shows what a family of tools keeps for the household, and nobody's own."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, entry: ConfigEntry, family: str) -> None:
        """Take the entry, and the family of tools."""
        self._attr_unique_id = _unique_id(entry, family)
        self._attr_device_info = entry_device(entry)

    @override
    def get_initial_entity_options(self) -> er.EntityOptionsType:
        """Expose it to no assistant, though Home Assistant exposes new to-do lists; what the user decides later holds."""
        return hidden_at_first()


class ActionContextEntity(Entity):
    """An entity that knows the context of the action that it performs.

    Intents of Home Assistant call methods of to-do lists without an action: `Entity` keeps the context of an earlier action then.
    """

    @override
    async def async_request_call[T](self, coro: Coroutine[Any, Any, T]) -> T:
        """Perform an action; its context counts for this action alone."""
        action = _RunningAction(self)
        token = _ACTION.set(action)
        try:
            return await super().async_request_call(coro)
        finally:
            action.context = None
            _ACTION.reset(token)

    @callback
    @override
    def async_set_context(self, context: Context) -> None:
        """Store the context of the action that runs now."""
        super().async_set_context(context)
        if (action := _ACTION.get()) is not None and action.entity is self:
            action.context = context

    @property
    def action_context(self) -> Context | None:
        """Return the context of the action that runs now; None where no action called this entity."""
        action = _ACTION.get()
        return action.context if action is not None and action.entity is self else None

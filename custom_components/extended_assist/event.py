"""What happened of what the household wished for later, as events."""

from typing import override

from homeassistant.components.event import EventEntity, EventEntityDescription
from homeassistant.const import ATTR_ENTITY_ID, ATTR_NAME
from homeassistant.core import CALLBACK_TYPE, Context, HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import ExtendedAssistConfigEntry
from .const import ATTR_KIND, ATTR_RESULT, EVENT_HAPPENED
from .wish_entity import WishEntity
from .wishes.keeper import async_get_wishes
from .wishes.outcome import Ending
from .wishes.wish import Wish

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the event entity of an entry."""
    async_add_entities([WishEvents(entry, await async_get_wishes(hass))])


class WishEvents(WishEntity, EventEntity):
    """What the household's wishes came to."""

    entity_description = EventEntityDescription(key="later", event_types=[kind.value for kind in Ending])

    @callback
    @override
    def _async_follow(self) -> CALLBACK_TYPE:
        """Hear what happens; return what ends that."""
        return self._wishes.async_listen_happened(self._async_happened)

    @callback
    def _async_happened(self, wish: Wish, _moment: float, kind: Ending, result: str) -> None:
        """Tell what an occurrence came to, also to the logbook."""
        if not self._is_shown(wish):
            return
        told = {ATTR_NAME: wish.name, ATTR_RESULT: result}
        # Of one context, so that the logbook tells what the state of this entity is about.
        context = Context()
        self.hass.bus.async_fire(
            EVENT_HAPPENED, {ATTR_ENTITY_ID: self.entity_id, ATTR_KIND: kind.value, **told}, context=context
        )
        self._trigger_event(kind.value, told)
        self.async_set_context(context)
        self.async_write_ha_state()

"""What the entities share that show what is to happen later in the household."""

from collections.abc import Iterator
from itertools import chain
from typing import override

from homeassistant.components.homeassistant.exposed_entities import KNOWN_ASSISTANTS
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import Platform
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity

from .const import CONF_FAMILIES, DOMAIN
from .device import async_drop_entry_device, entry_device
from .tools import DEFAULT_FAMILIES
from .wishes.keeper import Wishes
from .wishes.wish import Wish

WISH_PLATFORMS = (Platform.CALENDAR, Platform.EVENT, Platform.TODO)
_FAMILY = "wishes"


@callback
def shows_wishes(entry: ConfigEntry) -> bool:
    """Return whether an entry has the tools whose wishes are shown."""
    return _FAMILY in entry.options.get(CONF_FAMILIES, DEFAULT_FAMILIES)


@callback
def async_forget_entities(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Drop the entities of an entry whose tools for later are turned off, and their device where nothing else is in it."""
    entities = er.async_get(hass)
    for platform in WISH_PLATFORMS:
        if entity_id := entities.async_get_entity_id(platform, DOMAIN, _unique_id(entry)):
            entities.async_remove(entity_id)
    async_drop_entry_device(hass, entry)


def _unique_id(entry: ConfigEntry) -> str:
    """Return the unique id, one for each platform."""
    return f"{entry.entry_id}_wishes"


class WishEntity(Entity):
    """An entity that shows the household's wishes of one entry, and nobody's own."""

    _attr_has_entity_name = True
    _attr_should_poll = False
    _attr_translation_key = "later"

    def __init__(self, entry: ConfigEntry, wishes: Wishes) -> None:
        """Take the entry whose wishes are shown, and what keeps them."""
        self._entry_id = entry.entry_id
        self._wishes = wishes
        self._attr_unique_id = _unique_id(entry)
        self._attr_device_info = entry_device(entry)

    @override
    def get_initial_entity_options(self) -> er.EntityOptionsType:
        """Expose it to no assistant, though Home Assistant exposes new to-do lists; what the user decides later holds."""
        return {assistant: {"should_expose": False} for assistant in KNOWN_ASSISTANTS}

    @override
    async def async_added_to_hass(self) -> None:
        """Follow what is shown."""
        await super().async_added_to_hass()
        self.async_on_remove(self._async_follow())

    @callback
    def _async_follow(self) -> CALLBACK_TYPE:
        """Follow what stands; return what ends that."""
        return self._wishes.async_listen(self.async_write_ha_state)

    def _is_shown(self, wish: Wish) -> bool:
        """Return whether a wish is the household's and this entry's."""
        return wish.is_household and wish.owner.entry_id == self._entry_id

    def _household(self) -> Iterator[Wish]:
        """Return what is shown of the wishes that stand, and of those that have ended."""
        return filter(self._is_shown, chain(self._wishes.standing, self._wishes.ended))

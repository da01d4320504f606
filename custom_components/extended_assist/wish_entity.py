"""What the entities share that show what is to happen later in the household."""

from collections.abc import Iterator
from itertools import chain
from typing import override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, callback

from .household import HouseholdEntity
from .toolbox.options import WISHES
from .wishes.keeper import Wishes
from .wishes.wish import Wish


class WishEntity(HouseholdEntity):
    """An entity that shows the household's wishes of one entry, and nobody's own."""

    _attr_translation_key = "later"

    def __init__(self, entry: ConfigEntry, wishes: Wishes) -> None:
        """Take the entry whose wishes are shown, and what keeps them."""
        super().__init__(entry, WISHES)
        self._entry_id = entry.entry_id
        self._wishes = wishes

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
        """Yield the wishes of the household that are shown: standing ones, and ended ones."""
        return filter(self._is_shown, chain(self._wishes.standing, self._wishes.ended))

"""Users who were removed while Home Assistant runs: a call that one of them began earlier must not store anything for them."""

from collections.abc import Set as AbstractSet

from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN

_REMOVED_USERS: HassKey[AbstractSet[str | None]] = HassKey(f"{DOMAIN}_removed_users")


@callback
@singleton(_REMOVED_USERS)
def removed_users(hass: HomeAssistant) -> AbstractSet[str | None]:
    """Return the ids of users who were removed since the first call; the set is updated with each removal."""
    removed: set[str | None] = set()

    @callback
    def on_removed(event: Event) -> None:
        removed.add(event.data["user_id"])

    hass.bus.async_listen(EVENT_USER_REMOVED, on_removed)
    return removed

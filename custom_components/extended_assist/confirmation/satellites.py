"""Announce messages on satellites: when a satellite is idle, one message at a time."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from homeassistant.const import ATTR_ENTITY_ID, ATTR_SUPPORTED_FEATURES, STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import Context, Event, EventStateChangedData, HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER

MAX_BUSY: Final = 30.0
"""Seconds to wait for a satellite that speaks or listens."""
MAX_SPOKEN: Final = 120.0
"""Timeout in seconds of an action of a satellite."""
SATELLITE: Final = "assist_satellite"
ANNOUNCES: Final = 1
CONVERSES: Final = 2
"""Bits of a satellite's `supported_features`: announce and start a conversation."""

_IDLE = "idle"


async def async_announce(hass: HomeAssistant, device_id: str | None, words: str, context: Context) -> bool:
    """Announce words on the satellite of a device; return whether the action succeeded."""
    entries = er.async_entries_for_device(er.async_get(hass), device_id) if device_id else []
    for entity_id in [entry.entity_id for entry in entries if entry.domain == SATELLITE]:
        async with async_get_locks(hass)[entity_id]:
            state = await async_idle(hass, entity_id)
            if state is not None and state.attributes.get(ATTR_SUPPORTED_FEATURES, 0) & ANNOUNCES:
                return await async_call(hass, "announce", entity_id, {"message": words}, context)
    return False


async def async_idle(hass: HomeAssistant, entity_id: str) -> State | None:
    """Wait until a satellite is idle and return its state; None if it is missing, unavailable or busy for MAX_BUSY."""
    changed = asyncio.Event()

    @callback
    def note(_: Event[EventStateChangedData]) -> None:
        changed.set()

    stop = async_track_state_change_event(hass, entity_id, note)
    try:
        async with asyncio.timeout(MAX_BUSY):
            while (state := hass.states.get(entity_id)) is not None and state.state != _IDLE:
                if state.state in (STATE_UNAVAILABLE, STATE_UNKNOWN):
                    return None
                changed.clear()
                await changed.wait()
            return state
    except TimeoutError:
        return None
    finally:
        stop()


async def async_call(
    hass: HomeAssistant, action: str, entity_id: str, data: Mapping[str, Any], context: Context
) -> bool:
    """Call an action of a satellite; return whether it succeeded within MAX_SPOKEN seconds."""
    try:
        async with asyncio.timeout(MAX_SPOKEN):
            await hass.services.async_call(
                SATELLITE, action, {ATTR_ENTITY_ID: entity_id, **data}, blocking=True, context=context
            )
    except Exception as err:  # noqa: BLE001 - whatever is wrong with it, there are other ways
        # The error may repeat the private message, so only its type is logged.
        LOGGER.debug("A satellite could not %s: %s", action, type(err).__name__)
        return False
    return True


_LOCKS: HassKey[defaultdict[str, asyncio.Lock]] = HassKey(f"{DOMAIN}_satellites")


@singleton(_LOCKS)
@callback
def async_get_locks(hass: HomeAssistant) -> defaultdict[str, asyncio.Lock]:
    """Return a lock for each satellite."""
    return defaultdict(asyncio.Lock)

"""Turns of calls that come at the same time, so that the event loop serves others between them."""

import asyncio

from homeassistant.core import HomeAssistant
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN

_LOCK: HassKey[asyncio.Lock] = HassKey(f"{DOMAIN}_turns")


async def async_take_turn(hass: HomeAssistant) -> None:
    """Wait until the event loop has run everything else once since the call before got its turn."""
    async with hass.data.setdefault(_LOCK, asyncio.Lock()):
        await asyncio.sleep(0)

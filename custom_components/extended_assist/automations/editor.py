"""The locks of Home Assistant's own editors of automations, scripts and scenes.

Each view reads its file, changes it and writes it, and does not look whether somebody else wrote in between. Held by us while
we write, its lock closes that gap. Should Home Assistant keep it elsewhere one day, what is left is our own check of the file.
"""

import asyncio
from inspect import getclosurevars

from homeassistant.core import HomeAssistant, callback

_URL = "/api/config/{}/config/{{config_key}}"


@callback
def editors_lock(hass: HomeAssistant, domain: str) -> asyncio.Lock | None:
    """Return the lock under which the editor of a domain writes, if it is there."""
    url = _URL.format(domain)
    for route in hass.http.app.router.routes():
        if route.resource is not None and route.resource.canonical == url:
            lock = getattr(getclosurevars(route.handler).nonlocals.get("view"), "mutation_lock", None)
            return lock if isinstance(lock, asyncio.Lock) else None
    return None

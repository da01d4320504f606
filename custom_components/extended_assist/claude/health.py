"""Whether an entry's server can be used, as turns and occasional looks have shown."""

from datetime import datetime

import anthropic

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later

from ..const import LOGGER
from .client import ConnectionFailedError, async_list_models

LOOK_AGAIN = 60.0
"""Seconds between looks at a server that is gone: soon enough for those who wait, rare enough to cost nothing."""

_GONE = frozenset({"cannot_connect", "invalid_auth", "not_messages_api"})
"""Causes that stand in the way of every turn."""
_UNCLEAR = frozenset({"timeout", "interrupted"})
"""Causes that tell nothing about the next turn. With any other the server has answered, so it is there."""


class Health:
    """The state of a server; a change is logged once and told to those who listen."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry, client: anthropic.AsyncAnthropic) -> None:
        """Take the server."""
        self._hass = hass
        self._entry = entry
        self._client = client
        self._listeners: set[CALLBACK_TYPE] = set()
        self._cancel_look: CALLBACK_TYPE | None = None
        self.gone: str | None = None
        """Why the server cannot be used, or None."""

    @callback
    def async_listen(self, listener: CALLBACK_TYPE) -> CALLBACK_TYPE:
        """Call a listener at every change; returns what ends it."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    @callback
    def async_note(self, key: str | None) -> None:
        """Take in how a request ended: with an answer, or with a cause."""
        if key == "invalid_auth":
            self._entry.async_start_reauth(self._hass)
        if key in _GONE:
            self.async_lose(key)
        elif key not in _UNCLEAR:
            self._async_find()

    @callback
    def async_lose(self, key: str) -> None:
        """Count the server as gone, and look again from time to time."""
        if self.gone is None:
            LOGGER.warning("The server of %s cannot be used: %s", self._entry.title, key)
            self._cancel_look = async_call_later(self._hass, LOOK_AGAIN, self._async_look)
        self._async_set(key)

    @callback
    def _async_find(self) -> None:
        """Count the server as usable."""
        if self.gone is not None:
            LOGGER.warning("The server of %s can be used again", self._entry.title)
        self.async_stop()
        self._async_set(None)

    @callback
    def _async_set(self, gone: str | None) -> None:
        """Tell of a change."""
        if gone != self.gone:
            self.gone = gone
            for listener in list(self._listeners):
                listener()

    async def _async_look(self, _: datetime) -> None:
        """Look whether the server is back."""
        self._cancel_look = async_call_later(self._hass, LOOK_AGAIN, self._async_look)
        try:
            self._entry.runtime_data.models = await async_list_models(self._client)
        except ConnectionFailedError as err:
            self.gone = err.key
        else:
            self._async_find()

    @callback
    def async_stop(self) -> None:
        """Look no more."""
        if self._cancel_look is not None:
            self._cancel_look()
            self._cancel_look = None

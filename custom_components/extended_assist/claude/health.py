"""Whether an entry's server can be used, as turns and occasional looks have shown."""

from collections import deque
from datetime import datetime

import anthropic

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util

from ..const import LOGGER
from .client import ConnectionFailedError, async_list_models

LOOK_AGAIN = 60.0
"""Seconds between looks at a server that is gone: soon enough for those who wait, rare enough to cost nothing."""
READ_AGAIN = 12 * 3_600.0
"""Seconds after which the list of models is read anew: models are announced to be switched off months before they are."""

_KEPT_FAILURES = 20

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
        self._is_looking = False
        self._cancel_look: CALLBACK_TYPE | None = None
        self.gone: str | None = None
        """Why the server cannot be used, or None."""
        self.answered: datetime | None = None
        """When a request was last answered."""
        self.failures: deque[tuple[datetime, str]] = deque(maxlen=_KEPT_FAILURES)
        """When requests last failed, and why."""

    @callback
    def async_listen(self, listener: CALLBACK_TYPE) -> CALLBACK_TYPE:
        """Call a listener at every change; returns what ends it."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    @callback
    def async_start(self) -> None:
        """Look at the server from time to time, more often while it is gone."""
        self._is_looking = True
        self._async_plan()

    @callback
    def _async_plan(self) -> None:
        """Plan the next look, if there is to be one."""
        self._async_cancel()
        if self._is_looking:
            wait = READ_AGAIN if self.gone is None else LOOK_AGAIN
            self._cancel_look = async_call_later(self._hass, wait, self._async_look)

    @callback
    def async_note(self, key: str | None) -> None:
        """Take in how a request ended: with an answer, or with a cause."""
        if key is None:
            self.answered = dt_util.utcnow()
        else:
            self.failures.append((dt_util.utcnow(), key))
        if key == "invalid_auth":
            self._entry.async_start_reauth(self._hass)
        if key in _GONE:
            self.async_lose(key)
        elif key not in _UNCLEAR:
            self._async_find()

    @callback
    def async_lose(self, key: str) -> None:
        """Count the server as gone."""
        if self.gone is None:
            LOGGER.warning("The server of %s cannot be used: %s", self._entry.title, key)
        self._async_set(key)

    @callback
    def _async_find(self) -> None:
        """Count the server as usable."""
        if self.gone is not None:
            LOGGER.warning("The server of %s can be used again", self._entry.title)
        self._async_set(None)

    @callback
    def _async_set(self, gone: str | None) -> None:
        """Take over a change."""
        if gone != self.gone:
            self.gone = gone
            self._async_plan()
            self._async_tell()

    @callback
    def _async_tell(self) -> None:
        """Tell those who listen."""
        for listener in list(self._listeners):
            listener()

    async def _async_look(self, _: datetime) -> None:
        """Read the list of models, which also tells whether the server is there."""
        try:
            models, key = await async_list_models(self._client), None
        except ConnectionFailedError as err:
            models, key = [], err.key
        if not self._is_looking:
            return  # The entry was unloaded meanwhile.
        if key is None:
            self._entry.runtime_data.models = models
            self._async_find()
            self._async_tell()
        elif self.gone is not None or key in _GONE:
            self.async_lose(key)
        self._async_plan()

    @callback
    def async_stop(self) -> None:
        """Look no more."""
        self._is_looking = False
        self._async_cancel()

    @callback
    def _async_cancel(self) -> None:
        """Take the next look back."""
        if self._cancel_look is not None:
            self._cancel_look()
            self._cancel_look = None

"""The models of an entry's server, and whether the server is available, as turns and periodic checks show."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import override

import anthropic
from anthropic.types import ModelInfo

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed
from homeassistant.util import dt as dt_util

from ..calls.caller import outside_conversation
from ..const import DOMAIN, LOGGER
from .client import ConnectionFailedError, async_list_models
from .conversation_snapshot import ConversationSnapshots
from .request_repair import Refused

LOOK_AGAIN = timedelta(minutes=1)
"""Time between checks of an unavailable server."""
READ_AGAIN = timedelta(hours=12)
"""Time between updates of the list of models: retirements are announced months ahead."""

_KEPT_FAILURES = 20

_GONE = frozenset({"cannot_connect", "invalid_auth", "not_messages_api"})
"""Causes that make every turn fail."""
_UNCLEAR = frozenset({"timeout", "interrupted"})
"""Causes that say nothing about the next turn. With any other cause the server has answered."""


class ServerCoordinator(DataUpdateCoordinator[list[ModelInfo]]):
    """The models that a server lists; its entities are available while the server is."""

    config_entry: ConfigEntry

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry, client: anthropic.AsyncAnthropic) -> None:
        """Store the client."""
        super().__init__(hass, LOGGER, config_entry=entry, name="Extended Assist", update_interval=READ_AGAIN)
        self._client = client
        self.data = []
        self.answered: datetime | None = None
        """When a request was last answered."""
        self.failures: deque[tuple[datetime, str]] = deque(maxlen=_KEPT_FAILURES)
        """When requests last failed, and why."""

    @property
    def gone(self) -> str | None:
        """Return why the server is unavailable, or None."""
        return None if self.last_update_success else getattr(self.last_exception, "translation_key", None) or "unknown"

    @override
    async def _async_update_data(self) -> list[ModelInfo]:
        """Return the list of models; its request also checks the server."""
        try:
            models = await async_list_models(self._client)
        except ConnectionFailedError as err:
            if self._is_set_up and self.last_update_success and err.key not in _GONE:
                return self.data  # It is there, and was too busy to say more.
            self.update_interval = LOOK_AGAIN
            raise _failure(err.key) from err
        self.update_interval = READ_AGAIN
        return models

    @property
    def _is_set_up(self) -> bool:
        """Return whether entities follow the server: it was available before, or a fallback agent exists."""
        return bool(self._listeners)

    @callback
    def async_note(self, key: str | None) -> None:
        """Record how a request ended: with an answer, or with a cause."""
        if key is None:
            self.answered = dt_util.utcnow()
        else:
            self.failures.append((dt_util.utcnow(), key))
        if key == "invalid_auth":
            self.config_entry.async_start_reauth_if_available(self.hass)
        # What the entities set off is no part of the conversation in which it showed.
        if key in _GONE:
            outside_conversation(self._async_lose, key)
        elif key not in _UNCLEAR and not self.last_update_success:
            LOGGER.info("Fetching %s data recovered", self.name)
            self.update_interval = READ_AGAIN
            outside_conversation(self.async_set_updated_data, self.data)

    @callback
    def _async_lose(self, key: str) -> None:
        """Mark the server as unavailable and check it more often."""
        was_there = self.last_update_success
        self.update_interval = LOOK_AGAIN
        self.async_set_update_error(_failure(key))
        if was_there and self._listeners:
            self._schedule_refresh()


def _failure(key: str) -> ConfigEntryAuthFailed | UpdateFailed:
    kind = ConfigEntryAuthFailed if key == "invalid_auth" else UpdateFailed
    return kind(translation_domain=DOMAIN, translation_key=key)


@dataclass(slots=True)
class RuntimeData:
    """The runtime data of a loaded entry."""

    client: anthropic.AsyncAnthropic
    coordinator: ServerCoordinator
    refused: Refused = field(default_factory=Refused)
    """What the server refused for its models."""
    snapshots: ConversationSnapshots = field(default_factory=ConversationSnapshots)
    """The snapshots of conversations."""

    @property
    def models(self) -> list[ModelInfo]:
        """The models that the server lists, newest first."""
        return self.coordinator.data


type ExtendedAssistConfigEntry = ConfigEntry[RuntimeData]


@callback
def has_connection(entry: ConfigEntry) -> bool:
    """Return whether an entry has a server to talk to; one without only has tools for other agents."""
    return CONF_API_KEY in entry.data

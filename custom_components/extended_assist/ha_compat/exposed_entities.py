"""The exposure of entities to assistants."""

from homeassistant.components.homeassistant.exposed_entities import (
    KNOWN_ASSISTANTS,
    async_expose_entity,
    async_listen_entity_updates,
    async_should_expose,
)

__all__ = (
    "KNOWN_ASSISTANTS",
    "async_expose_entity",
    "async_listen_entity_updates",
    "async_should_expose",
)

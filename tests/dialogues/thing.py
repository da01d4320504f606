"""An entity that does at once what it is told, and can become again what it was."""

from collections.abc import Mapping
from typing import Any

from homeassistant.helpers.entity import Entity

type Definition = Mapping[str, Any]
"""What a home says of an entity: state, class, name and what its domain knows."""


class Thing(Entity):
    """An entity as a home describes it."""

    _attr_should_poll = False

    def __init__(self, entity_id: str, definition: Definition) -> None:
        """Take its definition."""
        self.entity_id = entity_id
        self._attr_unique_id = entity_id
        self._attr_name = definition["name"]
        self._attr_device_class = definition.get("class")
        self._definition = definition
        self.apply(definition)

    def apply(self, definition: Definition) -> None:
        """Become what a definition says."""

    def reset(self, planted: Definition | None = None) -> None:
        """Become again what the home says, with what strangers put there."""
        definition = {**self._definition, **(planted or {})}
        self._attr_name = definition["name"]
        self.apply(definition)
        self.async_write_ha_state()

    def set(self, **values: Any) -> None:
        """Change attributes and tell so."""
        for name, value in values.items():
            setattr(self, f"_attr_{name}", value)
        self.async_write_ha_state()

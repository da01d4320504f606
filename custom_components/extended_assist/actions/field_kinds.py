"""Which fields of an action's data name nothing, whatever a template makes of them."""

from collections.abc import Mapping
from typing import Any

from homeassistant.core import HomeAssistant, callback

from .entity_actions import PLAIN, kind_of
from .rules import is_entity_service

# These send texts to people and do nothing else with them.
_TELLERS = frozenset({"notify", "persistent_notification"})
_TOLD = frozenset({"message", "title"})


@callback
def unknown_fields(hass: HomeAssistant, action: str, computed: Mapping[Any, Any]) -> list[Any]:
    """Return the fields, of those that hold templates, of which it cannot be known beforehand that they name nothing."""
    domain, _, name = action.partition(".")
    service = hass.services.async_services_for_domain(domain).get(name)
    carried_out = service is not None and is_entity_service(service)
    unknown = []
    for key, value in computed.items():
        is_told = domain in _TELLERS and key in _TOLD and isinstance(value, str)
        is_plain = carried_out and kind_of(action, key) in PLAIN
        if not (is_told or is_plain):
            unknown.append(key)
    return unknown

"""Which fields of an action's data templates may compute, when Home Assistant performs the action later."""

from typing import Any

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import service as service_helper

from ..domains import HELPERS
from ..results import ToolError
from .rules import ONLY_LISTED, is_entity_service, selectors_of
from .texts import Texts

# Fields of these kinds name no entity, whatever a template in them makes.
_PLAIN_SELECTORS = frozenset(
    {
        *("attribute", "boolean", "color_rgb", "color_temp", "country", "date", "datetime", "duration", "language"),
        *("number", "select", "state", "text", "time"),
    }
)
# These send texts to people and do nothing else with them.
_TELLERS = frozenset({"notify", "persistent_notification"})
_TOLD = frozenset({"message", "title"})


async def async_check_computed(
    hass: HomeAssistant, texts: Texts, action: str, computed: dict[Any, Any], place: str
) -> None:
    """Check the fields of an action's data that hold templates: whatever comes out must name nothing."""
    if not computed:
        return
    domain, _, name = action.partition(".")
    descriptions = await service_helper.async_get_all_descriptions(hass)
    selectors = dict(selectors_of(descriptions.get(domain, {}).get(name, {}).get("fields")))
    service = hass.services.async_services_for_domain(domain).get(name)
    carried_out = service is not None and is_entity_service(service) and domain in {*Platform, *HELPERS}
    for key, value in computed.items():
        texts.check(value, f"{place}.{key}")
        is_told = domain in _TELLERS and key in _TOLD and isinstance(value, str)
        is_plain = carried_out and selectors.get(key) in _PLAIN_SELECTORS and action not in ONLY_LISTED
        if not (is_told or is_plain):
            raise ToolError(
                f"{place}.{key}: what a template will make of this cannot be checked beforehand. Write the value itself."
            )

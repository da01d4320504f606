"""Actions that integrations bring, that have no target, or that reach beyond it: allowed only where the options list them."""

import re

from homeassistant.core import HomeAssistant
from homeassistant.helpers import service as service_helper

from .rules import is_free, is_free_in_part, is_never

ACTION = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")


async def async_may_be_listed(hass: HomeAssistant) -> list[str]:
    """Return the actions of this home that are allowed only when they are listed."""
    descriptions = await service_helper.async_get_all_descriptions(hass)
    return sorted(
        action
        for domain, services in descriptions.items()
        for name, description in services.items()
        if not is_never(domain, name)
        # Scripts and scenes are allowed by what is exposed.
        and domain != "script"
        and (not is_free(action := f"{domain}.{name}", description) or is_free_in_part(action))
    )


async def async_wrongly_listed(hass: HomeAssistant, actions: list[str]) -> tuple[str, str] | None:
    """Return the first action that cannot be listed with the key of the reason, or None."""
    may_be = await async_may_be_listed(hass)
    for action in actions:
        if not ACTION.fullmatch(action):
            return action, "not_an_action"
        domain, name = action.split(".")
        if is_never(domain, name):
            return action, "never_allowed"
        if action not in may_be:
            exists = hass.services.has_service(domain, name)
            return action, "allowed_by_exposure" if exists else "unknown_action"
    return None

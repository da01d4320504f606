"""Loading of stored data: checked against a schema, and set aside rather than lost where they cannot be read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util

from .const import LOGGER

NUMBER = vol.Any(int, float)
TEXT_OR_NONE = vol.Any(str, None)
_UNREADABLE = (vol.Invalid, HomeAssistantError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def shape(required: dict[str, Any], optional: dict[str, Any] | None = None) -> vol.Schema:
    """Return a schema for stored data; keys that a later version added are left out."""
    fields = {vol.Required(key): value for key, value in required.items()}
    return vol.Schema(
        fields | {vol.Optional(key): value for key, value in (optional or {}).items()}, extra=vol.REMOVE_EXTRA
    )


async def async_load[T](hass: HomeAssistant, store: Store[Any], read: Callable[[Any], T]) -> T:
    """Load stored data and return what `read` makes of them, or of None where there are none."""
    try:
        return read(await store.async_load())
    except _UNREADABLE as err:
        # The error may repeat what was stored.
        LOGGER.debug("The cause was", exc_info=err)
        cause = type(err).__name__
    path = Path(store.path)
    aside = path.with_name(f"{path.name}.unreadable.{dt_util.utcnow():%Y%m%dT%H%M%S}")
    try:
        await hass.async_add_executor_job(path.rename, aside)
    except OSError as err:
        LOGGER.error("%s cannot be read (%s), nor renamed (%s); it is begun anew", path, cause, type(err).__name__)
    else:
        LOGGER.error("%s cannot be read (%s); it is begun anew, and what it held is kept as %s", path, cause, aside)
    return read(None)

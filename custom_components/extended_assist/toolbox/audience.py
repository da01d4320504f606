"""Who hears an answer: what is asked in somebody's name can be said to others."""

from collections.abc import Iterator
from contextlib import contextmanager

from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .caller import Caller

_HEARD_BY_OTHERS: HassKey[set[str]] = HassKey(f"{DOMAIN}_heard_by_others")


@contextmanager
def heard_by_others(hass: HomeAssistant, context: Context) -> Iterator[Context]:
    """Take it that what is answered in a context is said to others than its user."""
    contexts = hass.data.setdefault(_HEARD_BY_OTHERS, set())
    contexts.add(context.id)
    try:
        yield context
    finally:
        contexts.discard(context.id)


@callback
def is_heard_by_others(hass: HomeAssistant, caller: Caller) -> bool:
    """Return whether others may hear what a caller is answered; a call that acts has a context of its own below theirs."""
    context, heard = caller.context, hass.data.get(_HEARD_BY_OTHERS, set())
    return context is not None and (context.id in heard or context.parent_id in heard)

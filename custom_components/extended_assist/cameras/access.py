"""Who may look at what, and that each look is known: what an assistant looks at stands in Home Assistant's logbook."""

from collections.abc import Iterable

from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import callback
from homeassistant.helpers import device_registry as dr

from ..calls.call import ToolCall
from ..calls.caller import outside_conversation
from ..calls.policy import NotAllowedError, Speaker
from ..const import ATTR_BY, EVENT_LOOKED
from ..exposure.entities import ExposedEntity

_NOT_KNOWN = (
    "Nobody is logged in here, so cameras cannot be looked at from here{but}. Tell the user to ask from the app or a browser, "
    "where they are logged in."
)
_NOT_ADMIN = "Only an administrator of Home Assistant may look at cameras{but}. Tell the user to ask one."
_BUT = ", but for {names}"


async def async_may_see(call: ToolCall, entities: Iterable[ExposedEntity]) -> list[ExposedEntity]:
    """Return which of the entities the speaker may look at; raises NotAllowedError where that is none.

    What is left out is exposed and may be named; it may not be seen from here.
    """
    entities = list(entities)
    user = await call.caller.async_user(call.hass)
    known = user is not None and user.is_active
    if known and (call.options.who_may_look <= Speaker.USER or (user is not None and user.is_admin)):
        return entities
    if allowed := [entity for entity in entities if entity.entity_id in call.options.open_cameras]:
        return allowed
    others = sorted(filter(None, map(call.exposure.entity, call.options.open_cameras)), key=lambda one: one.name)
    but = _BUT.format(names=", ".join(one.name for one in others)) if others else ""
    raise NotAllowedError((_NOT_ADMIN if known else _NOT_KNOWN).format(but=but))


async def async_note_looks(call: ToolCall, entities: Iterable[ExposedEntity]) -> None:
    """Let the logbook know what was looked at, and who asked."""
    user = await call.caller.async_user(call.hass)
    by = user.name if user and not user.system_generated else _device(call)
    for entity in entities:
        data = {ATTR_ENTITY_ID: entity.entity_id, ATTR_BY: by}
        # What it sets off, such as an automation that talks, is no part of the conversation.
        outside_conversation(call.hass.bus.async_fire, EVENT_LOOKED, data, context=call.caller.context)


@callback
def _device(call: ToolCall) -> str | None:
    """Return the name of the device that was spoken to."""
    device = dr.async_get(call.hass).async_get(call.caller.device_id) if call.caller.device_id else None
    return device.name_by_user or device.name if device else None

"""A fact with where it comes from, as it is told."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr
from homeassistant.util.json import JsonObjectType

from ..exposure.entities import Exposure
from ..results import format_time
from ..toolbox.caller import Caller
from .fact import Fact, Via
from .subjects import is_area_told, names_now

_NOBODY = {
    Via.SAID: "somebody who was not logged in",
    Via.AUTOMATION: "an automation",
    Via.WRITTEN: "somebody who was not logged in",
}


async def async_row(hass: HomeAssistant, exposure: Exposure, fact: Fact, caller: Caller) -> JsonObjectType:
    """Return a fact, whose it is, who said it when and where, and until when it holds."""
    row: JsonObjectType = {
        "id": fact.id,
        "fact": fact.words,
        "whose": "household" if fact.user_id is None else "me",
        "said": format_time(fact.said),
        "by": await _async_by(hass, fact, caller),
    }
    if where := _where(hass, exposure, fact.device_id):
        row["where"] = where
    if fact.until is not None:
        row["until"] = format_time(fact.until)
    if called := names_now(hass, exposure, fact):
        row["about"] = called
    return row


async def _async_by(hass: HomeAssistant, fact: Fact, caller: Caller) -> str:
    """Return who said a fact."""
    if fact.said_by is None:
        return _NOBODY[fact.via]
    if fact.said_by == caller.user_id:
        return "the user"
    user = await hass.auth.async_get_user(fact.said_by)
    return (user.name if user else None) or "a user who is gone"


def _where(hass: HomeAssistant, exposure: Exposure, device_id: str | None) -> str:
    """Return the area of the device that was spoken to, unless all of it is hidden."""
    device = dr.async_get(hass).async_get(device_id) if device_id else None
    area_id = dr.async_get_effective_area_id(hass, device) if device else None
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    return area.name if area and is_area_told(hass, exposure, area.id) else ""

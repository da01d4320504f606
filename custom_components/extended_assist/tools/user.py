"""Tell who is speaking."""

from typing import override

import voluptuous as vol

from homeassistant.helpers import area_registry as ar, device_registry as dr
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool


class GetUserNameTool(ExtendedTool):
    """Answer who is speaking."""

    name = "extended_assist__get_user_name"
    title = "Get user name"
    description = "The name of the user who speaks, where it is known."
    annotations = READ_ONLY
    family = "user"
    tier = Tier.READ
    parameters = vol.Schema({})

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Look at the context of the conversation."""
        speaker = await call.caller.async_user(call.hass)
        if speaker and speaker.name and not speaker.system_generated:
            return {"user": speaker.name}
        where = _area(call)
        return {
            "user": None,
            "note": "Unknown: nobody is logged in where this is asked"
            + (f", which is in {where}. " if where else ". ")
            + "Do not guess who it is.",
        }


def _area(call: ToolCall) -> str:
    """Return the area of the satellite, as far as the assistant knows that area."""
    device_id = call.caller.device_id
    device = dr.async_get(call.hass).async_get(device_id) if device_id else None
    area_id = dr.async_get_effective_area_id(call.hass, device) if device else None
    area = ar.async_get(call.hass).async_get_area(area_id) if area_id else None
    return area.name if area else ""

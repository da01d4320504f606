"""Compute with templates over exposed entities."""

from typing import override

import voluptuous as vol

from homeassistant.helpers import config_validation as cv
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..templates import async_render_with_notes, nearest_known


class RenderTemplateTool(ExtendedTool):
    """Render a template."""

    name = "extended_assist__render_template"
    title = "Render a template"
    description = (
        "Render a Home Assistant template (Jinja) over the exposed entities, to count, compare, compute or filter by "
        "area, floor, label or device in one call. Available: states, state_attr, is_state, is_state_attr, has_value, "
        "expand, area_*, floor_*, label_*, device_*, integration_entities, now, and Home Assistant's functions for "
        "dates, numbers, texts and lists. An unknown entity has the state 'unknown'."
    )
    annotations = READ_ONLY
    family = "templates"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Required(
                "template", description="e.g. {{ states.light | selectattr('state', 'eq', 'on') | list | count }}"
            ): cv.string,
            vol.Optional("variables", description="Values that the template uses by name."): {cv.string: object},
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Render, and say what was undefined."""
        rendered = await async_render_with_notes(
            call.hass, call.exposure, call.arguments["template"], call.arguments.get("variables")
        )
        data = marked({"result": rendered.text}, when=rendered.has_free_text)
        if rendered.undefined:
            data["note"] = "Rendered as nothing: " + "; ".join(
                f"{message}.{nearest_known(message)}" for message in rendered.undefined
            )
        return data

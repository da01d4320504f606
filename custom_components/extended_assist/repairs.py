"""The dialogs that mend what notices are about."""

from homeassistant.components.repairs import RepairsFlow
from homeassistant.core import HomeAssistant

from .flows.repair import FLOWS
from .issues import ALL


async def async_create_fix_flow(
    hass: HomeAssistant, issue_id: str, data: dict[str, str | int | float | None] | None
) -> RepairsFlow:
    """Return the dialog of an issue."""
    key = next(key for key in ALL if issue_id.startswith(f"{key}_"))
    return FLOWS[key]()

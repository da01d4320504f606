"""What goes wrong in the panel, in the user's language."""

from typing import ClassVar

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations

from ..const import DOMAIN
from ..results import ToolError
from ..storage import NotStoredError
from ..wishes.limits import LimitReachedError
from ..wishes.whose import NotTheirsError


class PanelError(Exception):
    """Something that a user is told; the class says which of the texts."""

    key: ClassVar[str]


class GoneError(PanelError):
    """What was meant is not there any more, or never was this user's: from outside, the two look the same."""

    key = "panel_gone"


class NotReadyError(PanelError):
    """No entry is loaded."""

    key = "panel_not_ready"


async def async_said(hass: HomeAssistant, error: ToolError, language: str) -> str | None:
    """Return the sentence for an error in a user's language; None for one that only models are told."""
    match error:
        case NotStoredError():
            key = "wish_not_stored"
        case NotTheirsError():
            key = "wish_not_allowed"
        case LimitReachedError():
            key = "wishes_full"
        case _:
            return None
    texts = await async_get_translations(hass, language, "exceptions", {DOMAIN})
    said = texts.get(f"component.{DOMAIN}.exceptions.{key}.message")
    return said.format(limit=error.most) if said and isinstance(error, LimitReachedError) else said

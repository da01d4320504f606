"""Check of a function's arguments: an entity id that a model gave must be exposed."""

import re
from typing import Any

from homeassistant.core import HomeAssistant

from ..exposure.domains import WITH_ENTITIES
from ..exposure.entities import Exposure, NotExposedError
from ..results import texts_in

_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_SUGGESTIONS = 4
_SEPARATORS = re.compile(r"[\s,]+")


def check_named(hass: HomeAssistant, exposure: Exposure, arguments: Any) -> None:
    """Raise ToolError where an argument is the id of an entity that is not exposed, or of none.

    A function has its user's reach, so an id that a model chose must be one that the model may know.
    """
    for text, _ in texts_in(arguments, keys=True):
        parts = [part for part in _SEPARATORS.split(text.strip(" \n\t,").lower()) if part]
        if not all(_ID.fullmatch(part) for part in parts):
            continue
        for part in parts:
            domain, _, name = part.partition(".")
            # Whether or not this home has any of that domain: the answer must not tell which ones it has.
            if domain not in WITH_ENTITIES or exposure.is_exposed(part):
                continue
            if hass.states.get(part) is None and hass.services.has_service(domain, name):
                continue  # The name of an action.
            raise _not_exposed(exposure, part)


def _not_exposed(exposure: Exposure, entity_id: str) -> NotExposedError:
    """Return the error for an id, with what is exposed and like it."""
    try:
        like = exposure.resolve(entity_id)
    except NotExposedError as err:
        return err
    names = ", ".join(f"{entity.name} ({entity.entity_id})" for entity in like[:_SUGGESTIONS])
    return NotExposedError(f"'{entity_id}' was not found or is not exposed. Nearest: {names}.")

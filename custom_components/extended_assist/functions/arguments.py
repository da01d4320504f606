"""What a model gave, held to what the assistant may see: an id is exposed, or it is none at all."""

from collections.abc import Iterator
import re
from typing import Any, Final

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant

from ..exposure import Exposure, NotExposedError

_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_SUGGESTIONS = 4
_SEPARATORS = re.compile(r"[\s,]+")
_DOMAINS: Final = frozenset(
    {
        *map(str, Platform),
        *("alert", "automation", "counter", "group", "input_boolean", "input_button", "input_datetime", "input_number"),
        *("input_select", "input_text", "person", "plant", "proximity", "schedule", "script", "sun", "timer", "zone"),
    }
)
"""Domains of entities, whether or not this home has any: the answer must not tell which ones it has."""


def check_named(hass: HomeAssistant, exposure: Exposure, arguments: Any) -> None:
    """Raise ToolError where an argument is the id of an entity that is not exposed, or of none.

    A function has its user's reach, so an id that a model chose must be one that the model may know.
    """
    for text in _texts(arguments):
        parts = [part for part in _SEPARATORS.split(text.strip(" \n\t,").lower()) if part]
        if not all(_ID.fullmatch(part) for part in parts):
            continue
        for part in parts:
            domain, _, name = part.partition(".")
            if domain not in _DOMAINS or exposure.is_exposed(part):
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


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)

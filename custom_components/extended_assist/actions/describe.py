"""Actions in words that a person can hear."""

from collections.abc import Iterable, Mapping
from typing import Any

from homeassistant.helpers.json import json_dumps

from ..exposure import Exposure

_MAX_SPOKEN = 8
"""Names that are said one by one."""
_MAX_VALUE = 300
"""Characters of a value that are told."""


def describe(exposure: Exposure, action: str, entity_ids: Iterable[str], data: Mapping[str, Any]) -> str:
    """Return what an action does, in words that a person can hear."""
    names = [exposure.resolve(entity_id)[0].name for entity_id in entity_ids if exposure.is_exposed(entity_id)]
    verb = action.split(".")[1].replace("_", " ").capitalize()
    parts = [f"{verb}: {spoken_list(names)} ({action})" if names else f"{verb} ({action})"]
    parts += [_spoken(key, value) for key, value in data.items()]
    return ", ".join(parts)


def _spoken(key: str, value: Any) -> str:
    """Return one field of the data in words."""
    text = value if isinstance(value, str) else json_dumps(value)
    if len(text) > _MAX_VALUE:
        text = f"{text[:_MAX_VALUE]}… ({len(text)} characters)"
    if key.endswith("_pct"):
        return f"{key.removesuffix('_pct').replace('_', ' ')} {text} %"
    return f"{key.replace('_', ' ')} {text}"


def spoken_list(names: list[str]) -> str:
    """Return names as a person says them."""
    if len(names) > _MAX_SPOKEN:
        return f"{', '.join(names[:_MAX_SPOKEN])} and {len(names) - _MAX_SPOKEN} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))

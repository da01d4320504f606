"""What a template that runs later can tell, and whether that may be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..exposure.entities import Exposure, NotExposedError
from ..results import ToolError
from .forms import FLAT_ATTRIBUTES

type Step = str | int

WRITTEN: Final = "in a template that Home Assistant itself will render"


@dataclass(frozen=True, slots=True)
class Reach:
    """All that a template can ever tell: values of its own, the run's, and these."""

    entity_ids: set[str] = field(default_factory=set)
    """Entities, of which it may tell what is told of any exposed entity; every constant that is an entity id is among them."""
    attributes: set[tuple[frozenset[str], tuple[Step, ...]]] = field(default_factory=set)
    """Attributes, with the entities whose they may be and the way inside."""


@callback
def check_reach(hass: HomeAssistant, exposure: Exposure, reach: Reach) -> None:
    """Raise ToolError, with the reason, unless all that a template reaches is exposed, and its attributes are flat."""
    for entity_id in sorted(reach.entity_ids):
        if not exposure.is_exposed(entity_id):
            raise NotExposedError(f"'{entity_id}' was not found or is not exposed.")
    for entity_ids, path in sorted(reach.attributes, key=lambda item: (sorted(item[0]), [*map(str, item[1])])):
        name = str(path[0])
        is_known = name in FLAT_ATTRIBUTES or (
            name == "source" and all(one.startswith("media_player.") for one in entity_ids or [""])
        )
        states = [state for entity_id in entity_ids if (state := exposure.state(entity_id))]
        found = [_at(state.attributes, path) for state in states if name in state.attributes]
        if is_known:
            found = [value for value in found if value not in (None, [], ())]
        elif not found or len(states) < len(entity_ids):
            found = [None]
        if not all(_is_flat(hass, exposure, value) for value in found):
            raise ToolError(
                f"The attribute '{'.'.join(map(str, path))}' cannot be used {WRITTEN}: it must hold a text, a number or a "
                "list of these now, and no ids of entities. Name one of its parts, or the state of the entity."
            )


def _at(value: Any, path: tuple[Step, ...]) -> Any:
    """Return the value at a path inside attributes; a path may go on into a moment or a text, which is flat."""
    for step in path:
        match value, step:
            case Mapping(), _:
                value = value.get(step)
            case list() | tuple(), int():
                value = value[step] if -len(value) <= step < len(value) else None
            case list() | tuple(), _:
                return None
    return value


def _is_flat(hass: HomeAssistant, exposure: Exposure, value: Any) -> bool:
    """Return whether a value of an attribute is plain: none, or nothing in it, could become anything."""
    items = value if isinstance(value, list | tuple | set | frozenset) else [value]
    registry = er.async_get(hass)
    return bool(items) and all(
        item is not None
        and not isinstance(item, Mapping | list | tuple | set | frozenset)
        and exposure.visible_value(item) == item
        and not (isinstance(item, str) and (hass.states.get(item) or registry.async_get(item.lower())))
        for item in items
    )

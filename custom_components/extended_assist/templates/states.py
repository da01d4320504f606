"""Template functions for states, and the check of the entities that a template may read."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import entity_sources
from homeassistant.helpers.translation import async_translate_state, async_translate_state_attr

from ..exposure.entities import Exposure, NotExposedError
from ..ha_compat.templates import EntityExtension
from ..results import ToolError
from .forms import FLAT_ATTRIBUTES
from .location import Home, TemplateFunction
from .state_proxies import TemplateHome, TemplateState


def states(home: TemplateHome, entity_id: Any, rounded: bool | None = None, with_unit: bool = False) -> str:  # noqa: FBT001, FBT002 - as templates call it
    """Return the state of an entity as text."""
    return home.state_text(entity_id, rounded, with_unit)


def state_attr(home: TemplateHome, entity_id: Any, name: Any) -> Any:
    """Return an attribute of an entity, or None."""
    return home.attribute(entity_id, name)


def is_state(home: TemplateHome, entity_id: Any, state: Any) -> bool:
    """Return whether an entity has a state, or one of several."""
    proxy = home.find(entity_id)
    return proxy is not None and (proxy.state == state or (isinstance(state, list) and proxy.state in state))


def is_state_attr(home: TemplateHome, entity_id: Any, name: Any, value: Any) -> bool:
    """Return whether an attribute of an entity has a value."""
    proxy = home.find(entity_id)
    return proxy is not None and name in proxy.attributes and bool(proxy.attributes[name] == value)


def has_value(home: TemplateHome, entity_id: Any) -> bool:
    """Return whether an entity has a known state."""
    proxy = home.find(entity_id)
    # Not by its property: whether a state is known tells nothing of what it says.
    return proxy is not None and proxy._state.state not in {STATE_UNAVAILABLE, STATE_UNKNOWN}  # noqa: SLF001


def expand(home: TemplateHome, *args: Any) -> list[TemplateState]:
    """Return the states of entities, with groups and zones replaced by their members."""
    search = list(args)
    found: dict[str, TemplateState] = {}
    opened: set[str] = set()
    groups = None
    while search:
        item = search.pop()
        if isinstance(item, str):
            item = home.find(item)
        elif not isinstance(item, TemplateState) and isinstance(item, Iterable):
            search += item
        # Not by its property: an id that is not passed on is not read.
        if not isinstance(item, TemplateState) or (entity_id := item._state.entity_id) in found:  # noqa: SLF001
            continue
        if groups is None:
            groups = home.ask(_groups)
        if item.domain == "group" or entity_id in groups:
            members = "entity_id"
        elif item.domain == "zone":
            members = "persons"
        else:
            found[entity_id] = item
            continue
        if entity_id not in opened:
            opened.add(entity_id)
            search += home.members(item, members)
    return list(found.values())


@callback
def _groups(home: Home) -> frozenset[str]:
    """Return the entities of the group integration in other domains."""
    return frozenset(
        entity_id for entity_id, source in entity_sources(home.hass).items() if source["domain"] == "group"
    )


@callback
def state_translated(home: Home, entity_id: Any) -> str:
    """Return the state of an entity in the language of the user interface."""
    state = home.state(entity_id)
    if state is None:
        return STATE_UNKNOWN
    home.read_state(state)
    entry = er.async_get(home.hass).async_get(state.entity_id)
    return async_translate_state(
        home.hass,
        state.state,
        state.domain,
        entry.platform if entry else None,
        entry.translation_key if entry else None,
        home.exposure.visible_attribute(state, "device_class"),
    )


@callback
def state_attr_translated(home: Home, entity_id: Any, attribute: Any) -> Any:
    """Return an attribute of an entity in the language of the user interface, or None."""
    state = home.state(entity_id)
    value = home.read_attribute(state, attribute) if state else None
    if state is None or not isinstance(value, str | Enum):
        return value
    entry = er.async_get(home.hass).async_get(state.entity_id)
    return async_translate_state_attr(
        home.hass,
        str(value),
        state.domain,
        entry.platform if entry else None,
        entry.translation_key if entry else None,
        home.exposure.visible_attribute(state, "device_class"),
        attribute,
    )


@callback
def entity_name(home: Home, entity_id: Any, **options: bool) -> str | None:
    """Return the name of an entity without its device's name, as this version of Home Assistant defines it."""
    if not isinstance(entity_id, str) or (state := home.state(entity_id)) is None:
        return None
    home.read_name(state)
    # It looks at nothing of its extension but the home.
    named: Callable[..., str | None] = EntityExtension.entity_name
    return named(home, entity_id, **options)


@callback
def is_hidden_entity(home: Home, entity_id: Any) -> bool:
    """Return whether the user hid an exposed entity from dashboards."""
    entry = home.entry(entity_id)
    return entry is not None and entry.hidden


FUNCTIONS = (
    TemplateFunction(states, is_global=False, on_loop=False),
    TemplateFunction(state_attr, on_loop=False),
    TemplateFunction(is_state, is_filter=False, is_test=True, on_loop=False),
    TemplateFunction(is_state_attr, is_filter=False, is_test=True, on_loop=False),
    TemplateFunction(has_value, is_test=True, on_loop=False),
    TemplateFunction(expand, on_loop=False),
    TemplateFunction(state_translated),
    TemplateFunction(state_attr_translated),
    TemplateFunction(entity_name),
    TemplateFunction(is_hidden_entity, is_filter=False, is_test=True),
)


type Step = str | int

WRITTEN: Final = "in a template that Home Assistant itself will render"


@dataclass(frozen=True, slots=True)
class Reach:
    """The data that a template can return: its own values, those of the run, and these."""

    entity_ids: set[str] = field(default_factory=set)
    """Entities whose data it may return; every constant that is an entity id is one of them."""
    attributes: set[tuple[frozenset[str], tuple[Step, ...]]] = field(default_factory=set)
    """Attributes, with their possible entities and the path inside."""


@callback
def check_reach(hass: HomeAssistant, exposure: Exposure, reach: Reach) -> None:
    """Raise ToolError, with the reason, unless all entities of a template are exposed and its attributes are flat."""
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
    """Return the value at a path inside attributes; a path may continue into a time or a text, which is flat."""
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
    """Return whether a value consists of plain data only."""
    items = value if isinstance(value, list | tuple | set | frozenset) else [value]
    registry = er.async_get(hass)
    return bool(items) and all(
        item is not None
        and not isinstance(item, Mapping | list | tuple | set | frozenset)
        and exposure.visible_value(item) == item
        and not (isinstance(item, str) and (hass.states.get(item) or registry.async_get(item.lower())))
        for item in items
    )

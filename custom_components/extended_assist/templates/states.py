"""States in templates: the views that a template holds, and the functions that answer from them."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import Enum
from typing import Any, override

from homeassistant.components.sensor import DOMAIN as SENSOR_DOMAIN, async_rounded_state
from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, State, callback, valid_domain, valid_entity_id
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import entity_sources
from homeassistant.helpers.translation import async_translate_state, async_translate_state_attr
from homeassistant.util.read_only_dict import ReadOnlyDict

from ..exposure import Exposure
from .home import Function, Home
from .limits import Budget

_ONE_BY_ONE = 16
"""Entities asked for one at a time; a template that wants more is given all of them at once."""
_PROPERTIES = frozenset(
    {
        "attributes",
        "domain",
        "entity_id",
        "last_changed",
        "last_reported",
        "last_updated",
        "name",
        "object_id",
        "state",
        "state_with_unit",
    }
)
# Jinja looks for these on whatever is called.
_MARKS = frozenset({"jinja_pass_arg", "unsafe_callable", "alters_data", "contextfunction"})


class TemplateState:
    """What a template may read of one state; holds no way back to Home Assistant that a template could reach."""

    __slots__ = ("_attributes", "_home", "_state")

    def __init__(self, home: TemplateHome, state: State) -> None:
        """Take the state of an exposed entity."""
        self._home = home
        self._state = state
        self._attributes: ReadOnlyDict[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        """Return a property, for filters such as `map(attribute='state')`."""
        if name not in _PROPERTIES:
            raise KeyError(name)
        return getattr(self, name)

    @property
    def state(self) -> str:
        """Return the state."""
        return self._state.state

    @property
    def attributes(self) -> ReadOnlyDict[str, Any]:
        """Return the attributes that may be seen."""
        if self._attributes is None:
            self._attributes = ReadOnlyDict(self._home.exposure.visible_attributes(self._state))
        return self._attributes

    @property
    def entity_id(self) -> str:
        """Return the entity id."""
        return self._state.entity_id

    @property
    def domain(self) -> str:
        """Return the first part of the entity id."""
        return self._state.domain

    @property
    def object_id(self) -> str:
        """Return the second part of the entity id."""
        return self._state.object_id

    @property
    def name(self) -> str:
        """Return the name shown to the user."""
        return self._state.name

    @property
    def last_changed(self) -> datetime:
        """Return when the state changed last."""
        return self._state.last_changed

    @property
    def last_updated(self) -> datetime:
        """Return when the state or an attribute changed last."""
        return self._state.last_updated

    @property
    def last_reported(self) -> datetime:
        """Return when the state was reported last, changed or not."""
        return self._state.last_reported

    @property
    def state_with_unit(self) -> str:
        """Return the state, rounded for display, with its unit."""
        return self._home.format_state(self._state, rounded=True, with_unit=True)

    @override
    def __eq__(self, other: object) -> bool:
        """Compare as Home Assistant compares states."""
        return isinstance(other, TemplateState) and self._state == other._state

    @override
    def __hash__(self) -> int:
        """Return the hash of the state."""
        return hash(self._state)

    @override
    def __repr__(self) -> str:
        """Return the text that Home Assistant shows for a state."""
        state = State(self.entity_id, self.state, self.attributes, self.last_changed)
        text = f"<template TemplateState({state!r})>"
        self._home.budget.spend(len(text))
        return text


class TemplateHome(Home):
    """The home as one template sees it while it is rendered in its thread."""

    def __init__(self, hass: HomeAssistant, exposure: Exposure, budget: Budget) -> None:
        """Take what may be seen and how much may be made of it."""
        super().__init__(hass, exposure)
        self.budget = budget
        self._seen: dict[str, TemplateState | None] = {}
        self._domains: dict[str | None, list[TemplateState]] = {}

    def find(self, entity_id: Any) -> TemplateState | None:
        """Return the view of an exposed entity; its state stays the same during a rendering."""
        if not isinstance(entity_id, str):
            raise TypeError(f"Expected an entity id, got {type(entity_id).__name__}")
        entity_id = entity_id.lower()
        if entity_id not in self._seen:
            if len(self._seen) >= _ONE_BY_ONE or None in self._domains:
                self.all()
                return self._seen.get(entity_id)
            state = self.state(entity_id)
            self._seen[entity_id] = TemplateState(self, state) if state else None
        return self._seen[entity_id]

    def all(self, domain: str | None = None) -> list[TemplateState]:
        """Return the views of all exposed entities, or of one domain."""
        if domain not in self._domains:
            views = []
            for state in self.exposure.states(domain):
                if not (view := self._seen.get(state.entity_id)):
                    view = self._seen[state.entity_id] = TemplateState(self, state)
                views.append(view)
            self._domains[domain] = views
        return self._domains[domain]

    def format_state(self, state: State, *, rounded: bool, with_unit: bool) -> str:
        """Return a state as it is displayed."""
        text = self.ask(_rounded, state.entity_id) if rounded and state.domain == SENSOR_DOMAIN else state.state
        unit = self.exposure.visible_attribute(state, "unit_of_measurement") if with_unit else None
        return f"{text} {unit}" if unit else text


@callback
def _rounded(home: Home, entity_id: str) -> str:
    """Return the state of a sensor with the digits that are displayed."""
    state = home.state(entity_id)
    return async_rounded_state(home.hass, entity_id, state) if state else STATE_UNKNOWN


class DomainStates:
    """The states of one domain, as in `states.light`."""

    __slots__ = ("_domain", "_home")

    def __init__(self, home: TemplateHome, domain: str) -> None:
        """Take the domain."""
        self._home = home
        self._domain = domain

    def __getattr__(self, name: str) -> TemplateState | None:
        """Return the state of an entity, or None."""
        if name.startswith("__"):
            raise AttributeError(name)
        return _valid(self._home, f"{self._domain}.{name}")

    __getitem__ = __getattr__

    def __iter__(self) -> Iterator[TemplateState]:
        """Yield the states of the domain."""
        return iter(self._home.all(self._domain))

    def __len__(self) -> int:
        """Return how many entities the domain has."""
        return len(self._home.all(self._domain))

    @override
    def __repr__(self) -> str:
        """Return the text that Home Assistant shows."""
        return f"<template DomainStates('{self._domain}')>"


class AllStates:
    """All states: `states('light.lamp')`, `states.light`, `states['light.lamp']`."""

    __slots__ = ("_home",)

    def __init__(self, home: TemplateHome) -> None:
        """Take the home."""
        self._home = home

    def __getattr__(self, name: str) -> Any:
        """Return a domain, or the state of an entity by its whole id."""
        if "." in name:
            return _valid(self._home, name)
        if name in _MARKS:
            return None
        if name.startswith("__"):
            raise AttributeError(name)
        if not valid_domain(name):
            raise TemplateError(f"Invalid domain name '{name}'")  # type: ignore[arg-type]
        return DomainStates(self._home, name)

    __getitem__ = __getattr__

    def __iter__(self) -> Iterator[TemplateState]:
        """Yield the states of all exposed entities."""
        return iter(self._home.all())

    def __len__(self) -> int:
        """Return how many entities are exposed."""
        return len(self._home.all())

    def __call__(self, entity_id: Any, rounded: bool | None = None, with_unit: bool = False) -> str:  # noqa: FBT001, FBT002 - as templates call it
        """Return the state of an entity as text."""
        return states(self._home, entity_id, rounded, with_unit)

    @override
    def __repr__(self) -> str:
        """Return the text that Home Assistant shows."""
        return "<template AllStates>"


def _valid(home: TemplateHome, entity_id: str) -> TemplateState | None:
    """Return the view of an entity; raise TemplateError for what cannot be an id."""
    view = home.find(entity_id)
    if view is None and not valid_entity_id(entity_id):
        raise TemplateError(f"Invalid entity ID '{entity_id}'")  # type: ignore[arg-type]
    return view


def states(home: TemplateHome, entity_id: Any, rounded: bool | None = None, with_unit: bool = False) -> str:  # noqa: FBT001, FBT002 - as templates call it
    """Return the state of an entity as text."""
    view = home.find(entity_id)
    if view is None:
        return STATE_UNKNOWN
    rounded = with_unit if rounded is None else rounded
    if not rounded and not with_unit:
        return view.state
    return home.format_state(view._state, rounded=rounded, with_unit=with_unit)  # noqa: SLF001 - of this file


def state_attr(home: TemplateHome, entity_id: Any, name: Any) -> Any:
    """Return an attribute of an entity, or None."""
    view = home.find(entity_id)
    return home.exposure.visible_attribute(view._state, name) if view else None  # noqa: SLF001 - of this file


def is_state(home: TemplateHome, entity_id: Any, state: Any) -> bool:
    """Return whether an entity has a state, or one of several."""
    view = home.find(entity_id)
    return view is not None and (view.state == state or (isinstance(state, list) and view.state in state))


def is_state_attr(home: TemplateHome, entity_id: Any, name: Any, value: Any) -> bool:
    """Return whether an attribute of an entity has a value."""
    view = home.find(entity_id)
    return view is not None and name in view.attributes and bool(view.attributes[name] == value)


def has_value(home: TemplateHome, entity_id: Any) -> bool:
    """Return whether an entity has a state that is known."""
    view = home.find(entity_id)
    return view is not None and view.state not in {STATE_UNAVAILABLE, STATE_UNKNOWN}


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
        if not isinstance(item, TemplateState) or item.entity_id in found:
            continue
        if groups is None:
            groups = home.ask(_groups)
        if item.domain == "group" or item.entity_id in groups:
            members = "entity_id"
        elif item.domain == "zone":
            members = "persons"
        else:
            found[item.entity_id] = item
            continue
        if item.entity_id not in opened:
            opened.add(item.entity_id)
            search += item.attributes.get(members) or ()
    return list(found.values())


@callback
def _groups(home: Home) -> frozenset[str]:
    """Return the entities that the group integration provides in other domains."""
    return frozenset(entity_id for entity_id, source in entity_sources(home.hass).items() if source["domain"] == "group")


@callback
def state_translated(home: Home, entity_id: Any) -> str:
    """Return the state of an entity in the language of the user interface."""
    state = home.state(entity_id)
    if state is None:
        return STATE_UNKNOWN
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
    value = home.exposure.visible_attribute(state, attribute) if state else None
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
def is_hidden_entity(home: Home, entity_id: Any) -> bool:
    """Return whether the user hid an exposed entity from dashboards."""
    entry = home.entry(entity_id)
    return entry is not None and entry.hidden


FUNCTIONS = (
    Function(states, is_global=False, on_loop=False),
    Function(state_attr, on_loop=False),
    Function(is_state, is_filter=False, is_test=True, on_loop=False),
    Function(is_state_attr, is_filter=False, is_test=True, on_loop=False),
    Function(has_value, is_test=True, on_loop=False),
    Function(expand, on_loop=False),
    Function(state_translated),
    Function(state_attr_translated),
    Function(is_hidden_entity, is_filter=False, is_test=True),
)

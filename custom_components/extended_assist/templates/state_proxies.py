"""The state objects of templates."""

from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any, override

from homeassistant.components.sensor import DOMAIN as SENSOR_DOMAIN, async_rounded_state
from homeassistant.const import STATE_UNKNOWN
from homeassistant.core import HomeAssistant, State, callback, valid_domain, valid_entity_id
from homeassistant.exceptions import TemplateError
from homeassistant.util.read_only_dict import ReadOnlyDict

from ..exposure.entities import Exposure
from ..exposure.fixed_values import is_fixed_attribute
from .limits import Budget
from .location import Home

_ONE_BY_ONE = 16
"""The most entities that are read one at a time; after that, all are read at once."""
PROPERTIES = frozenset(
    {
        "attributes",
        "context",
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
    """The state of an exposed entity in a template, without a reference to Home Assistant that a template could reach."""

    __slots__ = ("_attributes", "_home", "_state")

    def __init__(self, home: TemplateHome, state: State) -> None:
        """Store the state of an exposed entity."""
        self._home = home
        self._state = state
        self._attributes: ReadOnlyDict[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        """Return a property, for filters such as `map(attribute='state')`."""
        if name not in PROPERTIES:
            raise KeyError(name)
        return getattr(self, name)

    @property
    def state(self) -> str:
        """Return the state."""
        return self._home.read_state(self._state)

    @property
    def attributes(self) -> ReadOnlyDict[str, Any]:
        """Return the visible attributes."""
        if self._attributes is None:
            self._attributes = ReadOnlyDict(self._home.read_attributes(self._state))
        return self._attributes

    @property
    def context(self) -> ReadOnlyDict[str, str | None]:
        """Return the context of the state; the user is left out unless their person is exposed."""
        context = self._state.context
        user_id = context.user_id if context.user_id in self._home.users else None
        return ReadOnlyDict({"id": context.id, "parent_id": context.parent_id, "user_id": user_id})

    def as_dict(self) -> ReadOnlyDict[str, Any]:
        """Return all of it."""
        return ReadOnlyDict(
            {
                "entity_id": self.entity_id,
                "state": self.state,
                "attributes": self.attributes,
                "last_changed": self.last_changed.isoformat(),
                "last_reported": self.last_reported.isoformat(),
                "last_updated": self.last_updated.isoformat(),
                "context": self.context,
            }
        )

    @property
    def entity_id(self) -> str:
        """Return the entity id, which Home Assistant generates from the name."""
        self._home.read_name(self._state)
        return self._state.entity_id

    @property
    def domain(self) -> str:
        """Return the domain of the entity id."""
        return self._state.domain

    @property
    def object_id(self) -> str:
        """Return the object id of the entity id."""
        self._home.read_name(self._state)
        return self._state.object_id

    @property
    def name(self) -> str:
        """Return the display name."""
        self._home.read_name(self._state)
        return self._state.name

    @property
    def last_changed(self) -> datetime:
        """Return the time of the last change of the state."""
        return self._state.last_changed

    @property
    def last_updated(self) -> datetime:
        """Return the time of the last change of the state or an attribute."""
        return self._state.last_updated

    @property
    def last_reported(self) -> datetime:
        """Return the time of the last report of the state, changed or not."""
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
    """The home for one template during its rendering in a thread."""

    def __init__(self, hass: HomeAssistant, exposure: Exposure, budget: Budget) -> None:
        """Store the exposure and the budget of the rendering."""
        super().__init__(hass, exposure)
        self.budget = budget
        self._seen: dict[str, TemplateState | None] = {}
        self._domains: dict[str | None, list[TemplateState]] = {}

    @property
    def read(self) -> set[str]:
        """Return the exposed entities that the rendering read."""
        return {entity_id for known in (self._seen, self.decided) for entity_id, found in known.items() if found}

    def find(self, entity_id: Any) -> TemplateState | None:
        """Return the proxy of an exposed entity; its state is constant during a rendering."""
        if not isinstance(entity_id, str):
            raise TypeError(f"Expected an entity id, got {type(entity_id).__name__}")
        if entity_id in self._seen:
            return self._seen[entity_id]
        entity_id = entity_id.lower()
        if entity_id not in self.decided and (len(self._seen) >= _ONE_BY_ONE or None in self._domains):
            self.all()
        elif entity_id not in self._seen:
            state = self.ask(Home.state, entity_id)
            self._seen[entity_id] = TemplateState(self, state) if state else None
        return self._seen.get(entity_id)

    @cached_property
    def users(self) -> frozenset[str]:
        """Return the users whose persons are exposed."""
        return frozenset(
            user_id
            for person in self.exposure.states("person")
            if (user_id := self.exposure.visible_attribute(person, "user_id")) is not None
        )

    def all(self, domain: str | None = None) -> list[TemplateState]:
        """Return the proxies of all exposed entities, or of one domain."""
        if domain not in self._domains:
            proxies = []
            for state in self.exposure.states(domain):
                if not (proxy := self._seen.get(state.entity_id)):
                    proxy = self._seen[state.entity_id] = TemplateState(self, state)
                proxies.append(proxy)
            self._domains[domain] = proxies
        return self._domains[domain]

    def format_state(self, state: State, *, rounded: bool, with_unit: bool) -> str:
        """Return a state in its display format."""
        text = self.ask(_display_state, state.entity_id) if rounded and state.domain == SENSOR_DOMAIN else state.state
        self.read_state(state)
        unit = self.read_attribute(state, "unit_of_measurement") if with_unit else None
        return f"{text} {unit}" if unit else text

    def state_text(self, entity_id: Any, rounded: bool | None, with_unit: bool) -> str:  # noqa: FBT001 - as templates call it
        """Return the state of an entity as text, raw or in its display format."""
        proxy = self.find(entity_id)
        if proxy is None:
            return STATE_UNKNOWN
        rounded = with_unit if rounded is None else rounded
        if not rounded and not with_unit:
            return proxy.state
        return self.format_state(proxy._state, rounded=rounded, with_unit=with_unit)  # noqa: SLF001 - of this file

    def members(self, proxy: TemplateState, name: str) -> tuple[str, ...]:
        """Return the entities that an attribute of a group or zone lists."""
        return tuple(self.exposure.visible_attribute(proxy._state, name) or ())  # noqa: SLF001 - of this file

    def number(self, proxy: TemplateState, name: str) -> float | None:
        """Return a numeric attribute."""
        value = self.exposure.visible_attribute(proxy._state, name)  # noqa: SLF001 - of this file
        return value if isinstance(value, int | float) else None

    def read_attributes(self, state: State) -> dict[str, Any]:
        """Return the visible attributes, and note whether one is free text."""
        visible = self.exposure.visible_attributes(state)
        self.has_free_text = self.has_free_text or not all(
            is_fixed_attribute(self.hass, state, name, value) for name, value in visible.items()
        )
        return visible

    def attribute(self, entity_id: Any, name: Any) -> Any:
        """Return an attribute of an entity, or None."""
        proxy = self.find(entity_id)
        return self.read_attribute(proxy._state, name) if proxy else None  # noqa: SLF001 - of this file


@callback
def _display_state(home: Home, entity_id: str) -> str:
    """Return the state of a sensor with its display precision."""
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
        return _find_valid(self._home, f"{self._domain}.{name}")

    __getitem__ = __getattr__

    def __iter__(self) -> Iterator[TemplateState]:
        """Yield the states of the domain."""
        return iter(self._home.all(self._domain))

    def __len__(self) -> int:
        """Return the number of exposed entities of the domain."""
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
            return _find_valid(self._home, name)
        if name in _MARKS:
            return None
        if name.startswith("__"):
            raise AttributeError(name)
        if not valid_domain(name):
            raise TemplateError(f"Invalid domain name '{name}'")
        return DomainStates(self._home, name)

    __getitem__ = __getattr__

    def __iter__(self) -> Iterator[TemplateState]:
        """Yield the states of all exposed entities."""
        return iter(self._home.all())

    def __len__(self) -> int:
        """Return the number of exposed entities."""
        return len(self._home.all())

    def __call__(self, entity_id: Any, rounded: bool | None = None, with_unit: bool = False) -> str:  # noqa: FBT001, FBT002 - as templates call it
        """Return the state of an entity as text."""
        return self._home.state_text(entity_id, rounded, with_unit)

    @override
    def __repr__(self) -> str:
        """Return the text that Home Assistant shows."""
        return "<template AllStates>"


def _find_valid(home: TemplateHome, entity_id: str) -> TemplateState | None:
    """Return the proxy of an entity; raises TemplateError for an invalid id."""
    proxy = home.find(entity_id)
    if proxy is None and not valid_entity_id(entity_id):
        raise TemplateError(f"Invalid entity ID '{entity_id}'")
    return proxy

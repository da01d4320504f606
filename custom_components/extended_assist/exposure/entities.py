"""The entities that an assistant may see: the only door to entities."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time, timedelta
from enum import Enum
from functools import cached_property, partial
from itertools import batched, islice
import re
from threading import get_ident
from typing import Any

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util.async_ import run_callback_threadsafe

from ..ha_compat.exposed_entities import async_should_expose
from ..results import ToolError, shown
from .domains import NUMBERS
from .fixed_values import is_fixed_name, is_fixed_unit
from .name_index import async_get_names, name_of, normalize
from .secrets import is_secret_key, is_secret_text, sifted, without_secrets

__all__ = [
    "ExposedEntity",
    "Exposure",
    "NotExposedError",
    "is_secret_key",
    "is_secret_text",
    "normalize",
    "without_secrets",
]

_SUGGESTIONS = 4
_SLICE = 200
"""The entities whose names are compared before the event loop gets a turn."""
_COMMON_NAMES = frozenset({"", "home", "home assistant"})
"""Entity names that are words of everyday sentences."""
_ENTITY_ID = re.compile(r"\b[a-z_0-9]+\.[a-z_0-9]+\b")
_MARKS = re.compile(r"[^\w.]+|\.(?!\w)|(?<!\w)\.")
_PLAIN = frozenset({bool, int, float})
_SHOWN = (int, float, bytes, date, time, timedelta, Enum)


class NotExposedError(ToolError):
    """A name, id or area is unknown or not exposed; callers cannot tell the difference."""

    hint: Callable[[], Awaitable[str]] | None = None
    """Returns advice; it runs outside of the event loop because it takes long."""


async def async_error_text(error: ToolError) -> str:
    """Return the words of an error, with advice if a name was not found."""
    cause: BaseException | None = error
    while cause is not None and not (isinstance(cause, NotExposedError) and cause.hint):
        cause = cause.__cause__
    return f"{error} {await cause.hint()}" if isinstance(cause, NotExposedError) and cause.hint else str(error)


@dataclass(frozen=True, slots=True)
class ExposedEntity:
    """An entity that the assistant may see."""

    entity_id: str
    names: tuple[str, ...]
    """The display name, then the aliases."""
    area_names: tuple[str, ...]
    """The name of the area, then its aliases; empty without an area."""
    state: State

    @property
    def name(self) -> str:
        """Return the display name."""
        return self.names[0]

    @property
    def area(self) -> str:
        """Return the name of the area, or an empty string."""
        return self.area_names[0] if self.area_names else ""

    @property
    def domain(self) -> str:
        """Return the domain of the entity."""
        return self.state.domain

    @property
    def unit(self) -> str | None:
        """Return the unit of a numeric state, empty if it has none; None for any other state."""
        return unit_of(self.state)


def unit_of(state: State) -> str | None:
    """Return the unit of a numeric state, empty if it has none; None for any other state."""
    if unit := state.attributes.get("unit_of_measurement"):
        # What is no unit can be anybody's words.
        return str(unit) if is_fixed_unit(str(unit)) else ""
    return "" if "state_class" in state.attributes or state.domain in NUMBERS else None


class Exposure:
    """The entities and values that one assistant may see during one tool call.

    Each call gets a new one: the user may change the exposure in the middle of a conversation.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        assistant: str,
        external_statistics: frozenset[str] = frozenset(),
        *,
        reader: User | None = None,
    ) -> None:
        """Store the assistant, from the LLM context, and the external statistics of the options.

        For a reader, entities that their groups may not read in Home Assistant are hidden, too.
        """
        self._hass = hass
        self._assistant = assistant
        self._reader = reader
        self.external_statistics = frozenset(filter(_is_external, external_statistics))

    def is_exposed(self, entity_id: str) -> bool:
        """Return whether an entity exists and is exposed; callable from any thread."""
        return self.state(entity_id) is not None

    def is_awaited(self, entity_id: str) -> bool:
        """Return whether an entity without a state would be exposed, such as while its integration reloads."""
        return self._hass.states.get(entity_id) is None and self._decide(self._may_see, entity_id)

    def state(self, entity_id: str) -> State | None:
        """Return the state of an exposed entity; callable from any thread."""
        state = self._hass.states.get(entity_id)
        return state if state and self._decide(self._should_expose, state) else None

    def states(self, domain: str | None = None) -> list[State]:
        """Return the states of all exposed entities, or of one domain; callable from any thread."""
        return self._decide(
            lambda: [state for state in self._hass.states.async_all(domain) if self._should_expose(state)]
        )

    @callback
    def _should_expose(self, state: State) -> bool:
        """Return the user's decision about an entity."""
        return self._may_see(state.entity_id)

    @callback
    def _may_see(self, entity_id: str) -> bool:
        """Return whether the assistant, and the reader if there is one, may see an entity."""
        if not async_should_expose(self._hass, self._assistant, entity_id):
            return False
        return self._reader is None or self._reader.permissions.check_entity(entity_id, POLICY_READ)

    def _decide[*Ts, R](self, question: Callable[[*Ts], R], *args: *Ts) -> R:
        """Ask Home Assistant on the event loop: the first question about an entity stores the answer in a registry."""
        if get_ident() == self._hass.loop_thread_id:
            return question(*args)
        return run_callback_threadsafe(self._hass.loop, question, *args).result()

    @callback
    def is_statistic_exposed(self, statistic_id: str) -> bool:
        """Return whether a statistic is visible: through its entity, or as an external one that the user listed."""
        if _is_external(statistic_id):
            return statistic_id in self.external_statistics
        return self.is_exposed(statistic_id)

    @cached_property
    def ids(self) -> frozenset[str]:
        """Return the ids of all exposed entities."""
        return frozenset(entity_id for entity_id in self._hass.states.async_entity_ids() if self._may_see(entity_id))

    @cached_property
    def entities(self) -> dict[str, ExposedEntity]:
        """Return all exposed entities by id."""
        states = map(self._hass.states.get, sorted(self.ids))
        return {state.entity_id: self._describe(state) for state in states if state}

    @callback
    def entity(self, entity_id: str) -> ExposedEntity | None:
        """Return an exposed entity or None, without reading all entities."""
        return self._describe(state) if (state := self.state(entity_id)) else None

    @callback
    def _describe(self, state: State) -> ExposedEntity:
        """Return an entity with its names, aliases and area."""
        names, area_names = async_get_names(self._hass).names(state)
        return ExposedEntity(state.entity_id, names, area_names, state)

    @callback
    def decimals(self, entity_id: str) -> int | None:
        """Return the display precision of a sensor that the user or its integration chose, or None."""
        entry = er.async_get(self._hass).async_get(entity_id)
        options: Mapping[str, Any] = entry.options.get("sensor", {}) if entry else {}
        decimals: int | None = options.get("display_precision", options.get("suggested_display_precision"))
        return decimals

    @callback
    def shown(self, entity: ExposedEntity, state: str | None = None) -> str | float:
        """Return a current or past state of an entity as tools return it: a number if it is one."""
        return shown(state or entity.state.state, entity.unit, self.decimals(entity.entity_id))

    @callback
    def hidden_ids(self) -> set[str]:
        """Return the ids of all existing entities that are not exposed, for a process that cannot ask for them."""
        known = {*self._hass.states.async_entity_ids(), *er.async_get(self._hass).entities}
        return known - self.ids

    def in_area(self, area: str) -> list[ExposedEntity]:
        """Return the exposed entities of an area, given by name or alias.

        Raises NotExposedError if no area with exposed entities has that name.
        """
        wanted = normalize(area)
        found = [entity for entity in self.entities.values() if wanted in map(normalize, entity.area_names)]
        if not found:
            known = sorted({entity.area for entity in self.entities.values() if entity.area})
            raise NotExposedError(
                f"No area named '{area}' has exposed entities. "
                + (f"Areas: {', '.join(known)}." if known else "No exposed entity has an area.")
            )
        return found

    def search(self, text: str, among: Iterable[ExposedEntity] | None = None, domain: str = "") -> list[ExposedEntity]:
        """Return the exposed entities that a text means, optionally of some entities or a domain; only the best kind of match.

        The kinds, best first: the entity id; a name or alias, with or without the area's name; all words of the text in the
        id, a name or the area's name.
        """
        names, wanted = async_get_names(self._hass), normalize(text)
        pool = None if among is None else {entity.entity_id: entity for entity in among}
        named = {*names.named(wanted), text.strip().lower()}
        if found := self._visible(named, pool, domain):
            return found
        return self._visible(names.containing(words), pool, domain) if (words := wanted.split()) else []

    def _visible(
        self, entity_ids: Iterable[str], pool: dict[str, ExposedEntity] | None, domain: str
    ) -> list[ExposedEntity]:
        """Return the exposed entities of a pool, or all, ordered by id."""
        wanted = [entity_id for entity_id in entity_ids if not domain or entity_id.startswith(f"{domain}.")]
        return list(filter(None, map(self.entity if pool is None else pool.get, sorted(wanted))))

    def resolve(self, text: str) -> list[ExposedEntity]:
        """Return the exposed entities that a text means, as in search.

        Raises NotExposedError, naming the most similar exposed entities, if there are none.
        """
        if entity := self.entity(text.strip().lower()):
            return [entity]
        if found := self.search(text):
            return found
        error = NotExposedError(f"'{text}' was not found or is not exposed.")
        error.hint = partial(self.async_nearest, text)
        raise error

    async def async_nearest(self, text: str) -> str:
        """Return the exposed entities whose name or id is similar to a text, computed in the executor."""
        like = await self._hass.async_add_executor_job(async_get_names(self._hass).like, normalize(text))
        found = filter(None, map(self.entity, like))
        visible = islice((one for one in found if is_fixed_name(self._hass, one.state)), _SUGGESTIONS)
        if nearest := ", ".join(f"{entity.name} ({entity.entity_id})" for entity in visible):
            return f"Nearest: {nearest}."
        return "Call extended_assist__get_entities to see what is exposed."

    def visible_attributes(self, state: State) -> dict[str, Any]:
        """Return the attributes of an exposed entity without secrets and without hidden entities."""
        return {
            name: visible
            for name, value in state.attributes.items()
            if not self._hides_key(name)
            and (visible := value if type(value) in _PLAIN else self.visible_value(value)) is not None
        }

    def visible_attribute(self, state: State, name: str) -> Any:
        """Return one attribute of an exposed entity as in visible_attributes, or None."""
        if name not in state.attributes or self._hides_key(name):
            return None
        return self.visible_value(state.attributes[name])

    def visible_value(self, value: Any) -> Any:
        """Return a value of an attribute, a response or the past without secrets and hidden entities, or None."""
        return sifted(value, self._hides_key, self._hides)

    def _hides_key(self, name: str) -> bool:
        """Return whether a key is hidden."""
        return is_secret_key(name) or self._hides(name)

    def _hides(self, value: Any) -> bool:
        """Return whether a text, number or other scalar is hidden."""
        if isinstance(value, str):
            return is_secret_text(value) or ("." in value and self._names_hidden_id(value))
        # An object of an integration may hold or fetch anything.
        return not isinstance(value, _SHOWN)

    def _names_hidden_id(self, text: str) -> bool:
        """Return whether a text contains the id of a hidden entity."""
        return any(map(self._is_hidden, _ENTITY_ID.findall(text)))

    def names_hidden(self, text: str) -> bool:
        """Return whether a text of Home Assistant, such as an error, contains the id or name of a hidden entity."""
        if self._names_hidden_id(text.lower()):
            return True
        folded, names = f" {_folded(text)} ", self._hidden_names
        return any(f" {name} " in folded for word in {*folded.split()} & names.keys() for name in names[word])

    async def async_prepare(self) -> None:
        """Read all entities in slices, so that names_hidden and others need not do it at once."""
        for hidden in self._look():
            await asyncio.sleep(0)
            if hidden is not None:
                self._hidden_names = hidden

    @cached_property
    def _hidden_names(self) -> dict[str, list[str]]:
        """Return the names of hidden entities that no exposed entity has, by their first words."""
        *_, hidden = self._look()
        return hidden or {}

    def _look(self) -> Iterator[dict[str, list[str]] | None]:
        """Yield None after each slice of the entities, and finally the names that only hidden entities have."""
        found: dict[str, ExposedEntity] = {}
        known, hidden = set(_COMMON_NAMES), set()
        for states in batched(self._hass.states.async_all(), _SLICE, strict=False):
            for state in states:
                if self._should_expose(state):
                    found[state.entity_id] = entity = self._describe(state)
                    known.update(map(_folded, entity.names))
                else:
                    hidden.add(_folded(name_of(state)))
            yield None
        self.ids = frozenset(found)
        self.entities = {entity_id: found[entity_id] for entity_id in sorted(found)}
        names: dict[str, list[str]] = {}
        for name in hidden - known:
            names.setdefault(name.split(" ")[0], []).append(name)
        yield names

    def _is_hidden(self, entity_id: str) -> bool:
        """Return whether an id belongs to an existing entity that is not exposed."""
        exists = self._hass.states.get(entity_id) is not None or entity_id in er.async_get(self._hass).entities
        return exists and not self.is_exposed(entity_id)


def _folded(text: str) -> str:
    """Return the words of a text for comparing names, without punctuation except dots inside words."""
    return normalize(_MARKS.sub(" ", text))


def _is_external(statistic_id: str) -> bool:
    """Return whether a statistic belongs to no entity, such as opower:energy_consumption."""
    return ":" in statistic_id

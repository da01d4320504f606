"""What the parts of an automation name, in words: entities, places, states, times and other values, as far as exposure allows."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from homeassistant.const import ATTR_AREA_ID, ATTR_DEVICE_ID, ATTR_ENTITY_ID, ATTR_FLOOR_ID, ATTR_LABEL_ID, CONF_TARGET
from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import is_template_string

from ..calls.visible_text import name_shown
from ..exposure.entities import ExposedEntity, Exposure
from ..exposure.secrets import is_secret_key
from ..results import texts_in
from .target_names import SECRET, exposed_places

UNSEEN = "something not exposed"
_OF_OTHERS = frozenset({"automation", "scene", "script"})
"""Kinds of entities that are called like the things they move."""
_DURATIONS = frozenset({"for", "offset", "timeout"})
_PLACES = {
    ATTR_AREA_ID: ("all of {}", "an area"),
    ATTR_FLOOR_ID: ("all of the floor {}", "a floor"),
    ATTR_LABEL_ID: ("all that is labelled {}", "a label"),
    ATTR_DEVICE_ID: ("the device {}", "a device"),
}
"""How a place is told, and one that holds nothing exposed."""
_COUNTS: WeakKeyDictionary[Exposure, Counter[str]] = WeakKeyDictionary()
"""How many exposed entities have each name: many automations and tasks are told in one answer."""


def names_hidden(exposure: Exposure, config: Mapping[str, Any]) -> bool:
    """Return whether any text in a configuration names something hidden."""
    return exposure.names_hidden(" ".join(text for text, _ in texts_in(config, keys=True)))


class ValueDescriber:
    """Describes what parts of an automation name, and takes what it tells out of them."""

    def __init__(
        self,
        hass: HomeAssistant,
        exposure: Exposure,
        *,
        tells_recipients: bool = True,
        known: frozenset[str] = frozenset(),
    ) -> None:
        """Take whose exposure decides what is named, whether to tell who is sent messages, and which actions may be named."""
        self._hass = hass
        self._exposure = exposure
        self._tells_recipients = tells_recipients
        self._known = known
        self._own: frozenset[str] = frozenset()
        """Scenes that the automation makes itself."""
        self._is_free = False
        """Whether no text of the automation names anything hidden, so that its parts need not be asked one by one."""

    def _seen(self, words: str) -> str:
        """Return words, unless they are about something that is not exposed."""
        if self._exposure.visible_value(words) is None:
            return UNSEEN
        if self._is_free:
            return words
        unnamed = words
        for own in self._own:
            unnamed = unnamed.replace(own.partition(".")[2], "")
        for known in self._known:
            if known in words:
                name = known.partition(".")[2]
                unnamed = unnamed.replace(known, "").replace(name, "", 1).replace(name.replace("_", " "), "", 1)
        return UNSEEN if self._exposure.names_hidden(unnamed) else words

    def _about(self, what: dict[str, Any]) -> str:
        """Return names for what a part is about, and take them out of it; an empty text for nothing."""
        names: list[str] = []
        if (target := what.pop(CONF_TARGET, None)) is not None:
            inner = dict(target) if isinstance(target, Mapping) else {}
            names = [self._about(inner), self._rest(inner)] if inner else [self._said(target)]
        names += [self._entity(str(item)) for item in items_of(what.pop(ATTR_ENTITY_ID, None))]
        names += [self._place(key, str(item)) for key in _PLACES for item in items_of(what.pop(key, None))]
        words = listed(list(dict.fromkeys(filter(None, names))), "and")
        return f"the {self._said(what.pop('attribute'))} of {words}" if words and "attribute" in what else words

    def _entity(self, item: str) -> str:
        """Return the name of an entity, with its id where others have the same name."""
        if is_template_string(item) or item in {"all", "none"}:
            return item
        if item in self._own:
            return f"the scene {item.partition('.')[2]}"
        if (entity := self._exposure.entity(item)) is None:
            return UNSEEN
        name = _named(entity)
        return name if self._counts[name] == 1 else f"{name} ({item})"

    def _place(self, key: str, item: str) -> str:
        """Return the name of a place, with its id where others have the same name."""
        (told, unknown), names = _PLACES[key], self._names[key]
        if (name := names.get(item)) is None:
            return item if is_template_string(item) else unknown
        return told.format(name if list(names.values()).count(name) == 1 else f"{name} ({item})")

    @property
    def _counts(self) -> Counter[str]:
        """Return how many exposed entities have each name."""
        if (counts := _COUNTS.get(self._exposure)) is None:
            counts = _COUNTS[self._exposure] = Counter(map(_named, self._exposure.entities.values()))
        return counts

    @cached_property
    def _names(self) -> dict[str, dict[str, str]]:
        """Return the names of the places that hold something exposed."""
        return exposed_places(self._hass, self._exposure)

    def _limits(self, what: dict[str, Any]) -> str:
        """Return the limits of a number."""
        limits = [f" {key} {self._state(what.pop(key))}" for key in ("above", "below") if key in what]
        return " and".join(limits) or " a number"

    def _state(self, value: Any) -> str:
        """Return states or times as they are said, any of which will do."""
        items = [{True: "on", False: "off"}[item] if isinstance(item, bool) else item for item in items_of(value)]
        return listed(map(self._said, items), "or") or "nothing"

    def _rest(self, what: Mapping[Any, Any]) -> str:
        """Return all that is left, by its names; in YAML, these may be numbers."""
        return ", ".join(f"{str(key).replace('_', ' ')} {self._valued(str(key), value)}" for key, value in what.items())

    def _valued(self, key: str, value: Any) -> str:
        """Return the value of a name."""
        if is_secret_key(key) and value is not None:
            return SECRET
        return duration(value) if key in _DURATIONS and isinstance(value, Mapping | int | float) else self._said(value)

    def _said(self, value: Any) -> str:
        """Return a value as it is said."""
        match value:
            case bool():
                return "yes" if value else "no"
            case None:
                return "nothing"
            case Mapping():
                return f"({self._rest(value)})"
            case list() | tuple():
                return listed([self._said(item) for item in value], "and") or "nothing"
        if isinstance(value, str) and (entity := self._exposure.entity(value) if "." in value else None):
            return self._entity(entity.entity_id)
        return str(value)


def _named(entity: ExposedEntity) -> str:
    """Return the name of an entity, with its kind where it often has the name of what it moves."""
    name = name_shown(entity)
    return f"the {entity.domain} {name}" if entity.domain in _OF_OTHERS else name


def items_of(value: Any) -> list[Any]:
    """Return a list, or a single value as one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def listed(words: Iterable[str], last: str) -> str:
    """Return words as a person lists them."""
    kept = [word for word in words if word]
    return f" {last} ".join(filter(None, (", ".join(kept[:-1]), *kept[-1:])))


def duration(value: Any) -> str:
    """Return a duration."""
    if isinstance(value, Mapping):
        return " ".join(f"{amount} {unit}" for unit, amount in value.items() if amount) or "no time"
    return f"{value} s" if isinstance(value, int | float) else str(value)

"""The values, triggers and conditions of an automation in words, as far as exposure allows.

Each key is removed from a copy once it is described, and all keys that are left are described by their names: so no key can be forgotten.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from homeassistant.const import (
    ATTR_AREA_ID,
    ATTR_DEVICE_ID,
    ATTR_ENTITY_ID,
    ATTR_FLOOR_ID,
    ATTR_LABEL_ID,
    CONF_ALIAS,
    CONF_ENABLED,
    CONF_ID,
    CONF_TARGET,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import is_template_string

from ..calls.visible_text import name_shown
from ..exposure.entities import ExposedEntity, Exposure
from ..exposure.secrets import is_secret_key
from ..results import texts_in
from .secret_values import SECRET, exposed_places, without_recipients

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
"""The words around the name of a place, and those for a place that holds nothing exposed."""
_COUNTS: WeakKeyDictionary[Exposure, Counter[str]] = WeakKeyDictionary()
"""How many exposed entities have each name; cached, because one answer can describe many automations and tasks."""


def names_hidden(exposure: Exposure, config: Mapping[str, Any]) -> bool:
    """Return whether any text in a configuration names something hidden."""
    return exposure.names_hidden(" ".join(text for text, _ in texts_in(config, keys=True)))


SAYS_NOTHING = {
    CONF_ID: "the id of the automation, which stays",
    CONF_ALIAS: "a name; the one of the automation is told with it",
    "description": "read by people only",
    "metadata": "kept by the editor",
    "trace": "how many runs are kept to look at",
}
"""Parts of an automation that change nothing of what it does, each with what it is."""

SHORTHAND = ("and", "or", "not")
_OF_PARTS = frozenset(
    {*SHORTHAND, "choose", "conditions", "if", "parallel", "repeat", "sequence", "triggers", "wait_for_trigger"}
)
"""Keys with parts of their own, each of which is described or hidden by itself."""
_HAPPENINGS = {
    "conversation": ("command", "somebody says to Assist {}"),
    "event": ("event_type", "the event {} happens"),
    "homeassistant": ("event", "Home Assistant goes through {}"),
    "mqtt": ("topic", "a message comes to {}"),
    "sun": ("event", "it is {}"),
    "tag": ("tag_id", "the tag {} is scanned"),
    "template": ("value_template", "{} becomes true"),
    "time": ("at", "it is {}"),
    "webhook": ("webhook_id", "the webhook {} is called"),
}
"""Triggers that are described by one of their values: its key, and the words around it."""


class PartDescriber:
    """Describes triggers, conditions and values, and removes the described keys."""

    def __init__(
        self,
        hass: HomeAssistant,
        exposure: Exposure,
        *,
        names_recipients: bool = True,
        known: frozenset[str] = frozenset(),
    ) -> None:
        """Take the exposure that decides which names are visible; known are actions that may be named even if they are hidden."""
        self._hass = hass
        self._exposure = exposure
        self._names_recipients = names_recipients
        self._known = known
        self._own: frozenset[str] = frozenset()
        """Scenes that the automation makes itself."""
        self._is_free = False
        """Whether no text of the automation names anything hidden, so that its parts need not be checked one by one."""

    def _seen(self, words: str) -> str:
        """Return words, unless they name something that is not exposed."""
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
        """Return the names of the targets of a part, and remove these keys from it; an empty text for none."""
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

    def _triggers(self, value: Any) -> str:
        """Describe triggers, any of which will do."""
        return listed([self._part(item, self._trigger) for item in items_of(value)], "or")

    def _conditions(self, value: Any, last: str = "and") -> str:
        """Describe conditions."""
        return listed([self._part(item, self._condition) for item in items_of(value)], last)

    def _part(self, part: Any, describe: Callable[[dict[str, Any]], str]) -> str:
        """Describe a trigger, condition or step, and whether it is switched off."""
        if not isinstance(part, Mapping):  # The short form of a template condition.
            return self._seen(f"{part} is true")
        told = part if self._names_recipients else without_recipients(part)
        what = {key: value for key, value in told.items() if key not in SAYS_NOTHING or key == CONF_ID}
        enabled, is_of_parts = what.pop(CONF_ENABLED, True), bool(_OF_PARTS & what.keys())
        lasting = f" for {self._valued('for', what.pop('for'))}" if "for" in what else ""
        words = f"{describe(what)}{lasting}"
        if rest := self._rest(what):
            words = f"{words} ({rest})"
        if enabled is not True:
            words = f"[switched off: {words}]" if enabled is False else f"[only where {self._said(enabled)}: {words}]"
        # The other words say something about the hidden entity, such as the state that is waited for.
        return UNSEEN if UNSEEN in words and not is_of_parts else self._seen(words)

    def _trigger(self, what: dict[str, Any]) -> str:
        """Describe a trigger, and remove the described keys from it."""
        kind = str(what.pop("trigger", what.pop("platform", "something")))
        _unfold(what, "options")
        if kind == "list" or (kind == "something" and "triggers" in what):
            return f"({self._triggers(what.pop('triggers', None))})"
        if kind in _HAPPENINGS:
            key, words = _HAPPENINGS[kind]
            return words.format(self._state(what.pop(key, None)))
        match kind:
            case "state":
                words = self._about(what)
                if "to" not in what:
                    words += " changes"
                elif (to := what.pop("to")) is None:
                    words += " changes its state"
                else:
                    words += f" turns {self._state(to)}"
                return words + (f" from {self._state(what.pop('from'))}" if "from" in what else "")
            case "numeric_state":
                return f"{self._about(what)} is{self._limits(what)}"
            case "time_pattern":
                return "the clock shows"
            case "zone":
                who, event = self._about(what), self._said(what.pop("event", "enter"))
                return f"{who} {event}s {self._state(what.pop('zone', None))}"
        about = self._about(what)
        return f"{about} {_kind(kind)}".strip()

    def _condition(self, what: dict[str, Any]) -> str:
        """Describe a condition, and remove the described keys from it."""
        kind = what.pop("condition", None)
        for key in SHORTHAND:
            if key in what or kind == key:
                words = self._conditions(what.pop(key, what.pop("conditions", None)), "or" if key == "or" else "and")
                return f"not ({words})" if key == "not" else f"({words})"
        _unfold(what, "options")
        match kind:
            case "state":
                match = what.pop("match", "all")
                return f"{'any of ' if match == 'any' else ''}{self._about(what)} is {self._state(what.pop('state', None))}"
            case "numeric_state":
                return f"{self._about(what)} is{self._limits(what)}"
            case "time" | "sun":
                said = {"after": "after", "before": "before", "weekday": "on"}
                times = [f"{words} {self._state(what.pop(key))}" for key, words in said.items() if key in what]
                return f"it is {' and '.join(times)}"
            case "zone":
                return f"{self._about(what)} is in {self._state(what.pop('zone', None))}"
            case "trigger":
                return f"it was set off by {self._state(what.pop('id', None))}"
            case "template":
                return f"{self._said(what.pop('value_template', None))} is true"
        about = self._about(what)
        return f"{about} {_kind(str(kind))}".strip()


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


def _unfold(what: dict[str, Any], key: str) -> None:
    """Move the values of an inner object to the outer one."""
    if isinstance(what.get(key), Mapping):
        what |= what.pop(key)


def _kind(kind: str) -> str:
    """Return a type of a trigger or condition in words."""
    return kind.replace(".", ": ").replace("_", " ")

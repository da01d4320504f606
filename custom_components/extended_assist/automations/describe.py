"""An automation in words: every trigger, condition, step and value that it has, as far as exposure allows.

Each part is taken out of a copy as it is told, and what is left over is told by its name: so nothing can be left out by
being forgotten here.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from homeassistant.const import (
    ATTR_AREA_ID,
    ATTR_DEVICE_ID,
    ATTR_ENTITY_ID,
    ATTR_FLOOR_ID,
    ATTR_LABEL_ID,
    CONF_ACTION,
    CONF_ALIAS,
    CONF_ENABLED,
    CONF_ID,
    CONF_SERVICE,
    CONF_SERVICE_DATA,
    CONF_SERVICE_DATA_TEMPLATE,
    CONF_TARGET,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import is_template_string

from ..actions.own_actions import PHONE, phone_action
from ..actions.own_parts import OwnParts
from ..exposure import ExposedEntity, Exposure
from ..secret_rule import is_secret_key
from ..walk import texts_in
from .edit import OLDER_KEYS
from .places import exposed_places

MAX_IN_SHORT = 300
"""Characters of a description in a list of automations."""
SAYS_NOTHING = {
    CONF_ID: "the id of the automation, which stays",
    CONF_ALIAS: "a name; the one of the automation is told with it",
    "description": "read by people only",
    "metadata": "kept by the editor",
    "trace": "how many runs are kept to look at",
}
"""Parts of an automation that change nothing of what it does, each with what it is."""

SECRET = "(secret)"  # noqa: S105 - what is told in the place of one

_SENT = (CONF_SERVICE_DATA, CONF_SERVICE_DATA_TEMPLATE)
_MESSENGERS = frozenset({"matrix", "notify", "telegram_bot"})
"""Domains whose actions send a message to the numbers, addresses and rooms in `target`."""
_RECIPIENTS = frozenset({"chat_id", "phone", "phone_number", "recipient", "recipients"})
"""What says who gets a message in the data of any action."""
_UNSEEN = "something not exposed"
_SHORTHAND = ("and", "or", "not")
_OF_PARTS = frozenset(
    {*_SHORTHAND, "choose", "conditions", "if", "parallel", "repeat", "sequence", "triggers", "wait_for_trigger"}
)
"""What holds parts of its own, each of which is told or not by itself."""
_OF_OTHERS = frozenset({"automation", "scene", "script"})
"""Kinds of entities that are called like the things they move."""
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
"""Triggers that are told by one of their values: which one, and the words around it."""
_DURATIONS = frozenset({"for", "offset", "timeout"})
_PLACES = {
    ATTR_AREA_ID: ("all of {}", "an area"),
    ATTR_FLOOR_ID: ("all of the floor {}", "a floor"),
    ATTR_LABEL_ID: ("all that is labelled {}", "a label"),
    ATTR_DEVICE_ID: ("the device {}", "a device"),
}
"""How a place is told, and one that holds nothing exposed."""


def names_hidden(exposure: Exposure, config: Mapping[str, Any]) -> bool:
    """Return whether any text in a configuration names something hidden."""
    return exposure.names_hidden(" ".join(text for text, _ in texts_in(config, keys=True)))


def without_recipients(step: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a step of an automation without the numbers and addresses that its message is sent to."""
    action = step.get(CONF_ACTION, step.get(CONF_SERVICE))
    if not isinstance(action, str):
        return step
    hides = _RECIPIENTS | ({CONF_TARGET} if action.strip().lower().partition(".")[0] in _MESSENGERS else set())
    sent = {key: data for key in _SENT if isinstance(data := step.get(key), Mapping) and hides & data.keys()}
    return {**step, **{key: {**data, **dict.fromkeys(hides & data.keys(), SECRET)} for key, data in sent.items()}}


def without_all_recipients(value: Any) -> Any:
    """Return a value with every step in it as without_recipients has it."""
    if isinstance(value, Mapping):
        return {key: without_all_recipients(item) for key, item in without_recipients(value).items()}
    return list(map(without_all_recipients, value)) if isinstance(value, list) else value


class AutomationDescriber:
    """Describes automations in words, as far as exposure allows."""

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

    def in_short(self, config: Mapping[str, Any]) -> str:
        """Describe an automation for a list, in at most MAX_IN_SHORT characters."""
        text = self.describe(config)
        return text if len(text) <= MAX_IN_SHORT else f"{text[: MAX_IN_SHORT - 1]}…"

    def describe(self, config: Mapping[str, Any]) -> str:
        """Describe all that an automation does: when, if, then, and how it runs."""
        when, steps, rest = self.pieces(config)
        actions = ", then ".join(filter(None, (words for words, _ in steps)))
        return ", ".join(filter(None, [*when, actions or "nothing", rest]))

    def pieces(self, config: Mapping[str, Any]) -> tuple[list[str], list[tuple[str, Any]], str]:
        """Describe when an automation runs, each of its steps beside the step itself, and how it runs."""
        self._is_free = not names_hidden(self._exposure, config)
        what = {key: value for key, value in config.items() if key not in SAYS_NOTHING}
        for key, older in OLDER_KEYS.items():
            if older in what:
                what.setdefault(key, what.pop(older))
        self._own = OwnParts.of(self._hass, self._exposure, what).scenes
        triggers = self._triggers(what.pop("triggers", None))
        conditions = self._conditions(what.pop("conditions", None))
        steps = [(self._part(item, self._step), item) for item in items_of(what.pop("actions", None))]
        when = [f"When {triggers}" if triggers else "When it is run", f"if {conditions}" if conditions else ""]
        return when, steps, self._seen(self._rest(what))

    def _triggers(self, value: Any) -> str:
        """Describe triggers, any of which will do."""
        return _listed([self._part(item, self._trigger) for item in items_of(value)], "or")

    def _conditions(self, value: Any, last: str = "and") -> str:
        """Describe conditions."""
        return _listed([self._part(item, self._condition) for item in items_of(value)], last)

    def _steps(self, value: Any) -> str:
        """Describe actions, one after the other."""
        return ", then ".join(filter(None, (self._part(item, self._step) for item in items_of(value))))

    def _part(self, part: Any, describe: Callable[[dict[str, Any]], str]) -> str:
        """Describe a trigger, condition or step, and whether it is switched off."""
        if not isinstance(part, Mapping):  # The short form of a template condition.
            return self._seen(f"{part} is true")
        told = part if self._tells_recipients else without_recipients(part)
        what = {key: value for key, value in told.items() if key not in SAYS_NOTHING or key == CONF_ID}
        enabled, is_of_parts = what.pop(CONF_ENABLED, True), bool(_OF_PARTS & what.keys())
        lasting = f" for {self._valued('for', what.pop('for'))}" if "for" in what else ""
        words = f"{describe(what)}{lasting}"
        if rest := self._rest(what):
            words = f"{words} ({rest})"
        if enabled is not True:
            words = f"[switched off: {words}]" if enabled is False else f"[only where {self._said(enabled)}: {words}]"
        # What is said about something hidden, such as the state that is waited for, is hidden with it.
        return _UNSEEN if _UNSEEN in words and not is_of_parts else self._seen(words)

    def _seen(self, words: str) -> str:
        """Return words, unless they are about something that is not exposed."""
        if self._exposure.visible_value(words) is None:
            return _UNSEEN
        if self._is_free:
            return words
        unnamed = words
        for own in self._own:
            unnamed = unnamed.replace(own.partition(".")[2], "")
        for known in self._known:
            if known in words:
                name = known.partition(".")[2]
                unnamed = unnamed.replace(known, "").replace(name, "", 1).replace(name.replace("_", " "), "", 1)
        return _UNSEEN if self._exposure.names_hidden(unnamed) else words

    def _trigger(self, what: dict[str, Any]) -> str:
        """Describe a trigger, and take what is told out of it."""
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
        """Describe a condition, and take what is told out of it."""
        kind = what.pop("condition", None)
        for key in _SHORTHAND:
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

    def _step(self, what: dict[str, Any]) -> str:
        """Describe a step of the actions, and take what is told out of it."""
        if "condition" in what or any(key in what for key in _SHORTHAND):
            return f"go on if {self._condition(what)}"
        for key, describe in self._kinds.items():
            if key in what:
                return describe(what, what.pop(key))
        if "action" not in what and "service" not in what:
            kind = str(what.pop("type", "do something")).replace("_", " ")
            if what.get("domain") == PHONE and (action := phone_action(self._hass, what.get(ATTR_DEVICE_ID))):
                return f"{kind} {self._about(what) if action not in self._known else ''} ({action})"
            return f"{kind} {self._about(what)}"
        action = self._said(what.pop("action", what.pop("service", None)))
        data = what.pop("data", None)
        where = dict(data) if isinstance(data, Mapping) else {}
        names = [self._about(where), self._about(what)]
        verb = action.partition(".")[2].replace("_", " ") or action
        about = " and ".join(filter(None, names))
        words = f"{verb} {about} ({action})" if about else f"{verb} ({action})"
        said = self._rest(where) if isinstance(data, Mapping) else self._said(data) if data is not None else ""
        return f"{words} with {said}" if said else words

    @cached_property
    def _kinds(self) -> Mapping[str, Callable[[dict[str, Any], Any], str]]:
        """Return how each step that is no action of an integration is described, by the key that tells it."""
        return {
            "wait_template": lambda _, value: f"wait until {self._said(value)}",
            "wait_for_trigger": lambda _, value: f"wait until {self._triggers(value)}",
            "delay": lambda _, value: f"wait {_duration(value)}",
            "variables": lambda _, value: f"set {self._said(value)}",
            "stop": lambda _, value: f"stop with '{self._said(value)}'",
            "set_conversation_response": lambda _, value: f"answer {self._said(value)}",
            "event": lambda _, value: f"fire the event {self._said(value)}",
            "scene": lambda _, value: f"turn on {self._about({ATTR_ENTITY_ID: value})}",
            "sequence": lambda _, value: f"({self._steps(value)})",
            "parallel": lambda _, value: f"at the same time ({self._branches(value)})",
            "choose": self._choose,
            "if": lambda what, value: f"if {self._conditions(value)}{self._ends(what)}",
            "repeat": self._repeat,
        }

    def _branches(self, value: Any) -> str:
        """Describe what is done side by side."""
        return "; ".join(self._steps(item) for item in items_of(value))

    def _choose(self, what: dict[str, Any], value: Any) -> str:
        """Describe ways of which the first that fits is taken."""
        ways = []
        for item in items_of(value):
            if not isinstance(item, Mapping):  # Home Assistant does not load it; it is listed as invalid.
                ways.append(self._said(item))
                continue
            way = {key: inner for key, inner in item.items() if key not in SAYS_NOTHING}
            words = f"if {self._conditions(way.pop('conditions', None))}, {self._steps(way.pop('sequence', None))}"
            ways.append(", ".join(filter(None, (words, self._rest(way)))))
        return f"choose ({'; '.join(ways)}{self._ends(what)})"

    def _repeat(self, _: dict[str, Any], value: Any) -> str:
        """Describe what is done again and again."""
        if not isinstance(value, Mapping):
            return f"repeat {self._said(value)}"
        loop = dict(value)
        steps = self._steps(loop.pop("sequence", None))
        ends = [f"{key} {self._conditions(loop.pop(key))}" for key in ("while", "until") if key in loop]
        ends += [f"{self._said(loop.pop('count'))} times"] if "count" in loop else []
        ends += [f"for each of {self._said(loop.pop('for_each'))}"] if "for_each" in loop else []
        return f"repeat {', '.join(filter(None, [*ends, self._rest(loop)]))}: ({steps})"

    def _ends(self, what: dict[str, Any]) -> str:
        """Describe the branches of a choice, and take them out of it."""
        return "".join(
            f", {words} ({self._steps(what.pop(key))})"
            for key, words in (("then", "then"), ("else", "else"), ("default", "else"))
            if key in what
        )

    def _about(self, what: dict[str, Any]) -> str:
        """Return names for what a part is about, and take them out of it; an empty text for nothing."""
        names: list[str] = []
        if (target := what.pop(CONF_TARGET, None)) is not None:
            inner = dict(target) if isinstance(target, Mapping) else {}
            names = [self._about(inner), self._rest(inner)] if inner else [self._said(target)]
        names += [self._entity(str(item)) for item in items_of(what.pop(ATTR_ENTITY_ID, None))]
        names += [self._place(key, str(item)) for key in _PLACES for item in items_of(what.pop(key, None))]
        words = _listed(list(dict.fromkeys(filter(None, names))), "and")
        return f"the {self._said(what.pop('attribute'))} of {words}" if words and "attribute" in what else words

    def _entity(self, item: str) -> str:
        """Return the name of an entity, with its id where others have the same name."""
        if is_template_string(item) or item in {"all", "none"}:
            return item
        if item in self._own:
            return f"the scene {item.partition('.')[2]}"
        if (entity := self._exposure.entity(item)) is None:
            return _UNSEEN
        name = _named(entity)
        return name if self._counts[name] == 1 else f"{name} ({item})"

    def _place(self, key: str, item: str) -> str:
        """Return the name of a place, with its id where others have the same name."""
        (told, unknown), names = _PLACES[key], self._names[key]
        if (name := names.get(item)) is None:
            return item if is_template_string(item) else unknown
        return told.format(name if list(names.values()).count(name) == 1 else f"{name} ({item})")

    @cached_property
    def _counts(self) -> Counter[str]:
        """Return how many exposed entities have each name."""
        return Counter(map(_named, self._exposure.entities.values()))

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
        return _listed(map(self._said, items), "or") or "nothing"

    def _rest(self, what: Mapping[Any, Any]) -> str:
        """Return all that is left, by its names; in YAML, these may be numbers."""
        return ", ".join(f"{str(key).replace('_', ' ')} {self._valued(str(key), value)}" for key, value in what.items())

    def _valued(self, key: str, value: Any) -> str:
        """Return the value of a name."""
        if is_secret_key(key) and value is not None:
            return SECRET
        return _duration(value) if key in _DURATIONS and isinstance(value, Mapping | int | float) else self._said(value)

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
                return _listed([self._said(item) for item in value], "and") or "nothing"
        if isinstance(value, str) and (entity := self._exposure.entity(value) if "." in value else None):
            return self._entity(entity.entity_id)
        return str(value)


def _named(entity: ExposedEntity) -> str:
    """Return the name of an entity, with its kind where it often has the name of what it moves."""
    return f"the {entity.domain} {entity.name}" if entity.domain in _OF_OTHERS else entity.name


def items_of(value: Any) -> list[Any]:
    """Return a list, or a single value as one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _unfold(what: dict[str, Any], key: str) -> None:
    """Put what is in an object of its own beside it."""
    if isinstance(what.get(key), Mapping):
        what |= what.pop(key)


def _kind(kind: str) -> str:
    """Return a type of a trigger or condition in words."""
    return kind.replace(".", ": ").replace("_", " ")


def _listed(words: Iterable[str], last: str) -> str:
    """Return words as a person lists them."""
    kept = [word for word in words if word]
    return f" {last} ".join(filter(None, (", ".join(kept[:-1]), *kept[-1:])))


def _duration(value: Any) -> str:
    """Return a duration."""
    if isinstance(value, Mapping):
        return " ".join(f"{amount} {unit}" for unit, amount in value.items() if amount) or "no time"
    return f"{value} s" if isinstance(value, int | float) else str(value)

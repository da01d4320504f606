"""Describe automations in words: every trigger, condition, step and value, as far as exposure allows."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, CONF_ALIAS, CONF_ENABLED, CONF_ID

from ..actions.automation_context import OwnParts
from ..ha_compat.mobile_app import PHONE, phone_action
from .describe_values import UNSEEN, ValueDescriber, duration, items_of, listed, names_hidden
from .edit import OLDER_KEYS
from .target_names import without_recipients

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
"""What holds parts of its own, each of which is told or not by itself."""
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


class ConditionDescriber(ValueDescriber):
    """Describes triggers and conditions, and whatever else may be switched off by itself."""

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
        return UNSEEN if UNSEEN in words and not is_of_parts else self._seen(words)

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


def _unfold(what: dict[str, Any], key: str) -> None:
    """Put what is in an object of its own beside it."""
    if isinstance(what.get(key), Mapping):
        what |= what.pop(key)


def _kind(kind: str) -> str:
    """Return a type of a trigger or condition in words."""
    return kind.replace(".", ": ").replace("_", " ")


MAX_IN_SHORT = 300
"""Characters of a description in a list of automations."""


class AutomationDescriber(ConditionDescriber):
    """Describes automations in words, as far as exposure allows."""

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

    def _steps(self, value: Any) -> str:
        """Describe actions, one after the other."""
        return ", then ".join(filter(None, (self._part(item, self._step) for item in items_of(value))))

    def _step(self, what: dict[str, Any]) -> str:
        """Describe a step of the actions, and take what is told out of it."""
        if "condition" in what or any(key in what for key in SHORTHAND):
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
            "delay": lambda _, value: f"wait {duration(value)}",
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

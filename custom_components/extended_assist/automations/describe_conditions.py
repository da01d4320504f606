"""The triggers and conditions of an automation in words.

Each part is taken out of a copy as it is told, and what is left over is told by its name: so nothing can be left out by
being forgotten here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from homeassistant.const import CONF_ALIAS, CONF_ENABLED, CONF_ID

from .describe_values import UNSEEN, ValueDescriber, items_of, listed
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

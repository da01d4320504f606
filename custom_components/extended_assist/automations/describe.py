"""A description of an automation in one line, naming only what is exposed."""

from collections.abc import Iterable, Mapping
import difflib
import json
from typing import Any

from homeassistant.const import ATTR_AREA_ID, ATTR_ENTITY_ID
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.template import is_template_string
from homeassistant.util.yaml import dump

from ..actions.targets import REFERENCES
from ..exposure import Exposure
from .edit import KEY_ORDER

MAX_DESCRIPTION = 300
"""Characters of an account: one sentence that a person can listen to."""
MAX_DIFF = 2_500
"""Characters of a diff, which is shown rather than spoken."""

_MAX_LISTED = 3
_UNSEEN = "something not exposed"
_STEPS = {
    "wait_template": "wait until a template is true",
    "wait_for_trigger": "wait for something",
    "variables": "",
    "stop": "stop",
    "repeat": "repeat some steps",
    "parallel": "do some things side by side",
    "set_conversation_response": "answer",
    "event": "fire an event",
}


class AutomationDescriber:
    """Describes automations in words, as far as exposure allows."""

    def __init__(self, exposure: Exposure) -> None:
        """Take the exposure that decides which entities are named."""
        self._exposure = exposure

    def describe(self, config: Mapping[str, Any]) -> str:
        """Describe an automation in one line of at most MAX_DESCRIPTION characters: when, if, then."""
        triggers = [
            self._seen(self._trigger(trigger)) for trigger in _objects(config.get("triggers", config.get("trigger")))
        ]
        conditions = [
            self._seen(self._condition(item)) for item in _items(config.get("conditions", config.get("condition")))
        ]
        actions = [self._seen(self._step(step)) for step in _objects(config.get("actions", config.get("action")))]
        parts = [
            f"When {_listed(triggers, 'or')}" if triggers else "When it is run",
            f"if {_listed(conditions, 'and')}" if conditions else "",
            _listed(actions, "then") or "nothing",
        ]
        text = ", ".join(filter(None, parts))
        return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…"

    def _seen(self, words: str) -> str:
        """Return words, unless they are about something that is not exposed."""
        return _UNSEEN if _UNSEEN in words or self._exposure.visible_value(words) is None else words

    def _trigger(self, trigger: Mapping[str, Any]) -> str:
        """Describe a trigger."""
        kind = str(trigger.get("trigger", trigger.get("platform", "something")))
        what = {**trigger, **_object(trigger.get("options"))}
        match kind:
            case "state":
                came = f" turns {_value(what['to'])}" if what.get("to") not in (None, []) else " changes"
                left = f" from {_value(what['from'])}" if what.get("from") else ""
                return f"{self._names(what)}{came}{left}{_lasting(what)}"
            case "numeric_state":
                return f"{self._names(what)} is{_limits(what)}{_lasting(what)}"
            case "time":
                return f"it is {_value(what.get('at'))}"
            case "sun":
                offset = f" ({what['offset']})" if what.get("offset") else ""
                return f"it is {what.get('event')}{offset}"
            case "time_pattern":
                every = [f"{key} {what[key]}" for key in ("hours", "minutes", "seconds") if key in what]
                return f"the clock shows {' '.join(every)}"
            case "zone":
                return f"{self._names(what)} {what.get('event', 'enter')}s a zone"
            case "template":
                return "a template becomes true"
            case "homeassistant":
                return f"Home Assistant goes through {what.get('event')}"
            case "device":
                return f"a device reports {str(what.get('type', 'something')).replace('_', ' ')}"
        target = _object(what.get("target"))
        about = self._names(target) if target else ""
        return f"{about} {kind.replace('.', ': ').replace('_', ' ')}".strip()

    def _condition(self, condition: Any) -> str:
        """Describe a condition, unless it names something not exposed."""
        return self._seen(self._held(condition))

    def _held(self, condition: Any) -> str:
        """Describe a condition, whatever it names."""
        if not isinstance(condition, Mapping):
            return "a template is true"
        kind = condition.get("condition")
        for key in ("and", "or", "not"):
            inner = condition.get(key) if key in condition else condition.get("conditions") if kind == key else None
            if inner is not None:
                words = _listed([self._condition(item) for item in _items(inner)], "or" if key == "or" else "and")
                return f"not ({words})" if key == "not" else f"({words})"
        what = {**condition, **_object(condition.get("options"))}
        match kind:
            case "state":
                return f"{self._names(what)} is {_value(what.get('state'))}{_lasting(what)}"
            case "numeric_state":
                return f"{self._names(what)} is{_limits(what)}"
            case "time" | "sun":
                said = {"after": "after", "before": "before", "weekday": "on"}
                return f"it is {' and '.join(f'{words} {_value(what[key])}' for key, words in said.items() if key in what)}"
            case "zone":
                return f"{self._names(what)} is in a zone"
            case "trigger":
                return "a certain trigger set it off"
            case "template":
                return "a template is true"
        target = _object(what.get("target"))
        return f"{self._names(target) if target else ''} {str(kind).replace('.', ': ').replace('_', ' ')}".strip()

    def _step(self, step: Mapping[str, Any]) -> str:
        """Describe a step of the actions."""
        for key, words in _STEPS.items():
            if key in step:
                return words
        if "delay" in step:
            return f"wait {_duration(step['delay'])}"
        if "choose" in step:
            return f"choose one of {len(_items(step['choose']))} ways"
        if "if" in step:
            then = _listed([self._step(inner) for inner in _objects(step.get("then"))], "then")
            return f"if {_listed([self._condition(item) for item in _items(step['if'])], 'and')}, {then}"
        if "sequence" in step:
            return _listed([self._step(inner) for inner in _objects(step["sequence"])], "then")
        if "condition" in step or {"and", "or", "not"} & step.keys():
            return f"go on if {self._condition(step)}"
        if "scene" in step:
            return f"turn on {self._names({ATTR_ENTITY_ID: step['scene']})}"
        if "device_id" in step:
            return f"{str(step.get('type', 'do something')).replace('_', ' ')} with a device"
        action = str(step.get("action", step.get("service", "something")))
        verb = action.partition(".")[2].replace("_", " ") or action
        where = {**_object(step.get("data")), **_object(step.get("target")), **step}
        named: dict[str, Any] = {key: where[key] for key in REFERENCES if key in where}
        return f"{verb} {self._names(named)} ({action})" if named else f"{verb} ({action})"

    def _names(self, target: Mapping[str, Any]) -> str:
        """Return names for what a part is about."""
        names = []
        for entity_id in _items(target.get(ATTR_ENTITY_ID)):
            entity = self._exposure.entity(str(entity_id))
            names.append(entity.name if entity else _UNSEEN)
        for area in _items(target.get(ATTR_AREA_ID)):
            areas = {entity.area for entity in self._exposure.entities.values()}
            known = {name for name in areas if name and name.casefold().replace(" ", "_") == area}
            names.append(f"all of {min(known)}" if known else "an area")
        names += [f"a {key.removesuffix('_id')}" for key in ("floor_id", "label_id", "device_id") if target.get(key)]
        return _listed(list(dict.fromkeys(names)), "and") or "something"


def diff(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    """Return the lines that change, with - and + in front, as in YAML."""
    found = difflib.unified_diff(_lines(before), _lines(after), n=1, lineterm="")
    changed = [line for line in found if not line.startswith(("---", "+++", "@@"))]
    text = "\n".join(changed)
    return text if len(text) <= MAX_DIFF else f"{text[:MAX_DIFF]}\n… ({len(text) - MAX_DIFF} more characters)"


def _lines(config: Mapping[str, Any] | None) -> list[str]:
    """Return a configuration as lines."""
    if config is None:
        return []
    plain = json.loads(json_dumps(config))
    return dump({key: plain[key] for key in KEY_ORDER if key in plain} | plain).splitlines()


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list."""
    return [item for item in _items(value) if isinstance(item, Mapping)]


def _items(value: Any) -> list[Any]:
    """Return a list, or a single value as one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _object(value: Any) -> Mapping[str, Any]:
    """Return an object, empty for anything else."""
    return value if isinstance(value, Mapping) else {}


def _listed(words: Iterable[str], last: str) -> str:
    """Return words as a person lists them."""
    kept = [word for word in words if word]
    if len(kept) > _MAX_LISTED:
        kept = [*kept[:_MAX_LISTED], f"{len(kept) - _MAX_LISTED} more"]
    separator = ", then " if last == "then" else f" {last} "
    return separator.join(kept) if last == "then" else separator.join(filter(None, (", ".join(kept[:-1]), *kept[-1:])))


def _value(value: Any) -> str:
    """Return a value as it is said."""
    words = []
    for item in _items(value):
        if isinstance(item, Mapping):
            words.append("a time of an entity")
        elif is_template_string(str(item)):
            words.append("a computed value")
        else:
            words.append({True: "on", False: "off"}[item] if isinstance(item, bool) else str(item))
    return _listed(words, "or")


def _lasting(what: Mapping[str, Any]) -> str:
    """Return for how long something must hold."""
    return f" for {_duration(what['for'])}" if what.get("for") else ""


def _limits(what: Mapping[str, Any]) -> str:
    """Return the limits of a number."""
    return " and".join(f" {key} {_value(what[key])}" for key in ("above", "below") if key in what) or " a number"


def _duration(value: Any) -> str:
    """Return a duration."""
    if isinstance(value, Mapping):
        return " ".join(f"{amount} {unit}" for unit, amount in value.items() if amount) or "no time"
    return (
        "a computed time" if is_template_string(str(value)) else f"{value} s" if isinstance(value, int) else str(value)
    )

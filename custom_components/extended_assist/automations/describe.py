"""Automations, scripts and scenes in words, and the lines that a change alters."""

from collections.abc import Callable, Iterable, Mapping
import difflib
from functools import cached_property
import json
from typing import Any, Final, override

from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, CONF_ENTITIES, CONF_NAME, CONF_SEQUENCE, CONF_STATE
from homeassistant.helpers.json import json_dumps
from homeassistant.util.yaml import dump

from ..actions.automation_context import OwnParts
from ..calls.call import ToolCall
from ..calls.plan import Part, Step
from ..confirmation.consequential import acts_of
from ..ha_compat.mobile_app import PHONE, phone_action
from ..results import cut
from .describe_values import SAYS_NOTHING, SHORTHAND, PartDescriber, duration, items_of, names_hidden
from .edit import KEY_ORDER, OLDER_KEYS

MAX_IN_SHORT = 300
"""Characters of a description in a list of automations."""


class AutomationDescriber(PartDescriber):
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
        """Describe a step, and remove the described keys from it."""
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
        """Return the functions that describe steps other than actions of integrations, by the key that identifies the step."""
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
            "parallel": lambda _, value: f"at the same time ({'; '.join(map(self._steps, items_of(value)))})",
            "choose": self._choose,
            "if": lambda what, value: f"if {self._conditions(value)}{self._ends(what)}",
            "repeat": self._repeat,
        }

    def _choose(self, what: dict[str, Any], value: Any) -> str:
        """Describe a choose step."""
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
        """Describe a repeat step."""
        if not isinstance(value, Mapping):
            return f"repeat {self._said(value)}"
        loop = dict(value)
        steps = self._steps(loop.pop("sequence", None))
        ends = [f"{key} {self._conditions(loop.pop(key))}" for key in ("while", "until") if key in loop]
        ends += [f"{self._said(loop.pop('count'))} times"] if "count" in loop else []
        ends += [f"for each of {self._said(loop.pop('for_each'))}"] if "for_each" in loop else []
        return f"repeat {', '.join(filter(None, [*ends, self._rest(loop)]))}: ({steps})"

    def _ends(self, what: dict[str, Any]) -> str:
        """Describe the branches of a step, and remove them from it."""
        return "".join(
            f", {words} ({self._steps(what.pop(key))})"
            for key, words in (("then", "then"), ("else", "else"), ("default", "else"))
            if key in what
        )


class ScriptDescriber(AutomationDescriber):
    """Describes scripts in words, as far as exposure allows."""

    @override
    def pieces(self, config: Mapping[str, Any]) -> tuple[list[str], list[tuple[str, Any]], str]:
        """Describe what a script is given, each of its steps beside the step itself, and how it runs."""
        self._is_free = not names_hidden(self._exposure, config)
        what = {key: value for key, value in config.items() if key not in SAYS_NOTHING}
        self._own = OwnParts.of(self._hass, self._exposure, what).scenes
        steps = [(self._part(item, self._step), item) for item in items_of(what.pop(CONF_SEQUENCE, None))]
        fields = what.pop("fields", None)
        given = self._seen(self._rest(fields) if isinstance(fields, Mapping) else self._said(fields)) if fields else ""
        when = f"When it is run, given {given}" if given else "When it is run"
        return [when], steps, self._seen(self._rest(what))


class SceneDescriber(AutomationDescriber):
    """Describes scenes in words, as far as exposure allows."""

    @override
    def describe(self, config: Mapping[str, Any]) -> str:
        """Describe all that a scene brings about."""
        (when,), brought, rest = self.pieces(config)
        words = "; ".join(dict.fromkeys(words for words, _ in brought))
        return ", ".join(filter(None, [f"{when}: {words or 'nothing'}", rest]))

    @override
    def pieces(self, config: Mapping[str, Any]) -> tuple[list[str], list[tuple[str, Any]], str]:
        """Describe what each entity is brought to, with all of its values, beside the step that would do it."""
        self._is_free = not names_hidden(self._exposure, config)
        what = {key: value for key, value in config.items() if key not in {*SAYS_NOTHING, CONF_NAME}}
        entities = what.pop(CONF_ENTITIES, None)
        kept = entities.items() if isinstance(entities, Mapping) else ()
        brought = [
            (
                self._brought(str(entity_id), values),
                {"action": "scene.apply", "data": {CONF_ENTITIES: {str(entity_id): values}}},
            )
            for entity_id, values in kept
        ]
        return ["When it is turned on"], brought, self._seen(self._rest(what))

    def _brought(self, entity_id: str, kept: Any) -> str:
        """Describe what one entity is brought to."""
        name = self._entity(entity_id)
        if self._exposure.entity(entity_id) is None:
            return name
        values = dict(kept) if isinstance(kept, Mapping) else {CONF_STATE: kept}
        words, rest = f"{name} {self._state(values.pop(CONF_STATE, None))}", self._rest(values)
        return self._seen(f"{words} ({rest})" if rest else words)


DESCRIBERS: Final[Mapping[str, type[AutomationDescriber]]] = {
    "automation": AutomationDescriber,
    "script": ScriptDescriber,
    "scene": SceneDescriber,
}


_WAITS_OR_DECIDES = frozenset({"and", "condition", "delay", "not", "or", "stop", "wait_for_trigger", "wait_template"})


def parts_of(
    call: ToolCall,
    kind: str,
    config: Mapping[str, Any],
    notes: Iterable[str] = (),
    *,
    told: Mapping[str, Any] | None = None,
    runs: bool = True,
    known: frozenset[str] = frozenset(),
) -> tuple[Part, ...]:
    """Return when it runs, its steps with what each would do, and notes; one that does not run does nothing.

    The words are those of what is told, where secrets were taken out of it. known are actions that may be named whatever they are.
    """
    describer = DESCRIBERS[kind](call.hass, call.exposure, known=known)
    when, steps, rest = describer.pieces(config if told is None else told)
    acts = [tuple(acts_of(call.hass, [step])) for _, step in describer.pieces(config)[1]] if runs else [()] * len(steps)
    if len(acts) != len(steps):  # Several that may not be named are told as one, which may be any of them.
        acts = [tuple(one for some in acts for one in some)] * len(steps)
    unknown = (Step(""),) if runs and "use_blueprint" in config else ()
    parts = [Part(words, says_when=True) for words in when if words]
    parts += [
        Part(words, does, says_when=_says_when(step)) for (words, step), does in zip(steps, acts, strict=True) if words
    ]
    return (*parts, *([Part(rest, unknown)] if rest else []), *(Part(words) for words in notes if words))


def _says_when(step: Any) -> bool:
    """Return whether a step decides when, or if, the ones after it are run."""
    return not isinstance(step, Mapping) or not _WAITS_OR_DECIDES.isdisjoint(step)


def shown(difference: str) -> str:
    """Return the lines that change as they are shown."""
    lines = difference.replace("```", "'''")
    return f"```diff\n{lines}\n```"


MAX_DIFF = 2_500
"""Characters of a diff, which is shown rather than spoken."""
MAX_PROSE = 200
"""Characters of a name or a description in it, which do nothing."""
_PROSE = frozenset({"alias", "description"})
_VALUES = frozenset({"data", "data_template", "event_data", "input", "target", "trigger_variables", "variables"})
"""Under these, no name makes a value prose."""


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
    plain = _short(json.loads(json_dumps(config)))
    return dump({key: plain[key] for key in KEY_ORDER if key in plain} | plain).splitlines()


def _short(value: Any, key: str = "") -> Any:
    """Return data whose names and descriptions are cut, so that the steps fit in."""
    if isinstance(value, dict):
        return {name: item if name in _VALUES else _short(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    return cut(value, MAX_PROSE, "words for people") if key in _PROSE and isinstance(value, str) else value

"""A script or a scene in words, by the rule of automations: each part is taken out of a copy as it is told."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, override

from homeassistant.const import CONF_ENTITIES, CONF_NAME, CONF_SEQUENCE, CONF_STATE

from ..actions.automation_context import OwnParts
from ..calls.call import ToolCall
from ..calls.plan import Part, Step
from ..confirmation.consequential import acts_of
from .describe import SAYS_NOTHING, AutomationDescriber
from .describe_values import items_of, names_hidden


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
            (self._brought(str(entity_id), values), _applying(str(entity_id), values)) for entity_id, values in kept
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


def _applying(entity_id: str, values: Any) -> dict[str, Any]:
    """Return the step that brings one entity to what a scene keeps of it."""
    return {"action": "scene.apply", "data": {CONF_ENTITIES: {entity_id: values}}}


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
    """Return whether a step says when the ones after it are done, or whether they are."""
    return not isinstance(step, Mapping) or not _WAITS_OR_DECIDES.isdisjoint(step)


def shown(difference: str) -> str:
    """Return the lines that change as they are shown."""
    lines = difference.replace("```", "'''")
    return f"```diff\n{lines}\n```"

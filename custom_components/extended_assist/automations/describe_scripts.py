"""A script or a scene in words, by the rule of automations: each part is taken out of a copy as it is told."""

from collections.abc import Mapping
from typing import Any, Final, override

from homeassistant.const import CONF_ENTITIES, CONF_NAME, CONF_SEQUENCE, CONF_STATE

from ..actions.own_parts import OwnParts
from .describe import AutomationDescriber
from .describe_conditions import SAYS_NOTHING
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

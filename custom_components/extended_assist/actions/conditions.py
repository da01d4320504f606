"""Check conditions and triggers: everything they read must be exposed and known beforehand."""

from collections.abc import Mapping
from typing import Any

from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID
from homeassistant.core import HomeAssistant, callback, valid_entity_id
from homeassistant.helpers import condition as condition_helper, entity_registry as er, trigger as trigger_helper
from homeassistant.helpers.template import is_template_string

from ..exposure.entities import Exposure, is_secret_key
from ..results import ToolError, place_of, texts_in
from .listed_triggers import BOUNDED, KEYS, REFUSED, ListedTriggers
from .targets import Expander, Fits, check_device, place_ids, texts
from .text_check import Texts

MAX_DEPTH = 8
"""The deepest nesting of steps and conditions."""

type Part = dict[str, Any]

NESTED = frozenset({"and", "or", "not"})
_DEVICE = frozenset({"device_id", "domain", "type", "subtype", "entity_id", "for", "above", "below"})
# The keys of each kind; Home Assistant could use any other key in an unchecked way.
CONDITIONS: Mapping[str, frozenset[str]] = {
    "device": _DEVICE,
    "numeric_state": frozenset({"entity_id", "attribute", "above", "below", "value_template"}),
    "state": frozenset({"entity_id", "state", "match", "attribute", "for"}),
    "sun": frozenset({"before", "before_offset", "after", "after_offset"}),
    "template": frozenset({"value_template"}),
    "time": frozenset({"before", "after", "weekday"}),
    "trigger": frozenset({"id"}),
    "zone": frozenset({"entity_id", "zone"}),
}
_TRIGGERS: Mapping[str, frozenset[str]] = {
    "calendar": frozenset({"entity_id", "event", "offset"}),
    "device": _DEVICE,
    "homeassistant": frozenset({"event"}),
    "numeric_state": frozenset({"entity_id", "attribute", "above", "below", "value_template", "for"}),
    "state": frozenset({"entity_id", "attribute", "from", "to", "not_from", "not_to", "for"}),
    "sun": frozenset({"event", "offset"}),
    "template": frozenset({"value_template", "for"}),
    "time": frozenset({"at", "weekday"}),
    "time_pattern": frozenset({"hours", "minutes", "seconds"}),
    "zone": frozenset({"entity_id", "zone", "event"}),
}
TRIGGERS: Mapping[str, frozenset[str]] = {**_TRIGGERS, **KEYS}
"""The keys that each kind of trigger may have in a stored automation."""
# Keys that take an entity in place of a number or a time.
_ENTITIES_TOO = frozenset({"above", "after", "at", "before", "below"})
_CONDITION_BASE = frozenset({"condition", "alias", "note", "enabled"})
_TRIGGER_BASE = frozenset({"trigger", "platform", "alias", "note", "enabled", "id", "variables"})


class ConditionWalker:
    """Checks conditions and triggers; returns them with entity ids in place of names."""

    def __init__(
        self, hass: HomeAssistant, exposure: Exposure, checked: Texts, listed: ListedTriggers, *, keep: bool
    ) -> None:
        """Store the checks; with `keep`, only ids that Home Assistant itself understands are accepted."""
        self._hass = hass
        self._exposure = exposure
        self._texts = checked
        self._listed = listed
        self._keep = keep
        self._triggers = TRIGGERS if keep else _TRIGGERS
        self._described: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})

    async def async_prepare(self) -> None:
        """Load the descriptions of the conditions and triggers that integrations provide."""
        self._described = (
            await condition_helper.async_get_all_descriptions(self._hass),
            await trigger_helper.async_get_all_descriptions(self._hass),
        )

    @callback
    def conditions(self, conditions: Any, place: str, depth: int = 0) -> list[Any]:
        """Check conditions; a single one counts as a list of one."""
        if isinstance(conditions, str | dict):
            conditions = [conditions]
        if not isinstance(conditions, list):
            raise ToolError(f"{place}: this must be a list of conditions.")
        return [self.condition(item, f"{place}[{index}]", depth) for index, item in enumerate(conditions)]

    @callback
    def condition(self, condition: Any, place: str, depth: int = 0) -> Part:
        """Check one condition, in any valid notation."""
        check_depth(depth, place)
        if isinstance(condition, str):
            if not is_template_string(condition):
                raise ToolError(f"{place}: a condition must be an object or a template.")
            condition = {"condition": "template", "value_template": condition}
        if not isinstance(condition, dict):
            raise ToolError(f"{place}: a condition must be an object or a template.")
        if shorthand := NESTED & condition.keys():
            (key,) = shorthand if len(shorthand) == 1 else ("",)
            return self._nested(condition, key, _CONDITION_BASE - {"condition"}, place, depth)
        kind = condition.get("condition")
        if isinstance(kind, list):
            return self._nested(condition, "condition", _CONDITION_BASE, place, depth)
        if isinstance(kind, str) and kind in NESTED:
            return self._nested(condition, "conditions", _CONDITION_BASE, place, depth)
        if isinstance(kind, str) and is_template_string(kind):
            condition, kind = {**condition, "condition": "template", "value_template": kind}, "template"
        return self._checked(condition, kind, CONDITIONS, _CONDITION_BASE, place)

    def _nested(self, condition: Part, key: str, base: frozenset[str], place: str, depth: int) -> Part:
        """Check a condition that contains others under a key."""
        self._check_keys(condition, base | {key}, place)
        rest = {name: value for name, value in condition.items() if name != key}
        self._texts.check(rest, place)
        return rest | {key: self.conditions(condition.get(key), f"{place}.{key}", depth + 1)}

    @callback
    def triggers(self, triggers: Any, place: str, depth: int = 0) -> list[Part]:
        """Check triggers; nested lists are flattened."""
        check_depth(depth, place)
        checked = []
        for index, trigger in enumerate(triggers if isinstance(triggers, list) else [triggers]):
            where = f"{place}[{index}]"
            if not isinstance(trigger, dict):
                raise ToolError(f"{where}: a trigger must be an object.")
            if trigger.keys() == {"triggers"}:
                checked += self.triggers(trigger["triggers"], f"{where}.triggers", depth + 1)
                continue
            kind = trigger.get("trigger", trigger.get("platform"))
            checked.append(self._checked(trigger, kind, self._triggers, _TRIGGER_BASE, where))
        return checked

    def _checked(
        self, part: Part, kind: Any, known: Mapping[str, frozenset[str]], base: frozenset[str], place: str
    ) -> Part:
        """Check a condition or trigger against the keys of its kind."""
        is_trigger = known is self._triggers
        if isinstance(kind, str) and kind not in known and self._is_described(kind, is_trigger=is_trigger):
            return self._with_target(part, kind, self._described[is_trigger][kind], base, place)
        if not isinstance(kind, str) or kind not in known:
            what = "triggers" if is_trigger else "conditions"
            if is_trigger and isinstance(kind, str) and kind in REFUSED:
                raise ToolError(f"{place}: assistants cannot use a trigger of the type '{kind}': {REFUSED[kind]}.")
            raise ToolError(f"{place}: {what} of type {kind!r} cannot be checked. Use {', '.join(sorted(known))}.")
        if isinstance(options := part.get("options"), dict):
            # Home Assistant accepts the keys with and without `options` around them.
            part = {key: value for key, value in part.items() if key != "options"} | options
        self._check_keys(part, base | known[kind], place)
        if is_trigger and kind in KEYS:
            self._listed.check(kind, part, place)
        named = {key: part[key] for key in (ATTR_ENTITY_ID, "zone") if key in part}
        bounded = BOUNDED if is_trigger and kind in KEYS else frozenset()
        self._texts.check({key: value for key, value in part.items() if key not in named.keys() | bounded}, place)
        for key in _ENTITIES_TOO & part.keys():
            for text, path in texts_in(part[key], keys=True):
                if valid_entity_id(text) and not text.partition(".")[0].isdigit():
                    self._entity(text, place_of(f"{place}.{key}", path))
        if is_secret_key(str(part.get("attribute"))):
            raise ToolError(
                f"{place}: the attribute '{part['attribute']}' is never shown. Use another one, or the state."
            )
        if kind == "device":
            check_device(self._hass, self._exposure, str(part.get(ATTR_DEVICE_ID)), place)
        return part | {key: self._entities(value, f"{place}.{key}") for key, value in named.items()}

    def _is_described(self, kind: str, *, is_trigger: bool) -> bool:
        """Return whether an integration describes this kind, and it reads only its target or the sun."""
        description = self._described[is_trigger].get(kind)
        return description is not None and ("target" in description or kind.startswith("sun."))

    def _with_target(
        self, part: Part, kind: str, description: Mapping[str, Any], base: frozenset[str], place: str
    ) -> Part:
        """Check a condition or trigger with a target, such as light.is_on."""
        self._check_keys(part, base | {"target", "options"}, place)
        without = {"condition", "trigger", "platform", "target"}
        self._texts.check({key: value for key, value in part.items() if key not in without}, place)
        options = part.get("options") or {}
        if not isinstance(options, dict):
            raise ToolError(f"{place}.options: this must be an object.")
        self._check_keys(options, frozenset(description.get("fields") or ()), f"{place}.options")
        if "target" not in description:
            return part
        target = part.get("target")
        if not isinstance(target, dict):
            raise ToolError(f"{place}.target: name what it is about, such as {{'entity_id': 'light.lamp'}}.")
        fits = described_fits(kind, description)
        refuse_templates_in(target, f"{place}.target")
        found = Expander(self._hass, self._exposure, fits).expand(target, f"{place}.target")
        if not found.entity_ids:
            raise ToolError(f"{place}.target: this holds nothing exposed of that kind. Name entities instead.")
        if self._keep:
            check_written(self._hass, target, f"{place}.target", left_out=len(found.hidden | found.shared))
        self._texts.entity_ids |= found.entity_ids.keys()
        return part | {"target": {ATTR_ENTITY_ID: list(found.entity_ids)}}

    def _entities(self, value: Any, place: str) -> str | list[str]:
        """Return the entity ids of a condition or trigger, which may name them by id, registry id or name."""
        named = [part.strip() for text in texts(value, place) for part in text.split(",")]
        found = [self._entity(text, place) for text in named]
        self._texts.entity_ids |= set(found)
        return found[0] if isinstance(value, str) and len(found) == 1 else found

    def _entity(self, text: str, place: str) -> str:
        """Return the id of the one exposed entity that a text names."""
        refuse_templates_in(text, place)
        entry = er.async_get(self._hass).entities.get_entry(text)
        is_exposed = entry is not None and self._exposure.is_exposed(entry.entity_id)
        try:
            found = self._exposure.resolve(entry.entity_id if entry and is_exposed else text)
        except ToolError as err:
            raise ToolError(f"{place}: {err}") from err
        if len(found) > 1:
            raise ToolError(
                f"{place}: '{text}' means several: {', '.join(item.entity_id for item in found[:6])}. Write one of these."
            )
        (entity,) = found
        if self._keep and entry is None and text != entity.entity_id:
            raise ToolError(f"{place}: write the id {entity.entity_id} instead of '{text}'.")
        return entity.entity_id

    @staticmethod
    def _check_keys(part: Part, known: frozenset[str], place: str) -> None:
        """Refuse unknown keys: they are mistakes, or Home Assistant could use them in an unchecked way."""
        if unknown := [str(key) for key in part if key not in known]:
            raise ToolError(f"{place}: unknown here: {', '.join(unknown)}. Known: {', '.join(sorted(known - {''}))}.")


def described_fits(kind: str, description: Mapping[str, Any]) -> Fits:
    """Return the entities that a described condition or trigger accepts."""
    target = description["target"] or {}
    filters = tuple(target.get("entity") or ())
    domains = frozenset(one for wanted in filters for one in wanted.get("domain", ()))
    return Fits(kind, domains or None, filters, is_primary=target.get("primary_entities_only", True))


def check_depth(depth: int, place: str) -> None:
    """Raise ToolError for parts that are nested too deeply."""
    if depth > MAX_DEPTH:
        raise ToolError(f"{place}: nested more than {MAX_DEPTH} deep. Make it flatter.")


def refuse_templates_in(value: Any, place: str) -> None:
    """Raise ToolError for templates in references to entities."""
    for text in value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]:
        if isinstance(text, list | dict):
            refuse_templates_in(text, place)
        elif isinstance(text, str) and is_template_string(text):
            raise ToolError(
                f"{place}: what a template will name cannot be known beforehand. Name the entities themselves, all of "
                "them where it would be one of several."
            )


@callback
def check_written(hass: HomeAssistant, target: Mapping[str, Any], place: str, *, left_out: int) -> None:
    """Raise ToolError if Home Assistant would resolve a target to other entities than were checked."""
    if left_out:
        raise ToolError(f"{place}: this also means {left_out} not exposed. Name the entities instead, by id.")
    registry = er.async_get(hass)
    for key, value in target.items():
        for text in texts(value, f"{place}.{key}"):
            if key == ATTR_ENTITY_ID:
                known = hass.states.get(text) is not None or registry.entities.get_entry(text) is not None
                is_id = known or text in ("all", "none")
            else:
                is_id = place_ids(hass, key, text) == [text]
            if not is_id:
                raise ToolError(
                    f"{place}.{key}: '{text}' is not an id, and Home Assistant understands only ids here. Write the id."
                )

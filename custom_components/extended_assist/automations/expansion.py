"""Expand areas, floors, labels and devices of a configuration to entities, and give its own scenes unique names.

An area may get another entity tomorrow, and the automation would then move an entity that the user did not agree to. The result is
checked like any given configuration, so safety does not depend on this file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from homeassistant.const import ATTR_ENTITY_ID, CONF_TARGET
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import condition as condition_helper, entity_registry as er, trigger as trigger_helper
from homeassistant.helpers.template import is_template_string

from ..actions.automation_context import CREATE, marked, steps_in
from ..actions.check import ActionChecker
from ..actions.conditions import described_fits
from ..actions.targets import REFERENCES, Expander, Fits
from ..calls.call import ToolCall
from ..exposure.entities import Exposure
from ..ha_compat.automations import Blueprint, BlueprintException, DomainBlueprints
from ..results import ToolError
from .describe_values import items_of

_PARTS = ("actions", "conditions", "sequence", "triggers")

type _Meant = tuple[list[str], int]
"""The exposed entities of a target, and the number of its other entities."""


@dataclass(slots=True)
class ConfigExpander:
    """Expands the parts of one automation."""

    hass: HomeAssistant
    exposure: Exposure
    checker: ActionChecker
    conditions: Mapping[str, Any]
    """The conditions that integrations describe."""
    triggers: Mapping[str, Any]
    left_out: int = 0
    """Number of entities that are left out because they are not exposed."""
    _scenes: dict[str, str] = field(default_factory=dict)

    @callback
    def write(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return a configuration, or some of its keys, as it is to be written."""
        for step in steps_in([config.get("actions"), config.get("sequence")]):
            data = step.get("data")
            scene_id = data.get("scene_id") if isinstance(data, Mapping) else None
            if step.get("action", step.get("service")) == CREATE and isinstance(scene_id, str):
                self._scenes |= {scene_id: marked(scene_id), f"scene.{scene_id}": f"scene.{marked(scene_id)}"}
        return {key: self._part(value) if key in _PARTS else value for key, value in config.items()}

    def _part(self, part: Any) -> Any:
        """Return a part in which everything is expanded."""
        if isinstance(part, list):
            return [self._part(item) for item in part]
        if not isinstance(part, Mapping):
            return part
        changed = {key: value if key in ("data", "variables") else self._part(value) for key, value in part.items()}
        if (action := changed.get("action", changed.get("service"))) is not None:
            return self._renamed(self._aimed(changed, lambda target: self._acted_on(action, target), with_data=True))
        for described, kind in (
            (self.triggers, changed.get("trigger", changed.get("platform"))),
            (self.conditions, changed.get("condition")),
        ):
            if isinstance(kind, str) and "target" in (description := described.get(kind) or {}):
                fits = described_fits(kind, description)
                return self._aimed(changed, partial(meant, self.hass, self.exposure, fits))
        return self._renamed(changed)

    def _acted_on(self, action: Any, target: Mapping[str, Any]) -> _Meant | None:
        """Return the entities of a target that an action can act on."""
        found = self.checker.meant(self.exposure, action, target) if isinstance(action, str) else None
        return found and (list(found[0]), found[1])

    def _aimed(
        self, part: dict[str, Any], find: Callable[[dict[str, Any]], _Meant | None], *, with_data: bool = False
    ) -> dict[str, Any]:
        """Return a part whose target is expanded to entities."""
        places = [part.get(CONF_TARGET), *([part, part.get("data")] if with_data else [])]
        named = [
            {key: value for key, value in place.items() if key in REFERENCES} if isinstance(place, Mapping) else {}
            for place in places
        ]
        wanted: dict[str, list[Any]] = {}
        for place in named:
            for key, value in place.items():
                wanted.setdefault(key, []).extend(value if isinstance(value, list) else [value])
        values = [value for several in wanted.values() for value in several]
        if not values or any(
            not isinstance(value, str) or is_template_string(value) or value in self._scenes for value in values
        ):
            return part
        target = part.get(CONF_TARGET) or {}
        if not isinstance(target, Mapping) or target.keys() - REFERENCES:
            return part
        try:
            found = find(wanted)
        except ToolError:
            return part  # The check that follows raises the error with its place.
        if found is None or (found[0] == wanted.get(ATTR_ENTITY_ID) and wanted.keys() == {ATTR_ENTITY_ID}):
            return part
        self.left_out += found[1]
        written = {key: value for key, value in part.items() if not (with_data and key in REFERENCES)}
        if with_data and named[2]:
            written["data"] = {key: value for key, value in part["data"].items() if key not in REFERENCES}
        return {**written, CONF_TARGET: {ATTR_ENTITY_ID: found[0]}}

    def _renamed(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return a step with the new names of the automation's own scenes."""
        changed = dict(part)
        if isinstance(data := part.get("data"), Mapping) and part.get("action", part.get("service")) == CREATE:
            changed["data"] = {
                key: self._scenes.get(value, value) if key == "scene_id" else value for key, value in data.items()
            }
        for key in ("scene", ATTR_ENTITY_ID):
            if key in part:
                changed[key] = self._named(part[key])
        if isinstance(target := part.get(CONF_TARGET), Mapping) and ATTR_ENTITY_ID in target:
            changed[CONF_TARGET] = {**target, ATTR_ENTITY_ID: self._named(target[ATTR_ENTITY_ID])}
        return changed

    def _named(self, value: Any) -> Any:
        """Return entity ids in place of registry ids, and the new names of the automation's own scenes."""
        if isinstance(value, list):
            return [self._named(item) for item in value]
        if not isinstance(value, str):
            return value
        if "," in value and not is_template_string(value):
            return [self._named(part.strip()) for part in value.split(",")]
        entry = er.async_get(self.hass).entities.get_entry(value)
        is_known = entry is not None and self.exposure.is_exposed(entry.entity_id)
        return entry.entity_id if entry and is_known else self._scenes.get(value, value)

    async def async_inputs(self, blueprints: DomainBlueprints, path: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs of a blueprint, with targets expanded to entities that its selectors accept."""
        try:
            blueprint = (await blueprints.async_get_blueprints()).get(path)
        except BlueprintException:
            blueprint = None
        changed = dict(inputs)
        if not isinstance(blueprint, Blueprint):
            return changed
        for key, value in inputs.items():
            selector = (blueprint.inputs.get(key) or {}).get("selector")
            if not isinstance(selector, Mapping) or "target" not in selector or not isinstance(value, Mapping):
                continue
            # Integrations describe the filters of a target as lists; a selector may have single values.
            filters = [
                {name: wanted if isinstance(wanted, list) else [wanted] for name, wanted in one.items()}
                for one in items_of((selector["target"] or {}).get("entity") or [])
            ]
            fits = described_fits(key, {"target": {"entity": filters}})
            try:
                entity_ids, left_out = meant(self.hass, self.exposure, fits, value)
            except ToolError:
                continue
            if value != {ATTR_ENTITY_ID: entity_ids} and value != {ATTR_ENTITY_ID: entity_ids[0]}:
                changed[key] = {ATTR_ENTITY_ID: entity_ids}
                self.left_out += left_out
        return changed


async def async_expand(
    call: ToolCall, parts: Mapping[str, Any], blueprints: DomainBlueprints
) -> tuple[dict[str, Any], int]:
    """Return the expanded parts of an automation or script, and the number of entities that are left out."""
    written = ConfigExpander(
        call.hass,
        call.exposure,
        await ActionChecker.async_create(call),
        await condition_helper.async_get_all_descriptions(call.hass),
        await trigger_helper.async_get_all_descriptions(call.hass),
    )
    changed = written.write(parts)
    if isinstance(use := parts.get("use_blueprint"), Mapping) and isinstance(inputs := use.get("input"), Mapping):
        blueprint_inputs = await written.async_inputs(blueprints, str(use.get("path")), inputs)
        changed["use_blueprint"] = {**use, "input": blueprint_inputs}
    return changed, written.left_out


@callback
def meant(hass: HomeAssistant, exposure: Exposure, fits: Fits, target: Mapping[str, Any]) -> _Meant:
    """Return the exposed entities of a target, and the number of its other entities; raises ToolError if none is exposed."""
    found = Expander(hass, exposure, fits).expand(target)
    if not found.entity_ids:
        raise ToolError("target: this holds nothing exposed of that kind. Name entities instead.")
    return list(found.entity_ids), len(found.hidden | found.shared)

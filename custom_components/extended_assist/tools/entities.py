"""Find exposed entities."""

from collections.abc import Mapping
from functools import partial
from typing import Any, override

import voluptuous as vol

from homeassistant.helpers import config_validation as cv
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked
from ..exposure.entities import ExposedEntity
from ..exposure.fixed_values import is_fixed_attribute, is_fixed_name, is_fixed_state
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..results import fit_rows, size, to_csv

_COLUMNS = ("entity_id", "name", "area", "state", "unit")
_ALL_ATTRIBUTES = "*"
_LEFT_OUT = "(text: name it to read it)"
_NOTES = 300
"""Characters that are reserved for notes beside the table."""


def _row(call: ToolCall, entity: ExposedEntity, *, is_asked_for: bool) -> list[str]:
    """Return the row of an entity, without attributes; free text only where it is asked for."""
    is_told = is_asked_for or is_fixed_state(call.hass, entity.state)
    state = str(call.exposure.shown(entity)) if is_told else _LEFT_OUT
    return [entity.entity_id, entity.name, entity.area, state, entity.unit or ""]


def _has_free_text(call: ToolCall, entity: ExposedEntity, attributes: Mapping[str, Any], *, is_asked_for: bool) -> bool:
    """Return whether the row or the attributes of an entity hold free text."""
    hass, state = call.hass, entity.state
    if not is_fixed_name(hass, state) or (is_asked_for and not is_fixed_state(hass, state)):
        return True
    return not all(is_fixed_attribute(hass, state, name, value) for name, value in attributes.items())


class GetEntitiesTool(ExtendedTool):
    """Find exposed entities by name, alias, area or domain."""

    name = "extended_assist__get_entities"
    title = "Get entities"
    description = (
        "Find entities: CSV of entity id, name, area, state, unit. Filters combine. For entity ids, what is in an area, or "
        "attributes."
    )
    annotations = READ_ONLY
    family = "entities"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Optional("name", description="Entity id, name, alias, or words in them."): cv.string,
            vol.Optional("area", description="Name or alias."): cv.string,
            vol.Optional("domain", description="E.g. ['light', 'switch']."): vol.All(
                cv.ensure_list, [vol.All(cv.string, vol.Lower)]
            ),
            vol.Optional("attributes", description="To add, e.g. ['brightness']; ['*'] for all."): vol.All(
                cv.ensure_list, [cv.string]
            ),
            vol.Optional("offset", description="Skip so many, to read on after a cut."): vol.All(int, vol.Range(min=0)),
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Filter the exposed entities and list them."""
        arguments, exposure = call.arguments, call.exposure
        found = exposure.in_area(arguments["area"]) if "area" in arguments else list(exposure.entities.values())
        if "domain" in arguments:
            found = [entity for entity in found if entity.domain in arguments["domain"]]
        if "name" in arguments:
            found = exposure.search(arguments["name"], found)
            if not found and not {"area", "domain"} & arguments.keys():
                exposure.resolve(arguments["name"])  # Raises, naming the nearest.
        if not found:
            return {"count": 0, "note": "No exposed entity matches all filters. Try fewer filters."}

        is_asked_for = bool({"name", "domain"} & arguments.keys())
        unnamed = [] if is_asked_for else [entity for entity in found if not is_fixed_name(call.hass, entity.state)]
        found = [entity for entity in found if entity not in unnamed]
        offset = arguments.get("offset", 0)
        wanted = found[offset:]
        data: JsonObjectType = {"count": len(found)}
        to_row = partial(_row, call, is_asked_for=is_asked_for)
        attributes: dict[str, JsonObjectType] = {}
        if "attributes" in arguments:
            attributes = {entity.entity_id: self._attributes(call, entity) for entity in wanted}
            rows = fit_rows(
                ([*to_row(entity), " " * size(attributes[entity.entity_id])] for entity in wanted), call.budget - _NOTES
            )
            shown = wanted[: len(rows)]
            data["entities"] = to_csv(_COLUMNS, map(to_row, shown))
            data["attributes"] = {entity.entity_id: attributes[entity.entity_id] for entity in shown}
        else:
            rows = fit_rows(map(to_row, wanted), call.budget - _NOTES)
            data["entities"] = to_csv(_COLUMNS, rows)
        if left_out := len(wanted) - len(rows):
            data["note"] = f"{left_out} more; narrow the filters, or call again with offset {offset + len(rows)}."
        if unnamed:
            domains = ", ".join(sorted({entity.domain for entity in unnamed}))
            data["others"] = f"{len(unnamed)} more whose names others may have chosen; ask by domain: {domains}."
        tells = any(
            _has_free_text(call, entity, attributes.get(entity.entity_id, {}), is_asked_for=is_asked_for)
            for entity in wanted[: len(rows)]
        )
        return marked(data, when=tells)

    @staticmethod
    def _attributes(call: ToolCall, entity: ExposedEntity) -> JsonObjectType:
        """Return the wanted attributes that the assistant may see."""
        names = call.arguments["attributes"]
        return {
            name: value
            for name, value in call.exposure.visible_attributes(entity.state).items()
            if _ALL_ATTRIBUTES in names or name in names
        }

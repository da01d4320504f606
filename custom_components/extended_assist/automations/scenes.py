"""Scenes: the present state of exposed entities, as Home Assistant's own editor writes it and its scenes bring it back."""

from collections.abc import Iterable, Mapping
import json
from typing import Any, Final

import voluptuous as vol

from homeassistant.const import CONF_ENTITIES, CONF_ICON, CONF_NAME, CONF_STATE
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.json import json_dumps

from ..calls.desired_states import is_passed
from ..calls.settable_attributes import ASPECTS, NOT_KNOWN, STATE, aspects_of
from ..exposure.entities import Exposure
from ..exposure.groups import members_of
from ..ha_compat.automations import SCENE_PLATFORM_SCHEMA
from ..results import ToolError
from .check import MAX_NAME, check_line

MAX_ENTITIES = 100
"""Entities of one scene."""
SCENE_KEYS = (CONF_NAME, CONF_ENTITIES, CONF_ICON)
"""Keys that may be given."""
CONF_METADATA = "metadata"

NEVER_IN_SCENES: Final = frozenset({"camera", "date", "datetime", "lawn_mower", "siren", "time", "update", "valve"})
"""Kinds of entities with something to set that Home Assistant's scenes do not bring back."""
NOT_BROUGHT_BACK: Final[Mapping[str, frozenset[str]]] = {
    "media_player": frozenset({"group_members", "repeat", "shuffle"}),
    "water_heater": frozenset({"target_temp_high", "target_temp_low"}),
}
"""Attributes that can be set, but that Home Assistant's scenes do not restore."""


@callback
def captured(hass: HomeAssistant, exposure: Exposure, wanted: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the present state of exposed entities, by id, as scenes keep it; raises ToolError for what cannot be kept."""
    found: dict[str, dict[str, Any]] = {}
    for text in wanted:
        meant = exposure.resolve(text)
        if len(meant) > 1:
            listed = ", ".join(entity.entity_id for entity in meant[:6])
            raise ToolError(f"entities: '{text}' means {len(meant)} entities: {listed}. Name each by its entity id.")
        state = meant[0].state
        if problem := _problem(hass, exposure, state):
            raise ToolError(f"entities: {state.entity_id} cannot be in a scene: {problem}")
        found[state.entity_id] = kept(state)
    if not 0 < len(found) <= MAX_ENTITIES:
        raise ToolError(f"entities: give at least one and at most {MAX_ENTITIES} entities.")
    return found


def kept(state: State) -> dict[str, Any]:
    """Return the state of an entity, and what belongs to it that Home Assistant's scenes bring back."""
    left_out = NOT_BROUGHT_BACK.get(state.domain, frozenset())
    values = {name: value for aspect in aspects_of(state) for name, value in aspect.read(state).items()}
    plain: dict[str, Any] = json.loads(json_dumps(values))
    return {CONF_STATE: state.state} | {
        name: value for name, value in plain.items() if value is not None and name != STATE and name not in left_out
    }


def _problem(hass: HomeAssistant, exposure: Exposure, state: State) -> str | None:
    """Return why the present state of an entity cannot be kept, or None."""
    if state.domain not in ASPECTS or state.domain in NEVER_IN_SCENES:
        return f"Home Assistant's scenes bring back nothing of the kind {state.domain}. Leave it out."
    if state.state in NOT_KNOWN:
        return f"it is {state.state}. Leave it out, or try again later."
    if is_passed(state.state):
        return f"it is {state.state} at this moment. Try again when it has stopped."
    if any(not exposure.is_exposed(member) for member in members_of(hass, state.entity_id)):
        return "it would also move what is not exposed."
    if state.attributes.get("mode") == "password" or exposure.visible_value(kept(state)) != kept(state):
        return "its state is not told to assistants. Tell the user to add it in Home Assistant."
    return None


def check_scene_name(name: Any) -> None:
    """Raise ToolError if a name cannot be that of a scene."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise ToolError(f"Give the scene a name, as 'name', of at most {MAX_NAME} characters.")
    check_line(name, CONF_NAME)


def check_scene_keys(given: Mapping[str, Any]) -> None:
    """Raise ToolError for what a scene is not given."""
    if unknown := [str(key) for key in given if key not in SCENE_KEYS]:
        raise ToolError(f"Unknown: {', '.join(unknown)}. A scene is given {', '.join(SCENE_KEYS)}; states are taken.")
    entities = given.get(CONF_ENTITIES, [])
    if not isinstance(entities, list) or not all(isinstance(item, str) for item in entities):
        raise ToolError("entities: give a list of entity ids. Their present states are what the scene keeps.")


def checked_scene(name: Any, entities: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scene as it is written, without its id; raises ToolError for one that Home Assistant would not load."""
    scene = {CONF_NAME: name, CONF_ENTITIES: dict(entities), **more}
    try:
        cv.icon(scene.get(CONF_ICON, "mdi:palette"))
        SCENE_PLATFORM_SCHEMA(scene)
    except vol.Invalid as err:
        raise ToolError(f"Home Assistant does not accept this scene: {err}") from err
    return scene


def with_metadata(entities: Iterable[str]) -> dict[str, Any]:
    """Return the metadata that Home Assistant's editor keeps of entities that were chosen one by one, and not with their devices."""
    return {entity_id: {"entity_only": True} for entity_id in entities}

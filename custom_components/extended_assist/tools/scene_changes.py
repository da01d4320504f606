"""Scenes from the current states of entities."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from homeassistant.const import CONF_ENTITIES, CONF_ICON, CONF_NAME

from ..automations.check import refuse_untold
from ..automations.describe_scripts import SceneDescriber
from ..automations.diff import diff
from ..automations.duplicates import same_names
from ..automations.edit import add, merged, update
from ..automations.loading_scripts import SCENES
from ..automations.query import Automation, FileState, exposed_automations, visible_config
from ..automations.scenes import (
    CONF_METADATA,
    captured,
    check_scene_keys,
    check_scene_name,
    checked_scene,
    with_metadata,
)
from ..automations.secret_values import SecretValues
from ..calls.call import ToolCall
from ..calls.plan import Step
from ..confirmation.consequential import leaves
from ..confirmation.wording import step_for
from ..results import ToolError
from .planned_change import PlannedChange, asking

_HOLDS_HIDDEN = (
    "entities: this scene also holds something that is not exposed, which would be lost. Tell the user to change it in Home "
    "Assistant."
)


def plan_new_scene(call: ToolCall, scene_id: str, given: Mapping[str, Any]) -> PlannedChange:
    """Return the checked new scene, with the states of this moment."""
    refuse_untold(given)
    check_scene_keys(given)
    entities = captured(call.hass, call.exposure, given.get(CONF_ENTITIES, []))
    check_scene_name(given.get(CONF_NAME))
    icon = {CONF_ICON: given[CONF_ICON]} if given.get(CONF_ICON) else {}
    scene = checked_scene(given.get(CONF_NAME), entities, {**icon, CONF_METADATA: with_metadata(entities)})
    title = f"Save the scene '{scene[CONF_NAME]}'"
    account = f"{title}: {SceneDescriber(call.hass, call.exposure).describe(scene)}"
    known = exposed_automations(call, SCENES.domain)
    make = partial(add, config={"id": scene_id, **scene}, kind=SCENES.domain)
    notes = same_names(known, scene[CONF_NAME], scene_id)
    asks = _asks(call, entities)
    return PlannedChange(scene_id, title, account, diff(None, scene), make, scene, notes, SCENES, asks)


def plan_scene(call: ToolCall, scene: Automation, state: FileState, given: Mapping[str, Any]) -> PlannedChange:
    """Return the checked change of a scene: its name, its icon, or all of its entities anew."""
    refuse_untold(given)
    check_scene_keys(given)
    if not given or any(given.get(key, "") is None for key in (CONF_NAME, CONF_ENTITIES)):
        raise ToolError("Give at least one of name, icon and entities; only the icon can be removed with null.")
    if CONF_NAME in given:
        check_scene_name(given[CONF_NAME])
    changes, written = dict(given), state.configs[str(scene.id)]
    entities: dict[str, Any] = {}
    if CONF_ENTITIES in given:
        if any(not call.exposure.is_exposed(str(entity_id)) for entity_id in written.get(CONF_ENTITIES) or ()):
            raise ToolError(_HOLDS_HIDDEN)
        entities = captured(call.hass, call.exposure, given[CONF_ENTITIES])
        kept = {key: value for key, value in (written.get(CONF_METADATA) or {}).items() if key in entities}
        changes |= {CONF_ENTITIES: entities, CONF_METADATA: {**with_metadata(entities), **kept}}
    after = merged(written, changes)
    whole = merged(scene.config, changes)
    more = {CONF_ICON: after[CONF_ICON]} if CONF_ICON in after else {}
    checked_scene(after.get(CONF_NAME), whole.get(CONF_ENTITIES) or {}, more)
    visible, _ = visible_config(call, scene, state)
    told: Mapping[str, Any] = SecretValues(call.exposure, whole, state.secrets_of(scene)).without(whole)
    words = SceneDescriber(call.hass, call.exposure).describe(told)
    title = f"Change {', '.join(given)} of the scene '{scene.name}'"
    return PlannedChange(
        str(scene.id),
        title,
        f"{title}. Then '{after.get(CONF_NAME) or scene.name}': {words}",
        diff(visible, merged(visible, changes)),
        partial(update, automation_id=str(scene.id), changes=changes, kind=SCENES.domain, expected=written),
        whole,
        same_names(exposed_automations(call, SCENES.domain), after[CONF_NAME], scene.id) if CONF_NAME in given else [],
        SCENES,
        _asks(call, entities),
        told=told,
    )


def _asks(call: ToolCall, entities: Mapping[str, Any]) -> list[str]:
    """Return the sentences on the consequential states of a scene."""
    found: Iterable[Step] = (
        step_for(call, action, [entity_id], data) if action else Step("", words=entity_id)
        for action, entity_id, data in leaves(call.hass, Step("scene.apply", (), {CONF_ENTITIES: entities}))
    )
    return asking(call, found) if entities else []

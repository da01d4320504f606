"""Changes of scenes, and the planned changes of files that users confirm."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from homeassistant.const import CONF_ENTITIES, CONF_ICON, CONF_NAME
from homeassistant.core import callback
from homeassistant.util.json import JsonObjectType

from ..automations.check import CheckedAutomation, refuse_placeholders, same_names
from ..automations.describe import SceneDescriber, diff, parts_of, shown
from ..automations.edit import Edit, add, merged, update
from ..automations.loading import AUTOMATIONS, SCENES, ConfigFile, UsedBlueprint
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
from ..confirmation.consequential import is_consequential, leaves
from ..confirmation.wording import step_for
from ..results import ToolError

_HOLDS_HIDDEN = (
    "entities: this scene also holds something that is not exposed, which would be lost. Tell the user to change it in Home "
    "Assistant."
)


def plan_new_scene(call: ToolCall, scene_id: str, given: Mapping[str, Any]) -> PlannedChange:
    """Return the checked new scene, with the states of this moment."""
    refuse_placeholders(given)
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
    refuse_placeholders(given)
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


_WHO = {
    "automation": "turn it on and off, and set it off",
    "script": "run it",
    "scene": "turn it on",
}
_EXPOSED = (
    "It will be exposed to Assist: everyone who may talk to Assist, speakers included, can then {}. If they are not to, say "
    "that it is not to be exposed."
)
_NOT_EXPOSED = "It will not be exposed to Assist: nobody can {} by talking, and it cannot be changed from here."
_ASKS = (
    "It does what you are asked about elsewhere: {}. Extended Assist asks before it does that, but Assist's own sentences, "
    "dashboards and other automations do not."
)
_LOADED = "It is loaded, and exposed to you so that you can change it later."
_LOADED_UNSEEN = (
    "It is loaded, and not exposed to Assist, so that only the user can run or change it, in Home Assistant."
)
_NEXT = {
    "script": "From the next conversation on it is a tool of its own; until then run it with perform_action "
    "(script.turn_on) or execute_script.",
    "scene": "Turn it on with perform_action (scene.turn_on).",
}


@dataclass(slots=True)
class PlannedChange:
    """A checked change."""

    automation_id: str
    title: str
    """A short title."""
    account: str
    """A full description."""
    difference: str
    make: Callable[[str], Edit]
    whole: Mapping[str, Any]
    """The resulting or removed configuration."""
    notes: list[str] = field(default_factory=list)
    file: ConfigFile = AUTOMATIONS
    asks: list[str] = field(default_factory=list)
    """Sentences for the question only."""
    told: Mapping[str, Any] | None = None
    """The configuration without secrets, if it may have some."""
    blueprint: UsedBlueprint | None = None
    """The blueprint at the time of the check."""
    rehearsed: CheckedAutomation | None = None
    """The automation to simulate for the question."""
    entity_id: str = ""
    """The entity of an existing automation."""
    is_removal: bool = False
    is_broken: bool = False
    """Whether Home Assistant could not load it before, so that it need not load afterwards."""

    def step(self, call: ToolCall, action: str) -> Step:
        """Return the step to ask about before an action makes the change."""
        notes = [*self.asks, *self.notes]
        known = frozenset[str]() if self.is_removal else call.options.targetless_actions
        parts = parts_of(
            call, self.file.domain, self.whole, notes, told=self.told, runs=not self.is_removal, known=known
        )
        words = "\n".join([self.account, *notes])
        return Step(action, (), {}, words, title=self.title, parts=parts, shown=shown(self.difference))


def exposing(kind: str, *, expose: bool) -> str:
    """Return a sentence on what will be exposed and what that means."""
    return (_EXPOSED if expose else _NOT_EXPOSED).format(_WHO[kind])


def loaded(kind: str, *, expose: bool) -> list[str]:
    """Return remarks on the added part for the model."""
    return [_LOADED if expose else _LOADED_UNSEEN, *([_NEXT[kind]] if expose and kind in _NEXT else [])]


@callback
def asking(call: ToolCall, steps: Iterable[Step]) -> list[str]:
    """Return the sentences on steps of which some are consequential."""
    later = (("maybe", ""),)  # What the entities are now says nothing of then.
    told = [step.words for step in steps if is_consequential(call.hass, replace(step, frame=later))]
    return [_ASKS.format("; ".join(dict.fromkeys(told)))] if told else []


def noted(notes: list[str]) -> JsonObjectType:
    """Return notes, if there are any."""
    return {"notes": list(notes)} if notes else {}

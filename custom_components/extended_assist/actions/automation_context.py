"""What one automation defines itself: its choices, created scenes, variables and phone buttons."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import hashlib
import re
from typing import Any, Final

import jinja2
from jinja2 import nodes

from homeassistant.core import HomeAssistant, callback, valid_entity_id
from homeassistant.helpers.template import is_template_string

from ..calls.call import ToolCall
from ..exposure.entities import Exposure
from ..exposure.groups import members_of
from ..results import ToolError
from ..templates.render import environment
from .check import ResolvedAction, async_check_action
from .rules import APPLY
from .targets import texts
from .text_check import Texts, holds_template

CREATE: Final = "scene.create"
SNAPSHOT: Final = "snapshot_entities"

_BY_ENTITY = frozenset({"numeric_state", "state", "zone"})
"""Kinds of triggers whose trigger data names the entity that fired."""
_MARK = re.compile(r"(?P<name>[a-z0-9_]{1,60})_ea[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class OwnParts:
    """The buttons, scenes and trigger entities that an automation defines itself."""

    answers: frozenset[str] = frozenset()
    """Ids of the buttons in notifications that it sends."""
    scenes: frozenset[str] = frozenset()
    """Scenes that it creates from exposed entities only."""
    triggering: tuple[str, ...] = ()
    """The entities that can trigger it; empty if one of its triggers does not name its entity."""

    @classmethod
    @callback
    def of(cls, hass: HomeAssistant, exposure: Exposure, config: Mapping[str, Any]) -> OwnParts:
        """Read the config of an automation or script; its keys must have their current names."""
        answers, scenes = set[str](), set[str]()
        for step in steps_in([config.get("actions"), config.get("sequence")]):
            data = step.get("data")
            data = data if isinstance(data, Mapping) else {}
            if str(_action(step)).startswith("notify."):
                answers |= set(_buttons(data.get("data")))
            elif step.get("domain") == "mobile_app":
                answers |= set(_buttons(data))
            elif _action(step) == CREATE and marked(scene_id := str(data.get("scene_id"))) == scene_id:
                moved = {other for entity_id in kept_by(data) for other in (entity_id, *members_of(hass, entity_id))}
                scenes |= {f"scene.{scene_id}"} if all(map(exposure.is_exposed, moved)) else set()
        redefined = {"trigger"} & set(_defined(config))
        return cls(frozenset(answers), frozenset(scenes), () if redefined else _triggering(config.get("triggers")))


def marked(scene_id: str) -> str:
    """Return a scene id with a checksum suffix, so that it cannot equal the id of another scene."""
    if (found := _MARK.fullmatch(scene_id)) and marked(found["name"]) == scene_id:
        return scene_id
    return f"{scene_id}_ea{hashlib.sha256(scene_id.encode()).hexdigest()[:8]}"


def kept_by(data: Mapping[str, Any]) -> list[str]:
    """Return the entities of a scene that scene.create makes."""
    kept, entities = data.get(SNAPSHOT) or [], data.get("entities") or []
    listed = kept if isinstance(kept, list) else [kept]
    return [*map(str, listed), *map(str, entities if isinstance(entities, Mapping | list) else [entities])]


def steps_in(part: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping that can be a step; the data of actions is skipped."""
    if isinstance(part, Mapping):
        yield part
    inner = (
        [value for key, value in part.items() if key not in ("data", "data_template", "target", "variables")]
        if isinstance(part, Mapping)
        else part
        if isinstance(part, list)
        else ()
    )
    for item in inner:
        yield from steps_in(item)


def _action(step: Mapping[str, Any]) -> Any:
    return step.get("action", step.get("service"))


def _buttons(data: Any) -> Iterator[str]:
    """Yield the ids of a notification's buttons."""
    listed = data.get("actions") if isinstance(data, Mapping) else None
    for button in listed if isinstance(listed, list) else ():
        action = button.get("action") if isinstance(button, Mapping) else None
        if isinstance(action, str) and not is_template_string(action):
            yield action


def _triggering(triggers: Any) -> tuple[str, ...]:
    """Return the entities of triggers; empty if one trigger is of a kind that does not name its entity."""
    found: dict[str, None] = {}
    for trigger in triggers if isinstance(triggers, list) else [triggers]:
        if not isinstance(trigger, Mapping):
            return ()
        if trigger.keys() == {"triggers"}:
            if not (inner := _triggering(trigger["triggers"])):
                return ()
            found |= dict.fromkeys(inner)
            continue
        named = trigger.get("entity_id")
        if str(trigger.get("trigger", trigger.get("platform"))) not in _BY_ENTITY or not isinstance(named, str | list):
            return ()
        found |= dict.fromkeys(map(str, named if isinstance(named, list) else named.replace(" ", "").split(",")))
    return tuple(found)


def _defined(part: Any) -> Iterator[str]:
    """Yield the name of every variable that a part defines."""
    if isinstance(part, Mapping):
        for key, value in part.items():
            if key in ("variables", "trigger_variables") and isinstance(value, Mapping):
                yield from map(str, value)
            elif key == "response_variable":
                yield str(value)
            yield from _defined(value)
    elif isinstance(part, list):
        for item in part:
            yield from _defined(item)


OF_SCENES = frozenset({"scene.delete", "scene.turn_on"})
"""Actions that an automation may call on a scene of its own."""

_TRIGGERING = re.compile(r"\{\{-?\s*trigger\.entity_id\s*-?\}\}")
_CREATED = frozenset({"entities", "scene_id", SNAPSHOT})


@callback
def possible_target(checked: Texts, own: OwnParts, action: str, named: Any, place: str) -> list[str]:
    """Return the entities that a target can name, without the automation's own scenes.

    Raises ToolError for a template whose results are not known in advance.
    """
    found: list[str] = []
    for text in named if isinstance(named, list) else [named]:
        if not isinstance(text, str):
            raise ToolError(f"{place}: this must be an id, or a list of them. Write it so.")
        if not is_template_string(text):
            found += [] if action in OF_SCENES and text in own.scenes else [text]
        elif _TRIGGERING.fullmatch(text.strip()):
            if not own.triggering:
                raise ToolError(
                    f"{place}: trigger.entity_id is known only where every trigger is one of state, numeric_state or zone, and "
                    "no variable is called trigger. Name the entities themselves."
                )
            found += own.triggering
        elif not (choices := constant_choices(text)):
            raise ToolError(
                f"{place}: what a template will name cannot be known beforehand. Name the entities, or choose between constant "
                "ids, such as {{ 'light.a' if is_state('light.c', 'on') else 'light.b' }}."
            )
        else:
            checked.check(text, place)
            found += choices
    return list(dict.fromkeys(found))


def constant_choices(template: str) -> list[str]:
    """Return the entity ids between which a template chooses; empty if it can return anything else."""
    try:
        found = list(_chosen(environment().parse(template).body))
    except jinja2.TemplateError, RecursionError, ValueError:
        return []
    return found if all(map(valid_entity_id, found)) else []


def _chosen(body: list[nodes.Node]) -> Iterator[str]:
    """Yield the constants that a template body can return; raises ValueError if it can return anything else."""
    parts = [part for node in body for part in (node.nodes if isinstance(node, nodes.Output) else [node])]
    (part,) = (part for part in parts if not (isinstance(part, nodes.TemplateData) and not part.data.strip()))
    match part:
        case nodes.If(body=inner, elif_=others, else_=rest):
            for branch in (inner, *(other.body for other in others), rest):
                yield from _chosen(branch)
        case nodes.TemplateData(data=text):
            yield from map(str.strip, text.split(","))
        case nodes.Expr():
            yield from _constants(part)
        case _:
            raise ValueError


def _constants(node: nodes.Expr | None) -> Iterator[str]:
    """Yield the constants that an expression can return; raises ValueError if it can return anything else."""
    match node:
        case nodes.Const(value=str() as text):
            yield from map(str.strip, text.split(","))
        case nodes.CondExpr(expr1=one, expr2=other):
            yield from _constants(one)
            yield from _constants(other)
        case nodes.List(items=items):
            for item in items:
                yield from _constants(item)
        case _:
            raise ValueError


async def async_check_created(call: ToolCall, data: Mapping[str, Any], place: str) -> ResolvedAction:
    """Check the data of scene.create and return the action; raises ToolError unless all entities are exposed."""
    if unknown := [str(key) for key in data if key not in _CREATED]:
        raise ToolError(f"{place}.data: unknown here: {', '.join(unknown)}. Known: {', '.join(sorted(_CREATED))}.")
    if holds_template(data):
        raise ToolError(
            f"{place}.data: templates cannot be used in a scene. Name the entities and their values themselves."
        )
    if (scene_id := data.get("scene_id")) is None or marked(str(scene_id)) != scene_id:
        raise ToolError(
            f"{place}.data.scene_id: this could be a scene of somebody else, which would then be turned on. Name it "
            f"{marked(str(scene_id or 'before'))}."
        )
    entities = data.get("entities") or {}
    kept = texts(data.get(SNAPSHOT), f"{place}.data.{SNAPSHOT}")
    if not isinstance(entities, Mapping):
        raise ToolError(f"{place}.data.entities: this must be an object of entity ids and their states. Write it so.")
    states = dict.fromkeys(kept, "on") | dict(entities)
    try:
        resolved = await async_check_action(call, APPLY, {}, {"entities": states})
    except ToolError as err:
        raise ToolError(f"{place}: {err}") from err
    if not states or resolved.data != {"entities": states}:
        raise ToolError(
            f"{place}.data: this is no scene of exposed entities. Name each of them by its id, and groups by their members."
        )
    return ResolvedAction(
        "scene",
        "create",
        resolved.entity_ids,
        dict(data),
        targeted=False,
        supports_response=resolved.supports_response,
    )

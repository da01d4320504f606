"""Actions of an automation that only what it has itself makes known: what it chooses of, what it keeps, and its phones."""

from collections.abc import Iterator, Mapping
import re
from typing import Any

import jinja2
from jinja2 import nodes

from homeassistant.core import HomeAssistant, callback, valid_entity_id
from homeassistant.helpers.template import is_template_string

from ..calls.call import ToolCall
from ..results import ToolError
from ..templates.render import environment
from .automation_context import SNAPSHOT, OwnParts, marked
from .check import ResolvedAction, async_check_action
from .rules import APPLY
from .targets import texts
from .text_check import Texts, holds_template

OF_SCENES = frozenset({"scene.delete", "scene.turn_on"})
"""What may be done with a scene that the automation itself makes."""
PHONE = "mobile_app"

_TRIGGERING = re.compile(r"\{\{-?\s*trigger\.entity_id\s*-?\}\}")
_CREATED = frozenset({"entities", "scene_id", SNAPSHOT})


@callback
def possible_target(checked: Texts, own: OwnParts, action: str, named: Any, place: str) -> list[str]:
    """Return the entities that a target may come to name, without scenes of the automation's own.

    Raises ToolError for a template whose entities are not known beforehand.
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
    """Return the entities of which a template is sure to name one or several; none where it may name others."""
    try:
        found = list(_chosen(environment().parse(template).body))
    except jinja2.TemplateError, RecursionError, ValueError:
        return []
    return found if all(map(valid_entity_id, found)) else []


def _chosen(body: list[nodes.Node]) -> Iterator[str]:
    """Yield the values that the one thing in a body may become; raises ValueError where that is not one of constants."""
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
    """Yield the values that an expression may have; raises ValueError where that is not one of constants."""
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
    """Return the making of a scene of exposed entities, as it is written; raises ToolError."""
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


@callback
def phone_action(hass: HomeAssistant, device_id: Any) -> str | None:
    """Return the action that sends a message to a phone with the app, given by its device."""
    # Looked up where its own functions look: importing these would have Home Assistant load what they need, the cloud included.
    known: Mapping[str, Any] = hass.data.get(PHONE) or {}
    ids = [key for key, device in (known.get("devices") or {}).items() if device.id == device_id]
    targets = known["notify"].registered_targets if ids and known.get("notify") else {}
    return next((f"notify.{name}" for name, target in targets.items() if target in ids), None)

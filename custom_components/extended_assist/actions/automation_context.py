"""What an automation itself sends, keeps and is set off by, which its other parts may go by."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import hashlib
import re
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.template import is_template_string

from ..exposure.entities import Exposure
from ..exposure.groups import members_of

CREATE: Final = "scene.create"
SNAPSHOT: Final = "snapshot_entities"

_BY_ENTITY = frozenset({"numeric_state", "state", "zone"})
"""Kinds of triggers that tell which of the entities that they name set them off."""
_MARK = re.compile(r"(?P<name>[a-z0-9_]{1,60})_ea[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class OwnParts:
    """What an automation itself sends, keeps and is set off by."""

    answers: frozenset[str] = frozenset()
    """Ids of the buttons under messages that it sends."""
    scenes: frozenset[str] = frozenset()
    """Scenes of exposed entities that it makes."""
    triggering: tuple[str, ...] = ()
    """The entities that set it off, where each of its triggers tells which one did."""

    @classmethod
    @callback
    def of(cls, hass: HomeAssistant, exposure: Exposure, config: Mapping[str, Any]) -> OwnParts:
        """Read an automation or script, in the present names of its keys."""
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
    """Return the id of a scene with a mark, so that it is never that of a scene that somebody else made."""
    if (found := _MARK.fullmatch(scene_id)) and marked(found["name"]) == scene_id:
        return scene_id
    return f"{scene_id}_ea{hashlib.sha256(scene_id.encode()).hexdigest()[:8]}"


def kept_by(data: Mapping[str, Any]) -> list[str]:
    """Return the entities of a scene that is made."""
    kept, entities = data.get(SNAPSHOT) or [], data.get("entities") or []
    listed = kept if isinstance(kept, list) else [kept]
    return [*map(str, listed), *map(str, entities if isinstance(entities, Mapping | list) else [entities])]


def steps_in(part: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object that stands where a step may stand; what an action is given as data is none."""
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
    """Yield the ids of the buttons under a message."""
    listed = data.get("actions") if isinstance(data, Mapping) else None
    for button in listed if isinstance(listed, list) else ():
        action = button.get("action") if isinstance(button, Mapping) else None
        if isinstance(action, str) and not is_template_string(action):
            yield action


def _triggering(triggers: Any) -> tuple[str, ...]:
    """Return the entities that triggers name; nothing where one of them is of a kind that does not tell which it was."""
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
    """Yield every name that a part gives to a variable."""
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

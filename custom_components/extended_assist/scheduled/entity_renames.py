"""Update of the entity ids in a task when an entity id changes."""

import re
from typing import Any

from homeassistant.helpers.template import is_template_string

from .scheduled_task import ScheduledTask

_NO_IDS = frozenset({"action", "service"})
"""Keys with an action's name: a script's action looks like its entity id but does not change with it."""


def rename(task: ScheduledTask, old: str, new: str) -> bool:
    """Replace an entity id everywhere in a task; return whether the task changed."""
    before = task.when.triggers, task.conditions, [part.actions for part in task.what.parts], task.audience.target
    task.what.things = {new if key == old else key: thing for key, thing in task.what.things.items()}
    after = _renamed(before, old, new)
    task.when.triggers, task.conditions, actions, task.audience.target = after
    for part, renamed in zip(task.what.parts, actions, strict=True):
        part.actions = renamed
    if (watch := task.when.watch) is not None and old in watch.entity_ids:
        watch.entity_ids = _renamed(watch.entity_ids, old, new)
        return True
    return bool(after != before)


def _renamed(value: Any, old: str, new: str) -> Any:
    """Return a value with an entity id replaced, also inside templates and comma-separated lists."""
    if isinstance(value, dict):
        return {
            _renamed(key, old, new): item if key in _NO_IDS else _renamed(item, old, new) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(_renamed(item, old, new) for item in value)
    if not isinstance(value, str) or old not in value:
        return value
    if is_template_string(value):
        return re.sub(rf"(?<![\w.])(states\.)?{re.escape(old)}(?!\w)", lambda found: (found[1] or "") + new, value)
    return ",".join(part.replace(old, new) if part.strip() == old else part for part in value.split(","))

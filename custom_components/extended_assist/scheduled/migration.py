"""Migration of the delayed actions that the first release stored."""

from collections.abc import Mapping
from typing import Any, Final

from ..const import DOMAIN
from ..storage import NUMBER, TEXT_OR_NONE, shape
from .scheduled_task import Owner, Progress, ScheduledTask, What, When

KEY: Final = f"{DOMAIN}.schedule"
VERSION: Final = 1

_OWNER: Final = ("entry_id", "platform", "assistant", "language", "device_id", "user_id", "conversation_id")
_STEP: Final = ("action", "entity_ids", "data", "targeted")
_SCHEDULED = shape(
    {
        "due": NUMBER,
        "action": str,
        "entity_ids": [str],
        "data": dict,
        "targeted": bool,
        **dict.fromkeys(("entry_id", "platform", "assistant", "id"), str),
        **dict.fromkeys(("language", "device_id", "user_id"), TEXT_OR_NONE),
    },
    {"conversation_id": TEXT_OR_NONE},
)
_STORED = shape({"waiting": [_SCHEDULED], "outcomes": [shape({"scheduled": _SCHEDULED, "result": str})]})


def task_of(scheduled: Mapping[str, Any]) -> ScheduledTask:
    """Return a stored delayed action as a task; the user agreed to its consequential actions when it was made.

    Raises vol.Invalid if the data is not such an action.
    """
    item = _SCHEDULED(scheduled)
    return ScheduledTask(
        name=item["action"].partition(".")[2].replace("_", " ").capitalize(),
        owner=Owner(**{"conversation_id": None} | {key: item[key] for key in _OWNER if key in item}),
        when=When(moment=item["due"]),
        what=What(actions=[{key: item[key] for key in _STEP}]),
        agreed=True,
        progress=Progress(due=item["due"]),
        id=item["id"],
    )


def read_scheduled(stored: Any) -> list[ScheduledTask]:
    """Return the waiting actions and the ended ones with their results as tasks; raises vol.Invalid."""
    if stored is None:
        return []
    valid = _STORED(stored)
    return [*map(task_of, valid["waiting"]), *(_ended(item["scheduled"], item["result"]) for item in valid["outcomes"])]


def _ended(scheduled: Mapping[str, Any], result: str) -> ScheduledTask:
    """Return an ended action as a task with its result."""
    task = task_of(scheduled)
    due = scheduled["due"]
    task.progress = Progress(last=due, times=1, result=result, ended=due)
    return task

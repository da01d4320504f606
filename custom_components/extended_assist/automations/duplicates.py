"""Point out automations that a new one repeats."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..exposure.entities import normalize
from .check import CheckedAutomation
from .query import Automation

_SHARED = 0.75
"""The part of the entities, of both together, that two close automations have in common."""


def warnings_of(known: Iterable[Automation], checked: CheckedAutomation, automation_id: str) -> list[str]:
    """Return warnings about automations that have the same name or do nearly the same; compares them all."""
    others = [other for other in known if other.id != automation_id]
    name, kinds = normalize(str(checked.config.get("alias") or "")), _kinds(checked.whole)
    found = same_names(others, name, automation_id) if name else []
    for other in others:
        if (
            normalize(other.name) != name
            and _kinds(other.config) == kinds
            and (_same(other.config, checked.whole) or _close(set(other.used), checked.entity_ids))
        ):
            found.append(f"It is close to an existing one: {other.name} ({other.entity_id}).")
    return found


def same_names(known: Iterable[Automation], name: Any, own_id: str | None) -> list[str]:
    """Return warnings about others of a kind that have the same name."""
    wanted = normalize(str(name))
    return [
        f"Another {other.kind} has this name already: {other.entity_id}."
        for other in known
        if other.id != own_id and normalize(other.name) == wanted
    ]


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two automations do the same at the same time."""
    return all(_part(one, key) == _part(other, key) for key in ("triggers", "conditions", "actions"))


def _close(one: set[str], other: set[str]) -> bool:
    """Return whether two automations are about the same entities."""
    return bool(one & other) and len(one & other) >= _SHARED * len(one | other)


def _kinds(config: Mapping[str, Any]) -> set[str]:
    """Return the kinds of triggers."""
    triggers = [trigger for trigger in _part(config, "triggers") if isinstance(trigger, Mapping)]
    return {str(trigger.get("trigger", trigger.get("platform"))) for trigger in triggers}


def _part(config: Mapping[str, Any], key: str) -> list[Any]:
    """Return triggers, conditions or actions as a list, under the present or the older name."""
    value = config.get(key, config.get(key.removesuffix("s")))
    return value if isinstance(value, list) else [] if value is None else [value]

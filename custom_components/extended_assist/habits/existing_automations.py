"""What the automations that are on do already."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import batched
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.json import json_dumps
from homeassistant.util import dt as dt_util

from ..automations import COMPONENT
from ..confirmation.consequential import acts_of
from .days import DAY
from .habit import LEFT_ON, Habit
from .kinds import action

_SLICE: Final = 20
_NEAR: Final = 60.0
"""Minutes around a habit in which an automation does the same."""
_OTHER_TIMES: Final = frozenset({"sun", "time_pattern", "calendar", "template"})
"""Triggers that may come at any time."""


@dataclass(frozen=True, slots=True)
class Doer:
    """What an automation sets, and what sets it off."""

    acts: frozenset[tuple[str, str]]
    """Entities, each with an action."""
    triggers: str
    """All triggers, in one text."""
    minutes: tuple[float, ...]
    is_any_time: bool

    def does(self, habit: Habit) -> bool:
        """Return whether this does what a habit is about."""
        entity_id, state = habit.does
        domain, _, verb = action(entity_id, state)["action"].partition(".")
        if not {(entity_id, f"{domain}.{verb}"), (entity_id, f"{domain}.toggle")} & self.acts:
            return False
        if habit.cause is not None and f'"{habit.cause[0]}"' in self.triggers:
            return True
        if habit.what == LEFT_ON or (habit.minute is not None and self.is_any_time):
            return True
        return habit.minute is not None and any(_apart(habit.minute, minute) <= _NEAR for minute in self.minutes)


def _apart(one: float, other: float) -> float:
    """Return the minutes between two times of the day."""
    apart = abs(one - other) % DAY
    return min(apart, DAY - apart)


async def async_doers(hass: HomeAssistant) -> list[Doer]:
    """Return the acts of the automations that are on; those that are off do nothing."""
    component = hass.data.get(COMPONENT)
    found: list[Doer] = []
    for some in batched(list(component.entities) if component else (), _SLICE, strict=False):
        for entity in some:
            script = getattr(entity, "action_script", None)
            if script is not None and entity.is_on:
                found.append(_doer(hass, entity.raw_config or {}, script.sequence))
        await asyncio.sleep(0)
    return found


def _doer(hass: HomeAssistant, config: Mapping[str, Any], sequence: Any) -> Doer:
    """Return the acts of one automation."""
    acts = {(entity_id, step.action) for step in acts_of(hass, sequence) for entity_id in step.entity_ids}
    given = config.get("triggers", config.get("trigger")) or []
    triggers = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, Mapping)]
    minutes, is_any_time = [], False
    for trigger in triggers:
        kind = trigger.get("trigger", trigger.get("platform"))
        is_any_time = is_any_time or kind in _OTHER_TIMES
        at = trigger.get("at") if kind == "time" else []
        for one in at if isinstance(at, list) else [at]:
            parsed = dt_util.parse_time(str(one)) if isinstance(one, str | int) else None
            if parsed is None:
                is_any_time = True
            else:
                minutes.append(parsed.hour * 60 + parsed.minute)
    return Doer(frozenset(acts), _resolved(hass, triggers), tuple(minutes), is_any_time)


def _resolved(hass: HomeAssistant, triggers: list[Mapping[str, Any]]) -> str:
    """Return triggers as a text, in which entities stand by their ids."""
    registry = er.async_get(hass)

    def resolve(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(key): resolve(one) for key, one in value.items()}
        if isinstance(value, list):
            return [resolve(one) for one in value]
        if not isinstance(value, str):
            return str(value)
        found = [er.async_resolve_entity_id(registry, one.strip()) or one.strip() for one in value.split(",")]
        return found if len(found) > 1 else found[0]

    return json_dumps(resolve(triggers))

"""The units of an automation: single triggers, conditions and steps, identified by their meaning.

A unit is compared by its parsed value, so neither its formatting nor the older name of a key makes it another one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from homeassistant.helpers.template import is_template_string

from ..results import texts_in
from .describe_values import items_of
from .query import NOT_EXPOSED
from .secret_values import SECRET, without_all_recipients

LISTS = ("triggers", "conditions", "actions")
"""The parts that are lists of units."""

_OLDER = {"service": "action", "platform": "trigger"}
_PLAIN = frozenset(
    {
        *("action", "service", "target", "entity_id", "data", "data_template", "metadata"),
        *("alias", "note", "enabled", "continue_on_error"),
    }
)
_GATES = frozenset({"automation", "conversation", "group", "homeassistant", "python_script", "scene", "script"})
"""Domains whose actions can take long, answer by failing, or stop the very run."""
_DEVICE_ACTION = frozenset({"device_id", "domain", "type"})
_BRANCHES = frozenset({"then", "else", "default", "sequence", "parallel"})
_AROUND = frozenset({"if", "choose", "conditions", "alias", "note", "enabled", "continue_on_error", "metadata"})


def meaning(value: Any) -> str:
    """Return a text that is the same for values that mean the same; 1, 1.0, true and '1' mean different things."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{meaning(key)}: {meaning(item)}' for key, item in value.items()))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(meaning, value))}]"
    return repr(str(value)) if isinstance(value, str) else f"{type(value).__name__} {value!r}"


def unit_meaning(unit: Any) -> str:
    """Return the meaning of a unit, whichever names its own keys have."""
    if not isinstance(unit, Mapping):
        return meaning(unit)
    return meaning({key if (newer := _OLDER.get(key, key)) in unit else newer: value for key, value in unit.items()})


def matched[T](old: Sequence[T], new: Sequence[T], of: Callable[[T], str] = unit_meaning) -> dict[int, int]:
    """Return the index in the old list for each index in the new list whose unit means the same; each old unit is used once."""
    free: dict[str, list[int]] = {}
    for index, unit in enumerate(old):
        free.setdefault(of(unit), []).append(index)
    return {index: places.pop(0) for index, unit in enumerate(new) if (places := free.get(of(unit)))}


def put_back(given: Mapping[str, Any], told: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """Return given parts, in which each unit that repeats the placeholders of its description is replaced by the written unit.

    Units whose descriptions are equal are replaced only if all of them are given.
    """
    back = dict(given)
    for key in LISTS:
        if not isinstance(given.get(key), list) or not any(map(holds_placeholder, given[key])):
            continue
        old, seen = items_of(written.get(key)), items_of(told.get(key))
        places = matched(seen, given[key]) if len(seen) == len(old) else {}
        back[key] = [
            old[places[index]]
            if holds_placeholder(unit) and index in places and _is_certain(places, seen, old, places[index])
            else unit
            for index, unit in enumerate(given[key])
        ]
    return back


def as_displayed(given: Mapping[str, Any], back: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """Return parts as they are to be written, except for units with hidden values, which stay as they were given."""
    told = dict(given)
    for key, value in given.items():
        if key in LISTS and isinstance(value, list):
            units_of = zip(value, back[key], written[key], strict=True)
            told[key] = [new if unit == own else unit for unit, own, new in units_of]
        elif value == back[key]:
            told[key] = written[key]
    return told


def without_stored_recipients(
    whole: Mapping[str, Any], given: Mapping[str, Any], back: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return a changed automation or script without the recipients of messages, except for those that the caller gave."""
    if "use_blueprint" in given:
        return whole
    told = dict(whole)
    for key, value in whole.items():
        if key not in given:
            told[key] = without_all_recipients(value)
        elif key in LISTS and isinstance(given[key], list):
            units_of = zip(given[key], back[key], value, strict=True)
            told[key] = [new if unit == own else without_all_recipients(new) for unit, own, new in units_of]
    return told


def _is_certain(places: Mapping[int, int], seen: list[Any], old: list[Any], place: int) -> bool:
    """Return whether no other unit has this description, or all units that have it are given or equal."""
    alike = {index for index, unit in enumerate(seen) if unit_meaning(unit) == unit_meaning(seen[place])}
    return alike <= {*places.values()} or len({meaning(old[index]) for index in alike}) == 1


def holds_placeholder(value: Any) -> bool:
    """Return whether a placeholder for a hidden value is anywhere in a value, or inside of a text."""
    return any(SECRET in text or NOT_EXPOSED in text for text, _ in texts_in(value, keys=True))


def computes(unit: Any) -> bool:
    """Return whether a unit can read the trigger of a run, or variables."""
    return any(is_template_string(text) for text, _ in texts_in(unit, keys=True)) or any(
        part.get("condition") == "trigger" for part in mappings_in(unit)
    )


def is_plain(step: Any) -> bool:
    """Return whether a step is a single action that does not affect whether the steps after it run."""
    if not isinstance(step, Mapping) or not isinstance(step.get("enabled", True), bool):
        return False
    if step.keys() >= _DEVICE_ACTION and not {"condition", "trigger", "platform"} & step.keys():
        return str(step["domain"]) not in _GATES
    action = step.get("action", step.get("service"))
    if step.keys() - _PLAIN or not isinstance(action, str) or is_template_string(action):
        return False
    return action.strip().lower().partition(".")[0] not in _GATES


def is_passed(step: Any) -> bool:
    """Return whether a run goes on after a step in any case: for plain actions, also in branches."""
    if is_plain(step):
        return True
    if not isinstance(step, Mapping) or step.keys() - _BRANCHES - _AROUND or not step.keys() & (_BRANCHES | {"choose"}):
        return False
    inner = [one for key in _BRANCHES & step.keys() for one in items_of(step[key])]
    return all(map(is_passed, inner)) and all(
        isinstance(option, Mapping) and all(map(is_passed, items_of(option.get("sequence"))))
        for option in items_of(step.get("choose"))
    )


def mappings_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object inside a value."""
    if isinstance(value, Mapping):
        yield value
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from mappings_in(item)

"""The triggers, conditions and steps of an automation, compared one by one, and the difference of two versions as lines.

They are compared by their parsed values, so formatting and older names of keys make no difference.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import difflib
import json
from typing import Any

from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.template import is_template_string
from homeassistant.util.yaml import dump

from ..results import cut, texts_in
from .edit import KEY_ORDER
from .query import NOT_EXPOSED
from .target_names import SECRET, without_all_recipients

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


def units(value: Any) -> list[Any]:
    """Return a list of units; a single one counts as a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]


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
    """Return which units of the new list are which of the old one, each at most once and in order, by their numbers."""
    free: dict[str, list[int]] = {}
    for index, unit in enumerate(old):
        free.setdefault(of(unit), []).append(index)
    return {index: places.pop(0) for index, unit in enumerate(new) if (places := free.get(of(unit)))}


def put_back(given: Mapping[str, Any], told: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """Return given parts, with each unit that was told with something left out, and is given just so, as it is written.

    Where several were told alike, all of them have to be given.
    """
    back = dict(given)
    for key in LISTS:
        if not isinstance(given.get(key), list) or not any(map(holds_untold, given[key])):
            continue
        old, seen = units(written.get(key)), units(told.get(key))
        places = matched(seen, given[key]) if len(seen) == len(old) else {}
        back[key] = [
            old[places[index]]
            if holds_untold(unit) and index in places and _is_certain(places, seen, old, places[index])
            else unit
            for index, unit in enumerate(given[key])
        ]
    return back


def as_told(given: Mapping[str, Any], back: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """Return given parts as they are to be written, but for units that may not be told, which stay as they were given."""
    told = dict(given)
    for key, value in given.items():
        if key in LISTS and isinstance(value, list):
            units_of = zip(value, back[key], written[key], strict=True)
            told[key] = [new if unit == own else unit for unit, own, new in units_of]
        elif value == back[key]:
            told[key] = written[key]
    return told


def without_kept_recipients(
    whole: Mapping[str, Any], given: Mapping[str, Any], back: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return a changed automation or script as it is told: who gets a message is named where the caller did it."""
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
    """Return whether there is one unit only that was told in this way, or all of these are given or the same."""
    alike = {index for index, unit in enumerate(seen) if unit_meaning(unit) == unit_meaning(seen[place])}
    return alike <= {*places.values()} or len({meaning(old[index]) for index in alike}) == 1


def holds_untold(value: Any) -> bool:
    """Return whether anything in a value, or inside of a text, stands in the place of what is not told."""
    return any(SECRET in text or NOT_EXPOSED in text for text, _ in texts_in(value, keys=True))


def computes(unit: Any) -> bool:
    """Return whether a unit could tell what set an automation off, or what its variables hold."""
    return any(is_template_string(text) for text, _ in texts_in(unit, keys=True)) or any(
        part.get("condition") == "trigger" for part in _objects(unit)
    )


def is_plain(step: Any) -> bool:
    """Return whether a step is one action that decides nothing about the steps after it."""
    if not isinstance(step, Mapping) or not isinstance(step.get("enabled", True), bool):
        return False
    if step.keys() >= _DEVICE_ACTION and not {"condition", "trigger", "platform"} & step.keys():
        return str(step["domain"]) not in _GATES
    action = step.get("action", step.get("service"))
    if step.keys() - _PLAIN or not isinstance(action, str) or is_template_string(action):
        return False
    return action.strip().lower().partition(".")[0] not in _GATES


def is_passed(step: Any) -> bool:
    """Return whether a run goes on after a step in the same way, whatever happens in it: plain actions, also in branches."""
    if is_plain(step):
        return True
    if not isinstance(step, Mapping) or step.keys() - _BRANCHES - _AROUND or not step.keys() & (_BRANCHES | {"choose"}):
        return False
    inner = [one for key in _BRANCHES & step.keys() for one in units(step[key])]
    return all(map(is_passed, inner)) and all(
        isinstance(option, Mapping) and all(map(is_passed, units(option.get("sequence"))))
        for option in units(step.get("choose"))
    )


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object inside a value."""
    if isinstance(value, Mapping):
        yield value
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _objects(item)


MAX_DIFF = 2_500
"""Characters of a diff, which is shown rather than spoken."""
MAX_PROSE = 200
"""Characters of a name or a description in it, which do nothing."""
_PROSE = frozenset({"alias", "description"})
_VALUES = frozenset({"data", "data_template", "event_data", "input", "target", "trigger_variables", "variables"})
"""Under these, no name makes a value prose."""


def diff(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    """Return the lines that change, with - and + in front, as in YAML."""
    found = difflib.unified_diff(_lines(before), _lines(after), n=1, lineterm="")
    changed = [line for line in found if not line.startswith(("---", "+++", "@@"))]
    text = "\n".join(changed)
    return text if len(text) <= MAX_DIFF else f"{text[:MAX_DIFF]}\n… ({len(text) - MAX_DIFF} more characters)"


def _lines(config: Mapping[str, Any] | None) -> list[str]:
    """Return a configuration as lines."""
    if config is None:
        return []
    plain = _short(json.loads(json_dumps(config)))
    return dump({key: plain[key] for key in KEY_ORDER if key in plain} | plain).splitlines()


def _short(value: Any, key: str = "") -> Any:
    """Return data whose prose is cut, so that it never pushes out what is done."""
    if isinstance(value, dict):
        return {name: item if name in _VALUES else _short(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    return cut(value, MAX_PROSE, "words for people") if key in _PROSE and isinstance(value, str) else value

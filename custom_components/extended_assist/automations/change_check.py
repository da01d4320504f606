"""Check a change of an automation: check the added parts, and let existing parts stay as long as they can reach nothing more.

Name, description, mode, limits, initial state and traces reach nothing: they can always be changed, whatever else is in the
automation. For the other parts, each trigger, condition and step on the outermost level is one unit, told apart by its parsed
value:

- A unit that is not in the file already is checked as in an automation that is written from nothing.
- A unit that stays needs no permission. It is *foreign* when the assistant could not have written it: it uses what is not
  exposed, refused or secret, or it holds a code.
- As long as a foreign unit stays, the circumstances in which it acts can only become narrower, and nothing more can be learnt
  from it: triggers stay as they are (some at the end may go), conditions stay (some may be added), variables stay, and the
  steps before it stay in their order, but for plain actions, which decide nothing. The steps after a foreign one that decides
  what follows, such as a condition, stay too (some at the end may go).
- Where a foreign trigger, condition or variable stays, what is added reads neither variables nor what set the automation off,
  and what does so already counts as foreign.

A change inside a unit, also a deeply nested one, is another unit. Whatever none of these sentences allows is refused.

A script is run by whoever gives it fields, and answers with what its steps found: beside what reaches nothing, the whole of it
is checked as if it was written from nothing.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from homeassistant.util.yaml import SECRET_YAML

from ..calls.call import ToolCall
from ..exposure.entities import Exposure, is_secret_key, is_secret_text
from ..results import ToolError
from .check import (
    CheckedAutomation,
    async_check,
    async_substituted,
    async_validate,
    async_walk_part,
    check_name,
    check_needed,
    current,
    refuse_blueprint,
    resolved,
    walker_for,
)
from .describe_values import items_of
from .edit import merged
from .expansion import async_expand
from .loading import async_used_blueprint
from .parts import LISTS, computes, is_passed, is_plain, matched, meaning, unit_meaning
from .query import Automation
from .rules import AUTOMATION_RULES, RULES, Rules
from .yaml_positions import Tagged

FREE = frozenset({"alias", "description", "mode", "max", "max_exceeded", "initial_state", "trace", "icon"})
"""Keys whose values reach nothing."""
PARTS = AUTOMATION_RULES.walked
"""Keys whose values read or move something."""

_HARMLESS: Mapping[str, dict[str, Any]] = {
    "triggers": {"trigger": "homeassistant", "event": "start"},
    "conditions": {"condition": "or", "conditions": []},
    "actions": {"delay": 0},
}
"""Replacements for units that are not checked, so that the others keep their indexes."""
_ADVICE = (
    "{what}, since {where} stays as it is, and is not exposed, holds a secret, or is nothing that assistants may write. "
    "Leave it so, or tell the user to change it in Home Assistant."
)


_OTHER_BLUEPRINT = (
    "The blueprint of this {0} was changed since Home Assistant loaded it, and any change here would bring that about as well. "
    "Tell the user to look at it, and to load the {0}s anew under Developer tools, YAML, first."
)


@dataclass(slots=True)
class _Comparison:
    """An automation before and after a change, with the inputs of blueprints filled in, and the units that stay."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    stays: dict[str, dict[int, int]] = field(default_factory=dict)
    """For each list, the new and the old index of each unit that stays."""
    foreign: dict[str, set[int]] = field(default_factory=dict)
    """For each key, the indexes of the foreign units that stay; for variables, 0 means all of them."""

    def __post_init__(self) -> None:
        """Find out which units stay."""
        self.stays = {key: matched(items_of(self.before.get(key)), items_of(self.after.get(key))) for key in LISTS}

    def is_changed(self, key: str) -> bool:
        """Return whether the value of a key has changed."""
        if key not in LISTS:
            return meaning(self.before.get(key) or {}) != meaning(self.after.get(key) or {})
        old, new = items_of(self.before.get(key)), items_of(self.after.get(key))
        return list(map(unit_meaning, old)) != list(map(unit_meaning, new))

    def added(self, key: str) -> list[Any] | None:
        """Return the units of a list, with a harmless unit in place of those that stay; None if no unit is added."""
        new = items_of(self.after.get(key))
        if len(self.stays[key]) == len(new):
            return None
        return [_HARMLESS[key] if index in self.stays[key] else unit for index, unit in enumerate(new)]

    @property
    def where(self) -> str:
        """Return the place of the first foreign unit."""
        places = [(key, index) for key in PARTS for index in sorted(self.foreign.get(key, ()))]
        key, index = places[0]
        return f"{key}[{index}]" if key in LISTS else key


async def async_check_change(
    call: ToolCall,
    automation: Automation,
    written: Mapping[str, Any],
    changes: Mapping[str, Any],
    loadable: Mapping[str, Any],
) -> CheckedAutomation:
    """Return a changed automation that may be written; raises ToolError with the place and the reason.

    loadable is what Home Assistant will make of it as it is written, with the secrets of now.
    """
    is_blueprint = "use_blueprint" in written
    before = dict(written) if is_blueprint else resolved(dict(written), loadable)
    rules = RULES[automation.kind]
    wanted = merged(before, changes)
    wanted.pop("id", None)
    if "alias" in changes:
        check_name(wanted, rules)
    blueprint = await async_used_blueprint(rules.blueprints(call.hass), wanted)
    if changes.keys() <= FREE:
        await _async_validate(call, automation, before, wanted, changes)
        if is_blueprint:
            await _async_check_as_loaded(call, automation, loadable)
        ran = dict(automation.config) if is_blueprint else before
        return CheckedAutomation(wanted, merged(ran, changes), set(automation.used), blueprint=blueprint)
    if rules is not AUTOMATION_RULES:
        return await async_check(call, str(automation.id), wanted, rules, changes)
    changes, left_out = await _async_expand_added(call, rules, newer(before), changes)
    wanted = current(merged(before, changes))
    wanted.pop("id", None)
    if is_blueprint and "use_blueprint" not in changes and _holds_tag(written["use_blueprint"]):
        raise ToolError(
            "use_blueprint: what its inputs hold cannot be read (a tag). Tell the user to change it by hand."
        )
    whole = await async_substituted(call, wanted, rules, tell="use_blueprint" in changes)
    checked = CheckedAutomation(wanted, whole, set(automation.used), left_out=left_out, blueprint=blueprint)
    compared = _Comparison(newer(automation.config if is_blueprint else before), whole)
    try:
        await _async_check_added(call, compared, written if not is_blueprint else {}, checked)
    except ToolError as err:
        if "use_blueprint" in wanted:
            refuse_blueprint(call, err)
        raise
    await _async_validate(call, automation, before, wanted, changes)
    return checked


async def _async_check_as_loaded(call: ToolCall, automation: Automation, loadable: Mapping[str, Any]) -> None:
    """Raise ToolError if the blueprint was changed since it was loaded: loading it would change more than was asked for."""
    rules = RULES[automation.kind]
    if not automation.loaded.available:
        return
    found = await rules.file.async_as_run(call.hass, str(automation.id), deepcopy(dict(loadable)))
    if found is not None and any(found.get(key) != automation.config.get(key) for key in rules.walked):
        raise ToolError(_OTHER_BLUEPRINT.format(automation.kind))


async def _async_expand_added(
    call: ToolCall, rules: Rules, before: Mapping[str, Any], changes: Mapping[str, Any]
) -> tuple[dict[str, Any], int]:
    """Return changes with areas and devices expanded to entities in added units, and the number of entities left out."""
    stays = {
        key: matched(items_of(before.get(key)), items_of(changes[key])) for key in LISTS if changes.get(key) is not None
    }
    added = {
        key: [unit for index, unit in enumerate(items_of(value)) if index not in stays[key]] if key in stays else value
        for key, value in changes.items()
    }
    written, left_out = await async_expand(call, added, rules.blueprints(call.hass))
    for key, kept in stays.items():
        new = iter(written[key])
        written[key] = [unit if index in kept else next(new) for index, unit in enumerate(items_of(changes[key]))]
    return written, left_out


async def _async_check_added(
    call: ToolCall, compared: _Comparison, written: Mapping[str, Any], checked: CheckedAutomation
) -> None:
    """Check the added units, and that the units that stay can reach nothing more."""
    whole, own = compared.after, newer(written)
    private = {key: {0} if _is_private(call.exposure, whole.get(key), own.get(key)) else set() for key in PARTS[:2]}
    for key, stays in compared.stays.items():
        new, old = items_of(whole.get(key)), items_of(own.get(key))
        private[key] = {now for now, was in stays.items() if _is_private(call.exposure, new[now], _at(old, was))}
    if not any(private.values()):
        walker = walker_for(call, whole)
        try:
            check_needed(whole)
            for key in PARTS:
                await async_walk_part(walker, key, whole.get(key))
        except ToolError:
            pass  # Check the added units alone, so that the error is about one of these.
        else:
            checked.entity_ids = walker.entity_ids
            return
    check_needed(whole)
    walker = walker_for(call, whole)
    for key in PARTS:
        added = compared.added(key) if key in LISTS else whole.get(key) if compared.is_changed(key) else None
        await async_walk_part(walker, key, added)
    await _async_find_foreign(call, compared, private)
    if compared.foreign:
        _refuse_more(compared)


async def _async_find_foreign(call: ToolCall, compared: _Comparison, private: Mapping[str, set[int]]) -> None:
    """Find the foreign units that stay, in the order in which a run reads them."""
    whole = compared.after
    for key in PARTS:
        if key not in LISTS:
            if not compared.is_changed(key) and (
                private[key] or await _async_is_refused(call, whole, key, whole.get(key))
            ):
                compared.foreign[key] = {0}
            continue
        reads = bool(compared.foreign.keys() - {"actions"})
        for index in compared.stays[key]:
            unit = items_of(whole[key])[index]
            if index in private[key] or (reads and computes(unit)) or await _async_is_refused(call, whole, key, [unit]):
                compared.foreign.setdefault(key, set()).add(index)


def _refuse_more(compared: _Comparison) -> None:
    """Raise ToolError for changes that let a foreign unit act more often, or reveal more about it."""
    foreign, stays = compared.foreign, compared.stays
    for key in ("variables", "trigger_variables"):
        if compared.is_changed(key):
            _refuse(compared, f"{key}: variables cannot be changed")
    if foreign.keys() - {"triggers"} and list(stays["triggers"].items()) != [
        (index, index) for index in range(len(items_of(compared.after.get("triggers"))))
    ]:
        _refuse(compared, "triggers: of what sets this off, only the last ones can be taken away")
    if len(stays["conditions"]) < len(items_of(compared.before.get("conditions"))):
        _refuse(compared, "conditions: conditions can be added, but those that are there have to stay")
    if foreign.keys() - {"actions"}:
        for key in LISTS:
            for index, unit in enumerate(items_of(compared.after.get(key))):
                if index not in stays[key] and computes(unit):
                    _refuse(compared, f"{key}[{index}]: templates and conditions on the trigger cannot be added")
    if compared.is_changed("actions"):
        _refuse_other_order(compared)


def _refuse_other_order(compared: _Comparison) -> None:
    """Raise ToolError for changed steps that affect when foreign steps act, or reveal how they went."""
    old, new = items_of(compared.before.get("actions")), items_of(compared.after.get("actions"))
    foreign, stays = compared.foreign.get("actions", set()), compared.stays["actions"]
    walls = [index for index in sorted(foreign) if not is_passed(new[index])]
    rest = list(map(unit_meaning, new[walls[0] + 1 :])) if walls else []
    if walls and rest != list(map(unit_meaning, old[stays[walls[0]] + 1 :]))[: len(rest)]:
        _refuse(compared, f"actions: of the steps after actions[{walls[0]}], only the last ones can be taken away")
    reached = [index for index in foreign if not walls or index <= walls[0]]
    if not reached:
        return
    last = max(reached)
    kept = {old_index for index, old_index in stays.items() if index in foreign}
    was = [
        unit_meaning(step) for index, step in enumerate(old[: stays[last] + 1]) if index in kept or not is_plain(step)
    ]
    now = [unit_meaning(step) for index, step in enumerate(new[: last + 1]) if index in foreign or not is_plain(step)]
    if was != now:
        _refuse(compared, f"actions: of the steps before actions[{last}], only plain actions can be changed")


def _refuse(compared: _Comparison, what: str) -> None:
    """Raise a ToolError that names the foreign unit."""
    raise ToolError(_ADVICE.format(what=what, where=compared.where))


async def _async_is_refused(call: ToolCall, whole: Mapping[str, Any], key: str, value: Any) -> bool:
    """Return whether the assistant could not write a part of an automation."""
    try:
        await async_walk_part(walker_for(call, whole), key, value)
    except ToolError:
        return True
    return False


def _is_private(exposure: Exposure, value: Any, written: Any) -> bool:
    """Return whether a value holds a code, a credential, or a secret of the file that names nothing exposed."""
    if isinstance(written, Tagged):
        return not (isinstance(value, str) and exposure.is_exposed(value))
    if isinstance(value, Mapping):
        own = written if isinstance(written, Mapping) else {}
        return any(
            (item is not None and is_secret_key(str(key))) or _is_private(exposure, item, own.get(key))
            for key, item in value.items()
        )
    if isinstance(value, list):
        return any(_is_private(exposure, item, _at(items_of(written), index)) for index, item in enumerate(value))
    if not isinstance(value, str) or exposure.is_exposed(value):
        return False
    return is_secret_text(value) or getattr(value, "__config_file__", "").endswith(SECRET_YAML)


def _holds_tag(value: Any) -> bool:
    """Return whether anything inside a value is a tag."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return isinstance(value, Tagged) or any(map(_holds_tag, inner))


def _at(items: list[Any], index: int) -> Any:
    """Return an item of a list, or None."""
    return items[index] if index < len(items) else None


def newer(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with the present names of its keys; an empty one if it has a key under both names."""
    try:
        return current(config)
    except ToolError:
        return {}


async def _async_validate(
    call: ToolCall,
    automation: Automation,
    before: Mapping[str, Any],
    wanted: dict[str, Any],
    changes: Mapping[str, Any],
) -> None:
    """Let Home Assistant validate the given keys, and the whole, unless it did not accept the former whole either."""
    automation_id, rules = str(automation.id), RULES[automation.kind]
    given = {key: value for key, value in changes.items() if value is not None}
    if "use_blueprint" not in given:
        await async_validate(call, automation_id, {"alias": "…", **{key: [] for key in rules.needed}, **given}, rules)
    try:
        await async_validate(call, automation_id, {key: value for key, value in before.items() if key != "id"}, rules)
    except ToolError:
        if "use_blueprint" not in changes:
            return
    await async_validate(call, automation_id, wanted, rules, tell=changes.keys() >= wanted.keys())
